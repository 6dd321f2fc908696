//! The standard deviations that other tools publish beside their means, and how sure these means are by them.

use serde::{Deserialize, Serialize};

use super::published::{self, statistic};
use crate::frame::Cell;
use crate::metric::Metric;
use crate::record::{Figures, ResultFile};
use crate::units;

/// How sure one published mean is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandardError {
    /// Standard deviation / √requests, in the metric's unit.
    pub(crate) error: f64,
    /// Requests − 1.
    pub(crate) freedom: f64,
}

/// The deviations in a sentence; None where the tool published none.
pub(super) fn words(file: &ResultFile, metric: Metric, cell: &Cell) -> Option<String> {
    let all: Vec<f64> =
        published::figures(file, cell).filter_map(|figures| statistic::deviation(figures, metric)).collect();
    let scale = units::Scale::of(metric.definition().unit, all.iter().copied());
    let words: Vec<String> = all.iter().map(|one| format!("± {} {}", scale.text(Some(*one)), scale.label())).collect();
    (!words.is_empty()).then(|| format!("published with a standard deviation of {}", words.join(", ")))
}

/// How sure the means of a cell are, row by row; empty where one of them does not tell its deviation, or how many requests it
/// is of.
pub(super) fn errors(file: &ResultFile, metric: Metric, cell: &Cell) -> Vec<StandardError> {
    let of = |figures: &Figures| {
        let requests = figures.stands_for.filter(|requests| *requests > 1)? as f64;
        Some(StandardError { error: statistic::deviation(figures, metric)? / requests.sqrt(), freedom: requests - 1.0 })
    };
    published::figures(file, cell).map(of).collect::<Option<Vec<_>>>().unwrap_or_default()
}
