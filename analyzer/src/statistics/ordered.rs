//! What the order of the values alone tells: an interval of the median for any distribution.

use super::interval::half_or_more;
use super::quantile::sorted;

/// An interval of the median that asks nothing of the distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// Lower end: one of the values.
    pub low: f64,
    /// Upper end: one of the values.
    pub high: f64,
    /// The probability with which it covers the median, at least the one asked for: the ends can only be values.
    pub coverage: f64,
}

/// The interval of the median between the r-th smallest and the r-th largest value, for the largest r that covers it with
/// at least `confidence`: each value lies below the median with probability ½, so the coverage is
/// 1 − 2 · P(binomial(n, ½) < r), exactly (David & Nagaraja, Order Statistics, 7.1).
///
/// None where even smallest and largest do not cover it that surely, which for 0.95 is below 6 values, and where a value is
/// not a number. The values must be independent of each other.
#[must_use]
pub fn median_interval(values: &[f64], confidence: f64) -> Option<MedianInterval> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let count = values.len();
    // P(binomial(n, ½) ≥ n − r + 1) is the same tail from the other side: r = 1 is the least there is.
    let outside = |rank: usize| Some(2.0 * half_or_more(count, count - rank + 1)?);
    let allowed = 1.0 - confidence;
    if count == 0 || outside(1)? > allowed {
        return None;
    }
    let (mut rank, mut beyond) = (1, count / 2 + 1);
    while beyond - rank > 1 {
        let middle = usize::midpoint(rank, beyond);
        if outside(middle)? <= allowed {
            rank = middle;
        } else {
            beyond = middle;
        }
    }
    let sorted = sorted(values);
    Some(MedianInterval { low: sorted[rank - 1], high: sorted[count - rank], coverage: 1.0 - outside(rank)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_are_too_few_and_six_span_it_from_end_to_end() {
        let values = [3.0, 1.0, 2.0, 5.0, 4.0, 6.0];
        assert_eq!(median_interval(&values[..5], 0.95), None);
        let found = median_interval(&values, 0.95).unwrap();
        assert_eq!((found.low, found.high), (1.0, 6.0));
        assert!((found.coverage - 0.96875).abs() < 1e-12, "1 − 2 / 2⁶");
        assert_eq!(median_interval(&[], 0.95), None);
    }
}
