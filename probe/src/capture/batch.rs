//! Requests that start together, on connections that are open before the start.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::barrier::StartLine;
use super::clock::Stamp;
use super::cluster::Cluster;
use super::exchange::Exchange;
use super::transport::{LastByte, Outgoing, TransportError, prepare};

/// One request of a batch and how it went.
#[derive(Debug)]
pub struct Sent {
    /// Place in the order of sending, from 0.
    pub request_index: u32,
    /// The exchange, or why there was none.
    pub result: Result<Exchange, TransportError>,
}

/// What the system has taken over needs a moment to get through.
const UNDER_WAY: Duration = Duration::from_millis(10);
/// A server that does not take a prompt within this time starts later than the others; waiting longer would let its
/// patience run out with a request that is not whole.
const LOADED_WITHIN: Duration = Duration::from_secs(2);

/// Waits until all but the last bytes of the requests are through, as far as can be told from here.
async fn leave(last_bytes: &[LastByte]) {
    let deadline = Instant::now() + LOADED_WITHIN;
    while !last_bytes.iter().all(LastByte::is_loaded) && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(UNDER_WAY).await;
}

/// What happens around the start of a batch.
pub struct Around<Before> {
    /// Waited for when every connection is open, right before the prompts leave.
    pub before: Before,
    /// Rung by the first data line of a stream.
    pub first: Option<Arc<Notify>>,
}

/// Opens a connection per request, waits until all are open, lets the requests go together, and waits for the last.
///
/// Each request is handed to `ended` as it ends, with the instant that all were meant to be sent: the slowest of a batch
/// may take minutes more, and a crash meanwhile must not cost those that are through. The order is that of completion,
/// which exo's `concurrent_index` counts; connections that could not be opened come first.
///
/// `ended` runs on the thread that waits. The bytes of the others are taken and stamped on the runtime's own threads.
pub async fn send(
    cluster: &Cluster,
    outgoing: Vec<Outgoing>,
    idle: Duration,
    around: Around<impl Future<Output = ()>>,
    mut ended: impl FnMut(Stamp, Sent),
) {
    let mut ready = Vec::new();
    let mut refused = Vec::new();
    for (request_index, outgoing) in (0u32..).zip(outgoing) {
        match prepare(&cluster.address, outgoing).await {
            Ok(connection) => {
                let asked = cluster.recording.as_ref().map(|recording| recording.asked(&connection));
                ready.push((request_index, connection.ringing(around.first.clone()), asked));
            }
            Err(error) => refused.push(Sent { request_index, result: Err(error) }),
        }
    }
    around.before.await;
    let (line, places) = StartLine::new(u32::try_from(ready.len()).unwrap_or(u32::MAX));
    let mut tasks = tokio::task::JoinSet::new();
    let mut indices = HashMap::new();
    let last_bytes: Vec<LastByte> = ready.iter().filter_map(|(_, connection, _)| connection.last_byte()).collect();
    for ((request_index, connection, asked), place) in ready.into_iter().zip(places) {
        let (clock, interrupt) = (cluster.clock, cluster.interrupt.clone());
        let task = tasks.spawn(async move {
            let exchange = connection.exchange(&clock, idle, &interrupt, Some(place)).await;
            (asked, Sent { request_index, result: Ok(exchange) })
        });
        indices.insert(task.id(), request_index);
    }
    line.everyone().await;
    leave(&last_bytes).await;
    let start = line.release(&cluster.clock, || last_bytes.iter().for_each(|last| last.release(&cluster.clock)));
    drop(last_bytes);
    refused.into_iter().for_each(|sent| ended(start, sent));
    while let Some(done) = tasks.join_next().await {
        let (asked, sent) = done.unwrap_or_else(|fault| {
            // Every task was put into the map when it was started.
            let request_index = indices.get(&fault.id()).copied().unwrap_or(u32::MAX);
            (None, Sent { request_index, result: Err(TransportError::Lost) })
        });
        if let (Some(recording), Some(asked), Ok(exchange)) = (&cluster.recording, asked, &sent.result) {
            recording.keep(asked, exchange);
        }
        ended(start, sent);
    }
}
