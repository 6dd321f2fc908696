//! What a metric is, in words, and worked through with the numbers of a file.
//!
//! * `working` the metric of one batch, step by step.

mod working;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::frame::FrameError;
use crate::import::Loaded;
use crate::metric::{Better, Metric};
use crate::summary::{MeasuredCell, Sample, measure, origin};
use crate::units::Scale;

/// A metric, explained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Which.
    pub metric: Metric,
    /// Its short name.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The formula in words, with the clock and who takes the time.
    pub formula: String,
    /// Who defined it.
    pub source: String,
    /// Version of the definition.
    pub version: u32,
    /// Whether a comparison judges it.
    pub primary: bool,
    /// The formula with numbers; null where the file has none of this metric.
    pub example: Option<Example>,
}

/// A metric of one batch, worked through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Example {
    /// The file.
    pub file: String,
    /// True where its numbers come from the simulator.
    pub simulated: bool,
    /// The cell in words: "pp 2048 tg 384 c 1, pipeline / ring / 2 nodes".
    pub cell: String,
    /// Which batch of the cell, from 1.
    pub batch: u64,
    /// The numbers that go in.
    pub inputs: Vec<Input>,
    /// What is done with them: "(25.7 s − 10.1 s) / (384 − 1)".
    pub working: String,
    /// What comes out, in the metric's unit: the value that the report has.
    pub result: f64,
    /// The result in words: "40.69 ms".
    pub result_words: String,
}

/// A number that goes in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit; empty for a count.
    pub unit: String,
    /// The value in words, "40.69 ms" or "384": with as many digits as the working needs to give the result that is shown.
    pub words: String,
}

impl Input {
    fn new(name: &str, value: f64, unit: &str) -> Self {
        Self { name: name.to_owned(), value, unit: unit.to_owned(), words: with_digits(value, unit, 0).0 }
    }
}

/// A value in words with more decimals than it would have alone, and what those words say.
fn with_digits(value: f64, unit: &str, more: usize) -> (String, f64) {
    let scale = Scale::of(unit, [value]);
    let usual = if unit.is_empty() { crate::units::fixed(value, 0) } else { scale.text(Some(value)) };
    let decimals = usual.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let factor = if unit.is_empty() { 1.0 } else { scale.scaled(1.0) };
    // A count has no more digits than it has.
    let whole = unit.is_empty() && value == value.round();
    let number = if more == 0 || whole { usual } else { crate::units::fixed(value * factor, decimals + more) };
    let says = number.parse::<f64>().map_or(value, |number| number / factor);
    let words = if unit.is_empty() { number } else { format!("{number} {}", scale.label()) };
    (words, says)
}

/// A value with its unit.
fn said(value: f64, unit: &str) -> String {
    let scale = Scale::of(unit, [value]);
    format!("{} {}", scale.text(Some(value)), scale.label())
}

/// Explains a metric with the numbers of the first batch of a file that has it.
///
/// # Errors
/// [`FrameError`] is a fault of this program: every file that was loaded can be explained.
pub fn explain(metric: Metric, loaded: &Loaded) -> Result<Explanation, FrameError> {
    Ok(explanation(metric, loaded, &measure(loaded)?))
}

/// Explains every metric, in the catalogue's order.
///
/// # Errors
/// [`FrameError`] is a fault of this program: every file that was loaded can be explained.
pub fn explain_all(loaded: &Loaded) -> Result<Vec<Explanation>, FrameError> {
    let measured = measure(loaded)?;
    Ok(Metric::ALL.into_iter().map(|metric| explanation(metric, loaded, &measured)).collect())
}

fn explanation(metric: Metric, loaded: &Loaded, measured: &[MeasuredCell]) -> Explanation {
    let definition = metric.definition();
    let found = measured.iter().find_map(|cell| Some((cell, cell.sample(metric)?)));
    Explanation {
        metric,
        name: definition.name.to_owned(),
        unit: definition.unit.to_owned(),
        better: definition.better,
        // The catalogue's clocks are those of our own rows.
        formula: match found.and_then(|(cell, _)| origin(&loaded.file, metric, &cell.cell)) {
            Some(origin) if origin.contains(definition.formula) => origin,
            Some(origin) => format!("{}; in this file: {origin}", definition.formula),
            None => definition.formula.to_owned(),
        },
        source: definition.source.to_owned(),
        version: definition.version,
        primary: definition.primary,
        example: found.and_then(|(cell, sample)| example(loaded, cell, sample)),
    }
}

fn example(loaded: &Loaded, cell: &MeasuredCell, sample: &Sample) -> Option<Example> {
    let group = sample.groups.first()?;
    let reported = *group.values.first()?;
    let unit = sample.metric.definition().unit;
    let origin = origin(&loaded.file, sample.metric, &cell.cell);
    // What cannot be worked out again in a line, as an integral or an energy of several windows, is said to be that; and what
    // another tool measured is shown as it is, for its clock and definition are its own.
    let worked = working::work_out(&loaded.file, cell, sample.metric, group.batch as usize)
        .filter(|worked| origin.is_none() && (worked.result - reported).abs() <= SAME * reported.abs());
    let as_told = |words: String| (vec![Input::new(sample.metric.definition().name, reported, unit)], words);
    let (inputs, working) = match (worked, origin) {
        (Some(worked), _) => worked.shown(reported, unit),
        (None, Some(words)) => as_told(words),
        (None, None) => working::told(&loaded.file, cell, sample.metric, group.batch as usize)
            .unwrap_or_else(|| as_told(TOLD.to_owned())),
    };
    Some(Example {
        file: loaded.name.clone(),
        simulated: loaded.file.exoscope.as_ref().is_some_and(|provenance| provenance.simulated),
        cell: format!("{}, {}", cell.key().words(), cell.key().placement()),
        batch: u64::from(group.batch) + 1,
        inputs,
        working,
        result: reported,
        result_words: said(reported, unit),
    })
}

/// What stands for a working where the file holds the number itself.
const TOLD: &str = "as the file tells it";

/// The report and the working go different ways to the same number, and may differ in its last digits.
const SAME: f64 = 1e-9;
