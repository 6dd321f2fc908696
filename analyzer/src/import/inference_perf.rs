//! inference-perf: lifecycle metrics of a whole run or of a stage.

use serde_json::Value;

use super::foreign::{Found, Row, failure, number, whole};
use crate::record::FailureKind;

/// inference-perf's lifecycle metrics, of the whole run or of a stage.
pub(super) fn is(document: &Value) -> bool {
    document.get("load_summary").is_some() && document.pointer("/successes/latency").is_some()
}

/// A summary per file, in seconds.
pub(super) fn import(documents: &[Value]) -> Result<Found, String> {
    let mut found = Found::default();
    for document in documents {
        let mean = |pointer: &str| document.pointer(pointer).and_then(|metric| number(metric, "mean"));
        let latency = |name: &str| mean(&format!("/successes/latency/{name}"));
        let tokens = |name: &str| mean(&format!("/successes/{name}")).filter(|n| *n >= 0.0).map(|n| n.round() as u64);
        let throughput = |name: &str| document.pointer("/successes/throughput").and_then(|rates| number(rates, name));
        let mut row = Row {
            pp: tokens("prompt_len"),
            prompt_tokens: tokens("prompt_len"),
            generation_tokens: tokens("output_len"),
            elapsed_s: latency("request_latency"),
            ..Row::default()
        };
        row.tell_obtained();
        row.figures.stands_for = document.get("successes").and_then(|ok| whole(ok, "count")).filter(|count| *count > 0);
        row.figures.ttft_s = latency("time_to_first_token");
        row.figures.tpot_s = latency("time_per_output_token");
        row.figures.itl_s = latency("inter_token_latency");
        row.figures.itl_p99_s =
            document.pointer("/successes/latency/inter_token_latency").and_then(|metric| number(metric, "p99"));
        row.generation_tps = row.figures.tpot_s.filter(|seconds| *seconds > 0.0).map(|seconds| 1.0 / seconds);
        if row.generation_tps.is_some() {
            row.derive("generation_tps", "1 / mean time_per_output_token, by the client's clock");
        }
        row.figures.output_tps = throughput("output_tokens_per_sec");
        row.figures.requests_per_s = throughput("requests_per_sec");
        if let Some(Value::Object(metrics)) = document.pointer("/successes/latency") {
            row.figures.published.extend(metrics.iter().map(|(name, metric)| (name.clone(), metric.clone())));
        }
        let failed = document.get("failures").and_then(|failures| whole(failures, "count")).unwrap_or(0);
        let why = "counted as failed; the file does not tell why";
        found.fail(failed, |place| failure(&row, FailureKind::Untold, why, place));
        if let Some(late) = mean("/load_summary/schedule_delay").filter(|late| *late > 0.1) {
            found.notices.push(format!(
                "requests were sent {late:.1} s later than scheduled on average: the generator itself was the limit"
            ));
        }
        found.rows.push(row);
    }
    Ok(found)
}
