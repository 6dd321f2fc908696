//! One file in, its summary out: facts, a table per cell, failures, and the time line for the charts.
//!
//! These types are also the JSON of `exoscope report --format json` and what the viewer's worker hands to the page.
//!
//! * `samples` the values of each metric, cell by cell, with what weakens them.
//! * `cells` samples → a [`CellReport`] each, and the requests that failed.
//! * `energies` what the power readings say of a cell, and a sentence where they say too little.
//! * `console` the figures that exo's own console prints, digit for digit.
//! * `distribution` intervals, percentiles and outliers of one metric of a cell.
//! * `pooled` one deviation of a metric for all cells of a file.
//! * `scaling` what more nodes give.
//! * `notices` how much of what was asked for a cell's numbers stand on.
//! * `definition` what a metric is over the numbers of a file, whoever measured.
//! * `published` figures that another tool published, taken as they are.
//! * `overlays` the energy of each batch by another instrument.
//! * `facts` what was measured and how, in reading order.
//! * `timeline` power over time and the windows of the requests.

mod cells;
mod console;
mod definition;
mod deviations;
mod distribution;
mod energies;
mod facts;
mod naming;
mod notices;
mod overlays;
mod pooled;
mod published;
mod samples;
mod scaling;
mod timeline;

pub use distribution::{ConfidenceInterval, IntervalRule, IntervalUnit, OutlierReport, Percentile, PercentileSupport};
pub use naming::Varied;
pub use pooled::PooledDeviation;
pub use scaling::{Ratio, Scaling};

pub use definition::definition;
pub(crate) use facts::{facts, node_name};
pub use published::{PublishedFigure, Statistic};

pub(crate) use definition::origin;
pub(crate) use deviations::StandardError;
pub(crate) use samples::{MeasuredCell, Sample, measure};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::course::{Drift, Step};
use crate::energy::Validity;
use crate::frame::FrameError;
use crate::import::Loaded;
use crate::metric::{Better, Metric};
use crate::record::{FailureKind, NodeId};

/// The summaries of one or more files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// One entry per file, in the order given.
    pub files: Vec<FileReport>,
}

/// The summary of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileReport {
    /// The file's name as given.
    pub name: String,
    /// What shape it was recognised as, in words: "exoscope 1", "exo (2026-05-28 or later)".
    pub format: String,
    /// True where the numbers come from the simulator.
    pub simulated: bool,
    /// What is missing and why; null for a whole run.
    pub incomplete: Option<String>,
    /// What was measured and how, in reading order.
    pub facts: Vec<Fact>,
    /// What a reader should know before trusting the numbers, a sentence each.
    pub notices: Vec<String>,
    /// One entry per cell, in the order of first appearance.
    pub cells: Vec<CellReport>,
    /// Requests that gave no valid row, warm-ups included.
    pub failures: Vec<FailureReport>,
    /// One deviation per metric for all cells together, both ways that are in use.
    #[serde(default)]
    pub pooled: Vec<PooledDeviation>,
    /// What more nodes give, for cells that differ in the nodes alone.
    #[serde(default)]
    pub scaling: Vec<Scaling>,
    /// Power over time with the windows of the requests; null where no series was recorded.
    pub timeline: Option<Timeline>,
}

/// A named fact about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// Stable key, for comparing two files: "engine", "nodes", "tokenizer".
    pub key: String,
    /// Words for people.
    pub name: String,
    /// The value in words.
    pub value: String,
}

/// Requests that may be averaged together share all of this.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CellKey {
    /// The model id in full; null in files that do not tell.
    pub model_id: Option<String>,
    /// How the model is split: the actual shard ("pipeline", "tensor") where known, else exo's label in lower case.
    pub sharding: Option<String>,
    /// How nodes talk: the actual instance ("ring", "jaccl") where known, else exo's label in lower case.
    pub instance_meta: Option<String>,
    /// Nodes that hold shards; null where an instance was reused and not looked at.
    pub nodes: Option<u32>,
    /// Prompt tokens.
    pub pp_tokens: Option<u64>,
    /// Tokens to generate.
    pub tg: Option<u64>,
    /// Requests started together; null where the file does not tell.
    pub concurrency: Option<u32>,
    /// What the prefix cache did.
    pub cache: CacheState,
    /// Whether answers were streamed; null where the file does not tell.
    pub streamed: Option<bool>,
    /// The engine that answered ("exo", "ollama"); null where the file does not tell.
    pub engine: Option<String>,
    /// Quantization of the model; null where the file does not tell.
    pub quantization: Option<String>,
    /// Other settings by the names of the tool that measured ("n_depth": "512"); empty for exo's and our own files.
    pub settings: BTreeMap<String, String>,
}

/// What the prefix cache did for the requests of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Nothing was reused.
    Cold,
    /// A part of the prompt was reused: the prefill rate covers the rest alone.
    Partial,
    /// All of the prompt was reused: the prefill rate is a copy of an earlier one, not a measurement.
    Exact,
    /// The file does not tell.
    Unknown,
}

/// All numbers of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellReport {
    /// What its requests share.
    pub key: CellKey,
    /// Valid requests.
    pub requests: u64,
    /// Batches: requests started together count once.
    pub batches: u64,
    /// Measured requests that failed.
    pub failed: u64,
    /// Sessions that the requests come from.
    pub sessions: u64,
    /// One entry per metric with at least one value, in the catalogue's order.
    pub metrics: Vec<MetricSummary>,
    /// Metrics that were measured and are too weak to be shown, each with the reason.
    #[serde(default)]
    pub absent: Vec<AbsentMetric>,
    /// The energy node by node, in the placement's order; empty where it is not known.
    #[serde(default)]
    pub nodes: Vec<NodeEnergy>,
    /// What a reader should know of the cell as a whole, a sentence each.
    #[serde(default)]
    pub notices: Vec<String>,
    /// The figures that exo's own console prints for this group; null where another tool measured it, which has no such
    /// console: how many requests failed does not follow from its rows.
    #[serde(default)]
    pub exo_console: Option<ExoConsole>,
}

/// The share of one node in a cell's energy: means over its batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEnergy {
    /// The node.
    pub node_id: NodeId,
    /// The node's friendly name, else its id.
    pub label: String,
    /// Energy of a batch, J, by the definition of [`Metric::Energy`].
    pub joules: f64,
    /// Its prefill, J; null where the phases overlap or one was not seen in every batch.
    pub prefill_joules: Option<f64>,
    /// Its decoding, J; null as for the prefill.
    pub decode_joules: Option<f64>,
    /// What is above its power at rest, J; null without an idle baseline.
    pub net_joules: Option<f64>,
}

/// A metric that was measured and is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbsentMetric {
    /// Which.
    pub metric: Metric,
    /// What was found wrong, the gravest first.
    pub codes: Vec<Validity>,
    /// The reason in a sentence, with what would help.
    pub why: String,
}

/// One metric of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricSummary {
    /// Which.
    pub metric: Metric,
    /// Unit of all numbers here.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Number of values.
    pub n: u64,
    /// Median: of the values, or, where one figure stands for many requests, theirs as the file publishes it.
    pub median: f64,
    /// Arithmetic mean of the values.
    pub mean: f64,
    /// Sample standard deviation (n - 1); null for one value.
    pub sd: Option<f64>,
    /// Coefficient of variation, percent: sd / mean; null for one value or a mean of 0.
    pub cv_percent: Option<f64>,
    /// The same of the means of the batches, percent; null for one batch. One request at a time it is `cv_percent`; of several,
    /// those of one batch differ by their places in the queue, however steady the batches are.
    #[serde(default)]
    pub batch_cv_percent: Option<f64>,
    /// asiai's word for the CV of the batches.
    pub stability: Stability,
    /// How the values came about where another tool measured them, in words: that tool's definition, or how they follow from
    /// what it tells; null where the catalogue's formula holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What the one value is where it stands for many requests; null else. Smallest and largest are then those of the one value,
    /// and of the requests they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedFigure>,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Median absolute deviation from the median, unscaled.
    #[serde(default)]
    pub mad: Option<f64>,
    /// 95 % interval of the mean (Student), over batches, or over sessions where they differ; null where nothing was repeated,
    /// and where all values are the same: what shows no spread shows no certainty either.
    #[serde(default)]
    pub mean_interval: Option<ConfidenceInterval>,
    /// 95 % interval of the median, by the order of the values alone; null below 6 batches, or 6 sessions of several.
    #[serde(default)]
    pub median_interval: Option<ConfidenceInterval>,
    /// p50, p90, p95 and p99 of the values: Hyndman & Fan type 7.
    #[serde(default)]
    pub percentiles: Vec<Percentile>,
    /// p10, p5 and p1 of what is better when higher: its slow tail. Empty otherwise, for there the high percentiles are it.
    #[serde(default)]
    pub slow_tail: Vec<Percentile>,
    /// Values that stand apart. They stay in every number.
    #[serde(default)]
    pub outliers: Vec<OutlierReport>,
    /// True where two or more values are all the same: there is no spread to judge anything by.
    #[serde(default)]
    pub no_spread: bool,
    /// Whether it rises or falls over the batches; null below three.
    #[serde(default)]
    pub drift: Option<Drift>,
    /// Where it steps to another level; empty below twenty batches.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The values in the order of measurement: the dots of the chart.
    pub values: Vec<f64>,
    /// Session of each value, numbered from 0 in the order of first appearance: as many as values.
    #[serde(default)]
    pub sessions: Vec<u32>,
    /// Largest standard uncertainty of a value by what it was read off, percent; null where it is not known. The deviation
    /// of the values contains it.
    #[serde(default)]
    pub uncertainty_percent: Option<f64>,
    /// Why the numbers are weaker than they look, a sentence each.
    pub warnings: Vec<String>,
}

/// asiai's classes of the coefficient of variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stability {
    /// CV below 5 %.
    Stable,
    /// CV from 5 % to below 10 %.
    Variable,
    /// CV of 10 % or more.
    Unstable,
    /// One value has no deviation (asiai calls it stable).
    Unknown,
}

/// What exo's console prints for a group, unrounded, each under its definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExoConsole {
    /// `prompt_tps`: mean over all requests, tok/s.
    pub prompt_tps_mean: Option<f64>,
    /// `gen_tps`: the largest decode rate of any request of any repeat, times the concurrency, tok/s.
    pub gen_tps_max_times_concurrency: Option<f64>,
    /// `prompt_tokens`: mean over all requests (printed cut to a whole number).
    pub prompt_tokens_mean: Option<f64>,
    /// `gen_tokens`: mean over all requests (printed cut to a whole number).
    pub generation_tokens_mean: Option<f64>,
    /// `peak_memory`: mean over all requests, bytes (printed in steps of 1024 labelled KB, MB, GB).
    pub peak_memory_bytes_mean: Option<f64>,
    /// The line of each concurrent batch; empty at concurrency 1.
    pub batches: Vec<ExoBatch>,
}

/// exo's line of one concurrent batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExoBatch {
    /// Repeat, from 0.
    pub repeat_index: Option<u32>,
    /// `agg_gen_tps`: largest positive decode rate times the concurrency asked for, tok/s.
    pub agg_gen_tps_max_times_concurrency: Option<f64>,
    /// `per_req_tps`: the same without the factor, tok/s.
    pub per_req_tps_max: Option<f64>,
    /// `wall_s`: longest elapsed time, s.
    pub wall_s: f64,
    /// `errors`: requests of the batch that failed; null where the file does not tell.
    pub errors: Option<u64>,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureReport {
    /// What went wrong.
    pub kind: FailureKind,
    /// The server's or the system's words.
    pub message: String,
    /// HTTP status, where one arrived.
    pub status: Option<u16>,
    /// True for a warm-up request.
    pub warmup: bool,
    /// Its cell in words: "pp 4096 tg 128 c 2".
    pub cell: String,
    /// Repeat, from 0.
    pub repeat_index: u32,
}

/// Power over time and what ran meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// One entry per node and placement.
    pub series: Vec<PowerSeries>,
    /// The measured requests, in the order of sending.
    pub windows: Vec<RequestWindow>,
}

/// Power of one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PowerSeries {
    /// The node.
    pub node_id: NodeId,
    /// The node's friendly name, else its id.
    pub label: String,
    /// Seconds since the start of the run, ascending.
    pub t_s: Vec<f64>,
    /// Whole-machine power, W; null where a reading is missing.
    pub power_w: Vec<Option<f64>>,
    /// GPU temperature, °C; null where a reading is missing.
    pub temperature_c: Vec<Option<f64>>,
}

/// When one measured request ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestWindow {
    /// Index into [`FileReport::cells`].
    pub cell: usize,
    /// Repeat, from 0.
    pub repeat_index: u32,
    /// Sent, seconds since the start of the run.
    pub sent_s: f64,
    /// First token; null for a plain answer.
    pub first_token_s: Option<f64>,
    /// Ended.
    pub done_s: f64,
}

/// The summaries of several files, in the order given.
///
/// # Errors
/// [`FrameError`] is a fault of this program: every file that was loaded can be summarised.
pub fn reports(files: &[Loaded]) -> Result<Report, FrameError> {
    Ok(Report { files: files.iter().map(report).collect::<Result<_, _>>()? })
}

/// The summary of one file.
///
/// # Errors
/// [`FrameError`] is a fault of this program: every file that was loaded can be summarised.
pub fn report(loaded: &Loaded) -> Result<FileReport, FrameError> {
    Ok(report_of(loaded, &measure(loaded)?))
}

/// The summary of a file whose samples are known.
pub(crate) fn report_of(loaded: &Loaded, measured: &[MeasuredCell]) -> FileReport {
    let provenance = loaded.file.exoscope.as_ref();
    let mut notices = file_notices(loaded);
    let timeline = timeline::timeline(loaded, measured);
    if timeline.is_none() && !loaded.file.metric_series.is_empty() {
        notices.push("power over time is not drawn: the documents of the file count from different starts".to_owned());
    }
    let cells = cells::reports(loaded, measured);
    let mut facts = facts(loaded);
    facts.extend(no_energy(&loaded.file, &cells));
    FileReport {
        name: loaded.name.clone(),
        format: loaded.format.clone(),
        simulated: provenance.is_some_and(|provenance| provenance.simulated),
        incomplete: provenance.and_then(|provenance| provenance.incomplete.as_ref()).map(incomplete),
        facts,
        notices,
        pooled: pooled::pooled(measured),
        scaling: scaling::scaling(measured),
        cells,
        failures: cells::failures(&loaded.file),
        timeline,
    }
}

/// What makes the numbers of a file as a whole doubtful, a sentence each.
pub(crate) fn file_notices(loaded: &Loaded) -> Vec<String> {
    let mut notices = loaded.notices.clone();
    notices.extend(loaded.file.exoscope.iter().flat_map(|provenance| provenance.notices.iter().cloned()));
    notices.extend(facts::channel_notices(&loaded.file));
    notices
}

/// That there is no energy, and why: a reader who looks for it must not take its absence for an oversight, nor a server's
/// 0 J without a meter for energy. None where there is some.
fn no_energy(file: &crate::record::ResultFile, cells: &[CellReport]) -> Option<Fact> {
    if cells.iter().flat_map(|cell| &cell.metrics).any(|summary| summary.metric.is_energy()) {
        return None;
    }
    let accounts = || file.runs.iter().filter_map(|run| run.power_usage.as_ref());
    let published = match published::power(file).as_slice() {
        [] => String::new(),
        names => {
            format!("none that Exoscope can check; the tool itself published {}, kept as it stands", names.join(", "))
        }
    };
    let why = if file.runs.is_empty() {
        return None;
    } else if accounts().next().is_some() && accounts().all(|account| account.nodes.is_empty()) {
        "no node of the server had a power source"
    } else if let Some(absent) = cells.iter().flat_map(|cell| &cell.absent).next() {
        absent.why.as_str()
    } else if !published.is_empty() {
        published.as_str()
    } else if file.source.is_some() {
        "the file holds no power"
    } else {
        "no power was recorded"
    };
    Some(Fact { key: "energy".into(), name: "Energy".into(), value: format!("{} ({why})", crate::units::ABSENT) })
}

fn incomplete(incomplete: &crate::record::Incomplete) -> String {
    let finished = incomplete.finished_requests;
    match incomplete.planned_requests {
        Some(planned) => format!("{}: {finished} of {planned} requests finished", incomplete.reason),
        None => format!("{}: {finished} requests finished", incomplete.reason),
    }
}

impl CellKey {
    /// What tells cells of one placement apart, in words: "pp 4096 tg 128 c 2".
    #[must_use]
    pub fn words(&self) -> String {
        let number =
            |value: Option<u64>| value.map_or_else(|| crate::units::ABSENT.to_owned(), |value| value.to_string());
        let [pp, tg, concurrency] = [self.pp_tokens, self.tg, self.concurrency.map(u64::from)].map(number);
        format!("pp {pp} tg {tg} c {concurrency}")
    }

    /// Requests that disturb each other: one where nothing is told of others.
    #[must_use]
    pub fn together(&self) -> u32 {
        self.concurrency.unwrap_or(1)
    }

    /// The placement in words: "pipeline / ring / 2 nodes"; "placement unknown" where the file does not tell.
    #[must_use]
    pub fn placement(&self) -> String {
        let nodes = self.nodes.map(|nodes| crate::units::count(u64::from(nodes), "node"));
        let parts: Vec<String> =
            [self.sharding.clone(), self.instance_meta.clone(), nodes].into_iter().flatten().collect();
        if parts.is_empty() { "placement unknown".to_owned() } else { parts.join(" / ") }
    }
}

impl CacheState {
    /// The state in a word: "cold", "partial", "exact", "–".
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Partial => "partial",
            Self::Exact => "exact",
            Self::Unknown => crate::units::ABSENT,
        }
    }
}

impl Stability {
    /// asiai's word; "–" for a single value.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Variable => "variable",
            Self::Unstable => "unstable",
            Self::Unknown => crate::units::ABSENT,
        }
    }
}
