//! How the values of one metric lie: intervals of mean and median, percentiles, and what stands apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Better;
use crate::statistics::tail::{self, Support};
use crate::statistics::{ordered, outlier, quantile, sessions};
use crate::units;

/// All intervals are of this confidence.
const CONFIDENCE: f64 = 0.95;

/// The high percentiles that are told of every metric.
const PERCENTS: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

/// The low ones, which are the slow tail of a rate.
const SLOW_PERCENTS: [f64; 3] = [10.0, 5.0, 1.0];

/// An interval that covers the true value with a stated confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfidenceInterval {
    /// Lower end, in the metric's unit.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How often such an interval covers the true value, 0 to 1. Of the median it is more than 0.95, for its ends are values.
    pub confidence: f64,
    /// How it was made.
    pub rule: IntervalRule,
    /// What was repeated independently.
    pub of: IntervalUnit,
    /// How many of these.
    pub units: u64,
    /// Degrees of freedom of Student's t; null for an interval of the median.
    pub freedom: Option<f64>,
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalRule {
    /// Mean of the sessions' means ± t · standard error.
    Student,
    /// From the r-th smallest to the r-th largest value, by the binomial distribution, exactly.
    OrderStatistics,
}

/// What an interval takes as independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalUnit {
    /// Batches: requests that were started together disturb each other and count once.
    Batches,
    /// Sessions: their means differ by more than the batches inside them explain.
    Sessions,
}

/// A percentile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// Percent of the values below, 0 to 100.
    pub percent: f64,
    /// The value: linear between order statistics (Hyndman & Fan type 7, NumPy's default).
    pub value: f64,
    /// Whether there are enough values to speak of it.
    pub support: PercentileSupport,
}

/// What stands behind a percentile: how many values are expected beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PercentileSupport {
    /// Five or more: BetterBench's rule for publishing a tail.
    Enough,
    /// One to less than five: another run may put it elsewhere.
    Thin,
    /// Less than one (p90 below 10 values, p95 below 20, p99 below 100): hardly more than the outermost value.
    TooFew,
}

/// A value that stands apart. It is in every number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutlierReport {
    /// Its place in `values`.
    pub index: u64,
    /// The value, in the metric's unit.
    pub value: f64,
    /// Distance from the median in robust standard deviations, with its sign.
    pub modified_z: f64,
    /// Why it is named, in a sentence.
    pub why: String,
}

/// The 95 % interval of the mean of batches, session by session.
pub(super) fn mean_interval(sessions: &[Vec<f64>]) -> Option<ConfidenceInterval> {
    let found = sessions::sure_mean(sessions)?;
    let [low, high] = found.interval(CONFIDENCE)?;
    let (of, units) = if found.between_sessions {
        (IntervalUnit::Sessions, sessions.len())
    } else {
        (IntervalUnit::Batches, sessions.iter().map(Vec::len).sum())
    };
    let freedom = Some(found.error.freedom);
    let (confidence, rule, units) = (CONFIDENCE, IntervalRule::Student, units as u64);
    Some(ConfidenceInterval { low, high, confidence, rule, of, units, freedom })
}

/// The 95 % interval of the median: over the batches of one session, or over the medians of several sessions, for the
/// batches of one session are not independent of each other where sessions differ, and six sessions say whether they do.
pub(super) fn median_interval(sessions: &[Vec<f64>]) -> Option<ConfidenceInterval> {
    let (of, values) = match sessions {
        [batches] => (IntervalUnit::Batches, batches.clone()),
        _ => (IntervalUnit::Sessions, sessions.iter().filter_map(|batches| quantile::median(batches)).collect()),
    };
    let found = ordered::median_interval(&values, CONFIDENCE)?;
    Some(ConfidenceInterval {
        low: found.low,
        high: found.high,
        confidence: found.coverage,
        rule: IntervalRule::OrderStatistics,
        of,
        units: values.len() as u64,
        freedom: None,
    })
}

/// The high percentiles of values in ascending order.
pub(super) fn percentiles(sorted: &[f64]) -> Vec<Percentile> {
    told(sorted, &PERCENTS)
}

/// The low percentiles of values in ascending order, where low is slow.
pub(super) fn slow_tail(better: Better, sorted: &[f64]) -> Vec<Percentile> {
    if better == Better::Higher { told(sorted, &SLOW_PERCENTS) } else { Vec::new() }
}

fn told(sorted: &[f64], percents: &[f64]) -> Vec<Percentile> {
    let one = |percent: &f64| {
        let (value, support) = tail::percentile(sorted, *percent)?;
        let support = match support {
            Support::Enough => PercentileSupport::Enough,
            Support::Thin => PercentileSupport::Thin,
            Support::TooFew => PercentileSupport::TooFew,
        };
        Some(Percentile { percent: *percent, value, support })
    };
    percents.iter().filter_map(one).collect()
}

/// The values that stand apart, each with its sentence.
pub(super) fn outliers(unit: &str, values: &[f64]) -> Vec<OutlierReport> {
    let found = outlier::outliers(values);
    let scale = units::Scale::of(unit, found.iter().map(|outlier| outlier.value).chain(quantile::median(values)));
    let why = |outlier: &outlier::Outlier| {
        format!(
            "{} {} lies {} robust deviations {} the median (up to {} is usual)",
            scale.text(Some(outlier.value)),
            scale.label(),
            units::fixed(outlier.modified_z.abs(), 1),
            if outlier.modified_z < 0.0 { "below" } else { "above" },
            units::fixed(outlier::LIMIT, 1)
        )
    };
    found
        .iter()
        .map(|outlier| OutlierReport {
            index: outlier.index as u64,
            value: outlier.value,
            modified_z: outlier.modified_z,
            why: why(outlier),
        })
        .collect()
}

/// The outliers in one sentence: the farthest stands for the others.
pub(super) fn notes(outliers: &[OutlierReport], values: usize) -> Option<String> {
    let farthest = outliers.iter().max_by(|a, b| a.modified_z.abs().total_cmp(&b.modified_z.abs()))?;
    Some(match outliers.len() {
        1 => format!("value {} of {values} stands apart and is kept: {}", farthest.index + 1, farthest.why),
        several => format!(
            "{several} of {values} values stand apart and are kept; the farthest is value {}: {}",
            farthest.index + 1,
            farthest.why
        ),
    })
}
