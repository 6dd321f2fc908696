//! Figures that another tool published, taken as they are where nothing in the file allows to reckon them.
//!
//! * `statistic` what a figure over many requests is of them.

pub(super) mod statistic;

pub use statistic::{PublishedFigure, Statistic};

use std::collections::BTreeSet;

use super::deviations;
use crate::frame::{self, Batch, Cell};
use crate::metric::Metric;
use crate::record::{Figures, ResultFile};
use crate::units;

/// The values of a metric in a batch that was published and not observed; None where it is to be reckoned as ever.
pub(super) fn values(metric: Metric, batch: &Batch) -> Option<Vec<f64>> {
    let known = |name: &str| -> Vec<f64> { batch.column(name).iter().flatten().copied().collect() };
    // A rate or an energy below 0 is no measurement; that one was published is known all the same.
    let published = |name: &str| {
        let values = known(name);
        (!values.is_empty()).then(|| values.into_iter().filter(|value| *value >= 0.0).collect())
    };
    match metric {
        Metric::AggregateExoMaxTimesN => published(frame::MAX_TIMES_N).or_else(|| hidden(batch)),
        Metric::AggregateTokensOverWall => published(frame::OUTPUT_TPS).or_else(|| hidden(batch)),
        Metric::RequestsPerSecond => published(frame::REQUESTS_PER_S).or_else(|| hidden(batch)),
        Metric::EnergyExoClient => published(frame::CLIENT_ENERGY),
        Metric::Power => published(frame::PUBLISHED_POWER),
        _ if metric.is_of_batch() => hidden(batch),
        _ => None,
    }
}

/// What other tools call a batch has no common start, so nothing of it is reckoned here.
fn hidden(batch: &Batch) -> Option<Vec<f64>> {
    stands_for(batch).map(|_| Vec::new())
}

fn stands_for(batch: &Batch) -> Option<f64> {
    batch.column(frame::STANDS_FOR).iter().flatten().copied().reduce(f64::max)
}

/// Requests of a batch, where a row may stand for many.
pub(super) fn requests(batch: &Batch) -> u64 {
    let stands_for = batch.column(frame::STANDS_FOR);
    if stands_for.is_empty() {
        return batch.rows.len() as u64;
    }
    stands_for.iter().map(|requests| requests.map_or(1, |requests| requests as u64)).fold(0, u64::saturating_add)
}

/// Whether a value stands for many requests: it is their mean and says nothing of how they lie.
pub(super) fn is_of_many(cell: &Cell) -> bool {
    cell.batches.iter().filter_map(stands_for).any(|requests| requests > 1.0)
}

/// Whether another tool measured the cell.
pub(super) fn is_foreign(cell: &Cell) -> bool {
    cell.batches.iter().any(|batch| stands_for(batch).is_some())
}

/// What weakens a number that stands for many requests, or that was taken over.
pub(super) fn warnings(file: &ResultFile, metric: Metric, cell: &Cell) -> Vec<String> {
    let mut warnings = Vec::new();
    let requests = cell.batches.iter().filter_map(stands_for).reduce(f64::max).filter(|requests| *requests > 1.0);
    let over = requests.map(|requests| units::count(requests as u64, "request"));
    let derived = derived(file, metric, cell);
    match (over, derived) {
        (Some(over), _) if metric == Metric::EnergyOverlay => warnings.push(format!("the energy of {over} together")),
        (Some(over), Some(how)) => {
            warnings.push(format!("not published but reckoned here ({how}), over {over}, which are not in the file"));
        }
        (over, None) => match (statistic::words(metric, &statistics(file, metric, cell)), over) {
            (Some(words), _) => warnings.push(words),
            (None, Some(over)) => {
                warnings.push(format!("published as one figure over {over}, which are not in the file"));
            }
            (None, None) => {}
        },
        (None, Some(how)) => warnings.push(format!("not published but reckoned here: {how}")),
    }
    let taken = matches!(metric, Metric::Power) && cell.batches.iter().any(|batch| values(metric, batch).is_some());
    if taken {
        warnings.push("as exo's client printed it, over a window of its own".to_owned());
    }
    warnings.extend(deviations::words(file, metric, cell));
    warnings
}

/// What the tool says of the figures that its rows hold of a metric; empty where they are single requests, or reckoned here.
fn statistics(file: &ResultFile, metric: Metric, cell: &Cell) -> Vec<PublishedFigure> {
    if derived(file, metric, cell).is_some() {
        return Vec::new();
    }
    statistic::of_cell(file, metric, cell, deviations::words(file, metric, cell).is_some())
}

/// The same of a metric with one value, which is then that figure.
pub(super) fn single(file: &ResultFile, metric: Metric, cell: &Cell) -> Option<PublishedFigure> {
    let mut figures = statistics(file, metric, cell);
    if figures.len() == 1 { figures.pop() } else { None }
}

/// Whether the one value of a metric is a mean that the tool published.
pub(super) fn is_mean(file: &ResultFile, metric: Metric, cell: &Cell) -> bool {
    metric != Metric::EnergyOverlay
        && (cell.batches.iter().filter_map(stands_for).any(|requests| requests > 1.0)
            || deviations::words(file, metric, cell).is_some())
}

pub(super) fn figures<'a>(file: &'a ResultFile, cell: &'a Cell) -> impl Iterator<Item = &'a Figures> {
    let rows = cell.batches.iter().flat_map(|batch| &batch.rows);
    rows.filter_map(|row| file.runs.get(*row)?.figures.as_deref())
}

/// How the importer got the metric where the tool did not publish it.
pub(super) fn derived(file: &ResultFile, metric: Metric, cell: &Cell) -> Option<String> {
    let name = match metric {
        Metric::PrefillTps => "prompt_tps",
        Metric::GenerationTps => "generation_tps",
        Metric::Elapsed => "elapsed_s",
        Metric::Tpot => "tpot_s",
        Metric::Itl => "itl_s",
        Metric::AggregateTokensOverWall => "output_tps",
        Metric::EnergyOverlay => "sent_s",
        _ => return None,
    };
    figures(file, cell).find_map(|figures| figures.derived.get(name).cloned())
}

/// Names of the powers and energies that a tool published and that are none of ours: a reader is told where they stand.
pub(super) fn power(file: &ResultFile) -> Vec<String> {
    let is = |name: &str| name.contains("watt") || name.contains("energy") || name.contains("power_");
    let rows = file.runs.iter().filter_map(|run| run.figures.as_ref()).flat_map(|figures| figures.published.keys());
    let facts = file.source.iter().flat_map(|source| source.about.keys());
    let names: BTreeSet<&str> =
        rows.chain(facts).map(|name| name.rsplit(": ").next().unwrap_or(name)).filter(|name| is(name)).collect();
    names.into_iter().map(str::to_owned).collect()
}
