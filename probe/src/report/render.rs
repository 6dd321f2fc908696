//! Summaries and comparisons → text: tables for people, Markdown, CSV, JSON.
//!
//! * [`sheet`] blocks of headings, lines and grids: the content, once for terminal and Markdown.
//! * `report` a summary → blocks.
//! * `percentiles` the tail of a metric → blocks.
//! * `across` what all cells of a file tell together → blocks.
//! * `closing` the end of a run → blocks.
//! * `comparison` a comparison → blocks.
//! * `explanation` what metrics are → blocks.
//! * `calibration` a calibration → blocks.
//! * `plan` a plan → blocks.
//! * `history` an archive → blocks.
//! * `github` a comparison → a step summary.
//! * `junit` a comparison → test cases.
//! * `terminal` blocks → a terminal's width and colours.
//! * `markdown` blocks → Markdown.
//! * `csv` one line per cell and metric, unrounded.

mod across;
mod calibration;
mod closing;
mod comparison;
mod csv;
mod explanation;
mod github;
mod history;
mod junit;
mod markdown;
mod percentiles;
mod plan;
mod report;
pub mod sheet;
mod terminal;

use std::io::IsTerminal as _;
use std::path::Path;

use analyzer::comparison::Comparison;
use analyzer::comparison::calibration::Calibration;
use analyzer::comparison::history::History;
use analyzer::comparison::planning::Plan;
use analyzer::explanation::Explanation;
use analyzer::metric::Metric;
use analyzer::summary::{FileReport, Report};

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// Tables for people
    #[default]
    Table,
    /// All numbers unrounded, as the analyzer gives them
    Json,
    /// One line per cell and metric, unrounded; an empty field is an absent value
    Csv,
    /// The tables in Markdown
    Markdown,
}

/// How a comparison is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ComparisonFormat {
    /// Tables for people
    #[default]
    Table,
    /// All numbers unrounded, as the analyzer gives them; its JSON Schema is published
    Json,
    /// The tables in Markdown
    Markdown,
    /// One line per cell and metric, unrounded; an empty field is an absent value
    Csv,
    /// A test case per cell and judged metric: failed where it regressed, skipped where it is not comparable
    Junit,
    /// A GitHub step summary: the verdict in a line, the tables folded away
    Github,
}

/// How a plan or a history is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum OverviewFormat {
    /// Tables for people
    #[default]
    Table,
    /// All numbers unrounded, as the analyzer gives them
    Json,
    /// The tables in Markdown
    Markdown,
}

/// What the place that a table is shown on can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    /// Columns of the terminal; `None` where lines may be as long as they like.
    pub width: Option<u16>,
    /// Whether colours are understood.
    pub colour: bool,
}

impl Look {
    /// What the place of an output can do: a file and a pipe take lines of any length and no colours. `NO_COLOR` (any value
    /// but an empty one, see no-color.org) switches colours off.
    #[must_use]
    pub fn of(output: Option<&Path>) -> Self {
        let to_terminal =
            output.is_none_or(|path| path == Path::new(super::document::STANDARD)) && std::io::stdout().is_terminal();
        if !to_terminal {
            return Self::default();
        }
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { width: terminal_size::terminal_size().map(|(width, _)| width.0), colour: !no_color }
    }
}

/// A fault of this program: what the analyzer gave could not be written down.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// As JSON.
    #[error("the report could not be written as JSON ({0}); please report this with the file")]
    Json(#[from] serde_json::Error),
    /// As CSV.
    #[error("the report could not be written as CSV ({0}); please report this with the file")]
    Csv(#[from] ::csv::Error),
}

/// Writes summaries.
///
/// # Errors
/// [`RenderError`] is a fault of this program.
pub fn reports(reports: &Report, format: Format, look: Look) -> Result<String, RenderError> {
    Ok(match format {
        Format::Json => json(reports)?,
        Format::Csv => csv::reports(reports)?,
        Format::Table => terminal::draw(&report::blocks(reports), look),
        Format::Markdown => markdown::draw(&report::blocks(reports)),
    })
}

/// Writes the closing table of a run, for people.
#[must_use]
pub fn closing(report: &FileReport, look: Look) -> String {
    terminal::draw(&closing::blocks(report), look)
}

/// Writes a comparison.
///
/// # Errors
/// [`RenderError`] is a fault of this program.
pub fn comparison(compared: &Comparison, format: ComparisonFormat, look: Look) -> Result<String, RenderError> {
    Ok(match format {
        ComparisonFormat::Json => json(compared)?,
        ComparisonFormat::Csv => csv::comparison(compared)?,
        ComparisonFormat::Table => terminal::draw(&comparison::blocks(compared), look),
        ComparisonFormat::Markdown => markdown::draw(&comparison::blocks(compared)),
        ComparisonFormat::Junit => junit::draw(compared),
        ComparisonFormat::Github => github::draw(compared),
    })
}

/// Writes what a metric is, worked through.
///
/// # Errors
/// [`RenderError`] is a fault of this program.
pub fn explanation(explained: &Explanation, format: Format, look: Look) -> Result<String, RenderError> {
    Ok(match format {
        Format::Json => json(explained)?,
        Format::Csv => csv::explanations(std::slice::from_ref(explained))?,
        Format::Table => terminal::draw(&explanation::blocks(explained)?, look),
        Format::Markdown => markdown::draw(&explanation::blocks(explained)?),
    })
}

/// Writes the list of all metrics; as JSON and CSV with all that is said of each.
///
/// # Errors
/// [`RenderError`] is a fault of this program.
pub fn explanations(all: &[Explanation], format: Format, look: Look) -> Result<String, RenderError> {
    Ok(match format {
        Format::Json => json(&all)?,
        Format::Csv => csv::explanations(all)?,
        Format::Table => terminal::draw(&explanation::list(all)?, look),
        Format::Markdown => markdown::draw(&explanation::list(all)?),
    })
}

/// A metric as JSON spells it: "generation_tps".
///
/// # Errors
/// [`RenderError`] is a fault of this program.
pub fn metric_id(metric: Metric) -> Result<String, RenderError> {
    csv::word(&metric)
}

/// Writes a calibration, for people.
#[must_use]
pub fn calibration(found: &Calibration, look: Look) -> String {
    terminal::draw(&calibration::blocks(found), look)
}

/// Writes a plan.
///
/// # Errors
/// [`RenderError`] is a fault of this program.
pub fn plan(plan: &Plan, format: OverviewFormat, look: Look) -> Result<String, RenderError> {
    overview(plan, plan::blocks(plan), format, look)
}

/// Writes a history.
///
/// # Errors
/// [`RenderError`] is a fault of this program.
pub fn history(history: &History, format: OverviewFormat, look: Look) -> Result<String, RenderError> {
    overview(history, history::blocks(history), format, look)
}

fn overview(
    value: &impl serde::Serialize,
    blocks: Vec<sheet::Block>,
    format: OverviewFormat,
    look: Look,
) -> Result<String, RenderError> {
    Ok(match format {
        OverviewFormat::Table => terminal::draw(&blocks, look),
        OverviewFormat::Json => json(value)?,
        OverviewFormat::Markdown => markdown::draw(&blocks),
    })
}

/// Writes any value of the analyzer as JSON, a newline at its end.
///
/// # Errors
/// [`RenderError::Json`] is a fault of this program.
pub fn json(value: &impl serde::Serialize) -> Result<String, RenderError> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
