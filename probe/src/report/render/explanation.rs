//! Explanations of metrics → blocks: one in full, or all as a list.

use analyzer::explanation::{Example, Explanation};
use analyzer::metric::Better;

use super::sheet::{Block, Grid};
use super::{RenderError, metric_id};

/// One metric in full.
pub(super) fn blocks(explanation: &Explanation) -> Result<Vec<Block>, RenderError> {
    let judged = if explanation.primary { "yes" } else { "no, it is shown only" };
    let facts = [
        ("Metric", metric_id(explanation.metric)?),
        ("Unit", explanation.unit.clone()),
        ("Better", better(explanation.better).to_owned()),
        ("Formula", explanation.formula.clone()),
        ("Source", explanation.source.clone()),
        ("Definition", format!("version {}", explanation.version)),
        ("Judged by compare", judged.to_owned()),
    ];
    let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let mut blocks = vec![Block::Heading(1, explanation.name.clone()), Block::Facts(facts)];
    match &explanation.example {
        Some(example) => blocks.extend(worked(example)),
        None => blocks.push(Block::Line("The file has no value of it to work the formula through.".to_owned())),
    }
    Ok(blocks)
}

fn worked(example: &Example) -> Vec<Block> {
    let tag = if example.simulated { "  [simulated]" } else { "" };
    let inputs = example.inputs.iter().map(|input| (input.name.clone(), input.words.clone())).collect();
    vec![
        Block::Heading(2, format!("worked example{tag}")),
        Block::Line(format!("{}, {}, batch {}", example.file, example.cell, example.batch)),
        Block::Facts(inputs),
        Block::Line(format!("{} = {}", example.working, example.result_words)),
    ]
}

/// All metrics, a row each.
pub(super) fn list(explanations: &[Explanation]) -> Result<Vec<Block>, RenderError> {
    let mut grid = Grid::new(["metric", "name", "unit", "better", "judged", ">version"]);
    for explanation in explanations {
        grid.rows.push(vec![
            metric_id(explanation.metric)?,
            explanation.name.clone(),
            explanation.unit.clone(),
            better(explanation.better).to_owned(),
            if explanation.primary { "yes" } else { "" }.to_owned(),
            explanation.version.to_string(),
        ]);
    }
    let more = "`exoscope explain METRIC [FILE]` says what one is, and works it through".to_owned();
    Ok(vec![Block::Heading(1, "Metrics".to_owned()), Block::Grid(grid), Block::Line(more)])
}

const fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    }
}
