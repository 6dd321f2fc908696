//! What exo's other benches and branches wrote: the CI bench of 2025, prefill against decode, context scaling, dflash.

use serde_json::Value;

use super::foreign::{Found, Row, failure, number, settings, text, whole};
use crate::record::FailureKind;

/// The times and rates of a row, by the names of several benches.
const PICKED: [&str; 10] = [
    "elapsed_s",
    "total_s",
    "wall_s",
    "prompt_tps",
    "prefill_tps",
    "generation_tps",
    "decode_tps",
    "gen_tps",
    "ttft_s",
    "ttft",
];

/// The CI bench of 2025: stages with requests of their own.
pub(super) fn is_ci(document: &Value) -> bool {
    document.pointer("/results/stages").is_some_and(Value::is_array)
}

/// A row per request of each stage.
pub(super) fn import_ci(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found { engine: Some("exo".to_owned()), ..Found::default() };
    for document in documents {
        let metadata = document.get("metadata").unwrap_or(&Value::Null);
        found.started_at = found.started_at.or_else(|| text(metadata, "benchmark_started_at"));
        found.about.extend(settings(metadata, &["git_commit", "config_file", "expected_nodes", "timeout_seconds"]));
        let cluster = document.get("cluster").unwrap_or(&Value::Null);
        let base = Row {
            model: cluster.pointer("/model_ids/0").and_then(Value::as_str).map(str::to_owned),
            sharding: text(cluster, "sharding"),
            instance_meta: text(cluster, "instance_meta"),
            instance_id: cluster.pointer("/instance_ids/0").and_then(Value::as_str).map(str::to_owned),
            nodes: whole(metadata, "expected_nodes").and_then(|nodes| u32::try_from(nodes).ok()),
            ..Row::default()
        };
        for stage in document.pointer("/results/stages").and_then(Value::as_array).into_iter().flatten() {
            let mut base = base.clone();
            base.settings.extend(text(stage, "name").map(|name| ("stage".to_owned(), name)));
            for (place, request) in stage.get("requests").and_then(Value::as_array).into_iter().flatten().enumerate() {
                let mut row = base.clone();
                row.repeat = u32::try_from(place).unwrap_or(u32::MAX);
                found.unread.counts(request, &["tokens"]);
                found.unread.numbers(request, &["elapsed_s", "decode_tps", "time_to_first_token_s"]);
                row.generation_tokens = whole(request, "tokens");
                row.elapsed_s = number(request, "elapsed_s");
                row.generation_tps = number(request, "decode_tps");
                row.figures.ttft_s = number(request, "time_to_first_token_s");
                row.figures.streamed = Some(true);
                if request.get("success") == Some(&Value::Bool(false)) {
                    let words = text(request, "error")
                        .unwrap_or_else(|| "counted as failed; the file does not tell why".into());
                    found.failures.push(failure(&row, FailureKind::Untold, &words, row.repeat));
                } else {
                    found.rows.push(row);
                }
            }
        }
    }
    Ok(found)
}

/// Prefill alone, decode alone, and the two on machines of their own.
pub(super) fn is_phases(document: &Value) -> bool {
    document
        .as_array()
        .is_some_and(|rows| rows.iter().any(|row| row.get("phase").is_some() && row.get("phase_model_id").is_some()))
}

/// A row per measurement; the phase is a workload of its own.
pub(super) fn import_phases(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found { engine: Some("exo".to_owned()), ..Found::default() };
    for (place, entry) in documents.iter().filter_map(Value::as_array).flatten().enumerate() {
        let stats = entry.get("stats").unwrap_or(entry);
        found.unread.counts(entry, &["pp_tokens", "pp", "tg", "repeat_index", "nodes"]);
        found.unread.numbers(entry, &["elapsed_s", "prefill_tps", "decode_tps"]);
        found.unread.counts(stats, &["prompt_tokens", "generation_tokens"]);
        found.unread.numbers(stats, &["prompt_tps", "generation_tps"]);
        let mut row = Row {
            model: text(entry, "phase_model_id").or_else(|| text(entry, "model_id")),
            settings: settings(entry, &["phase", "prefill_model_id", "decode_model_id"]),
            concurrency: Some(1),
            pp: whole(entry, "pp_tokens").or_else(|| whole(entry, "pp")),
            tg: whole(entry, "tg"),
            repeat: whole(entry, "repeat_index").unwrap_or(place as u64).try_into().unwrap_or(u32::MAX),
            instance_meta: text(entry, "instance_meta"),
            instance_id: text(entry, "instance_id"),
            nodes: whole(entry, "nodes").and_then(|nodes| u32::try_from(nodes).ok()),
            elapsed_s: number(entry, "elapsed_s"),
            prompt_tps: number(stats, "prompt_tps").or_else(|| number(entry, "prefill_tps")),
            generation_tps: number(stats, "generation_tps").or_else(|| number(entry, "decode_tps")),
            prompt_tokens: whole(stats, "prompt_tokens"),
            generation_tokens: whole(stats, "generation_tokens"),
            ..Row::default()
        };
        for (key, value) in entry.as_object().into_iter().flatten() {
            if key.starts_with("prefill_") || key.starts_with("decode_") {
                row.figures.published.insert(key.clone(), value.clone());
            }
        }
        found.rows.push(row);
    }
    Ok(found)
}

/// The context-scaling bench of a branch.
pub(super) fn is_scaling(document: &Value) -> bool {
    document.get("metadata").is_some()
        && document.get("runs").is_some_and(Value::is_array)
        && document.get("params").is_some()
}

/// A row per context length.
pub(super) fn import_scaling(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found { engine: Some("exo".to_owned()), ..Found::default() };
    for document in documents {
        let metadata = document.get("metadata").unwrap_or(&Value::Null);
        found.started_at = found.started_at.or_else(|| text(metadata, "started_at"));
        found.about.extend(settings(metadata, &["run_id", "benchmark", "exo_sha", "hostname", "platform"]));
        let params = document.get("params").unwrap_or(&Value::Null);
        for (kind, list) in [("scaling", "runs"), ("cold control", "cold_controls")] {
            for (place, entry) in document.get(list).and_then(Value::as_array).into_iter().flatten().enumerate() {
                found.unread.counts(entry, &["context", "context_tokens", "pp_tokens", "prompt_tokens", "tg"]);
                found.unread.numbers(entry, &PICKED);
                let pick = |keys: &[&str]| keys.iter().find_map(|key| number(entry, key));
                let mut row = Row {
                    model: text(entry, "model_id").or_else(|| text(entry, "model")).or_else(|| text(params, "model")),
                    pp: ["context", "context_tokens", "pp_tokens", "prompt_tokens"]
                        .iter()
                        .find_map(|key| whole(entry, key)),
                    tg: whole(entry, "tg").or_else(|| whole(params, "tg")),
                    concurrency: Some(1),
                    repeat: whole(entry, "repeat_index").unwrap_or(place as u64).try_into().unwrap_or(u32::MAX),
                    elapsed_s: number(entry, "elapsed_s"),
                    prompt_tps: pick(&["prompt_tps", "prefill_tps"]),
                    generation_tps: pick(&["generation_tps", "decode_tps", "gen_tps"]),
                    ..Row::default()
                };
                row.settings.insert("part".to_owned(), kind.to_owned());
                row.figures.ttft_s = pick(&["ttft_s", "ttft"]);
                found.rows.push(row);
            }
        }
    }
    Ok(found)
}

/// The dflash bench of a branch.
pub(super) fn is_dflash(document: &Value) -> bool {
    document.get("label").is_some() && document.get("requests").is_some_and(Value::is_array)
}

/// A row per request.
pub(super) fn import_dflash(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found { engine: Some("exo".to_owned()), ..Found::default() };
    for document in documents {
        for (place, request) in document.get("requests").and_then(Value::as_array).into_iter().flatten().enumerate() {
            found.unread.counts(request, &["completion_tokens", "generation_tokens", "tokens", "prompt_tokens"]);
            found.unread.numbers(request, &PICKED);
            let pick = |keys: &[&str]| keys.iter().find_map(|key| number(request, key));
            let mut row = Row {
                model: text(document, "model"),
                settings: settings(document, &["label"]),
                concurrency: Some(1),
                repeat: u32::try_from(place).unwrap_or(u32::MAX),
                elapsed_s: pick(&["elapsed_s", "total_s", "wall_s"]),
                prompt_tps: pick(&["prompt_tps"]),
                generation_tps: pick(&["generation_tps", "decode_tps", "tps"]),
                generation_tokens: ["completion_tokens", "generation_tokens", "tokens"]
                    .iter()
                    .find_map(|key| whole(request, key)),
                prompt_tokens: whole(request, "prompt_tokens"),
                ..Row::default()
            };
            row.figures.ttft_s = pick(&["ttft_s", "ttft"]);
            if let Some(error) = text(request, "error") {
                found.failures.push(failure(&row, FailureKind::Untold, &error, row.repeat));
            } else {
                found.rows.push(row);
            }
        }
    }
    Ok(found)
}
