//! AIPerf: a summary of a load, every metric with its unit.

use std::collections::BTreeMap;

use serde_json::Value;

use super::foreign::{Found, Row, failure, number, per_second, scaled, settings, text, whole};
use super::instant;
use crate::record::FailureKind;

/// AIPerf's `profile_export_aiperf.json`.
pub(super) fn is(document: &Value) -> bool {
    document.pointer("/time_to_first_token/unit").is_some() || document.pointer("/request_latency/unit").is_some()
}

/// A summary per file; every metric names its unit.
pub(super) fn import(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    for document in documents {
        let seconds = |name: &str, key: &str| {
            let metric = document.get(name)?;
            scaled(metric, key, per_second(metric.get("unit").and_then(Value::as_str)?)?)
        };
        for name in ["request_latency", "time_to_first_token", "inter_token_latency"] {
            let Some(metric) = document.get(name).filter(|metric| number(metric, "avg").is_some()) else { continue };
            let unit = metric.get("unit").and_then(Value::as_str);
            if unit.and_then(per_second).is_none() {
                let unit = unit.map_or_else(|| "names no unit".to_owned(), |unit| format!("is in {unit:?}"));
                found.notices.push(format!("{name} {unit}, which is no unit of time that is known: left out"));
            }
        }
        let plain = |name: &str| document.get(name).and_then(|metric| number(metric, "avg"));
        let count = plain("request_count").or_else(|| document.get("request_latency").and_then(|m| number(m, "count")));
        let tokens = |name: &str| plain(name).filter(|n| *n >= 0.0).map(|n| n.round() as u64);
        found.started_at = found.started_at.or_else(|| text(document, "start_time"));
        found.about.extend(settings(document, &["aiperf_version", "schema_version"]));
        let phases = document.pointer("/input_config/phases").and_then(Value::as_array);
        let profiled =
            phases.into_iter().flatten().find(|phase| phase.get("exclude_from_results") != Some(&Value::Bool(true)));
        let model = document.pointer("/input_config/models/items/0").and_then(|item| text(item, "name"));
        let model = model.or_else(|| {
            document.pointer("/input_config/endpoint/model_names/0").and_then(Value::as_str).map(str::to_owned)
        });
        let concurrency = profiled.and_then(|phase| whole(phase, "concurrency"));
        let concurrency = concurrency
            .or_else(|| document.pointer("/input_config/loadgen").and_then(|load| whole(load, "concurrency")));
        let mut row = Row {
            model,
            pp: asked(document, "input").or_else(|| tokens("input_sequence_length")),
            // What was generated is no length that was asked for.
            tg: asked(document, "output"),
            prompt_tokens: tokens("input_sequence_length"),
            generation_tokens: tokens("output_sequence_length"),
            concurrency: concurrency.and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0),
            elapsed_s: seconds("request_latency", "avg"),
            generation_tps: plain("output_token_throughput_per_user"),
            ..Row::default()
        };
        row.tell_obtained();
        let instant = |key: &str| Some(instant::parse(&text(document, key)?)?.unix_s);
        let first = found.started_at.as_deref().and_then(instant::parse).map(|first| first.unix_s);
        let since = |key: &str| Some(instant(key)? - first?);
        (row.figures.sent_s, row.figures.done_s) = since("start_time").zip(since("end_time")).unzip();
        row.figures.stands_for = count.filter(|count| *count > 0.0).map(|count| count as u64);
        row.figures.streamed = document.pointer("/input_config/endpoint/streaming").and_then(Value::as_bool);
        row.figures.ttft_s = seconds("time_to_first_token", "avg");
        row.figures.itl_s = seconds("inter_token_latency", "avg");
        row.figures.itl_p99_s = seconds("inter_token_latency", "p99");
        row.figures.output_tps = plain("output_token_throughput");
        row.figures.requests_per_s = plain("request_throughput");
        for name in
            ["request_latency", "time_to_first_token", "inter_token_latency", "output_token_throughput_per_user"]
        {
            if let Some(metric) = document.get(name) {
                row.figures.published.insert(name.to_owned(), metric.clone());
            }
        }
        let mismatch = plain("osl_mismatch_diff_pct");
        if let Some(percent) = mismatch.filter(|percent| percent.abs() > 5.0) {
            let than = if percent < 0.0 { "shorter" } else { "longer" };
            found.notices.push(format!(
                "answers were {:.0} % {than} than asked for on average: the lengths differ from request to request",
                percent.abs()
            ));
        }
        telemetry(document.pointer("/telemetry_data/endpoints").unwrap_or(&Value::Null), "gpu", &mut found.about);
        errors(document, &row, &mut found);
        found.rows.push(row);
    }
    Ok(found)
}

/// Power and energy that AIPerf read off the graphics processors, each with its place and unit.
fn telemetry(value: &Value, place: &str, about: &mut BTreeMap<String, String>) {
    let Some(map) = value.as_object() else { return };
    for (name, inner) in map {
        let is_power = name.contains("power_") || name.contains("energy");
        match number(inner, "avg").filter(|_| is_power) {
            Some(mean) => {
                let unit = text(inner, "unit").unwrap_or_default();
                about.insert(
                    format!("{place}: {name}"),
                    format!("{mean} {unit} (mean over the run; published by AIPerf's telemetry)"),
                );
            }
            None => telemetry(inner, if name.starts_with("gpu") { name } else { place }, about),
        }
    }
}

/// The length that the load was made with, where the file tells it.
fn asked(document: &Value, side: &str) -> Option<u64> {
    ["/input_config/input/prompt", "/input_config/prompt", "/input_config/prompts"]
        .iter()
        .find_map(|prompt| whole(document.pointer(&format!("{prompt}/{side}_tokens"))?, "mean"))
        .filter(|tokens| *tokens > 0)
}

fn errors(document: &Value, row: &Row, found: &mut Found) {
    for entry in document.get("error_summary").and_then(Value::as_array).into_iter().flatten() {
        let words = entry.pointer("/error_details/message").and_then(Value::as_str).unwrap_or("counted as failed");
        let count = whole(entry, "count").unwrap_or(1);
        found.fail(count, |place| failure(row, FailureKind::Untold, words, place));
    }
    if document.get("was_cancelled") == Some(&Value::Bool(true)) {
        found.notices.push("the run was cancelled before its end".into());
    }
}
