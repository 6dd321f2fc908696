//! What the comparison takes from a file: its cells' values and what tells files apart, without the rows.
//!
//! A file's rows go once it is measured, so that comparing many files takes the room of one file's rows and of all cells.
//!
//! * `fingerprint` whether two files hold the same measurement.
//! * [`flat`] a measured file as a flat table and back, for whoever keeps it.

mod fingerprint;

pub mod flat;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::drift::Move;
use crate::frame::{self, Batch, FrameError};
use crate::import::{Loaded, instant};
use crate::metric::Metric;
use crate::record::{Comparability, PowerScope, Provenance};
use crate::statistics::spread;
use crate::summary::{self, CellKey, Fact, FileReport, StandardError};
use crate::throughput;

/// A file, measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredFile {
    /// The name it was given.
    pub name: String,
    /// What its numbers can be set against.
    pub class: Comparability,
    /// True where it comes from the simulator.
    pub simulated: bool,
    /// True where the run did not reach its end.
    pub incomplete: bool,
    /// Name and version of the definitions of its numbers. A file of exo itself is exo's methodology, definitions 1.
    pub definitions: (String, u32),
    /// Measured requests that failed; warm-ups do not count.
    pub failed: u64,
    /// Digest of its rows, the same wherever and from whatever spelling of the file it is made; null for a file without rows.
    pub fingerprint: Option<String>,
    /// When its run began, RFC 3339; null where it does not tell.
    pub started_at: Option<String>,
    /// What was measured and how, in reading order.
    pub facts: Vec<Fact>,
    /// What a reader should know about the reading, a sentence each.
    #[serde(default)]
    pub notices: Vec<String>,
    /// Its cells in the order of first appearance.
    #[serde(default)]
    pub cells: Vec<MeasuredCell>,
}

/// The values of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredCell {
    /// What its requests share.
    pub key: CellKey,
    /// The sessions that it was measured in, in the order of their numbers.
    pub sessions: Vec<Session>,
    /// Metrics with at least one value, in the catalogue's order.
    #[serde(default)]
    pub samples: Vec<Sample>,
    /// How sure its values are by the deviations that another tool published, a value each, metric by metric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedError>,
    /// Power readings behind the server's own account, of the request and node with the fewest; null without such.
    pub server_power_samples: Option<u64>,
    /// What an instrument that was laid over the run covers; null without one.
    pub overlay_scope: Option<PowerScope>,
}

/// How sure one value is that another tool published as the mean of many.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PublishedError {
    /// Of which metric.
    pub metric: Metric,
    /// Its standard error, in the metric's unit.
    pub error: f64,
    /// Degrees of freedom of that, 1 or more.
    pub freedom: f64,
}

/// What the requests of one session of a cell have in common.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its number in the file, from 0.
    pub number: u32,
    /// Prompt tokens by the server's count.
    pub prompt_tokens: Tally,
    /// Generated tokens by the server's count.
    pub generation_tokens: Tally,
    /// The largest decode rate of any request, tok/s; null where none is above 0.
    pub fastest: Option<f64>,
}

/// A sum and how many it is of, so that the means of several can be put together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// The sum.
    pub sum: f64,
    /// Summands.
    pub count: u64,
}

/// The values of one metric of a cell, batch by batch in the order of measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Which metric.
    pub metric: Metric,
    /// The batches that have it.
    pub batches: Vec<BatchOf>,
    /// The values of all of them: one per request, or one for the batch.
    pub values: Vec<f64>,
    /// How the sessions of each of the files that it is of move, where they do; empty until a side is put together.
    #[serde(skip)]
    pub(super) moves: Vec<Move>,
}

/// A batch of a sample. Requests of a batch disturb each other: they are one measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchOf {
    /// Number of its session.
    pub session: u32,
    /// How many of the sample's values are of it, 1 or more.
    pub values: u32,
}

impl Tally {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        values.fold(Self::default(), |tally, value| Self { sum: tally.sum + value, count: tally.count + 1 })
    }

    /// The mean of several; None of nothing.
    pub(super) fn mean(tallies: impl Iterator<Item = Self>) -> Option<f64> {
        let all =
            tallies.fold(Self::default(), |all, one| Self { sum: all.sum + one.sum, count: all.count + one.count });
        (all.count > 0).then(|| all.sum / all.count as f64)
    }
}

impl Sample {
    /// Session and values of each batch.
    pub fn groups(&self) -> impl Iterator<Item = (u32, &[f64])> {
        let mut rest = self.values.as_slice();
        self.batches.iter().map(move |batch| {
            let (values, others) = rest.split_at_checked(batch.values as usize).unwrap_or((rest, &[]));
            rest = others;
            (batch.session, values)
        })
    }

    /// Without a value.
    pub(super) const fn of(metric: Metric) -> Self {
        Self { metric, batches: Vec::new(), values: Vec::new(), moves: Vec::new() }
    }

    /// Puts a batch behind the others; one without values is none.
    pub(super) fn push(&mut self, session: u32, values: &[f64]) {
        if let Some(count) = u32::try_from(values.len()).ok().filter(|count| *count > 0) {
            self.batches.push(BatchOf { session, values: count });
            self.values.extend_from_slice(values);
        }
    }
}

impl MeasuredCell {
    /// The sample of a metric.
    #[must_use]
    pub fn sample(&self, metric: Metric) -> Option<&Sample> {
        self.samples.iter().find(|sample| sample.metric == metric)
    }

    /// Arithmetic mean of all values of a metric.
    pub(super) fn mean(&self, metric: Metric) -> Option<f64> {
        self.sample(metric).and_then(|sample| spread::mean(&sample.values))
    }

    pub(super) fn of(measured: summary::MeasuredCell) -> Self {
        let mut sessions: BTreeMap<u32, Vec<&Batch>> = BTreeMap::new();
        for batch in &measured.cell.batches {
            sessions.entry(batch.session).or_default().push(batch);
        }
        let samples = measured.samples.iter().map(|sample| {
            let mut own = Sample::of(sample.metric);
            sample.groups.iter().for_each(|group| own.push(group.session, &group.values));
            own
        });
        let published = measured.samples.iter().flat_map(|sample| {
            let of =
                |one: &StandardError| PublishedError { metric: sample.metric, error: one.error, freedom: one.freedom };
            sample.errors.iter().map(of)
        });
        Self {
            samples: samples.collect(),
            published: published.collect(),
            sessions: sessions.into_iter().map(|(number, batches)| Session::of(number, &batches)).collect(),
            server_power_samples: measured.server_power_samples.map(|samples| samples as u64),
            overlay_scope: measured.overlay_scope,
            key: measured.cell.key,
        }
    }
}

impl Session {
    fn of(number: u32, batches: &[&Batch]) -> Self {
        let tally = |name: &str| Tally::of(batches.iter().flat_map(|batch| batch.column(name)).flatten().copied());
        let fastest = |batch: &&Batch| throughput::largest(batch.column(frame::GENERATION_TPS));
        Self {
            number,
            prompt_tokens: tally(frame::PROMPT_TOKENS),
            generation_tokens: tally(frame::GENERATION_TOKENS),
            fastest: batches.iter().filter_map(fastest).reduce(f64::max),
        }
    }
}

/// When the run began. Other tools spell it in many ways, and some without a zone: that is taken as UTC, as in every file of
/// the same tool.
fn started_at(loaded: &Loaded) -> Option<String> {
    let own = loaded.file.exoscope.as_ref().map(|provenance| provenance.started_at.clone());
    own.or_else(|| {
        let told = loaded.file.source.as_ref()?.started_at.as_deref()?;
        Some(instant::parse(told).map_or_else(|| told.to_owned(), |at| format!("{}Z", instant::words(at.unix_s))))
    })
}

impl MeasuredFile {
    /// Measures a file.
    ///
    /// # Errors
    /// [`FrameError`] is a fault of this program.
    pub fn of(loaded: &Loaded) -> Result<Self, FrameError> {
        Ok(Self::of_cells(loaded, summary::measure(loaded)?))
    }

    /// Measures a file once for both: its summary, and what a comparison takes from it.
    ///
    /// # Errors
    /// [`FrameError`] is a fault of this program.
    pub fn with_report(loaded: &Loaded) -> Result<(FileReport, Self), FrameError> {
        let measured = summary::measure(loaded)?;
        Ok((summary::report_of(loaded, &measured), Self::of_cells(loaded, measured)))
    }

    fn of_cells(loaded: &Loaded, measured: Vec<summary::MeasuredCell>) -> Self {
        let provenance = loaded.file.exoscope.as_ref();
        let definitions = |provenance: &Provenance| {
            let method = &provenance.method;
            (method.name.clone(), method.definition_version)
        };
        Self {
            name: loaded.name.clone(),
            class: loaded.class,
            simulated: provenance.is_some_and(|provenance| provenance.simulated),
            incomplete: provenance.is_some_and(|provenance| provenance.incomplete.is_some()),
            definitions: provenance.map_or_else(|| ("exo_bench".to_owned(), 1), definitions),
            failed: loaded.file.failures.iter().filter(|failure| !failure.warmup).count() as u64,
            fingerprint: fingerprint::fingerprint(&loaded.file.runs),
            started_at: started_at(loaded),
            facts: summary::facts(loaded),
            notices: summary::file_notices(loaded),
            cells: measured.into_iter().map(MeasuredCell::of).collect(),
        }
    }

    /// Whether both hold the same measurement. Files without rows hold none.
    pub(super) fn is_twin_of(&self, other: &Self) -> bool {
        self.fingerprint.is_some() && self.fingerprint == other.fingerprint
    }
}
