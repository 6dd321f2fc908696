//! A comparison → blocks: the first glance, a table, what else differs.

use analyzer::comparison::legacy::LegacyView;
use analyzer::comparison::{Comparison, GeomeanComparison, MetricComparison, Side, Verdict};
use analyzer::metric::Metric;
use analyzer::summary::Varied;
use analyzer::units::{self, ABSENT, Scale};

use super::report::{PLACE, REMOVABLE, place};
use super::sheet::{Block, Grid, Notes};

/// The blocks of a comparison.
pub(super) fn blocks(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = vec![
        Block::Heading(1, format!("{} → {}{}", comparison.base, comparison.new, tag(comparison))),
        Block::Line(comparison.headline.clone()),
    ];
    blocks.extend(details(comparison));
    blocks
}

/// Said behind a heading of numbers that a simulator made.
pub(super) const fn tag(comparison: &Comparison) -> &'static str {
    if comparison.simulated { "  [simulated]" } else { "" }
}

/// All but the heading and the first glance.
pub(super) fn details(comparison: &Comparison) -> Vec<Block> {
    let tag = tag(comparison);
    let mut blocks = vec![Block::List("Beware".to_owned(), comparison.warnings.clone())];
    if !comparison.cells.is_empty() {
        blocks.push(Block::Heading(2, format!("Cells{tag}")));
        blocks.push(Block::Line(format!(
            "Base and new are geometric means over n requests (batches above concurrency 1); the interval is 95 %. A change \
             matters from {} on, for energy from {}: the same factor up and down.",
            units::both_ways(comparison.delta_percent),
            units::both_ways(comparison.delta_energy_percent)
        )));
        blocks.push(Block::Grid(grid(comparison)));
    }
    if comparison.geomean.iter().any(|row| row.cells > 1) {
        blocks.push(Block::Heading(2, format!("Over all cells{tag}")));
        blocks.push(Block::Line(
            "The change of the geometric mean over the cells that both sides have, paired by cell.".to_owned(),
        ));
        blocks.push(Block::Grid(over_all(&comparison.geomean)));
    }
    if !comparison.legacy.is_empty() {
        blocks.push(Block::Heading(2, "What other tools would have said".to_owned()));
        blocks.push(Block::Grid(others(&comparison.legacy)));
    }
    if !comparison.residue.is_empty() {
        blocks.push(Block::Heading(2, "What else differs".to_owned()));
        let mut grid = Grid::new(["", "base", "new"]);
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| ABSENT.to_owned());
        grid.rows = comparison
            .residue
            .iter()
            .map(|difference| vec![difference.name.clone(), text(&difference.base), text(&difference.new)])
            .collect();
        blocks.push(Block::Grid(grid));
    }
    blocks
}

fn grid(comparison: &Comparison) -> Grid {
    let heads = ["metric", ">base", ">n", ">new", ">n", ">change", ">interval", "verdict", "note"];
    let mut grid = Grid::new(PLACE.into_iter().chain(heads));
    let varied = Varied::of(comparison.cells.iter().map(|cell| &cell.cell));
    let scales: Vec<(Metric, Scale)> =
        Metric::ALL.into_iter().filter_map(|metric| Some((metric, scale(comparison, metric)?))).collect();
    let mut notes = Notes::default();
    for cell in &comparison.cells {
        let mut place = place(&cell.cell, &varied);
        for row in &cell.metrics {
            let Some((_, scale)) = scales.iter().find(|(metric, _)| *metric == row.metric) else { continue };
            let mut line = place.clone();
            line.extend(cells(row, scale, &mut notes));
            grid.rows.push(line);
            // The cell is named on its first line; the rest belong to it.
            place.fill(String::new());
        }
    }
    grid.notes = notes;
    grid.without_empty(&REMOVABLE.into_iter().chain(["note"]).collect::<Vec<_>>())
}

fn cells(row: &MetricComparison, scale: &Scale, notes: &mut Notes) -> Vec<String> {
    let absent = || ABSENT.to_owned();
    let count = |side: &Option<Side>| side.as_ref().map_or_else(absent, |side| side.n.to_string());
    vec![
        format!("{} {}", row.metric.definition().name, scale.label()),
        scale.text(row.base.as_ref().map(Side::shown)),
        count(&row.base),
        scale.text(row.new.as_ref().map(Side::shown)),
        count(&row.new),
        row.change_percent.map_or_else(absent, units::change),
        interval(row.interval_percent),
        judged(row.verdict, &row.words),
        notes.marks(&row.warnings),
    ]
}

fn interval(percent: Option<[f64; 2]>) -> String {
    percent.map_or_else(|| ABSENT.to_owned(), |ends| units::change_range(ends, "…"))
}

/// The verdict as a sign and its words.
pub(super) fn judged(verdict: Option<Verdict>, words: &str) -> String {
    verdict.map_or_else(|| words.to_owned(), |verdict| format!("{} {words}", verdict.sign()))
}

fn over_all(rows: &[GeomeanComparison]) -> Grid {
    let mut grid = Grid::new(["metric", ">cells", ">change", ">interval", "verdict", "note"]);
    let mut notes = Notes::default();
    grid.rows = rows
        .iter()
        .map(|row| {
            vec![
                row.metric.definition().name.to_owned(),
                row.cells.to_string(),
                row.change_percent.map_or_else(|| ABSENT.to_owned(), units::change),
                interval(row.interval_percent),
                judged(row.verdict, &row.words),
                notes.marks(&row.warnings),
            ]
        })
        .collect();
    grid.notes = notes;
    grid.without_empty(&["note"])
}

fn others(views: &[LegacyView]) -> Grid {
    let varied = Varied::of(views.iter().map(|view| &view.cell));
    let heads = ["tool", "its rule", ">base", ">new", ">change", "would have said"];
    let mut grid = Grid::new(PLACE.into_iter().chain(heads));
    for view in views {
        let scale = Scale::of(view.metric.definition().unit, [view.base, view.new]);
        let figure = |value: f64| format!("{} {}", scale.text(Some(value)), scale.label());
        let mut line = place(&view.cell, &varied);
        line.extend([
            view.tool.clone(),
            view.rule.clone(),
            figure(view.base),
            figure(view.new),
            units::change(view.change_percent),
            view.said.clone(),
        ]);
        grid.rows.push(line);
    }
    grid.without_empty(&REMOVABLE)
}

/// One prefix for a metric, down the whole table. None where no cell has it.
fn scale(comparison: &Comparison, metric: Metric) -> Option<Scale> {
    let rows: Vec<&MetricComparison> =
        comparison.cells.iter().flat_map(|cell| &cell.metrics).filter(|row| row.metric == metric).collect();
    let unit = &rows.first()?.unit;
    Some(Scale::of(unit, rows.iter().flat_map(|row| [&row.base, &row.new]).flatten().map(Side::shown)))
}
