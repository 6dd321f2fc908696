//! The tail of a metric: percentiles of the cells that have enough values for one.

use analyzer::metric::{Better, Metric};
use analyzer::summary::{CellReport, MetricSummary, Percentile, PercentileSupport};
use analyzer::units::{ABSENT, Scale};

use super::report::{PLACE, REMOVABLE, place, varied};
use super::sheet::{Block, Grid, Notes};

const THIN: &str =
    "fewer than five values are expected beyond it (BetterBench's rule): another run may put it elsewhere";

/// The percentiles of a metric, a row per cell; nothing where no cell has a value beyond any of them.
pub(super) fn blocks(metric: Metric, cells: &[CellReport]) -> Vec<Block> {
    let of = |cell: &CellReport| cell.metrics.iter().find(|summary| summary.metric == metric).cloned();
    let found: Vec<(&CellReport, MetricSummary)> =
        cells.iter().filter_map(|cell| Some((cell, of(cell)?))).filter(|(_, summary)| has_tail(summary)).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let scale = Scale::of(metric.definition().unit, found.iter().flat_map(|(_, summary)| [summary.min, summary.max]));
    let names: Vec<String> = tail(&found[0].1).iter().map(|percentile| format!(">p{}", percentile.percent)).collect();
    let (min, max) = (format!(">min {}", scale.label()), format!(">max {}", scale.label()));
    let heads = [">n", min.as_str(), max.as_str()].into_iter().chain(names.iter().map(String::as_str));
    let mut grid = Grid::new(PLACE.into_iter().chain(heads).chain(["note"]));
    let mut notes = Notes::default();
    for (cell, summary) in &found {
        let mut row = place(&cell.key, &varied(cells));
        row.push(summary.n.to_string());
        row.extend([summary.min, summary.max].map(|value| scale.text(Some(value))));
        let mut thin = false;
        for percentile in tail(summary) {
            thin |= percentile.support == PercentileSupport::Thin;
            row.push(match percentile.support {
                PercentileSupport::TooFew => ABSENT.to_owned(),
                PercentileSupport::Thin => format!("{} ?", scale.text(Some(percentile.value))),
                PercentileSupport::Enough => scale.text(Some(percentile.value)),
            });
        }
        let sentence = format!("?: {THIN}");
        row.push(notes.marks(if thin { std::slice::from_ref(&sentence) } else { &[] }));
        grid.rows.push(row);
    }
    grid.notes = notes;
    let words = match metric.definition().better {
        Better::Higher => "Slow tail: low percentiles (Hyndman–Fan 7); – where less than one value lies beyond",
        Better::Lower => "Tail: high percentiles (Hyndman–Fan 7); – where less than one value lies beyond",
    };
    let removable: Vec<&str> = REMOVABLE.into_iter().chain(["note"]).collect();
    vec![Block::Line(words.to_owned()), Block::Grid(grid.without_empty(&removable))]
}

/// The percentiles that are the slow tail.
fn tail(summary: &MetricSummary) -> &[Percentile] {
    match summary.better {
        Better::Higher => &summary.slow_tail,
        // The first is the median, which has a column already.
        Better::Lower => summary.percentiles.get(1..).unwrap_or(&[]),
    }
}

/// Whether a value is expected beyond the nearest of them.
fn has_tail(summary: &MetricSummary) -> bool {
    tail(summary).iter().any(|percentile| percentile.support != PercentileSupport::TooFew)
}
