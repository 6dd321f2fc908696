//! Whether values rise or fall in the order of their measurement.

use super::interval::two_sided_p;
use super::quantile::{median, sorted};

/// Up to this many values the p of Kendall's tau is exact; the normal distribution is close enough above (SciPy's limit
/// too).
pub const EXACT_UP_TO: usize = 33;

/// Theil & Sen's slope looks at all pairs. Above this many values it takes the medians of as many runs of neighbours, so
/// that the work stays the same; 400 points know a slope far better than anybody needs.
pub const SLOPE_POINTS: usize = 400;

/// Kendall's tau of values against their order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kendall {
    /// Tau-b: 1 where each value is above the one before, −1 where below.
    pub tau: f64,
    /// Two-sided p of a tau at least as far from 0 in values without any trend.
    pub p: f64,
    /// Whether p is exact.
    pub exact: bool,
}

/// Kendall's tau-b of the values against their order, with its p: exact up to [`EXACT_UP_TO`] values, ties included (the
/// orders of a multiset are counted by their inversions); above by the normal distribution with the variance corrected for
/// ties and no correction for continuity, as SciPy's. None for fewer than two values, where all are equal, or where one is
/// not a number.
#[must_use]
pub fn kendall(values: &[f64]) -> Option<Kendall> {
    if values.len() < 2 || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let ties = ties(values);
    let pairs = |count: usize| (count * (count - 1) / 2) as f64;
    let all = pairs(values.len());
    let untied = all - ties.iter().map(|count| pairs(*count)).sum::<f64>();
    if untied <= 0.0 {
        return None;
    }
    let falling = inversions(&mut values.to_vec()) as f64;
    let score = untied - 2.0 * falling;
    let tau = score / (all * untied).sqrt();
    let exact = values.len() <= EXACT_UP_TO;
    let p = if exact { exact_p(&ties, falling.min(untied - falling)) } else { normal_p(values.len(), &ties, score)? };
    Some(Kendall { tau, p, exact })
}

/// How often each value occurs, in ascending order of the values.
fn ties(values: &[f64]) -> Vec<usize> {
    sorted(values).chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

/// Pairs of which the earlier is the larger, counted while merging. Leaves the values sorted.
fn inversions(values: &mut [f64]) -> u64 {
    let half = values.len() / 2;
    if half == 0 {
        return 0;
    }
    let mut count = inversions(&mut values[..half]) + inversions(&mut values[half..]);
    let left = values[..half].to_vec();
    let (mut from_left, mut from_right) = (0, half);
    for place in 0..values.len() {
        if from_left == left.len() {
            break;
        }
        if from_right < values.len() && values[from_right] < left[from_left] {
            count += (left.len() - from_left) as u64;
            values[place] = values[from_right];
            from_right += 1;
        } else {
            values[place] = left[from_left];
            from_left += 1;
        }
    }
    count
}

/// Twice the probability of at most `fewest` inversions, over all orders of a multiset.
fn exact_p(ties: &[usize], fewest: f64) -> f64 {
    // Group by group, as if inserted from below: each new group's inversions with those before it are counted by a Gaussian
    // binomial coefficient, and the groups are independent.
    let mut chances = vec![1.0];
    let mut before = 0;
    for count in ties {
        chances = convolved(&chances, &insertions(before, *count));
        before += count;
    }
    let tail: f64 = chances.iter().take(fewest as usize + 1).sum();
    (2.0 * tail).min(1.0)
}

/// The probability of each number of inversions when `new` larger values are put among `old` smaller ones in any order: the
/// coefficients of the Gaussian binomial (old + new over new), normed. By the last place: it holds a larger value, which is
/// below nothing, or a smaller one, which is below all the larger.
fn insertions(old: usize, new: usize) -> Vec<f64> {
    // One row per number of smaller values, in the order of growing larger ones; each row needs the one above and itself.
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]; new + 1];
    for smaller in 1..=old {
        for larger in 1..=new {
            let chance_of_larger = larger as f64 / (larger + smaller) as f64;
            let mut next = vec![0.0; smaller * larger + 1];
            for (count, chance) in rows[larger - 1].iter().enumerate() {
                next[count] += chance_of_larger * chance;
            }
            for (count, chance) in rows[larger].iter().enumerate() {
                next[count + larger] += (1.0 - chance_of_larger) * chance;
            }
            rows[larger] = next;
        }
    }
    rows.pop().unwrap_or_default()
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            sums[i + j] += x * y;
        }
    }
    sums
}

fn normal_p(count: usize, ties: &[usize], score: f64) -> Option<f64> {
    let term = |count: usize| {
        let count = count as f64;
        count * (count - 1.0) * (2.0 * count + 5.0)
    };
    let variance = (term(count) - ties.iter().map(|count| term(*count)).sum::<f64>()) / 18.0;
    two_sided_p(score / variance.sqrt(), f64::INFINITY)
}

/// Theil & Sen's slope: the median of the slopes between all pairs, in units of the values per value. Above [`SLOPE_POINTS`]
/// values it is that of the medians of equal runs. None for fewer than two values or where one is not a number.
#[must_use]
pub fn theil_sen(values: &[f64]) -> Option<f64> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let run = values.len().div_ceil(SLOPE_POINTS).max(1);
    // The last run may be short: left out, its median would stand at the wrong place.
    let points: Vec<f64> =
        if run == 1 { values.to_vec() } else { values.chunks_exact(run).filter_map(median).collect() };
    let pairs = (0..points.len()).flat_map(|from| (from + 1..points.len()).map(move |to| (from, to)));
    let slopes: Vec<f64> = pairs.map(|(from, to)| (points[to] - points[from]) / (to - from) as f64).collect();
    median(&slopes).map(|slope| slope / run as f64)
}

/// A trend is believed when chance would make one as clear in fewer than this share of steady series.
const BELIEVED_P: f64 = 0.05;

/// Kendall's test needs five values: four that only fall have p = 0.083.
const VALUES_FOR_KENDALL: usize = 5;

/// The smallest changes that matter, from the first value to the last, in the values' own unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smallest {
    /// Of five values or more, by Theil & Sen's slope. Long series know a trend of a tenth of what matters for sure, and
    /// nobody has to act on it.
    pub by_slope: f64,
    /// Of three and four values, which have no test that could be sure: the plain difference.
    pub from_first_to_last: f64,
}

/// Whether values drift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// True where Kendall's test judged and Theil & Sen's slope measured; false for asiai's rule, of few values.
    pub by_rank: bool,
    /// The change from the first value to the last, in the values' unit; None for values that do not drift.
    pub change: Option<f64>,
    /// Kendall's tau, whichever rule judged; None where all values are equal.
    pub kendall: Option<Kendall>,
}

/// Whether values drift in the order of their measurement. Five or more do when Kendall's p is below 0.05 and the change by
/// Theil & Sen's slope matters; three and four when every step goes the same way (asiai's rule, in either direction) and the
/// whole matters. None below three.
#[must_use]
pub fn drift(values: &[f64], smallest: Smallest) -> Option<Drift> {
    let ([first, .., last], 3..) = (values, values.len()) else { return None };
    let kendall = kendall(values);
    let by_rank = values.len() >= VALUES_FOR_KENDALL;
    let change = if by_rank {
        // The slope looks at all pairs, so it is asked for where it decides alone.
        let sure = kendall.is_some_and(|kendall| kendall.p < BELIEVED_P);
        let slope = if sure { theil_sen(values) } else { None };
        slope.map(|slope| slope * (values.len() - 1) as f64).filter(|change| change.abs() >= smallest.by_slope)
    } else {
        goes_one_way(values).then(|| last - first).filter(|change| change.abs() >= smallest.from_first_to_last)
    };
    Some(Drift { by_rank, change, kendall })
}

/// Whether each value is above the one before, or each below.
fn goes_one_way(values: &[f64]) -> bool {
    let steps = |goes: fn(&f64, &f64) -> bool| values.windows(2).all(|pair| goes(&pair[1], &pair[0]));
    steps(f64::lt) || steps(f64::gt)
}

/// asiai's drift: of three or more values each is strictly below the one before, or each above. The change from the first to
/// the last in percent of the first; None where a step goes the other way, or the first is not positive. asiai warns of a
/// rate at −5 or below.
#[must_use]
pub fn steady_change_percent(values: &[f64]) -> Option<f64> {
    let [first, .., last] = values else { return None };
    let steady = values.len() >= 3 && goes_one_way(values);
    (steady && *first > 0.0).then(|| (last - first) / first * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_that_only_fall_are_the_least_that_can_tell() {
        let found = kendall(&[5.0, 4.0, 3.0, 2.0, 1.0]).unwrap();
        assert!(found.exact && (found.tau + 1.0).abs() < 1e-15 && (found.p - 2.0 / 120.0).abs() < 1e-15, "{found:?}");
        assert_eq!(kendall(&[1.0]), None);
        assert_eq!(kendall(&[2.0, 2.0, 2.0]), None, "equal values have no order");
    }

    #[test]
    fn the_slope_of_a_long_series_is_that_of_its_runs() {
        let line: Vec<f64> = (0..100_003).map(|place| 7.0 - 0.25 * f64::from(place)).collect();
        assert!((theil_sen(&line).unwrap() + 0.25).abs() < 1e-9);
        assert_eq!(theil_sen(&[1.0]), None);
    }

    #[test]
    fn a_single_step_back_is_no_steady_change() {
        assert_eq!(steady_change_percent(&[100.0, 97.0, 95.0]), Some(-5.0));
        assert_eq!(steady_change_percent(&[100.0, 98.0, 98.0]), None);
        assert_eq!(steady_change_percent(&[100.0, 90.0]), None);
    }

    #[test]
    fn a_drift_must_be_sure_and_matter() {
        let found = |values: &[f64]| {
            drift(values, Smallest { by_slope: 3.0, from_first_to_last: 5.0 }).and_then(|found| found.change)
        };
        assert_eq!(found(&[100.0, 99.0, 98.0, 97.0, 96.0]), Some(-4.0));
        assert_eq!(found(&[100.0, 99.5, 99.0, 98.5, 98.0]), None, "sure, and too little to matter");
        assert_eq!(found(&[100.0, 90.0, 110.0, 80.0, 120.0]), None, "large, and in no order");
        assert_eq!(found(&[100.0, 103.0, 105.0]), Some(5.0));
        assert_eq!(found(&[100.0, 106.0, 105.0]), None, "few must go one way all along");
        assert_eq!(drift(&[100.0, 90.0], Smallest { by_slope: 0.0, from_first_to_last: 0.0 }), None);
    }
}
