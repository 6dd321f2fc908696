//! Two files side by side: which cells changed, by how much, how sure, and what else differed.
//!
//! The types are also the JSON of `exoscope compare --format json` and what the viewer's worker hands to the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Better, Metric};
use crate::summary::CellKey;

/// The verdict on one metric of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better by at least the smallest change that matters, and the interval excludes no change.
    Improved,
    /// Worse by at least the smallest change that matters, and the interval excludes no change.
    Regressed,
    /// The interval lies inside the smallest change that matters, on both sides.
    Same,
    /// No difference was detected; [`MetricComparison::resolves_percent`] says what this pair could have seen.
    Undecided,
    /// The two sides must not be set against each other; the warnings say why.
    NotComparable,
}

/// Two files compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the base file.
    pub base: String,
    /// Name of the new file.
    pub new: String,
    /// True where at least one side comes from the simulator.
    pub simulated: bool,
    /// The first glance, one sentence.
    pub headline: String,
    /// The gravest verdict of any primary metric: regressed before improved before undecided before same.
    pub verdict: Verdict,
    /// The smallest change that matters, percent, for rates and times.
    pub delta_percent: f64,
    /// The same for energy, percent.
    pub delta_energy_percent: f64,
    /// Every cell of either side; the base's order, then what only the new file has.
    pub cells: Vec<CellComparison>,
    /// What else differs between the two.
    pub residue: Vec<Difference>,
    /// Why the comparison as a whole is weaker than it looks.
    pub warnings: Vec<String>,
}

/// One cell on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellComparison {
    /// What the requests share.
    pub cell: CellKey,
    /// One entry per metric that either side has, in the catalogue's order.
    pub metrics: Vec<MetricComparison>,
}

/// One metric of one cell on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricComparison {
    /// Which.
    pub metric: Metric,
    /// Unit of the sides' numbers.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The base; null where it has no value.
    pub base: Option<Side>,
    /// The new file; null where it has no value.
    pub new: Option<Side>,
    /// Change of the geometric mean, percent of the base; null where a side is missing.
    pub change_percent: Option<f64>,
    /// 95 % interval of the change, percent; null where it cannot be reckoned.
    pub interval_percent: Option<[f64; 2]>,
    /// Two-sided p of no change; null where it cannot be reckoned.
    pub p: Option<f64>,
    /// The same, adjusted for the number of verdicts (Benjamini–Hochberg).
    pub p_adjusted: Option<f64>,
    /// Half-width of the interval, percent: a smaller change would not have been seen.
    pub resolves_percent: Option<f64>,
    /// The verdict; null for metrics that are shown without one.
    pub verdict: Option<Verdict>,
    /// Why the number is weaker than it looks, a sentence each.
    pub warnings: Vec<String>,
}

/// The numbers of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Number of values.
    pub n: u64,
    /// Sessions they come from.
    pub sessions: u64,
    /// Median.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Geometric mean; null where a value is not positive.
    pub geomean: Option<f64>,
}

/// A fact that differs between the two files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Stable key of the fact.
    pub key: String,
    /// Words for people.
    pub name: String,
    /// The base's value; null where it does not tell.
    pub base: Option<String>,
    /// The new file's value; null where it does not tell.
    pub new: Option<String>,
}
