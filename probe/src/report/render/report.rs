//! A summary → blocks: facts, a table per metric with a row per cell, exo's own lines, failures.

use std::collections::BTreeSet;

use analyzer::metric::Metric;
use analyzer::summary::{
    self, AbsentMetric, CellKey, CellReport, ConfidenceInterval, FileReport, MetricSummary, Report, Varied,
};
use analyzer::units::{self, ABSENT, Scale};

use super::across;
use super::percentiles;
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
            blocks.push(Block::Line(summary::definition(metric, &report.cells)));
            blocks.push(Block::Grid(grid));
            blocks.extend(percentiles::blocks(metric, &report.cells));
        }
        if metric == Metric::Energy {
            blocks.extend(node_blocks(&report.cells, tag));
        }
    }
    blocks.extend(across::scaling(report, tag));
    blocks.extend(across::pooled(report, tag));
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
pub(super) fn place(key: &CellKey, varied: &Varied) -> Vec<String> {
    let number = |value: Option<u64>| value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string());
    vec![
        varied.subject(key),
        varied.placement(key),
        number(key.pp_tokens),
        number(key.tg),
        number(key.concurrency.map(u64::from)),
        key.cache.word().to_owned(),
        key.streamed.map_or(ABSENT, |streamed| if streamed { "yes" } else { "no" }).to_owned(),
    ]
}

/// Columns of [`PLACE`] that may be left out when no row says anything there.
pub(super) const REMOVABLE: [&str; 4] = ["model", "placement", "cache", "streamed"];

pub(super) fn varied(cells: &[CellReport]) -> Varied {
    Varied::of(cells.iter().map(|cell| &cell.key))
}

fn cells(cells: &[CellReport]) -> Grid {
    let mut grid = Grid::new(PLACE.into_iter().chain([">requests", ">batches", ">failed", ">sessions", "note"]));
    let varied = varied(cells);
    let mut notes = Notes::default();
    for cell in cells {
        let mut row = place(&cell.key, &varied);
        row.extend([cell.requests, cell.batches, cell.failed, cell.sessions].map(|count| count.to_string()));
        row.push(notes.marks(&cell.notices));
        grid.rows.push(row);
    }
    grid.notes = notes;
    grid.without_empty(&REMOVABLE.into_iter().chain(["note"]).collect::<Vec<_>>())
}

/// A row per cell that has the metric, or that says why it has not; None where no cell has either.
fn metric_grid(metric: Metric, cells: &[CellReport]) -> Option<Grid> {
    let varied = varied(cells);
    let found: Vec<(&CellKey, Result<&MetricSummary, &AbsentMetric>)> = cells
        .iter()
        .filter_map(|cell| {
            let summary = cell.metrics.iter().find(|found| found.metric == metric).map(Ok);
            let absent = || cell.absent.iter().find(|absent| absent.metric == metric).map(Err);
            summary.or_else(absent).map(|found| (&cell.key, found))
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    let summaries = found.iter().filter_map(|(_, found)| found.ok());
    let scale = Scale::of(
        metric.definition().unit,
        summaries.flat_map(|summary| [summary.median, summary.mean, summary.min, summary.max]),
    );
    let unit = scale.label();
    let heads = [
        ">n".to_owned(),
        format!(">median {unit}"),
        MEDIAN_INTERVAL.to_owned(),
        "note".to_owned(),
        // The unit of the median is that of the whole row; repeated, it would push the row off a terminal of 120 columns.
        ">mean".to_owned(),
        MEAN_INTERVAL.to_owned(),
        ">sd".to_owned(),
        ">CV %".to_owned(),
        "steady".to_owned(),
    ];
    let mut grid = Grid::new(PLACE.into_iter().chain(heads.iter().map(String::as_str)));
    let mut notes = Notes::default();
    for (key, found) in found {
        let mut row = place(key, &varied);
        let summary = match found {
            Ok(summary) => summary,
            Err(absent) => {
                let mark = notes.marks(std::slice::from_ref(&absent.why));
                row.extend(["0", ABSENT, ABSENT, &mark].map(str::to_owned));
                row.resize(PLACE.len() + heads.len(), ABSENT.to_owned());
                grid.rows.push(row);
                continue;
            }
        };
        row.extend([
            summary.n.to_string(),
            scale.text(Some(summary.median)),
            interval(&scale, summary.median_interval.as_ref()),
            notes.marks(&summary.warnings),
            scale.text(Some(summary.mean)),
            interval(&scale, summary.mean_interval.as_ref()),
            scale.text(summary.sd),
            summary.cv_percent.map_or_else(|| ABSENT.to_owned(), |cv| units::fixed(cv, 1)),
            summary.stability.word().to_owned(),
        ]);
        grid.rows.push(row);
    }
    grid.notes = notes;
    let removable = REMOVABLE.into_iter().chain(["note", &MEDIAN_INTERVAL[1..], &MEAN_INTERVAL[1..]]);
    Some(grid.without_empty(&removable.collect::<Vec<_>>()))
}

/// The heads of the intervals, which stand to the right of what they are of.
const MEDIAN_INTERVAL: &str = ">95 % of it";
const MEAN_INTERVAL: &str = ">95 % of mean";

/// An interval in the words of a column: "26.1–26.9".
fn interval(scale: &Scale, interval: Option<&ConfidenceInterval>) -> String {
    interval.map_or_else(
        || ABSENT.to_owned(),
        |interval| format!("{}–{}", scale.text(Some(interval.low)), scale.text(Some(interval.high))),
    )
}

/// The energy node by node; nothing where one node is all there is.
fn node_blocks(cells: &[CellReport], tag: &str) -> Vec<Block> {
    let nodes = || cells.iter().flat_map(|cell| &cell.nodes);
    if cells.iter().all(|cell| cell.nodes.len() < 2) {
        return Vec::new();
    }
    let all = nodes().flat_map(|node| [Some(node.joules), node.prefill_joules, node.decode_joules]).flatten();
    let scale = Scale::of(Metric::Energy.definition().unit, all);
    let unit = scale.label();
    let heads = [format!(">energy {unit}"), format!(">prefill {unit}"), format!(">decode {unit}")];
    let mut grid = Grid::new(PLACE.into_iter().chain(["node"]).chain(heads.iter().map(String::as_str)));
    let varied = varied(cells);
    for cell in cells {
        let mut place = place(&cell.key, &varied);
        for node in &cell.nodes {
            let mut row = place.clone();
            row.push(node.label.clone());
            row.extend([Some(node.joules), node.prefill_joules, node.decode_joules].map(|joules| scale.text(joules)));
            grid.rows.push(row);
            // The cell is named on its first line; the rest belong to it.
            place.fill(String::new());
        }
    }
    vec![
        Block::Heading(2, format!("energy by node{tag}")),
        Block::Line("means over the batches whose energy is shown".to_owned()),
        Block::Grid(grid.without_empty(&REMOVABLE)),
    ]
}

fn console(cells: &[CellReport]) -> Vec<String> {
    let varied = varied(cells);
    let mut lines: Vec<String> = Vec::new();
    let mut heads = BTreeSet::new();
    let printed = cells.iter().filter(|cell| cell.requests > 0);
    for (cell, figures) in printed.filter_map(|cell| Some((cell, cell.exo_console.as_ref()?))) {
        let names = [varied.subject(&cell.key), varied.placement(&cell.key)];
        let placement: String = names.iter().filter(|name| !name.is_empty()).map(|name| format!("{name}  ")).collect();
        let head = format!("{placement}{}", cell.key.words());
        // exo's group knows no cache state: cells that differ in it alone share one line.
        if !heads.insert(head.clone()) {
            continue;
        }
        lines.push(head);
        lines.extend(figures.batch_lines(cell.key.together()).into_iter().map(|line| format!("  {line}")));
        lines.push(format!("  {}", figures.summary_line()));
    }
    lines
}
