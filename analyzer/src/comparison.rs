//! Two files side by side: which cells changed, by how much, how sure, and what else differed.
//!
//! The types are also the JSON of `exoscope compare --format json` and what the viewer's worker hands to the page.

//!
//! * `pairs` cells and metrics side by side → effects and verdicts; the method, step by step.
//! * `gate` what must not be set side by side.
//! * `variance` how much a metric varies within a session and between sessions.
//! * `verdict` from an effect to a word.
//! * `residue` what else differs.
//! * `headline` the first glance in words.

mod gate;
mod headline;
mod pairs;
mod residue;
mod variance;
mod verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::frame::FrameError;
use crate::import::Loaded;
use crate::metric::{Better, Metric};
use crate::record::Provenance;
use crate::summary::{self, CellKey};
use crate::units;

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
    /// The same, adjusted for the number of verdicts (Benjamini–Hochberg); null for metrics without one.
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
    /// Number of independent values, on which the interval stands: requests at concurrency 1, batches above.
    pub n: u64,
    /// Sessions they come from.
    pub sessions: u64,
    /// Median over the requests (over the batches for metrics of a batch).
    pub median: f64,
    /// Arithmetic mean over the same.
    pub mean: f64,
    /// Geometric mean of the batches' geometric means, session by session; null where a value is not positive.
    pub geomean: Option<f64>,
}

impl Side {
    /// The value that tables show beside the change: the geometric mean, which the change is reckoned from, so that a reader
    /// can reckon it again; the arithmetic mean where a value is not positive.
    #[must_use]
    pub fn shown(&self) -> f64 {
        self.geomean.unwrap_or(self.mean)
    }
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

/// What counts as a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The smallest change of rates and times that matters, percent, above 0. Default 3.
    pub delta_percent: f64,
    /// The same for energy. Default 5: power is read once a second.
    pub delta_energy_percent: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { delta_percent: 3.0, delta_energy_percent: 5.0 }
    }
}

impl Options {
    /// The smallest change of a metric that matters, percent.
    const fn delta(&self, metric: Metric) -> f64 {
        if metric.is_energy() { self.delta_energy_percent } else { self.delta_percent }
    }
}

/// Why two files were not compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A delta that is no size.
    #[error("the smallest change that matters is {0} %; it must be above 0 and at most 1000")]
    Delta(f64),
    /// A fault of this program.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Compares two files, cell by cell.
///
/// Swapping the files turns each verdict round and changes nothing else.
///
/// # Errors
/// [`CompareError::Delta`] for options that mean nothing; [`CompareError::Frame`] is a fault of this program.
pub fn compare(base: &Loaded, new: &Loaded, options: &Options) -> Result<Comparison, CompareError> {
    for delta in [options.delta_percent, options.delta_energy_percent] {
        if !(delta > 0.0 && delta <= 1000.0) {
            return Err(CompareError::Delta(delta));
        }
    }
    let objection = definitions_differ(base, new).or_else(|| gate::classes_differ(base, new));
    let cells = pairs::cells(&summary::measure(base)?, &summary::measure(new)?, options, objection.as_deref())?;
    let verdict = verdict::gravest(cells.iter().flat_map(|cell| &cell.metrics).filter_map(|metric| metric.verdict));
    let mut warnings: Vec<String> = objection.into_iter().collect();
    warnings.extend(whole_warnings(base, new, &cells));
    Ok(Comparison {
        base: base.name.clone(),
        new: new.name.clone(),
        simulated: simulated(base) || simulated(new),
        headline: headline::headline(&cells, options),
        verdict,
        delta_percent: options.delta_percent,
        delta_energy_percent: options.delta_energy_percent,
        cells,
        residue: residue::residue(base, new),
        warnings,
    })
}

fn simulated(loaded: &Loaded) -> bool {
    loaded.file.exoscope.as_ref().is_some_and(|provenance| provenance.simulated)
}

/// Numbers of different definitions are not the same quantity. A file of exo itself is exo's methodology, definitions 1.
fn definitions_differ(base: &Loaded, new: &Loaded) -> Option<String> {
    let of = |loaded: &Loaded| {
        let method = loaded.file.exoscope.as_ref().map(|provenance: &Provenance| &provenance.method);
        method.map_or_else(|| ("exo_bench".to_owned(), 1), |method| (method.name.clone(), method.definition_version))
    };
    let (base, new) = (of(base), of(new));
    (base != new).then(|| {
        format!(
            "the files define their numbers differently ({} {} and {} {}): nothing in them is comparable",
            base.0, base.1, new.0, new.1
        )
    })
}

fn whole_warnings(base: &Loaded, new: &Loaded, cells: &[CellComparison]) -> Vec<String> {
    let mut warnings = Vec::new();
    if simulated(base) != simulated(new) {
        let side = if simulated(base) { "base" } else { "new file" };
        warnings.push(format!("the {side} comes from the simulator and the other does not"));
    }
    for (side, loaded) in [("base", base), ("new file", new)] {
        let failed = loaded.file.failures.iter().filter(|failure| !failure.warmup).count() as u64;
        if failed > 0 {
            let requests = units::count(failed, "measured request");
            warnings.push(format!("{requests} of the {side} failed and are in no number here"));
        }
        if loaded.file.exoscope.as_ref().is_some_and(|provenance| provenance.incomplete.is_some()) {
            warnings.push(format!("the run of the {side} did not reach its end"));
        }
    }
    let one_sided = |base: bool| {
        cells
            .iter()
            .filter(|cell| {
                cell.metrics.iter().all(|metric| if base { metric.new.is_none() } else { metric.base.is_none() })
            })
            .count()
    };
    for (count, side) in [(one_sided(true), "base"), (one_sided(false), "new file")] {
        if count > 0 {
            warnings.push(format!(
                "{} only in the {side}",
                if count == 1 { "1 cell is".into() } else { format!("{count} cells are") }
            ));
        }
    }
    warnings
}
