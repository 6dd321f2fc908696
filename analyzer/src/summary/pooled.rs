//! One deviation of a metric for all cells of a file: how much repeats of the same thing differ.
//!
//! A repeat is a batch: requests of one batch differ by their places in the queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MeasuredCell;
use crate::metric::Metric;
use crate::statistics::pooling::pooled_deviation;

/// The deviation of a metric inside cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PooledDeviation {
    /// Which.
    pub metric: Metric,
    /// Unit of both deviations.
    pub unit: String,
    /// asiai's: root of the plain mean of the cells' variances. A cell of two values counts as much as one of twenty.
    pub sd_unweighted_asiai: f64,
    /// Root of all squared deviations over the degrees of freedom.
    pub sd_weighted_by_freedom: f64,
    /// Degrees of freedom of the latter: Σ (n − 1).
    pub freedom: u64,
    /// Cells with two or more batches; the others have no deviation and enter neither.
    pub cells: u64,
}

/// The pooled deviations of every metric that was repeated in some cell, in the catalogue's order.
pub(super) fn pooled(measured: &[MeasuredCell]) -> Vec<PooledDeviation> {
    let of = |metric: &Metric| {
        let values: Vec<Vec<f64>> =
            measured.iter().filter_map(|cell| cell.sample(*metric)).map(super::Sample::batch_means).collect();
        let found = pooled_deviation(values.iter().map(Vec::as_slice))?;
        Some(PooledDeviation {
            metric: *metric,
            unit: metric.definition().unit.to_owned(),
            sd_unweighted_asiai: found.unweighted,
            sd_weighted_by_freedom: found.weighted,
            freedom: found.freedom,
            cells: found.groups,
        })
    };
    Metric::ALL.iter().filter_map(of).collect()
}
