//! Raw node metrics over time, columnar.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NodeId;

/// What one source said of one node while one placement was measured. Columns have the length of `t_s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricSeries {
    /// The node.
    pub node_id: NodeId,
    /// Where the readings come from: "exo nodeSystem".
    pub source: String,
    /// The instance that was measured meanwhile; null outside of one.
    pub instance_id: Option<String>,
    /// Session, from 0.
    pub session: u32,
    /// Seconds between polls that were asked for.
    pub interval_s: f64,
    /// When each answer had arrived, seconds since `exoscope.started_at`, ascending. exo gives no stamp of its own, so a
    /// reading is up to one second older.
    pub t_s: Vec<f64>,
    /// Seconds that each poll took: the load it puts on the server.
    pub poll_s: Vec<f64>,
    /// The readings.
    pub columns: SeriesColumns,
    /// Whether the readings can be trusted; absent in files before it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<ChannelHealth>,
}

/// Readings of one node; null where the node was missing from an answer or a value from the node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SeriesColumns {
    /// Whole-machine power, W (macOS `PSTR`).
    #[serde(rename = "sysPower")]
    pub sys_power: Vec<Option<f64>>,
    /// GPU temperature, °C, mean of its sensors.
    pub temp: Vec<Option<f64>>,
    /// GPU use, 0..=1.
    #[serde(rename = "gpuUsage")]
    pub gpu_usage: Vec<Option<f64>>,
    /// Performance cores, 0..=1.
    #[serde(rename = "pcpuUsage")]
    pub pcpu_usage: Vec<Option<f64>>,
    /// Efficiency cores, 0..=1.
    #[serde(rename = "ecpuUsage")]
    pub ecpu_usage: Vec<Option<f64>>,
}

/// A single machine that draws more is none: a full rack takes a tenth of it.
const MOST_W: f64 = 1e6;

impl SeriesColumns {
    /// Whether a number can be the power of a machine, W: finite, from 0 to 1 MW.
    #[must_use]
    pub fn is_power(watts: f64) -> bool {
        (0.0..=MOST_W).contains(&watts)
    }

    /// The power that a poll shows, W; none where it is missing or cannot be one.
    #[must_use]
    pub fn power_w(&self, place: usize) -> Option<f64> {
        self.sys_power.get(place).copied().flatten().filter(|watts| Self::is_power(*watts))
    }

    /// The same of all polls.
    #[must_use]
    pub fn powers_w(&self) -> Cow<'_, [Option<f64>]> {
        if self.sys_power.iter().flatten().all(|watts| Self::is_power(*watts)) {
            return Cow::Borrowed(&self.sys_power);
        }
        Cow::Owned((0..self.sys_power.len()).map(|place| self.power_w(place)).collect())
    }
}

/// What can be told of a channel from its readings alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelHealth {
    /// Polls that were answered.
    pub polls: u64,
    /// Answered polls in which the node, or its power, was missing.
    pub missing: u64,
    /// Longest time for which every reading stayed the same to the last digit, s. A living sensor wavers; a dead one is
    /// shown with its last values.
    pub frozen_s: f64,
    /// Polls whose power was 0 W, which no running machine draws.
    pub zero: u64,
}
