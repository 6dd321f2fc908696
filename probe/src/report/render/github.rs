//! A comparison → a step summary for GitHub: the verdict in a line, what changed, and all the rest folded away.

use analyzer::comparison::{Comparison, MetricComparison, Verdict};
use analyzer::summary::CellKey;

use super::comparison::{details, judged, tag};
use super::junit::sentence;
use super::markdown;
use super::sheet::Block;

/// Writes the summary.
pub(super) fn draw(comparison: &Comparison) -> String {
    let verdict = judged(Some(comparison.verdict), comparison.verdict.word());
    let head = vec![
        Block::Heading(1, format!("{verdict}: {} → {}{}", comparison.base, comparison.new, tag(comparison))),
        Block::Line(comparison.headline.clone()),
        Block::List("Regressed".to_owned(), with(comparison, Verdict::Regressed)),
        Block::List("Improved".to_owned(), with(comparison, Verdict::Improved)),
    ];
    // GitHub reads Markdown inside of HTML again after an empty line.
    format!(
        "{}\n<details>\n<summary>All cells, warnings and what else differs</summary>\n\n{}\n</details>\n",
        markdown::draw(&head),
        markdown::draw(&details(comparison))
    )
}

/// The rows with a verdict, a sentence each.
fn with(comparison: &Comparison, verdict: Verdict) -> Vec<String> {
    let words = |key: &CellKey, row: &MetricComparison| {
        let place = format!("{} on {}, {}", row.metric.definition().name, key.placement(), key.words());
        format!("{place}: {}", sentence(row))
    };
    comparison
        .cells
        .iter()
        .flat_map(|cell| cell.metrics.iter().map(move |row| (&cell.cell, row)))
        .filter(|(_, row)| row.verdict == Some(verdict))
        .map(|(key, row)| words(key, row))
        .collect()
}
