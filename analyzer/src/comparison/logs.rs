//! A side of a cell on the log scale: one value per batch, session by session.

use super::drift::{self, Drift, Move};
use super::measured::{PublishedError, Sample};
use crate::metric::Metric;
use crate::statistics::difference::{self, Variance};
use crate::statistics::spread;

/// One value per batch; the order of sessions and of the batches in them is that of measurement, and matters to the drift
/// alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logs {
    sessions: Vec<Session>,
    drift: Option<Drift>,
    /// Squared standard error of the mean by what other tools published, in the metric's unit.
    published: Option<Variance>,
    /// How the sessions of its files move, where they do.
    moves: Vec<Move>,
}

#[derive(Debug, Clone, PartialEq)]
struct Session {
    number: u32,
    /// In the order of measurement.
    values: Vec<f64>,
    mean: f64,
    squares: f64,
}

impl Session {
    fn of(number: u32, values: Vec<f64>) -> Option<Self> {
        // Sums depend on their order in the last digit. Added up by size, they do not depend on who measured what first.
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let mean = spread::mean(&sorted)?;
        Some(Self { number, values, mean, squares: spread::squared_deviations(&sorted) })
    }
}

impl Logs {
    /// None where a value is not positive, or there is none.
    pub(super) fn of(sample: &Sample) -> Option<Self> {
        let mut sessions: Vec<(u32, Vec<f64>)> = Vec::new();
        for (session, values) in sample.groups() {
            let mut logarithms = spread::logarithms(values)?;
            logarithms.sort_by(f64::total_cmp);
            let value = spread::mean(&logarithms)?;
            match sessions.iter_mut().rev().find(|(number, _)| *number == session) {
                Some((_, values)) => values.push(value),
                None => sessions.push((session, vec![value])),
            }
        }
        Some(Self { moves: sample.moves.clone(), ..Self::of_sessions(sample.metric, sessions)? })
    }

    /// Of logarithms by session; None where there is none.
    pub(super) fn of_sessions(metric: Metric, sessions: Vec<(u32, Vec<f64>)>) -> Option<Self> {
        let sessions: Vec<Session> =
            sessions.into_iter().filter_map(|(number, values)| Session::of(number, values)).collect();
        let drift = drift::of_sessions(metric, sessions.iter().map(|session| session.values.as_slice()));
        (!sessions.is_empty()).then_some(Self { sessions, drift, published: None, moves: Vec::new() })
    }

    /// With how sure each value is by the deviations that another tool published beside it. All values or none.
    #[must_use]
    pub(super) fn with_published(mut self, errors: &[PublishedError]) -> Self {
        let values = errors.len() as f64;
        let part = |one: &PublishedError| {
            let error = one.error / values;
            Variance { value: error * error, freedom: one.freedom }
        };
        let parts: Vec<Variance> = errors.iter().map(part).collect();
        self.published = (!parts.is_empty() && parts.len() == self.count()).then(|| difference::satterthwaite(&parts));
        self
    }

    /// Squared standard error of the difference of two sides' means by what other tools published, of logarithms; None where
    /// neither side has one. By the delta method, around the geometric mean of both: around each side's own mean, a rare large
    /// value on one side would look smaller for having made the mean large.
    pub(super) fn published_error(base: &Self, new: &Self) -> Option<Variance> {
        let parts: Vec<Variance> = base.published.into_iter().chain(new.published).collect();
        let both = difference::satterthwaite(&parts);
        let scale = libm::exp(-(base.mean() + new.mean()));
        (!parts.is_empty()).then_some(Variance { value: both.value * scale, freedom: both.freedom })
    }

    /// Values, i.e. batches.
    pub(super) fn count(&self) -> usize {
        self.sessions.iter().map(|session| session.values.len()).sum()
    }

    /// All values.
    pub(super) fn values(&self) -> Vec<f64> {
        self.sessions.iter().flat_map(|session| session.values.iter().copied()).collect()
    }

    /// Number of sessions, 1 or more.
    pub(super) fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// The mean over the sessions' means, so that a long session does not outvote a short one.
    pub(super) fn mean(&self) -> f64 {
        let mut means: Vec<f64> = self.sessions.iter().map(|session| session.mean).collect();
        means.sort_by(f64::total_cmp);
        spread::mean(&means).unwrap_or(f64::NAN)
    }

    /// Number and mean of each session.
    pub(super) fn session_means(&self) -> impl Iterator<Item = (u32, f64)> {
        self.sessions.iter().map(|session| (session.number, session.mean))
    }

    /// Squared deviations inside sessions, and their degrees of freedom.
    pub(super) fn within(&self) -> (f64, usize) {
        let mut squares: Vec<f64> = self.sessions.iter().map(|session| session.squares).collect();
        squares.sort_by(f64::total_cmp);
        (squares.iter().sum(), self.count() - self.sessions.len())
    }

    /// How the values move in the course of a session, where they do.
    pub(super) const fn drift(&self) -> Option<&Drift> {
        self.drift.as_ref()
    }

    /// How the sessions of each of its files move, where they do.
    pub(super) fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// How the sessions move from the first to the last; None where they do not. Meant for one file: only there the order of
    /// the sessions is that of measurement.
    pub(super) fn moved(&self, metric: Metric) -> Option<Move> {
        let mut means: Vec<(u32, f64)> = self.session_means().collect();
        means.sort_by_key(|(number, _)| *number);
        let means: Vec<f64> = means.into_iter().map(|(_, mean)| mean).collect();
        drift::between_sessions(metric, &means)
    }

    /// 1 / sessions that are independent looks at one quantity: those of a file that move count as one, as the values of a
    /// session that drift do, which widens the interval and discards nothing.
    pub(super) fn inverse_of_sessions(&self) -> f64 {
        let lost: usize = self.moves.iter().map(|moved| moved.sessions - 1).sum();
        1.0 / (self.sessions.len() - lost) as f64
    }

    /// What the variance within sessions is multiplied by to give that of the mean: the mean of 1 / values over the
    /// sessions, divided by their number, since the mean is that of the sessions' means.
    pub(super) fn inverse_of_values(&self) -> f64 {
        let mut parts: Vec<f64> = self.sessions.iter().map(|session| 1.0 / session.values.len() as f64).collect();
        parts.sort_by(f64::total_cmp);
        let sessions = self.sessions.len() as f64;
        parts.iter().sum::<f64>() / (sessions * sessions)
    }

    /// What the variance within a session is multiplied by to give that of a session's mean: the mean of 1 / values.
    pub(super) fn share_of_repeats(&self) -> f64 {
        self.inverse_of_values() * self.sessions.len() as f64
    }

    /// What a drift adds to [`Self::inverse_of_values`]; 0 for values that do not drift.
    ///
    /// Values that drift are no independent looks at one quantity: a session of them counts as one value, which widens the
    /// interval and discards nothing.
    pub(super) fn lost_to_drift(&self) -> f64 {
        if self.drift.is_some() { 1.0 / self.sessions.len() as f64 - self.inverse_of_values() } else { 0.0 }
    }
}
