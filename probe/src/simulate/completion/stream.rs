//! The answer token by token, as events.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, timeout};

use super::{Accepted, broken, frames, seconds, stats_json};
use crate::simulate::cluster::Cluster;
use crate::simulate::engine::{Event, Stats};
use crate::simulate::fault::AnswerFault;

/// The silence after which exo sends a comment.
pub(in crate::simulate) const KEEP_ALIVE: Duration = Duration::from_secs(10);

const DONE: &[u8] = b"data: [DONE]\n\n";

/// A comment line.
pub(in crate::simulate) fn comment(text: &str) -> Bytes {
    Bytes::from(format!(": {text}\n\n"))
}

/// A data line.
pub(in crate::simulate) fn data(value: &Value) -> Bytes {
    Bytes::from(format!("data: {value}\n\n"))
}

/// Starts to write a request's tokens. Its command can be cancelled until they have ended.
pub(super) fn answer(cluster: &Cluster, accepted: Accepted) -> Response {
    let (sender, body) = frames::channel();
    let body = if accepted.fault == Some(AnswerFault::Reset) { broken::after(body) } else { body };
    let (cancel, cancelled) = oneshot::channel();
    let id = accepted.id.clone();
    cluster.world().streams.insert(id.clone(), cancel);
    let cluster = cluster.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = write(accepted, sender) => (),
            // exo closes the stream just so: without a reason, without [DONE].
            _cancelled = cancelled => (),
        }
        cluster.world().streams.remove(&id);
    });
    event_stream(body)
}

/// A stream on which nothing happens, until the client leaves.
pub(super) fn silent() -> Response {
    let (sender, body) = frames::channel();
    tokio::spawn(async move {
        while sender.send(comment("keep-alive")).await.is_ok() {
            if timeout(KEEP_ALIVE, sender.closed()).await.is_ok() {
                return;
            }
        }
    });
    event_stream(body)
}

/// Writes the frames until the request ends or the client leaves; either drops the engine's events, which cancels it.
async fn write(mut accepted: Accepted, sender: mpsc::Sender<Bytes>) {
    let mut frames = vec![comment("keep-alive")];
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
            event = timeout(KEEP_ALIVE, accepted.next(true)) => event,
            () = sender.closed() => return,
        };
        match event {
            Err(_silence) => frames.push(comment("keep-alive")),
            Ok(Some(Event::Prefill { processed, total })) => {
                let chunk = json!({"PrefillProgressChunk": {
                    "model": accepted.wish.model, "processed_tokens": processed, "total_tokens": total,
                }});
                frames.push(comment(&format!("prefill_progress {chunk}")));
            }
            Ok(Some(Event::Token { text, last })) => {
                if accepted.fault != Some(AnswerFault::NoToken) {
                    frames.push(token(&accepted, text, last));
                }
                // A frame cut off within, as a proxy that gives up would leave it.
                if accepted.fault == Some(AnswerFault::Malformed) {
                    frames.push(Bytes::from_static(b"data: {\"id\":\n\n"));
                }
                if let Some(stats) = last {
                    if accepted.fault != Some(AnswerFault::NoStats) {
                        frames.push(comment(&format!("generation_stats {}", stats_json(&stats, "in_bytes"))));
                    }
                    if accepted.fault != Some(AnswerFault::NoDone) {
                        frames.push(Bytes::from_static(DONE));
                    }
                    over = true;
                }
                over |= accepted.fault == Some(AnswerFault::Reset);
            }
            Ok(Some(Event::Crashed)) => {
                let error =
                    json!({"message": "the simulated runner failed", "type": "InternalServerError", "code": 500});
                frames.push(data(&json!({"error": error})));
                frames.push(Bytes::from_static(DONE));
                over = true;
            }
            // The instance went away: exo's stream just ends, without [DONE].
            Ok(None) => return,
        }
    }
}

/// The frame of one token; the last one tells why it ends and how many there were.
fn token(accepted: &Accepted, text: &str, last: Option<Stats>) -> Bytes {
    let mut choice = json!({"index": 0, "delta": {"role": "assistant", "content": text}});
    let mut chunk = json!({
        "id": accepted.id, "object": "chat.completion", "created": seconds(), "model": accepted.wish.model,
    });
    let last = last.filter(|_| accepted.fault != Some(AnswerFault::NoStats));
    if last.is_some() {
        choice["finish_reason"] = accepted.reason().into();
    }
    chunk["choices"] = json!([choice]);
    if let Some(stats) = last {
        chunk["usage"] = usage(accepted.prompt_tokens, accepted.tokens, stats.hit.cached());
    }
    data(&chunk)
}

/// An answer of events, with exo's headers.
pub(in crate::simulate) fn event_stream(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    response
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::time::Instant;

    use super::super::{DEFAULT_TOKENS, read};
    use super::*;

    fn accepted() -> (mpsc::UnboundedSender<Event>, Accepted) {
        let (sender, events) = mpsc::unbounded_channel();
        let body = json!({"model": "a/b", "messages": [{"role": "user", "content": "hi"}], "stream": true});
        let wish = read(&body).unwrap().unwrap();
        assert_eq!((wish.max_tokens, wish.use_prefix_cache), (DEFAULT_TOKENS, false));
        let (id, _open) = ("c".to_owned(), Arc::new(()));
        (sender, Accepted { id, wish, prompt_tokens: 9, events, fault: None, delete: None, tokens: 0, _open })
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
