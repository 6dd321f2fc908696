//! Samples → the report of a cell; and the requests that failed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CacheState, CellKey, CellReport, FailureReport, MeasuredCell, MetricSummary, Sample, console, definition::origin,
    distribution, notices, published,
};
use crate::frame::{self, Cell};
use crate::import::Loaded;
use crate::metric::Metric;
use crate::record::{Failure, FailureKind, ResultFile, Run};
use crate::statistics::{outlier, quantile, spread};
use crate::{course, stability, units};

/// One report per cell in the order of first appearance, then the cells in which nothing succeeded.
pub(super) fn reports(loaded: &Loaded, measured: &[MeasuredCell]) -> Vec<CellReport> {
    let file = &loaded.file;
    let mut reports: Vec<CellReport> = measured.iter().map(|measured| report(file, measured)).collect();
    let homes = homes(file, measured);
    let mut lost: BTreeMap<CellKey, usize> = BTreeMap::new();
    for failure in file.failures.iter().filter(|failure| !failure.warmup && failure.kind != FailureKind::Interrupted) {
        let told = Home::of_failure(failure);
        // A row that does not tell whether it was streamed takes either.
        let untold = Home { streamed: None, ..told };
        match [told, untold].iter().filter_map(|home| homes.get(home)).min() {
            Some(place) => reports[*place].failed += 1,
            None => {
                let key = key_of(file, failure);
                let place = *lost.entry(key.clone()).or_insert_with(|| {
                    reports.push(nothing_but_failures(key, file.source.is_some()));
                    reports.len() - 1
                });
                reports[place].failed += 1;
            }
        }
    }
    let group = |key: &CellKey| CellKey { cache: CacheState::Unknown, ..key.clone() };
    let mut batches: BTreeMap<CellKey, u64> = BTreeMap::new();
    for report in &reports {
        *batches.entry(group(&report.key)).or_default() += report.batches;
    }
    let foreign = measured.iter().filter(|measured| published::is_foreign(&measured.cell));
    let rows = |cell: &Cell| cell.batches.iter().map(|batch| batch.rows.len() as u64).sum::<u64>();
    let foreign: BTreeMap<CellKey, u64> =
        foreign.map(|measured| (measured.key().clone(), rows(&measured.cell))).collect();
    for report in &mut reports {
        let batches = batches.get(&group(&report.key)).copied().unwrap_or(report.batches);
        report.notices = notices::notices(file, report, batches, foreign.get(&report.key).copied());
    }
    for (report, measured) in reports.iter_mut().zip(measured) {
        let rows = measured.cell.batches.iter().flat_map(|batch| &batch.rows);
        let rows: Vec<&Run> = rows.filter_map(|row| file.runs.get(*row)).collect();
        report.notices.extend(notices::counts(&report.key, &rows));
    }
    reports
}

/// What tells where a failed request would have stood. Labels are compared with labels, for a failure knows nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Home<'a> {
    model_id: Option<&'a str>,
    sharding: Option<&'a str>,
    instance_meta: Option<&'a str>,
    nodes: Option<u32>,
    pp_tokens: Option<u64>,
    tg: Option<u64>,
    concurrency: Option<u32>,
    streamed: Option<bool>,
    variant: (Option<&'a str>, Option<&'a str>, Option<&'a BTreeMap<String, String>>),
}

impl<'a> Home<'a> {
    fn of_failure(failure: &'a Failure) -> Self {
        Self {
            model_id: failure.model_id.as_deref(),
            sharding: failure.placement_sharding.as_deref(),
            instance_meta: failure.placement_instance_meta.as_deref(),
            nodes: failure.placement_nodes,
            pp_tokens: failure.pp_tokens,
            tg: failure.tg,
            concurrency: failure.concurrency,
            streamed: Some(failure.streamed),
            variant: (
                failure.engine.as_deref(),
                failure.quantization.as_deref(),
                Some(&failure.settings).filter(|settings| !settings.is_empty()),
            ),
        }
    }

    fn of_run(run: &'a Run) -> Self {
        Self {
            model_id: run.model_id.as_deref(),
            sharding: run.placement_sharding.as_deref(),
            instance_meta: run.placement_instance_meta.as_deref(),
            nodes: run.placement_nodes,
            pp_tokens: run.pp_tokens,
            tg: run.tg,
            concurrency: frame::concurrency(run),
            streamed: match &run.figures {
                Some(figures) => Some(figures.streamed == Some(true)),
                None => run.exoscope.as_ref().map(|detail| detail.streamed),
            },
            variant: run.figures.as_ref().map_or((None, None, None), |figures| {
                let settings = Some(&figures.settings).filter(|settings| !settings.is_empty());
                (figures.engine.as_deref(), figures.quantization.as_deref(), settings)
            }),
        }
    }
}

/// The first cell of each kind.
fn homes<'a>(file: &'a ResultFile, measured: &[MeasuredCell]) -> BTreeMap<Home<'a>, usize> {
    let mut homes = BTreeMap::new();
    for (place, cell) in measured.iter().enumerate() {
        for row in cell.cell.batches.iter().flat_map(|batch| &batch.rows) {
            if let Some(home) = file.runs.get(*row).map(Home::of_run) {
                homes.entry(home).or_insert(place);
            }
        }
    }
    homes
}

fn key_of(file: &ResultFile, failure: &Failure) -> CellKey {
    let word = |label: &Option<String>| {
        let label = label.as_deref()?.trim_start_matches("Mlx").to_lowercase();
        (!label.is_empty() && label != "reused").then_some(label)
    };
    CellKey {
        model_id: failure.model_id.clone(),
        sharding: word(&failure.placement_sharding),
        instance_meta: word(&failure.placement_instance_meta),
        nodes: failure.placement_nodes.filter(|nodes| *nodes > 0),
        pp_tokens: failure.pp_tokens,
        tg: failure.tg,
        concurrency: failure.concurrency,
        cache: if failure.use_prefix_cache { CacheState::Unknown } else { CacheState::Cold },
        streamed: Some(failure.streamed),
        engine: failure.engine.as_deref().or(frame::engine(file)).map(str::to_owned),
        quantization: failure.quantization.as_deref().or(frame::quantization(file)).map(str::to_owned),
        settings: failure.settings.clone(),
    }
}

fn nothing_but_failures(key: CellKey, foreign: bool) -> CellReport {
    let exo_console = (!foreign).then(|| console::figures(&[], key.together()));
    CellReport {
        key,
        requests: 0,
        batches: 0,
        failed: 0,
        sessions: 0,
        metrics: Vec::new(),
        absent: Vec::new(),
        nodes: Vec::new(),
        notices: Vec::new(),
        exo_console,
    }
}

fn report(file: &ResultFile, measured: &MeasuredCell) -> CellReport {
    let cell = &measured.cell;
    let sessions: BTreeSet<u32> = cell.batches.iter().map(|batch| batch.session).collect();
    CellReport {
        key: cell.key.clone(),
        requests: cell.batches.iter().map(published::requests).fold(0, u64::saturating_add),
        batches: cell.batches.len() as u64,
        failed: 0,
        sessions: sessions.len() as u64,
        metrics: measured.samples.iter().filter_map(|sample| summary(file, cell, sample)).collect(),
        absent: measured.absent.clone(),
        nodes: measured.nodes.clone(),
        notices: Vec::new(),
        exo_console: (!published::is_foreign(cell)).then(|| console::figures(cell.console(), cell.key.together())),
    }
}

/// None for no values, which [`super::measure`] does not hand out.
fn summary(file: &ResultFile, cell: &Cell, sample: &Sample) -> Option<MetricSummary> {
    let definition = sample.metric.definition();
    let values = sample.values();
    let cv_percent = spread::variation_percent(&values);
    let sorted = quantile::sorted(&values);
    let (batches, sessions) = (sample.batch_means(), sample.sessions());
    let batch_cv_percent = spread::variation_percent(&batches);
    let stability = stability::classify(batch_cv_percent);
    let drift = course::drift(sample.metric, &batches);
    let steps = course::steps(sample.metric, &batches);
    let no_spread = outlier::have_no_spread(&values);
    let of_many = published::is_of_many(cell);
    let published = published::single(file, sample.metric, cell).filter(|_| values.len() == 1);
    let middle = published.as_ref().and_then(|figure| figure.median);
    // Peak memory comes out the same on every repeat, but for a step of the allocator: a spread that says nothing.
    let constant = sample.metric == Metric::PeakMemory;
    let outliers = if constant { Vec::new() } else { distribution::outliers(definition.unit, &values) };
    let mut warnings = sample.warnings.clone();
    warnings.extend(distribution::notes(&outliers, values.len()));
    warnings.extend(steady_by_batches(batch_cv_percent, cv_percent));
    warnings.extend(drift.as_ref().and_then(|drift| drift.words(batches.len())));
    warnings.extend(steps.iter().map(|step| step.words(definition.unit, batches.len())));
    let told = sample.groups.iter().filter_map(|group| {
        let batch = cell.batches.get(group.batch as usize)?;
        Some((batch.told, group.values.len()))
    });
    Some(MetricSummary {
        metric: sample.metric,
        unit: definition.unit.to_owned(),
        better: definition.better,
        n: values.len() as u64,
        median: middle.or_else(|| quantile::of_sorted(&sorted, 0.5))?,
        mean: spread::mean(&values)?,
        sd: spread::standard_deviation(&values),
        cv_percent,
        batch_cv_percent,
        stability,
        origin: origin(file, sample.metric, cell),
        published,
        min: *sorted.first()?,
        max: *sorted.last()?,
        mad: spread::median_absolute_deviation(&values).filter(|_| values.len() > 1),
        mean_interval: distribution::mean_interval(&sessions).filter(|_| !no_spread),
        median_interval: distribution::median_interval(&sessions),
        // The percentiles of means are none of requests.
        percentiles: if of_many { Vec::new() } else { distribution::percentiles(&sorted) },
        slow_tail: if of_many { Vec::new() } else { distribution::slow_tail(definition.better, &sorted) },
        outliers,
        no_spread,
        drift,
        steps,
        sessions: told.flat_map(|(told, values)| std::iter::repeat_n(told, values)).collect(),
        values,
        uncertainty_percent: sample.uncertainty_percent,
        warnings,
    })
}

/// A sentence where the batches are steadier than their requests, whose CV stands beside, or the other way round.
fn steady_by_batches(of_batches: Option<f64>, of_values: Option<f64>) -> Option<String> {
    (of_batches.is_some() && stability::classify(of_batches) != stability::classify(of_values))
        .then(|| "steady is said of the batches, the CV of the requests in them".to_owned())
}

/// All requests that gave no valid row, warm-ups included.
pub(super) fn failures(file: &ResultFile) -> Vec<FailureReport> {
    file.failures
        .iter()
        .map(|failure| FailureReport {
            kind: failure.kind,
            message: failure.message.clone(),
            status: failure.status,
            warmup: failure.warmup,
            cell: key_of(file, failure).words(),
            repeat_index: failure.repeat_index,
        })
        .collect()
}

impl FailureReport {
    /// The failure in a line, repeats counted from 1: "pp 64 tg 8 c 1, repeat 2: HTTP 500: Internal Server Error".
    #[must_use]
    pub fn words(&self) -> String {
        let when =
            if self.warmup { "warm-up".to_owned() } else { format!("repeat {}", u64::from(self.repeat_index) + 1) };
        let message = if self.message.is_empty() { units::ABSENT } else { &self.message };
        let what = match self.kind {
            // Its message begins with the status.
            FailureKind::HttpStatus if message.starts_with("HTTP") => {
                return format!("{}, {when}: {message}", self.cell);
            }
            FailureKind::Connect => "no connection",
            FailureKind::Reset => "connection broken",
            FailureKind::Timeout => "answer stopped",
            FailureKind::NoFirstToken => "no first token",
            FailureKind::ErrorFrame => "error inside the stream",
            FailureKind::TruncatedStream => "stream cut off",
            FailureKind::NoStats => "no statistics",
            FailureKind::InstanceGone => "instance gone",
            FailureKind::NoToken => "no token",
            FailureKind::Malformed => "unreadable answer",
            FailureKind::Interrupted => "interrupted",
            FailureKind::HttpStatus | FailureKind::ClientEnded | FailureKind::Untold => "failed",
        };
        format!("{}, {when}: {what}: {message}", self.cell)
    }
}
