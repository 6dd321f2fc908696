//! The mean of values that come in sessions, and how sure it is.

use super::difference::Variance;
use super::interval::critical_value;
use super::spread::{mean, squared_deviations};

/// A mean with the square of its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SureMean {
    /// The mean of the sessions' means, so that a long session does not outvote a short one.
    pub mean: f64,
    /// Its variance and the degrees of freedom of it.
    pub error: Variance,
    /// Whether the error is that of the sessions' means, so that the sessions are what was repeated.
    pub between_sessions: bool,
}

impl SureMean {
    /// The interval mean ± t · standard error (Student). None where the ends are no numbers.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<[f64; 2]> {
        let half = critical_value(confidence, self.error.freedom)? * self.error.value.sqrt();
        Some([self.mean - half, self.mean + half]).filter(|ends| ends.iter().all(|end| end.is_finite()))
    }
}

/// The confidence at which the wider interval is looked for.
const CONFIDENCE: f64 = 0.95;

/// The mean over sessions of independent values, with a one-way random effect of the session.
///
/// With k sessions of nᵢ values, s_w² their pooled variance inside (Σ (nᵢ − 1) degrees of freedom) and V the variance of
/// their means, the squared error of the mean is V / k with k − 1 degrees of freedom: V holds both what sessions and what
/// repeats add. V can come out small by luck, below what the repeats alone explain; so it is s_w² · mean(1/nᵢ) / k where that
/// gives the wider 95 % interval. Going by the larger variance instead would take luck for knowledge: 95 % intervals of two
/// sessions then hold the mean in 89 % of simulated cells. One session has only the latter: it cannot show how much the next
/// one would differ.
///
/// None where nothing was repeated.
#[must_use]
pub fn sure_mean(sessions: &[Vec<f64>]) -> Option<SureMean> {
    let sessions: Vec<&[f64]> = sessions.iter().map(Vec::as_slice).filter(|values| !values.is_empty()).collect();
    let means: Vec<f64> = sessions.iter().filter_map(|values| mean(values)).collect();
    let center = mean(&means)?;
    let count = sessions.len() as f64;
    let freedom: usize = sessions.iter().map(|values| values.len() - 1).sum();
    let within = (freedom > 0).then(|| {
        let squares: f64 = sessions.iter().map(|values| squared_deviations(values)).sum();
        let inverse = mean(&sessions.iter().map(|values| 1.0 / values.len() as f64).collect::<Vec<_>>());
        let value = (squares / freedom as f64) * inverse.unwrap_or(f64::NAN) / count;
        Variance { value, freedom: freedom as f64 }
    });
    let between = (sessions.len() > 1)
        .then(|| Variance { value: squared_deviations(&means) / (count - 1.0) / count, freedom: count - 1.0 });
    let half_width = |error: Variance| critical_value(CONFIDENCE, error.freedom).map(|t| t * error.value.sqrt());
    let (error, between_sessions) = match (between, within) {
        (Some(between), Some(within)) if half_width(within) > half_width(between) => (within, false),
        (Some(between), _) => (between, true),
        (None, Some(within)) => (within, false),
        (None, None) => return None,
    };
    Some(SureMean { mean: center, error, between_sessions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_repeated_has_no_error() {
        assert_eq!(sure_mean(&[]), None);
        assert_eq!(sure_mean(&[vec![1.0]]), None);
        assert_eq!(sure_mean(&[vec![1.0], Vec::new()]), None);
    }

    #[test]
    fn sessions_that_differ_are_what_counts() {
        // Inside each session hardly any spread, between them much: five values a session do not make ten.
        let found = sure_mean(&[vec![10.0, 10.1, 9.9, 10.0, 10.0], vec![12.0, 12.1, 11.9, 12.0, 12.0]]).unwrap();
        assert!(found.between_sessions);
        assert!((found.error.value - 1.0).abs() < 1e-12 && found.error.freedom == 1.0, "{found:?}");
        let close = sure_mean(&[vec![10.0, 10.4, 9.8], vec![10.1, 10.5, 9.95]]).unwrap();
        assert!(close.between_sessions, "two sessions that agree may do so by luck: {close:?}");
        let alike = sure_mean(&[vec![9.0, 11.0], vec![9.0, 11.0]]).unwrap();
        assert!(!alike.between_sessions);
        assert!((alike.error.value - 0.5).abs() < 1e-12 && alike.error.freedom == 2.0, "{alike:?}");
    }
}
