//! What another tool's file gives: where it was read from, and the figures that it publishes in place of instants.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MetricSeries;

/// What the numbers of a file can be set against. Numbers of different classes are not the same quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparability {
    /// Requests to a serving endpoint, each with figures of its own.
    Endpoint,
    /// The engine measured itself, without requests, sampling or a network.
    EngineInternal,
    /// Means and percentiles over requests alone; the requests are not in the file.
    AggregateOnly,
}

impl Comparability {
    /// The class in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Endpoint => "requests to an endpoint",
            Self::EngineInternal => "inside the engine",
            Self::AggregateOnly => "aggregates only",
        }
    }
}

/// Where a result was read from. Present in a file only where another tool wrote the original.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// What the file was recognised as: "llama-bench JSON".
    pub format: String,
    /// Why it was recognised, in words.
    pub reason: String,
    /// What its numbers can be set against.
    pub class: Comparability,
    /// The engine behind the numbers, where the file tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Start of the measurement as the file has it, seconds since 1970 as an instant; UTC where it ends in Z or an offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// What else the file says of how was measured, by its own names; only what is the same for all rows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub about: BTreeMap<String, String>,
    /// Size of the original, bytes, after unpacking.
    pub size_bytes: u64,
    /// SHA-256 of the original after unpacking, hex.
    pub sha256: String,
    /// What was found while the original was read, a sentence each: what failed, what was assumed, what is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The original where it is at most 1 MB: a list of its documents, or its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Value>,
}

/// What another tool publishes of a row. Each is absent where the tool does not give it; what was reckoned from its other
/// figures is named in `derived`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Measured requests that the row stands for, where it is not one request: the figures are then means over them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<u64>,
    /// Whether the answers were streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streamed: Option<bool>,
    /// The engine that answered, where rows of a file may be of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Quantization of the model, in the tool's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantization: Option<String>,
    /// Settings of the row by the tool's own names: rows of other settings are other cells.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Sent, s since `source.started_at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_s: Option<f64>,
    /// Done, s since `source.started_at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_s: Option<f64>,
    /// Time to the first token, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_s: Option<f64>,
    /// Time per output token after the first, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpot_s: Option<f64>,
    /// Mean gap between tokens, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itl_s: Option<f64>,
    /// 99th percentile of the gaps, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itl_p99_s: Option<f64>,
    /// Generated tokens per second of all requests together over the wall time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tps: Option<f64>,
    /// Finished requests per second over the wall time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_s: Option<f64>,
    /// exo's console rate of a batch, tok/s: the largest rate times the number of requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exo_max_times_n_tps: Option<f64>,
    /// Energy as exo's client printed it, J.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_energy_j: Option<f64>,
    /// Mean power as exo's client printed it, W.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_w: Option<f64>,
    /// The server's energy before the first token, J.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_prefill_energy_j: Option<f64>,
    /// The server's energy from the first token on, J.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_decode_energy_j: Option<f64>,
    /// What else is published of the row, by the tool's own names and units: deviations, percentiles, phases.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, Value>,
    /// Figures of the row that the tool did not publish and that follow from others it did, by the name they have here, with
    /// how: "generation_tps" → "1 / mean_tpot, the client's clock".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub derived: BTreeMap<String, String>,
}

/// What a power reading covers. Powers of different scopes are different quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PowerScope {
    /// Rails of the chip alone: CPU, GPU, ANE.
    Soc,
    /// The whole machine behind its power supply.
    WholeMachineDc,
    /// What is drawn at the wall, losses of the power supply included.
    WallAc,
}

impl PowerScope {
    /// The scope in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Soc => "SoC",
            Self::WholeMachineDc => "whole machine DC",
            Self::WallAc => "wall AC",
        }
    }
}

/// Power readings of another instrument, laid over a run by time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overlay {
    /// What the readings cover.
    pub scope: PowerScope,
    /// What was read: "macmon sys_power", "meter".
    pub instrument: String,
    /// The readings on the run's clock.
    pub series: MetricSeries,
}
