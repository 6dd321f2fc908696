//! The catalogue of metrics: every table, chart, tooltip and export takes its words from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A metric that is reckoned per cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Prefill rate of a request.
    PrefillTps,
    /// Decode rate of a request.
    GenerationTps,
    /// E2E latency of a request.
    Elapsed,
    /// Time to first token of a streamed request.
    Ttft,
    /// Aggregate decode rate of a batch, exo's console figure.
    AggregateExoMaxTimesN,
    /// Aggregate decode rate of a batch, sum of the requests' rates.
    AggregateSumOfRates,
    /// Aggregate rate of a batch, all tokens over its wall time.
    AggregateTokensOverWall,
    /// Energy of a batch by the client's samples.
    EnergyClient,
    /// Mean power of a batch by the client's samples.
    PowerClient,
    /// Energy of a request by the server's account.
    EnergyServer,
    /// Peak memory.
    PeakMemory,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// What a metric is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// The metric.
    pub metric: Metric,
    /// Short name for a table head.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// The formula in words, with the clock and who takes the time.
    pub formula: &'static str,
    /// Who defined it.
    pub source: &'static str,
    /// Version of the definition.
    pub version: u32,
    /// Whether a comparison gives it a verdict (the others are shown only).
    pub primary: bool,
}
