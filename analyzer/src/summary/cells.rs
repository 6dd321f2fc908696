//! Samples → the report of a cell; and the requests that failed.

use std::collections::BTreeSet;

use super::{CacheState, CellKey, CellReport, FailureReport, MeasuredCell, MetricSummary, Sample, console};
use crate::import::Loaded;
use crate::record::{Failure, ResultFile, Run};
use crate::statistics::{quantile, spread};
use crate::{stability, units};

/// One report per cell in the order of first appearance, then the cells in which nothing succeeded.
pub(super) fn reports(loaded: &Loaded, measured: &[MeasuredCell]) -> Vec<CellReport> {
    let file = &loaded.file;
    let mut reports: Vec<CellReport> = measured.iter().map(report).collect();
    for failure in file.failures.iter().filter(|failure| !failure.warmup) {
        let home = measured.iter().position(|cell| {
            cell.cell.batches.iter().flat_map(|batch| &batch.rows).any(|row| belongs(failure, file.runs.get(*row)))
        });
        match home {
            Some(place) => reports[place].failed += 1,
            None => {
                let key = key_of(failure);
                match reports.iter_mut().find(|report| report.key == key) {
                    Some(report) => report.failed += 1,
                    None => reports.push(nothing_but_failures(key)),
                }
            }
        }
    }
    reports
}

/// Whether a failed request would have stood in the same cell as a row. Labels are compared with labels, for a failure
/// knows nothing else.
fn belongs(failure: &Failure, run: Option<&Run>) -> bool {
    run.is_some_and(|run| {
        run.model_id.as_ref() == Some(&failure.model_id)
            && run.placement_sharding.as_ref() == Some(&failure.placement_sharding)
            && run.placement_instance_meta.as_ref() == Some(&failure.placement_instance_meta)
            && run.placement_nodes == Some(failure.placement_nodes)
            && run.pp_tokens == Some(failure.pp_tokens)
            && run.tg == Some(failure.tg)
            && run.concurrency.unwrap_or(1) == failure.concurrency
            && run.exoscope.as_ref().is_none_or(|detail| detail.streamed == failure.streamed)
    })
}

fn key_of(failure: &Failure) -> CellKey {
    let word = |label: &str| {
        let label = label.trim_start_matches("Mlx").to_lowercase();
        (!label.is_empty() && label != "reused").then_some(label)
    };
    CellKey {
        model_id: Some(failure.model_id.clone()),
        sharding: word(&failure.placement_sharding),
        instance_meta: word(&failure.placement_instance_meta),
        nodes: Some(failure.placement_nodes).filter(|nodes| *nodes > 0),
        pp_tokens: Some(failure.pp_tokens),
        tg: Some(failure.tg),
        concurrency: failure.concurrency,
        cache: if failure.use_prefix_cache { CacheState::Unknown } else { CacheState::Cold },
        streamed: Some(failure.streamed),
    }
}

fn nothing_but_failures(key: CellKey) -> CellReport {
    let exo_console = console::figures(&[], key.concurrency);
    CellReport { key, requests: 0, batches: 0, failed: 1, sessions: 0, metrics: Vec::new(), exo_console }
}

fn report(measured: &MeasuredCell) -> CellReport {
    let cell = &measured.cell;
    let sessions: BTreeSet<u32> = cell.batches.iter().map(|batch| batch.session).collect();
    CellReport {
        key: cell.key.clone(),
        requests: cell.batches.iter().map(|batch| batch.rows.len() as u64).sum(),
        batches: cell.batches.len() as u64,
        failed: 0,
        sessions: sessions.len() as u64,
        metrics: measured.samples.iter().filter_map(summary).collect(),
        exo_console: console::figures(&cell.console, cell.key.concurrency),
    }
}

/// None for no values, which [`super::measure`] does not hand out.
fn summary(sample: &Sample) -> Option<MetricSummary> {
    let definition = sample.metric.definition();
    let values = sample.values();
    let cv_percent = spread::variation_percent(&values);
    Some(MetricSummary {
        metric: sample.metric,
        unit: definition.unit.to_owned(),
        better: definition.better,
        n: values.len() as u64,
        median: quantile::median(&values)?,
        mean: spread::mean(&values)?,
        sd: spread::standard_deviation(&values),
        cv_percent,
        stability: stability::classify(cv_percent),
        min: quantile::quantile(&values, 0.0)?,
        max: quantile::quantile(&values, 1.0)?,
        values,
        warnings: sample.warnings.clone(),
    })
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
            cell: key_of(failure).words(),
            repeat_index: failure.repeat_index,
        })
        .collect()
}

impl FailureReport {
    /// The failure in a line: "pp 64 tg 8 c 1, repeat 2: http status 500: Internal Server Error".
    #[must_use]
    pub fn words(&self) -> String {
        let when = if self.warmup { "warm-up".to_owned() } else { format!("repeat {}", self.repeat_index) };
        let kind =
            serde_json::to_value(self.kind).ok().and_then(|kind| kind.as_str().map(|kind| kind.replace('_', " ")));
        let status = self.status.map(|status| format!(" {status}")).unwrap_or_default();
        let message = if self.message.is_empty() { units::ABSENT } else { &self.message };
        format!("{}, {when}: {}{status}: {message}", self.cell, kind.as_deref().unwrap_or("failed"))
    }
}
