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
//! - `state`: `/state`; `awaiting`: `/instance/await`; `completion`: the bench endpoint; `power`: its energy.
//! - `refusal`: how exo says no; `fault`: what goes wrong on purpose.
//! - `energy`: what the nodes really drew, at `GET /simulated/energy`, a path that exo does not have.
//! - `routes`: the paths; `frames`: bodies fed bit by bit; `background`: a server that ends with its handle.

mod awaiting;
pub(crate) mod background;
mod catalogue;
mod cluster;
mod completion;
mod counter;
mod download;
mod energy;
mod engine;
mod fault;
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

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use background::Background;

pub use catalogue::{FAST, HUGE, SLOW};
pub use cluster::Cluster;
pub use counter::{BuiltIn, PromptCounter};
pub use energy::Energy;
pub use fault::{AnswerFault, DownloadFault, Fault, FaultError, InstanceFault, When, help as fault_help};
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
    /// Seconds from a posted instance to a ready runner, at most [`LONGEST`].
    pub load_seconds: f64,
    /// Seconds that a download takes, whatever the model's size, at most [`LONGEST`]. A simulated one has nothing to wait
    /// for.
    pub download_seconds: f64,
    /// Models beside the built-in ones, `org/name`, with the fast one's size and speed.
    pub models: Vec<String>,
    /// How many tokens a prompt has.
    pub counter: Arc<dyn PromptCounter>,
    /// What goes wrong. Of several that strike the same thing, the first does.
    pub faults: Vec<Fault>,
}

/// The most seconds that anything simulated takes: a year.
pub const LONGEST: f64 = 31_536_000.0;

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
            download_seconds: 2.0,
            models: Vec::new(),
            counter: Arc::new(BuiltIn::default()),
            faults: Vec::new(),
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
    let sensors = cluster.begin();
    let router = routes::router(cluster);
    let served = tokio::select! {
        served = axum::serve(listener, router) => served,
        // Not axum's graceful shutdown: it would wait for answers that may take minutes.
        () = shutdown => Ok(()),
    };
    sensors.abort();
    served
}

/// A simulated cluster that runs in the background until it is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    cluster: Cluster,
    _server: Background,
}

impl Running {
    /// What every node really drew until now, by node id.
    #[must_use]
    pub fn energy(&self) -> BTreeMap<String, Energy> {
        energy::energy(&self.cluster)
    }
}

/// Serves a cluster on a free port of this machine.
///
/// # Errors
/// When no port can be bound or no thread started.
pub fn start(settings: Settings) -> io::Result<Running> {
    let cluster = Cluster::new(settings);
    let served = cluster.clone();
    let server = Background::start("127.0.0.1", 0, move || {
        // It ends with the server's runtime.
        drop(served.begin());
        routes::router(served)
    })?;
    Ok(Running { address: server.address(), cluster, _server: server })
}
