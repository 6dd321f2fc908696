//! Two files side by side: the same cells on one row, both values, the change and the verdict.

use std::collections::BTreeMap;

use analyzer::comparison::{Comparison, MetricComparison, Side, Verdict};
use analyzer::metric::{Better, Metric};
use analyzer::units::{ABSENT, Scale, change, change_range, percent};

use super::cell::names;
use super::interval::Axis;
use super::run::metric_id;
use super::table::{Cell, Column, Row, Table};

/// A verdict as its sign and the analyzer's words; colour comes last.
#[must_use]
pub fn words(verdict: Option<Verdict>, words: &str) -> String {
    verdict.map_or_else(|| words.to_owned(), |verdict| format!("{} {words}", verdict.sign()))
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

/// The table of a comparison: all of it, or only what improved or regressed.
#[must_use]
pub fn table(comparison: &Comparison, only_changed: bool) -> Table {
    let names = names(&comparison.cells.iter().map(|cell| &cell.cell).collect::<Vec<_>>());
    let axis = Axis::of(comparison);
    let mut rows = Vec::new();
    let scales = scales(comparison);
    let mut notes = Vec::new();
    for (index, (cell, name)) in comparison.cells.iter().zip(names).enumerate() {
        let mut shown = cell.metrics.iter().filter(|metric| !only_changed || is_changed(metric)).peekable();
        if shown.peek().is_some() {
            rows.push(Row { heading: Some(name), ..Row::default() });
        }
        rows.extend(
            shown.filter_map(|metric| Some(row(index, metric, scales.get(&metric.metric)?, &axis, &mut notes))),
        );
    }
    Table {
        caption: "The same cells on one row".into(),
        columns: vec![
            Column::words("metric"),
            Column::words("unit"),
            Column {
                meaning: "geometric mean of the base, which the change is reckoned from".into(),
                ..Column::number("base")
            },
            Column { meaning: "values of the base".into(), ..Column::number("n") },
            Column { meaning: "geometric mean of the new file".into(), ..Column::number("new") },
            Column { meaning: "values of the new file".into(), ..Column::number("n") },
            Column { meaning: "change of the geometric mean, percent of the base".into(), ..Column::number("change") },
            Column {
                meaning: format!("shaded: too small to matter; the edges are ±{}", percent(axis.reach)),
                ..Column::words("95 % interval of the change")
            },
            Column::words("better"),
            Column::words("verdict"),
            Column { meaning: "why a number is weaker than it looks".into(), ..Column::words("note") },
        ],
        rows,
        notes,
    }
}

const fn is_changed(metric: &MetricComparison) -> bool {
    matches!(metric.verdict, Some(Verdict::Improved | Verdict::Regressed))
}

/// The table of each metric over all cells; None where there is one cell, which says it itself.
#[must_use]
pub fn over_all(comparison: &Comparison) -> Option<Table> {
    if comparison.geomean.iter().all(|row| row.cells < 2) {
        return None;
    }
    let mut notes = Vec::new();
    let rows = comparison
        .geomean
        .iter()
        .map(|row| {
            let cells = row.cells as f64;
            let interval = row.interval_percent.map_or_else(|| ABSENT.to_owned(), |ends| change_range(ends, "to"));
            Row {
                cell: None,
                metric: Some(metric_id(row.metric)),
                verdict: row.verdict.map(id),
                heading: None,
                cells: vec![
                    Cell {
                        more: Some(row.metric.definition().formula.to_owned()),
                        ..Cell::words(row.metric.definition().name)
                    },
                    Cell::number(row.cells.to_string(), "geomean_cells", Some(cells)),
                    Cell::number(
                        row.change_percent.map_or_else(|| ABSENT.to_owned(), change),
                        "geomean_change_percent",
                        row.change_percent,
                    ),
                    Cell { class: "interval", ..Cell::words(interval) },
                    Cell { class: row.verdict.map_or("", class), ..Cell::words(words(row.verdict, &row.words)) },
                    Cell::marks(&mut notes, row.warnings.clone()),
                ],
            }
        })
        .collect();
    Some(Table {
        caption: "Each metric over all cells that both sides have".into(),
        columns: vec![
            Column::words("metric"),
            Column::number("cells"),
            Column {
                meaning: "change of the geometric mean over the cells, paired by cell".into(),
                ..Column::number("change")
            },
            Column::words("95 % interval of the change"),
            Column::words("verdict"),
            Column { meaning: "why a number is weaker than it looks".into(), ..Column::words("note") },
        ],
        rows,
        notes,
    })
}

/// One prefix for a metric down the whole table, as the terminal has it.
fn scales(comparison: &Comparison) -> BTreeMap<Metric, Scale> {
    let mut values: BTreeMap<Metric, (&str, Vec<f64>)> = BTreeMap::new();
    for metric in comparison.cells.iter().flat_map(|cell| &cell.metrics) {
        let (_, values) = values.entry(metric.metric).or_insert((&metric.unit, Vec::new()));
        values.extend([&metric.base, &metric.new].into_iter().flatten().map(Side::shown));
    }
    values.into_iter().map(|(metric, (unit, values))| (metric, Scale::of(unit, values))).collect()
}

fn row(index: usize, metric: &MetricComparison, scale: &Scale, axis: &Axis, notes: &mut Vec<String>) -> Row {
    let definition = metric.metric.definition();
    let value = |side: Option<&Side>, class: &'static str, stat: &'static str| {
        let shown = side.map(Side::shown);
        Cell { class, ..Cell::number(scale.text(shown), stat, shown) }
    };
    let n = |side: Option<&Side>, stat: &'static str| {
        let n = side.map(|side| side.n);
        Cell::number(n.map_or_else(|| ABSENT.to_owned(), |n| n.to_string()), stat, n.map(|n| n as f64))
    };
    let is_energy = metric.metric.is_energy();
    let interval = metric.interval_percent.map_or_else(|| ABSENT.to_owned(), |ends| change_range(ends, "to"));
    let drawn = metric.change_percent.zip(metric.interval_percent);
    let weak = metric.warnings.clone();
    Row {
        cell: Some(index),
        metric: Some(metric_id(metric.metric)),
        verdict: metric.verdict.map(id),
        heading: None,
        cells: vec![
            Cell { more: Some(definition.formula.to_owned()), ..Cell::words(definition.name) },
            Cell::words(scale.label()),
            value(metric.base.as_ref(), "number base", "base_value"),
            n(metric.base.as_ref(), "base_n"),
            value(metric.new.as_ref(), "number new", "new_value"),
            n(metric.new.as_ref(), "new_n"),
            Cell::number(
                metric.change_percent.map_or_else(|| ABSENT.to_owned(), change),
                "change_percent",
                metric.change_percent,
            ),
            Cell {
                drawn: drawn.map(|(change, interval)| axis.draw(change, interval, is_energy)),
                class: "interval",
                ..Cell::words(interval)
            },
            Cell::words(match metric.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
            }),
            Cell { class: metric.verdict.map_or("", class), ..Cell::words(words(metric.verdict, &metric.words)) },
            Cell::marks(notes, weak),
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
            assert!(words(Some(verdict), verdict.word()).ends_with(verdict.word()));
            assert_eq!(serde_json::to_value(verdict).unwrap(), id(verdict));
        }
    }

    fn loaded(name: &str, rate: f64) -> analyzer::import::Loaded {
        let row = |repeat: u32| {
            serde_json::json!({"elapsed_s": 1.0, "output_text_preview": "", "stats": {"prompt_tps": rate + f64::from(repeat),
                "generation_tps": 50.0, "prompt_tokens": 64, "generation_tokens": 8, "prefix_cache_hit": "none"},
                "model_id": "lab/m", "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing",
                "placement_nodes": 1, "instance_id": "i", "pp_tokens": 64, "tg": 8, "repeat_index": repeat})
        };
        let file = serde_json::json!({ "runs": [row(0), row(1), row(2)] }).to_string();
        analyzer::import::load(name, file.as_bytes()).unwrap()
    }

    #[test]
    fn a_cell_is_a_heading_and_a_row_per_metric_and_the_filter_takes_headings_along() {
        let options = analyzer::comparison::Options::default();
        let compared = analyzer::comparison::compare(&loaded("base", 400.0), &loaded("new", 300.0), &options).unwrap();
        let all = table(&compared, false);
        assert!(all.rows[0].heading.as_deref().unwrap().starts_with("pp 64 tg 8 c 1"));
        assert_eq!(all.rows.len(), 1 + compared.cells[0].metrics.len());
        for row in &all.rows[1..] {
            assert_eq!(row.cells.len(), all.columns.len());
        }
        let changed = table(&compared, true);
        assert_eq!(changed.rows.iter().filter_map(|row| row.metric.as_deref()).collect::<Vec<_>>(), ["prefill_tps"]);
        let same = analyzer::comparison::compare(&loaded("base", 400.0), &loaded("new", 400.0), &options).unwrap();
        assert!(table(&same, true).rows.is_empty(), "no heading stands over nothing");
    }

    #[test]
    fn the_words_and_the_row_over_all_cells_are_the_analyzers() {
        let two_cells = |name: &str, rate: f64| {
            let mut loaded = loaded(name, rate);
            let mut more = loaded.file.runs.clone();
            more.iter_mut().for_each(|run| run.pp_tokens = Some(128));
            loaded.file.runs.extend(more);
            loaded.document_rows = vec![loaded.file.runs.len()];
            loaded
        };
        let options = analyzer::comparison::Options::default();
        let compared =
            analyzer::comparison::compare(&two_cells("base", 400.0), &two_cells("new", 300.0), &options).unwrap();
        let all = over_all(&compared).unwrap();
        let prefill = all.rows.iter().find(|row| row.metric.as_deref() == Some("prefill_tps")).unwrap();
        assert_eq!((prefill.cells[1].text.as_str(), prefill.verdict), ("2", Some("regressed")));
        assert_eq!(prefill.cells[2].value, compared.geomean[0].change_percent);
        let generation = &table(&compared, false).rows[2];
        assert_eq!(generation.cells[9].text, format!("~ {}", compared.cells[0].metrics[1].words));
        assert!(generation.cells[9].text.starts_with("~ no difference found (this pair resolves ≥ "));
        let one = analyzer::comparison::compare(&loaded("base", 400.0), &loaded("new", 300.0), &options).unwrap();
        assert_eq!(over_all(&one), None, "one cell says it itself");
    }
}
