//! The rows that two files share: the same measurement, whatever else is told of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::record::{ResultFile, Run};

/// What of a row was measured, to the bit. What is said about it (notices, previews, labels, sessions) may differ between
/// two copies, and two formats of one tool say different things.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Measured {
    model: Option<Arc<str>>,
    asked: [Option<u64>; 3],
    measured: Vec<u64>,
}

/// A number with so many decimals is met by chance once in ten million: it tells its row. Numbers that a console rounded do
/// not.
const TELLING: f64 = 1e-6;

impl Measured {
    /// None for a row that no number tells.
    fn of(run: &Run) -> Option<(Self, bool)> {
        let stats = run.stats.as_ref();
        let figures = run.figures.as_ref();
        let numbers = [
            run.elapsed_s,
            stats.and_then(|stats| stats.prompt_tps),
            stats.and_then(|stats| stats.generation_tps),
            run.power_usage.as_ref().and_then(|power| power.total_energy_joules),
            figures.and_then(|figures| figures.ttft_s),
            figures.and_then(|figures| figures.tpot_s),
            figures.and_then(|figures| figures.output_tps),
        ];
        let known: Vec<f64> = numbers.into_iter().flatten().filter(|number| *number != 0.0).collect();
        let is_fine = |number: &f64| {
            let rounded = (number / TELLING).round() * TELLING;
            (number - rounded).abs() > f64::EPSILON * 8.0 * number.abs()
        };
        let fine = known.iter().any(is_fine);
        let measured = Self {
            model: run.model_id.clone(),
            asked: [run.pp_tokens, run.tg, run.concurrency.map(u64::from)],
            measured: numbers.iter().map(|number| number.map_or(u64::MAX, f64::to_bits)).collect(),
        };
        (!known.is_empty()).then_some((measured, fine))
    }
}

/// How many rows of one file are in the other, too; none where that may be chance.
pub(super) fn shared(one: &ResultFile, other: &ResultFile) -> Option<usize> {
    let mut left: BTreeMap<Measured, usize> = BTreeMap::new();
    for (measured, _) in one.runs.iter().filter_map(Measured::of) {
        *left.entry(measured).or_default() += 1;
    }
    let (mut rows, mut certain) = (0, false);
    for (measured, fine) in other.runs.iter().filter_map(Measured::of) {
        if let Some(count) = left.get_mut(&measured).filter(|count| **count > 0) {
            *count -= 1;
            rows += 1;
            certain |= fine;
        }
    }
    // Rounded numbers meet by chance among thousands of rows, but not those of half a file.
    let many = rows * 2 >= one.runs.len().min(other.runs.len());
    (rows > 0 && (certain || many)).then_some(rows)
}
