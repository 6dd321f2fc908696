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

/// asiai's drift: of three or more values each is strictly below the one before, or each above. The change from the first to
/// the last in percent of the first; None where a step goes the other way, or the first is not positive. asiai warns of a
/// rate at −5 or below.
#[must_use]
pub fn steady_change_percent(values: &[f64]) -> Option<f64> {
    let [first, .., last] = values else { return None };
    let steps = |goes: fn(&f64, &f64) -> bool| values.windows(2).all(|pair| goes(&pair[1], &pair[0]));
    let steady = values.len() >= 3 && (steps(f64::lt) || steps(f64::gt));
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
}
