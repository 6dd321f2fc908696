//! Two sides, of one file or several each: which cells changed, by how much, how sure, and what else differed.
//!
//! The types are also the JSON of `exoscope compare --format json` and what the viewer's worker hands to the page.

//!
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
//! * `headline` the first glance in words.
//! * [`calibration`] how much runs of the same thing differ.
//! * [`legacy`] what other tools would have said.
//! * [`planning`] what a design will resolve before it is run.
//! * [`history`] an archive of files over time.
//! * `segments` where a series changes its level.
//! * [`numbers`] the method on bare numbers, without a file.

mod drift;
mod gate;
mod headline;
mod logs;
mod method;
mod pairs;
mod residue;
mod segments;
mod shift;
mod sides;
mod variance;
mod verdict;

pub mod calibration;
pub mod history;
pub mod legacy;
pub mod numbers;
pub mod permutation;
pub mod planning;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::frame::FrameError;
use crate::import::Loaded;
use crate::metric::{Better, Metric};
use crate::record::Provenance;
use crate::statistics::difference;
use crate::summary::CellKey;
use crate::units;
use calibration::Calibration;
use legacy::LegacyView;
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
    /// Two-sided p of no change, adjusted for nothing; null where it cannot be reckoned.
    pub p: Option<f64>,
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

    /// The standard deviation between sessions that is taken where nobody measured it, of logarithms.
    fn floor(&self, metric: Metric) -> f64 {
        self.floor_percent.map_or_else(|| variance::floor(metric), difference::log_difference)
    }

    fn shows(&self, metric: Metric) -> bool {
        self.metrics.is_empty() || self.metrics.contains(&metric)
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
    compare_sides(std::slice::from_ref(base), std::slice::from_ref(new), options)
}

/// Compares two sides of several files each, cell by cell. Each session of each file is a session of its side, so that how
/// much sessions differ is measured where both sides have two or more. The order of a side's files does not matter.
///
/// # Errors
/// As [`compare`]; [`CompareError::Nothing`] for a side without a file, [`CompareError::Twice`] for a side with the same
/// file twice.
pub fn compare_sides(base: &[Loaded], new: &[Loaded], options: &Options) -> Result<Comparison, CompareError> {
    options.check()?;
    if base.is_empty() || new.is_empty() {
        return Err(CompareError::Nothing);
    }
    refuse_twins(base)?;
    refuse_twins(new)?;
    let objection = definitions_differ(base, new)
        .or_else(|| base.iter().find_map(|base| new.iter().find_map(|new| gate::classes_differ(base, new))));
    let (of_base, of_new) = (sides::measure(base)?, sides::measure(new)?);
    let (cells, geomean) = pairs::cells(&of_base, &of_new, options, objection.as_deref())?;
    let judged = cells.iter().flat_map(|cell| &cell.metrics).filter_map(|metric| metric.verdict);
    let verdict = verdict::gravest(judged.chain(geomean.iter().filter_map(|row| row.verdict)));
    let residue = residue::residue(base, new);
    let mut warnings: Vec<String> = objection.into_iter().collect();
    warnings.extend(whole_warnings(base, new, &cells));
    warnings.extend(side_warnings(base, new, &residue));
    warnings.extend(options.calibration.as_ref().and_then(|calibration| other_thing(calibration, &cells)));
    Ok(Comparison {
        base: names(base),
        new: names(new),
        simulated: base.iter().chain(new).any(simulated),
        headline: headline::headline(&cells, options),
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

/// The JSON Schema of a comparison, generated from these types.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Comparison).to_value()
}

fn names(files: &[Loaded]) -> String {
    files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(" + ")
}

fn refuse_twins(files: &[Loaded]) -> Result<(), CompareError> {
    for (place, file) in files.iter().enumerate() {
        if let Some(twin) =
            files[..place].iter().find(|other| !file.file.runs.is_empty() && other.file.runs == file.file.runs)
        {
            return Err(CompareError::Twice { first: twin.name.clone(), second: file.name.clone() });
        }
    }
    Ok(())
}

/// That a calibration is of other models than what is compared.
fn other_thing(calibration: &Calibration, cells: &[CellComparison]) -> Option<String> {
    let known = |cell: &CellComparison| {
        cell.cell.model_id.as_ref().is_none_or(|model| calibration.models.contains(model))
            && calibration.placements.contains(&cell.cell.placement())
    };
    let strange = cells.iter().filter(|cell| !known(cell)).count() as u64;
    (strange > 0).then(|| {
        format!(
            "the calibration is of {} on {}: for {} the deviation between sessions may be another",
            calibration.models.join(", "),
            calibration.placements.join(", "),
            units::count(strange, "cell")
        )
    })
}

/// What is pooled and is not one thing, and what cannot be told apart.
fn side_warnings(base: &[Loaded], new: &[Loaded], residue: &[Difference]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (side, files) in [("base", base), ("new side", new)] {
        let hidden = residue::hidden(files);
        if !hidden.is_empty() {
            warnings.push(format!("the files of the {side} differ among themselves in: {}", hidden.join(", ")));
        }
    }
    let causes = residue::causes(residue);
    if causes.len() > 1 {
        warnings
            .push(format!("several causes differ at once ({}): a change is of none of them alone", causes.join(", ")));
    }
    warnings
}

fn simulated(loaded: &Loaded) -> bool {
    loaded.file.exoscope.as_ref().is_some_and(|provenance| provenance.simulated)
}

/// Numbers of different definitions are not the same quantity. A file of exo itself is exo's methodology, definitions 1.
fn definitions_differ(base: &[Loaded], new: &[Loaded]) -> Option<String> {
    let of = |loaded: &Loaded| {
        let method = loaded.file.exoscope.as_ref().map(|provenance: &Provenance| &provenance.method);
        method.map_or_else(|| ("exo_bench".to_owned(), 1), |method| (method.name.clone(), method.definition_version))
    };
    let mut all: Vec<(String, u32)> = Vec::new();
    for definitions in base.iter().chain(new).map(of) {
        if !all.contains(&definitions) {
            all.push(definitions);
        }
    }
    (all.len() > 1).then(|| {
        let words: Vec<String> = all.iter().map(|(name, version)| format!("{name} {version}")).collect();
        format!("the files define their numbers differently ({}): nothing in them is comparable", words.join(" and "))
    })
}

fn whole_warnings(base: &[Loaded], new: &[Loaded], cells: &[CellComparison]) -> Vec<String> {
    let mut warnings = Vec::new();
    let all = |files: &[Loaded]| files.iter().all(simulated);
    let any = |files: &[Loaded]| files.iter().any(simulated);
    if any(base) != any(new) {
        let side = if any(base) { "base" } else { "new side" };
        warnings.push(format!("the {side} comes from the simulator and the other does not"));
    } else if any(base) && !(all(base) && all(new)) {
        warnings.push("some files come from the simulator and some do not".to_owned());
    }
    for (side, files) in [("base", base), ("new side", new)] {
        let failures = files.iter().flat_map(|loaded| &loaded.file.failures);
        let failed = failures.filter(|failure| !failure.warmup).count() as u64;
        if failed > 0 {
            let requests = units::count(failed, "measured request");
            warnings.push(format!("{requests} of the {side} failed and are in no number here"));
        }
        let cut =
            |loaded: &&Loaded| loaded.file.exoscope.as_ref().is_some_and(|provenance| provenance.incomplete.is_some());
        if files.iter().any(|loaded| cut(&loaded)) {
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
    for (count, side) in [(one_sided(true), "base"), (one_sided(false), "new side")] {
        if count > 0 {
            warnings.push(format!(
                "{} only in the {side}",
                if count == 1 { "1 cell is".into() } else { format!("{count} cells are") }
            ));
        }
    }
    warnings
}
