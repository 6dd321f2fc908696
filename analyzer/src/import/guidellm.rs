//! GuideLLM: an entry per load, with its requests or without them.

use serde_json::Value;

use super::foreign::{Found, MS, Row, failure, number, scaled, settings, text, whole};
use super::instant;
use crate::record::{Comparability, FailureKind};

/// GuideLLM's `benchmarks.json`.
pub(super) fn is(document: &Value) -> bool {
    let benches = document.get("benchmarks").and_then(Value::as_array);
    benches.is_some_and(|list| list.iter().any(|bench| bench.pointer("/metrics/request_latency").is_some()))
}

/// An entry per load; its finished requests inside, unless they were left out.
pub(super) fn import(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    for bench in documents.iter().filter_map(|document| document.get("benchmarks")?.as_array()).flatten() {
        let strategy = bench
            .pointer("/args/strategy")
            .or_else(|| bench.pointer("/config/strategy"))
            .or_else(|| bench.pointer("/scheduler/strategy"));
        let mut base = Row { model: model(bench), ..Row::default() };
        base.figures.streamed = Some(true);
        if let Some(strategy) = strategy {
            base.settings.extend(settings(strategy, &["type_", "rate", "streams"]));
            base.concurrency =
                whole(strategy, "streams").and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
            if text(strategy, "type_").as_deref() == Some("synchronous") {
                base.concurrency = Some(1);
            }
        }
        (base.pp, base.tg) = (asked(bench, "prompt_tokens"), asked(bench, "output_tokens"));
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
            (row.figures.sent_s, row.figures.done_s) = times(request, first).unzip();
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
                base.tell_obtained();
                for (place, request) in requests.iter().enumerate() {
                    found.unread.counts(request, &["prompt_tokens", "output_tokens"]);
                    found.unread.numbers(request, &FIGURES);
                    let mut row = request_row(&base, request, place);
                    (row.figures.sent_s, row.figures.done_s) = times(request, first).unzip();
                    found.rows.push(row);
                }
            }
            None => {
                found.rows.push(summary(base, bench, first));
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

fn model(bench: &Value) -> Option<String> {
    ["/worker/backend_model", "/benchmarker/backend/model", "/config/backend/model", "/args/backend/model"]
        .iter()
        .find_map(|pointer| bench.pointer(pointer)?.as_str().map(str::to_owned))
}

/// The length that the load was made with: "prompt_tokens=256,output_tokens=128", or the same as an object.
fn asked(bench: &Value, side: &str) -> Option<u64> {
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

/// The figures of a request.
const FIGURES: [&str; 3] = ["request_latency", "time_to_first_token_ms", "inter_token_latency_ms"];

/// Sent and done, s since the start of the first load.
fn times(request: &Value, first: Option<f64>) -> Option<(f64, f64)> {
    let timings = request.pointer("/info/timings").unwrap_or(&Value::Null);
    let at = |keys: [&str; 2], deep: &str| {
        keys.iter().find_map(|key| number(request, key)).or_else(|| number(timings, deep)).zip(first)
    };
    let since = |(at, first): (f64, f64)| at - first;
    let sent = at(["request_start_time", "start_time"], "request_start").map(since)?;
    Some((sent, at(["request_end_time", "end_time"], "request_end").map(since)?))
}

fn request_row(base: &Row, request: &Value, place: usize) -> Row {
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

fn summary(mut row: Row, bench: &Value, began: Option<f64>) -> Row {
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
    row.tell_obtained();
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
