//! One measured request: exo's row, and what Exoscope adds to it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::leftover::{Leftover, keeps_unknown_keys};
use super::{Figures, NodeId};

keeps_unknown_keys!(Run, GenerationStats, PowerUsage, NodePower, RunDetail);

/// A row of `runs`. Keys and meanings are exo's; older files lack some, so all but the time are optional.
///
/// What most rows lack stands in a box: a file may hold a million rows, and an absent part should not take its room.
// For the same reason the rows of a file can share the texts that they have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(remote = "Run", extend("additionalProperties" = true))]
pub struct Run {
    /// Seconds. Concurrency 1: duration of the request. Above: from the common start of the batch (exo since
    /// 2026-04-05; per thread before). Null only in rows of other tools that do not give it.
    pub elapsed_s: Option<f64>,
    /// The first 200 characters of the answer, as exo writes it; null with `--no-preview`.
    pub output_text_preview: Option<Box<str>>,
    /// The server's own figures; null only in files of others.
    pub stats: Option<GenerationStats>,
    /// The server's energy figures; null when streamed and in files before 2026-05-28.
    #[serde(default)]
    pub power_usage: Option<Box<PowerUsage>>,
    /// The part of the model id after the last slash.
    #[serde(default)]
    pub model_short_id: Option<Arc<str>>,
    /// The model id in full.
    #[serde(default)]
    pub model_id: Option<Arc<str>>,
    /// exo's label of the placement ("Pipeline", "Tensor", "reused"): what was asked for, not always what was built.
    #[serde(default)]
    pub placement_sharding: Option<Arc<str>>,
    /// exo's label ("MlxRing", "MlxJaccl", "reused").
    #[serde(default)]
    pub placement_instance_meta: Option<Arc<str>>,
    /// Nodes of the placement; 0 where an existing instance was reused.
    #[serde(default)]
    pub placement_nodes: Option<u32>,
    /// The instance that served the request.
    #[serde(default)]
    pub instance_id: Option<Arc<str>>,
    /// Prompt tokens by the client's own tokenizer, chat template included.
    #[serde(default)]
    pub pp_tokens: Option<u64>,
    /// Tokens to generate (`max_tokens`), end of sequence banned.
    #[serde(default)]
    pub tg: Option<u64>,
    /// Repeat, from 0.
    #[serde(default)]
    pub repeat_index: Option<u32>,
    /// Requests started together; absent before 2026-03-09, when it was always 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Place in the order of completion of its batch, from 0; only for concurrency above 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrent_index: Option<u32>,
    /// Seconds that downloading the model took in this run; only when it was not there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download_duration_s: Option<f64>,
    /// What Exoscope observed beyond exo's row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exoscope: Option<Box<RunDetail>>,
    /// What another tool publishes of the row; absent in rows of exo and of Exoscope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Box<Figures>>,
    /// Keys of other tools or later versions, kept as they were.
    #[serde(flatten, skip_deserializing)]
    pub unknown: Leftover,
}

/// The server's figures for one request (exo `generation_stats`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(remote = "GenerationStats", extend("additionalProperties" = true))]
pub struct GenerationStats {
    /// Prompt tokens per second of prefill, server clock: (uncached prompt tokens - 1) / prefill time. An exact cache
    /// hit repeats the figure of the request that filled the cache.
    pub prompt_tps: Option<f64>,
    /// Generated tokens per second of decoding, server clock: (tokens - 1) / (last token - first token). 0 for one token.
    pub generation_tps: Option<f64>,
    /// Prompt tokens as the server counts them, cached ones included.
    pub prompt_tokens: Option<u64>,
    /// Generated tokens.
    pub generation_tokens: Option<u64>,
    /// Peak memory of rank 0; exo's value is 7.37 % above the true one.
    pub peak_memory_usage: Option<MemorySize>,
    /// "none", "partial" or "exact"; absent before 2026-04-14.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_cache_hit: Option<Arc<str>>,
    /// Keys of later versions.
    #[serde(flatten, skip_deserializing)]
    pub unknown: Leftover,
}

impl Run {
    /// The texts that many rows of a file have in common.
    pub(crate) fn common_texts(&mut self) -> impl Iterator<Item = &mut Arc<str>> {
        let of_server = self.stats.as_mut().map(|stats| &mut stats.prefix_cache_hit);
        [
            &mut self.model_short_id,
            &mut self.model_id,
            &mut self.placement_sharding,
            &mut self.placement_instance_meta,
            &mut self.instance_id,
        ]
        .into_iter()
        .chain(of_server)
        .filter_map(Option::as_mut)
    }
}

/// A size in bytes, spelt `inBytes` in JSON bodies and `in_bytes` in stream comments. Each file keeps its spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MemorySize {
    /// As plain answers spell it.
    Camel {
        /// Bytes.
        #[serde(rename = "inBytes")]
        in_bytes: u64,
    },
    /// As stream comments spell it.
    Snake {
        /// Bytes.
        in_bytes: u64,
    },
}

impl MemorySize {
    /// Bytes, however the file spelt it.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Camel { in_bytes } | Self::Snake { in_bytes } => in_bytes,
        }
    }
}

/// The server's energy account of one request (exo `power_usage`). It covers every node of the cluster that reports
/// power, not only those of the instance. No node listed means that no power source was there: the zeros are not energy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(remote = "PowerUsage", extend("additionalProperties" = true))]
pub struct PowerUsage {
    /// Seconds covered.
    pub elapsed_seconds: Option<f64>,
    /// One entry per node that reported power.
    #[serde(default)]
    pub nodes: Vec<NodePower>,
    /// Watts, all nodes, mean over the request.
    pub total_avg_sys_power_watts: Option<f64>,
    /// Joules, all nodes.
    pub total_energy_joules: Option<f64>,
    /// Seconds before the first token, queueing included.
    #[serde(default)]
    pub prefill_seconds: Option<f64>,
    /// Seconds from the first token on.
    #[serde(default)]
    pub generation_seconds: Option<f64>,
    /// Joules before the first token.
    #[serde(default)]
    pub prefill_energy_joules: Option<f64>,
    /// Joules from the first token on.
    #[serde(default)]
    pub generation_energy_joules: Option<f64>,
    /// Watts, mean before the first token.
    #[serde(default)]
    pub prefill_avg_sys_power_watts: Option<f64>,
    /// Watts, mean from the first token on.
    #[serde(default)]
    pub generation_avg_sys_power_watts: Option<f64>,
    /// Keys of later versions.
    #[serde(flatten, skip_deserializing)]
    pub unknown: Map<String, Value>,
}

/// The share of one node in [`PowerUsage`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(remote = "NodePower", extend("additionalProperties" = true))]
pub struct NodePower {
    /// The node.
    pub node_id: NodeId,
    /// Power readings used.
    #[serde(default)]
    pub samples: Option<u64>,
    /// Watts, mean.
    #[serde(default)]
    pub avg_sys_power: Option<f64>,
    /// Keys of this and later versions that the analyzer does not read by name.
    #[serde(flatten, skip_deserializing)]
    pub unknown: Map<String, Value>,
}

/// What Exoscope observed of one request beyond exo's row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(remote = "RunDetail", extend("additionalProperties" = true))]
pub struct RunDetail {
    /// Session, from 0: the instance is replaced between sessions.
    pub session: u32,
    /// Which of the run's starts it comes from, from 0; absent for a run in one go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// Place in the order of sending of its batch, from 0.
    pub request_index: u32,
    /// True where the answer was streamed, so that first and last token were seen by the client.
    pub streamed: bool,
    /// What was really built, whatever the labels say.
    pub placement: Option<ActualPlacement>,
    /// When things happened.
    pub timing: Timing,
    /// Token counts and who counted them.
    pub tokens: TokenCounts,
    /// Whether the request allowed the server to use its prefix cache.
    pub use_prefix_cache: bool,
    /// What the prompt was made of, where another atom than that of the run's tokenizer entry had to be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atom: Option<String>,
    /// Keys of later versions.
    #[serde(flatten, skip_deserializing)]
    pub unknown: Map<String, Value>,
}

/// The placement as the instance itself describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActualPlacement {
    /// Tag of the instance: "MlxRingInstance", "MlxJacclInstance".
    pub instance: String,
    /// Tag of its shards: "PipelineShardMetadata", "TensorShardMetadata".
    pub shard: Option<String>,
    /// The nodes that hold shards, in rank order.
    pub nodes: Vec<NodeId>,
}

/// Instants of one request in seconds since `exoscope.started_at`, on one monotonic clock of the client.
/// Null where it was not seen: a plain answer shows no token.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// The instant the plan wanted it sent: the batch's common start.
    pub intended_s: Option<f64>,
    /// The last byte of the request was handed to the connected socket; all before it was sent ahead, so that requests of a
    /// batch become whole together.
    pub sent_s: f64,
    /// Status line and headers arrived.
    pub headers_s: Option<f64>,
    /// First byte of the body. exo streams send a comment at once, so this is not the first token.
    pub first_byte_s: Option<f64>,
    /// First frame that carries a token, even where its text is empty.
    pub first_token_s: Option<f64>,
    /// Last frame that carries a token.
    pub last_token_s: Option<f64>,
    /// The body ended.
    pub done_s: f64,
    /// Seconds that opening the connection took, before `sent_s`.
    pub connect_s: Option<f64>,
    /// Instants of the token frames, streamed answers only, counted from `sent_s`; null otherwise.
    pub token_offsets_s: Option<Vec<f64>>,
}

/// Three counts of the same tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TokenCounts {
    /// Prompt tokens by the client's tokenizer.
    pub prompt_client: Option<u64>,
    /// Prompt tokens by the server.
    pub prompt_server: Option<u64>,
    /// Tokens asked for.
    pub generation_requested: u64,
    /// Generated tokens by the server.
    pub generation_server: Option<u64>,
    /// Frames with a token seen on the stream; null for a plain answer.
    pub generation_frames: Option<u64>,
}
