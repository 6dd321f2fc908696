//! The method on logarithms alone, without files and cells' names: what each pair shows, what all of them show together,
//! and the words.

use super::calibration::Calibration;
use super::logs::Logs;
use super::permutation::{self, Permutation};
use super::variance::{self, Between, Learnt, Pair, Repeats};
use super::verdict::{self, Critical, Effect};
use super::{Options, Verdict, shift};
use crate::metric::{Better, Metric};
use crate::statistics::difference::{self, Variance};
use crate::statistics::multiplicity;
use crate::units;

/// What one pair shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Weighed {
    pub(super) effect: Option<Effect>,
    pub(super) permutation: Option<Permutation>,
    pub(super) warnings: Vec<String>,
}

/// Weighs all pairs of a metric; the second is their geometric mean. The order of the pairs decides nothing but the last
/// bit, so the caller gives them in an order that does not depend on which side is the base.
pub(super) fn weigh(metric: Metric, pairs: &[&Pair], options: &Options) -> (Vec<Weighed>, Option<Weighed>) {
    let learnt = variance::learn(pairs);
    let source = Source { metric, learnt: &learnt, options };
    let mut critical = Critical::default();
    let rows = pairs.iter().enumerate().map(|(place, pair)| source.one(place, pair, &mut critical)).collect();
    (rows, source.all(pairs, &mut critical))
}

/// Where the variances of a metric come from.
struct Source<'a> {
    metric: Metric,
    learnt: &'a Learnt,
    options: &'a Options,
}

impl Source<'_> {
    /// Within a session: of the pairs themselves, else of the calibration. The flag says that it is the cell's own.
    fn within(&self, place: usize) -> Option<(Variance, bool)> {
        let calibrated = || self.options.calibration.as_ref().and_then(|calibration| calibration.within(self.metric));
        self.learnt.within(place).or_else(|| calibrated().map(|variance| (variance, false)))
    }

    /// Between sessions: measured before calibrated before assumed.
    fn between(&self, several: bool) -> Between {
        match self.learnt.between {
            Some(measured) if several => Between::Measured(measured),
            _ => {
                let calibration = self.options.calibration.as_ref();
                calibration
                    .and_then(|calibration: &Calibration| calibration.between(self.metric))
                    .map_or_else(|| Between::Assumed(self.options.floor(self.metric)), Between::Calibrated)
            }
        }
    }

    fn one(&self, place: usize, pair: &Pair, critical: &mut Critical) -> Weighed {
        let mut weighed = Weighed::default();
        let (base, new) = pair;
        if base.count() == 1 || new.count() == 1 {
            weighed.warnings.push("single shot: one value on a side".to_owned());
        }
        for (side, logs) in [("base", base), ("new side", new)] {
            if let Some(drift) = logs.drift() {
                weighed.warnings.push(format!(
                    "the {side} drifts within a session ({} over it): its repeats count as one value",
                    units::change(difference::percent(drift.change))
                ));
            }
        }
        let within = self.within(place);
        if within.is_some_and(|(_, own)| own) {
            weighed.warnings.push("noisier than the other cells: judged by its own deviation".to_owned());
        }
        let between = self.between(base.sessions() >= 2 && new.sessions() >= 2);
        weighed.warnings.extend(self.words(between));
        weighed.warnings.extend(unrepeated(within.is_some(), between));
        let squared_error = match within {
            Some((within, _)) => variance::squared_error(within, between, pair, critical),
            None => variance::of_sessions(between, base.inverse_of_sessions() + new.inverse_of_sessions()),
        };
        weighed.effect = Effect::of(new.mean() - base.mean(), squared_error, critical);
        weighed.permutation = permutation::of(base, new);
        if let Some(effect) = &weighed.effect
            && shift::hodges_lehmann(&base.values(), &new.values())
                .is_some_and(|shift| (shift - effect.difference).abs() > effect.half_width / 2.0)
        {
            weighed
                .warnings
                .push("outlier-sensitive: the median of all differences is another; look at the dots".to_owned());
        }
        weighed
    }

    /// What is said of a deviation between sessions that was not measured here.
    fn words(&self, between: Between) -> Option<String> {
        let percent = |deviation: f64| units::percent(100.0 * deviation);
        match between {
            Between::Measured(_) => None,
            Between::Assumed(deviation) if self.options.floor_percent.is_some() => {
                Some(format!("deviation between sessions declared, {}: a side has one session", percent(deviation)))
            }
            Between::Assumed(deviation) => {
                Some(format!("deviation between sessions assumed, {}: a side has one session", percent(deviation)))
            }
            Between::Calibrated(variance) => {
                let of_base = self.options.calibration.as_ref().is_some_and(|calibration| calibration.of_base);
                let from = if of_base { "of the base, taken for both sides" } else { "from the calibration" };
                let deviation = percent(variance.value.sqrt());
                Some(format!("deviation between sessions {from}, {deviation}: a side has one session"))
            }
        }
    }

    /// The mean of all pairs' differences: the change of the geometric mean, paired by cell. None for no pair.
    fn all(&self, pairs: &[&Pair], critical: &mut Critical) -> Option<Weighed> {
        let cells = pairs.len() as f64;
        let mut weighed = Weighed::default();
        let difference = pairs.iter().map(|(base, new)| new.mean() - base.mean()).sum::<f64>() / cells;
        if pairs.is_empty() {
            return None;
        }
        if pairs.len() == 1 {
            let one = self.one(0, pairs.first()?, critical);
            return Some(Weighed { permutation: None, ..one });
        }
        let whole = pairs.iter().enumerate().map(|(place, _)| self.within(place)).collect::<Option<Vec<_>>>();
        let repeats = |within: &[(Variance, bool)], share: fn(&Logs) -> f64| {
            let mut pooled: Option<Variance> = None;
            let mut parts = Vec::new();
            for ((base, new), (within, own)) in pairs.iter().zip(within) {
                let part = variance::scaled(*within, (share(base) + share(new)) / (cells * cells));
                match &mut pooled {
                    _ if *own => parts.push(part),
                    Some(pooled) => pooled.value += part.value,
                    None => pooled = Some(part),
                }
            }
            parts.extend(pooled);
            difference::satterthwaite(&parts)
        };
        let repeats = whole.map(|within| Repeats {
            steady: repeats(&within, Logs::inverse_of_values),
            all: repeats(&within, |logs| logs.inverse_of_values() + logs.lost_to_drift()),
        });
        let drifting = pairs.iter().filter(|(base, new)| base.drift().is_some() || new.drift().is_some()).count();
        if drifting > 0 {
            weighed.warnings.push(format!(
                "drifts within a session in {drifting} of {} cells: their repeats count as one value",
                pairs.len()
            ));
        }
        let several = pairs.iter().all(|(base, new)| base.sessions() >= 2 && new.sessions() >= 2);
        // A session that is slow may be slow in all its cells: more cells do not make fewer sessions more.
        let sessions =
            pairs.iter().map(|(base, new)| base.inverse_of_sessions() + new.inverse_of_sessions()).fold(0.0, f64::max);
        let between = match self.between(several) {
            Between::Measured(_) => {
                let sides: (Vec<_>, Vec<_>) = pairs.iter().map(|(base, new)| (base, new)).unzip();
                variance::Means::of([&sides.0, &sides.1]).overall().map(Between::Measured)?
            }
            other => other,
        };
        weighed.warnings.extend(self.words(between));
        weighed.warnings.extend(unrepeated(repeats.is_some(), between));
        let squared_error = match repeats {
            Some(repeats) => variance::combined(repeats, between, sessions, critical),
            None => variance::of_sessions(between, sessions),
        };
        weighed.effect = Effect::of(difference, squared_error, critical);
        Some(weighed)
    }
}

/// That nothing shows how repeats differ. Sessions of one value each hold that in what they differ by; else what is assumed or
/// declared of sessions has to stand for it.
fn unrepeated(repeated: bool, between: Between) -> Option<String> {
    let stands_in = !repeated && !matches!(between, Between::Measured(_));
    stands_in.then(|| "no repeats anywhere: the deviation between sessions stands for all of it".to_owned())
}

/// The adjusted p and the word of each effect that is judged, all of them one family (Benjamini–Hochberg).
pub(super) fn judge(effects: &[(Metric, Effect)], options: &Options) -> Vec<(f64, Verdict)> {
    let p_values: Vec<f64> = effects.iter().map(|(_, effect)| effect.p).collect();
    let word = |(metric, effect): &(Metric, Effect), p_adjusted: f64| {
        let smallest = difference::log_difference(options.delta(*metric));
        let higher = metric.definition().better == Better::Higher;
        (p_adjusted, verdict::word(effect, p_adjusted, smallest, higher))
    };
    effects.iter().zip(multiplicity::benjamini_hochberg(&p_values)).map(|(effect, p)| word(effect, p)).collect()
}
