//! llama.cpp's llama-bench as JSON, JSON Lines, CSV and SQL; and llama-batched-bench.
//!
//! The engine measures itself: no requests, no sampling, no tokenizer.

use serde_json::{Map, Value};

use super::foreign::{Found, NS, Row, number, scaled, settings, text, whole};
use super::{delimited, instant};
use crate::units;

/// What a test depends on, by llama-bench's own names. What is not here says who built it or when, or is a figure.
const SETTINGS: [&str; 26] = [
    "n_batch",
    "n_ubatch",
    "n_threads",
    "cpu_mask",
    "cpu_strict",
    "poll",
    "type_k",
    "type_v",
    "n_gpu_layers",
    "n_cpu_moe",
    "split_mode",
    "main_gpu",
    "no_kv_offload",
    "flash_attn",
    "devices",
    "tensor_split",
    "use_mmap",
    "embeddings",
    "no_op_offload",
    "n_depth",
    "backends",
    "backend",
    "gpu_info",
    "cpu_info",
    "build_commit",
    "build_number",
];

/// A JSON document is one of its tests, or a list of them.
pub(super) fn is(document: &Value) -> bool {
    let test = |row: &Value| row.get("avg_ts").is_some() && row.get("n_prompt").is_some() && row.get("n_gen").is_some();
    match document {
        Value::Array(rows) => !rows.is_empty() && rows.iter().all(test),
        row => test(row),
    }
}

/// JSON and JSON Lines.
pub(super) fn import(documents: &[Value]) -> Result<Found, String> {
    let rows = documents.iter().flat_map(|document| match document {
        Value::Array(rows) => rows.iter().collect::<Vec<_>>(),
        row => vec![row],
    });
    Ok(tests(rows))
}

fn tests<'a>(rows: impl Iterator<Item = &'a Value>) -> Found {
    let mut found = Found { engine: Some("llama.cpp".to_owned()), ..Found::default() };
    let (mut combined, mut all, mut contradicted) = (0, 0, 0);
    for test in rows {
        all += 1;
        found.unread.counts(test, &["n_prompt", "n_gen", "n_depth"]);
        found.unread.numbers(test, &MEANS);
        let (pp, tg) = (whole(test, "n_prompt"), whole(test, "n_gen"));
        let mixed = pp > Some(0) && tg > Some(0);
        combined += usize::from(mixed);
        let base = Row {
            model: text(test, "model_type").or_else(|| text(test, "model_filename")),
            settings: settings(test, &SETTINGS).into_iter().filter(|(_, value)| value != "auto").collect(),
            pp,
            tg,
            concurrency: Some(1),
            ..Row::default()
        };
        found.started_at = found.started_at.or_else(|| text(test, "test_time"));
        let first = found.started_at.as_deref().and_then(instant::parse);
        let began = text(test, "test_time").and_then(|at| instant::parse(&at));
        let since_first = began.zip(first).map(|(began, first)| began.unix_s - first.unix_s);
        if let Some(file) = text(test, "model_filename") {
            found
                .about
                .entry("model_filename".to_owned())
                .or_insert_with(|| file.rsplit('/').next().unwrap_or(&file).to_owned());
        }
        let mut list = |key: &str| -> Vec<f64> {
            let entries = test.get(key).and_then(Value::as_array).into_iter().flatten();
            entries.clone().filter(|entry| !entry.is_number() && !entry.is_null()).for_each(|other| {
                found.unread.note(key, &other.to_string());
            });
            entries.filter_map(Value::as_f64).collect()
        };
        let (rates, times) = (list("samples_ts"), list("samples_ns"));
        let is_other = |key: &str, samples: &[f64]| {
            let told = number(test, key).zip(crate::statistics::spread::mean(samples));
            told.is_some_and(|(told, mean)| (told - mean).abs() > CONTRADICTED * mean.abs())
        };
        contradicted += usize::from(is_other("avg_ts", &rates) || is_other("avg_ns", &times));
        if rates.is_empty() {
            // CSV and SQL give the mean and the deviation of the repeats and not their number.
            let mut row = rated(base, number(test, "avg_ts"), scaled(test, "avg_ns", NS));
            for key in MEANS {
                if let Some(value) = number(test, key) {
                    row.figures.published.insert(key.to_owned(), value.into());
                }
            }
            found.rows.push(row);
            found.class = Some(crate::record::Comparability::AggregateOnly);
            continue;
        }
        // A prompt that fills the context to a depth is read again before each repeat, and takes a time that is not told.
        let clock = since_first.filter(|_| whole(test, "n_depth").is_none_or(|depth| depth == 0)).zip(times.first());
        let mut clock = clock.map(|(began, first)| began + warm_up_s(pp, tg, first / NS));
        for (repeat, rate) in rates.iter().enumerate() {
            let time = times.get(repeat).map(|ns| ns / NS);
            let mut row = rated(base.clone(), Some(*rate), time);
            row.repeat = u32::try_from(repeat).unwrap_or(u32::MAX);
            if let (Some(sent), Some(time)) = (clock, time) {
                (row.figures.sent_s, row.figures.done_s) = (Some(sent), Some(sent + time));
                row.derive("sent_s", TIMED);
                clock = Some(sent + time);
            }
            found.rows.push(row);
        }
    }
    if contradicted > 0 {
        let tests = units::count(all, "test");
        found.notices.push(format!(
            "{contradicted} of {tests} with a mean that is more than 1 % off that of its samples; the samples count"
        ));
    }
    combined_notice(combined, &mut found);
    found
}

/// The means of a test and their deviations.
const MEANS: [&str; 4] = ["avg_ts", "stddev_ts", "avg_ns", "stddev_ns"];

/// Rounding explains less.
const CONTRADICTED: f64 = 0.01;

const TIMED: &str = "the second of test_time, a warm-up (as long as a repeat for prompts, a token for generation), then the \
                     repeats one after the other";

/// llama-bench runs the whole prompt once before the repeats, or one token.
fn warm_up_s(pp: Option<u64>, tg: Option<u64>, repeat_s: f64) -> f64 {
    match (pp.unwrap_or(0), tg.unwrap_or(0)) {
        (0, tokens) => repeat_s / tokens.max(1) as f64,
        _ => repeat_s,
    }
}

pub(super) fn combined_notice(combined: usize, found: &mut Found) {
    if combined > 0 {
        let tests = units::count(combined as u64, "test");
        found
            .notices
            .push(format!("{tests} with prompt and generation in one rate, which is neither; it is kept beside"));
    }
}

/// The rate is of the prompt, of the generation, or of both together, by what was tested.
pub(super) fn rated(mut row: Row, rate: Option<f64>, elapsed_s: Option<f64>) -> Row {
    row.elapsed_s = elapsed_s;
    match (row.pp > Some(0), row.tg > Some(0)) {
        (true, false) => row.prompt_tps = rate,
        (false, true) => row.generation_tps = rate,
        _ => {
            if let Some(rate) = rate {
                row.figures.published.insert("tokens_per_s".to_owned(), rate.into());
            }
        }
    }
    row
}

/// A CSV whose heading is llama-bench's.
pub(super) fn is_csv(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|heading| {
        heading.contains("build_commit") && heading.contains("n_prompt") && heading.contains("avg_ts")
    })
}

/// CSV.
pub(super) fn import_csv(text: &str) -> Result<Found, String> {
    let (heading, rows) = delimited::table(text)?;
    let documents: Vec<Value> = rows.iter().map(|row| object(&heading, row)).collect();
    Ok(tests(documents.iter()))
}

fn object(heading: &[String], row: &[String]) -> Value {
    let pairs = heading.iter().cloned().zip(row.iter().map(|cell| Value::String(cell.clone())));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// SQL that fills a table of tests.
pub(super) fn is_sql(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("INSERT INTO") && line.contains("avg_ts"))
}

/// SQL: `INSERT INTO test (…) VALUES (…);`, a line a test.
pub(super) fn import_sql(text: &str) -> Result<Found, String> {
    let mut documents = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.starts_with("INSERT INTO") {
            continue;
        }
        let broken = || format!("line {} is no INSERT with columns and values", place + 1);
        let (names, values) = line.split_once(") VALUES (").ok_or_else(broken)?;
        let names = names.split_once('(').ok_or_else(broken)?.1;
        let heading: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        let values = values.trim_end_matches(';').trim_end_matches(')');
        documents.push(object(&heading, &delimited::split(values, ',', '\'')));
    }
    Ok(tests(documents.iter()))
}

/// A line of llama-batched-bench.
pub(super) fn is_batched(document: &Value) -> bool {
    ["n_kv", "pp", "tg", "pl", "speed_pp", "speed_tg"].iter().all(|key| document.get(key).is_some())
}

/// llama-batched-bench: sequences decoded together, a line a batch. Its rates are of all sequences together.
pub(super) fn import_batched(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found { engine: Some("llama.cpp".to_owned()), ..Found::default() };
    for line in documents {
        found.unread.counts(line, &["pp", "tg", "pl", "n_kv"]);
        found.unread.numbers(line, &["t", "t_pp", "speed_pp", "t_tg", "speed_tg", "speed"]);
        let sequences = whole(line, "pl").and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        let shared = whole(line, "is_pp_shared") == Some(1);
        let mut row = Row {
            pp: whole(line, "pp"),
            tg: whole(line, "tg"),
            concurrency: sequences,
            settings: settings(
                line,
                &[
                    "n_kv_max",
                    "n_batch",
                    "n_ubatch",
                    "flash_attn",
                    "is_pp_shared",
                    "n_gpu_layers",
                    "n_threads",
                    "n_threads_batch",
                    "is_tg_separate",
                ],
            ),
            elapsed_s: number(line, "t"),
            generation_tps: number(line, "speed_tg").zip(sequences).map(|(rate, count)| rate / f64::from(count)),
            prompt_tps: number(line, "speed_pp"),
            generation_tokens: whole(line, "tg"),
            prompt_tokens: whole(line, "pp"),
            ..Row::default()
        };
        if sequences > Some(1) {
            row.figures.stands_for = sequences.map(u64::from);
            row.figures.output_tps = whole(line, "tg")
                .zip(sequences)
                .zip(row.elapsed_s.filter(|s| *s > 0.0))
                .map(|((tokens, count), s)| tokens as f64 * f64::from(count) / s);
            if !shared {
                // The prompts of all sequences are prefilled together.
                row.prompt_tps = row.prompt_tps.zip(sequences).map(|(rate, count)| rate / f64::from(count));
            }
        }
        if sequences > Some(1) {
            row.derive("generation_tps", "speed_tg / pl, inside the engine");
            if !shared {
                row.derive("prompt_tps", "speed_pp / pl, inside the engine");
            }
            row.derive("output_tps", "tg · pl / t, inside the engine");
        }
        for key in ["t_pp", "speed_pp", "t_tg", "speed_tg", "speed"] {
            if let Some(value) = number(line, key) {
                row.figures.published.insert(key.to_owned(), value.into());
            }
        }
        found.rows.push(row);
    }
    if found.rows.iter().any(|row| row.concurrency > Some(1)) {
        found.notices.push(
            "rates of sequences that ran together are divided by their number; those of all are kept beside".to_owned(),
        );
    }
    Ok(found)
}
