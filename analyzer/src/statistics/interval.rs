//! Student's t distribution: how sure is a difference of means.

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
    // Bisection on the distribution function, which rises steadily: halving an interval always ends, which statrs' inverse
    // does not for some large degrees of freedom (14 454 397.7 is one), which Satterthwaite's formula can give.
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

/// The probability below `t`. None where `freedom` is not positive.
///
/// Reckoned here and with `libm`'s elementary functions, so that native and WebAssembly give the same bits: statrs takes the
/// platform's logarithm, and at hundreds of degrees of freedom its last digit grows to the eleventh of the result.
fn lower_tail(t: f64, freedom: f64) -> Option<f64> {
    if freedom >= NORMAL_FROM {
        return Some(libm::erfc(-t / std::f64::consts::SQRT_2) / 2.0);
    }
    if freedom.is_nan() || freedom <= 0.0 {
        return None;
    }
    // Abramowitz & Stegun 26.5.27: the two tails together are the incomplete beta function at ν / (ν + t²). Both shares are
    // passed on, because 1 − x loses the small one's digits.
    let square = t * t;
    let (near, far) = (freedom / (freedom + square), square / (freedom + square));
    let tail = if square.is_infinite() { 0.0 } else { incomplete_beta(near, far, freedom / 2.0, 0.5) / 2.0 };
    Some(if t <= 0.0 { tail } else { 1.0 - tail })
}

/// From here on Student's t and the normal distribution agree to within 10⁻⁷ of the point, and the series below lose as much.
const NORMAL_FROM: f64 = 1e8;

/// The probability that a ratio of two variances of the same noise, of these degrees of freedom, is above `ratio` (Fisher's F;
/// Abramowitz & Stegun 26.6.2). 1 for what is no positive ratio.
#[must_use]
pub(crate) fn chance_of_ratio(ratio: f64, above: f64, below: f64) -> f64 {
    let (one, other) = (above * ratio, below);
    let whole = one + other;
    if !(ratio > 0.0 && whole.is_finite()) {
        return if ratio > 0.0 { 0.0 } else { 1.0 };
    }
    incomplete_beta(other / whole, one / whole, below / 2.0, above / 2.0)
}

/// The probability that of `trials` fair coins at least `heads` show heads; None for no heads asked or more than trials.
///
/// As the incomplete beta function I½(heads, trials − heads + 1), which takes √n steps where adding up would take n.
#[must_use]
pub(super) fn half_or_more(trials: usize, heads: usize) -> Option<f64> {
    if heads == 0 || heads > trials {
        return None;
    }
    Some(incomplete_beta(0.5, 0.5, heads as f64, (trials - heads + 1) as f64))
}

/// The regularised incomplete beta function at `x`, with `rest` = 1 − x (Abramowitz & Stegun 26.5).
fn incomplete_beta(x: f64, rest: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    let scale = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let front = libm::exp(scale + a * libm::log(x) + b * libm::log(rest));
    // The continued fraction is quick on this side of the mean, and the other side follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(rest, b, a) / b
    }
}

/// The continued fraction 26.5.8, evaluated from the front by Lentz's method. It takes about √max(a, b) terms.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept_off_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / kept_off_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = below;
    for term in 1..=MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut last = 1.0;
        for step in [even, odd] {
            below = 1.0 / kept_off_zero(1.0 + step * below);
            above = kept_off_zero(1.0 + step / above);
            last = below * above;
            fraction *= last;
        }
        if (last - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}

/// Enough for a billion degrees of freedom; each further one is a fraction of the last digit.
const MOST_TERMS: u32 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_of_a_ratio_is_scipys() {
        // scipy.stats.f.sf(ratio, above, below)
        for (ratio, above, below, wanted) in [
            (4.0, 4.0, 28.0, 0.010_878_201_159_697_835),
            (4.0, 2.0, 14.0, 0.042_260_777_616_207_085),
            (25.0, 4.0, 28.0, 6.857_822_628_975_681e-9),
        ] {
            let found = chance_of_ratio(ratio, above, below);
            assert!((found - wanted).abs() < 1e-9 * wanted.max(1e-6), "{ratio}: {found}");
        }
        assert_eq!((chance_of_ratio(f64::INFINITY, 4.0, 4.0), chance_of_ratio(0.0, 4.0, 4.0)), (0.0, 1.0));
    }

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
