//! llama-benchy: figures per request or per run of a batch against an endpoint, in milliseconds.

use serde_json::Value;

use super::foreign::{Found, MS, Row, number, settings, text, whole};
use crate::record::Comparability;
use crate::units;

/// A report of llama-benchy.
pub(super) fn is(document: &Value) -> bool {
    document.get("latency_mode").is_some()
        && document
            .get("benchmarks")
            .and_then(Value::as_array)
            .is_some_and(|list| list.iter().all(|b| b.get("prompt_size").is_some()))
}

/// An entry per size and concurrency. Rates of requests are listed one by one; those of the batch beside.
pub(super) fn import(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    for document in documents {
        found.started_at = found.started_at.or_else(|| text(document, "timestamp"));
        found.about.extend(settings(document, &["version", "latency_mode", "latency_ms", "prefix_caching_enabled"]));
        for bench in document.get("benchmarks").and_then(Value::as_array).into_iter().flatten() {
            entry(document, bench, &mut found);
        }
    }
    if found.rows.iter().any(|row| row.figures.published.contains_key("ttfr_ms")) {
        found
            .notices
            .push("its first response is any event of the stream and not the first token; it is kept beside".into());
    }
    Ok(found)
}

fn entry(document: &Value, bench: &Value, found: &mut Found) {
    found.unread.counts(bench, &["concurrency", "prompt_size", "response_size"]);
    let mut values = |key: &str| -> Vec<f64> {
        let list = bench.get(key).and_then(|metric| metric.get("values")).and_then(Value::as_array);
        let list = list.into_iter().flatten();
        list.clone().filter(|value| !value.is_number() && !value.is_null()).for_each(|other| {
            found.unread.note(key, &other.to_string());
        });
        list.filter_map(Value::as_f64).collect()
    };
    let concurrency =
        whole(bench, "concurrency").and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
    let mut base = Row {
        model: text(document, "model"),
        pp: whole(bench, "prompt_size"),
        tg: whole(bench, "response_size"),
        concurrency,
        settings: settings(bench, &["context_size", "is_context_prefill_phase"]),
        ..Row::default()
    };
    base.figures.streamed = Some(true);
    let (prefill, decode) = (values("pp_req_throughput"), values("tg_req_throughput"));
    let (first, response) = (values("e2e_ttft"), values("ttfr"));
    let whole_batch = values("tg_throughput");
    let count = [&prefill, &decode, &first].iter().map(|list| list.len()).max().unwrap_or(0);
    let together = usize::try_from(concurrency.unwrap_or(1)).unwrap_or(1).max(1);
    // Where a request is missing its run is, too: then all of them are one measurement.
    let told = count.is_multiple_of(together);
    if !told {
        found.notices.push(format!(
            "{} of runs of {together} requests {} taken as one",
            units::count(count as u64, "value"),
            units::agree(
                count as u64,
                "does not tell which run it belongs to: it is",
                "do not tell which belong to one run: they are"
            ),
        ));
    }
    let whole_batch = if told { whole_batch } else { Vec::new() };
    for place in 0..count {
        let mut row = base.clone();
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        row.repeat = if told { number(place / together) } else { 0 };
        row.place = (together > 1).then(|| number(if told { place % together } else { place }));
        row.prompt_tps = prefill.get(place).copied();
        row.generation_tps = decode.get(place).copied();
        row.figures.ttft_s = first.get(place).map(|ms| ms / MS);
        if let Some(ms) = response.get(place) {
            row.figures.published.insert("ttfr_ms".to_owned(), (*ms).into());
        }
        if together > 1 && place % together == 0 {
            row.figures.output_tps = whole_batch.get(place / together).copied();
        }
        found.rows.push(row);
    }
    if count > 0 {
        return;
    }
    // Without values only the mean is there.
    let mean = |key: &str| bench.get(key).and_then(|metric| number(metric, "mean"));
    base.prompt_tps = mean("pp_req_throughput").or_else(|| mean("pp_throughput").filter(|_| together == 1));
    base.generation_tps = mean("tg_req_throughput").or_else(|| mean("tg_throughput").filter(|_| together == 1));
    base.figures.ttft_s = mean("e2e_ttft").map(|ms| ms / MS);
    found.class = Some(Comparability::AggregateOnly);
    found.rows.push(base);
}
