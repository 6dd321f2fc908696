//! The first glance, one sentence in words.

use super::{CellComparison, GeomeanComparison, MetricComparison, Options, Verdict};
use crate::metric::Metric;
use crate::statistics::difference;
use crate::statistics::spread::mean;
use crate::units;

/// The sentence over all cells: what got worse, what got better, what was not decided, what is the same, and what of the base
/// has nothing beside it. `objection` is why nothing of the two sides is comparable.
pub(super) fn headline(
    cells: &[CellComparison],
    geomean: &[GeomeanComparison],
    options: &Options,
    objection: Option<&str>,
) -> String {
    if let Some(objection) = objection {
        return format!("Nothing can be compared: {objection}.");
    }
    let has = |side: fn(&MetricComparison) -> bool| cells.iter().flat_map(|cell| &cell.metrics).any(side);
    if !has(|row| row.base.is_some() && row.new.is_some()) {
        return match (has(|row| row.base.is_some()), has(|row| row.new.is_some())) {
            (true, false) => "Nothing can be compared: the new side holds no number.".to_owned(),
            (false, true) => "Nothing can be compared: the base holds no number.".to_owned(),
            (false, false) => "Nothing can be compared: neither side holds a number.".to_owned(),
            (true, true) => format!("The two sides have no cell in common: {}.", why_none(cells)),
        };
    }
    let judged: Vec<Metric> = Metric::ALL.into_iter().filter(|metric| metric.definition().primary).collect();
    if !judged.iter().any(|metric| options.shows(*metric)) {
        let names: Vec<&str> = judged.iter().map(|metric| metric.definition().name).collect();
        return format!("The metrics asked for are shown and not judged; judged are {}.", names.join(", "));
    }
    let mut parts: Vec<(Order, String)> =
        judged.into_iter().flat_map(|metric| parts_of(metric, cells, options.delta(metric))).collect();
    parts.extend(geomean.iter().filter_map(|row| together(row, cells)));
    // Stable: within the same gravity the catalogue's order stays.
    parts.sort_by_key(|(order, _)| *order);
    let sentence = parts.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("; ");
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => "No number of the two sides can be set side by side; the warnings say why.".to_owned(),
    }
}

/// What is said of a row that the base alone has, and of one that the new side alone has.
pub(super) const ALONE: [&str; 2] = ["only the base has it", "only the new side has it"];

/// In what the cells of the two sides differ, as far as a cell says it.
fn why_none(cells: &[CellComparison]) -> String {
    let mut warnings = cells.iter().flat_map(|cell| &cell.metrics).flat_map(|row| &row.warnings);
    let nearest =
        warnings.find_map(|warning| ALONE.iter().find_map(|alone| warning.strip_prefix(alone)?.strip_prefix("; ")));
    nearest.unwrap_or("they measured different models, placements or lengths").to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Regressed,
    Improved,
    Undecided,
    Missing,
    Same,
}

fn parts_of(metric: Metric, cells: &[CellComparison], delta_percent: f64) -> Vec<(Order, String)> {
    let name = metric.definition().name;
    let found: Vec<&MetricComparison> = cells
        .iter()
        .flat_map(|cell| &cell.metrics)
        .filter(|row| row.metric == metric && !matches!(row.verdict, None | Some(Verdict::NotComparable)))
        .collect();
    let with = |verdict: Verdict| -> Vec<&MetricComparison> {
        found.iter().copied().filter(|row| row.verdict == Some(verdict)).collect()
    };
    let total = found.len();
    let in_cells = |count: usize| in_cells(count, total);
    let mut parts = Vec::new();
    for (verdict, order) in [(Verdict::Regressed, Order::Regressed), (Verdict::Improved, Order::Improved)] {
        let changed = with(verdict);
        if let Some((log_change, size)) = size(&changed) {
            let words = change(metric, log_change, &size);
            parts.push((order, format!("{words} {}{}", interval(&changed), in_cells(changed.len()))));
        }
    }
    let undecided = with(Verdict::Undecided);
    if !undecided.is_empty() {
        let coarsest = undecided.iter().filter_map(|row| row.resolves_percent).reduce(f64::max);
        let why = coarsest.map_or_else(
            || "too few repeats to tell".to_owned(),
            |percent| format!("this pair resolves ≥ {}", units::percent(percent)),
        );
        parts.push((Order::Undecided, format!("no difference found in {name} {} ({why})", in_cells(undecided.len()))));
    }
    // Of the base alone: what only the new side has is no loss.
    let missing: Vec<&MetricComparison> = cells
        .iter()
        .flat_map(|cell| &cell.metrics)
        .filter(|row| row.metric == metric && row.base.is_some() && row.verdict == Some(Verdict::NotComparable))
        .collect();
    if let Some(first) = missing.first() {
        let all = total + missing.len();
        let why = first.warnings.first().map(|why| format!(" ({why})")).unwrap_or_default();
        let of = if all == 1 { String::new() } else { format!(" in {} of {all} cells", missing.len()) };
        parts.push((Order::Missing, format!("{name} cannot be compared{of}{why}")));
    }
    let same = with(Verdict::Same).len();
    if same > 0 {
        parts.push((Order::Same, format!("{name} is the same within ±{delta_percent} % {}", in_cells(same))));
    }
    parts
}

/// A change that no cell shows by itself and all of them together do.
fn together(row: &GeomeanComparison, cells: &[CellComparison]) -> Option<(Order, String)> {
    let order = match row.verdict? {
        Verdict::Regressed => Order::Regressed,
        Verdict::Improved => Order::Improved,
        _ => return None,
    };
    let mut of_cells = cells.iter().flat_map(|cell| &cell.metrics).filter(|of| of.metric == row.metric);
    if row.cells < 2 || of_cells.any(|of| of.verdict == row.verdict) {
        return None;
    }
    let log_change = difference::log_difference(row.change_percent?);
    let words = change(row.metric, log_change, &units::percent(difference::percent(log_change).abs()));
    let interval = row.interval_percent.map(|ends| format!(" (95 % interval {})", units::change_range(ends, "to")));
    Some((order, format!("{words} over all {} cells together{}", row.cells, interval.unwrap_or_default())))
}

/// "new is 5.0 % slower at generation".
fn change(metric: Metric, log_change: f64, size: &str) -> String {
    let (name, direction) = (metric.definition().name, direction(metric, log_change > 0.0));
    match metric {
        Metric::PrefillTps | Metric::GenerationTps => format!("new is {size} {direction} at {name}"),
        _ => format!("{name} is {size} {direction}"),
    }
}

/// Which way a metric went.
pub(super) const fn direction(metric: Metric, rises: bool) -> &'static str {
    match (metric, rises) {
        (Metric::PrefillTps | Metric::GenerationTps, true) => "faster",
        (Metric::PrefillTps | Metric::GenerationTps, false) => "slower",
        (Metric::Ttft, true) => "longer",
        (Metric::Ttft, false) => "shorter",
        (_, true) => "higher",
        (_, false) => "lower",
    }
}

/// "in 3 of 4 cells".
pub(super) fn in_cells(count: usize, total: usize) -> String {
    match (count, total) {
        (1, 1) => "in the one cell".to_owned(),
        (2, 2) => "in both cells".to_owned(),
        _ if count == total => format!("in all {total} cells"),
        _ => format!("in {count} of {total} cells"),
    }
}

/// The mean change of the cells on the log scale, and its size in words. None for no cell.
fn size(changed: &[&MetricComparison]) -> Option<(f64, String)> {
    let logs: Vec<f64> = changed.iter().filter_map(|row| row.change_percent).map(difference::log_difference).collect();
    let log_change = mean(&logs)?;
    Some((log_change, units::percent(difference::percent(log_change).abs())))
}

/// "(95 % interval 4.9 to 7.2 %) " for one cell; for several, from the smallest edge to the largest.
fn interval(changed: &[&MetricComparison]) -> String {
    let edges: Vec<f64> = changed.iter().filter_map(|row| row.interval_percent).flatten().map(f64::abs).collect();
    let (Some(low), Some(high)) = (edges.iter().copied().reduce(f64::min), edges.iter().copied().reduce(f64::max))
    else {
        return String::new();
    };
    let noun = if changed.len() == 1 { "95 % interval" } else { "95 % intervals within" };
    format!("({noun} {} to {}) ", units::fixed(low, 1), units::percent(high))
}

impl Verdict {
    /// The word: "regressed".
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Same => "same",
            Self::Undecided => "no difference found",
            Self::NotComparable => "not comparable",
        }
    }

    /// The sign that goes with the word.
    #[must_use]
    pub const fn sign(self) -> char {
        match self {
            Self::Improved => '▲',
            Self::Regressed => '▼',
            Self::Same => '=',
            Self::Undecided => '~',
            Self::NotComparable => '⌀',
        }
    }
}
