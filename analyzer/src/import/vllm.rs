//! vLLM's `bench serve`, its sweeps, and what took over its keys: aggregates, and with `--save-detailed` lists of each request.

use serde_json::Value;

use super::foreign::{Found, MS, Row, failure, number, scaled, settings, text, whole};
use super::instant;
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

/// Its counts, by the names of several versions.
const COUNTS: [&str; 11] = [
    "completed",
    "failed",
    "num_prompts",
    "max_concurrency",
    "random_input_len",
    "random_output_len",
    "total_input_tokens",
    "total_input",
    "total_output_tokens",
    "total_output",
    "run_number",
];

/// Its figures that are read, in milliseconds and in seconds.
const NUMBERS: [&str; 13] = [
    "duration",
    "output_throughput",
    "request_throughput",
    "mean_e2el_ms",
    "mean_e2el",
    "mean_ttft_ms",
    "mean_ttft",
    "mean_tpot_ms",
    "mean_tpot",
    "mean_itl_ms",
    "mean_itl",
    "p99_itl_ms",
    "p99_itl",
];

/// Results of `bench serve`, one or many.
pub(super) fn import(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found { engine: Some("vllm".to_owned()), ..Found::default() };
    let results = documents.iter().flat_map(|document| match document {
        Value::Array(rows) => rows.iter().collect::<Vec<_>>(),
        row => vec![row],
    });
    let results: Vec<&Value> = results.collect();
    let first = results.iter().filter_map(|result| Some(window(result)?.0)).reduce(f64::min);
    found.started_at = first.map(instant::words);
    if first.is_some() {
        found.about.insert("start".to_owned(), TIMED.to_owned());
    }
    for result in results {
        one(result, first, &mut found)?;
    }
    Ok(found)
}

const TIMED: &str = "its date, which is the second of its end on a clock without a zone, less its duration";

/// When the run began and ended, s since 1970 on a clock whose zone the file does not tell: it is dated once it is done.
fn window(result: &Value) -> Option<(f64, f64)> {
    let end = instant::parse(&text(result, "date")?)?.unix_s;
    Some((end - number(result, "duration").filter(|seconds| *seconds > 0.0)?, end))
}

fn one(result: &Value, first: Option<f64>, found: &mut Found) -> Result<(), String> {
    found.unread.counts(result, &COUNTS);
    found.unread.numbers(result, &NUMBERS);
    let completed = whole(result, "completed")
        .or_else(|| whole(result, "num_prompts"))
        .ok_or("it does not tell how many requests were completed")?;
    let failed = whole(result, "failed")
        .unwrap_or_else(|| whole(result, "num_prompts").unwrap_or(completed).saturating_sub(completed));
    let each = |key: &str| whole(result, key).filter(|_| completed > 0).map(|total| total / completed);
    let mut row = Row {
        model: text(result, "model_id"),
        settings: settings(result, &SETTINGS),
        pp: whole(result, "random_input_len").or_else(|| each("total_input_tokens")).or_else(|| each("total_input")),
        // What was generated is no length that was asked for.
        tg: whole(result, "random_output_len"),
        generation_tokens: each("total_output_tokens").or_else(|| each("total_output")),
        concurrency: whole(result, "max_concurrency")
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| *count > 0),
        repeat: whole(result, "run_number").and_then(|run| u32::try_from(run).ok()).unwrap_or(0),
        ..Row::default()
    };
    row.prompt_tokens = row.pp;
    row.tell_obtained();
    row.figures.streamed = Some(true);
    let listed = Listed::of(result);
    if row.pp.is_none() || listed.is_some() {
        row.pp = whole(result, "random_input_len").or_else(|| listed.as_ref()?.mean("input_lens")).or(row.pp);
    }
    failures(result, &row, failed, found);
    if completed == 0 {
        // Zeros in place of every figure: nothing was measured.
        return Ok(());
    }
    let begun_s = first.zip(window(result)).map(|(first, (start, end))| (start - first, end - first));
    row.figures.output_tps = number(result, "output_throughput");
    row.figures.requests_per_s = number(result, "request_throughput");
    if let Some(listed) = listed {
        let before = found.rows.len();
        detailed(&listed, &row, begun_s.map(|(start, _)| start), found);
        let told = (found.rows.len() - before) as u64;
        if told < completed {
            found.notices.push(format!(
                "its lists tell {told} of {completed} completed requests; the others are in no number of one request"
            ));
        }
        return Ok(());
    }
    (row.figures.sent_s, row.figures.done_s) = begun_s.unzip();
    if begun_s.is_some() {
        row.derive("sent_s", TIMED);
    }
    row.figures.stands_for = Some(completed);
    // The same keys without `_ms` hold seconds.
    let time = |name: &str| scaled(result, &format!("{name}_ms"), MS).or_else(|| number(result, name));
    row.elapsed_s = time("mean_e2el");
    row.figures.ttft_s = time("mean_ttft");
    row.figures.tpot_s = time("mean_tpot");
    row.figures.itl_s = time("mean_itl");
    row.figures.itl_p99_s = time("p99_itl");
    row.generation_tps = row.figures.tpot_s.filter(|seconds| *seconds > 0.0).map(|seconds| 1.0 / seconds);
    if row.generation_tps.is_some() {
        row.derive("generation_tps", "1 / mean_tpot, by the client's clock");
    }
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

/// The requests that failed, each with its own length where the file lists it.
fn failures(result: &Value, row: &Row, failed: u64, found: &mut Found) {
    let list = |key: &str| result.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let (errors, lengths) = (list("errors"), list("input_lens"));
    let said: Vec<(usize, &str)> = errors
        .iter()
        .enumerate()
        .filter_map(|(place, words)| Some((place, words.as_str().filter(|words| !words.is_empty())?)))
        .collect();
    found.fail(failed, |number| {
        let one = usize::try_from(number).ok().and_then(|number| said.get(number));
        let mut row = row.clone();
        // The lists are in the order of the requests only where they hold all of them.
        let own = one.filter(|_| lengths.len() == errors.len()).and_then(|(place, _)| lengths.get(*place)?.as_u64());
        row.pp = own.or(row.pp);
        let words = one.map_or("counted as failed; the file does not tell why", |(_, words)| *words);
        let place = one.map_or(number, |(place, _)| u32::try_from(*place).unwrap_or(u32::MAX));
        failure(&row, FailureKind::Untold, words, place)
    });
}

/// What `--save-detailed` keeps: a list per figure, an entry per request, in seconds.
struct Listed<'a>(&'a Value);

impl<'a> Listed<'a> {
    fn of(result: &'a Value) -> Option<Self> {
        let listed = Self(result);
        (!listed.list("ttfts").is_empty() && !listed.list("output_lens").is_empty()).then_some(listed)
    }

    fn list(&self, key: &str) -> &'a [Value] {
        self.0.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Lengths differ from request to request; the load is one workload.
    fn mean(&self, key: &str) -> Option<u64> {
        let known: Vec<f64> = self.list(key).iter().filter_map(Value::as_f64).filter(|tokens| *tokens > 0.0).collect();
        crate::statistics::spread::mean(&known).map(|tokens| tokens.round() as u64)
    }

    /// Whether it says itself that the request failed: an error, or neither a first token nor any other.
    fn failed(&self, place: usize) -> bool {
        let zero = |key: &str| self.list(key).get(place).and_then(Value::as_f64) == Some(0.0);
        let words = self.list("errors").get(place).and_then(Value::as_str);
        words.is_some_and(|words| !words.is_empty()) || (zero("ttfts") && zero("output_lens"))
    }
}

/// A row per request. Those of one run keep each other waiting, so they are one measurement; one after the other they are
/// as many.
fn detailed(listed: &Listed<'_>, base: &Row, begun_s: Option<f64>, found: &mut Found) {
    let at = |key: &str, place: usize| listed.list(key).get(place);
    // Its stamps count from no known instant; the first request is sent when the run begins.
    let earliest = listed.list("start_times").iter().filter_map(Value::as_f64).reduce(f64::min);
    let mut first = true;
    for (place, (ttft, tokens)) in listed.list("ttfts").iter().zip(listed.list("output_lens")).enumerate() {
        let Some(ttft) = ttft.as_f64().filter(|_| !listed.failed(place)) else { continue };
        let gaps: Vec<f64> =
            at("itls", place).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_f64).collect();
        let decode_s: f64 = gaps.iter().sum();
        let mut row = base.clone();
        let number = u32::try_from(place).unwrap_or(u32::MAX);
        if row.concurrency == Some(1) {
            row.repeat = number;
        } else {
            row.place = Some(number);
        }
        row.prompt_tokens = at("input_lens", place).and_then(Value::as_u64);
        row.generation_tokens = tokens.as_u64();
        if !std::mem::take(&mut first) {
            // Those are of the whole run and stand once.
            (row.figures.output_tps, row.figures.requests_per_s) = (None, None);
        }
        row.figures.ttft_s = Some(ttft);
        if !gaps.is_empty() && decode_s > 0.0 {
            row.elapsed_s = Some(ttft + decode_s);
            row.derive("elapsed_s", "ttfts + sum of itls");
            row.figures.itl_s = Some(decode_s / gaps.len() as f64);
            row.derive("itl_s", "mean of itls");
            row.figures.tpot_s = row.generation_tokens.filter(|n| *n > 1).map(|n| decode_s / (n - 1) as f64);
            row.generation_tps = row.figures.tpot_s.map(|seconds| 1.0 / seconds);
            if row.generation_tps.is_some() {
                row.derive("tpot_s", "sum of itls / (output_lens − 1)");
                row.derive("generation_tps", "(output_lens − 1) / sum of itls, by the client's clock");
            }
        }
        let sent = at("start_times", place).and_then(Value::as_f64);
        row.figures.sent_s = sent.zip(earliest).zip(begun_s).map(|((sent, earliest), begun)| begun + sent - earliest);
        if row.figures.sent_s.is_some() {
            row.derive("sent_s", TIMED);
        }
        row.figures.done_s = row.figures.sent_s.zip(row.elapsed_s).map(|(sent, elapsed)| sent + elapsed);
        found.rows.push(row);
    }
    found.class = Some(Comparability::Endpoint);
}
