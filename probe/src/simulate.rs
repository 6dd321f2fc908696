//! A simulated exo cluster over HTTP, for demonstrations and tests: exo's shapes, invented speeds.
//!
//! Every answer carries the header [`SIMULATED`], and every node says `Simulated` in its identity: nothing measured here
//! says anything about a real machine. What the server reports is true of the simulation, though: its clock is the wall's,
//! and a client that measures from outside sees what the server says.
//!
//! - [`physics`]: how fast, how hot, how hungry; pure.
//! - `engine`: batches, queue and deadlines of one instance; `prefix`: its prefix cache; `counter`: tokens of a prompt.
//! - `node`: one machine; `catalogue`: the models; `cluster`: all of it together.
//! - `shard`: exo's placement types; `placement`: previews; `instance`: from posted to gone; `download`: weights on nodes.
//! - `state`: `/state`; `completion`: the bench endpoint; `power`: its energy; `refusal`: how exo says no.
//! - `routes`: the paths; `frames`: bodies fed bit by bit; `background`: a server that ends with its handle.

pub(crate) mod background;
mod catalogue;
mod cluster;
mod completion;
mod counter;
mod download;
mod engine;
pub(crate) mod frames;
mod instance;
mod node;
pub mod physics;
mod placement;
mod power;
mod prefix;
pub(crate) mod refusal;
mod routes;
mod shard;
mod state;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use background::Background;

pub use catalogue::{FAST, HUGE, SLOW};
pub use cluster::Cluster;
pub use counter::{BuiltIn, PromptCounter};
pub use routes::SIMULATED;
pub use shard::Sharding;

/// What is simulated.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Number of nodes, at least 1.
    pub nodes: usize,
    /// Seed of all chance in what is measured. Ids are new at each start all the same, as exo's are.
    pub seed: u64,
    /// Factor on both rates: 0.8 is a cluster 20 % slower.
    pub speed: f64,
    /// Prompt tokens per second of the fast model on one node.
    pub prefill_tps: f64,
    /// Generated tokens per second of one request to the fast model on one node.
    pub decode_tps: f64,
    /// Standard deviation of the logarithm of every duration, percent.
    pub noise_percent: f64,
    /// Seconds from a posted instance to a ready runner.
    pub load_seconds: f64,
    /// Models beside the built-in ones, `org/name`, with the fast one's size and speed.
    pub models: Vec<String>,
    /// How many tokens a prompt has.
    pub counter: Arc<dyn PromptCounter>,
}

impl Default for Settings {
    /// Fast enough that a demonstration is over soon, slow enough that a millisecond of timer does not show.
    fn default() -> Self {
        Self {
            nodes: 2,
            seed: 1,
            speed: 1.0,
            prefill_tps: 8000.0,
            decode_tps: 250.0,
            noise_percent: 1.0,
            load_seconds: 1.0,
            models: Vec::new(),
            counter: Arc::new(BuiltIn::default()),
        }
    }
}

/// Serves a cluster until `shutdown` is over.
///
/// # Errors
/// When the listener cannot be served.
pub async fn serve(
    listener: tokio::net::TcpListener,
    cluster: Cluster,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let router = routes::router(cluster.clone());
    tokio::select! {
        served = axum::serve(listener, router) => served,
        () = cluster.run_sensors() => Ok(()),
        // Not axum's graceful shutdown: it would wait for answers that may take minutes.
        () = shutdown => Ok(()),
    }
}

/// A simulated cluster that runs in the background until it is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    _server: Background,
}

/// Serves a cluster on a free port of this machine.
///
/// # Errors
/// When no port can be bound or no thread started.
pub fn start(settings: Settings) -> io::Result<Running> {
    let server = Background::start("127.0.0.1", 0, move || {
        let cluster = Cluster::new(settings);
        tokio::spawn(cluster.clone().run_sensors());
        routes::router(cluster)
    })?;
    Ok(Running { address: server.address(), _server: server })
}
