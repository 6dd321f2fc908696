//! A summary → blocks: facts, a table per metric with a row per cell, exo's own lines, failures.

use analyzer::metric::Metric;
use analyzer::summary::{CellKey, CellReport, FileReport, MetricSummary, Report};
use analyzer::units::{self, ABSENT, Scale};

use super::sheet::{Block, Grid, Notes};

/// The blocks of some summaries.
pub(super) fn blocks(reports: &Report) -> Vec<Block> {
    reports.files.iter().flat_map(file).collect()
}

fn file(report: &FileReport) -> Vec<Block> {
    let tag = if report.simulated { "  [simulated]" } else { "" };
    let mut blocks = vec![Block::Heading(1, format!("{}{tag}", report.name)), Block::Line(report.format.clone())];
    if let Some(incomplete) = &report.incomplete {
        blocks.push(Block::Line(format!("Incomplete: {incomplete}")));
    }
    blocks.push(Block::Facts(report.facts.iter().map(|fact| (fact.name.clone(), fact.value.clone())).collect()));
    blocks.push(Block::List("Notices".to_owned(), report.notices.clone()));
    if report.cells.is_empty() {
        blocks.push(Block::Line("No measured request succeeded.".to_owned()));
    } else {
        blocks.push(Block::Heading(2, "Cells".to_owned()));
        blocks.push(Block::Grid(cells(&report.cells)));
    }
    for metric in Metric::ALL {
        if let Some(grid) = metric_grid(metric, &report.cells) {
            let definition = metric.definition();
            blocks.push(Block::Heading(2, definition.name.to_owned() + tag));
            blocks.push(Block::Line(format!("{} ({})", definition.formula, definition.source)));
            blocks.push(Block::Grid(grid));
        }
    }
    let console = console(&report.cells);
    if !console.is_empty() {
        blocks.push(Block::Heading(2, "as exo's console prints it".to_owned()));
        blocks.push(Block::Line(
            "exo's own definitions: the mean of prefill, tokens and memory; the largest decode rate of any request × concurrency"
                .to_owned(),
        ));
        blocks.push(Block::Verbatim(console));
    }
    blocks.push(Block::List("Failures".to_owned(), report.failures.iter().map(|failure| failure.words()).collect()));
    blocks
}

/// The heads of [`place`].
pub(super) const PLACE: [&str; 7] = ["model", "placement", ">pp", ">tg", ">c", "cache", "streamed"];

/// What tells cells apart. Model and placement are named where there are several.
pub(super) fn place(key: &CellKey, all: &[&CellKey]) -> Vec<String> {
    let number = |value: Option<u64>| value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string());
    let several_models = all.iter().any(|other| other.model_id != key.model_id);
    let several_placements = all.iter().any(|other| other.placement() != key.placement());
    let model = key.model_id.clone().unwrap_or_else(|| ABSENT.to_owned());
    vec![
        if several_models { model } else { String::new() },
        if several_placements { key.placement() } else { String::new() },
        number(key.pp_tokens),
        number(key.tg),
        key.concurrency.to_string(),
        key.cache.word().to_owned(),
        key.streamed.map_or(ABSENT, |streamed| if streamed { "yes" } else { "no" }).to_owned(),
    ]
}

/// Columns of [`PLACE`] that may be left out when no row says anything there.
pub(super) const REMOVABLE: [&str; 4] = ["model", "placement", "cache", "streamed"];

fn keys(cells: &[CellReport]) -> Vec<&CellKey> {
    cells.iter().map(|cell| &cell.key).collect()
}

fn cells(cells: &[CellReport]) -> Grid {
    let mut grid = Grid::new(PLACE.into_iter().chain([">requests", ">batches", ">failed", ">sessions"]));
    let keys = keys(cells);
    for cell in cells {
        let mut row = place(&cell.key, &keys);
        row.extend([cell.requests, cell.batches, cell.failed, cell.sessions].map(|count| count.to_string()));
        grid.rows.push(row);
    }
    grid.without_empty(&REMOVABLE)
}

/// A row per cell that has the metric; None where no cell has.
fn metric_grid(metric: Metric, cells: &[CellReport]) -> Option<Grid> {
    let keys = keys(cells);
    let found: Vec<(&CellKey, &MetricSummary)> = cells
        .iter()
        .filter_map(|cell| cell.metrics.iter().find(|found| found.metric == metric).map(|found| (&cell.key, found)))
        .collect();
    let (_, first) = found.first()?;
    let scale = Scale::of(
        &first.unit,
        found.iter().flat_map(|(_, summary)| [summary.median, summary.mean, summary.min, summary.max]),
    );
    let unit = scale.label();
    let heads = [
        ">n".to_owned(),
        format!(">median {unit}"),
        "note".to_owned(),
        format!(">mean {unit}"),
        format!(">sd {unit}"),
        ">CV %".to_owned(),
        "steady".to_owned(),
        format!(">min {unit}"),
        format!(">max {unit}"),
    ];
    let mut grid = Grid::new(PLACE.into_iter().chain(heads.iter().map(String::as_str)));
    let mut notes = Notes::default();
    for (key, summary) in found {
        let mut row = place(key, &keys);
        row.extend([
            summary.n.to_string(),
            scale.text(Some(summary.median)),
            notes.marks(&summary.warnings),
            scale.text(Some(summary.mean)),
            scale.text(summary.sd),
            summary.cv_percent.map_or_else(|| ABSENT.to_owned(), |cv| units::fixed(cv, 1)),
            summary.stability.word().to_owned(),
            scale.text(Some(summary.min)),
            scale.text(Some(summary.max)),
        ]);
        grid.rows.push(row);
    }
    grid.notes = notes;
    Some(grid.without_empty(&REMOVABLE.into_iter().chain(["note"]).collect::<Vec<_>>()))
}

fn console(cells: &[CellReport]) -> Vec<String> {
    let keys = keys(cells);
    let several = keys.iter().any(|key| key.placement() != keys[0].placement());
    let mut lines: Vec<String> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.requests > 0) {
        let placement = if several { format!("{}  ", cell.key.placement()) } else { String::new() };
        let head = format!("{placement}{}", cell.key.words());
        // exo's group knows no cache state: cells that differ in it alone share one line.
        if lines.contains(&head) {
            continue;
        }
        lines.push(head);
        lines.extend(cell.exo_console.batch_lines(cell.key.concurrency).into_iter().map(|line| format!("  {line}")));
        lines.push(format!("  {}", cell.exo_console.summary_line()));
    }
    lines
}
