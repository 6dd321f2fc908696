//! `POST /bench/chat/completions`, plain and streamed.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::cluster::{Cluster, command_id};
use super::engine::{Event, Job, Stats};
use super::frames;
use super::power::PowerMeter;
use super::refusal::{self, Complaint};

/// What exo generates when a request names no length, or 0.
const DEFAULT_TOKENS: u64 = 32_168;

/// The silence after which exo sends a comment.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// exo's power sampling interval.
const POWER_INTERVAL: Duration = Duration::from_secs(1);

/// The parts of a request that the simulator minds; others are ignored, as exo does.
#[derive(Debug, Clone, PartialEq)]
struct Wish {
    model: String,
    content: String,
    max_tokens: u64,
    use_prefix_cache: bool,
    stream: bool,
}

/// Reads a request. `Ok(None)`: no message at all, over which exo's handler stumbles.
fn read(body: &Value) -> Result<Option<Wish>, Complaint> {
    let missing = |field| Complaint::missing(["body", field], body);
    let model = body.get("model").ok_or_else(|| missing("model"))?;
    let messages = body.get("messages").ok_or_else(|| missing("messages"))?;
    let (Some(model), Some(messages)) = (model.as_str(), messages.as_array()) else {
        let message = "Input should be a valid string and a valid list";
        return Err(Complaint::new("value_error", &["body".into()], message, body));
    };
    let max_tokens = match body.get("max_tokens") {
        None | Some(Value::Null) => DEFAULT_TOKENS,
        Some(given) => match given.as_u64() {
            Some(0) => DEFAULT_TOKENS,
            Some(tokens) => tokens,
            None => {
                let message = "Input should be a valid integer, unable to parse string as an integer";
                return Err(Complaint::new("int_parsing", &["body".into(), "max_tokens".into()], message, given));
            }
        },
    };
    let contents: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
    let flag = |name| body.get(name).and_then(Value::as_bool) == Some(true);
    Ok((!messages.is_empty()).then(|| Wish {
        model: model.to_owned(),
        content: contents.join("\n"),
        max_tokens,
        use_prefix_cache: flag("use_prefix_cache"),
        stream: flag("stream"),
    }))
}

/// A request that an engine has taken.
struct Accepted {
    id: String,
    wish: Wish,
    prompt_tokens: u64,
    events: mpsc::UnboundedReceiver<Event>,
    /// Counts as open at its instance until it is dropped.
    _open: Arc<()>,
}

/// Answers a request.
pub(super) async fn complete(cluster: Cluster, bytes: Bytes) -> Response {
    let wish = match refusal::json_body(&bytes).and_then(|body| read(&body)) {
        Ok(Some(wish)) => wish,
        Ok(None) => return refusal::internal(),
        Err(complaint) => return complaint.response(),
    };
    let Some((jobs, open)) = cluster.world().least_loaded(&wish.model) else {
        return refusal::error(StatusCode::NOT_FOUND, &format!("No instance found for model {}", wish.model));
    };
    // Counting a long prompt is arithmetic for a while: off the threads that keep the engines' time.
    let counter = Arc::clone(&cluster.settings().counter);
    let content = wish.content.clone();
    let counted = tokio::task::spawn_blocking(move || counter.count(&content)).await;
    let Ok(Ok(prompt_tokens)) = counted else { return refusal::internal() };
    let (sender, events) = mpsc::unbounded_channel();
    let job = Job {
        content: wish.content.clone(),
        prompt_tokens,
        max_tokens: wish.max_tokens,
        use_prefix_cache: wish.use_prefix_cache,
        events: sender,
    };
    // A queue that has closed meanwhile drops the job and with it the sender: the answer is then that of a deletion.
    drop(jobs.send(job));
    let accepted = Accepted { id: command_id(&cluster), wish, prompt_tokens, events, _open: open };
    if accepted.wish.stream { streamed(accepted) } else { plain(&cluster, accepted).await }
}

async fn plain(cluster: &Cluster, mut accepted: Accepted) -> Response {
    let start = Instant::now();
    let nodes = cluster.world().node_ids();
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
            event = accepted.events.recv() => event,
        };
        match event {
            Some(Event::Prefill { .. }) => (),
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
    let reason = finished.map(|_| "length");
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
    axum::Json(body).into_response()
}

fn streamed(accepted: Accepted) -> Response {
    let (sender, body) = frames::channel();
    tokio::spawn(write(accepted, sender));
    event_stream(body)
}

/// Writes the frames until the request ends or the client leaves; either drops the engine's events, which cancels it.
async fn write(mut accepted: Accepted, sender: mpsc::Sender<Bytes>) {
    let comment = |text: String| Bytes::from(format!(": {text}\n\n"));
    let data = |value: &Value| Bytes::from(format!("data: {value}\n\n"));
    let mut frames = vec![comment("keep-alive".to_owned())];
    let mut generated = 0_u64;
    let mut over = false;
    loop {
        for frame in frames.drain(..) {
            if sender.send(frame).await.is_err() {
                return;
            }
        }
        if over {
            return;
        }
        let event = tokio::select! {
            event = timeout(KEEP_ALIVE, accepted.events.recv()) => event,
            () = sender.closed() => return,
        };
        match event {
            Err(_silence) => frames.push(comment("keep-alive".to_owned())),
            Ok(Some(Event::Prefill { processed, total })) => {
                let chunk = json!({"PrefillProgressChunk": {
                    "model": accepted.wish.model, "processed_tokens": processed, "total_tokens": total,
                }});
                frames.push(comment(format!("prefill_progress {chunk}")));
            }
            Ok(Some(Event::Token { text, last })) => {
                generated += 1;
                let mut choice = json!({"index": 0, "delta": {"role": "assistant", "content": text}});
                let mut chunk = json!({
                    "id": accepted.id, "object": "chat.completion", "created": seconds(), "model": accepted.wish.model,
                });
                if last.is_some() {
                    choice["finish_reason"] = "length".into();
                }
                chunk["choices"] = json!([choice]);
                if let Some(stats) = last {
                    chunk["usage"] = usage(accepted.prompt_tokens, generated, stats.hit.cached());
                    frames.push(data(&chunk));
                    frames.push(comment(format!("generation_stats {}", stats_json(&stats, "in_bytes"))));
                    frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
                    over = true;
                } else {
                    frames.push(data(&chunk));
                }
            }
            Ok(Some(Event::Crashed)) => {
                let error =
                    json!({"message": "the simulated runner failed", "type": "InternalServerError", "code": 500});
                frames.push(data(&json!({"error": error})));
                frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
                over = true;
            }
            // The instance went away: exo's stream just ends, without [DONE].
            Ok(None) => return,
        }
    }
}

/// An answer of events, with exo's headers.
pub(super) fn event_stream(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    response
}

/// exo spells the key for bytes differently in a plain answer (`inBytes`) and in a comment (`in_bytes`).
fn stats_json(stats: &Stats, bytes_key: &str) -> Value {
    json!({
        "prompt_tps": stats.prompt_tps, "generation_tps": stats.generation_tps, "prompt_tokens": stats.prompt_tokens,
        "generation_tokens": stats.generation_tokens, "peak_memory_usage": {bytes_key: stats.peak_memory},
        "prefix_cache_hit": stats.hit.word(),
    })
}

fn usage(prompt: u64, generated: u64, cached: u64) -> Value {
    json!({
        "prompt_tokens": prompt, "completion_tokens": generated, "total_tokens": prompt + generated,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

/// Seconds since 1970, for `created`.
pub(super) fn seconds() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted() -> (mpsc::UnboundedSender<Event>, Accepted) {
        let (sender, events) = mpsc::unbounded_channel();
        let body = json!({"model": "a/b", "messages": [{"role": "user", "content": "hi"}], "stream": true});
        let wish = read(&body).unwrap().unwrap();
        assert_eq!((wish.max_tokens, wish.use_prefix_cache), (DEFAULT_TOKENS, false));
        (sender, Accepted { id: "c".to_owned(), wish, prompt_tokens: 9, events, _open: Arc::new(()) })
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_filled_with_a_comment_every_ten_seconds() {
        let (events, accepted) = accepted();
        let (sender, mut frames) = mpsc::channel(8);
        let writing = tokio::spawn(write(accepted, sender));
        let start = Instant::now();
        for seconds in [0, 10, 20] {
            assert_eq!(frames.recv().await.unwrap(), ": keep-alive\n\n");
            // The timer's resolution is a millisecond.
            assert!(start.elapsed().abs_diff(Duration::from_secs(seconds)) <= Duration::from_millis(3));
        }
        events.send(Event::Token { text: "x", last: None }).unwrap();
        assert!(frames.recv().await.unwrap().starts_with(b"data: {"));
        drop(events);
        assert_eq!(frames.recv().await, None, "an instance that goes away ends the stream without [DONE]");
        writing.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_leaves_cancels_its_request() {
        let (events, accepted) = accepted();
        let (sender, frames) = mpsc::channel(8);
        let writing = tokio::spawn(write(accepted, sender));
        drop(frames);
        writing.await.unwrap();
        assert!(events.is_closed());
    }
}
