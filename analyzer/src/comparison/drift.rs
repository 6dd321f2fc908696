//! Whether values move one way in the course of a session: then they are no independent looks at one quantity.

use crate::course;
use crate::metric::Metric;
use crate::statistics::{quantile, trend};

/// A movement within sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drift {
    /// Median change from the beginning of a session to its end, of logarithms.
    pub(super) change: f64,
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
    fn half_of_the_sessions_must_move_the_same_way() {
        let (up, flat): (&[f64], &[f64]) = (&[0.0, 0.1, 0.2], &[0.0, 0.01, 0.0]);
        assert!(of_sessions(Metric::GenerationTps, [up, flat].into_iter()).is_some());
        assert!(of_sessions(Metric::GenerationTps, [up, flat, flat].into_iter()).is_none());
    }
}
