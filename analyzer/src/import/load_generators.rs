//! AIPerf, GuideLLM and inference-perf: load generators with summaries of their own.

use std::collections::BTreeMap;

use serde_json::Value;

use super::foreign::{Found, MS, Row, failure, number, scaled, settings, text, whole};
use super::instant;
use crate::record::{Comparability, FailureKind};

/// AIPerf's `profile_export_aiperf.json`.
pub(super) fn is_aiperf(document: &Value) -> bool {
    document.pointer("/time_to_first_token/unit").is_some() || document.pointer("/request_latency/unit").is_some()
}

/// A summary per file; every metric names its unit.
pub(super) fn import_aiperf(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    for document in documents {
        let seconds = |name: &str, key: &str| {
            let metric = document.get(name)?;
            let per = match metric.get("unit").and_then(Value::as_str)? {
                "ms" => MS,
                "s" | "sec" | "seconds" => 1.0,
                "us" | "µs" => 1e6,
                "ns" => 1e9,
                _ => return None,
            };
            scaled(metric, key, per)
        };
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
            pp: aiperf_asked(document, "input").or_else(|| tokens("input_sequence_length")),
            // What was generated is no length that was asked for.
            tg: aiperf_asked(document, "output"),
            prompt_tokens: tokens("input_sequence_length"),
            generation_tokens: tokens("output_sequence_length"),
            concurrency: concurrency.and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0),
            elapsed_s: seconds("request_latency", "avg"),
            generation_tps: plain("output_token_throughput_per_user"),
            ..Row::default()
        };
        obtained(&mut row);
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
fn aiperf_asked(document: &Value, side: &str) -> Option<u64> {
    ["/input_config/input/prompt", "/input_config/prompt", "/input_config/prompts"]
        .iter()
        .find_map(|prompt| whole(document.pointer(&format!("{prompt}/{side}_tokens"))?, "mean"))
        .filter(|tokens| *tokens > 0)
}

/// Loads that differ in what was generated are not one, where no length tells them apart.
fn obtained(row: &mut Row) {
    if let (None, Some(tokens)) = (row.tg, row.generation_tokens) {
        row.settings.insert("mean output tokens".to_owned(), tokens.to_string());
    }
}

fn errors(document: &Value, row: &Row, found: &mut Found) {
    for entry in document.get("error_summary").and_then(Value::as_array).into_iter().flatten() {
        let words = entry.pointer("/error_details/message").and_then(Value::as_str).unwrap_or("counted as failed");
        for place in 0..whole(entry, "count").unwrap_or(1).min(10_000) {
            found.failures.push(failure(row, FailureKind::Untold, words, u32::try_from(place).unwrap_or(u32::MAX)));
        }
    }
    if document.get("was_cancelled") == Some(&Value::Bool(true)) {
        found.notices.push("the run was cancelled before its end".into());
    }
}

/// GuideLLM's `benchmarks.json`.
pub(super) fn is_guidellm(document: &Value) -> bool {
    let benches = document.get("benchmarks").and_then(Value::as_array);
    benches.is_some_and(|list| list.iter().any(|bench| bench.pointer("/metrics/request_latency").is_some()))
}

/// An entry per load; its finished requests inside, unless they were left out.
pub(super) fn import_guidellm(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    for bench in documents.iter().filter_map(|document| document.get("benchmarks")?.as_array()).flatten() {
        let strategy = bench
            .pointer("/args/strategy")
            .or_else(|| bench.pointer("/config/strategy"))
            .or_else(|| bench.pointer("/scheduler/strategy"));
        let mut base = Row { model: guidellm_model(bench), ..Row::default() };
        base.figures.streamed = Some(true);
        if let Some(strategy) = strategy {
            base.settings.extend(settings(strategy, &["type_", "rate", "streams"]));
            base.concurrency =
                whole(strategy, "streams").and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
            if text(strategy, "type_").as_deref() == Some("synchronous") {
                base.concurrency = Some(1);
            }
        }
        let asked = |side: &str| guidellm_asked(bench, side);
        (base.pp, base.tg) = (asked("prompt_tokens"), asked("output_tokens"));
        let start = number(bench, "start_time")
            .or_else(|| bench.pointer("/run_stats").and_then(|stats| number(stats, "start_time")));
        found.started_at = found.started_at.or_else(|| start.map(|seconds| seconds.to_string()));
        let first = found.started_at.as_deref().and_then(instant::parse).map(|first| first.unix_s);
        let listed =
            |kind: &str| bench.get("requests").and_then(|requests| requests.get(kind)).and_then(Value::as_array);
        for (place, request) in listed("errored").into_iter().flatten().enumerate() {
            let words = text(request, "error").unwrap_or_else(|| "counted as failed".to_owned());
            let mut row = base.clone();
            row.pp = row.pp.or_else(|| whole(request, "prompt_tokens"));
            (row.figures.sent_s, row.figures.done_s) = guidellm_times(request, first).unzip();
            found.failures.push(failure(&row, FailureKind::Untold, &words, u32::try_from(place).unwrap_or(u32::MAX)));
        }
        match listed("successful").filter(|list| !list.is_empty()) {
            Some(requests) => {
                let mean = |key: &str| {
                    let known: Vec<f64> = requests.iter().filter_map(|request| number(request, key)).collect();
                    crate::statistics::spread::mean(&known).map(|tokens| tokens.round() as u64)
                };
                base.pp = base.pp.or_else(|| mean("prompt_tokens"));
                base.generation_tokens = mean("output_tokens");
                obtained(&mut base);
                for (place, request) in requests.iter().enumerate() {
                    let mut row = guidellm_request(&base, request, place);
                    (row.figures.sent_s, row.figures.done_s) = guidellm_times(request, first).unzip();
                    found.rows.push(row);
                }
            }
            None => {
                found.rows.push(guidellm_summary(base, bench, first));
                found.class = Some(Comparability::AggregateOnly);
            }
        }
    }
    if found.class.is_some() && found.rows.iter().any(|row| row.figures.stands_for.is_none()) {
        found
            .notices
            .push("some of its loads list their requests and others do not; all are taken as aggregates".into());
    }
    Ok(found)
}

fn guidellm_model(bench: &Value) -> Option<String> {
    ["/worker/backend_model", "/benchmarker/backend/model", "/config/backend/model", "/args/backend/model"]
        .iter()
        .find_map(|pointer| bench.pointer(pointer)?.as_str().map(str::to_owned))
}

/// The length that the load was made with: "prompt_tokens=256,output_tokens=128", or the same as an object.
fn guidellm_asked(bench: &Value, side: &str) -> Option<u64> {
    let data = ["/args/data/0", "/args/data", "/config/requests/data", "/request_loader/data"]
        .iter()
        .filter_map(|pointer| bench.pointer(pointer));
    data.into_iter().find_map(|data| match data {
        Value::String(words) => match serde_json::from_str::<Value>(words) {
            Ok(object) => whole(&object, side),
            Err(_) => words.split(',').find_map(|part| part.trim().strip_prefix(side)?.strip_prefix('=')?.parse().ok()),
        },
        object => whole(object, side),
    })
}

/// Sent and done, s since the start of the first load.
fn guidellm_times(request: &Value, first: Option<f64>) -> Option<(f64, f64)> {
    let timings = request.pointer("/info/timings").unwrap_or(&Value::Null);
    let at = |keys: [&str; 2], deep: &str| {
        keys.iter().find_map(|key| number(request, key)).or_else(|| number(timings, deep)).zip(first)
    };
    let since = |(at, first): (f64, f64)| at - first;
    let sent = at(["request_start_time", "start_time"], "request_start").map(since)?;
    Some((sent, at(["request_end_time", "end_time"], "request_end").map(since)?))
}

fn guidellm_request(base: &Row, request: &Value, place: usize) -> Row {
    let mut row = base.clone();
    // Requests of a load keep each other waiting, so they are one measurement; one after the other they are as many.
    let number_of = u32::try_from(place).unwrap_or(u32::MAX);
    if row.concurrency == Some(1) {
        row.repeat = number_of;
    } else {
        row.place = Some(number_of);
    }
    row.prompt_tokens = whole(request, "prompt_tokens");
    row.generation_tokens = whole(request, "output_tokens");
    // Seconds here, and milliseconds wherever the name says so.
    row.elapsed_s = number(request, "request_latency");
    row.figures.ttft_s = scaled(request, "time_to_first_token_ms", MS);
    row.figures.itl_s = scaled(request, "inter_token_latency_ms", MS);
    // Its time per output token counts the first token in, so it is kept and not taken for ours.
    for key in ["time_per_output_token_ms", "output_tokens_per_second", "tokens_per_second"] {
        if let Some(value) = number(request, key) {
            row.figures.published.insert(key.to_owned(), value.into());
        }
    }
    row.generation_tps = row.figures.itl_s.filter(|seconds| *seconds > 0.0).map(|seconds| 1.0 / seconds);
    if row.generation_tps.is_some() {
        row.derive("generation_tps", "1 / inter_token_latency, by the client's clock");
    }
    row
}

fn guidellm_summary(mut row: Row, bench: &Value, began: Option<f64>) -> Row {
    let of = |name: &str| bench.pointer(&format!("/metrics/{name}/successful"));
    let mean = |name: &str| of(name).and_then(|metric| number(metric, "mean"));
    row.elapsed_s = mean("request_latency");
    row.figures.ttft_s = mean("time_to_first_token_ms").map(|ms| ms / MS);
    row.figures.itl_s = mean("inter_token_latency_ms").map(|ms| ms / MS);
    row.figures.output_tps = mean("output_tokens_per_second");
    row.figures.requests_per_s = mean("requests_per_second");
    row.figures.stands_for = of("request_latency").and_then(|metric| whole(metric, "count"));
    let tokens = |name: &str| mean(name).filter(|n| *n >= 0.0).map(|n| n.round() as u64);
    (row.prompt_tokens, row.generation_tokens) = (tokens("prompt_token_count"), tokens("output_token_count"));
    row.pp = row.pp.or(row.prompt_tokens);
    obtained(&mut row);
    let first = number(bench, "start_time").zip(number(bench, "end_time"));
    (row.figures.sent_s, row.figures.done_s) = first.zip(began).map(|((a, b), began)| (a - began, b - began)).unzip();
    for name in ["request_latency", "time_to_first_token_ms", "inter_token_latency_ms"] {
        if let Some(Value::Object(metric)) = of(name) {
            // Its distributions can hold every value; the named figures are enough.
            let named = metric.iter().filter(|(_, value)| !value.is_array());
            row.figures.published.insert(
                name.to_owned(),
                named.map(|(k, v)| (k.clone(), v.clone())).collect::<serde_json::Map<_, _>>().into(),
            );
        }
    }
    row
}

/// inference-perf's lifecycle metrics, of the whole run or of a stage.
pub(super) fn is_inference_perf(document: &Value) -> bool {
    document.get("load_summary").is_some() && document.pointer("/successes/latency").is_some()
}

/// A summary per file, in seconds.
pub(super) fn import_inference_perf(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    for document in documents {
        let mean = |pointer: &str| document.pointer(pointer).and_then(|metric| number(metric, "mean"));
        let latency = |name: &str| mean(&format!("/successes/latency/{name}"));
        let tokens = |name: &str| mean(&format!("/successes/{name}")).filter(|n| *n >= 0.0).map(|n| n.round() as u64);
        let throughput = |name: &str| document.pointer("/successes/throughput").and_then(|rates| number(rates, name));
        let mut row = Row {
            pp: tokens("prompt_len"),
            prompt_tokens: tokens("prompt_len"),
            generation_tokens: tokens("output_len"),
            elapsed_s: latency("request_latency"),
            ..Row::default()
        };
        obtained(&mut row);
        row.figures.stands_for = document.get("successes").and_then(|ok| whole(ok, "count")).filter(|count| *count > 0);
        row.figures.ttft_s = latency("time_to_first_token");
        row.figures.tpot_s = latency("time_per_output_token");
        row.figures.itl_s = latency("inter_token_latency");
        row.figures.itl_p99_s =
            document.pointer("/successes/latency/inter_token_latency").and_then(|metric| number(metric, "p99"));
        row.generation_tps = row.figures.tpot_s.filter(|seconds| *seconds > 0.0).map(|seconds| 1.0 / seconds);
        if row.generation_tps.is_some() {
            row.derive("generation_tps", "1 / mean time_per_output_token, by the client's clock");
        }
        row.figures.output_tps = throughput("output_tokens_per_sec");
        row.figures.requests_per_s = throughput("requests_per_sec");
        if let Some(Value::Object(metrics)) = document.pointer("/successes/latency") {
            row.figures.published.extend(metrics.iter().map(|(name, metric)| (name.clone(), metric.clone())));
        }
        let failed = document.get("failures").and_then(|failures| whole(failures, "count")).unwrap_or(0);
        for place in 0..failed.min(10_000) {
            found.failures.push(failure(
                &row,
                FailureKind::Untold,
                "counted as failed; the file does not tell why",
                u32::try_from(place).unwrap_or(u32::MAX),
            ));
        }
        if let Some(late) = mean("/load_summary/schedule_delay").filter(|late| *late > 0.1) {
            found.notices.push(format!(
                "requests were sent {late:.1} s later than scheduled on average: the generator itself was the limit"
            ));
        }
        found.rows.push(row);
    }
    Ok(found)
}
