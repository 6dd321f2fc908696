//! asiai: the export of its bench (schema 1 and 2) and the files of its agentic mode (v1 to v4).

use serde_json::Value;

use super::foreign::{Found, MS, Row, failure, number, scaled, settings, text, whole};
use crate::record::{Comparability, FailureKind};

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

/// Keeps a figure of an engine among what the file tells of itself; entries of several documents stand side by side.
fn tell(found: &mut Found, key: String, words: String) {
    match found.about.get_mut(&key) {
        Some(told) if !told.split("; ").any(|one| one == words) => {
            told.push_str("; ");
            told.push_str(&words);
        }
        Some(_) => {}
        None => drop(found.about.insert(key, words)),
    }
}

/// The engine's version and format, and what was published of it as a whole.
fn published(name: &str, engine: &Value, found: &mut Found) {
    let parts: Vec<String> =
        ["engine_version", "model_format", "model_quantization"].iter().filter_map(|key| text(engine, key)).collect();
    let words = if parts.is_empty() { name.to_owned() } else { format!("{name} {}", parts.join(", ")) };
    tell(found, "engines".to_owned(), words);
    for (key, unit, covers) in PUBLISHED {
        if let Some(value) = number(engine, key) {
            tell(found, format!("{name}: {key}"), format!("{value} {unit} ({covers}; published by asiai)"));
        }
    }
    let (server, client) = (number(engine, "median_ttft_ms"), number(engine, "median_ttft_client_ms"));
    if !is_servers_ttft(name, engine) {
        return;
    }
    let words = |value: f64, clock: &str| format!("{value} ms (median, by the {clock} clock; published by asiai)");
    if let Some(server) = server {
        tell(found, format!("{name}: median_ttft_ms"), words(server, "server's"));
    }
    if let Some(client) = client {
        tell(found, format!("{name}: median_ttft_client_ms"), words(client, "client's"));
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

/// A file of the agentic mode.
pub(super) fn is_agentic(document: &Value) -> bool {
    document.get("prefix_cache_reuse_verdict").is_some() && document.get("runs").is_some_and(Value::is_array)
}

/// The agentic mode: a request per phase and repeat. A phase is a workload of its own and no repeat of another.
pub(super) fn import_agentic(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    let versions: Vec<String> = documents.iter().map(version).collect();
    if versions.iter().any(|version| *version != versions[0]) {
        return Err(format!(
            "it holds agentic files of several versions ({}), whose phases differ; take them one by one",
            versions.join(", ")
        ));
    }
    for document in documents {
        found.engine = found.engine.or_else(|| text(document, "engine"));
        found.started_at = found.started_at.or_else(|| text(document, "started_at").filter(|at| at != "0"));
        found.about.insert("schema_version".to_owned(), version(document));
        found.about.extend(settings(
            document,
            &[
                "hardware",
                "machine_model",
                "hw_chip",
                "os_version",
                "ram_gb",
                "cpu_cores",
                "powermode",
                "engine_version",
                "prefix_cache_reuse_verdict",
            ],
        ));
        gates(document, &mut found);
        ranges(document, &mut found);
        for (place, run) in document.get("runs").and_then(Value::as_array).into_iter().flatten().enumerate() {
            agentic_run(document, run, place, &mut found);
        }
    }
    found.notices.push(
        "asiai's decode rate runs to the end of the stream and not to the last token, so it is some per cent lower than others"
            .into(),
    );
    Ok(found)
}

/// The first version carries no name.
fn version(document: &Value) -> String {
    text(document, "schema_version").unwrap_or_else(|| "agentic-v1".to_owned())
}

fn agentic_run(document: &Value, run: &Value, place: usize, found: &mut Found) {
    let mut row = Row {
        model: text(document, "model"),
        pp: whole(run, "prompt_tokens"),
        tg: whole(run, "max_tokens_requested"),
        concurrency: Some(1),
        repeat: whole(run, "repeat").unwrap_or(0).try_into().unwrap_or(u32::MAX),
        elapsed_s: scaled(run, "wall_total_ms", MS),
        prompt_tokens: whole(run, "prompt_tokens"),
        generation_tokens: whole(run, "completion_tokens"),
        settings: settings(run, &["phase"]),
        ..Row::default()
    };
    row.figures.streamed = Some(true);
    if let Some(error) = text(run, "error") {
        found.failures.push(failure(&row, FailureKind::Untold, &error, place.try_into().unwrap_or(u32::MAX)));
        return;
    }
    row.figures.ttft_s = scaled(run, "ttft_ms", MS);
    // A single token has no decode phase; asiai then divides by the end of the stream.
    row.generation_tps = number(run, "decode_tok_s").filter(|_| row.generation_tokens != Some(1));
    row.cache = match (whole(run, "cached_tokens"), row.prompt_tokens) {
        (Some(0), _) => Some("none"),
        // A server always reckons the last token of a prompt itself.
        (Some(cached), Some(prompt)) if cached + 1 >= prompt => Some("exact"),
        (Some(_), _) => Some("partial"),
        (None, _) => None,
    };
    for key in [
        "cached_tokens",
        "gpu_watts",
        "soc_watts",
        "prefill_watts",
        "energy_per_token_j",
        "thermal_speed_limit",
        "engine_rss_mb",
        "engine_phys_footprint_mb",
        "finish_reason",
    ] {
        if let Some(value) = run.get(key).filter(|value| !value.is_null()) {
            row.figures.published.insert(key.to_owned(), value.clone());
        }
    }
    found.rows.push(row);
}

/// What the agentic mode publishes of each request: name, unit, what it covers.
const OF_REQUESTS: [(&str, &str, &str); 6] = [
    ("gpu_watts", "W", "GPU rail, while decoding"),
    ("soc_watts", "W", "SoC rails, while decoding"),
    ("prefill_watts", "W", "SoC rails, up to the first token"),
    ("energy_per_token_j", "J per token after the first", "SoC rails, while decoding"),
    ("engine_rss_mb", "MB", "resident memory of the engine's processes"),
    ("engine_phys_footprint_mb", "MB", "physical footprint of the engine's processes"),
];

/// From the least to the most of what was published request by request, so that a reader finds it.
fn ranges(document: &Value, found: &mut Found) {
    let runs = document.get("runs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (key, unit, covers) in OF_REQUESTS {
        let mut values: Vec<f64> = runs.iter().filter_map(|run| number(run, key)).collect();
        values.sort_by(f64::total_cmp);
        if let (Some(least), Some(most)) = (values.first(), values.last()) {
            let span = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let requests = crate::units::count(values.len() as u64, "request");
            tell(found, key.to_owned(), format!("{span} {unit} in {requests} ({covers}; published by asiai)"));
        }
    }
    let peaks = ["engine_rss_peak_mb", "engine_phys_footprint_peak_mb"];
    let footprint = document.get("footprint").unwrap_or(&Value::Null);
    for key in peaks {
        if let Some(value) = number(footprint, key) {
            tell(found, key.to_owned(), format!("{value} MB (of the engine's processes; published by asiai)"));
        }
    }
}

fn gates(document: &Value, found: &mut Found) {
    let flag = |pointer: &str| document.pointer(pointer).and_then(Value::as_bool) == Some(true);
    let listed = |pointer: &str| document.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
    let told = [
        (flag("/quality_gates/early_stop/detected"), "asiai found answers that stopped early"),
        (flag("/quality_gates/memory_pressure/alerted"), "asiai found the machine swapping"),
        (flag("/quality_gates/thermal/throttled"), "asiai found the machine throttled by heat"),
        (listed("/quality_gates/other_engines_resident") > 0, "asiai found other engines running beside"),
        (flag("/cold_warm_repeats"), "cold phases of later repeats were warm, as asiai says itself"),
    ];
    found.notices.extend(told.iter().filter(|(found, _)| *found).map(|(_, words)| (*words).to_owned()));
}
