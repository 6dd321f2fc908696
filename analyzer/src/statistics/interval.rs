//! Student's t distribution: how sure is a difference of means.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::gamma;

/// Two-sided p of a value at least as far from 0 as `t` under Student's t with `freedom` degrees of freedom; infinite
/// freedom is the normal distribution. None where `freedom` is not positive or `t` is not a number.
#[must_use]
pub fn two_sided_p(t: f64, freedom: f64) -> Option<f64> {
    if t.is_nan() {
        return None;
    }
    Some((2.0 * lower_tail(-t.abs(), freedom)?).min(1.0))
}

/// The point that a Student t variable exceeds in absolute value with probability 1 − `confidence`.
///
/// `confidence` in 0..1 (0.95 for a 95 % interval). None outside of it or where `freedom` is not positive.
#[must_use]
pub fn critical_value(confidence: f64, freedom: f64) -> Option<f64> {
    if !(0.0..1.0).contains(&confidence) || confidence == 0.0 {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    // Bisection on the distribution function, which falls steadily: statrs' own inverse does not end for some degrees of
    // freedom (seen where two single values are compared), and halving an interval always does.
    let mut low = -1.0;
    while lower_tail(low, freedom)? > tail {
        low *= 2.0;
        if !f64::is_finite(low) {
            return None;
        }
    }
    let mut high = 0.0;
    // Each step gives one binary digit: 52 of the number itself, and one for each doubling above.
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if lower_tail(middle, freedom)? > tail {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(-f64::midpoint(low, high))
}

/// More than a double has digits for any point that a 95 % interval can need.
const HALVINGS: u32 = 110;

fn lower_tail(t: f64, freedom: f64) -> Option<f64> {
    if freedom.is_infinite() {
        // The tail of the normal by the incomplete gamma function (P(1/2, z²/2) is its two-sided mass): statrs' own erfc is
        // good to 1e-11 only.
        let both = if t == 0.0 { 1.0 } else { gamma::checked_gamma_ur(0.5, t * t / 2.0).ok()? };
        Some(if t <= 0.0 { both / 2.0 } else { 1.0 - both / 2.0 })
    } else if freedom > 0.0 {
        StudentsT::new(0.0, 1.0, freedom).ok().map(|distribution| distribution.cdf(t))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_is_found_for_any_degrees_of_freedom() {
        for exponent in -8..=16 {
            let freedom = 10f64.powi(exponent);
            let Some(point) = critical_value(0.95, freedom) else {
                // Below some hundredths the point is beyond any double.
                assert!(freedom < 0.01, "{freedom}");
                continue;
            };
            assert!(point > 1.95, "{freedom}: {point}");
        }
        assert_eq!(critical_value(0.95, 0.0), None);
    }
}
