//! Rows of other tools → rows of a result file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::record::{Comparability, Failure, FailureKind, Figures, GenerationStats, Leftover, ResultFile, Run};

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
    /// Another class than the format's, where this file's numbers are of another.
    pub(super) class: Option<Comparability>,
}

/// One row.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// The model.
    pub(super) model: Option<String>,
    /// Settings by the tool's own names. Those that differ between the rows of a file make cells of their own; the rest is
    /// told once.
    pub(super) settings: BTreeMap<String, String>,
    /// Prompt tokens asked for.
    pub(super) pp: Option<u64>,
    /// Tokens asked for.
    pub(super) tg: Option<u64>,
    /// Requests at once.
    pub(super) concurrency: Option<u32>,
    /// Repeat, from 0.
    pub(super) repeat: u32,
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

impl Row {
    /// Whether it holds any figure at all.
    fn is_measured(&self) -> bool {
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
        .iter()
        .flatten()
        .any(|value| *value > 0.0)
            || figures.published.values().any(|value| value.as_f64().is_some_and(|value| value > 0.0))
    }
}

/// Puts the rows into a file. The settings that differ between them stand behind the model's name, so that they never fall
/// into one cell; those that are the same are facts.
pub(super) fn lay_down(found: &mut Found) -> ResultFile {
    let rows = std::mem::take(&mut found.rows);
    let all = rows.len();
    let rows: Vec<Row> = rows.into_iter().filter(Row::is_measured).collect();
    if rows.len() < all {
        let empty = all - rows.len();
        found.notices.push(format!("{empty} of {all} rows hold no figure and are left out"));
    }
    if rows.iter().any(|row| row.concurrency.is_none() && row.figures.stands_for > Some(1)) {
        found.notices.push("it does not tell how many requests ran at once; 1 stands for it".to_owned());
    }
    let mut values: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    let names: BTreeSet<&str> = rows.iter().flat_map(|row| row.settings.keys().map(String::as_str)).collect();
    for row in &rows {
        for name in &names {
            values.entry(name).or_default().insert(row.settings.get(*name).map(String::as_str));
        }
    }
    let varying: BTreeSet<String> =
        values.iter().filter(|(_, values)| values.len() > 1).map(|(name, _)| (*name).to_owned()).collect();
    for (name, values) in &values {
        if let (1, Some(Some(value))) = (values.len(), values.first()) {
            found.about.insert((*name).to_owned(), (*value).to_owned());
        }
    }
    ResultFile {
        runs: rows.into_iter().map(|row| run(row, &varying)).collect(),
        failures: std::mem::take(&mut found.failures),
        ..ResultFile::default()
    }
}

fn run(row: Row, varying: &BTreeSet<String>) -> Run {
    let variant: Vec<String> = row
        .settings
        .iter()
        .filter(|(name, _)| varying.contains(*name))
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    let model_id = match (row.model.clone(), variant.is_empty()) {
        (Some(model), true) => Some(model),
        (model, false) => Some(format!("{} [{}]", model.as_deref().unwrap_or("model"), variant.join(", "))),
        (None, true) => None,
    };
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
        concurrent_index: None,
        download_duration_s: None,
        exoscope: None,
        figures: Some(Box::new(row.figures)),
        unknown: Leftover::default(),
    }
}

/// A failure that a tool counts and does not describe.
pub(super) fn failure(row: &Row, kind: FailureKind, message: &str, place: u32) -> Failure {
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
