//! What a JSON document is, or only looks like.

use serde_json::Value;

const EXPORT: &str = "open the results.json that exo_bench or exoscope bench wrote";
const NOT_YET: &str = "this build reads results of exo_bench and of exoscope bench";

/// What was recognised.
#[derive(Debug, PartialEq)]
pub(super) enum Shape {
    /// Written by Exoscope, any version.
    Exoscope,
    /// exo's `{"runs": […]}` (since 2026-03-30).
    ExoObject,
    /// exo's bare list of rows (before).
    ExoList,
    /// Something else.
    Foreign {
        /// What it seems to be.
        seems: String,
        /// What to do.
        hint: &'static str,
    },
}

/// Recognises a document by its keys.
pub(super) fn shape(document: &Value) -> Shape {
    let has = |key: &str| document.get(key).is_some();
    let foreign = |seems: &str, hint| Shape::Foreign { seems: seems.into(), hint };
    match document {
        Value::Array(rows) => list(rows),
        Value::Object(_) if has("exoscope") && has("runs") => Shape::Exoscope,
        Value::Object(_) if has("runs") && has("metadata") => {
            foreign("a result of exo's context-scaling bench, whose rows are laid out otherwise", NOT_YET)
        }
        Value::Object(_) if has("runs") => match &document["runs"] {
            Value::Array(rows) if rows.is_empty() => Shape::ExoObject,
            Value::Array(rows) => match list(rows) {
                Shape::ExoList => Shape::ExoObject,
                other => other,
            },
            _ => foreign("a JSON document whose \"runs\" is no list", EXPORT),
        },
        Value::Object(_) if document.pointer("/results/stages").is_some() => {
            foreign("a result of exo's old CI bench (2025), whose stages hold no prefill or decode rates", NOT_YET)
        }
        Value::Object(_) if has("scores") && has("benchmark") => {
            foreign("a result of exo_eval: accuracy, not speed", NOT_YET)
        }
        Value::Object(_) if has("requests") && has("label") => {
            foreign("a result of exo's dflash bench (a branch that was never merged)", NOT_YET)
        }
        Value::Object(_) if is_tool_calls(document) => {
            foreign("a result of exo's eval_tool_calls: right or wrong calls, not speed", NOT_YET)
        }
        Value::Object(_) if has("elapsed_s") && has("stats") => {
            foreign("a single row of a result file; rows stand in a list", EXPORT)
        }
        Value::Object(_) if has("task_id") && has("event") => {
            foreign("a line of a journal", "run exoscope recover on it")
        }
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().take(4).map(String::as_str).collect();
            let seems = if keys.is_empty() {
                "a JSON document without runs".to_owned()
            } else {
                format!("a JSON document without runs (its keys: {})", shorten(&keys.join(", ")))
            };
            Shape::Foreign { seems, hint: EXPORT }
        }
        other => Shape::Foreign { seems: format!("a JSON document without runs (just {})", kind(other)), hint: EXPORT },
    }
}

fn list(rows: &[Value]) -> Shape {
    let any = |key: &str| rows.iter().any(|row| row.get(key).is_some());
    let foreign = |seems: &str, hint| Shape::Foreign { seems: seems.into(), hint };
    if rows.is_empty() {
        foreign("an empty list: a run in which no request succeeded, or no result file", EXPORT)
    } else if any("phase") && any("phase_model_id") {
        foreign("a result of exo's prefill_decode_bench, whose phases are measured otherwise", NOT_YET)
    } else if any("model_filename") && any("avg_ts") {
        foreign("a result of llama-bench", NOT_YET)
    } else if any("elapsed_s") {
        Shape::ExoList
    } else {
        foreign("a list without measured requests (no elapsed_s in any entry)", EXPORT)
    }
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
