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

/// A batch that is over.
#[derive(Debug)]
pub struct Batch {
    /// The instant that all requests were meant to be sent.
    pub start: Stamp,
    /// The requests in the order of completion, which exo's `concurrent_index` counts.
    pub sent: Vec<Sent>,
}

/// Opens a connection per request, waits until all are open, lets the requests go together, and waits for the last.
pub async fn send(cluster: &Cluster, outgoing: Vec<Outgoing>, idle: Duration) -> Batch {
    let mut ready = Vec::new();
    let mut sent = Vec::new();
    for (request_index, outgoing) in (0u32..).zip(outgoing) {
        match prepare(&cluster.address, outgoing).await {
            Ok(connection) => ready.push((request_index, connection)),
            Err(error) => sent.push(Sent { request_index, result: Err(error) }),
        }
    }
    let (line, places) = StartLine::new(ready.len());
    let mut tasks = tokio::task::JoinSet::new();
    for ((request_index, connection), place) in ready.into_iter().zip(places) {
        let (clock, interrupt) = (cluster.clock, cluster.interrupt.clone());
        tasks.spawn(async move {
            // None only when the line is dropped before its release, which it is not.
            place.wait().await;
            Sent { request_index, result: Ok(connection.exchange(&clock, idle, &interrupt).await) }
        });
    }
    let start = line.release(&cluster.clock).await;
    while let Some(done) = tasks.join_next().await {
        if let Ok(done) = done {
            sent.push(done);
        }
    }
    Batch { start, sent }
}
