//! What runs of the same thing say about how much runs of the same thing differ (A/A), to be used where a side has one
//! session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::logs::Logs;
use super::measured::{MeasuredCell, MeasuredFile};
use super::variance::Means;
use super::{CompareError, Options, Verdict, pairs, sides};
use crate::metric::Metric;
use crate::statistics::difference::Variance;
use crate::units;

/// The version of the format of a calibration file that this build writes and reads.
pub const CALIBRATION_VERSION: u32 = 1;

/// Fewer sessions than this say little about how much sessions differ.
pub const SESSIONS_WANTED: usize = 5;

/// A calibration file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// [`CALIBRATION_VERSION`] when written by this build.
    pub calibration_version: u32,
    /// Version of the program that wrote it.
    pub tool_version: String,
    /// Names of the files it was made of.
    pub files: Vec<String>,
    /// Sessions of the cell with the most.
    pub sessions: u64,
    /// Models that were measured.
    pub models: Vec<String>,
    /// Placements that were measured, in words.
    pub placements: Vec<String>,
    /// True where a file comes from the simulator.
    pub simulated: bool,
    /// One entry per metric that has a cell with two sessions or more.
    pub metrics: Vec<CalibratedMetric>,
    /// What the comparison would have called a change among sessions of the same thing.
    pub false_alarms: FalseAlarms,
    /// Why the calibration is weaker than it looks.
    pub warnings: Vec<String>,
}

/// How much one metric varies. Deviations are of natural logarithms, times 100: percent while they are small.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibratedMetric {
    /// Which.
    pub metric: Metric,
    /// Cells with two sessions or more.
    pub cells: u64,
    /// Values of the cell with the fewest.
    pub fewest_values: u64,
    /// Standard deviation within a session, pooled over cells; null where no session repeats, and then the one between
    /// sessions contains it.
    pub within_percent: Option<f64>,
    /// Its degrees of freedom.
    pub within_freedom: Option<f64>,
    /// Standard deviation that sessions add; 0 where their means vary no more than repeats explain.
    pub between_percent: f64,
    /// Its degrees of freedom (Satterthwaite); null for a deviation of 0.
    pub between_freedom: Option<f64>,
}

/// The comparison tried on every pair of sessions of the same thing: each verdict of a change is a false one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FalseAlarms {
    /// Pairs of sessions that were compared.
    pub pairs: u64,
    /// Verdicts on them.
    pub verdicts: u64,
    /// Verdicts of a change with this calibration: an improvement or a regression that is none.
    pub with_calibration: u64,
    /// The same with the floors that are assumed without one.
    pub with_floor: u64,
    /// The same with repeats alone, as if sessions did not differ.
    pub with_repeats_alone: u64,
    /// True where each pair was judged by a calibration of all other sessions; false where there were too few, so that the
    /// sessions judge themselves.
    pub left_out: bool,
}

/// A pair is judged by the other sessions where they are at least this many.
const OTHERS: usize = 3;

/// Pairs grow with the square: 190 of the first 20 sessions.
const TRIED: usize = 20;

impl Calibration {
    /// A calibration of metrics alone, of no file: for simulations.
    #[must_use]
    pub fn of_metrics(metrics: Vec<CalibratedMetric>) -> Self {
        Self {
            calibration_version: CALIBRATION_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            files: Vec::new(),
            sessions: 0,
            models: Vec::new(),
            placements: Vec::new(),
            simulated: false,
            metrics,
            false_alarms: FalseAlarms::default(),
            warnings: Vec::new(),
        }
    }

    /// The variance within a session. 0 where sessions had one value each: then the one between contains it.
    pub(super) fn within(&self, metric: Metric) -> Option<Variance> {
        let found = self.metrics.iter().find(|found| found.metric == metric)?;
        Some(match (found.within_percent, found.within_freedom) {
            (Some(percent), Some(freedom)) => variance(percent, freedom),
            _ => Variance { value: 0.0, freedom: f64::INFINITY },
        })
    }

    /// The variance that sessions add.
    pub(super) fn between(&self, metric: Metric) -> Option<Variance> {
        let found = self.metrics.iter().find(|found| found.metric == metric)?;
        Some(variance(found.between_percent, found.between_freedom.unwrap_or(f64::INFINITY)))
    }

    /// Why a file is no calibration that this build can use; None where it is one.
    #[must_use]
    pub fn objection(&self) -> Option<String> {
        if self.calibration_version != CALIBRATION_VERSION {
            return Some(format!(
                "calibration format {} is not the one that this build reads ({CALIBRATION_VERSION}); run `exoscope \
                 calibrate` again",
                self.calibration_version
            ));
        }
        let sound = |percent: f64| (0.0..=1000.0).contains(&percent);
        let wrong = self.metrics.iter().find(|found| {
            !sound(found.between_percent)
                || found.within_percent.is_some_and(|percent| !sound(percent))
                || [found.within_freedom, found.between_freedom].into_iter().flatten().any(|freedom| freedom <= 0.0)
        });
        wrong.map(|found| {
            format!("the deviations of {} are no sizes; run `exoscope calibrate` again", found.metric.definition().name)
        })
    }
}

/// The JSON Schema of a calibration file, generated from these types.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Calibration).to_value()
}

fn variance(percent: f64, freedom: f64) -> Variance {
    Variance { value: percent * percent / 1e4, freedom }
}

/// Learns from files of the same thing.
///
/// # Errors
/// [`CompareError::OneSession`] where no cell has two sessions; [`CompareError::Twice`] for a file given twice.
pub fn calibrate(files: &[MeasuredFile]) -> Result<Calibration, CompareError> {
    super::refuse_twins(&files.iter().collect::<Vec<_>>())?;
    let ranked: Vec<Vec<MeasuredCell>> = files.iter().map(|file| ranked(&file.cells)).collect();
    let cells = sides::put_together(ranked.iter().map(Vec::as_slice), |_| true);
    let sessions = sides::take_apart(&cells);
    let metrics = estimates(&cells);
    if metrics.is_empty() {
        return Err(CompareError::OneSession);
    }
    let distinct =
        |words: Vec<String>| words.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let mut warnings: Vec<String> = unlike_models(files).into_iter().collect();
    let counts = || cells.iter().map(|cell| cell.sessions.len());
    let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    if fewest < SESSIONS_WANTED {
        let words = if fewest == most {
            units::count(fewest as u64, "session")
        } else {
            format!("{} of the cell with the fewest", units::count(fewest as u64, "session"))
        };
        let say = if fewest == 1 { "says" } else { "say" };
        warnings.push(format!(
            "{words} {say} little about how much sessions differ; {SESSIONS_WANTED} or more of each cell are wanted"
        ));
    }
    let partly = counts().filter(|count| *count < most).count() as u64;
    if partly > 0 {
        warnings.push(format!("{} not in every session", units::count(partly, "cell")));
    }
    let mut calibration = Calibration {
        files: files.iter().map(|file| file.name.clone()).collect(),
        sessions: most as u64,
        models: distinct(cells.iter().filter_map(|cell| cell.key.model_id.clone()).collect()),
        placements: distinct(cells.iter().map(|cell| cell.key.placement()).collect()),
        simulated: files.iter().any(|file| file.simulated),
        warnings,
        ..Calibration::of_metrics(metrics)
    };
    calibration.false_alarms = try_out(&calibration, &sessions)?;
    Ok(calibration)
}

/// The cells of a file with the sessions of each numbered from 0. exo replaces the instance between placements, too, so that
/// every placement looks like a session of its own: what counts is how often a cell was measured anew.
fn ranked(cells: &[MeasuredCell]) -> Vec<MeasuredCell> {
    let mut cells = cells.to_vec();
    for cell in &mut cells {
        let mut numbers: Vec<u32> = cell.sessions.iter().map(|session| session.number).collect();
        numbers.sort_unstable();
        let rank = |number: u32| numbers.iter().zip(0..).find(|(known, _)| **known == number).map_or(number, |of| of.1);
        for session in &mut cell.sessions {
            session.number = rank(session.number);
        }
        for batch in cell.samples.iter_mut().flat_map(|sample| &mut sample.batches) {
            batch.session = rank(batch.session);
        }
    }
    cells
}

/// Why files cannot be of the same thing; None where they can.
#[must_use]
pub fn unlike(files: &[MeasuredFile]) -> Option<String> {
    let first = files.first()?;
    let other = files.iter().find(|other| other.class != first.class)?;
    Some(format!(
        "not the same thing: {} holds {}, {} holds {}; calibrate each kind by itself",
        first.name,
        first.class.words(),
        other.name,
        other.class.words()
    ))
}

/// That files are of different models.
fn unlike_models(files: &[MeasuredFile]) -> Option<String> {
    let models = |file: &MeasuredFile| -> std::collections::BTreeSet<String> {
        file.cells.iter().filter_map(|cell| cell.key.model_id.clone()).collect()
    };
    let named = |models: std::collections::BTreeSet<String>| models.into_iter().collect::<Vec<_>>().join(", ");
    let first = files.first()?;
    let other = files.iter().find(|other| models(other).is_disjoint(&models(first)) && !models(other).is_empty())?;
    Some(format!(
        "not the same thing: {} is of {}, {} of {}; files of one model say more about it",
        first.name,
        named(models(first)),
        other.name,
        named(models(other))
    ))
}

fn estimates(cells: &[MeasuredCell]) -> Vec<CalibratedMetric> {
    Metric::ALL.into_iter().filter_map(|metric| estimate(metric, cells)).collect()
}

/// By the method of moments: the variance of session means less what repeats explain of it.
fn estimate(metric: Metric, cells: &[MeasuredCell]) -> Option<CalibratedMetric> {
    let logs: Vec<Logs> =
        sides::samples(cells, metric).into_iter().filter_map(|(_, sample)| Logs::of(sample)).collect();
    of_logs(metric, &logs)
}

/// The estimate from logarithms; None where no cell has two sessions.
pub(super) fn of_logs(metric: Metric, logs: &[Logs]) -> Option<CalibratedMetric> {
    let several: Vec<&Logs> = logs.iter().filter(|logs| logs.sessions() >= 2).collect();
    let means = Means::of([&several]).variance()?;
    let (squares, freedom) = logs.iter().map(Logs::within).fold((0.0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    let within = (freedom > 0).then(|| Variance { value: squares / freedom as f64, freedom: freedom as f64 });
    // The mean of a session of n values varies by 1 / n of the variance within: the mean of it over all sessions.
    let share = several.iter().map(|logs| logs.inverse_of_values() * logs.sessions() as f64).sum::<f64>()
        / several.len() as f64;
    let explained = within.map(|within| Variance { value: within.value * share, freedom: within.freedom });
    let between = (means.value - explained.map_or(0.0, |explained| explained.value)).max(0.0);
    let uncertainty = means.value * means.value / means.freedom
        + explained.map_or(0.0, |explained| explained.value * explained.value / explained.freedom);
    Some(CalibratedMetric {
        metric,
        cells: several.len() as u64,
        fewest_values: several.iter().map(|logs| logs.count()).min()? as u64,
        within_percent: within.map(|within| 100.0 * within.value.sqrt()),
        within_freedom: within.map(|within| within.freedom),
        between_percent: 100.0 * between.sqrt(),
        between_freedom: (between > 0.0).then(|| between * between / uncertainty),
    })
}

/// Compares all pairs of sessions and counts the changes that are none.
fn try_out(calibration: &Calibration, sessions: &[Vec<MeasuredCell>]) -> Result<FalseAlarms, CompareError> {
    let tried = &sessions[..sessions.len().min(TRIED)];
    let left_out = sessions.len() >= OTHERS + 2;
    let mut alarms = FalseAlarms { left_out, ..calibration.false_alarms.clone() };
    for first in 0..tried.len() {
        for second in first + 1..tried.len() {
            let of_others = left_out.then(|| {
                let others = sessions.iter().enumerate().filter(|(place, _)| ![first, second].contains(place));
                let cells = sides::put_together(others.map(|(_, cells)| cells.as_slice()), |_| true);
                Calibration { metrics: estimates(&cells), ..calibration.clone() }
            });
            let by = |options: Options| -> Result<[u64; 2], CompareError> {
                let (cells, _) = pairs::cells(&tried[first], &tried[second], &options, None)?;
                let judged = cells.iter().flat_map(|cell| &cell.metrics).filter_map(|row| row.verdict);
                Ok(judged.filter(|verdict| *verdict != Verdict::NotComparable).fold(
                    [0, 0],
                    |[all, changed], verdict| {
                        [all + 1, changed + u64::from(matches!(verdict, Verdict::Improved | Verdict::Regressed))]
                    },
                ))
            };
            let [verdicts, with_calibration] = by(Options {
                calibration: Some(of_others.unwrap_or_else(|| calibration.clone())),
                ..Options::default()
            })?;
            alarms.pairs += 1;
            alarms.verdicts += verdicts;
            alarms.with_calibration += with_calibration;
            alarms.with_floor += by(Options::default())?[1];
            alarms.with_repeats_alone += by(Options { floor_percent: Some(0.0), ..Options::default() })?[1];
        }
    }
    Ok(alarms)
}
