//! Whether values move one way in the course of a session: then they are no independent looks at one quantity.

/// A movement within sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drift {
    /// Median change from the first value of a session to its last, of logarithms.
    pub(super) change: f64,
}

/// From five values on a rank correlation can be sure (the two orders that are wholly monotone have p = 2 / 5! = 1.7 %);
/// below, asiai's rule has to do: each value beyond the one before, and 5 % from the first to the last.
const RANKED_FROM: usize = 5;

/// asiai's smallest drift, as the difference of logarithms that a loss of 5 % is.
const SMALLEST: f64 = 0.05;

/// Longer series are read in blocks: their means say which way it goes, and pairs of pairs would take forever.
const BLOCKS: usize = 200;

/// The drift of a side: at least half of the sessions that are long enough move the same way. None otherwise.
pub(super) fn of_sessions<'a>(sessions: impl Iterator<Item = &'a [f64]>) -> Option<Drift> {
    let long: Vec<Option<f64>> = sessions.filter(|values| values.len() >= 3).map(of_one).collect();
    let way = |up: bool| long.iter().flatten().filter(move |change| (**change > 0.0) == up);
    [true, false].into_iter().find_map(|up| {
        let mut changes: Vec<f64> = way(up).copied().collect();
        if changes.is_empty() || 2 * changes.len() < long.len() {
            return None;
        }
        changes.sort_by(f64::total_cmp);
        changes.get(changes.len() / 2).map(|change| Drift { change: *change })
    })
}

/// The change from first to last of values that drift; None where they do not.
fn of_one(values: &[f64]) -> Option<f64> {
    let change = values.last()? - values.first()?;
    let drifts = if values.len() < RANKED_FROM {
        let monotone =
            values.windows(2).all(|pair| pair[1] > pair[0]) || values.windows(2).all(|pair| pair[1] < pair[0]);
        monotone && change.abs() >= SMALLEST
    } else {
        kendall_p(&blocks(values)) < 0.05
    };
    (drifts && change != 0.0).then_some(change)
}

fn blocks(values: &[f64]) -> Vec<f64> {
    if values.len() <= BLOCKS {
        return values.to_vec();
    }
    values.chunks(values.len().div_ceil(BLOCKS)).map(|block| block.iter().sum::<f64>() / block.len() as f64).collect()
}

/// Two-sided p of Kendall's rank correlation with the order: exact to 40 values without ties, else by the normal
/// distribution with a correction for continuity (Kendall 1970). At least 2 values.
fn kendall_p(values: &[f64]) -> f64 {
    let count = values.len();
    let mut score = 0_i64;
    let mut ties = false;
    for (place, later) in values.iter().enumerate() {
        for earlier in &values[..place] {
            match later.total_cmp(earlier) {
                std::cmp::Ordering::Greater => score += 1,
                std::cmp::Ordering::Less => score -= 1,
                std::cmp::Ordering::Equal => ties = true,
            }
        }
    }
    if !ties && count <= 40 {
        let pairs = (count * (count - 1) / 2) as i64;
        // Orders with as few inversions as this one or fewer, of both tails.
        let fewest = ((pairs - score.abs()) / 2) as usize;
        return (2.0 * inversions(count)[..=fewest].iter().sum::<f64>()).min(1.0);
    }
    let n = count as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let distance = (score.abs() as f64 - 1.0).max(0.0) / deviation;
    libm::erfc(distance / std::f64::consts::SQRT_2)
}

/// The share of all orders of `count` values that have 0, 1, 2, … inversions: each value that is put in adds 0 to its
/// place's number of them, equally often.
fn inversions(count: usize) -> Vec<f64> {
    let mut shares = vec![1.0];
    for places in 2..=count {
        let mut next = vec![0.0; shares.len() + places - 1];
        for (inversions, share) in shares.iter().enumerate() {
            for added in 0..places {
                next[inversions + added] += share / places as f64;
            }
        }
        shares = next;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kendalls_p_is_scipys() {
        // scipy.stats.kendalltau(range(n), values, method="exact").pvalue
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{found} and {wanted}");
        close(kendall_p(&[1.0, 2.0, 3.0, 4.0, 5.0]), 0.016_666_666_666_666_666);
        close(kendall_p(&[2.0, 1.0, 3.0, 4.0, 5.0, 7.0, 6.0]), 0.010_714_285_714_285_714);
        close(kendall_p(&[3.0, 1.0, 4.0, 2.0, 5.0]), 0.483_333_333_333_333_4);
    }

    #[test]
    fn few_values_drift_when_each_goes_on_and_the_whole_is_a_twentieth() {
        let of = |values: &[f64]| of_sessions([values].into_iter());
        assert!(of(&[0.0, 0.03, 0.06]).is_some());
        assert!(of(&[0.0, 0.01, 0.02]).is_none(), "too small");
        assert!(of(&[0.0, 0.07, 0.06]).is_none(), "not monotone");
        assert!(of(&[0.06, 0.03, 0.0]).is_some_and(|drift| drift.change < 0.0));
    }

    #[test]
    fn half_of_the_sessions_must_move_the_same_way() {
        let (up, flat): (&[f64], &[f64]) = (&[0.0, 0.1, 0.2], &[0.0, 0.01, 0.0]);
        assert!(of_sessions([up, flat].into_iter()).is_some());
        assert!(of_sessions([up, flat, flat].into_iter()).is_none());
    }
}
