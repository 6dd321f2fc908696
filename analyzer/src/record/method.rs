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
    /// How tokens were to be chosen, where the request said so; absent: the model's own defaults, as exo's bench has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Until which precision groups were repeated; absent: a fixed number of times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_precision: Option<TargetPrecision>,
    /// Seconds of idling that were recorded before and after each placement was measured; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_baseline_s: Option<f64>,
}

/// How tokens are chosen; each is absent where the request left it to the server.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Sampling {
    /// Temperature, 0 or above; 0 takes the likeliest token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Candidates, 0: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u64>,
    /// Smallest share of the likeliest token's probability, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_p: Option<f64>,
    /// Seed of the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Repeats until the mean is known well enough. Never until a difference is significant: that would find one by chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetPrecision {
    /// Half-width of the 95 % interval of the mean that was wanted, percent of the mean.
    pub percent: f64,
    /// The most repeats of a group.
    pub max_repeats: u32,
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
