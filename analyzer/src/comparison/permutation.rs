//! An exact permutation test of two small groups: a cross-check that assumes no distribution at all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::logs::Logs;

/// What a permutation test says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Permutation {
    /// Share of the ways to deal the values to the two sides whose means lie at least as far apart.
    pub p: f64,
    /// The least that the share can be with so few values: 2 / ways, or 1 / ways for sides of different size.
    pub least: f64,
    /// What was dealt: "sessions" where each side has five or more, else "repeats", which know nothing of other sessions.
    pub of: Dealt,
}

/// What is dealt to the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dealt {
    /// The means of sessions.
    Sessions,
    /// The repeats of one session.
    Repeats,
}

/// Fewer values per side have no p below 5 % that is worth the name: three against three, 10 % at least.
const FROM: usize = 5;

/// All ways of two groups of eight, 12 870; more values need no cross-check of the normal distribution.
const MOST_WAYS: u64 = 13_000;

/// The test of a cell's two sides; None where a side has fewer than five, or both have too many to deal in every way.
pub(super) fn of(base: &Logs, new: &Logs) -> Option<Permutation> {
    let means = |logs: &Logs| -> Vec<f64> { logs.session_means().map(|(_, mean)| mean).collect() };
    let (of, base, new) = if base.sessions() >= FROM && new.sessions() >= FROM {
        (Dealt::Sessions, means(base), means(new))
    } else if base.sessions() == 1 && new.sessions() == 1 {
        (Dealt::Repeats, base.values(), new.values())
    } else {
        return None;
    };
    if base.len() < FROM || new.len() < FROM {
        return None;
    }
    let (p, least) = exact(&base, &new)?;
    Some(Permutation { p, least, of })
}

/// Two-sided p of the difference of means, and the least it can be. None above [`MOST_WAYS`].
fn exact(base: &[f64], new: &[f64]) -> Option<(f64, f64)> {
    let (smaller, larger) = if base.len() <= new.len() { (base, new) } else { (new, base) };
    let (taken, total) = (smaller.len(), base.len() + new.len());
    let ways = ways(total as u64, taken as u64)?;
    let mut all: Vec<f64> = smaller.iter().chain(larger).copied().collect();
    let mut seen: Vec<f64> = smaller.to_vec();
    seen.sort_by(f64::total_cmp);
    all.sort_by(f64::total_cmp);
    let centre = all.iter().sum::<f64>() / total as f64;
    // The difference of means is a rising function of the smaller side's sum, so the sum will do.
    let distance = |sum: f64| (sum - taken as f64 * centre).abs();
    let scale = all.iter().map(|value| (value - centre).abs()).fold(0.0, f64::max);
    // Deals that are the same up to rounding are the same.
    let observed = distance(seen.iter().sum()) - 1e-12 * scale * taken as f64;
    let mut picked: Vec<usize> = (0..taken).collect();
    let mut as_far = 0_u64;
    loop {
        if distance(picked.iter().map(|place| all[*place]).sum()) >= observed {
            as_far += 1;
        }
        // The next choice in the order of a dictionary.
        let Some(turn) = (0..taken).rev().find(|turn| picked[*turn] < total - taken + turn) else { break };
        picked[turn] += 1;
        for after in turn + 1..taken {
            picked[after] = picked[after - 1] + 1;
        }
    }
    let least = if base.len() == new.len() { 2.0 } else { 1.0 };
    Some((as_far as f64 / ways as f64, least / ways as f64))
}

/// `total` over `taken`; None above [`MOST_WAYS`].
fn ways(total: u64, taken: u64) -> Option<u64> {
    let mut ways = 1_u64;
    for step in 1..=taken {
        ways = ways * (total - taken + step) / step;
        if ways > MOST_WAYS {
            return None;
        }
    }
    Some(ways)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_p_is_reached_by_sides_that_do_not_overlap() {
        let (p, least) = exact(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
        assert_eq!((p, least), (2.0 / 252.0, 2.0 / 252.0));
    }

    #[test]
    fn the_p_is_scipys() {
        // scipy.stats.permutation_test((new, base), lambda a, b: mean(a) - mean(b), n_resamples=inf).pvalue
        let base = [6.02, 6.01, 6.05, 5.99, 6.03];
        let new = [6.0, 5.97, 6.02, 5.96, 5.98, 5.99];
        let (p, least) = exact(&base, &new).unwrap();
        assert!((p - 0.038_961_038_961_038_96).abs() < 1e-12, "{p}");
        assert_eq!(exact(&new, &base).unwrap(), (p, least));
        assert_eq!(least, 1.0 / 462.0);
    }
}
