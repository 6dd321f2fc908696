//! What a metric is over the numbers of a file: the catalogue's definition of exo's rows and ours, of another tool's what that
//! tool has.

use std::collections::BTreeSet;

use super::{CellReport, MetricSummary, published};
use crate::frame::Cell;
use crate::metric::Metric;
use crate::record::ResultFile;

/// What a metric is, and whose it is, for the cells of a report: the line below a table's head.
#[must_use]
pub fn definition(metric: Metric, cells: &[CellReport]) -> String {
    let catalogue = metric.definition();
    let own = format!("{} ({})", catalogue.formula, catalogue.source);
    let found = || cells.iter().flat_map(|cell| &cell.metrics).filter(|summary| summary.metric == metric);
    let mut told: Vec<&str> = Vec::new();
    for origin in found().filter_map(|summary| summary.origin.as_deref()) {
        if !told.contains(&origin) {
            told.push(origin);
        }
    }
    match (told.is_empty(), found().any(|summary| summary.origin.is_none())) {
        (true, _) => own,
        (false, false) => told.join("; "),
        (false, true) => format!("{own}; in cells that another tool measured: {}", told.join("; ")),
    }
}

impl MetricSummary {
    /// What the metric is over these values.
    #[must_use]
    pub fn formula(&self) -> &str {
        self.origin.as_deref().unwrap_or(self.metric.definition().formula)
    }
}

/// Where the values of a metric in a cell of another tool come from, in words; None for a cell of exo's rows or ours.
pub(crate) fn origin(file: &ResultFile, metric: Metric, cell: &Cell) -> Option<String> {
    if !published::is_foreign(cell) {
        return None;
    }
    let formula = metric.definition().formula;
    let derived = published::derived(file, metric, cell);
    if matches!(metric, Metric::TtftGap | Metric::Overhead | Metric::EnergyOverlay) {
        let instants = derived.map(|how| format!("; when the requests ran: {how}"));
        return Some(format!("reckoned here: {formula}{}", instants.unwrap_or_default()));
    }
    if let Some(how) = derived {
        return Some(format!("reckoned here from what the file tells: {how}"));
    }
    let formats: BTreeSet<&str> = file.source.iter().flat_map(|source| source.format.split(" and ")).collect();
    let formats: Vec<&str> = formats.into_iter().collect();
    Some(match formats.as_slice() {
        [one] if *one == EXO_LOG => format!("{formula}; as exo's console prints it"),
        [one] => match of_tool(one, metric) {
            Some(words) => format!("{words} (as {one} has it)"),
            None => format!("as {one} tells it, by a clock and a definition of its own"),
        },
        [] => "as the file tells it, by the clock and the definition of the tool that wrote it".to_owned(),
        several => format!("as {} tell it, by clocks and definitions of their own", several.join(" and ")),
    })
}

/// exo's client prints figures under the definitions that the catalogue has.
const EXO_LOG: &str = "a console log of exo's bench";

/// A tool's own definition by its documentation and source, where they were read; None where they were not.
fn of_tool(format: &str, metric: Metric) -> Option<&'static str> {
    let is = |name: &str| format.contains(name);
    if is("llama-bench") && !is("llama-benchy") {
        llama_bench(metric)
    } else if is("llama-batched-bench") {
        batched(metric)
    } else if is("mlx_lm") {
        mlx_lm(metric)
    } else if is("vLLM") {
        vllm(metric)
    } else if is("AIPerf") {
        aiperf(metric)
    } else {
        None
    }
}

const fn llama_bench(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::PrefillTps => Some("prompt tokens / time of the test, inside the engine: no request and no tokenizer"),
        Metric::GenerationTps => {
            Some("generated tokens / time of the test, inside the engine: no request, no tokenizer and no sampling")
        }
        Metric::Elapsed => Some("time of the test inside the engine"),
        _ => None,
    }
}

const fn batched(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::PrefillTps => Some("prompt tokens / time of prefill, inside the engine"),
        Metric::GenerationTps => Some("generated tokens / time of generation, inside the engine"),
        Metric::Elapsed => Some("time of prefill and generation of the batch, inside the engine"),
        _ => None,
    }
}

const fn mlx_lm(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::PrefillTps => Some("prompt tokens / time of prefill, inside the process"),
        Metric::GenerationTps => Some("generated tokens / time of generation, inside the process"),
        Metric::PeakMemory => Some("largest memory that MLX held in the process, printed in GB of 10⁹ bytes"),
        _ => None,
    }
}

const fn vllm(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::Elapsed => Some("last chunk of the answer − sending, by the client's clock"),
        Metric::Ttft => Some("first chunk of the answer − sending, by the client's clock"),
        Metric::Tpot => Some("(last chunk − first chunk) / (output tokens − 1), by the client's clock"),
        Metric::Itl => Some("mean gap between the chunks of all answers, by the client's clock"),
        Metric::ItlP99 => Some("99th percentile of the gaps between the chunks of all answers, by the client's clock"),
        Metric::AggregateTokensOverWall => Some("all generated tokens / duration of the run, by the client's clock"),
        Metric::RequestsPerSecond => Some("completed requests / duration of the run, by the client's clock"),
        _ => None,
    }
}

const fn aiperf(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::GenerationTps => Some("1 / inter-token latency of each request, by the client's clock"),
        Metric::Elapsed => Some("last response − sending, by the client's clock"),
        Metric::Ttft => Some("first response − sending, by the client's clock"),
        Metric::Itl => Some("(latency − time to first token) / (output tokens − 1), by the client's clock"),
        Metric::ItlP99 => {
            Some("99th percentile over the requests of (latency − time to first token) / (output tokens − 1)")
        }
        Metric::AggregateTokensOverWall => Some("all output tokens / duration of the run, by the client's clock"),
        Metric::RequestsPerSecond => Some("completed requests / duration of the run, by the client's clock"),
        _ => None,
    }
}
