//! Figures that another tool published, taken as they are where nothing in the file allows to reckon them.

use crate::frame::{self, Batch, Cell};
use crate::metric::Metric;
use crate::units;

/// The values of a metric in a batch that was published and not observed; None where it is to be reckoned as ever.
pub(super) fn values(metric: Metric, batch: &Batch) -> Option<Vec<f64>> {
    let known = |name: &str| -> Vec<f64> { batch.column(name).iter().flatten().copied().collect() };
    let published = |name: &str| Some(known(name)).filter(|values| !values.is_empty());
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

/// Requests that the rows of a cell stand for; None where each row is one.
pub(super) fn requests(cell: &Cell) -> Option<u64> {
    let each = cell.batches.iter().flat_map(|batch| {
        let figures = batch.column(frame::STANDS_FOR);
        (0..batch.rows.len()).map(|row| figures.get(row).copied().flatten().unwrap_or(1.0))
    });
    let all: f64 = each.sum();
    let rows: usize = cell.batches.iter().map(|batch| batch.rows.len()).sum();
    (all > rows as f64).then_some(all as u64)
}

/// Whether another tool measured the cell.
pub(super) fn is_foreign(cell: &Cell) -> bool {
    cell.batches.iter().any(|batch| stands_for(batch).is_some())
}

/// What weakens a number that stands for many requests, or that was taken over.
pub(super) fn warning(metric: Metric, cell: &Cell) -> Option<String> {
    let requests = cell.batches.iter().filter_map(stands_for).reduce(f64::max).filter(|requests| *requests > 1.0);
    if let Some(requests) = requests {
        let requests = units::count(requests as u64, "request");
        return Some(format!("published as one figure over {requests}, which are not in the file"));
    }
    let taken = matches!(metric, Metric::Power) && cell.batches.iter().any(|batch| values(metric, batch).is_some());
    taken.then(|| "as exo's client printed it, over a window of its own".to_owned())
}
