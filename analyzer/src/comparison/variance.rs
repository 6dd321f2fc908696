//! How much a metric varies within a session and between sessions, learnt from both files together.
//!
//! Three repeats say little about their own deviation. Pooled over all cells of a metric and both files they say enough
//! (8 cells of 2 × 3 repeats give 32 degrees of freedom instead of 4). What repeats inside one session can never show is
//! how much the next session differs, which in our simulation turns 40 to 70 % of honest nulls into "changes"; so where a
//! file has one session, a floor is assumed and named as such.

use std::collections::BTreeMap;

use crate::metric::Metric;
use crate::statistics::difference::{self, Variance};
use crate::statistics::spread;
use crate::summary::Sample;

/// A side of a cell on the log scale: one value per batch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logs {
    /// Session and mean logarithm of each batch, in the order of measurement.
    batches: Vec<(u32, f64)>,
}

impl Logs {
    /// None where a value is not positive.
    pub(super) fn of(sample: &Sample) -> Option<Self> {
        let batches: Option<Vec<(u32, f64)>> = sample
            .groups
            .iter()
            .map(|group| Some((group.session, spread::mean(&spread::logarithms(&group.values)?)?)))
            .collect();
        batches.filter(|batches| !batches.is_empty()).map(|batches| Self { batches })
    }

    /// Values, i.e. batches.
    pub(super) fn count(&self) -> usize {
        self.batches.len()
    }

    pub(super) fn values(&self) -> Vec<f64> {
        self.batches.iter().map(|(_, value)| *value).collect()
    }

    pub(super) fn sessions(&self) -> usize {
        self.by_session().len()
    }

    /// The mean over the sessions' means where there are several, so that a long session does not outvote a short one.
    pub(super) fn mean(&self) -> f64 {
        let means = self.session_means();
        spread::mean(&means).unwrap_or(f64::NAN)
    }

    fn session_means(&self) -> Vec<f64> {
        self.by_session().values().filter_map(|values| spread::mean(values)).collect()
    }

    fn by_session(&self) -> BTreeMap<u32, Vec<f64>> {
        let mut sessions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (session, value) in &self.batches {
            sessions.entry(*session).or_default().push(*value);
        }
        sessions
    }

    /// Squared deviations inside sessions, and their degrees of freedom.
    fn within(&self) -> (f64, usize) {
        let sessions = self.by_session();
        let squares = sessions.values().map(|values| spread::squared_deviations(values)).sum();
        (squares, self.count() - sessions.len())
    }

    /// Squared deviations of the sessions' means, and their number.
    fn between(&self) -> (f64, usize) {
        let means = self.session_means();
        (spread::squared_deviations(&means), means.len())
    }
}

/// Both sides of a cell.
pub(super) type Pair = (Logs, Logs);

/// Where the variance between sessions comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Between {
    /// Of two or more sessions per side: the variance of session means, with its degrees of freedom.
    Measured(Variance),
    /// Assumed: this standard deviation of logarithms.
    Assumed(f64),
}

/// What was learnt of one metric from all cells of both files.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Learnt {
    /// Within sessions, pooled; None where no cell has two values in a session.
    pooled: Option<Variance>,
    /// Cells noisier than the rest, which keep their own variance, by place.
    own: BTreeMap<usize, Variance>,
    between: Option<Variance>,
}

/// Cells with more than this ratio of their own variance to that of all others keep their own: pooled, they would look
/// surer than they are and all others less sure. Four is a factor of two in the deviation.
const NOISIER: f64 = 4.0;

/// Learns from all pairs of a metric. The order of the pairs and of the sides does not matter.
pub(super) fn learn(pairs: &[&Pair]) -> Learnt {
    // Each pair's sides are added first: a + b is b + a to the last bit, so swapping the files changes nothing.
    let within: Vec<(f64, usize)> = pairs
        .iter()
        .map(|(base, new)| {
            let (base, new) = (base.within(), new.within());
            (base.0 + new.0, base.1 + new.1)
        })
        .collect();
    let pool = |parts: &mut dyn Iterator<Item = (f64, usize)>| {
        let (squares, freedom) = parts.fold((0.0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        variance(squares, freedom)
    };
    // Running sums from both ends give "all others" of each place without adding them up anew, and without taking a large
    // part out of a sum, which would leave nothing but its rounding.
    let add = |sum: &mut (f64, usize), part: &(f64, usize)| {
        let before = *sum;
        *sum = (sum.0 + part.0, sum.1 + part.1);
        Some(before)
    };
    let before: Vec<(f64, usize)> = within.iter().scan((0.0, 0), add).collect();
    let mut after: Vec<(f64, usize)> = within.iter().rev().scan((0.0, 0), add).collect();
    after.reverse();
    let mut own = BTreeMap::new();
    for (place, (squares, freedom)) in within.iter().enumerate() {
        let others = variance(before[place].0 + after[place].0, before[place].1 + after[place].1);
        if let (Some(alone), Some(others)) = (variance(*squares, *freedom), others)
            && alone.value > NOISIER * others.value
        {
            own.insert(place, alone);
        }
    }
    let pooled =
        pool(&mut within.iter().enumerate().filter(|(place, _)| !own.contains_key(place)).map(|(_, part)| *part));
    Learnt { pooled, between: between(pairs), own }
}

/// Mean of squared deviations; None without degrees of freedom.
fn variance(squares: f64, freedom: usize) -> Option<Variance> {
    (freedom > 0).then(|| Variance { value: squares / freedom as f64, freedom: freedom as f64 })
}

/// The variance of session means, pooled over the cells in which both sides have two sessions or more.
///
/// Its degrees of freedom are those of one cell: a session that is slow is slow in all its cells, so more cells show the
/// same few sessions again.
fn between(pairs: &[&Pair]) -> Option<Variance> {
    let several: Vec<((f64, usize), (f64, usize))> = pairs
        .iter()
        .map(|(base, new)| (base.between(), new.between()))
        .filter(|(base, new)| base.1 >= 2 && new.1 >= 2)
        .collect();
    let freedom = several.iter().map(|(base, new)| base.1 + new.1 - 2).min()?;
    let parts: Vec<(f64, usize)> = several.iter().map(|(base, new)| (base.0 + new.0, base.1 + new.1 - 1)).collect();
    difference::pooled(&parts).map(|variance| Variance { value: variance.value, freedom: freedom as f64 })
}

impl Learnt {
    /// The variance within sessions that holds for a cell, and whether it is the cell's own.
    pub(super) fn within(&self, place: usize) -> Option<(Variance, bool)> {
        self.own.get(&place).map(|own| (*own, true)).or_else(|| self.pooled.map(|pooled| (pooled, false)))
    }

    /// The variance between sessions that holds for a pair.
    pub(super) fn between(&self, metric: Metric, pair: &Pair) -> Between {
        match self.between {
            Some(measured) if pair.0.sessions() >= 2 && pair.1.sessions() >= 2 => Between::Measured(measured),
            _ => Between::Assumed(floor(metric)),
        }
    }
}

/// The standard deviation between sessions, of logarithms, that is assumed while nobody has measured it: 1.5 % for decode
/// rates, 2.5 % for prefill and all that contains it, 4 % for energy. A proposal, to be replaced by runs of the same
/// against the same.
pub(super) const fn floor(metric: Metric) -> f64 {
    match metric {
        Metric::GenerationTps
        | Metric::AggregateExoMaxTimesN
        | Metric::AggregateSumOfRates
        | Metric::Tpot
        | Metric::Itl => 0.015,
        metric if metric.is_energy() => 0.04,
        _ => 0.025,
    }
}

/// The squared standard error of the difference of a pair.
pub(super) fn squared_error(within: Variance, between: Between, pair: &Pair) -> Variance {
    let inverse = |count: usize| 1.0 / count as f64;
    let values = inverse(pair.0.count()) + inverse(pair.1.count());
    let sessions = inverse(pair.0.sessions()) + inverse(pair.1.sessions());
    let scaled = |variance: Variance, by: f64| Variance { value: variance.value * by, freedom: variance.freedom };
    match between {
        Between::Assumed(deviation) => difference::satterthwaite(&[
            scaled(within, values),
            Variance { value: deviation * deviation * sessions, freedom: f64::INFINITY },
        ]),
        // The means of sessions vary by both parts at once, so their variance is the whole error. Where it comes out below
        // what repeats alone explain, the part between sessions is 0 and not negative.
        Between::Measured(means) => {
            let (whole, repeats) = (scaled(means, sessions), scaled(within, values));
            if whole.value > repeats.value { whole } else { repeats }
        }
    }
}
