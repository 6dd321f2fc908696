//! Cells and metrics side by side: the method of the comparison, step by step.
//!
//! 1. Both sides on the log scale, one value per batch; the effect is the difference of their means.
//! 2. The variance within sessions, pooled over cells and files.
//! 3. The variance between sessions, measured or assumed.
//! 4. A standard error of both, with Satterthwaite's degrees of freedom, and Student's t.
//! 5. Benjamini–Hochberg over all verdicts, then two thresholds and a word.

use super::headline::ALONE;
use super::logs::Logs;
use super::matching::{self, Axis};
use super::measured::{MeasuredCell, Sample};
use super::method::{self, Weighed};
use super::variance::Pair;
use super::verdict::{self, Effect};
use super::{CellComparison, GeomeanComparison, MetricComparison, Options, Side, Verdict, gate};
use crate::frame::FrameError;
use crate::metric::Metric;
use crate::statistics::{difference, quantile, spread};
use crate::summary::CellKey;

/// One cell, both sides where they are.
struct Beside<'a> {
    base: Option<&'a MeasuredCell>,
    new: Option<&'a MeasuredCell>,
    axes: Vec<Axis>,
    nearest: Vec<Axis>,
}

impl Beside<'_> {
    /// The base's key, else the new side's.
    fn key(&self) -> Option<&CellKey> {
        self.base.or(self.new).map(|cell| &cell.key)
    }

    /// A key that is the same whichever side is the base.
    fn order(&self) -> Option<&CellKey> {
        self.base.into_iter().chain(self.new).map(|cell| &cell.key).min()
    }
}

/// A row that waits for its verdict.
struct Row {
    comparison: MetricComparison,
    /// Both sides on the log scale, where they may be compared.
    pair: Option<Pair>,
    effect: Option<Effect>,
}

/// All cells of either side with their verdicts, and each metric over all of them. `objection` is a reason that holds for
/// all of them.
pub(super) fn cells(
    base: &[MeasuredCell],
    new: &[MeasuredCell],
    options: &Options,
    objection: Option<&str>,
) -> Result<(Vec<CellComparison>, Vec<GeomeanComparison>), FrameError> {
    let beside: Vec<Beside<'_>> = matching::matched(base, new)?
        .into_iter()
        .map(|found| Beside {
            base: found.base.and_then(|at| base.get(at)),
            new: found.new.and_then(|at| new.get(at)),
            axes: found.axes,
            nearest: found.nearest,
        })
        .collect();
    let mut table: Vec<Vec<Row>> = beside.iter().map(|cell| rows(cell, options, objection)).collect();
    let whole: Vec<(GeomeanComparison, Option<Effect>)> =
        Metric::ALL.into_iter().filter_map(|metric| weigh(metric, &beside, &mut table, options)).collect();
    judge(&mut table, options);
    let geomean = judge_whole(whole, &table, options);
    let cells = beside
        .into_iter()
        .zip(table)
        .filter_map(|(cell, rows)| {
            Some(CellComparison {
                cell: cell.key()?.clone(),
                metrics: rows.into_iter().map(|row| finished(row.comparison, options)).collect(),
            })
        })
        .collect();
    Ok((cells, geomean))
}

fn finished(mut comparison: MetricComparison, options: &Options) -> MetricComparison {
    let why = comparison.warnings.first().map(String::as_str);
    comparison.words =
        verdict::words(comparison.verdict, options.delta(comparison.metric), comparison.resolves_percent, why);
    comparison
}

fn rows(cell: &Beside<'_>, options: &Options, objection: Option<&str>) -> Vec<Row> {
    Metric::ALL
        .into_iter()
        .filter(|metric| options.shows(*metric))
        .filter_map(|metric| row(metric, cell, objection))
        .collect()
}

/// None where neither side has the metric.
fn row(metric: Metric, cell: &Beside<'_>, objection: Option<&str>) -> Option<Row> {
    let base = cell.base.and_then(|cell| cell.sample(metric));
    let new = cell.new.and_then(|cell| cell.sample(metric));
    let definition = metric.definition();
    let mut objections: Vec<String> = objection.map(str::to_owned).into_iter().collect();
    match (base, new) {
        (None, None) => return None,
        (Some(_), None) => objections.push(format!("{}{}", ALONE[0], nearest(&cell.nearest))),
        (None, Some(_)) => objections.push(format!("{}{}", ALONE[1], nearest(&cell.nearest))),
        (Some(_), Some(_)) => objections.extend(gate::varied(metric, &cell.axes)),
    }
    let mut warnings = Vec::new();
    if objections.is_empty() {
        warnings.extend(cell.axes.iter().map(said));
    }
    if let (Some(base), Some(new)) = (cell.base, cell.new) {
        objections.extend(gate::objections(metric, base, new));
    }
    let logs = |cell: Option<&MeasuredCell>, sample: Option<&Sample>| {
        let published = cell.iter().flat_map(|cell| &cell.published).filter(|one| one.metric == metric).copied();
        Some(Logs::of(sample?)?.with_published(&published.collect::<Vec<_>>()))
    };
    let pair = logs(cell.base, base).zip(logs(cell.new, new)).filter(|_| objections.is_empty());
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
        permutation: None,
        verdict: definition.primary.then_some(if pair.is_some() { Verdict::Undecided } else { Verdict::NotComparable }),
        words: String::new(),
        warnings: objections.into_iter().chain(warnings).collect(),
    };
    Some(Row { comparison, pair, effect: None })
}

/// In what the nearest cell of the other side differs, for a reader who expected a pair.
fn nearest(axes: &[Axis]) -> String {
    let words: Vec<String> = axes.iter().map(Axis::words).collect();
    if words.is_empty() { String::new() } else { format!("; the nearest cells differ in {}", words.join(" and ")) }
}

/// What a pair does not share, in a sentence.
fn said(axis: &Axis) -> String {
    match (&axis.base, &axis.new) {
        (Some(base), Some(new)) => format!("sets {} {base} beside {new}", axis.name),
        (None, _) => format!("the base does not tell its {}", axis.name),
        (_, None) => format!("the new side does not tell its {}", axis.name),
    }
}

fn side(sample: &Sample) -> Option<Side> {
    let values = &sample.values;
    let logs = Logs::of(sample);
    Some(Side {
        n: sample.batches.len() as u64,
        sessions: sample.batches.iter().map(|batch| batch.session).collect::<std::collections::BTreeSet<_>>().len()
            as u64,
        median: quantile::median(values)?,
        mean: spread::mean(values)?,
        geomean: logs.map(|logs| libm::exp(logs.mean())),
    })
}

/// Effects with their intervals for one metric in all cells, and over all of them. None where no cell has it on both sides.
fn weigh(
    metric: Metric,
    beside: &[Beside<'_>],
    table: &mut [Vec<Row>],
    options: &Options,
) -> Option<(GeomeanComparison, Option<Effect>)> {
    // Peak memory comes out the same on every repeat: there is no noise to reckon with.
    if metric == Metric::PeakMemory {
        return None;
    }
    // In the order of the keys, not of a file: what is learnt must not depend on which file is the base.
    let mut order: Vec<usize> = (0..table.len()).collect();
    order.sort_by(|a, b| beside[*a].order().cmp(&beside[*b].order()));
    let places: Vec<(usize, usize)> = order
        .into_iter()
        .filter_map(|cell| {
            let at = table[cell].iter().position(|row| row.comparison.metric == metric && row.pair.is_some())?;
            Some((cell, at))
        })
        .collect();
    let pairs: Vec<&Pair> = places.iter().filter_map(|(cell, at)| table[*cell][*at].pair.as_ref()).collect();
    let cells = pairs.len();
    let changes: Vec<f64> = pairs.iter().map(|(base, new)| new.mean() - base.mean()).collect();
    let (weighed, whole) = method::weigh(metric, &pairs, options);
    for (weighed, (cell, at)) in weighed.into_iter().zip(places) {
        take(weighed, &mut table[cell][at]);
    }
    Some(over_cells(metric, cells, spread::mean(&changes)?, whole?, options))
}

/// Lower and upper end of the interval, percent; None where one is beyond a double.
fn interval_percent(effect: &Effect) -> Option<[f64; 2]> {
    let edge = |sign: f64| difference::percent(effect.difference + sign * effect.half_width);
    Some([edge(-1.0), edge(1.0)]).filter(|edges| edges.iter().all(|edge| edge.is_finite()))
}

fn resolves_percent(effect: &Effect) -> Option<f64> {
    // A pair that sees nothing short of a tenfold change cannot tell.
    Some(difference::percent(effect.half_width)).filter(|width| *width < 1000.0)
}

fn take(weighed: Weighed, row: &mut Row) {
    let comparison = &mut row.comparison;
    comparison.warnings.extend(weighed.warnings);
    comparison.permutation = weighed.permutation;
    comparison.interval_percent = weighed.effect.as_ref().and_then(interval_percent);
    comparison.resolves_percent = weighed.effect.as_ref().and_then(resolves_percent);
    comparison.p = weighed.effect.map(|effect| effect.p);
    row.effect = weighed.effect;
}

/// The row of the geometric mean, which waits for its verdict.
fn over_cells(
    metric: Metric,
    cells: usize,
    change: f64,
    whole: Weighed,
    options: &Options,
) -> (GeomeanComparison, Option<Effect>) {
    let definition = metric.definition();
    let resolves_percent = whole.effect.as_ref().and_then(resolves_percent);
    let verdict = definition.primary.then_some(Verdict::Undecided);
    let row = GeomeanComparison {
        metric,
        unit: definition.unit.to_owned(),
        better: definition.better,
        cells: cells as u64,
        change_percent: Some(difference::percent(change)).filter(|change| change.is_finite()),
        interval_percent: whole.effect.as_ref().and_then(interval_percent),
        p: whole.effect.map(|effect| effect.p),
        p_adjusted: None,
        resolves_percent,
        verdict,
        words: verdict::words(verdict, options.delta(metric), resolves_percent, None),
        warnings: whole.warnings,
    };
    (row, whole.effect)
}

/// The verdicts over all cells. Each is one look at all of them, so they are a family of their own; over one cell it is that
/// cell, which must not get another verdict here.
fn judge_whole(
    whole: Vec<(GeomeanComparison, Option<Effect>)>,
    table: &[Vec<Row>],
    options: &Options,
) -> Vec<GeomeanComparison> {
    let several = |row: &GeomeanComparison| row.verdict.is_some() && row.cells > 1;
    let effects: Vec<(Metric, Effect)> = whole
        .iter()
        .filter(|(row, _)| several(row))
        .filter_map(|(row, effect)| Some((row.metric, (*effect)?)))
        .collect();
    let judged: Vec<(Metric, (f64, Verdict))> =
        effects.iter().map(|(metric, _)| *metric).zip(method::judge(&effects, options)).collect();
    let of_the_cell = |metric: Metric| {
        let rows = table.iter().flatten().map(|row| (&row.comparison, row.pair.is_some()));
        let row = rows.filter(|(row, paired)| row.metric == metric && *paired).map(|(row, _)| row).next()?;
        Some((row.p_adjusted?, row.verdict?))
    };
    let finished = |(mut row, _): (GeomeanComparison, Option<Effect>)| {
        let found = match row.verdict {
            Some(_) if several(&row) => {
                judged.iter().find(|(metric, _)| *metric == row.metric).map(|(_, found)| *found)
            }
            Some(_) => of_the_cell(row.metric),
            None => None,
        };
        if let Some((p_adjusted, verdict)) = found {
            (row.p_adjusted, row.verdict) = (Some(p_adjusted), Some(verdict));
            row.words = verdict::words(row.verdict, options.delta(row.metric), row.resolves_percent, None);
        }
        row
    };
    whole.into_iter().map(finished).collect()
}

/// Verdicts, once all p values are known.
fn judge(table: &mut [Vec<Row>], options: &Options) {
    let mut judged: Vec<(&mut Row, Effect)> = table
        .iter_mut()
        .flatten()
        .filter(|row| row.comparison.metric.definition().primary)
        .filter_map(|row| row.effect.map(|effect| (row, effect)))
        .collect();
    let effects: Vec<(Metric, Effect)> = judged.iter().map(|(row, effect)| (row.comparison.metric, *effect)).collect();
    for ((row, _), (p_adjusted, word)) in judged.iter_mut().zip(method::judge(&effects, options)) {
        row.comparison.p_adjusted = Some(p_adjusted);
        if word == Verdict::Undecided && p_adjusted < 0.05 {
            let delta = options.delta(row.comparison.metric);
            row.comparison.warnings.push(format!("differs, but whether by the {delta} % that matter is open"));
        }
        row.comparison.verdict = Some(word);
    }
}
