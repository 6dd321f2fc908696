//! Student's t distribution: how sure is a difference of means.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};
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
    let mut point = if freedom.is_infinite() {
        Normal::standard().inverse_cdf(tail)
    } else if freedom > 0.0 {
        StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(tail)
    } else {
        return None;
    };
    // statrs inverts to about 1e-9; Newton's steps on its distribution function, which is exact to 1e-12 up to a
    // thousand degrees of freedom, give the rest.
    for _ in 0..4 {
        let density = if freedom.is_infinite() {
            Normal::standard().pdf(point)
        } else {
            StudentsT::new(0.0, 1.0, freedom).ok()?.pdf(point)
        };
        let step = (lower_tail(point, freedom)? - tail) / density;
        if !step.is_finite() {
            break;
        }
        point -= step;
    }
    Some(-point)
}

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
