//! Cells and metrics side by side: the method of the comparison, step by step.
//!
//! 1. Both sides on the log scale, one value per batch; the effect is the difference of their means.
//! 2. The variance within sessions, pooled over cells and files.
//! 3. The variance between sessions, measured or assumed.
//! 4. A standard error of both, with Satterthwaite's degrees of freedom, and Student's t.
//! 5. Benjamini–Hochberg over all verdicts, then two thresholds and a word.

use super::variance::{self, Between, Learnt, Logs, Pair};
use super::verdict::{self, Effect};
use super::{CellComparison, MetricComparison, Options, Side, Verdict, gate};
use crate::frame::{self, FrameError};
use crate::metric::{Better, Metric};
use crate::statistics::{difference, multiplicity, quantile, spread};
use crate::summary::{CellKey, MeasuredCell, Sample};
use crate::units;

/// One cell, both sides where they are.
struct Beside<'a> {
    key: CellKey,
    base: Option<&'a MeasuredCell>,
    new: Option<&'a MeasuredCell>,
}

/// A row that waits for its verdict.
struct Row {
    comparison: MetricComparison,
    /// Both sides on the log scale, where they may be compared.
    pair: Option<Pair>,
    effect: Option<Effect>,
}

/// All cells of either side with their verdicts. `objection` is a reason that holds for all of them.
pub(super) fn cells(
    base: &[MeasuredCell],
    new: &[MeasuredCell],
    options: &Options,
    objection: Option<&str>,
) -> Result<Vec<CellComparison>, FrameError> {
    let keys = |cells: &[MeasuredCell]| cells.iter().map(|cell| cell.key().clone()).collect::<Vec<CellKey>>();
    let beside: Vec<Beside<'_>> = frame::pair(&keys(base), &keys(new))?
        .into_iter()
        .filter_map(|(at_base, at_new)| {
            let (base, new) = (at_base.and_then(|at| base.get(at)), at_new.and_then(|at| new.get(at)));
            Some(Beside { key: base.or(new)?.key().clone(), base, new })
        })
        .collect();
    let mut table: Vec<Vec<Row>> = beside.iter().map(|cell| rows(cell, objection)).collect();
    for metric in Metric::ALL {
        weigh(metric, &beside, &mut table);
    }
    judge(&mut table, options);
    Ok(beside
        .into_iter()
        .zip(table)
        .map(|(cell, rows)| CellComparison {
            cell: cell.key,
            metrics: rows.into_iter().map(|row| row.comparison).collect(),
        })
        .collect())
}

fn rows(cell: &Beside<'_>, objection: Option<&str>) -> Vec<Row> {
    Metric::ALL.into_iter().filter_map(|metric| row(metric, cell, objection)).collect()
}

/// None where neither side has the metric.
fn row(metric: Metric, cell: &Beside<'_>, objection: Option<&str>) -> Option<Row> {
    let base = cell.base.and_then(|cell| cell.sample(metric));
    let new = cell.new.and_then(|cell| cell.sample(metric));
    let definition = metric.definition();
    let mut objections: Vec<String> = objection.map(str::to_owned).into_iter().collect();
    match (base, new) {
        (None, None) => return None,
        (Some(_), None) => objections.push("only the base has it".to_owned()),
        (None, Some(_)) => objections.push("only the new file has it".to_owned()),
        (Some(_), Some(_)) => {}
    }
    if let (Some(base), Some(new)) = (cell.base, cell.new) {
        objections.extend(gate::objections(metric, base, new));
    }
    let logs = |sample: Option<&Sample>| sample.and_then(Logs::of);
    let pair = logs(base).zip(logs(new)).filter(|_| objections.is_empty());
    let comparison = MetricComparison {
        metric,
        unit: definition.unit.to_owned(),
        better: definition.better,
        base: base.and_then(side),
        new: new.and_then(side),
        change_percent: pair
            .as_ref()
            .map(|(base, new)| difference::percent(new.mean() - base.mean()))
            // Beyond a double: a value of the file is no measurement.
            .filter(|change| change.is_finite()),
        interval_percent: None,
        p: None,
        p_adjusted: None,
        resolves_percent: None,
        verdict: definition.primary.then_some(if pair.is_some() { Verdict::Undecided } else { Verdict::NotComparable }),
        warnings: objections,
    };
    Some(Row { comparison, pair, effect: None })
}

fn side(sample: &Sample) -> Option<Side> {
    let values = sample.values();
    let logs = Logs::of(sample);
    Some(Side {
        n: sample.groups.len() as u64,
        sessions: sample.groups.iter().map(|group| group.session).collect::<std::collections::BTreeSet<_>>().len()
            as u64,
        median: quantile::median(&values)?,
        mean: spread::mean(&values)?,
        geomean: logs.map(|logs| libm::exp(logs.mean())),
    })
}

/// Effects with their intervals for one metric in all cells.
fn weigh(metric: Metric, beside: &[Beside<'_>], table: &mut [Vec<Row>]) {
    // Peak memory comes out the same on every repeat: there is no noise to reckon with.
    if metric == Metric::PeakMemory {
        return;
    }
    // In the order of the keys, not of a file: what is learnt must not depend on which file is the base.
    let mut order: Vec<usize> = (0..table.len()).collect();
    order.sort_by(|a, b| beside[*a].key.cmp(&beside[*b].key));
    let places: Vec<(usize, usize)> = order
        .into_iter()
        .filter_map(|cell| {
            let at = table[cell].iter().position(|row| row.comparison.metric == metric && row.pair.is_some())?;
            Some((cell, at))
        })
        .collect();
    let pairs: Vec<&Pair> = places.iter().filter_map(|(cell, at)| table[*cell][*at].pair.as_ref()).collect();
    let learnt = variance::learn(&pairs);
    for (place, (cell, at)) in places.into_iter().enumerate() {
        weigh_row(&learnt, place, &mut table[cell][at]);
    }
}

fn weigh_row(learnt: &Learnt, place: usize, row: &mut Row) {
    let Some(pair) = &row.pair else { return };
    let comparison = &mut row.comparison;
    let (base, new) = pair;
    if base.count() == 1 || new.count() == 1 {
        comparison.warnings.push("single shot: one value on a side".to_owned());
    }
    let Some((within, own)) = learnt.within(place) else {
        comparison.warnings.push("no repeats anywhere: the deviation is unknown, so there is no verdict".to_owned());
        return;
    };
    if own {
        comparison.warnings.push("noisier than the other cells: judged by its own deviation".to_owned());
    }
    let between = learnt.between(comparison.metric, pair);
    if let Between::Assumed(deviation) = between {
        comparison.warnings.push(format!(
            "deviation between sessions assumed, {}: a side has one session",
            units::percent(100.0 * deviation)
        ));
    }
    let Some(effect) = Effect::of(new.mean() - base.mean(), variance::squared_error(within, between, pair)) else {
        return;
    };
    if difference::hodges_lehmann(&base.values(), &new.values())
        .is_some_and(|shift| (shift - effect.difference).abs() > effect.half_width / 2.0)
    {
        comparison
            .warnings
            .push("outlier-sensitive: the median of all differences is another; look at the dots".to_owned());
    }
    let edge = |sign: f64| difference::percent(effect.difference + sign * effect.half_width);
    comparison.interval_percent =
        Some([edge(-1.0), edge(1.0)]).filter(|edges| edges.iter().all(|edge| edge.is_finite()));
    comparison.resolves_percent = Some(difference::percent(effect.half_width)).filter(|width| width.is_finite());
    comparison.p = Some(effect.p);
    row.effect = Some(effect);
}

/// Verdicts, once all p values are known.
fn judge(table: &mut [Vec<Row>], options: &Options) {
    let mut judged: Vec<&mut Row> = table
        .iter_mut()
        .flatten()
        .filter(|row| row.effect.is_some() && row.comparison.metric.definition().primary)
        .collect();
    let p_values: Vec<f64> = judged.iter().filter_map(|row| row.effect.map(|effect| effect.p)).collect();
    for (row, p_adjusted) in judged.iter_mut().zip(multiplicity::benjamini_hochberg(&p_values)) {
        let Some(effect) = row.effect else { continue };
        let delta = options.delta(row.comparison.metric);
        let smallest = difference::log_difference(delta);
        let higher = row.comparison.better == Better::Higher;
        let word = verdict::word(&effect, p_adjusted, smallest, higher);
        row.comparison.p_adjusted = Some(p_adjusted);
        if word == Verdict::Undecided && p_adjusted < 0.05 {
            row.comparison.warnings.push(format!("differs, but by less than the {delta} % that matter"));
        }
        row.comparison.verdict = Some(word);
    }
}
