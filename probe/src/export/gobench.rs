//! Go's benchmark format (golang.org/design/14313-benchmark-format), which benchstat reads: configuration lines of key and
//! value, then a line per value.
//!
//! A name is cut at slashes into `key=value` parts, holds no space, and a number behind its last hyphen is taken for
//! GOMAXPROCS; so every name ends in `-1`, and no value can be mistaken for it. The iterations are 1: a value is one
//! measurement, and benchstat looks at how they scatter.

use std::collections::BTreeMap;

use crate::report::is_wild;

use analyzer::metric::{Better, Metric};
use analyzer::summary::{CellKey, CellReport, FileReport, Report};

/// All values of a report.
pub(super) fn draw(report: &Report) -> String {
    let mut text = String::new();
    for (unit, better) in directions(report) {
        text.push_str(&format!("Unit {unit} better={better}\n"));
    }
    for file in &report.files {
        draw_file(file, &keys(report), &mut text);
    }
    text
}

/// Which way each unit is better. Where its metrics disagree benchstat is told nothing.
fn directions(report: &Report) -> BTreeMap<String, &'static str> {
    let mut all: BTreeMap<String, Option<&str>> = BTreeMap::new();
    let metrics = report.files.iter().flat_map(|file| &file.cells).flat_map(|cell| &cell.metrics);
    for summary in metrics {
        let word = match summary.better {
            Better::Higher => Some("higher"),
            Better::Lower => Some("lower"),
        };
        all.entry(word_of(&summary.unit)).and_modify(|kept| *kept = kept.filter(|k| Some(*k) == word)).or_insert(word);
    }
    all.into_iter().filter_map(|(unit, better)| Some((unit, better?))).collect()
}

/// The keys of the facts of all files: a configuration line holds until its key is set again, so a file that lacks a fact
/// has to unset that of the one before.
fn keys(report: &Report) -> Vec<&str> {
    let mut keys: Vec<&str> = Vec::new();
    for fact in report.files.iter().flat_map(|file| &file.facts) {
        // The model has a line per cell.
        if fact.key != "model" && !keys.contains(&fact.key.as_str()) {
            keys.push(&fact.key);
        }
    }
    keys
}

fn draw_file(file: &FileReport, keys: &[&str], text: &mut String) {
    configuration(text, "file", &file.name);
    configuration(text, "format", &file.format);
    configuration(text, "simulated", if file.simulated { "true" } else { "false" });
    configuration(text, "incomplete", file.incomplete.as_deref().unwrap_or_default());
    for key in keys {
        let fact = file.facts.iter().find(|fact| fact.key == *key);
        configuration(text, key, fact.map_or("", |fact| &fact.value));
    }
    for cell in &file.cells {
        configuration(text, "model", cell.key.model_id.as_deref().unwrap_or_default());
        draw_cell(cell, text);
    }
}

/// A key is in lower case and without spaces or colons; a value ends with its line.
fn configuration(text: &mut String, key: &str, value: &str) {
    let key: String =
        key.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let value = value.split(is_wild).collect::<Vec<_>>().join(" ");
    text.push_str(&format!("{key}: {value}\n"));
}

fn draw_cell(cell: &CellReport, text: &mut String) {
    let parts = parts(&cell.key);
    for summary in &cell.metrics {
        let name = format!("Benchmark{}{parts}-1", title(summary.metric));
        let unit = word_of(&summary.unit);
        for value in &summary.values {
            text.push_str(&format!("{name} 1 {value} {unit}\n"));
        }
    }
}

fn parts(key: &CellKey) -> String {
    let model = key.model_id.as_deref().map(|model| model.rsplit('/').next().unwrap_or(model).to_owned());
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let streamed = key.streamed.map(|streamed| if streamed { "stream" } else { "plain" }.to_owned());
    let cache = Some(key.cache.word()).filter(|word| *word != analyzer::units::ABSENT).map(str::to_owned);
    // Absent parts are left out: a placeholder would look like a value of its own.
    [
        ("model", model),
        ("sharding", key.sharding.clone()),
        ("instance", key.instance_meta.clone()),
        ("nodes", number(key.nodes.map(u64::from))),
        ("pp", number(key.pp_tokens)),
        ("tg", number(key.tg)),
        ("c", number(key.concurrency.map(u64::from))),
        ("engine", key.engine.clone()),
        ("quantization", key.quantization.clone()),
        ("cache", cache),
        ("answer", streamed),
    ]
    .into_iter()
    .chain(key.settings.iter().map(|(name, value)| (name.as_str(), Some(value.clone()))))
    .filter_map(|(name, value)| {
        Some(format!("/{}={}", word_of(name).replace(['/', '='], "_"), word_of(&value?).replace('/', "_")))
    })
    .collect()
}

/// "prefill_tps" → "PrefillTps".
fn title(metric: Metric) -> String {
    let word = serde_json::to_value(metric).ok().and_then(|word| word.as_str().map(str::to_owned));
    word.unwrap_or_else(|| metric.definition().name.to_owned())
        .split(|c: char| !c.is_ascii_alphanumeric())
        .map(|part| part.chars().take(1).flat_map(char::to_uppercase).chain(part.chars().skip(1)).collect::<String>())
        .collect()
}

/// A field: spaces end it.
fn word_of(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() || is_wild(c) { '_' } else { c }).collect()
}
