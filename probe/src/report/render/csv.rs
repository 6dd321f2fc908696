//! One line per cell and metric, unrounded. An empty field is an absent value: CSV has no other word for it that
//! spreadsheets and data frames read as none. No text is a formula to a spreadsheet: see [`csv_field`].

use analyzer::comparison::{Comparison, Side, Verdict};
use analyzer::explanation::Explanation;
use analyzer::summary::{CellKey, MetricSummary, PercentileSupport, Report};
use serde_json::Value;

use super::RenderError;
use crate::report::csv_field;

const KEY: [&str; 12] = [
    "model_id",
    "sharding",
    "instance_meta",
    "nodes",
    "pp_tokens",
    "tg",
    "concurrency",
    "cache",
    "streamed",
    "engine",
    "quantization",
    "settings",
];

/// Fields of a metric, from its name to its warnings.
const METRIC_FIELDS: usize = 14 + STATISTICS.len();

/// Fields that say how sure the numbers are, how the values lie and how they go.
const STATISTICS: [&str; 25] = [
    "batch_cv_percent",
    "mad",
    "mean_low",
    "mean_high",
    "mean_of",
    "median_low",
    "median_high",
    "median_confidence",
    "p50",
    "p90",
    "p95",
    "p99",
    "p10",
    "p5",
    "p1",
    "thin_percentiles",
    "too_few_percentiles",
    "no_spread",
    "outliers",
    "drift_found",
    "drift_change_percent",
    "drift_tau",
    "drift_p",
    "asiai_drift",
    "steps",
];

/// Numbers of one field, in the order of measurement.
fn several<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(";")
}

/// Summaries as CSV, values and their sessions as lists in one field each. A metric that is too weak to be shown has a line
/// that says why. A cell in which nothing succeeded has one line without a metric.
pub(super) fn reports(reports: &Report) -> Result<String, RenderError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rest = [
        "requests",
        "batches",
        "failed",
        "sessions",
        "metric",
        "unit",
        "n",
        "median",
        "mean",
        "sd",
        "cv_percent",
        "stability",
        "min",
        "max",
    ];
    let last = ["values", "value_sessions", "uncertainty_percent", "warnings"];
    let first = ["file", "format", "simulated"];
    writer.write_record(first.into_iter().chain(KEY).chain(rest).chain(STATISTICS).chain(last))?;
    for file in &reports.files {
        for cell in &file.cells {
            let mut front = vec![file.name.clone(), file.format.clone(), file.simulated.to_string()];
            front.extend(key(&cell.key)?);
            front.extend([cell.requests, cell.batches, cell.failed, cell.sessions].map(|count| count.to_string()));
            if cell.metrics.is_empty() {
                let mut row = front.clone();
                row.resize(front.len() + METRIC_FIELDS - 1, String::new());
                row.push(cell.notices.join("; "));
                writer.write_record(row.iter().map(|field| csv_field(field)))?;
            }
            for absent in &cell.absent {
                let mut row = front.clone();
                row.extend([word(&absent.metric)?, absent.metric.definition().unit.to_owned(), "0".to_owned()]);
                row.resize(front.len() + METRIC_FIELDS - 1, String::new());
                row.push(absent.why.clone());
                writer.write_record(row.iter().map(|field| csv_field(field)))?;
            }
            for summary in &cell.metrics {
                let mut row = front.clone();
                row.extend([
                    word(&summary.metric)?,
                    summary.unit.clone(),
                    summary.n.to_string(),
                    summary.median.to_string(),
                    summary.mean.to_string(),
                    number(summary.sd),
                    number(summary.cv_percent),
                    word(&summary.stability)?,
                    // Those of the requests behind a figure are not known.
                    number(Some(summary.min).filter(|_| summary.published.is_none())),
                    number(Some(summary.max).filter(|_| summary.published.is_none())),
                ]);
                row.extend(statistics(summary)?);
                row.extend([
                    several(&summary.values),
                    several(&summary.sessions),
                    number(summary.uncertainty_percent),
                    summary.warnings.join("; "),
                ]);
                writer.write_record(row.iter().map(|field| csv_field(field)))?;
            }
        }
    }
    text(writer)
}

/// The fields of [`STATISTICS`]; outliers as places of values from 0, steps as batches from 0.
fn statistics(summary: &MetricSummary) -> Result<[String; STATISTICS.len()], RenderError> {
    let (mean, median) = (summary.mean_interval.as_ref(), summary.median_interval.as_ref());
    let all = || summary.percentiles.iter().chain(&summary.slow_tail);
    let percentile = |percent: f64| number(all().find(|found| found.percent == percent).map(|found| found.value));
    let supported = |support: PercentileSupport| {
        several(&all().filter(|found| found.support == support).map(|found| found.percent).collect::<Vec<_>>())
    };
    let drift = summary.drift.as_ref();
    let truth = |truth: Option<bool>| truth.map(|truth| truth.to_string()).unwrap_or_default();
    Ok([
        number(summary.batch_cv_percent),
        number(summary.mad),
        number(mean.map(|interval| interval.low)),
        number(mean.map(|interval| interval.high)),
        match mean {
            Some(interval) => word(&interval.of)?,
            None => String::new(),
        },
        number(median.map(|interval| interval.low)),
        number(median.map(|interval| interval.high)),
        number(median.map(|interval| interval.confidence)),
        percentile(50.0),
        percentile(90.0),
        percentile(95.0),
        percentile(99.0),
        percentile(10.0),
        percentile(5.0),
        percentile(1.0),
        supported(PercentileSupport::Thin),
        supported(PercentileSupport::TooFew),
        summary.no_spread.to_string(),
        several(&summary.outliers.iter().map(|outlier| outlier.index).collect::<Vec<_>>()),
        truth(drift.and_then(|drift| drift.found)),
        number(drift.and_then(|drift| drift.change_percent)),
        number(drift.and_then(|drift| drift.kendall_tau)),
        number(drift.and_then(|drift| drift.kendall_p)),
        truth(drift.and_then(|drift| drift.asiai_warns)),
        several(&summary.steps.iter().map(|step| step.batch).collect::<Vec<_>>()),
    ])
}

/// A comparison as CSV: a line per cell and metric, then one per metric over all cells, with their number in the last field.
pub(super) fn comparison(comparison: &Comparison) -> Result<String, RenderError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rest = [
        "metric",
        "unit",
        "base_n",
        "base_sessions",
        "base_median",
        "base_mean",
        "base_geomean",
        "new_n",
        "new_sessions",
        "new_median",
        "new_mean",
        "new_geomean",
        "change_percent",
        "interval_low_percent",
        "interval_high_percent",
        "p",
        "p_adjusted",
        "resolves_percent",
        "verdict",
        "words",
        "warnings",
        "over_cells",
    ];
    writer.write_record(["base", "new", "simulated"].into_iter().chain(KEY).chain(rest))?;
    for cell in &comparison.cells {
        for metric in &cell.metrics {
            let mut row = vec![comparison.base.clone(), comparison.new.clone(), comparison.simulated.to_string()];
            row.extend(key(&cell.cell)?);
            row.extend([word(&metric.metric)?, metric.unit.clone()]);
            row.extend(side(metric.base.as_ref()));
            row.extend(side(metric.new.as_ref()));
            let interval = metric.interval_percent;
            row.extend([
                number(metric.change_percent),
                number(interval.map(|[low, _]| low)),
                number(interval.map(|[_, high]| high)),
                number(metric.p),
                number(metric.p_adjusted),
                number(metric.resolves_percent),
                judged(metric.verdict)?,
                metric.words.clone(),
                metric.warnings.join("; "),
                String::new(),
            ]);
            writer.write_record(row.iter().map(|field| csv_field(field)))?;
        }
    }
    for whole in comparison.geomean.iter().filter(|row| row.cells > 1) {
        let mut row = vec![comparison.base.clone(), comparison.new.clone(), comparison.simulated.to_string()];
        row.resize(row.len() + KEY.len(), String::new());
        row.extend([word(&whole.metric)?, whole.unit.clone()]);
        row.extend(side(None).into_iter().chain(side(None)));
        row.extend([
            number(whole.change_percent),
            number(whole.interval_percent.map(|[low, _]| low)),
            number(whole.interval_percent.map(|[_, high]| high)),
            number(whole.p),
            number(whole.p_adjusted),
            number(whole.resolves_percent),
            judged(whole.verdict)?,
            whole.words.clone(),
            whole.warnings.join("; "),
            whole.cells.to_string(),
        ]);
        writer.write_record(row.iter().map(|field| csv_field(field)))?;
    }
    text(writer)
}

/// A verdict as the JSON spells it; empty where a metric is not judged.
fn judged(verdict: Option<Verdict>) -> Result<String, RenderError> {
    verdict.map_or_else(|| Ok(String::new()), |verdict| word(&verdict))
}

/// Explanations as CSV.
pub(super) fn explanations(all: &[Explanation]) -> Result<String, RenderError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = ["metric", "name", "unit", "better", "primary", "version", "formula", "source", "example", "result"];
    writer.write_record(head)?;
    for explained in all {
        let example = explained.example.as_ref();
        writer.write_record([
            word(&explained.metric)?,
            explained.name.clone(),
            explained.unit.clone(),
            word(&explained.better)?,
            explained.primary.to_string(),
            explained.version.to_string(),
            explained.formula.clone(),
            explained.source.clone(),
            example.map(|example| example.working.clone()).unwrap_or_default(),
            number(example.map(|example| example.result)),
        ])?;
    }
    text(writer)
}

fn side(side: Option<&Side>) -> [String; 5] {
    match side {
        None => Default::default(),
        Some(side) => [
            side.n.to_string(),
            side.sessions.to_string(),
            side.median.to_string(),
            side.mean.to_string(),
            number(side.geomean),
        ],
    }
}

fn key(key: &CellKey) -> Result<Vec<String>, RenderError> {
    let value = serde_json::to_value(key)?;
    let settings = || key.settings.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
    Ok(KEY.into_iter().map(|name| if name == "settings" { settings() } else { plain(&value[name]) }).collect())
}

/// An enum's word, as the JSON spells it.
pub(super) fn word(value: &impl serde::Serialize) -> Result<String, RenderError> {
    Ok(plain(&serde_json::to_value(value)?))
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn text(writer: csv::Writer<Vec<u8>>) -> Result<String, RenderError> {
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_every_field_and_values_stand_beside_their_sessions() {
        let row = |instance: &str, repeat: u32, rate: f64| {
            serde_json::json!({"elapsed_s": 1.0, "output_text_preview": "", "power_usage": null, "model_id": "lab/m",
                "stats": {"prompt_tps": rate, "generation_tps": 50.0, "prompt_tokens": 64, "generation_tokens": 8},
                "instance_id": instance, "pp_tokens": 64, "tg": 8, "repeat_index": repeat})
        };
        let file = serde_json::json!({ "runs": [row("i", 0, 400.0), row("i", 1, 410.5), row("j", 0, 405.0)] });
        let loaded = analyzer::import::load("f.json", file.to_string().as_bytes()).unwrap();
        let mut report = analyzer::summary::reports(&[loaded]).unwrap();
        report.files[0].cells[0].absent.push(analyzer::summary::AbsentMetric {
            metric: analyzer::metric::Metric::Energy,
            codes: Vec::new(),
            why: "window too short".to_owned(),
        });
        let mut nothing = report.files[0].cells[0].clone();
        nothing.metrics.clear();
        nothing.absent.clear();
        nothing.notices = vec!["2 of 2 requests failed; there is no number".to_owned()];
        report.files[0].cells.push(nothing);
        let text = reports(&report).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().clone();
        // The reader refuses lines whose number of fields is not the head's.
        let lines: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        let field = |line: &csv::StringRecord, name: &str| {
            line[head.iter().position(|found| found == name).unwrap()].to_owned()
        };
        let of = |metric: &str| lines.iter().find(|line| field(line, "metric") == metric).unwrap();
        assert_eq!(field(of("prefill_tps"), "values"), "400;410.5;405");
        assert_eq!(field(of("prefill_tps"), "value_sessions"), "0;0;1");
        assert_eq!((field(of("energy"), "n"), field(of("energy"), "median")), ("0".to_owned(), String::new()));
        assert_eq!(field(of("energy"), "warnings"), "window too short");
        assert_eq!(field(lines.last().unwrap(), "warnings"), "2 of 2 requests failed; there is no number");
    }
}
