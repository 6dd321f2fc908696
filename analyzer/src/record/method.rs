//! How was measured: every setting that changes a number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The methodology of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Method {
    /// "exo_bench".
    pub name: String,
    /// Version of the definitions behind the numbers; files of different versions are not compared silently.
    pub definition_version: u32,
    /// Prompt lengths asked for, tokens.
    pub pp: Vec<u64>,
    /// Generation lengths asked for, tokens.
    pub tg: Vec<u64>,
    /// "tandem" (first with first) or "product" (each with each).
    pub pairing: String,
    /// Requests started together, per group.
    pub concurrency: Vec<u32>,
    /// Measured repeats of each group.
    pub repeat: u32,
    /// Discarded requests before measuring, per placement.
    pub warmup: u32,
    /// Whether answers were asked for as streams at concurrency 1.
    pub stream: bool,
    /// Whether concurrent requests were streamed too (exo's client never does).
    pub stream_all: bool,
    /// Whether the server was allowed to use its prefix cache.
    pub use_prefix_cache: bool,
    /// Whether an instance that was there already was used.
    pub reuse_instance: bool,
    /// Seconds between polls of the node metrics; null when they were switched off.
    pub metrics_interval_s: Option<f64>,
    /// The pauses between steps, s.
    pub pauses: Pauses,
}

/// Pauses between steps, seconds. The defaults are exo's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    /// After other instances were deleted (exo: 2).
    pub after_cleanup_s: f64,
    /// After the instance got ready (exo: 1).
    pub after_ready_s: f64,
    /// Before each repeat, the first included (exo: 3).
    pub before_repeat_s: f64,
    /// After each group of repeats (exo: 2).
    pub after_group_s: f64,
    /// After a placement was removed (exo: 5).
    pub after_placement_s: f64,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            after_cleanup_s: 2.0,
            after_ready_s: 1.0,
            before_repeat_s: 3.0,
            after_group_s: 2.0,
            after_placement_s: 5.0,
        }
    }
}
