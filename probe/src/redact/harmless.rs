//! Which strings may stay: those under keys that are known to hold no text of a person. All others are replaced, so that a
//! key nobody thought of does not leak.

/// Keys of result files, of other tools' files and of the servers' interfaces, under which stand models, settings, units,
/// instants, versions, and words out of a list.
const KEYS: [&str; 189] = [
    "$ref",
    "address",
    "aiperf_version",
    "answer",
    "arch",
    "asiai_version",
    "atom",
    "backend",
    "backends",
    "baseModel",
    "base_model",
    "benchmark",
    "benchmark_id",
    "better",
    "boundNodeId",
    "boundRunnerId",
    "build_commit",
    "cache",
    "cancelledTaskId",
    "capabilities",
    "chip",
    "chipId",
    "class",
    "commandId",
    "command_id",
    "completed_at",
    "content-type",
    "cpu_info",
    "cpu_mask",
    "date",
    "datetime",
    "dest",
    "devices",
    "direction",
    "download_state",
    "draft_model",
    "dtype",
    "encoding_format",
    "end_time",
    "ended_at",
    "endpoint_type",
    "engine",
    "engine_version",
    "event",
    "exo_sha",
    "exoscope_version",
    "family",
    "field",
    "finish_reason",
    "finish_reasons",
    "fit",
    "flash_attn",
    "format",
    "from",
    "git_commit",
    "goodput",
    "gpu_info",
    "gpu_name",
    "grade",
    "hardware",
    "huggingFaceId",
    "hugging_face_id",
    "hw_chip",
    "id",
    "instance",
    "instanceId",
    "instanceMeta",
    "instance_id",
    "instance_ids",
    "instance_meta",
    "instrument",
    "interface",
    "interfaceType",
    "interface_type",
    "key_type",
    "kind",
    "latency_mode",
    "load_format",
    "machine_model",
    "method",
    "metric",
    "metrics",
    "mode",
    "model",
    "modelId",
    "modelIds",
    "modelType",
    "model_family",
    "model_format",
    "model_id",
    "model_ids",
    "model_name",
    "model_path",
    "model_quantization",
    "model_short_id",
    "model_type",
    "object",
    "of",
    "origin",
    "os",
    "osBuildVersion",
    "osVersion",
    "os_build",
    "os_version",
    "owned_by",
    "pairing",
    "part",
    "phase",
    "phase_model_id",
    "placement",
    "placement_instance_meta",
    "placement_sharding",
    "platform",
    "pooling",
    "power_source",
    "prefix_cache_hit",
    "prefix_cache_reuse_verdict",
    "processorRepo",
    "prompt_type",
    "publication",
    "quantization",
    "rail",
    "rails",
    "reasoningDialect",
    "reasoning_dialect",
    "reasoning_effort",
    "recognised",
    "request_rate",
    "required",
    "response_format",
    "result",
    "role",
    "rule",
    "run_id",
    "runnerId",
    "runner_id",
    "runners",
    "sampling",
    "scheduling",
    "schema",
    "schema_version",
    "scope",
    "service_tier",
    "sha256",
    "shard",
    "sharding",
    "source_type",
    "split_mode",
    "stability",
    "start_time",
    "started",
    "started_at",
    "state",
    "status",
    "stop_reason",
    "stop_type",
    "strategy",
    "streaming",
    "support",
    "system_fingerprint",
    "tag",
    "taskId",
    "taskStatus",
    "task_id",
    "tasks",
    "template_sha256",
    "template_source",
    "tensor_buft_overrides",
    "tensor_split",
    "test",
    "test_time",
    "thermal",
    "timestamp",
    "tokenizer_id",
    "tokenizer_mode",
    "tool",
    "tool_choice",
    "tool_version",
    "ts",
    "type",
    "type_",
    "type_k",
    "type_v",
    "unit",
    "updated_at",
    "verdict",
    "version",
    "versions",
    "weightsRepo",
];

/// Sentences that this program writes. They quote others, so what looks like a secret in them goes, too.
const SENTENCES: [&str; 4] = ["notices", "reason", "warnings", "caveats"];

/// Objects whose `name` and `source` are words of the format. Elsewhere a name may be a person's.
const NAMED: [&str; 6] = ["tool", "tokenizer", "metric_series", "series", "overlays", "system_metrics"];

/// What in a key says that its value is a secret, whatever that looks like.
const SECRET: [&str; 10] =
    ["apikey", "api_key", "api-key", "token", "secret", "passw", "auth", "credential", "cookie", "private"];

/// Keys of counts and settings of tokens, which are no secrets.
const OF_TOKENS: [&str; 3] = ["tokenizer", "tokens", "token_id"];

/// Whether a string under this key may stay; `within` is the key of the object it stands in.
pub(super) fn is_harmless(key: Option<&str>, within: Option<&str>, text: &str) -> bool {
    let Some(key) = key else { return is_plain(text) };
    if is_secret(key) {
        return text.is_empty() || super::texts::is_replacement(text);
    }
    KEYS.contains(&key)
        || SENTENCES.contains(&key)
        || (matches!(key, "name" | "source") && within.is_some_and(|within| NAMED.contains(&within)))
        // What was measured with, and AIPerf's models.
        || (key == "name" && matches!(within, Some("method" | "items")))
        || key == "backend_model"
        || is_plain(text)
}

/// Whether the value of a key is a secret by the key's name.
pub(super) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET.iter().any(|word| key.contains(word)) && !OF_TOKENS.iter().any(|word| key.contains(word))
}

/// What says nothing in words: nothing, numbers, instants, UUIDs, and what an earlier redaction put in place.
fn is_plain(text: &str) -> bool {
    let is_instant = || {
        text.len() >= 8
            && text.bytes().take(4).all(|byte| byte.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || b"-:.+TZ ".contains(&byte))
    };
    let is_uuid = || {
        text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    };
    text.is_empty()
        || text.parse::<f64>().is_ok()
        || matches!(text, "true" | "false" | "null" | "none" | "yes" | "no")
        || super::texts::is_replacement(text)
        || is_instant()
        || is_uuid()
}
