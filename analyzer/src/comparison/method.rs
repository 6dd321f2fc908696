//! The method on logarithms alone, without files and cells' names: what each pair shows, what all of them show together,
//! and the words.

use super::calibration::{Calibration, SESSIONS_WANTED};
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

    /// Between sessions: measured on both sides, before calibrated, declared, measured on one side, and assumed. The pairs are
    /// one, or all that a row of the geometric mean is of. Of several answers the one with the wider interval stands.
    fn between(&self, pairs: &[&Pair]) -> Vec<Between> {
        let all = |holds: fn(&Pair) -> bool| pairs.iter().all(|pair| holds(pair));
        if let (true, Some(measured)) =
            (all(|(base, new)| base.sessions() >= 2 && new.sessions() >= 2), self.learnt.between)
        {
            return vec![Between::Measured(measured)];
        }
        let calibration = self.options.calibration.as_ref();
        if let Some(calibrated) = calibration.and_then(|calibration: &Calibration| calibration.between(self.metric)) {
            return vec![Between::Calibrated(calibrated)];
        }
        if let Some(percent) = self.options.floor_percent {
            return vec![Between::Declared(difference::log_difference(percent))];
        }
        let most = |(base, new): &Pair| base.sessions().max(new.sessions());
        let fewest = pairs.iter().map(|pair| most(pair)).min().unwrap_or(1);
        let assumed = variance::floor(self.metric).map_or(Between::Unknown, Between::Assumed);
        match (self.learnt.of_one_side, self.learnt.of_few) {
            (Some(means), _) if fewest >= SESSIONS_WANTED => vec![Between::OfOneSide(means)],
            (_, Some(few)) if fewest >= 2 => vec![assumed, Between::OfFew(few)],
            _ => vec![assumed],
        }
    }

    /// The same for a cell, which keeps its own where its sessions differ by more than those of the others.
    fn between_of(&self, place: usize, pair: &Pair) -> (Vec<Between>, bool) {
        let mut found = self.between(&[pair]);
        let Some(own) = self.learnt.own_between(place) else { return (found, false) };
        let mut is_own = false;
        for between in &mut found {
            if let Between::Measured(means) | Between::OfOneSide(means) | Between::OfFew(means) = between {
                (*means, is_own) = (own, true);
            }
        }
        (found, is_own)
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
        for (side, moved) in
            base.moves().iter().map(|of| ("base", of)).chain(new.moves().iter().map(|of| ("new side", of)))
        {
            weighed
                .warnings
                .push(format!("the {side} {}: they count as one, and its mean is of no one level", moved.words()));
        }
        let within = self.within(place);
        if within.is_some_and(|(_, own)| own) {
            weighed.warnings.push("noisier than the other cells: judged by its own deviation".to_owned());
        }
        let published = Logs::published_error(base, new).filter(|_| within.is_none());
        if published.is_some() {
            weighed.warnings.push("no repeats: the deviations that were published stand for them".to_owned());
        }
        let (candidates, is_own) = self.between_of(place, pair);
        if is_own {
            weighed
                .warnings
                .push("its sessions differ by more than those of the other cells: judged by its own".to_owned());
        }
        let (between, squared_error) = widest(candidates, critical, |between, critical| match (within, published) {
            (Some((within, _)), _) => Some(variance::squared_error(within, between, pair, critical)),
            (None, Some(error)) => {
                Some(variance::combined(Repeats::steady(error), between, variance::sessions(pair), critical))
            }
            (None, None) => variance::of_sessions(between, variance::sessions(pair)),
        });
        weighed.warnings.extend(self.words(between, &[pair]));
        weighed.warnings.extend(unrepeated(within.is_some() || published.is_some(), between));
        weighed.effect = squared_error.and_then(|error| Effect::of(new.mean() - base.mean(), error, critical));
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

    /// What is said of a deviation between sessions that was not measured on both sides.
    fn words(&self, between: Between, pairs: &[&Pair]) -> Option<String> {
        let percent = |deviation: f64| units::percent(100.0 * deviation);
        let of = |side: fn(&Pair) -> &Logs| pairs.iter().all(|pair| side(pair).sessions() >= 2);
        let (many, lone) = match (of(|pair| &pair.0), of(|pair| &pair.1)) {
            (true, _) => ("the base's sessions", "the new side has one"),
            (_, true) => ("the new side's sessions", "the base has one"),
            _ => ("one side's sessions", "the other has one"),
        };
        Some(match between {
            Between::Measured(_) => return None,
            Between::Unknown => {
                "how much sessions differ in it is not known: the interval is of repeats alone".to_owned()
            }
            Between::Declared(deviation) => {
                format!("deviation between sessions declared, {}: a side has one session", percent(deviation))
            }
            Between::Assumed(deviation) => {
                format!("deviation between sessions assumed, {}: a side has one session", percent(deviation))
            }
            Between::OfOneSide(means) => {
                format!("{many} differ by {}, which is taken for both sides: {lone}", percent(means.value.sqrt()))
            }
            Between::OfFew(means) => format!(
                "{many} are few and differ by {}, which is taken for both sides: {lone}",
                percent(means.value.sqrt())
            ),
            Between::Calibrated(variance) => {
                let deviation = percent(variance.value.sqrt());
                format!("deviation between sessions from the calibration, {deviation}: a side has one session")
            }
        })
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
        let repeats = |within: &[(Variance, bool)], share: &dyn Fn(&Pair) -> f64| {
            let mut pooled: Option<Variance> = None;
            let mut parts = Vec::new();
            for (pair, (within, own)) in pairs.iter().zip(within) {
                let part = variance::scaled(*within, share(pair) / (cells * cells));
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
            steady: repeats(&within, &variance::values),
            all: repeats(&within, &|pair| variance::values(pair) + variance::lost_to_drift(pair)),
            lone: repeats(&within, &variance::lone),
        });
        let published = || {
            let of = |pair: &&Pair| Logs::published_error(&pair.0, &pair.1);
            let parts = pairs.iter().map(of).collect::<Option<Vec<_>>>()?;
            let parts = parts.into_iter().map(|part| variance::scaled(part, 1.0 / (cells * cells)));
            Some(Repeats::steady(difference::satterthwaite(&parts.collect::<Vec<_>>())))
        };
        let repeats = repeats.or_else(published);
        let drifting = pairs.iter().filter(|(base, new)| base.drift().is_some() || new.drift().is_some()).count();
        if drifting > 0 {
            weighed.warnings.push(format!(
                "drifts within a session in {drifting} of {} cells: their repeats count as one value",
                pairs.len()
            ));
        }
        let moving = pairs.iter().filter(|(base, new)| !base.moves().is_empty() || !new.moves().is_empty()).count();
        if moving > 0 {
            weighed.warnings.push(format!(
                "moves from session to session in {moving} of {} cells: these sessions count as one",
                pairs.len()
            ));
        }
        // A session that is slow may be slow in all its cells: more cells do not make fewer sessions more.
        let sessions = pairs.iter().map(|pair| variance::sessions(pair)).fold(0.0, f64::max);
        let (bases, news): (Vec<_>, Vec<_>) = pairs.iter().map(|(base, new)| (base, new)).unzip();
        // Sessions over all their cells, where one side has enough of them in every cell; else as of one cell.
        let over_all = |means: Variance, least: usize| {
            let is_many = |side: &&Vec<&Logs>| side.iter().all(|logs| logs.sessions() >= least);
            let many = [&bases, &news].into_iter().filter(is_many);
            variance::Means::of(many).overall().filter(|all| all.value > 0.0).unwrap_or(means)
        };
        let candidates = self.between(pairs).into_iter().map(|between| match between {
            Between::Measured(means) => {
                Between::Measured(variance::Means::of([&bases, &news]).overall().unwrap_or(means))
            }
            Between::OfOneSide(means) => Between::OfOneSide(over_all(means, SESSIONS_WANTED)),
            Between::OfFew(means) => Between::OfFew(over_all(means, 2)),
            other => other,
        });
        let (between, squared_error) = widest(candidates.collect(), critical, |between, critical| match repeats {
            Some(repeats) => Some(variance::combined(repeats, between, sessions, critical)),
            None => variance::of_sessions(between, sessions),
        });
        weighed.warnings.extend(self.words(between, pairs));
        weighed.warnings.extend(unrepeated(repeats.is_some(), between));
        weighed.effect = squared_error.and_then(|error| Effect::of(difference, error, critical));
        Some(weighed)
    }
}

/// The answer with the widest interval, and the squared error by it.
fn widest(
    candidates: Vec<Between>,
    critical: &mut Critical,
    mut error: impl FnMut(Between, &mut Critical) -> Option<Variance>,
) -> (Between, Option<Variance>) {
    let mut widest: Option<(f64, Between, Option<Variance>)> = None;
    for between in candidates {
        let squared = error(between, critical);
        let width = squared.and_then(|squared| critical.half_width(squared)).unwrap_or(0.0);
        if widest.as_ref().is_none_or(|(known, ..)| width > *known) {
            widest = Some((width, between, squared));
        }
    }
    widest.map_or((Between::Unknown, None), |(_, between, squared)| (between, squared))
}

/// That nothing shows how repeats differ. Sessions of one value each hold that in what they differ by; else what is assumed or
/// declared of sessions has to stand for it.
fn unrepeated(repeated: bool, between: Between) -> Option<String> {
    let hold_it =
        matches!(between, Between::Measured(_) | Between::OfOneSide(_) | Between::OfFew(_) | Between::Unknown);
    (!repeated && !hold_it)
        .then(|| "no repeats anywhere: the deviation between sessions stands for all of it".to_owned())
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
