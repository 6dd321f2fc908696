//! What was asked for and failed: listed and counted, never averaged in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request that gave no valid row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The server's or the system's words, at most 300 characters; no prompt text.
    pub message: String,
    /// HTTP status, where one arrived.
    pub status: Option<u16>,
    /// True for a warm-up request.
    pub warmup: bool,
    /// The model id; null where another tool does not tell, as for the placement.
    pub model_id: Option<String>,
    /// exo's placement labels, as in a row.
    pub placement_sharding: Option<String>,
    /// As in a row.
    pub placement_instance_meta: Option<String>,
    /// As in a row.
    pub placement_nodes: Option<u32>,
    /// The instance; null when none existed.
    pub instance_id: Option<String>,
    /// Prompt tokens planned; null where another tool does not tell.
    pub pp_tokens: Option<u64>,
    /// Tokens to generate; null where another tool does not tell.
    pub tg: Option<u64>,
    /// Requests started together; null where another tool does not tell.
    pub concurrency: Option<u32>,
    /// Repeat, from 0.
    pub repeat_index: u32,
    /// Place in the order of sending of its batch, from 0.
    pub request_index: u32,
    /// Session, from 0.
    pub session: u32,
    /// Which of the run's starts it comes from, from 0; absent for a run in one go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// Whether the request allowed the server to use its prefix cache.
    pub use_prefix_cache: bool,
    /// Whether the answer was asked for as a stream.
    pub streamed: bool,
    /// Seconds since `exoscope.started_at` when it was sent; null when it never was.
    pub sent_s: Option<f64>,
    /// Seconds since `exoscope.started_at` when it ended; null where another tool does not tell.
    pub ended_s: Option<f64>,
    /// Token frames seen before it failed; null for a plain answer.
    pub frames: Option<u64>,
    /// The engine, where failures of a file may be of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Quantization of the model, as in a row of another tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantization: Option<String>,
    /// Settings, as in a row of another tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// The kinds of failure that real servers were seen to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The connection could not be opened.
    Connect,
    /// The connection broke before the answer was whole.
    Reset,
    /// Nothing more arrived for as long as the timeout allows. Comments do not count as an answer.
    Timeout,
    /// The same before the first token of a stream.
    NoFirstToken,
    /// The server answered with status 400 or above.
    HttpStatus,
    /// The stream carried an error frame, with status 200.
    ErrorFrame,
    /// The stream ended without `[DONE]`.
    TruncatedStream,
    /// The answer is whole but carries no statistics.
    NoStats,
    /// The answer was cut short or refused, and the instance was found to be gone.
    InstanceGone,
    /// The answer ended well with no token in it.
    NoToken,
    /// The answer cannot be read as what the interface promises.
    Malformed,
    /// The user interrupted it.
    Interrupted,
    /// The client ended before it asked for anything, so that what it had planned was not measured.
    ClientEnded,
    /// The client counted it as failed and does not tell how.
    Untold,
}
