//! Every format that is known: how it is recognised, what its numbers are, and who reads it. One row each.

use serde_json::Value;

use super::foreign::Found;
use super::{
    aiperf, asiai, asiai_agentic, exo_log, exo_others, guidellm, inference_perf, llama_bench, llama_benchy,
    llama_table, mlx_lm, overlay, vllm,
};
use crate::record::Comparability;

/// A row of the table.
pub(super) struct Format {
    /// What it is called.
    pub(super) name: &'static str,
    /// Why it was recognised.
    pub(super) reason: &'static str,
    /// What its numbers can be set against.
    pub(super) class: Comparability,
    /// Who reads it.
    pub(super) reader: Reader,
}

/// Who reads a format, and how it is recognised.
pub(super) enum Reader {
    /// A document with exo's rows, which are taken as they are.
    Rows(fn(&Value) -> bool),
    /// JSON documents of another shape, all of them at once.
    Documents(fn(&Value) -> bool, fn(&[Value]) -> Result<Found, String>),
    /// Text that is no JSON.
    Text(fn(&str) -> bool, fn(&str) -> Result<Found, String>),
    /// A JSON document that is known and holds no measurements: what it is and what to do.
    Refused(fn(&Value) -> bool, &'static str),
    /// The same, written by this program: an archive may hold it beside its results.
    Output(fn(&Value) -> bool, &'static str),
    /// A text that is known and holds no measurements.
    RefusedText(fn(&str) -> bool, &'static str),
}

const EXPORT: &str = "open the results.json that exo_bench or exoscope bench wrote";
const NOT_SPEED: &str = "open the result of a bench instead";
const ITS_FILES: &str = "give the result files that it was made of";
const OVERLAY: &str = "give it to exoscope report RUN --power beside the run it belongs to";

use Comparability::{AggregateOnly, Endpoint, EngineInternal};
use Reader::{Documents, Output, Refused, RefusedText, Rows, Text};

const fn row(name: &'static str, reason: &'static str, class: Comparability, reader: Reader) -> Format {
    Format { name, reason, class, reader }
}

/// Why exo's rows and ours are recognised; the straight way says it, too.
pub(super) const BY_VERSION: &str = "its exoscope.format_version";
pub(super) const BY_RUNS: &str = "runs with elapsed_s";
pub(super) const BY_ROWS: &str = "a list of rows with elapsed_s";

/// Name, reason, class, reader. The first row that fits is taken: what tells most of itself stands first.
#[rustfmt::skip]
pub(super) const FORMATS: &[Format] = &[
    row("exoscope", BY_VERSION, Endpoint, Rows(|d| d.get("exoscope").is_some() && d.get("runs").is_some())),
    row("a converted result", "its source and runs", Endpoint, Rows(|d| d.get("source").is_some_and(Value::is_object) && d.get("runs").is_some())),
    row("a result of asiai's agentic mode", "its prefix_cache_reuse_verdict", Endpoint, Documents(asiai_agentic::is, asiai_agentic::import)),
    row("a result of exo's context-scaling bench", "its metadata, params and runs", Endpoint, Documents(exo_others::is_scaling, exo_others::import_scaling)),
    row("exo", BY_RUNS, Endpoint, Rows(is_exo_object)),
    row("a result of exo's prefill_decode_bench", "its phase and phase_model_id", Endpoint, Documents(exo_others::is_phases, exo_others::import_phases)),
    row("a result of exo's old CI bench (2025)", "its results.stages", Endpoint, Documents(exo_others::is_ci, exo_others::import_ci)),
    row("llama-bench JSON", "its avg_ts, n_prompt and n_gen", EngineInternal, Documents(llama_bench::is, llama_bench::import)),
    row("llama-batched-bench JSON Lines", "its n_kv, pl, speed_pp and speed_tg", EngineInternal, Documents(llama_bench::is_batched, llama_bench::import_batched)),
    row("a result of vLLM's bench serve", "its request_throughput and total_output_tokens", AggregateOnly, Documents(vllm::is, vllm::import)),
    row("exo", BY_ROWS, Endpoint, Rows(is_exo_list)),
    row("an export of asiai bench", "its schema_version and benchmark.engines", Endpoint, Documents(asiai::is_export, asiai::import_export)),
    row("a report of llama-benchy", "its latency_mode and benchmarks with prompt_size", Endpoint, Documents(llama_benchy::is, llama_benchy::import)),
    row("an export of AIPerf", "its metrics with a unit each", AggregateOnly, Documents(aiperf::is, aiperf::import)),
    row("a result of GuideLLM", "its benchmarks with metrics.request_latency", Endpoint, Documents(guidellm::is, guidellm::import)),
    row("a summary of inference-perf", "its load_summary and successes", AggregateOnly, Documents(inference_perf::is, inference_perf::import)),
    row("a result of exo's dflash bench", "its label and requests", Endpoint, Documents(exo_others::is_dflash, exo_others::import_dflash)),
    row("a result of exo_eval: accuracy, not speed", "its benchmark and scores", Endpoint, Refused(|d| d.get("scores").is_some() && d.get("benchmark").is_some(), NOT_SPEED)),
    row("a result of exo's eval_tool_calls: right or wrong calls, not speed", "its results with api and passed", Endpoint, Refused(is_tool_calls, NOT_SPEED)),
    row("power readings of macmon", "its sys_power and timestamp", Endpoint, Refused(overlay::is_macmon, OVERLAY)),
    row("a single row of a result file", "its elapsed_s and stats", Endpoint, Refused(|d| d.get("elapsed_s").is_some() && d.get("stats").is_some(), "rows stand in a list")),
    row("a line of a journal", "its task_id and event", Endpoint, Refused(|d| d.get("task_id").is_some() && d.get("event").is_some(), "run exoscope recover on it")),
    row("a calibration of exoscope calibrate, no result file", "its calibration_version", Endpoint, Output(|d| has(d, &["calibration_version", "metrics"]), "give it with --calibration")),
    row("a history of exoscope history, no result file", "its against_segments", Endpoint, Output(|d| has(d, &["files", "cells", "against_segments"]), ITS_FILES)),
    row("a comparison of exoscope compare, no result file", "its base, new and cells", Endpoint, Output(|d| has(d, &["base", "new", "verdict", "cells"]), ITS_FILES)),
    row("a plan of exoscope plan, no result file", "its seconds_per_side and metrics", Endpoint, Output(|d| has(d, &["sessions", "repeats", "seconds_per_side", "metrics"]), "give the file that it was made for")),
    row("a report of exoscope report, no result file", "its files with cells and facts", Endpoint, Output(|d| any(&d["files"], &["name", "facts", "cells"]), ITS_FILES)),
    row("findings of exoscope validate, no result file", "its file and valid", Endpoint, Output(|d| any(d, &["file", "valid"]), "give the result files that it is about")),
    row("an explanation of exoscope explain, no result file", "its metric and formula", Endpoint, Output(|d| has(d, &["metric", "formula"]) || any(d, &["metric", "formula"]), ITS_FILES)),
    row("a console log of exo's bench", "its lines with prompt_tps= and gen_tps=", Endpoint, Text(exo_log::is, exo_log::import)),
    row("the text of mlx_lm.benchmark", "its lines of trials with prompt_tps=", EngineInternal, Text(mlx_lm::is, mlx_lm::import)),
    row("llama-bench CSV", "its heading with build_commit, n_prompt and avg_ts", EngineInternal, Text(llama_bench::is_csv, llama_bench::import_csv)),
    row("llama-bench SQL", "its INSERT INTO with avg_ts", EngineInternal, Text(llama_bench::is_sql, llama_bench::import_sql)),
    row("a llama-bench table in Markdown", "its columns model, test and t/s", AggregateOnly, Text(llama_table::is, llama_table::import)),
    row("a llama-batched-bench table in Markdown", "its columns PP, TG, B and N_KV", EngineInternal, Text(llama_table::is_batched, llama_table::import_batched)),
    row("readings of macmon with comments, as its documentation shows them", "its sys_power and comments", Endpoint, RefusedText(overlay::is_macmon_documentation, "comments are no JSON: pipe what macmon itself writes (macmon pipe) into a file, and give that to exoscope report RUN --power")),
    row("power readings of powermetrics", "a property list with processor power", Endpoint, RefusedText(overlay::is_powermetrics, OVERLAY)),
    row("readings of a power meter", "a table with a time and watts", Endpoint, RefusedText(overlay::is_meter, OVERLAY)),
];

/// The format of a JSON document.
pub(super) fn document(document: &Value) -> Option<&'static Format> {
    FORMATS.iter().find(|format| match &format.reader {
        Rows(is) | Documents(is, _) | Refused(is, _) | Output(is, _) => is(document),
        Text(..) | RefusedText(..) => false,
    })
}

/// The format of a text that is no JSON.
pub(super) fn text(text: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| match &format.reader {
        Text(is, _) | RefusedText(is, _) => is(text),
        Rows(_) | Documents(..) | Refused(..) | Output(..) => false,
    })
}

/// What a document seems to be that no row of the table knows, and what to do.
pub(super) fn unknown(document: &Value) -> (String, &'static str) {
    let seems = match document {
        Value::Array(rows) if rows.is_empty() => {
            "an empty list: a run in which no request succeeded, or no result file".to_owned()
        }
        Value::Array(_) => "a list without measured requests (no elapsed_s in any entry)".to_owned(),
        Value::Object(map) if map.contains_key("runs") => match &map["runs"] {
            Value::Array(_) => "a list without measured requests (no elapsed_s in any entry)".to_owned(),
            _ => "a JSON document whose \"runs\" is no list".to_owned(),
        },
        Value::Object(map) if map.is_empty() => "a JSON document without runs".to_owned(),
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().take(4).map(String::as_str).collect();
            format!("a JSON document without runs (its keys: {})", shorten(&keys.join(", ")))
        }
        other => format!("a JSON document without runs (just {})", kind(other)),
    };
    (seems, EXPORT)
}

fn has(document: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| document.get(key).is_some())
}

fn any(list: &Value, keys: &[&str]) -> bool {
    list.as_array().is_some_and(|entries| entries.iter().any(|entry| has(entry, keys)))
}

fn is_exo_object(document: &Value) -> bool {
    document.get("runs").and_then(Value::as_array).is_some_and(|rows| rows.is_empty() || has_times(rows))
}

fn is_exo_list(document: &Value) -> bool {
    document.as_array().is_some_and(|rows| has_times(rows))
}

fn has_times(rows: &[Value]) -> bool {
    rows.iter().any(|row| row.get("elapsed_s").is_some())
}

fn is_tool_calls(document: &Value) -> bool {
    document
        .get("results")
        .and_then(Value::as_array)
        .is_some_and(|rows| rows.iter().any(|row| row.get("passed").is_some() && row.get("api").is_some()))
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn shorten(keys: &str) -> String {
    if keys.chars().count() <= 80 {
        keys.to_owned()
    } else {
        format!("{}…", keys.chars().take(80).collect::<String>())
    }
}
