//! Every column of the frame, spelt once.

/// Index of the batch, in the order of first appearance.
pub(crate) const BATCH: &str = "batch";

/// What the requests share but for the cache, as a number: exo's console prints a line per such group.
pub(crate) const KIND: &str = "kind";

/// Model id in full.
pub(crate) const MODEL: &str = "model_id";
/// "pipeline", "tensor".
pub(crate) const SHARDING: &str = "sharding";
/// "ring", "jaccl".
pub(crate) const INSTANCE_META: &str = "instance_meta";
/// Nodes with shards.
pub(crate) const NODES: &str = "nodes";
/// Prompt tokens.
pub(crate) const PP: &str = "pp_tokens";
/// Tokens to generate.
pub(crate) const TG: &str = "tg";
/// Requests started together.
pub(crate) const CONCURRENCY: &str = "concurrency";
/// Cache state of the request, then of its batch, as a number.
pub(crate) const CACHE: &str = "cache";
/// Whether the answer was streamed.
pub(crate) const STREAMED: &str = "streamed";

/// The engine that answered.
pub(crate) const ENGINE: &str = "engine";
/// Quantization of the model.
pub(crate) const QUANTIZATION: &str = "quantization";
/// Settings by the names of the tool that measured, as one text.
pub(crate) const SETTINGS: &str = "settings";

/// Number of the session, in the order of first appearance.
pub(crate) const SESSION: &str = "session";
/// Repeat, from 0.
pub(crate) const REPEAT: &str = "repeat_index";

/// Prefill rate as written, tok/s.
pub(crate) const PROMPT_TPS: &str = "prompt_tps";
/// Decode rate as written, tok/s.
pub(crate) const GENERATION_TPS: &str = "generation_tps";
/// Prompt tokens by the server.
pub(crate) const PROMPT_TOKENS: &str = "prompt_tokens";
/// Generated tokens by the server.
pub(crate) const GENERATION_TOKENS: &str = "generation_tokens";
/// Peak memory as written, bytes.
pub(crate) const PEAK: &str = "peak_memory_bytes";
/// Elapsed time as written, s.
pub(crate) const ELAPSED: &str = "elapsed_s";
/// First token minus sent, s.
pub(crate) const TTFT: &str = "ttft_s";
/// Sent, s since the start of the run.
pub(crate) const SENT: &str = "sent_s";
/// Done, s since the start of the run.
pub(crate) const DONE: &str = "done_s";
/// The server's energy, J; null without a power source.
pub(crate) const SERVER_ENERGY: &str = "server_energy_j";
/// Power readings behind [`SERVER_ENERGY`], of the node with the fewest.
pub(crate) const SERVER_SAMPLES: &str = "server_power_samples";
/// First token minus sent, less the server's prefill, s; cold requests.
pub(crate) const TTFT_GAP: &str = "ttft_gap_s";
/// Time per output token, s.
pub(crate) const TPOT: &str = "tpot_s";
/// Mean gap between token frames, s.
pub(crate) const ITL: &str = "itl_s";
/// 99th percentile of the gaps between token frames, s.
pub(crate) const ITL_P99: &str = "itl_p99_s";
/// Gaps behind [`ITL_P99`].
pub(crate) const GAPS: &str = "gaps";
/// Elapsed time less the server's two phases, s; cold requests.
pub(crate) const OVERHEAD: &str = "overhead_s";
/// Opening the connection, s.
pub(crate) const CONNECT: &str = "connect_s";
/// The server's energy before the first token, J.
pub(crate) const SERVER_PREFILL_ENERGY: &str = "server_prefill_energy_j";
/// The server's energy from the first token on, J.
pub(crate) const SERVER_DECODE_ENERGY: &str = "server_decode_energy_j";

/// Requests that a row of another tool stands for; null in rows of exo and of Exoscope.
pub(crate) const STANDS_FOR: &str = "stands_for";
/// Generated tokens per second of all requests together, as another tool published it, tok/s.
pub(crate) const OUTPUT_TPS: &str = "output_tps";
/// Requests per second, as another tool published it.
pub(crate) const REQUESTS_PER_S: &str = "requests_per_s";
/// exo's console rate of a batch, as its client printed it, tok/s.
pub(crate) const MAX_TIMES_N: &str = "exo_max_times_n_tps";
/// Energy as exo's client printed it, J.
pub(crate) const CLIENT_ENERGY: &str = "client_energy_j";
/// Mean power as another tool published it, W.
pub(crate) const PUBLISHED_POWER: &str = "power_w";

/// What the requests of a cell share.
pub(crate) const CELL_KEY: [&str; 12] =
    [MODEL, SHARDING, INSTANCE_META, NODES, PP, TG, CONCURRENCY, STREAMED, CACHE, ENGINE, QUANTIZATION, SETTINGS];
