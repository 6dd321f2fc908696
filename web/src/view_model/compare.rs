//! Two files side by side: the same cells on one row, both values, the change and the verdict.

use analyzer::comparison::{CellComparison, Comparison, MetricComparison, Side, Verdict};
use analyzer::metric::Better;
use analyzer::units::{ABSENT, Scale, change, percent};

use super::run::metric_id;
use super::table::{Cell, Column, Row, Table};

/// A verdict as a sign and a word; colour comes last.
#[must_use]
pub const fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "▲ improved",
        Verdict::Regressed => "▼ regressed",
        Verdict::Same => "= same",
        Verdict::Undecided => "~ undecided",
        Verdict::NotComparable => "⌀ not comparable",
    }
}

/// A verdict as JSON spells it.
#[must_use]
pub const fn id(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "improved",
        Verdict::Regressed => "regressed",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
        Verdict::NotComparable => "not_comparable",
    }
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "verdict improved",
        Verdict::Regressed => "verdict regressed",
        Verdict::Same | Verdict::Undecided | Verdict::NotComparable => "verdict",
    }
}

/// The table of a comparison: all of it, or only what has a verdict other than "same".
#[must_use]
pub fn table(comparison: &Comparison, only_changed: bool) -> Table {
    let several = |same: fn(&CellComparison, &CellComparison) -> bool| {
        comparison.cells.first().is_some_and(|first| comparison.cells.iter().any(|cell| !same(first, cell)))
    };
    let name_model = several(|one, other| one.cell.model_id == other.cell.model_id);
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for (index, cell) in comparison.cells.iter().enumerate() {
        let key = &cell.cell;
        let model = key.model_id.clone().filter(|_| name_model).map(|model| format!("{model} ")).unwrap_or_default();
        let place = format!("{model}{} · {}", key.words(), key.placement());
        let shown = cell.metrics.iter().filter(|metric| !only_changed || is_changed(metric));
        for (number, metric) in shown.enumerate() {
            let name = if number == 0 { place.clone() } else { String::new() };
            rows.push(row(index, number == 0, name, metric, &mut notes));
        }
    }
    Table {
        caption: "The same cells on one row".into(),
        columns: vec![
            Column::words("cell"),
            Column::words("metric"),
            Column::words("unit"),
            Column { meaning: "median of the base".into(), ..Column::number("base") },
            Column::number("n"),
            Column { meaning: "median of the new file".into(), ..Column::number("new") },
            Column::number("n"),
            Column { meaning: "change of the geometric mean, percent of the base".into(), ..Column::number("change") },
            Column { meaning: "95 % interval of the change".into(), ..Column::number("interval") },
            Column::words("better"),
            Column::words("verdict"),
            Column::words("note"),
        ],
        rows,
        notes,
    }
}

const fn is_changed(metric: &MetricComparison) -> bool {
    matches!(metric.verdict, Some(Verdict::Improved | Verdict::Regressed))
}

fn row(index: usize, first: bool, place: String, metric: &MetricComparison, notes: &mut Vec<String>) -> Row {
    let sides = [metric.base.as_ref(), metric.new.as_ref()];
    let scale = Scale::of(&metric.unit, sides.iter().flatten().map(|side| side.median));
    let value = |side: Option<&Side>, class: &'static str, stat: &'static str| {
        let median = side.map(|side| side.median);
        Cell { text: scale.text(median), class, stat: Some(stat), value: median }
    };
    let n = |side: Option<&Side>, stat: &'static str| {
        let n = side.map(|side| side.n);
        Cell::number(n.map_or_else(|| ABSENT.to_owned(), |n| n.to_string()), stat, n.map(|n| n as f64))
    };
    let interval = metric
        .interval_percent
        .map_or_else(|| ABSENT.to_owned(), |[low, high]| format!("{} to {}", change(low), change(high)));
    let mut weak = Vec::new();
    if let (Some(Verdict::Undecided), Some(resolves)) = (metric.verdict, metric.resolves_percent) {
        weak.push(format!("this pair resolves {} or more", percent(resolves)));
    }
    weak.extend(metric.warnings.iter().cloned());
    Row {
        cell: Some(index),
        metric: Some(metric_id(metric.metric)),
        verdict: metric.verdict.map(id),
        first,
        cells: vec![
            Cell::words(place),
            Cell::words(metric.metric.definition().name),
            Cell::words(scale.label()),
            value(metric.base.as_ref(), "number base", "base_median"),
            n(metric.base.as_ref(), "base_n"),
            value(metric.new.as_ref(), "number new", "new_median"),
            n(metric.new.as_ref(), "new_n"),
            Cell::number(
                metric.change_percent.map_or_else(|| ABSENT.to_owned(), change),
                "change_percent",
                metric.change_percent,
            ),
            Cell { class: "number", ..Cell::words(interval) },
            Cell::words(match metric.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
            }),
            Cell { class: metric.verdict.map_or("", class), ..Cell::words(metric.verdict.map_or(ABSENT, words)) },
            Cell { class: "note", ..Cell::words(Table::marks(notes, weak)) },
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_a_sign_and_a_word() {
        for verdict in
            [Verdict::Improved, Verdict::Regressed, Verdict::Same, Verdict::Undecided, Verdict::NotComparable]
        {
            assert!(words(verdict).ends_with(&id(verdict).replace('_', " ")), "{}", words(verdict));
            assert_eq!(serde_json::to_value(verdict).unwrap(), id(verdict));
        }
    }
}
