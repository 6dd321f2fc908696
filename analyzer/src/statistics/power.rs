//! How large a change has to be, so that a design finds it.

use super::interval;

/// The error of a comparison is itself an estimate, with this many degrees of freedom: its size in this many steps.
const STEPS: usize = 2000;

/// The logarithm of what is left out of a distribution at both ends: e⁻⁴⁰ is below any digit of a double.
const LEFT_OUT: f64 = 40.0;

/// The smallest change that is found with probability `power`, in standard errors: it has to lie beyond the `confidence`
/// interval, whose width follows an error that is estimated with `freedom` degrees of freedom (infinite: known), and beyond
/// `smallest`, in standard errors too. Without `smallest` it is the noncentral t's.
///
/// None for a `freedom` that is not positive, or a share outside of 0..1.
#[must_use]
pub fn detectable(confidence: f64, power: f64, freedom: f64, smallest: f64) -> Option<f64> {
    let point = interval::critical_value(confidence, freedom)?;
    if !(power > 0.0 && power < 1.0 && smallest >= 0.0) {
        return None;
    }
    let bounds = bounds(point, freedom, smallest);
    let found = |change: f64| -> f64 {
        bounds
            .iter()
            .map(|(weight, bound)| weight * libm::erfc((bound - change) / std::f64::consts::SQRT_2) / 2.0)
            .sum()
    };
    let mut high = 1.0;
    while found(high) < power {
        high *= 2.0;
        if !f64::is_finite(high) {
            return None;
        }
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if found(middle) < power {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

/// What a change has to exceed, with the probability of each: by Simpson's rule over the logarithm of the estimated error's
/// share of the true one (√(χ²/ν)), in two pieces, for at `smallest` the one bound gives way to the other.
fn bounds(point: f64, freedom: f64, smallest: f64) -> Vec<(f64, f64)> {
    if freedom.is_infinite() {
        return vec![(1.0, point.max(smallest))];
    }
    let rest = LEFT_OUT / freedom;
    let (left, right) = (-(rest.sqrt() + rest), libm::log1p(2.0 * rest + 2.0 * (2.0 * rest).sqrt()) / 2.0);
    let turn = if smallest > 0.0 { libm::log(smallest / point).clamp(left, right) } else { left };
    let mut bounds = Vec::with_capacity(2 * STEPS + 2);
    for (from, to) in [(left, turn), (turn, right)] {
        let step = (to - from) / STEPS as f64;
        for place in 0..=STEPS {
            let log = from + step * place as f64;
            let density = libm::exp(freedom * (log - libm::expm1(2.0 * log) / 2.0));
            let simpson = match place {
                0 | STEPS => 1.0,
                place if place % 2 == 1 => 4.0,
                _ => 2.0,
            };
            bounds.push((simpson * step * density, smallest.max(point * libm::exp(log))));
        }
    }
    let whole: f64 = bounds.iter().map(|(weight, _)| weight).sum();
    bounds.iter_mut().for_each(|(weight, _)| *weight /= whole);
    bounds
}
