//! The answer in one piece, with its energy.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use tokio::time::{Duration, Instant, MissedTickBehavior, interval};

use super::{Accepted, broken, seconds, stats_json};
use crate::simulate::cluster::Cluster;
use crate::simulate::engine::{Event, Stats};
use crate::simulate::fault::AnswerFault;
use crate::simulate::power::PowerMeter;
use crate::simulate::refusal;

/// exo's power sampling interval.
const POWER_INTERVAL: Duration = Duration::from_secs(1);

/// Waits for the end of a request and tells it.
pub(super) async fn answer(cluster: &Cluster, mut accepted: Accepted) -> Response {
    let start = Instant::now();
    let nodes = cluster.world().metered();
    let mut meter = PowerMeter::default();
    let mut text = String::new();
    let mut finished: Option<Stats> = None;
    let sample = |meter: &mut PowerMeter| meter.sample(start.elapsed().as_secs_f64(), cluster.world().power());
    let mut ticks = interval(POWER_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while finished.is_none() {
        // The first tick comes at once: the sample at 0.
        let event = tokio::select! {
            _instant = ticks.tick() => {
                sample(&mut meter);
                continue;
            }
            event = accepted.next(false) => event,
        };
        match event {
            Some(Event::Prefill { .. }) => (),
            Some(Event::Token { last, .. }) if accepted.fault == Some(AnswerFault::NoToken) => finished = last,
            Some(Event::Token { text: word, last }) => {
                if meter.first_token(start.elapsed().as_secs_f64()) {
                    sample(&mut meter);
                }
                text.push_str(word);
                finished = last;
            }
            Some(Event::Crashed) => return refusal::internal(),
            None if text.is_empty() => return refusal::internal(),
            // The instance went away: exo answers 200 with what there is, no reason and no statistics.
            None => break,
        }
    }
    sample(&mut meter);
    let elapsed = start.elapsed().as_secs_f64();
    let reason = finished.map(|_| accepted.reason());
    let message = json!({
        "role": "assistant", "content": text, "reasoning_content": null, "name": null, "tool_calls": null,
        "tool_call_id": null, "function_call": null,
    });
    let body = json!({
        "id": accepted.id, "object": "chat.completion", "created": seconds(), "model": accepted.wish.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": null, "service_tier": null,
        "generation_stats": finished.map(|stats| stats_json(&stats, "inBytes")),
        "power_usage": meter.usage(&nodes, elapsed),
    });
    match accepted.fault {
        Some(AnswerFault::Malformed) => {
            let html = [(header::CONTENT_TYPE, HeaderValue::from_static("text/html"))];
            (StatusCode::OK, html, "<html><body>Simulated gateway</body></html>").into_response()
        }
        Some(AnswerFault::Reset) => broken::half(body.to_string()),
        _ => axum::Json(body).into_response(),
    }
}
