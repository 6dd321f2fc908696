//! The top level of a result file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::leftover::keeps_unknown_keys;
use super::{
    Cluster, Failure, Host, Method, MetricSeries, Overlay, Run, Source, SystemMetrics, Target, TokenizerIdentity, Tool,
};

keeps_unknown_keys!(ResultFile);

/// The version of the format that this build writes. A change of meaning or of a key raises it by one and adds a step
/// to `upgrade.rs`.
pub const FORMAT_VERSION: u32 = 1;

/// One result file: exo's three top-level keys, and ours.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(remote = "ResultFile", extend("additionalProperties" = true))]
pub struct ResultFile {
    /// One row for each request that gave a valid answer; warm-ups and failures are never rows.
    pub runs: Vec<Run>,
    /// exo's snapshot of the cluster, taken once before the first placement; absent when nothing was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// exo's own summary of the node metrics; absent when no sample was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_metrics: Option<SystemMetrics>,
    /// Who wrote the file, how and of what. Absent in files that Exoscope did not write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exoscope: Option<Provenance>,
    /// Raw samples of the node metrics, one entry per node and placement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metric_series: Vec<MetricSeries>,
    /// Requests that gave no valid row. exo's readers index `stats` unguarded, so they never stand in `runs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// When the cluster was left idle on purpose, so that its power at rest is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_windows: Vec<IdleWindow>,
    /// The files that this one was put together of by `exoscope merge`, in the order of their rows; absent otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<Part>,
    /// Where the file was read from, where another tool wrote the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Power readings of other instruments, laid over the run by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Overlay>,
    /// Keys of other tools or later versions, kept as they were.
    #[serde(flatten, skip_deserializing)]
    pub unknown: Map<String, Value>,
}

/// A span in which the measured instance was there and nothing was asked of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IdleWindow {
    /// The instance that was loaded and idle.
    pub instance_id: String,
    /// Session, from 0.
    pub session: u32,
    /// Start, seconds since `exoscope.started_at`.
    pub from_s: f64,
    /// End, seconds since `exoscope.started_at`.
    pub to_s: f64,
}

/// A file that was merged into another one. Its rows are sessions of their own, on a clock of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// The name it was given.
    pub name: String,
    /// How many of `runs` are its, behind those of the parts before it.
    pub rows: u64,
    /// Its own account of where it comes from; null for a file that Exoscope did not write.
    pub exoscope: Option<Provenance>,
    /// Where it was read from, where another tool wrote the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// Where a result file comes from: enough to run it again and to know what it can be compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Version of this format; [`FORMAT_VERSION`] when written by this build.
    pub format_version: u32,
    /// The tool that wrote the file.
    pub tool: Tool,
    /// The command line as given, program name first.
    pub command: Vec<String>,
    /// The methodology and every setting of it that changes a number.
    pub method: Method,
    /// Start of the run, UTC, RFC 3339. All `_s` times of the file that are not durations count from this instant on
    /// one monotonic clock.
    pub started_at: String,
    /// End of the run, UTC, RFC 3339; null while running or when the run was cut off.
    pub ended_at: Option<String>,
    /// The machine that the probe ran on (not the cluster).
    pub host: Host,
    /// What was measured.
    pub target: Target,
    /// The tokenizer that sized the prompts; null when none was needed.
    pub tokenizer: Option<TokenizerIdentity>,
    /// How many times the instance was replaced and the plan repeated; 1 or more.
    pub sessions: u32,
    /// True where the server said that it is a simulation. Shown wherever the numbers are shown.
    pub simulated: bool,
    /// What is missing and why, when the run did not reach its end; null for a whole run.
    pub incomplete: Option<Incomplete>,
    /// What the probe noticed and a reader should know, a sentence each.
    pub notices: Vec<String>,
    /// The starts of a run that was resumed, the first one included; empty for a run in one go. Rows name their start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Start>,
    /// Keys of later versions.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// One start of a run that was resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// UTC, RFC 3339.
    pub at: String,
    /// The same on the file's clock: seconds since `exoscope.started_at`, 0 for the first. Between two starts the clock of
    /// the second is set by UTC.
    pub at_s: f64,
    /// The command line as given, program name first.
    pub command: Vec<String>,
}

/// Why a file does not hold all that was planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Incomplete {
    /// What ended the run, in a sentence: "interrupted by the user", "recovered from a journal".
    pub reason: String,
    /// Measured requests that the plan held; null when unknown.
    pub planned_requests: Option<u64>,
    /// Measured requests that finished, well or badly.
    pub finished_requests: u64,
}
