//! asiai: the export of its bench, schema 1 and 2.

use serde_json::Value;

use super::foreign::{Found, MS, Row, number, scaled, settings, text, whole};
use crate::record::Comparability;

/// The export of `asiai bench`.
pub(super) fn is_export(document: &Value) -> bool {
    document.pointer("/benchmark/engines").is_some_and(Value::is_object) && document.get("schema_version").is_some()
}

/// The export: an entry per engine, its runs inside. Without them (the community's payload) only aggregates are left.
pub(super) fn import_export(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    for document in documents {
        let bench = document.get("benchmark").unwrap_or(&Value::Null);
        if let Some(machine) = document.get("machine").filter(|machine| machine.is_object()) {
            found.about.extend(settings(machine, &["chip", "os_version", "ram_gb", "gpu_cores"]));
        }
        found.about.extend(settings(document, &["asiai_version", "hw_chip", "hw_ram_gb", "os_version"]));
        found.started_at = found.started_at.or_else(|| text(document, "timestamp").or_else(|| text(document, "ts")));
        let Some(engines) = bench.get("engines").and_then(Value::as_object) else { continue };
        if engines.is_empty() {
            found
                .notices
                .push("the export lists no engine: asiai writes none for several models, so its data are lost".into());
        }
        for (name, engine) in engines {
            let mut base = Row { model: text(bench, "model"), concurrency: Some(1), ..Row::default() };
            base.settings.insert("engine".to_owned(), name.clone());
            base.settings.extend(settings(engine, &["engine_version", "model_format", "model_quantization"]));
            base.settings.extend(settings(bench, &["context_size"]));
            base.figures.streamed = Some(true);
            published(name, engine, &mut found);
            runs_of(name, engine, &base, &mut found);
        }
    }
    Ok(found)
}

/// What asiai publishes of an engine over all its runs: name, unit, what it covers.
const PUBLISHED: [(&str, &str, &str); 6] = [
    ("avg_power_watts", "W", "GPU rail, one window over all runs of the engine, prefill included"),
    ("avg_soc_watts", "W", "SoC rails, one window over all runs of the engine, prefill included"),
    ("avg_energy_per_token_j", "J per generated token", "SoC rails, prefill included"),
    ("avg_tok_per_sec_per_watt", "tok/s per W", "GPU rail"),
    ("avg_tok_s_per_soc_watt", "tok/s per W", "SoC rails"),
    ("vram_bytes", "bytes", "memory of the loaded model as the engine lists it, which is no peak"),
];

/// The engine's version and format, and what was published of it as a whole.
fn published(name: &str, engine: &Value, found: &mut Found) {
    let parts: Vec<String> =
        ["engine_version", "model_format", "model_quantization"].iter().filter_map(|key| text(engine, key)).collect();
    let words = if parts.is_empty() { name.to_owned() } else { format!("{name} {}", parts.join(", ")) };
    found.tell("engines".to_owned(), words);
    for (key, unit, covers) in PUBLISHED {
        if let Some(value) = number(engine, key) {
            found.tell(format!("{name}: {key}"), format!("{value} {unit} ({covers}; published by asiai)"));
        }
    }
    let (server, client) = (number(engine, "median_ttft_ms"), number(engine, "median_ttft_client_ms"));
    if !is_servers_ttft(name, engine) {
        return;
    }
    let words = |value: f64, clock: &str| format!("{value} ms (median, by the {clock} clock; published by asiai)");
    if let Some(server) = server {
        found.tell(format!("{name}: median_ttft_ms"), words(server, "server's"));
    }
    if let Some(client) = client {
        found.tell(format!("{name}: median_ttft_client_ms"), words(client, "client's"));
    }
    found.notices.push(format!(
        "ttft_ms of {name} is the server's own time for the prompt and not what a client waited: it is kept beside and not \
         taken for the time to first token"
    ));
}

/// Of Ollama `ttft_ms` is what the server says of its prompt; of every other engine it is the client's.
fn is_servers_ttft(name: &str, engine: &Value) -> bool {
    let medians = number(engine, "median_ttft_ms").zip(number(engine, "median_ttft_client_ms"));
    // Both are rounded to a tenth.
    name == "ollama" || medians.is_some_and(|(told, client)| (told - client).abs() > 0.1)
}

fn runs_of(name: &str, engine: &Value, base: &Row, found: &mut Found) {
    let servers = is_servers_ttft(name, engine);
    let ttft = |of: &Value, client: &str, told: &str| {
        scaled(of, client, MS).or_else(|| scaled(of, told, MS).filter(|_| !servers))
    };
    let runs = engine.get("raw_runs").and_then(Value::as_array).filter(|runs| !runs.is_empty());
    let Some(runs) = runs else {
        found.unread.counts(engine, &["runs_count"]);
        found.unread.numbers(engine, &["avg_tok_s", "median_tok_s", "median_ttft_ms", "median_ttft_client_ms"]);
        let mut row = base.clone();
        row.generation_tps = number(engine, "avg_tok_s").or_else(|| number(engine, "median_tok_s"));
        row.figures.ttft_s = ttft(engine, "median_ttft_client_ms", "median_ttft_ms");
        row.figures.stands_for = whole(engine, "runs_count");
        for key in [
            "median_tok_s",
            "avg_tok_s",
            "std_dev_tok_s",
            "p90_tok_s",
            "p99_tok_s",
            "median_ttft_ms",
            "median_ttft_client_ms",
        ]
        .into_iter()
        .chain(PUBLISHED.map(|(key, ..)| key))
        {
            if let Some(value) = number(engine, key) {
                row.figures.published.insert(key.to_owned(), value.into());
            }
        }
        found.class = Some(Comparability::AggregateOnly);
        found.rows.push(row);
        return;
    };
    for (place, run) in runs.iter().enumerate() {
        found.unread.counts(run, &["run_index", "tokens_generated"]);
        found.unread.numbers(run, &["tok_per_sec", "total_duration_ms", "ttft_ms", "ttft_client_ms"]);
        let mut row = base.clone();
        row.settings.extend(settings(run, &["prompt_type"]));
        row.repeat = whole(run, "run_index").unwrap_or(place as u64).try_into().unwrap_or(u32::MAX);
        row.generation_tps = number(run, "tok_per_sec");
        row.generation_tokens = whole(run, "tokens_generated");
        row.elapsed_s = scaled(run, "total_duration_ms", MS);
        row.figures.ttft_s = ttft(run, "ttft_client_ms", "ttft_ms");
        if let Some(told) = number(run, "ttft_ms").filter(|_| servers) {
            row.figures.published.insert("ttft_ms".to_owned(), told.into());
        }
        found.rows.push(row);
    }
}
