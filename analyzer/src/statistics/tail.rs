//! Percentiles, and whether there are enough values to speak of them.

use super::quantile::of_sorted;

/// How much stands behind a percentile, by how many values are expected beyond it: n · (share beyond).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Five or more: BetterBench's rule for a tail that may be published.
    Enough,
    /// One to less than five: there are values beyond it, and another run may put it elsewhere.
    Thin,
    /// Less than one (p90 below 10 values, p95 below 20, p99 below 100): hardly more than the outermost value.
    TooFew,
}

/// Expected values beyond a percentile that BetterBench asks for.
const ENOUGH: f64 = 5.0;

/// The percentile of values in ascending order (Hyndman & Fan type 7) with its support. None for no values.
#[must_use]
pub fn percentile(sorted: &[f64], percent: f64) -> Option<(f64, Support)> {
    let value = of_sorted(sorted, percent / 100.0)?;
    // In whole percents, for 0.01 · 100 has no exact double.
    let beyond = percent.min(100.0 - percent) * sorted.len() as f64 / 100.0;
    let support = match beyond {
        beyond if beyond >= ENOUGH => Support::Enough,
        beyond if beyond >= 1.0 => Support::Thin,
        _ => Support::TooFew,
    };
    Some((value, support))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_count_with_a_value_beyond_is_thin_and_five_are_enough() {
        let support = |count: usize, percent| percentile(&vec![1.0; count], percent).map(|(_, support)| support);
        for (percent, one) in [(90.0, 10), (95.0, 20), (99.0, 100), (10.0, 10), (5.0, 20), (1.0, 100)] {
            assert_eq!(support(one - 1, percent), Some(Support::TooFew), "{percent}");
            assert_eq!(support(one, percent), Some(Support::Thin), "{percent}");
            assert_eq!(support(5 * one, percent), Some(Support::Enough), "{percent}");
        }
        assert_eq!(support(0, 90.0), None);
    }
}
