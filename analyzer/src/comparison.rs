//! Two sides, of one file or several each: which cells changed, by how much, how sure, and what else differed.
//!
//! The types are also the JSON of `exoscope compare --format json` and what the viewer's worker hands to the page.

//!
//! * [`measured`] what is taken from a file, without its rows.
//! * `sides` several files → one side, each session of each file a session of the side.
//! * `pairs` cells and metrics side by side → effects and verdicts, row by row.
//! * `gate` what must not be set side by side.
//! * `logs` a side of a cell on the log scale.
//! * `method` the method on logarithms alone: effects, their geometric mean, and the words.
//! * `variance` how much a metric varies within a session and between sessions.
//! * `drift` values that move one way within a session.
//! * `shift` Hodges & Lehmann's shift of large sides.
//! * [`permutation`] a cross-check that assumes no distribution.
//! * `verdict` from an effect to a word.
//! * `residue` what else differs.
//! * `warnings` why a comparison as a whole is weaker than it looks.
//! * `headline` the first glance in words.
//! * [`calibration`] how much runs of the same thing differ.
//! * [`legacy`] what other tools would have said.
//! * [`planning`] what a design will resolve before it is run.
//! * [`history`] an archive of files over time.
//! * [`numbers`] the method on bare numbers, without a file.

mod drift;
mod gate;
mod headline;
mod logs;
mod matching;
mod method;
mod pairs;
mod residue;
mod shift;
mod sides;
mod variance;
mod verdict;
mod warnings;

pub mod calibration;
pub mod history;
pub mod legacy;
pub mod measured;
pub mod numbers;
pub mod permutation;
pub mod planning;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::frame::FrameError;
use crate::import::Loaded;
use crate::metric::{Better, Metric};
use crate::summary::CellKey;
use calibration::Calibration;
use legacy::LegacyView;
use measured::{MeasuredCell, MeasuredFile};
use permutation::Permutation;

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

/// Two sides compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the base file; of several files, all of them.
    pub base: String,
    /// Name of the new file; of several files, all of them.
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
    /// Each metric over all cells that both sides have: the change of the geometric mean, paired by cell.
    pub geomean: Vec<GeomeanComparison>,
    /// What else differs between the two.
    pub residue: Vec<Difference>,
    /// What other tools would have said of the same numbers; empty unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub legacy: Vec<LegacyView>,
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
    /// An exact permutation test beside the interval; null where a side has fewer than five values, or many.
    #[serde(default)]
    pub permutation: Option<Permutation>,
    /// The verdict; null for metrics that are shown without one.
    pub verdict: Option<Verdict>,
    /// The verdict in words: "improved", "regressed", "same within ±3 %", "no difference found (this pair resolves ≥
    /// 4.2 %)", "not comparable (only the base has it)"; "not judged" for metrics without one.
    #[serde(default)]
    pub words: String,
    /// Why the number is weaker than it looks, a sentence each.
    pub warnings: Vec<String>,
}

/// One metric over all cells that both sides have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeomeanComparison {
    /// Which.
    pub metric: Metric,
    /// Unit of the cells' numbers.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Cells that both sides have and that may be compared.
    pub cells: u64,
    /// Change of the geometric mean over the cells, percent of the base.
    pub change_percent: Option<f64>,
    /// 95 % interval of the change, percent; null where it cannot be reckoned.
    pub interval_percent: Option<[f64; 2]>,
    /// Two-sided p of no change; null where it cannot be reckoned.
    pub p: Option<f64>,
    /// The same, adjusted for all rows of the geometric mean that are judged; of one cell it is that cell's. Null for metrics
    /// that are not judged.
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// Half-width of the interval, percent.
    pub resolves_percent: Option<f64>,
    /// The verdict; null for metrics that are shown without one.
    pub verdict: Option<Verdict>,
    /// The verdict in words, as of a cell.
    pub words: String,
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

/// What counts as a change, and what is known of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The smallest change of rates and times that matters, percent, above 0. Default 3.
    pub delta_percent: f64,
    /// The same for energy. Default 5: power is read once a second.
    pub delta_energy_percent: f64,
    /// The deviation between sessions that is declared for every metric, percent, 0 to 100; absent: a floor per metric is
    /// assumed. Used where a side has one session and no calibration knows the metric.
    pub floor_percent: Option<f64>,
    /// What runs of the same thing said about it. Used where a side has one session.
    pub calibration: Option<Calibration>,
    /// The metrics to compare; empty: all.
    pub metrics: Vec<Metric>,
    /// Whether to add what other tools would have said.
    pub legacy: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            delta_percent: 3.0,
            delta_energy_percent: 5.0,
            floor_percent: None,
            calibration: None,
            metrics: Vec::new(),
            legacy: false,
        }
    }
}

impl Options {
    /// The smallest change of a metric that matters, percent.
    #[must_use]
    pub const fn delta(&self, metric: Metric) -> f64 {
        if metric.is_energy() { self.delta_energy_percent } else { self.delta_percent }
    }

    fn shows(&self, metric: Metric) -> bool {
        self.metrics.is_empty() || self.metrics.contains(&metric)
    }

    /// Whether a metric's values are needed: to be shown, or for what other tools would have said.
    #[must_use]
    pub fn reads(&self, metric: Metric) -> bool {
        self.shows(metric) || (self.legacy && legacy::METRICS.contains(&metric))
    }

    fn check(&self) -> Result<(), CompareError> {
        for delta in [self.delta_percent, self.delta_energy_percent] {
            if !(delta > 0.0 && delta <= 1000.0) {
                return Err(CompareError::Delta(delta));
            }
        }
        match self.floor_percent {
            Some(floor) if !(0.0..=100.0).contains(&floor) => Err(CompareError::Floor(floor)),
            _ => Ok(()),
        }
    }
}

/// Why two files were not compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A delta that is no size.
    #[error("the smallest change that matters is {0} %; it must be above 0 and at most 1000")]
    Delta(f64),
    /// A floor that is no size.
    #[error("the deviation between sessions is declared as {0} %; it must be from 0 to 100")]
    Floor(f64),
    /// No file on a side.
    #[error("there is no file on a side; name at least one base and one new file")]
    Nothing,
    /// The same content twice on one side, which would look like a session that repeats the other to the last digit.
    #[error("{first} and {second} hold the same measurement; name it once, or sessions would seem never to differ")]
    Twice {
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
    /// The same content on both sides, which can only come out as no change.
    #[error("{} and would be compared with itself; name two that were measured apart", on_both(base, new))]
    BothSides {
        /// The base's file.
        base: String,
        /// The new side's.
        new: String,
    },
    /// A calibration without two sessions of one cell.
    #[error(
        "no cell was measured in two sessions; name several files of the same thing, or one of `exoscope bench --sessions`"
    )]
    OneSession,
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
    compare_sides(&[MeasuredFile::of(base)?], &[MeasuredFile::of(new)?], options)
}

/// Compares two sides of several files each, cell by cell. Each session of each file is a session of its side, so that how
/// much sessions differ is measured where both sides have two or more. The order of a side's files does not matter.
///
/// # Errors
/// As [`compare`]; [`CompareError::Nothing`] for a side without a file, [`CompareError::Twice`] for a side with the same
/// file twice.
pub fn compare_sides(
    base: &[MeasuredFile],
    new: &[MeasuredFile],
    options: &Options,
) -> Result<Comparison, CompareError> {
    compare_measured(&base.iter().collect::<Vec<_>>(), &new.iter().collect::<Vec<_>>(), options)
}

fn compare_measured(
    base: &[&MeasuredFile],
    new: &[&MeasuredFile],
    options: &Options,
) -> Result<Comparison, CompareError> {
    options.check()?;
    if base.is_empty() || new.is_empty() {
        return Err(CompareError::Nothing);
    }
    refuse_twins(base)?;
    refuse_twins(new)?;
    let objection = gate::definitions_differ(base, new)
        .or_else(|| base.iter().find_map(|base| new.iter().find_map(|new| gate::classes_differ(base, new))));
    let cells_of = |files: &[&MeasuredFile]| {
        let all: Vec<&[MeasuredCell]> = files.iter().map(|file| file.cells.as_slice()).collect();
        sides::put_together(all, |metric| options.reads(metric))
    };
    let (of_base, of_new) = (cells_of(base), cells_of(new));
    let (cells, geomean) = pairs::cells(&of_base, &of_new, options, objection.as_deref())?;
    let judged = cells.iter().flat_map(|cell| &cell.metrics).filter_map(|metric| metric.verdict);
    let verdict = verdict::gravest(judged.chain(geomean.iter().filter_map(|row| row.verdict)));
    let residue = residue::residue(base, new);
    let mut warnings: Vec<String> = objection.iter().cloned().collect();
    warnings.extend(on_both_sides(base, new).map(|same| same.to_string()));
    warnings.extend(warnings::of_the_whole(base, new, &cells));
    warnings.extend(warnings::of_the_sides(base, new, &residue));
    warnings.extend(options.calibration.as_ref().and_then(|known| warnings::of_the_calibration(known, &cells)));
    Ok(Comparison {
        base: names(base),
        new: names(new),
        simulated: base.iter().chain(new).any(|file| file.simulated),
        headline: headline::headline(&cells, &geomean, options, objection.as_deref()),
        verdict,
        delta_percent: options.delta_percent,
        delta_energy_percent: options.delta_energy_percent,
        cells,
        geomean,
        residue,
        legacy: if options.legacy { legacy::views(&of_base, &of_new) } else { Vec::new() },
        warnings,
    })
}

/// Looks for a measurement that is on both sides. Comparing it with itself is a use of [`compare_sides`], which warns of it: how
/// much a method makes of nothing is tried that way. Who asks what changed has named the wrong file.
///
/// # Errors
/// [`CompareError::BothSides`] names the first such pair.
pub fn check_apart(base: &[MeasuredFile], new: &[MeasuredFile]) -> Result<(), CompareError> {
    on_both_sides(&base.iter().collect::<Vec<_>>(), &new.iter().collect::<Vec<_>>()).map_or(Ok(()), Err)
}

fn on_both_sides(base: &[&MeasuredFile], new: &[&MeasuredFile]) -> Option<CompareError> {
    let twin = |file: &MeasuredFile| base.iter().find(|other| file.is_twin_of(other)).map(|twin| twin.name.clone());
    new.iter().find_map(|file| Some(CompareError::BothSides { base: twin(file)?, new: file.name.clone() }))
}

/// The JSON Schema of a comparison, generated from these types.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Comparison).to_value()
}

fn names(files: &[&MeasuredFile]) -> String {
    files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(" + ")
}

fn on_both(base: &str, new: &str) -> String {
    match base == new {
        true => format!("{base} is on both sides"),
        false => format!("{new} holds the same measurement as {base} on the other side"),
    }
}

fn refuse_twins(files: &[&MeasuredFile]) -> Result<(), CompareError> {
    for (place, file) in files.iter().enumerate() {
        if let Some(twin) = files[..place].iter().find(|other| file.is_twin_of(other)) {
            return Err(CompareError::Twice { first: twin.name.clone(), second: file.name.clone() });
        }
    }
    Ok(())
}
