//! What a figure over many requests is of them, and the median and the tail that its file publishes beside it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::frame::Cell;
use crate::import::per_second;
use crate::metric::Metric;
use crate::record::{Figures, ResultFile, Run};
use crate::units::{self, Scale};

/// A figure that a tool published for many requests, which are not in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedFigure {
    /// What of them it is.
    pub is: Statistic,
    /// How many; null where the file does not count them.
    pub requests: Option<u64>,
    /// Their median as the file publishes it; null where it does not.
    pub median: Option<f64>,
    /// Their 99th percentile as the file publishes it; null where it does not.
    pub p99: Option<f64>,
}

/// What a published figure is of the values behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Their arithmetic mean.
    Mean,
    /// Their median.
    Median,
    /// The largest of them.
    Largest,
}

impl Statistic {
    const fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Largest => "largest",
        }
    }
}

/// What each row of a cell publishes of a metric; empty unless all of them say what their figure is. `has_deviation`: one
/// stands beside, which is a deviation from a mean.
pub(super) fn of_cell(file: &ResultFile, metric: Metric, cell: &Cell, has_deviation: bool) -> Vec<PublishedFigure> {
    let rows = cell.batches.iter().flat_map(|batch| &batch.rows).filter_map(|row| file.runs.get(*row));
    rows.map(|run| of_row(run, metric, has_deviation)).collect::<Option<_>>().unwrap_or_default()
}

fn of_row(run: &Run, metric: Metric, has_deviation: bool) -> Option<PublishedFigure> {
    let figures = run.figures.as_deref()?;
    let requests = figures.stands_for.filter(|requests| *requests > 1);
    let value = value(run, figures, metric)?;
    let told = |keys: &[&str]| beside(figures, metric, keys);
    let is = |keys: &[&str]| told(keys).is_some_and(|told| (told - value).abs() <= SAME * value.abs());
    let statistic = if is(MEAN) {
        Statistic::Mean
    } else if is(MEDIAN) {
        Statistic::Median
    } else if is(LARGEST) {
        Statistic::Largest
    } else if has_deviation {
        Statistic::Mean
    } else {
        return None;
    };
    // Without a count it is many only where something says so.
    (requests.is_some() || (has_deviation && figures.stands_for.is_none())).then(|| PublishedFigure {
        is: statistic,
        requests,
        median: told(MEDIAN),
        p99: told(P99),
    })
}

/// Conversion of units changes a last digit.
const SAME: f64 = 1e-9;

fn value(run: &Run, figures: &Figures, metric: Metric) -> Option<f64> {
    let stats = run.stats.as_ref();
    match metric {
        Metric::PrefillTps => stats?.prompt_tps,
        Metric::GenerationTps => stats?.generation_tps,
        Metric::Elapsed => run.elapsed_s,
        Metric::Ttft => figures.ttft_s,
        Metric::Tpot => figures.tpot_s,
        Metric::Itl => figures.itl_s,
        _ => None,
    }
}

const MEAN: &[&str] = &["mean", "avg"];
const MEDIAN: &[&str] = &["median", "p50"];
const P99: &[&str] = &["p99"];
const DEVIATION: &[&str] = &["std", "stddev", "std_dev"];
const LARGEST: &[&str] = &["max"];

/// Names of a metric with the statistic in front, where `{}` stands, and how many of its unit make one of ours: vLLM's,
/// asiai's and llama-bench's.
const FLAT: [(Metric, &str, f64); 13] = [
    (Metric::Elapsed, "{}_e2el_ms", 1e3),
    (Metric::Elapsed, "{}_e2el", 1.0),
    (Metric::Elapsed, "{}_ns", 1e9),
    (Metric::Ttft, "{}_ttft_ms", 1e3),
    (Metric::Ttft, "{}_ttft", 1.0),
    (Metric::Ttft, "{}_ttft_client_ms", 1e3),
    (Metric::Tpot, "{}_tpot_ms", 1e3),
    (Metric::Tpot, "{}_tpot", 1.0),
    (Metric::Itl, "{}_itl_ms", 1e3),
    (Metric::Itl, "{}_itl", 1.0),
    (Metric::GenerationTps, "{}_tok_s", 1.0),
    (Metric::GenerationTps, "{}_ts", 1.0),
    (Metric::PrefillTps, "{}_ts", 1.0),
];

/// Names of a metric that hold an object with a value per statistic: AIPerf's, GuideLLM's, inference-perf's, and those of the
/// log of exo's bench.
const NESTED: [(Metric, &str); 9] = [
    (Metric::Elapsed, "request_latency"),
    (Metric::Ttft, "time_to_first_token"),
    (Metric::Ttft, "time_to_first_token_ms"),
    (Metric::Tpot, "time_per_output_token"),
    (Metric::Itl, "inter_token_latency"),
    (Metric::Itl, "inter_token_latency_ms"),
    (Metric::GenerationTps, "output_token_throughput_per_user"),
    (Metric::GenerationTps, "gen_tps"),
    (Metric::PrefillTps, "prompt_tps"),
];

/// A statistic of a metric as the row publishes it, in the metric's unit.
fn beside(figures: &Figures, metric: Metric, keys: &[&str]) -> Option<f64> {
    let flat = FLAT.iter().filter(|(of, ..)| *of == metric).find_map(|(_, name, per)| {
        let told = |key: &&str| figures.published.get(&name.replace("{}", key))?.as_f64();
        Some(keys.iter().find_map(told)? / per)
    });
    flat.or_else(|| {
        NESTED.iter().filter(|(of, _)| *of == metric).find_map(|(_, name)| {
            let object = figures.published.get(*name)?;
            let per = match object.get("unit").and_then(Value::as_str) {
                Some(unit) if metric.definition().unit == "s" => per_second(unit)?,
                None if name.ends_with("_ms") => 1e3,
                _ => 1.0,
            };
            let told =
                |key: &&str| object.get(*key).or_else(|| object.get("percentiles")?.get(*key)).and_then(Value::as_f64);
            Some(keys.iter().find_map(told)? / per)
        })
    })
}

/// The standard deviation of the values behind a figure as the row publishes it, in the metric's unit; None where it does not.
pub(in crate::summary) fn deviation(figures: &Figures, metric: Metric) -> Option<f64> {
    beside(figures, metric, DEVIATION).filter(|deviation| *deviation >= 0.0 && deviation.is_finite())
}

/// The figures of a cell in words; None for none.
pub(super) fn words(metric: Metric, figures: &[PublishedFigure]) -> Option<String> {
    let first = figures.first()?;
    let unit = metric.definition().unit;
    let said = |value: f64| {
        let scale = Scale::of(unit, [value]);
        format!("{} {}", scale.text(Some(value)), scale.label())
    };
    let all = |of: fn(&PublishedFigure) -> Option<f64>| -> Option<Vec<String>> {
        figures.iter().map(|figure| of(figure).map(said)).collect()
    };
    let several = figures.len() > 1;
    let most = figures.iter().filter_map(|figure| figure.requests).max();
    let over = match (most, several) {
        (Some(requests), false) => units::count(requests, "request"),
        (Some(requests), true) => format!("up to {}", units::count(requests, "request")),
        (None, _) => "repeats".to_owned(),
    };
    let number = if most.is_none() { ", without their number" } else { "" };
    let is = first.is.word();
    let it = if several { "each value is the" } else { "the" };
    // Gaps are of all requests together.
    let of = if metric == Metric::Itl { "over" } else { "of" };
    let mut words = format!("{it} {is} {of} {over} as the file publishes it{number}");
    if first.is != Statistic::Median {
        words += &match (all(|figure| figure.median), several) {
            (Some(medians), false) => format!("; its median is {}", medians.join(", ")),
            (Some(medians), true) => format!("; the medians are {}", medians.join(", ")),
            (None, _) => "; it publishes no median".to_owned(),
        };
    }
    let tails = all(|figure| figure.p99).map(|tails| {
        let its = if several {
            "the p99 are"
        } else if first.is == Statistic::Median {
            "its p99 is"
        } else {
            "its p99"
        };
        format!("{} {its} {}", if first.is == Statistic::Median { ";" } else { "," }, tails.join(", "))
    });
    Some(words + &tails.unwrap_or_default())
}
