//! The text exposition format of Prometheus (version 0.0.4): a summary per metric with a label set per cell, in base units.
//!
//! Quantiles 0, 0.5 and 1 are the smallest value, the median and the largest; sum over count is the mean. The deviation
//! stands in a gauge of its own, for a summary has no place for it.

use std::collections::BTreeMap;

use analyzer::metric::Metric;
use analyzer::summary::{CellKey, FileReport, MetricSummary, Report};

use crate::report::tame;

/// One metric of the exposition: samples of a name stand together under its help.
struct Family {
    help: String,
    kind: &'static str,
    lines: Vec<String>,
}

/// The families by name, so that the same files give the same text.
#[derive(Default)]
struct Families(BTreeMap<String, Family>);

impl Families {
    fn add(&mut self, name: &str, kind: &'static str, help: &str, lines: impl IntoIterator<Item = String>) {
        let family = self.0.entry(name.to_owned());
        let family = family.or_insert_with(|| Family { help: escape(help, false), kind, lines: Vec::new() });
        family.lines.extend(lines);
    }
}

/// The statistics of all cells of a report.
pub(super) fn draw(report: &Report) -> String {
    let mut families = Families::default();
    for (place, file) in report.files.iter().enumerate() {
        // Two samples of one name must differ in a label, also where a file is given twice.
        let again = report.files.iter().take(place).filter(|earlier| earlier.name == file.name).count();
        let name = if again == 0 { file.name.clone() } else { format!("{} ({})", file.name, again + 1) };
        add_file(&mut families, file, &name);
    }
    let mut text = String::new();
    for (name, Family { help, kind, lines }) in families.0 {
        text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        lines.into_iter().for_each(|line| text.push_str(&line));
    }
    text
}

fn add_file(families: &mut Families, file: &FileReport, name: &str) {
    let fact = |key: &str| file.facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone());
    let mut about: Vec<(&str, String)> = vec![
        ("file", name.to_owned()),
        ("format", file.format.clone()),
        ("simulated", file.simulated.to_string()),
        ("incomplete", file.incomplete.clone().unwrap_or_default()),
    ];
    about.extend(
        ["engine", "engine_version", "quantization", "tool", "started"].map(|k| (k, fact(k).unwrap_or_default())),
    );
    let help = "What the numbers of a file come from; always 1.";
    families.add("exoscope_file_info", "gauge", help, [line("exoscope_file_info", &labels(&about), 1.0)]);
    for cell in &file.cells {
        let key = key(name, &cell.key);
        let count = |name: &str, count: u64| line(name, &labels(&key), count as f64);
        let (requests, failed) = ("exoscope_requests", "exoscope_failed_requests");
        // A row of another tool may be the mean of thousands.
        let valid = cell.requests;
        families.add(requests, "gauge", "Valid requests of a cell.", [count(requests, valid)]);
        families.add(failed, "gauge", "Measured requests of a cell that failed.", [count(failed, cell.failed)]);
        for summary in &cell.metrics {
            add_metric(families, &key, summary);
        }
    }
}

fn add_metric(families: &mut Families, key: &[(&str, String)], summary: &MetricSummary) {
    let definition = summary.metric.definition();
    let (unit, factor) = base(&summary.unit);
    let stem = stem(summary.metric, &unit);
    let name = format!("exoscope_{stem}_{unit}");
    // Of the requests behind a figure the least and the most are not known, and one value has none.
    let ends = summary.published.is_none() && summary.n > 1;
    let quantiles = [("0", summary.min, ends), ("0.5", summary.median, true), ("1", summary.max, ends)];
    let quantiles = quantiles.into_iter().filter(|(.., known)| *known).map(|(quantile, value, _)| {
        let with: Vec<(&str, String)> = key.iter().cloned().chain([("quantile", quantile.to_owned())]).collect();
        line(&name, &labels(&with), value * factor)
    });
    let sum = line(&format!("{name}_sum"), &labels(key), summary.values.iter().sum::<f64>() * factor);
    let count = line(&format!("{name}_count"), &labels(key), summary.n as f64);
    let help = format!("{}: {}", definition.name, summary.formula());
    families.add(&name, "summary", &help, quantiles.chain([sum, count]));
    if let Some(sd) = summary.sd {
        let name = format!("exoscope_{stem}_deviation_{unit}");
        let help = format!("Sample standard deviation (n - 1) of {}.", definition.name);
        families.add(&name, "gauge", &help, [line(&name, &labels(key), sd * factor)]);
    }
}

/// The base unit in Prometheus' words, and what a value is multiplied by to be in it.
fn base(unit: &str) -> (String, f64) {
    let (word, factor) = match unit {
        "s" => ("seconds", 1.0),
        "J" => ("joules", 1.0),
        "W" => ("watts", 1.0),
        "B" => ("bytes", 1.0),
        "%" => ("ratio", 0.01),
        "tok/s" => ("tokens_per_second", 1.0),
        "req/s" => ("requests_per_second", 1.0),
        "J/tok" => ("joules_per_token", 1.0),
        "tok/s/W" => ("tokens_per_second_per_watt", 1.0),
        other => return (other.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_"), 1.0),
    };
    (word.to_owned(), factor)
}

/// The metric's word without a unit of its own: "prefill_tps" → "prefill".
fn stem(metric: Metric, unit: &str) -> String {
    let word = serde_json::to_value(metric).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default();
    let bare = word.strip_suffix("_tps").or_else(|| word.strip_suffix(unit)).unwrap_or(&word).trim_end_matches('_');
    let bare = bare.strip_prefix("joules_").unwrap_or(bare);
    if bare.is_empty() { "batch".to_owned() } else { bare.to_owned() }
}

fn key(file: &str, key: &CellKey) -> Vec<(&'static str, String)> {
    // An empty label is the same as none: that is how Prometheus spells absent.
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let cache = key.cache.word();
    vec![
        ("file", file.to_owned()),
        ("model", key.model_id.clone().unwrap_or_default()),
        ("sharding", key.sharding.clone().unwrap_or_default()),
        ("instance", key.instance_meta.clone().unwrap_or_default()),
        ("nodes", number(key.nodes.map(u64::from))),
        ("pp", number(key.pp_tokens)),
        ("tg", number(key.tg)),
        ("concurrency", number(key.concurrency.map(u64::from))),
        ("cache", if cache == analyzer::units::ABSENT { String::new() } else { cache.to_owned() }),
        ("streamed", key.streamed.map(|streamed| streamed.to_string()).unwrap_or_default()),
        ("engine", key.engine.clone().unwrap_or_default()),
        ("quantization", key.quantization.clone().unwrap_or_default()),
        ("settings", key.settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")),
    ]
}

fn labels(labels: &[(&str, String)]) -> String {
    let pairs: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value, true))).collect();
    pairs.join(",")
}

fn line(name: &str, labels: &str, value: f64) -> String {
    format!("{name}{{{labels}}} {value}\n")
}

/// Backslashes and line feeds, and in labels quotes: all that the format escapes. For other control characters it has no
/// escape, and a terminal that shows the text would obey them.
fn escape(text: &str, quotes: bool) -> String {
    let text: Vec<String> = text.split('\n').map(tame).collect();
    let text = text.join("\n").replace('\\', "\\\\").replace('\n', "\\n");
    if quotes { text.replace('"', "\\\"") } else { text }
}
