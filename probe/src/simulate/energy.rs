//! What the nodes really drew: the truth that a measurement of energy can be held against.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::cluster::Cluster;

/// Cumulative energy of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Joules since the start: the exact integral of the power of what the node did, without the noise of the sensors.
    pub joules: f64,
    /// Seconds since the start, on the simulator's monotonic clock.
    pub seconds: f64,
}

/// Every node's energy at this instant, by node id.
pub(super) fn energy(cluster: &Cluster) -> BTreeMap<String, Energy> {
    let now = Instant::now();
    let mut world = cluster.world();
    let nodes = world.nodes.iter_mut();
    nodes
        .map(|node| {
            let (joules, seconds) = node.energy(now);
            (node.id.clone(), Energy { joules, seconds })
        })
        .collect()
}

/// The same as `GET /simulated/energy` tells it.
pub(super) fn to_json(energy: &BTreeMap<String, Energy>) -> Value {
    let nodes = energy.iter();
    nodes
        .map(|(node, energy)| (node.clone(), json!({"joules": energy.joules, "t_s": energy.seconds})))
        .collect::<Map<_, _>>()
        .into()
}
