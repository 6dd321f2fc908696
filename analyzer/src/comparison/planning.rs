//! What a design will resolve before it is run: the smallest change that so many sessions of so many repeats will show.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calibration::{self, CalibratedMetric, Calibration};
use super::logs::Logs;
use super::measured::MeasuredCell;
use super::{CompareError, Options, sides, variance};
use crate::frame;
use crate::import::Loaded;
use crate::metric::Metric;
use crate::record::Pauses;
use crate::statistics::difference::{self, Variance};
use crate::statistics::{interval, power, quantile};
use crate::summary;
use crate::units;

/// What is to be run, on each side alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Design {
    /// Sessions per side, 1 or more.
    pub sessions: u32,
    /// Repeats of each cell per session, 1 or more.
    pub repeats: u32,
}

/// What is known of the noise; the first source that knows a metric speaks for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// A calibration.
    pub calibration: Option<&'a Calibration>,
    /// A file of the same cells: its repeats, and its sessions where it has two or more.
    pub file: Option<&'a Loaded>,
    /// A declared deviation between sessions, percent.
    pub floor_percent: Option<f64>,
    /// A declared deviation within a session, percent.
    pub noise_percent: Option<f64>,
    /// Seconds that one request takes, where no file tells.
    pub seconds_per_request: Option<f64>,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Sessions per side.
    pub sessions: u32,
    /// Repeats per session.
    pub repeats: u32,
    /// Cells that are run.
    pub cells: u64,
    /// How long one side takes, s: requests, warm-ups, idle baselines and pauses, without placing the model; null where
    /// nothing tells.
    pub seconds_per_side: Option<f64>,
    /// One entry per judged metric whose noise is known.
    pub metrics: Vec<PlannedMetric>,
    /// What the plan stands on, a sentence each.
    pub notices: Vec<String>,
}

/// What the design resolves of one metric. Deviations are of logarithms, in percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedMetric {
    /// Which.
    pub metric: Metric,
    /// Deviation within a session; null where no session has two requests of a cell, and then the one between sessions
    /// contains it.
    pub within_percent: Option<f64>,
    /// Deviation between sessions.
    pub between_percent: f64,
    /// Where the two come from.
    pub source: String,
    /// Half-width of the 95 % interval of a change, percent: what the pair resolves.
    pub resolves_percent: f64,
    /// The smallest true change that is called one four times in five, percent: it has to come out beyond the interval and
    /// beyond the smallest change that matters.
    pub detects_percent: f64,
}

/// A change is said to be detected when it is found four times in five.
const POWER: f64 = 0.8;

/// Noise of one metric.
struct Noise {
    /// None where it is not known: it is then a part of that between sessions.
    within: Option<f64>,
    between: Variance,
    source: String,
}

/// Plans a design.
///
/// # Errors
/// [`CompareError::Frame`] is a fault of this program.
pub fn plan(design: Design, known: Known<'_>, options: &Options) -> Result<Plan, CompareError> {
    options.check()?;
    let measured = known.file.map(summary::measure).transpose()?;
    let course = Course::of(known, measured.as_deref());
    let seconds_per_side = seconds(design, measured.as_deref(), known, &course);
    let cells: Option<Vec<MeasuredCell>> = measured.map(|cells| cells.into_iter().map(MeasuredCell::of).collect());
    let number = cells.as_ref().map_or(1, |cells| cells.len().max(1));
    let metrics: Vec<PlannedMetric> = Metric::ALL
        .into_iter()
        .filter(|metric| metric.definition().primary && options.shows(*metric))
        .filter_map(|metric| {
            let noise = noise(metric, cells.as_deref(), known)?;
            Some(planned(metric, design, number, &noise, options))
        })
        .collect();
    let mut notices = Vec::new();
    if metrics.is_empty() {
        notices.push(match known.file {
            Some(file) => format!(
                "the noise is not known: {} has no repeats of a judged metric; give a calibration, or --noise",
                file.name
            ),
            None => "the noise is not known: give a file, a calibration, or --noise".to_owned(),
        });
    }
    notices.extend(unknown_within(&metrics));
    if design.sessions == 1 {
        notices.push(
            "one session per side cannot show how much sessions differ: that part is taken from elsewhere".to_owned(),
        );
    }
    if seconds_per_side.is_some() {
        notices.push(course.words(known));
    }
    if cells.is_none() {
        notices.push("without a file, one cell is planned for".to_owned());
    }
    Ok(Plan {
        sessions: design.sessions,
        repeats: design.repeats,
        cells: number as u64,
        seconds_per_side,
        metrics,
        notices,
    })
}

fn noise(metric: Metric, cells: Option<&[MeasuredCell]>, known: Known<'_>) -> Option<Noise> {
    let percent = |percent: f64| Variance { value: percent * percent / 1e4, freedom: f64::INFINITY };
    let logs: Vec<Logs> = cells
        .map(|cells| sides::samples(cells, metric).into_iter().filter_map(|(_, sample)| Logs::of(sample)).collect())
        .unwrap_or_default();
    // What the file's cells do not have is not measured by running them again.
    if cells.is_some_and(|cells| !cells.is_empty()) && logs.is_empty() {
        return None;
    }
    let of_file = calibration::of_logs(metric, &logs);
    let of_calibration = known.calibration.and_then(|found| found.metrics.iter().find(|found| found.metric == metric));
    let repeats = || {
        let (squares, freedom) =
            logs.iter().map(Logs::within).fold((0.0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        (freedom > 0).then(|| squares / freedom as f64)
    };
    let whole = |found: &CalibratedMetric, source: &str| Noise {
        within: found.within_percent.map(|within| within * within / 1e4),
        between: Variance {
            value: found.between_percent * found.between_percent / 1e4,
            freedom: found.between_freedom.unwrap_or(f64::INFINITY),
        },
        source: source.to_owned(),
    };
    if let Some(found) = of_calibration {
        return Some(whole(found, "calibration"));
    }
    if let Some(found) = &of_file
        && known.floor_percent.is_none()
    {
        return Some(whole(found, "the file's sessions"));
    }
    let (within, of_within) = match (known.noise_percent, repeats()) {
        (Some(noise), _) => (noise * noise / 1e4, "declared noise"),
        (None, Some(variance)) => (variance, "the file's repeats"),
        (None, None) => return None,
    };
    let (between, of_between) = match known.floor_percent {
        Some(floor) => (percent(floor), "declared floor"),
        None => (percent(100.0 * variance::floor(metric)?), "assumed floor"),
    };
    Some(Noise { within: Some(within), between, source: format!("{of_within}, {of_between}") })
}

/// The interval that the comparison will give, with the noise as it is expected.
fn planned(metric: Metric, design: Design, cells: usize, noise: &Noise, options: &Options) -> PlannedMetric {
    let (sessions, repeats) = (f64::from(design.sessions), f64::from(design.repeats));
    // What is not known of a session is in the deviation between sessions, as one request shows it: how much repeats narrow
    // it cannot be told, so they are not counted for, and the plan errs to the safe side.
    let within = noise.within.unwrap_or(0.0);
    let part = 2.0 * within / (sessions * repeats);
    let squared_error = if design.sessions >= 2 {
        // As `variance::Means` will find it where a slow session is slow in all its cells: the worse of the two cases.
        let common = noise.between.value / (noise.between.value + within / repeats).max(f64::MIN_POSITIVE);
        let freedom = 2.0 * (sessions - 1.0) * cells as f64 / (1.0 + (cells as f64 - 1.0) * common * common);
        Variance { value: part + 2.0 * noise.between.value / sessions, freedom }
    } else {
        let within_freedom = 2.0 * (repeats - 1.0) * cells as f64;
        let repeated =
            Variance { value: part, freedom: if within_freedom > 0.0 { within_freedom } else { f64::INFINITY } };
        difference::satterthwaite(&[repeated, variance::scaled(noise.between, 2.0)])
    };
    let error = squared_error.value.sqrt();
    let half_width = error * interval::critical_value(0.95, squared_error.freedom).unwrap_or(f64::INFINITY);
    let matters = difference::log_difference(options.delta(metric));
    let in_errors = (error > 0.0).then(|| power::detectable(0.95, POWER, squared_error.freedom, matters / error));
    let detects = in_errors.flatten().map_or(half_width.max(matters), |errors| errors * error);
    PlannedMetric {
        metric,
        within_percent: noise.within.map(|within| 100.0 * within.sqrt()),
        between_percent: 100.0 * noise.between.value.sqrt(),
        source: noise.source.clone(),
        resolves_percent: difference::percent(half_width),
        detects_percent: difference::percent(detects),
    }
}

/// What it means for a plan that the deviation within a session is not known.
fn unknown_within(metrics: &[PlannedMetric]) -> Option<String> {
    let unknown: Vec<&str> = metrics
        .iter()
        .filter(|planned| planned.within_percent.is_none())
        .map(|planned| planned.metric.definition().name)
        .collect();
    let which = if unknown.len() == metrics.len() { String::new() } else { format!(" of {}", unknown.join(", ")) };
    (!unknown.is_empty()).then(|| {
        format!(
            "the deviation within a session{which} is not known, since no session has two requests of a cell: it is a part of \
             the one between sessions, what repeats would gain is not reckoned in, and the plan resolves this or better"
        )
    })
}

/// How a bench goes about a file's cells, beside its requests.
struct Course {
    pauses: Pauses,
    /// Placements of a session.
    placements: usize,
    /// Discarded requests of a placement.
    warmup: u32,
    /// Idling before and after a placement, s.
    idle_s: f64,
}

impl Course {
    /// exo's own where nothing else is known. Other tools have neither its pauses nor its warm-ups.
    fn of(known: Known<'_>, cells: Option<&[summary::MeasuredCell]>) -> Self {
        let placement = |cell: &summary::MeasuredCell| {
            let key = cell.key();
            (key.model_id.clone(), key.sharding.clone(), key.instance_meta.clone(), key.nodes)
        };
        let placements = cells.into_iter().flatten().map(placement).collect::<BTreeSet<_>>().len().max(1);
        let method = known.file.and_then(|file| file.file.exoscope.as_ref()).map(|provenance| &provenance.method);
        let none = Pauses {
            after_cleanup_s: 0.0,
            after_ready_s: 0.0,
            before_repeat_s: 0.0,
            after_group_s: 0.0,
            after_placement_s: 0.0,
        };
        let pauses = match (method, is_foreign(known)) {
            (Some(method), _) => method.pauses,
            (None, true) => none,
            (None, false) => Pauses::default(),
        };
        Self {
            pauses,
            placements,
            warmup: method.map_or(0, |method| method.warmup),
            idle_s: method.and_then(|method| method.idle_baseline_s).unwrap_or(0.0),
        }
    }

    /// What of it is in the time, in words; None where nothing of it is known.
    fn words(&self, known: Known<'_>) -> String {
        if is_foreign(known) {
            return "the time is that of the requests alone: what else another tool does is not in its file".to_owned();
        }
        let mut parts = vec!["requests and pauses".to_owned()];
        if self.warmup > 0 {
            parts.push(format!("{} of each placement", units::count(u64::from(self.warmup), "warm-up")));
        }
        if self.idle_s > 0.0 {
            parts.push(format!("{} s of idling before and after each", units::fixed(self.idle_s, 0)));
        }
        let missing = match known.file.is_some_and(|file| file.file.exoscope.is_some()) {
            true => "placing the model is not",
            false => "warm-ups, idle baselines and placing the model are not",
        };
        format!("in the time are {}; {missing}", parts.join(", "))
    }
}

/// Whether the file is another tool's.
fn is_foreign(known: Known<'_>) -> bool {
    known.file.is_some_and(|file| file.file.source.is_some())
}

/// Requests, warm-ups, idling and pauses of one side. None where nothing tells how long a request takes.
fn seconds(design: Design, cells: Option<&[summary::MeasuredCell]>, known: Known<'_>, course: &Course) -> Option<f64> {
    let of_requests: Vec<f64> = match (known.seconds_per_request, cells) {
        (Some(seconds), cells) => vec![seconds; cells.map_or(1, |cells| cells.len().max(1))],
        (None, Some(cells)) if !cells.is_empty() => cells.iter().map(of_batch).collect::<Option<_>>()?,
        _ => return None,
    };
    let (repeats, pauses) = (f64::from(design.repeats), course.pauses);
    let cell = |seconds: &f64| repeats * (pauses.before_repeat_s + seconds) + pauses.after_group_s;
    // Warm-ups are of the first group, alone.
    let warmups = f64::from(course.warmup) * of_requests.first().copied().unwrap_or(0.0);
    let placement =
        pauses.after_cleanup_s + pauses.after_ready_s + pauses.after_placement_s + warmups + 2.0 * course.idle_s;
    let session = course.placements as f64 * placement + of_requests.iter().map(cell).sum::<f64>();
    Some(f64::from(design.sessions) * session)
}

/// Median over the batches of a cell of the longest request.
fn of_batch(cell: &summary::MeasuredCell) -> Option<f64> {
    let longest: Vec<f64> = cell
        .cell
        .batches
        .iter()
        .filter_map(|batch| batch.column(frame::ELAPSED).iter().flatten().copied().reduce(f64::max))
        .collect();
    quantile::median(&longest)
}
