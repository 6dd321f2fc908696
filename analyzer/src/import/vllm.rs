//! vLLM's `bench serve`, its sweeps, and what took over its keys: aggregates, and with `--save-detailed` lists of each request.

use serde_json::Value;

use super::foreign::{Found, MS, Row, failure, number, scaled, settings, text, whole};
use crate::record::{Comparability, FailureKind};

/// One result, or the list that a sweep writes.
pub(super) fn is(document: &Value) -> bool {
    let one = |row: &Value| row.get("request_throughput").is_some() && row.get("total_output_tokens").is_some();
    match document {
        Value::Array(rows) => !rows.is_empty() && rows.iter().all(one),
        row => one(row),
    }
}

/// What a sweep varies and what a reader asks for; the rate may be the text "inf".
const SETTINGS: [&str; 9] = [
    "request_rate",
    "burstiness",
    "backend",
    "endpoint_type",
    "tokenizer_id",
    "max_num_seqs",
    "max_num_batched_tokens",
    "num_prompts",
    "label",
];

/// Results of `bench serve`, one or many.
pub(super) fn import(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found { engine: Some("vllm".to_owned()), ..Found::default() };
    let results = documents.iter().flat_map(|document| match document {
        Value::Array(rows) => rows.iter().collect::<Vec<_>>(),
        row => vec![row],
    });
    for result in results {
        one(result, &mut found)?;
    }
    Ok(found)
}

fn one(result: &Value, found: &mut Found) -> Result<(), String> {
    let completed = whole(result, "completed")
        .or_else(|| whole(result, "num_prompts"))
        .ok_or("it does not tell how many requests were completed")?;
    let failed = whole(result, "failed")
        .unwrap_or_else(|| whole(result, "num_prompts").unwrap_or(completed).saturating_sub(completed));
    found.started_at = found.started_at.take().or_else(|| text(result, "date"));
    let each = |key: &str| whole(result, key).filter(|_| completed > 0).map(|total| total / completed);
    let mut row = Row {
        model: text(result, "model_id"),
        settings: settings(result, &SETTINGS),
        pp: each("total_input_tokens").or_else(|| each("total_input")),
        tg: each("total_output_tokens").or_else(|| each("total_output")),
        concurrency: whole(result, "max_concurrency")
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| *count > 0),
        repeat: whole(result, "run_number").and_then(|run| u32::try_from(run).ok()).unwrap_or(0),
        ..Row::default()
    };
    row.figures.streamed = Some(true);
    for place in 0..failed.min(FAILURES_LISTED) {
        let words = error_at(result, place);
        let kind = FailureKind::Untold;
        found.failures.push(failure(
            &row,
            kind,
            words.as_deref().unwrap_or("counted as failed; the file does not tell why"),
            u32::try_from(place).unwrap_or(u32::MAX),
        ));
    }
    if failed > FAILURES_LISTED {
        found.notices.push(format!("{failed} requests failed, of which {FAILURES_LISTED} are listed"));
    }
    if completed == 0 {
        // Zeros in place of every figure: nothing was measured.
        return Ok(());
    }
    if detailed(result, &row, found) {
        return Ok(());
    }
    row.figures.stands_for = Some(completed);
    // The same keys without `_ms` hold seconds.
    let time = |name: &str| {
        scaled(result, &format!("{name}_ms"), MS).or_else(|| number(result, name)).filter(|seconds| *seconds > 0.0)
    };
    row.elapsed_s = time("mean_e2el");
    row.figures.ttft_s = time("mean_ttft");
    row.figures.tpot_s = time("mean_tpot");
    row.figures.itl_s = time("mean_itl");
    row.figures.itl_p99_s = time("p99_itl");
    row.generation_tps = row.figures.tpot_s.map(|seconds| 1.0 / seconds);
    row.figures.output_tps = number(result, "output_throughput");
    row.figures.requests_per_s = number(result, "request_throughput");
    let statistics = ["mean_", "median_", "std_", "p50_", "p90_", "p95_", "p99_"];
    for (key, value) in result.as_object().into_iter().flatten() {
        if statistics.iter().any(|name| key.starts_with(name))
            || matches!(key.as_str(), "duration" | "completed" | "request_goodput" | "total_token_throughput")
        {
            row.figures.published.insert(key.clone(), value.clone());
        }
    }
    found.class = Some(Comparability::AggregateOnly);
    found.rows.push(row);
    Ok(())
}

/// More failures than this are counted in words: a list of a million equal entries tells nothing.
const FAILURES_LISTED: u64 = 10_000;

fn error_at(result: &Value, place: u64) -> Option<String> {
    let errors = result.get("errors")?.as_array()?;
    let said = errors.iter().filter_map(Value::as_str).filter(|words| !words.is_empty());
    said.map(str::to_owned).nth(usize::try_from(place).ok()?)
}

/// `--save-detailed` keeps a list per figure, an entry per request, in seconds.
fn detailed(result: &Value, base: &Row, found: &mut Found) -> bool {
    let list = |key: &str| result.get(key).and_then(Value::as_array).filter(|list| !list.is_empty());
    let (Some(ttfts), Some(outputs)) = (list("ttfts"), list("output_lens")) else { return false };
    let at = |key: &str, place: usize| list(key).and_then(|list| list.get(place));
    let mean = |list: &[Value]| {
        let known: Vec<f64> = list.iter().filter_map(Value::as_f64).filter(|tokens| *tokens > 0.0).collect();
        crate::statistics::spread::mean(&known).map(|tokens| tokens.round() as u64)
    };
    // Lengths differ from request to request; the load is one workload.
    let (pp, tg) = (list("input_lens").and_then(|list| mean(list)), mean(outputs));
    for (place, (ttft, tokens)) in ttfts.iter().zip(outputs).enumerate() {
        let ttft = ttft.as_f64().filter(|seconds| *seconds > 0.0);
        let Some(ttft) = ttft else { continue };
        let gaps: Vec<f64> =
            at("itls", place).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_f64).collect();
        let decode_s: f64 = gaps.iter().sum();
        let mut row = Row { pp, tg, ..base.clone() };
        row.repeat = u32::try_from(place).unwrap_or(u32::MAX);
        row.prompt_tokens = at("input_lens", place).and_then(Value::as_u64);
        row.generation_tokens = tokens.as_u64();
        row.figures.ttft_s = Some(ttft);
        if !gaps.is_empty() && decode_s > 0.0 {
            row.elapsed_s = Some(ttft + decode_s);
            row.figures.itl_s = Some(decode_s / gaps.len() as f64);
            row.figures.tpot_s = row.generation_tokens.filter(|n| *n > 1).map(|n| decode_s / (n - 1) as f64);
            row.generation_tps = row.figures.tpot_s.map(|seconds| 1.0 / seconds);
        }
        row.figures.sent_s = at("start_times", place).and_then(Value::as_f64);
        // Requests come and go: none shares a start with others, so each is a measurement of its own.
        found.rows.push(row);
    }
    found.class = Some(Comparability::Endpoint);
    true
}
