//! The standard deviations that other tools publish beside their means, and how sure these means are by them.

use serde::{Deserialize, Serialize};

use super::published;
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

/// Where the deviation stands in what a tool published, and how many of its units are one of ours.
const fn places(metric: Metric) -> &'static [(&'static str, f64)] {
    match metric {
        Metric::PrefillTps => &[("/stddev_ts", 1.0)],
        Metric::GenerationTps => &[("/stddev_ts", 1.0), ("/std_dev_tok_s", 1.0)],
        Metric::Elapsed => &[
            ("/std_e2el_ms", 1e3),
            ("/std_e2el", 1.0),
            ("/stddev_ns", 1e9),
            ("/request_latency/std", 1e3),
            ("/request_latency/std_dev", 1.0),
        ],
        Metric::Ttft => &[
            ("/std_ttft_ms", 1e3),
            ("/std_ttft", 1.0),
            ("/time_to_first_token/std", 1e3),
            ("/time_to_first_token_ms/std_dev", 1e3),
        ],
        Metric::Tpot => &[("/std_tpot_ms", 1e3), ("/std_tpot", 1.0)],
        Metric::Itl => &[
            ("/std_itl_ms", 1e3),
            ("/std_itl", 1.0),
            ("/inter_token_latency/std", 1e3),
            ("/inter_token_latency_ms/std_dev", 1e3),
        ],
        _ => &[],
    }
}

/// The deviation of one row, in the metric's unit; None where the tool published none, or no size.
fn of_row(metric: Metric, figures: &Figures) -> Option<f64> {
    let told = |(place, per): &(&str, f64)| {
        let (first, rest) = place[1..].split_once('/').map_or((&place[1..], None), |(first, rest)| (first, Some(rest)));
        let value = figures.published.get(first)?;
        let number = rest.map_or(Some(value), |rest| value.get(rest))?.as_f64()?;
        Some(number / per).filter(|deviation| *deviation >= 0.0 && deviation.is_finite())
    };
    places(metric).iter().find_map(told)
}

/// The deviations in a sentence; None where the tool published none.
pub(super) fn words(file: &ResultFile, metric: Metric, cell: &Cell) -> Option<String> {
    let all: Vec<f64> = published::figures(file, cell).filter_map(|figures| of_row(metric, figures)).collect();
    let scale = units::Scale::of(metric.definition().unit, all.iter().copied());
    let words: Vec<String> = all.iter().map(|one| format!("± {} {}", scale.text(Some(*one)), scale.label())).collect();
    (!words.is_empty()).then(|| format!("published with a standard deviation of {}", words.join(", ")))
}

/// How sure the means of a cell are, row by row; empty where one of them does not tell its deviation, or how many requests it
/// is of.
pub(super) fn errors(file: &ResultFile, metric: Metric, cell: &Cell) -> Vec<StandardError> {
    let of = |figures: &Figures| {
        let requests = figures.stands_for.filter(|requests| *requests > 1)? as f64;
        Some(StandardError { error: of_row(metric, figures)? / requests.sqrt(), freedom: requests - 1.0 })
    };
    if places(metric).is_empty() {
        return Vec::new();
    }
    published::figures(file, cell).map(of).collect::<Option<Vec<_>>>().unwrap_or_default()
}
