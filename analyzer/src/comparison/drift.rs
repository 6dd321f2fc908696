//! Whether values move one way in the course of a session: then they are no independent looks at one quantity.

use crate::course;
use crate::metric::Metric;
use crate::statistics::{difference, quantile, segments, trend};
use crate::units;

/// A movement within sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drift {
    /// Median change from the beginning of a session to its end, of logarithms.
    pub(super) change: f64,
}

/// A movement over the sessions of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Move {
    /// How many sessions, 2 or more.
    pub(super) sessions: usize,
    /// The first session of the last level, from 0; None for a trend without a step.
    pub(super) step: Option<usize>,
    /// From the first level to the last, or along the trend, of logarithms.
    pub(super) change: f64,
}

impl Move {
    /// "steps by −14.9 % at session 24 of 39".
    pub(super) fn words(&self) -> String {
        let change = units::change(difference::percent(self.change));
        match self.step {
            Some(step) => format!("steps by {change} at session {} of {}", step + 1, self.sessions),
            None => format!("drifts by {change} over its {} sessions", self.sessions),
        }
    }
}

/// How the means of a file's sessions move in the order of measurement: they step, or Kendall's test knows a trend. None below
/// five sessions: of fewer, chance puts too many in order.
pub(super) fn between_sessions(metric: Metric, means: &[f64]) -> Option<Move> {
    let smallest = course::smallest_of_logarithms(metric);
    let sessions = means.len();
    // A session is the mean of its repeats, as a file of an archive is; of many, single wild ones are no level.
    let search = if sessions < segments::BATCHES.fewest { segments::FILES } else { segments::BATCHES };
    let steps = segments::steps(means, search, smallest.by_slope);
    if let (Some(last), [first, .., end]) = (steps.last(), segments::levels(means, &steps).as_slice()) {
        return Some(Move { sessions, step: Some(*last), change: end - first });
    }
    let trend = trend::drift(means, smallest).filter(|trend| trend.by_rank)?;
    Some(Move { sessions, step: None, change: trend.change? })
}

/// The drift of a side: at least half of the sessions that are long enough move the same way. None otherwise.
pub(super) fn of_sessions<'a>(metric: Metric, sessions: impl Iterator<Item = &'a [f64]>) -> Option<Drift> {
    let smallest = course::smallest_of_logarithms(metric);
    let long: Vec<trend::Drift> = sessions.filter_map(|values| trend::drift(values, smallest)).collect();
    [true, false].into_iter().find_map(|up| {
        let way = long.iter().filter_map(|drift| drift.change).filter(|change| (*change > 0.0) == up);
        let changes: Vec<f64> = way.collect();
        let enough = 2 * changes.len() >= long.len();
        quantile::median(&changes).filter(|_| enough).map(|change| Drift { change })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_drift_when_each_goes_on_and_the_whole_is_a_twentieth() {
        let of = |values: &[f64]| of_sessions(Metric::GenerationTps, [values].into_iter());
        assert!(of(&[0.0, 0.03, 0.06]).is_some());
        assert!(of(&[0.0, 0.01, 0.02]).is_none(), "too small");
        assert!(of(&[0.0, 0.07, 0.06]).is_none(), "not monotone");
        assert!(of(&[0.06, 0.03, 0.0]).is_some_and(|drift| drift.change < 0.0));
    }

    #[test]
    fn sessions_that_step_or_go_one_way_move() {
        let stepping: Vec<f64> =
            (0..24).map(|at| if at < 14 { 0.0 } else { -0.16 } + 0.001 * f64::from(at % 3)).collect();
        let moved = between_sessions(Metric::GenerationTps, &stepping).unwrap();
        assert_eq!((moved.sessions, moved.step), (24, Some(14)));
        assert_eq!(moved.words(), "steps by −14.8 % at session 15 of 24");
        let falling = between_sessions(Metric::GenerationTps, &[0.0, -0.02, -0.04, -0.05, -0.07, -0.09]).unwrap();
        assert_eq!((falling.step, falling.words().as_str()), (None, "drifts by −8.4 % over its 6 sessions"));
        assert_eq!(between_sessions(Metric::GenerationTps, &[0.0, -0.1, -0.2, -0.3]), None, "four may be so by chance");
        assert_eq!(between_sessions(Metric::GenerationTps, &[0.0, 0.03, -0.02, 0.01, 0.02, -0.01]), None);
    }

    #[test]
    fn half_of_the_sessions_must_move_the_same_way() {
        let (up, flat): (&[f64], &[f64]) = (&[0.0, 0.1, 0.2], &[0.0, 0.01, 0.0]);
        assert!(of_sessions(Metric::GenerationTps, [up, flat].into_iter()).is_some());
        assert!(of_sessions(Metric::GenerationTps, [up, flat, flat].into_iter()).is_none());
    }
}
