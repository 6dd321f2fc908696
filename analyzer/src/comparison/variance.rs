//! How much a metric varies within a session and between sessions, learnt from both sides together.
//!
//! Three repeats say little about their own deviation. Pooled over all cells of a metric and both sides they say enough
//! (8 cells of 2 × 3 repeats give 32 degrees of freedom instead of 4). What repeats inside one session can never show is
//! how much the next session differs, which in our simulation turns 40 to 70 % of honest nulls into "changes"; so where a
//! side has one session, the deviation between sessions comes from a calibration, else from the other side where that has
//! enough of them, else a floor is assumed and named as such.

use std::collections::BTreeMap;

use super::calibration::SESSIONS_WANTED;
use super::logs::Logs;
use super::verdict::Critical;
use crate::metric::Metric;
use crate::statistics::difference::{self, Variance};
use crate::statistics::interval;

/// Both sides of a cell.
pub(super) type Pair = (Logs, Logs);

/// Where the variance between sessions comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Between {
    /// Of two or more sessions per side: the variance of session means, with its degrees of freedom.
    Measured(Variance),
    /// Of the one side that has several sessions, [`SESSIONS_WANTED`] or more: the variance of its session means.
    OfOneSide(Variance),
    /// Of a calibration: the variance that sessions add, with its degrees of freedom.
    Calibrated(Variance),
    /// Declared: this standard deviation of logarithms.
    Declared(f64),
    /// Of the two to four sessions of one side: the variance of their means. It stands where its interval is wider than the
    /// one by what is assumed.
    OfFew(Variance),
    /// Assumed.
    Assumed(f64),
    /// Nobody has said anything of how the metric differs between sessions.
    Unknown,
}

/// What was learnt of one metric from all cells of both sides.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Learnt {
    /// Within sessions, pooled; None where no cell has two values in a session.
    pub(super) pooled: Option<Variance>,
    /// Cells noisier than the rest, which keep their own variance, by place.
    own: BTreeMap<usize, Variance>,
    /// Of session means; None where no cell has two sessions on both sides.
    pub(super) between: Option<Variance>,
    /// Of the session means of all sides that have [`SESSIONS_WANTED`] or more; None where they do not differ.
    pub(super) of_one_side: Option<Variance>,
    /// Of the session means of all sides that have two or more; None where they do not differ.
    pub(super) of_few: Option<Variance>,
    /// Cells whose sessions differ by more than those of the rest, which keep their own variance, by place.
    own_between: BTreeMap<usize, Variance>,
}

/// Cells with more than this ratio of their own variance to that of all others keep their own: pooled, they would look
/// surer than they are and all others less sure. Four is a factor of two in the deviation.
const NOISIER: f64 = 4.0;

/// Learns from all pairs of a metric. The order of the pairs and of the sides does not matter.
pub(super) fn learn(pairs: &[&Pair]) -> Learnt {
    // Each pair's sides are added first: a + b is b + a to the last bit, so swapping the sides changes nothing.
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
    let own = beside_others(&within)
        .filter(|(_, alone, others)| alone.value > NOISIER * others.value)
        .map(|(place, alone, _)| (place, alone))
        .collect::<BTreeMap<_, _>>();
    let pooled =
        pool(&mut within.iter().enumerate().filter(|(place, _)| !own.contains_key(place)).map(|(_, part)| *part));
    let own_between = restless(pairs);
    let rest: Vec<&Pair> =
        pairs.iter().enumerate().filter(|(place, _)| !own_between.contains_key(place)).map(|(_, pair)| *pair).collect();
    let (bases, news): (Vec<&Logs>, Vec<&Logs>) = rest
        .iter()
        .filter(|(base, new)| base.sessions() >= 2 && new.sessions() >= 2)
        .map(|(base, new)| (base, new))
        .unzip();
    let of_sides = |least: usize| Means::of(&with_sessions(&rest, least)).variance().filter(|means| means.value > 0.0);
    Learnt {
        between: Means::of([&bases, &news]).variance(),
        of_one_side: of_sides(SESSIONS_WANTED),
        of_few: of_sides(2),
        pooled,
        own,
        own_between,
    }
}

/// Each cell's own variance with that of all others together, where both have one.
///
/// Running sums from both ends give "all others" of each place without adding them up anew, and without taking a large part out
/// of a sum, which would leave nothing but its rounding.
fn beside_others(parts: &[(f64, usize)]) -> impl Iterator<Item = (usize, Variance, Variance)> {
    let add = |sum: &mut (f64, usize), part: &(f64, usize)| {
        let before = *sum;
        *sum = (sum.0 + part.0, sum.1 + part.1);
        Some(before)
    };
    let before: Vec<(f64, usize)> = parts.iter().scan((0.0, 0), add).collect();
    let mut after: Vec<(f64, usize)> = parts.iter().rev().scan((0.0, 0), add).collect();
    after.reverse();
    let others = before.into_iter().zip(after).map(|(before, after)| variance(before.0 + after.0, before.1 + after.1));
    let places = parts.iter().enumerate().zip(others);
    places.filter_map(|((place, (squares, freedom)), others)| Some((place, variance(*squares, *freedom)?, others?)))
}

/// Cells whose session means vary by more than [`NOISIER`] times those of all others, with their own variance. Few sessions
/// differ by so much by chance, and taken out of the pool they would leave it too sure of itself; so chance must not explain it.
fn restless(pairs: &[&Pair]) -> BTreeMap<usize, Variance> {
    let of_pair = |(base, new): &&Pair| {
        let (base, new) = (Means::of([&vec![base]]), Means::of([&vec![new]]));
        (base.squares + new.squares, base.freedom + new.freedom)
    };
    let parts: Vec<(f64, usize)> = pairs.iter().map(of_pair).collect();
    let is_restless = |alone: &Variance, others: &Variance| {
        let by_chance = interval::chance_of_ratio(alone.value / others.value, alone.freedom, others.freedom);
        alone.value > NOISIER * others.value && by_chance * (pairs.len() as f64) < RESTLESS_P
    };
    let found = beside_others(&parts).filter(|(_, alone, others)| is_restless(alone, others));
    found.map(|(place, alone, _)| (place, alone)).collect()
}

/// A cell is restless when chance makes any cell of steady ones so in fewer than this share of comparisons.
const RESTLESS_P: f64 = 0.005;

/// The cells of each side that have this many sessions.
fn with_sessions<'a>(pairs: &[&'a Pair], least: usize) -> [Vec<&'a Logs>; 2] {
    let of = |side: fn(&Pair) -> &Logs| {
        pairs.iter().map(|pair| side(pair)).filter(|logs| logs.sessions() >= least).collect()
    };
    [of(|pair| &pair.0), of(|pair| &pair.1)]
}

/// Mean of squared deviations; None without degrees of freedom.
fn variance(squares: f64, freedom: usize) -> Option<Variance> {
    (freedom > 0).then(|| Variance { value: squares / freedom as f64, freedom: freedom as f64 })
}

/// The squares of session means around the mean of their cell and side, in the two ways of adding them up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Means {
    /// Cells.
    cells: usize,
    /// Squared deviations of every session mean.
    squares: f64,
    /// Their degrees of freedom over all cells.
    freedom: usize,
    /// Squared sums over the cells of each session's deviations: what the sessions have in common.
    common: f64,
    /// Degrees of freedom of the sessions themselves.
    of_sessions: usize,
}

impl Means {
    /// Of the cells of some sides, which are added up apart: sessions of different sides have nothing in common.
    pub(super) fn of<'a>(sides: impl IntoIterator<Item = &'a Vec<&'a Logs>>) -> Self {
        let mut means = Self::default();
        for cells in sides {
            means.cells = means.cells.max(cells.len());
            let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
            let mut squares = Vec::new();
            for logs in cells {
                let whole = logs.mean();
                for (session, mean) in logs.session_means() {
                    *sums.entry(session).or_default() += mean - whole;
                    squares.push((mean - whole) * (mean - whole));
                }
                means.freedom += logs.sessions().saturating_sub(1);
            }
            means.of_sessions += sums.len().saturating_sub(1);
            let mut common: Vec<f64> = sums.into_values().map(|sum| sum * sum).collect();
            // The sessions' numbers are those of the files' order, which must not matter.
            common.sort_by(f64::total_cmp);
            squares.sort_by(f64::total_cmp);
            means.squares += squares.iter().sum::<f64>();
            means.common += common.iter().sum::<f64>();
        }
        means
    }

    /// The variance of session means, pooled over the cells, with the degrees of freedom that it is worth.
    ///
    /// A session that is slow as a whole is slow in all its cells, so that more cells show the same few sessions again;
    /// where each cell has a fate of its own, each adds its degrees of freedom. Which of the two it is, the data tell: with
    /// the correlation ρ of two cells' session means, the pooled variance has the uncertainty of ν·C / (1 + (C − 1)·ρ²)
    /// degrees of freedom (variance of a mean of C equally correlated variances).
    pub(super) fn variance(&self) -> Option<Variance> {
        if self.freedom == 0 {
            return None;
        }
        let freedom = self.freedom as f64;
        let others = self.cells.saturating_sub(1) as f64;
        let correlation = if others > 0.0 && self.squares > 0.0 {
            ((self.common - self.squares) / (others * self.squares)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        Some(Variance { value: self.squares / freedom, freedom: freedom / (1.0 + others * correlation * correlation) })
    }

    /// The variance of a session's mean over all cells; None where a side has one session.
    pub(super) fn overall(&self) -> Option<Variance> {
        let cells = self.cells as f64;
        (self.of_sessions > 0).then(|| Variance {
            value: self.common / (cells * cells) / self.of_sessions as f64,
            freedom: self.of_sessions as f64,
        })
    }
}

impl Learnt {
    /// The variance of its session means that a restless cell keeps.
    pub(super) fn own_between(&self, place: usize) -> Option<Variance> {
        self.own_between.get(&place).copied()
    }

    /// The variance within sessions that holds for a cell, and whether it is the cell's own.
    pub(super) fn within(&self, place: usize) -> Option<(Variance, bool)> {
        self.own.get(&place).map(|own| (*own, true)).or_else(|| self.pooled.map(|pooled| (pooled, false)))
    }
}

/// The standard deviation between sessions, of logarithms, that is assumed while nobody has measured it: 1.5 % for decode
/// rates, 2.5 % for prefill and all that contains it, 4 % for energy. A proposal, to be replaced by runs of the same
/// against the same. None for what it was not proposed for.
pub(super) const fn floor(metric: Metric) -> Option<f64> {
    Some(match metric {
        Metric::GenerationTps
        | Metric::AggregateExoMaxTimesN
        | Metric::AggregateSumOfRates
        | Metric::Tpot
        | Metric::Itl => 0.015,
        Metric::PrefillTps
        | Metric::Elapsed
        | Metric::Ttft
        | Metric::AggregateTokensOverWall
        | Metric::RequestsPerSecond => 0.025,
        metric if metric.is_energy() => 0.04,
        _ => return None,
    })
}

/// The squared standard error of the difference of a pair.
pub(super) fn squared_error(within: Variance, between: Between, pair: &Pair, critical: &mut Critical) -> Variance {
    let steady = scaled(within, values(pair));
    let all = scaled(within, values(pair) + lost_to_drift(pair));
    combined(Repeats { steady, all, lone: scaled(within, lone(pair)) }, between, sessions(pair), critical)
}

/// What the variance within sessions is multiplied by to give that of the difference.
pub(super) fn values(pair: &Pair) -> f64 {
    pair.0.inverse_of_values() + pair.1.inverse_of_values()
}

/// What drifts within sessions add to it.
pub(super) fn lost_to_drift(pair: &Pair) -> f64 {
    pair.0.lost_to_drift() + pair.1.lost_to_drift()
}

/// The sum of 1 / sessions over the sides: what the variance between sessions is multiplied by.
pub(super) fn sessions(pair: &Pair) -> f64 {
    pair.0.inverse_of_sessions() + pair.1.inverse_of_sessions()
}

/// What a lone session adds to the variance within that it has, where it has fewer repeats than the sessions of the other
/// side, whose means vary by less for it. 0 where both sides have several sessions, or one.
pub(super) fn lone(pair: &Pair) -> f64 {
    let (one, many) = match (pair.0.sessions(), pair.1.sessions()) {
        (1, 2..) => (&pair.0, &pair.1),
        (2.., 1) => (&pair.1, &pair.0),
        _ => return 0.0,
    };
    (one.share_of_repeats() - many.share_of_repeats()).max(0.0)
}

/// The squared error where nothing was repeated within a session: sessions of one value differ by all there is. None where
/// nobody knows by how much.
pub(super) fn of_sessions(between: Between, sessions: f64) -> Option<Variance> {
    Some(match between {
        Between::Assumed(deviation) | Between::Declared(deviation) => {
            Variance { value: deviation * deviation * sessions, freedom: f64::INFINITY }
        }
        Between::Calibrated(variance)
        | Between::Measured(variance)
        | Between::OfOneSide(variance)
        | Between::OfFew(variance) => scaled(variance, sessions),
        Between::Unknown => return None,
    })
}

/// The error by repeats: as if none drifted, and with what a drift adds; the same where none does. `lone` is what a session
/// that is alone on its side adds to the sessions of the other, see [`lone`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Repeats {
    pub(super) steady: Variance,
    pub(super) all: Variance,
    pub(super) lone: Variance,
}

impl Repeats {
    /// Of values that do not drift.
    pub(super) const fn steady(error: Variance) -> Self {
        Self { steady: error, all: error, lone: Variance { value: 0.0, freedom: f64::INFINITY } }
    }
}

/// The error by repeats and the one by sessions, together. `sessions` is the sum of 1 / sessions over the sides.
///
/// A drift only ever widens the interval: it adds to the variance, and never to the degrees of freedom, of which a larger share
/// of the better known part would give more to values that are less sure.
pub(super) fn combined(repeats: Repeats, between: Between, sessions: f64, critical: &mut Critical) -> Variance {
    let beside = |other: Variance| {
        let [steady, all] = [repeats.steady, repeats.all].map(|part| difference::satterthwaite(&[part, other]));
        Variance { value: all.value, freedom: all.freedom.min(steady.freedom) }
    };
    match (between, of_sessions(between, sessions)) {
        // The means of sessions vary by both parts at once, so their variance is the whole error, and its interval holds
        // what it says however many sessions there are. It can come out small by luck, below what repeats alone explain;
        // then the wider of the two intervals stands. Going by the larger variance would not do: few sessions fall below
        // often, and the many degrees of freedom of the repeats would make that luck look like knowledge.
        (Between::Measured(_) | Between::OfOneSide(_) | Between::OfFew(_), Some(means)) => {
            let whole = difference::satterthwaite(&[means, repeats.lone]);
            let wider = critical.half_width(repeats.steady) > critical.half_width(whole);
            let stands = if wider { repeats.steady } else { whole };
            // Sessions that drift alike have means that do not show it.
            Variance { value: stands.value + (repeats.all.value - repeats.steady.value), freedom: stands.freedom }
        }
        (_, Some(known)) => beside(known),
        (_, None) => repeats.all,
    }
}

/// A variance times a number.
pub(super) fn scaled(variance: Variance, by: f64) -> Variance {
    Variance { value: variance.value * by, freedom: variance.freedom }
}
