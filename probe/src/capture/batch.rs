//! Requests that start together, on connections that are open before the start.

use std::time::Duration;

use super::barrier::StartLine;
use super::clock::Stamp;
use super::cluster::Cluster;
use super::exchange::Exchange;
use super::transport::{Outgoing, TransportError, prepare};

/// One request of a batch and how it went.
#[derive(Debug)]
pub struct Sent {
    /// Place in the order of sending, from 0.
    pub request_index: u32,
    /// The exchange, or why there was none.
    pub result: Result<Exchange, TransportError>,
}

/// Opens a connection per request, waits until all are open, lets the requests go together, and waits for the last.
///
/// Each request is handed to `ended` as it ends, with the instant that all were meant to be sent: the slowest of a batch
/// may take minutes more, and a crash meanwhile must not cost those that are through. The order is that of completion,
/// which exo's `concurrent_index` counts; connections that could not be opened come first.
///
/// `ended` runs on the thread that waits. The bytes of the others are taken and stamped on the runtime's own threads.
pub async fn send(cluster: &Cluster, outgoing: Vec<Outgoing>, idle: Duration, mut ended: impl FnMut(Stamp, Sent)) {
    let mut ready = Vec::new();
    let mut refused = Vec::new();
    for (request_index, outgoing) in (0u32..).zip(outgoing) {
        match prepare(&cluster.address, outgoing).await {
            Ok(connection) => {
                let asked = cluster.recording.as_ref().map(|recording| recording.asked(&connection));
                ready.push((request_index, connection, asked));
            }
            Err(error) => refused.push(Sent { request_index, result: Err(error) }),
        }
    }
    let (line, places) = StartLine::new(ready.len());
    let mut tasks = tokio::task::JoinSet::new();
    for ((request_index, connection, asked), place) in ready.into_iter().zip(places) {
        let (clock, interrupt) = (cluster.clock, cluster.interrupt.clone());
        tasks.spawn(async move {
            // None only when the line is dropped before its release, which it is not.
            place.wait().await;
            (asked, Sent { request_index, result: Ok(connection.exchange(&clock, idle, &interrupt).await) })
        });
    }
    let start = line.release(&cluster.clock).await;
    refused.into_iter().for_each(|sent| ended(start, sent));
    while let Some(done) = tasks.join_next().await {
        if let Ok((asked, done)) = done {
            if let (Some(recording), Some(asked), Ok(exchange)) = (&cluster.recording, asked, &done.result) {
                recording.keep(asked, exchange);
            }
            ended(start, done);
        }
    }
}
