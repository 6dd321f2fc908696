//! exo's snapshot of the cluster and its summary of node metrics.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A node's id: opaque text (a libp2p peer id, or hex digits that change at each start).
pub type NodeId = String;

/// exo's `cluster`: any of these keys, each as `/state` gives it, present only when it is not empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cluster {
    /// Node → model, chip, name and system version.
    #[serde(rename = "nodeIdentities", default, skip_serializing_if = "Option::is_none")]
    pub node_identities: Option<Map<String, Value>>,
    /// Nodes and the links between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Map<String, Value>>,
    /// Node → memory, bytes.
    #[serde(rename = "nodeMemory", default, skip_serializing_if = "Option::is_none")]
    pub node_memory: Option<Map<String, Value>>,
    /// Node → one reading of load (fractions 0..=1), temperature (°C) and power (W).
    #[serde(rename = "nodeSystem", default, skip_serializing_if = "Option::is_none")]
    pub node_system: Option<Map<String, Value>>,
    /// Further keys.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Cluster {
    /// Adds what a later snapshot knows; where both know a node, the later one counts.
    pub fn extend(&mut self, later: Self) {
        fn add(known: &mut Option<Map<String, Value>>, later: Option<Map<String, Value>>) {
            match (known, later) {
                (Some(known), Some(later)) => known.extend(later),
                (known, later) => *known = later.or(known.take()),
            }
        }
        add(&mut self.node_identities, later.node_identities);
        // Nodes and links of two moments do not make one picture.
        self.topology = later.topology.or(self.topology.take());
        add(&mut self.node_memory, later.node_memory);
        add(&mut self.node_system, later.node_system);
        self.unknown.extend(later.unknown);
    }
}

/// exo's `system_metrics`: node → metric (`gpuUsage`, `temp`, `sysPower`, `pcpuUsage`, `ecpuUsage`) → range.
/// Usages are fractions 0..=1, temperature °C, power W.
pub type SystemMetrics = BTreeMap<NodeId, BTreeMap<String, MetricRange>>;

/// Range of one node metric, rounded to two decimals by exo.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricRange {
    /// Smallest reading.
    pub min: f64,
    /// Largest reading.
    pub max: f64,
    /// Mean of the readings.
    pub mean: f64,
    /// Number of readings.
    pub samples: u64,
}
