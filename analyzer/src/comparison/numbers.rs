//! The method on bare numbers, without a file: for simulations of the method, and for whoever has numbers and no file.

use super::calibration::{self, CalibratedMetric};
use super::logs::Logs;
use super::method;
use super::permutation::{self, Permutation};
use super::variance::Pair;
use super::verdict::Effect;
use super::{Options, Verdict};
use crate::metric::Metric;
use crate::statistics::{difference, spread};

/// The values of one cell: by side, session and repeat.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values {
    /// The base's sessions.
    pub base: Vec<Vec<f64>>,
    /// The new side's sessions.
    pub new: Vec<Vec<f64>>,
}

/// What the method says of one cell, or of all together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// 95 % interval of the change, percent; None where it cannot be reckoned.
    pub interval_percent: Option<[f64; 2]>,
    /// Two-sided p of no change.
    pub p: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Compares one metric in several cells. The second is the geometric mean over them; None where a cell cannot be compared.
///
/// A cell with an empty session or a value of 0 or below is [`Verdict::NotComparable`].
#[must_use]
pub fn compare(metric: Metric, cells: &[Values], options: &Options) -> (Vec<Answer>, Option<Answer>) {
    let pairs: Vec<Option<Pair>> =
        cells.iter().map(|cell| logs(metric, &cell.base).zip(logs(metric, &cell.new))).collect();
    let known: Vec<&Pair> = pairs.iter().flatten().collect();
    let (weighed, whole) = method::weigh(metric, &known, options);
    let effects: Vec<(Metric, Effect)> = weighed.iter().filter_map(|weighed| Some((metric, weighed.effect?))).collect();
    let mut judged = method::judge(&effects, options).into_iter();
    let mut weighed = weighed.into_iter();
    let answers = pairs.iter().map(|pair| {
        let effect = pair.as_ref().and_then(|_| weighed.next()).and_then(|weighed| weighed.effect);
        let verdict = effect.and_then(|_| judged.next()).map(|(_, verdict)| verdict);
        let otherwise = if pair.is_some() { Verdict::Undecided } else { Verdict::NotComparable };
        answer(effect, verdict.unwrap_or(otherwise))
    });
    let whole = whole.filter(|_| known.len() == cells.len()).and_then(|whole| whole.effect).map(|effect| {
        let verdict = method::judge(&[(metric, effect)], options).first().map_or(Verdict::Undecided, |(_, word)| *word);
        answer(Some(effect), verdict)
    });
    (answers.collect(), whole)
}

fn logs(metric: Metric, sessions: &[Vec<f64>]) -> Option<Logs> {
    let sessions = sessions.iter().zip(0..).map(|(values, number)| Some((number, spread::logarithms(values)?)));
    Logs::of_sessions(metric, sessions.collect::<Option<Vec<_>>>()?)
}

fn answer(effect: Option<Effect>, verdict: Verdict) -> Answer {
    let edge = |effect: Effect, sign: f64| difference::percent(effect.difference + sign * effect.half_width);
    Answer {
        interval_percent: effect.map(|effect| [edge(effect, -1.0), edge(effect, 1.0)]),
        p: effect.map(|effect| effect.p),
        verdict,
    }
}

/// Learns from cells by session and repeat what [`super::calibration::calibrate`] learns from files. None where no cell has
/// two sessions or a value is not positive.
#[must_use]
pub fn calibrate(metric: Metric, cells: &[Vec<Vec<f64>>]) -> Option<CalibratedMetric> {
    calibration::of_logs(metric, &cells.iter().map(|cell| logs(metric, cell)).collect::<Option<Vec<_>>>()?)
}

/// The exact permutation test of one cell; None where a side has fewer than five values, or both have too many.
#[must_use]
pub fn cross_check(cell: &Values) -> Option<Permutation> {
    // The metric decides on what drifts, which no permutation asks for.
    let logs = |sessions: &[Vec<f64>]| logs(Metric::GenerationTps, sessions);
    permutation::of(&logs(&cell.base)?, &logs(&cell.new)?)
}
