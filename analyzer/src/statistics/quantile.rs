//! Quantiles: one definition for all of Exoscope.

/// The `p`-quantile by linear interpolation between order statistics (Hyndman & Fan 1996, type 7; NumPy's default).
///
/// `p` in 0..=1, clamped to it. One value: that value. None for no values or where a value or `p` is not a number.
#[must_use]
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    if p.is_nan() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    of_sorted(&sorted(values), p)
}

/// The values in ascending order.
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// [`quantile`] of values that stand in ascending order already: several quantiles of one sample need one sorting.
#[must_use]
pub fn of_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor();
    let fraction = place - below;
    let lower = sorted[below as usize];
    let upper = sorted[(below as usize + 1).min(last)];
    // Clamped, for rounding may leave the interval by a last digit, and no quantile lies outside of its neighbours.
    Some((lower + (upper - lower) * fraction).clamp(lower, upper))
}

/// The median: the 0.5-[`quantile`].
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_value_is_every_quantile() {
        assert_eq!(quantile(&[4.0], 0.0), Some(4.0));
        assert_eq!(quantile(&[4.0], 0.9), Some(4.0));
    }

    #[test]
    fn none_of_nothing() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn lies_within_min_and_max(values in prop::collection::vec(-1e9..1e9_f64, 1..40), p in 0.0..=1.0_f64) {
            let found = quantile(&values, p).unwrap();
            prop_assert!(values.iter().copied().fold(f64::INFINITY, f64::min) <= found);
            prop_assert!(found <= values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        }

        #[test]
        fn is_blind_to_order(values in prop::collection::vec(-1e9..1e9_f64, 1..40), p in 0.0..=1.0_f64) {
            let mut reversed = values.clone();
            reversed.reverse();
            prop_assert_eq!(quantile(&values, p), quantile(&reversed, p));
        }
    }
}
