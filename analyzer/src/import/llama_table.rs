//! The table of llama-bench in Markdown, as it is pasted into threads.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::foreign::{Found, Row};
use super::llama_bench::{self, combined_notice, rated};
use crate::units;

/// The Markdown table, as it is pasted into threads with words around it.
pub(super) fn is(text: &str) -> bool {
    text.lines().any(is_heading)
}

fn is_heading(line: &str) -> bool {
    let cells = cells(line);
    cells.first().is_some_and(|first| first == "model")
        && cells.iter().any(|cell| cell == "test")
        && cells.iter().any(|cell| cell == "t/s")
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    if !line.starts_with('|') {
        return Vec::new();
    }
    line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// The Markdown table: a mean and a deviation per test and no repeats.
pub(super) fn import(text: &str) -> Result<Found, String> {
    let mut found = Found { engine: Some("llama.cpp".to_owned()), ..Found::default() };
    let mut heading: Vec<String> = Vec::new();
    let (mut unread, mut combined) = (0, 0);
    for line in text.lines() {
        if is_heading(line) {
            heading = cells(line);
            continue;
        }
        if let Some(build) = line.trim().strip_prefix("build: ") {
            found.about.insert("build".to_owned(), build.trim().to_owned());
        }
        let row = cells(line);
        if heading.is_empty()
            || row.len() != heading.len()
            || row.iter().all(|cell| cell.bytes().all(|b| matches!(b, b'-' | b':')))
        {
            continue;
        }
        match row_of(&heading, &row) {
            Some(row) => {
                combined += usize::from(row.pp > Some(0) && row.tg > Some(0));
                found.rows.push(row);
            }
            None => unread += 1,
        }
    }
    combined_notice(combined, &mut found);
    if unread > 0 {
        let lines = units::count(unread, "line");
        let name = units::agree(unread, "names no test that is known, and is", "name no test that is known, and are");
        found.notices.push(format!("{lines} of the table {name} left out"));
    }
    Ok(found)
}

/// The columns of llama-batched-bench's table, and its names for them in JSON.
const BATCHED: [(&str, &str); 10] = [
    ("PP", "pp"),
    ("TG", "tg"),
    ("B", "pl"),
    ("N_KV", "n_kv"),
    ("T_PP s", "t_pp"),
    ("S_PP t/s", "speed_pp"),
    ("T_TG s", "t_tg"),
    ("S_TG t/s", "speed_tg"),
    ("T s", "t"),
    ("S t/s", "speed"),
];

/// Whether the text holds the table of llama-batched-bench.
pub(super) fn is_batched(text: &str) -> bool {
    text.lines().any(is_batched_heading)
}

fn is_batched_heading(line: &str) -> bool {
    cells(line).iter().map(String::as_str).eq(BATCHED.iter().map(|(column, _)| *column))
}

/// The table of llama-batched-bench, which is its JSON in other clothes.
pub(super) fn import_batched(text: &str) -> Result<Found, String> {
    let rows = text.lines().skip_while(|line| !is_batched_heading(line)).filter_map(|line| {
        let numbers: Vec<serde_json::Number> =
            cells(line).iter().map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
        let named = BATCHED.iter().map(|(_, name)| (*name).to_owned());
        (numbers.len() == BATCHED.len())
            .then(|| named.zip(numbers.into_iter().map(Value::Number)).collect::<Map<_, _>>())
    });
    let documents: Vec<Value> = rows
        .map(|mut row| {
            let count = |row: &Map<String, Value>, name: &str| row.get(name).and_then(Value::as_u64);
            // A prompt that all sequences share stands in the cache once.
            let shared = count(&row, "pp")
                .zip(count(&row, "tg"))
                .zip(count(&row, "pl"))
                .zip(count(&row, "n_kv"))
                .is_some_and(|(((pp, tg), pl), n_kv)| pl > 1 && n_kv == pp + pl * tg);
            row.insert("is_pp_shared".to_owned(), u64::from(shared).into());
            Value::Object(row)
        })
        .collect();
    llama_bench::import_batched(&documents)
}

fn row_of(heading: &[String], row: &[String]) -> Option<Row> {
    let by_name: BTreeMap<&str, &str> =
        heading.iter().map(String::as_str).zip(row.iter().map(String::as_str)).collect();
    let (mean, deviation) = by_name.get("t/s")?.split_once('±').unwrap_or((by_name.get("t/s")?, ""));
    let mean: f64 = mean.trim().parse().ok()?;
    let (test, depth) = match by_name.get("test")?.split_once('@') {
        Some((test, depth)) => (test.trim(), Some(depth.trim())),
        None => (*by_name.get("test")?, None),
    };
    let (mut pp, mut tg) = (0, 0);
    for part in test.split('+') {
        let part = part.trim();
        if let Some(tokens) = part.strip_prefix("pp") {
            pp = tokens.trim().parse().ok()?;
        } else {
            tg = part.strip_prefix("tg")?.trim().parse().ok()?;
        }
    }
    let named = by_name.iter().filter(|(name, _)| !matches!(**name, "model" | "test" | "t/s" | "size" | "params"));
    let mut settings: BTreeMap<String, String> =
        named.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    if let Some(depth) = depth {
        settings.insert("n_depth".to_owned(), depth.trim_start_matches('d').trim().to_owned());
    }
    let base = Row {
        model: by_name.get("model").map(|model| (*model).to_owned()),
        settings,
        pp: Some(pp),
        tg: Some(tg),
        concurrency: Some(1),
        ..Row::default()
    };
    let mut row = rated(base, Some(mean), None);
    row.figures.published.insert("mean_ts".to_owned(), mean.into());
    if let Ok(deviation) = deviation.trim().parse::<f64>() {
        row.figures.published.insert("stddev_ts".to_owned(), deviation.into());
    }
    Some(row)
}
