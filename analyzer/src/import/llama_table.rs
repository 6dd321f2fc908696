//! The table of llama-bench in Markdown, as it is pasted into threads.

use std::collections::BTreeMap;

use super::foreign::{Found, Row};
use super::llama_bench::{combined_notice, rated};

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
        found.notices.push(format!("{unread} lines of the table name no test that is known, and are left out"));
    }
    Ok(found)
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
        ..Row::default()
    };
    let mut row = rated(base, Some(mean), None);
    row.figures.published.insert("mean_ts".to_owned(), mean.into());
    if let Ok(deviation) = deviation.trim().parse::<f64>() {
        row.figures.published.insert("stddev_ts".to_owned(), deviation.into());
    }
    Some(row)
}
