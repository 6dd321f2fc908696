//! Rows of other tools → rows of a result file.

use std::collections::BTreeMap;

use serde_json::Value;

use super::unread::Unread;
use crate::record::{Comparability, Failure, FailureKind, Figures, GenerationStats, Leftover, ResultFile, Run};
use crate::units;

/// What an importer found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The rows.
    pub(super) rows: Vec<Row>,
    /// What was asked for and failed.
    pub(super) failures: Vec<Failure>,
    /// The engine.
    pub(super) engine: Option<String>,
    /// Start of the measurement, as the file has it.
    pub(super) started_at: Option<String>,
    /// How was measured, by the tool's own names.
    pub(super) about: BTreeMap<String, String>,
    /// What a reader should know, a sentence each.
    pub(super) notices: Vec<String>,
    /// What stands where a number should, and is none.
    pub(super) unread: Unread,
    /// Another class than the format's, where this file's numbers are of another.
    pub(super) class: Option<Comparability>,
}

/// One row.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// The model.
    pub(super) model: Option<String>,
    /// Settings by the tool's own names. They are a part of the row's cell.
    pub(super) settings: BTreeMap<String, String>,
    /// Prompt tokens asked for.
    pub(super) pp: Option<u64>,
    /// Tokens asked for.
    pub(super) tg: Option<u64>,
    /// Requests at once.
    pub(super) concurrency: Option<u32>,
    /// Repeat, from 0.
    pub(super) repeat: u32,
    /// Place among the requests of its repeat, where several ran side by side: they disturb each other and are one measurement.
    pub(super) place: Option<u32>,
    /// exo's labels and instance.
    pub(super) sharding: Option<String>,
    /// As above.
    pub(super) instance_meta: Option<String>,
    /// As above.
    pub(super) nodes: Option<u32>,
    /// As above.
    pub(super) instance_id: Option<String>,
    /// Duration, s.
    pub(super) elapsed_s: Option<f64>,
    /// Prefill rate, tok/s.
    pub(super) prompt_tps: Option<f64>,
    /// Decode rate of a request, tok/s.
    pub(super) generation_tps: Option<f64>,
    /// Prompt tokens counted.
    pub(super) prompt_tokens: Option<u64>,
    /// Generated tokens counted.
    pub(super) generation_tokens: Option<u64>,
    /// Peak memory, bytes.
    pub(super) peak_bytes: Option<u64>,
    /// "none", "partial", "exact".
    pub(super) cache: Option<&'static str>,
    /// The rest.
    pub(super) figures: Figures,
}

/// More failures than this of one count are told in words: a list of a million equal entries tells nothing, and a count that
/// lies would fill the memory.
const FAILURES_LISTED: u64 = 10_000;

impl Found {
    /// Lists requests that a tool counts as failed.
    pub(super) fn fail(&mut self, count: u64, mut one: impl FnMut(u32) -> Failure) {
        let listed = count.min(FAILURES_LISTED);
        self.failures.extend((0..u32::try_from(listed).unwrap_or(u32::MAX)).map(&mut one));
        if count > listed {
            self.notices.push(format!("{count} requests are counted as failed, of which {listed} are listed"));
        }
    }

    /// Keeps what the file tells of itself under a name; what several documents tell stands side by side.
    pub(super) fn tell(&mut self, key: String, words: String) {
        match self.about.get_mut(&key) {
            Some(told) if !told.split("; ").any(|one| one == words) => {
                told.push_str("; ");
                told.push_str(&words);
            }
            Some(_) => {}
            None => drop(self.about.insert(key, words)),
        }
    }
}

impl Row {
    /// Names a figure that the tool did not publish, and how it follows from others.
    pub(super) fn derive(&mut self, name: &str, how: &str) {
        self.figures.derived.insert(name.to_owned(), how.to_owned());
    }

    /// Loads that differ in what was generated are not one, where no length that was asked for tells them apart.
    pub(super) fn tell_obtained(&mut self) {
        if let (None, Some(tokens)) = (self.tg, self.generation_tokens) {
            self.settings.insert("mean output tokens".to_owned(), tokens.to_string());
        }
    }

    /// The figures that are above 0 wherever something was measured.
    fn told(&self) -> impl Iterator<Item = f64> {
        let figures = &self.figures;
        [
            self.elapsed_s,
            self.prompt_tps,
            self.generation_tps,
            figures.ttft_s,
            figures.tpot_s,
            figures.itl_s,
            figures.output_tps,
            figures.exo_max_times_n_tps,
        ]
        .into_iter()
        .flatten()
    }

    /// Whether it holds any figure at all.
    fn is_measured(&self) -> bool {
        self.told().any(|value| value > 0.0)
            || self.figures.published.values().any(|value| value.as_f64().is_some_and(|value| value > 0.0))
    }
}

/// Puts the rows into a file. Their settings are a part of their cell, so that the same measurement is in the same cell
/// whatever else its file holds; those that all of them share are facts, too.
pub(super) fn lay_down(found: &mut Found) -> ResultFile {
    let rows = std::mem::take(&mut found.rows);
    found.notices.extend(found.unread.notices());
    let all = rows.len();
    let (rows, empty): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(Row::is_measured);
    // A request of nothing but zeros is one that produced nothing; one without any number says nothing of what became of it.
    let (nothing, untold): (Vec<Row>, Vec<Row>) = empty.into_iter().partition(|row| row.told().next().is_some());
    for row in &nothing {
        found.failures.push(failure(row, FailureKind::Untold, NOTHING, row.place.unwrap_or(0)));
    }
    if !nothing.is_empty() {
        found.notices.push(format!(
            "{} {} no figure above 0: nothing was measured, which is a failure and no number",
            units::part(nothing.len() as u64, all as u64, "row"),
            units::agree(nothing.len() as u64, "holds", "hold"),
        ));
    }
    if !untold.is_empty() {
        found.notices.push(format!(
            "{} {} left out",
            units::part(untold.len() as u64, all as u64, "row"),
            units::agree(untold.len() as u64, "holds no figure and is", "hold no figure and are"),
        ));
    }
    if rows.iter().any(|row| row.concurrency.is_none() && (row.figures.stands_for > Some(1) || row.place > Some(0))) {
        found.notices.push("it does not tell how many requests ran at once".to_owned());
    }
    let settings: Vec<&BTreeMap<String, String>> = if rows.is_empty() {
        // What was asked for is known, too, where all of it failed.
        found.failures.iter().map(|failure| &failure.settings).collect()
    } else {
        rows.iter().map(|row| &row.settings).collect()
    };
    let same = same(&settings);
    found.about.extend(same);
    let failures = std::mem::take(&mut found.failures);
    ResultFile { runs: rows.into_iter().map(run).collect(), failures, ..ResultFile::default() }
}

/// The settings that are the same in all.
fn same(all: &[&BTreeMap<String, String>]) -> BTreeMap<String, String> {
    let Some((first, others)) = all.split_first() else { return BTreeMap::new() };
    let shared = first.iter().filter(|(name, value)| others.iter().all(|other| other.get(*name) == Some(*value)));
    shared.map(|(name, value)| (name.clone(), value.clone())).collect()
}

const NOTHING: &str = "every figure of it is 0 or below: nothing was measured";

/// Engine and quantization, which the tools call by different names, and the rest of the settings.
fn variant(row: &Row) -> (Option<String>, Option<String>, BTreeMap<String, String>) {
    let mut settings = row.settings.clone();
    let engine = settings.remove("engine");
    let quantization = settings.remove("model_quantization").or_else(|| settings.remove("quantization"));
    (engine, quantization, settings)
}

fn run(row: Row) -> Run {
    let (engine, quantization, settings) = variant(&row);
    let figures = Figures { engine, quantization, settings, ..row.figures };
    let model_id = row.model.clone();
    let stats = GenerationStats {
        prompt_tps: row.prompt_tps,
        generation_tps: row.generation_tps,
        prompt_tokens: row.prompt_tokens,
        generation_tokens: row.generation_tokens,
        peak_memory_usage: row.peak_bytes.map(|in_bytes| crate::record::MemorySize::Camel { in_bytes }),
        prefix_cache_hit: row.cache.map(Into::into),
        unknown: Leftover::default(),
    };
    Run {
        elapsed_s: row.elapsed_s,
        output_text_preview: None,
        stats: Some(stats),
        power_usage: None,
        model_short_id: row.model.map(|model| model.rsplit('/').next().unwrap_or(&model).into()),
        model_id: model_id.map(Into::into),
        placement_sharding: row.sharding.map(Into::into),
        placement_instance_meta: row.instance_meta.map(Into::into),
        placement_nodes: row.nodes,
        instance_id: row.instance_id.map(Into::into),
        pp_tokens: row.pp,
        tg: row.tg,
        repeat_index: Some(row.repeat),
        concurrency: row.concurrency,
        concurrent_index: row.place,
        download_duration_s: None,
        exoscope: None,
        figures: Some(Box::new(figures)),
        unknown: Leftover::default(),
    }
}

/// A failure that a tool counts and does not describe.
pub(super) fn failure(row: &Row, kind: FailureKind, message: &str, place: u32) -> Failure {
    let (engine, quantization, settings) = variant(row);
    Failure {
        kind,
        message: message.chars().take(300).collect(),
        status: None,
        warmup: false,
        model_id: row.model.clone(),
        placement_sharding: row.sharding.clone(),
        placement_instance_meta: row.instance_meta.clone(),
        placement_nodes: row.nodes,
        instance_id: row.instance_id.clone(),
        pp_tokens: row.pp,
        tg: row.tg,
        concurrency: row.concurrency,
        repeat_index: row.repeat,
        request_index: place,
        session: 0,
        start: None,
        use_prefix_cache: true,
        streamed: row.figures.streamed == Some(true),
        sent_s: row.figures.sent_s,
        ended_s: row.figures.done_s,
        frames: None,
        engine,
        quantization,
        settings,
    }
}

/// A number at a key: of a number, or of a text that is one. What is no finite number is absent.
pub(super) fn number(value: &Value, key: &str) -> Option<f64> {
    match value.get(key)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}

/// The same in another unit: `per` of the file's unit make one of ours.
pub(super) fn scaled(value: &Value, key: &str, per: f64) -> Option<f64> {
    number(value, key).map(|number| number / per)
}

/// How many of a unit of time make a second.
pub(crate) fn per_second(unit: &str) -> Option<f64> {
    match unit.to_ascii_lowercase().as_str() {
        "ms" => Some(MS),
        "s" | "sec" | "seconds" => Some(1.0),
        "us" | "µs" => Some(1e6),
        "ns" => Some(NS),
        _ => None,
    }
}

/// A count at a key.
pub(super) fn whole(value: &Value, key: &str) -> Option<u64> {
    match value.get(key)? {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => {
            number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0 && *n < 1e15).map(|n| n.round() as u64))
        }
        _ => None,
    }
}

/// A text at a key; a number or a boolean as JSON spells it.
pub(super) fn text(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Copies the texts at some keys, each under its own name.
pub(super) fn settings(value: &Value, keys: &[&str]) -> BTreeMap<String, String> {
    keys.iter().filter_map(|key| Some(((*key).to_owned(), text(value, key)?))).collect()
}

/// Milliseconds to the second.
pub(super) const MS: f64 = 1e3;
/// Nanoseconds to the second.
pub(super) const NS: f64 = 1e9;
