//! From two samples to an effect, and from an effect to a word.

use std::collections::BTreeMap;

use super::Verdict;
use crate::statistics::difference::Variance;
use crate::statistics::interval;
use crate::units;

/// A difference of mean logarithms, new minus base, with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Effect {
    /// New minus base.
    pub(super) difference: f64,
    /// Squared standard error with its degrees of freedom.
    pub(super) squared_error: Variance,
    /// Two-sided p of no change.
    pub(super) p: f64,
    /// Half-width of the 95 % interval.
    pub(super) half_width: f64,
}

/// Student's points for 95 %, kept by their degrees of freedom: most cells of a metric share theirs, and the point costs
/// more than all else of a cell together.
#[derive(Debug, Clone, Default)]
pub(super) struct Critical(BTreeMap<u64, f64>);

impl Critical {
    /// Half-width of the 95 % interval; None without degrees of freedom.
    pub(super) fn half_width(&mut self, squared_error: Variance) -> Option<f64> {
        let freedom = squared_error.freedom;
        let point = match self.0.get(&freedom.to_bits()) {
            Some(point) => *point,
            None => {
                let point = interval::critical_value(0.95, freedom)?;
                self.0.insert(freedom.to_bits(), point);
                point
            }
        };
        Some(squared_error.value.sqrt() * point)
    }
}

impl Effect {
    /// None where the error cannot be reckoned.
    pub(super) fn of(difference: f64, squared_error: Variance, critical: &mut Critical) -> Option<Self> {
        let error = squared_error.value.sqrt();
        let half_width = critical.half_width(squared_error)?;
        let p = if error > 0.0 {
            interval::two_sided_p(difference / error, squared_error.freedom)?
        } else if difference == 0.0 {
            1.0
        } else {
            0.0
        };
        half_width.is_finite().then_some(Self { difference, squared_error, p, half_width })
    }
}

/// The word for an effect. `smallest` is the smallest difference of logarithms that matters, `p_adjusted` the p after the
/// adjustment for all verdicts of the comparison.
///
/// A change needs both: too sure to be chance, and large enough to matter. "Same" is a claim too and needs the whole
/// interval inside of what does not matter (two one-sided tests, TOST). All else is undecided: not seeing a change is no
/// proof that there is none.
pub(super) fn word(effect: &Effect, p_adjusted: f64, smallest: f64, higher_is_better: bool) -> Verdict {
    if p_adjusted < 0.05 && effect.difference.abs() >= smallest {
        return if (effect.difference > 0.0) == higher_is_better { Verdict::Improved } else { Verdict::Regressed };
    }
    if effect.difference.abs() + effect.half_width <= smallest { Verdict::Same } else { Verdict::Undecided }
}

/// The verdict in the words that people read, in the terminal, on the page and in every export. `why` is the first reason
/// against comparing.
pub(super) fn words(verdict: Option<Verdict>, delta: f64, resolves_percent: Option<f64>, why: Option<&str>) -> String {
    match verdict {
        None => "not judged".to_owned(),
        Some(Verdict::Improved) => "improved".to_owned(),
        Some(Verdict::Regressed) => "regressed".to_owned(),
        Some(Verdict::Same) => format!("same within ±{delta} %"),
        Some(Verdict::Undecided) => resolves_percent.map_or_else(
            || "no difference found (this pair cannot tell)".to_owned(),
            |resolves| format!("no difference found (this pair resolves ≥ {})", units::percent(resolves)),
        ),
        Some(Verdict::NotComparable) => format!("not comparable ({})", why.unwrap_or("no value")),
    }
}

/// How grave a verdict is for the whole: regressed before improved before undecided before same; what cannot be compared
/// says least.
const fn gravity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::NotComparable => 0,
        Verdict::Same => 1,
        Verdict::Undecided => 2,
        Verdict::Improved => 3,
        Verdict::Regressed => 4,
    }
}

/// The gravest of many; not comparable where there is none.
pub(super) fn gravest(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().max_by_key(|verdict| gravity(*verdict)).unwrap_or(Verdict::NotComparable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(difference: f64, half_width: f64) -> Effect {
        Effect { difference, squared_error: Variance { value: 1.0, freedom: 1.0 }, p: 0.0, half_width }
    }

    #[test]
    fn a_change_must_be_sure_and_large_enough() {
        assert_eq!(word(&effect(-0.1, 0.02), 0.001, 0.03, true), Verdict::Regressed);
        assert_eq!(word(&effect(-0.1, 0.02), 0.001, 0.03, false), Verdict::Improved);
        assert_eq!(word(&effect(-0.1, 0.2), 0.3, 0.03, true), Verdict::Undecided, "not sure");
        assert_eq!(
            word(&effect(-0.02, 0.02), 0.001, 0.03, true),
            Verdict::Undecided,
            "sure, but may or may not matter"
        );
        assert_eq!(word(&effect(-0.02, 0.005), 0.001, 0.03, true), Verdict::Same, "sure and too small to matter");
    }

    #[test]
    fn the_gravest_word_speaks_for_all() {
        assert_eq!(gravest([Verdict::Same, Verdict::Regressed, Verdict::Improved]), Verdict::Regressed);
        assert_eq!(gravest([Verdict::Same, Verdict::NotComparable]), Verdict::Same);
        assert_eq!(gravest([]), Verdict::NotComparable);
    }
}
