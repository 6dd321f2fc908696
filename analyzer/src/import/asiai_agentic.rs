//! asiai: the files of its agentic mode, v1 to v4.

use serde_json::Value;

use super::foreign::{Found, MS, Row, failure, number, scaled, settings, text, whole};
use crate::record::FailureKind;

/// A file of the agentic mode.
pub(super) fn is(document: &Value) -> bool {
    document.get("prefix_cache_reuse_verdict").is_some() && document.get("runs").is_some_and(Value::is_array)
}

/// The agentic mode: a request per phase and repeat. A phase is a workload of its own and no repeat of another.
pub(super) fn import(documents: &[Value]) -> Result<Found, String> {
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
    let counts = ["prompt_tokens", "max_tokens_requested", "repeat", "completion_tokens", "cached_tokens"];
    found.unread.counts(run, &counts);
    found.unread.numbers(run, &["wall_total_ms", "ttft_ms", "decode_tok_s"]);
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
        (Some(cached), Some(prompt)) if cached.saturating_add(1) >= prompt => Some("exact"),
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
            found.tell(key.to_owned(), format!("{span} {unit} in {requests} ({covers}; published by asiai)"));
        }
    }
    let peaks = ["engine_rss_peak_mb", "engine_phys_footprint_peak_mb"];
    let footprint = document.get("footprint").unwrap_or(&Value::Null);
    for key in peaks {
        if let Some(value) = number(footprint, key) {
            found.tell(key.to_owned(), format!("{value} MB (of the engine's processes; published by asiai)"));
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
