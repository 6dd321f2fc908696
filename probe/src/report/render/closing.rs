//! The closing table of a run → blocks: one row per cell with the medians that answer the first question.

use analyzer::metric::Metric;
use analyzer::summary::{CellReport, FileReport, MetricSummary, Stability, Varied};
use analyzer::units::{ABSENT, Scale};

use super::report::{PLACE, REMOVABLE, place};
use super::sheet::{Block, Grid, Notes};

/// What is asked first of a run; the report has the rest.
const SHOWN: [Metric; 8] = [
    Metric::PrefillTps,
    Metric::GenerationTps,
    Metric::Ttft,
    Metric::Elapsed,
    Metric::AggregateTokensOverWall,
    Metric::Energy,
    Metric::JoulesPerGeneratedToken,
    Metric::JoulesPerGeneratedTokenBatch,
];

/// The blocks of the closing table.
pub(super) fn blocks(report: &FileReport) -> Vec<Block> {
    let tag = if report.simulated { "  [simulated]" } else { "" };
    let mut blocks = vec![Block::Heading(2, format!("medians{tag}"))];
    if let Some(incomplete) = &report.incomplete {
        blocks.push(Block::Line(format!("Incomplete: {incomplete}")));
    }
    blocks.push(Block::Grid(grid(&report.cells)));
    blocks.push(Block::List("Failures".to_owned(), report.failures.iter().map(|failure| failure.words()).collect()));
    blocks.push(Block::Line(format!(
        "`exoscope report {}` prints all numbers, with n, spread and definitions",
        report.name
    )));
    blocks
}

fn grid(cells: &[CellReport]) -> Grid {
    let varied = Varied::of(cells.iter().map(|cell| &cell.key));
    let columns: Vec<(Metric, Scale)> = SHOWN
        .into_iter()
        .filter_map(|metric| {
            let found: Vec<&MetricSummary> = cells.iter().filter_map(|cell| of(cell, metric)).collect();
            let unit = &found.first()?.unit;
            Some((metric, Scale::of(unit, found.iter().map(|summary| summary.median))))
        })
        .collect();
    let heads = columns.iter().map(|(metric, scale)| format!(">{} {}", metric.definition().name, scale.label()));
    let heads: Vec<String> = heads.chain(["note".to_owned(), "steady".to_owned(), ">failed".to_owned()]).collect();
    let mut grid = Grid::new(PLACE.into_iter().chain([">n"]).chain(heads.iter().map(String::as_str)));
    let mut notes = Notes::default();
    for cell in cells {
        let mut row = place(&cell.key, &varied);
        row.push(cell.requests.to_string());
        let mut warnings = cell.notices.clone();
        let absent = cell.absent.iter().filter(|absent| SHOWN.contains(&absent.metric));
        warnings.extend(absent.map(|absent| format!("no {}: {}", absent.metric.definition().name, absent.why)));
        for (metric, scale) in &columns {
            let summary = of(cell, *metric);
            row.push(scale.text(summary.map(|summary| summary.median)));
            let name = metric.definition().name;
            warnings
                .extend(summary.into_iter().flat_map(|found| &found.warnings).map(|words| format!("{name}: {words}")));
        }
        row.push(notes.marks(&warnings));
        let rates = [Metric::PrefillTps, Metric::GenerationTps];
        let steady = worst(rates.into_iter().filter_map(|metric| of(cell, metric)).map(|summary| summary.stability));
        row.push(steady.map_or(ABSENT, |steady| steady.word()).to_owned());
        row.push(cell.failed.to_string());
        grid.rows.push(row);
    }
    grid.notes = notes;
    grid.without_empty(&REMOVABLE.into_iter().chain(["note"]).collect::<Vec<_>>())
}

/// The least steady of some classes; one that is not known is no better than any.
fn worst(classes: impl Iterator<Item = Stability>) -> Option<Stability> {
    classes.max_by_key(|class| match class {
        Stability::Stable => 0,
        Stability::Variable => 1,
        Stability::Unstable => 2,
        Stability::Unknown => 3,
    })
}

fn of(cell: &CellReport, metric: Metric) -> Option<&MetricSummary> {
    cell.metrics.iter().find(|summary| summary.metric == metric)
}
