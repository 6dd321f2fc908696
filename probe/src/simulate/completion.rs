//! `POST /bench/chat/completions`: what is asked, who answers it, and what a fault makes of that.
//!
//! - `plain`: the answer in one piece; `stream`: the answer token by token; `broken`: a body that ends before its end.

mod broken;
mod plain;
pub(super) mod stream;

use std::future::pending;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::cluster::{Cluster, command_id};
use super::engine::{Event, Job, Stats};
use super::fault::AnswerFault;
use super::refusal::{self, Complaint};
use super::{frames, instance};

/// What exo generates when a request names no length, or 0.
const DEFAULT_TOKENS: u64 = 32_168;

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
    fault: Option<AnswerFault>,
    /// How to delete the instance that answers, where a fault does so.
    delete: Option<Box<dyn FnOnce() + Send>>,
    /// Tokens so far.
    tokens: u64,
    /// Counts as open at its instance until it is dropped.
    _open: Arc<()>,
}

impl Accepted {
    /// What happens next, faults included; `None` where the instance went away. Nothing is lost when the future is dropped.
    async fn next(&mut self, streamed: bool) -> Option<Event> {
        if self.tokens > 0 {
            match self.fault {
                Some(AnswerFault::ErrorFrame) => return Some(Event::Crashed),
                Some(AnswerFault::InstanceGone) => {
                    if let Some(delete) = self.delete.take() {
                        delete();
                    }
                    return None;
                }
                // What a client sees where the instance goes while it gives a plain answer.
                Some(AnswerFault::NoStats | AnswerFault::NoDone) if !streamed => return None,
                _ => (),
            }
        }
        let mut event = self.events.recv().await;
        if let Some(Event::Token { last, .. }) = &mut event {
            self.tokens += 1;
            if let (Some(AnswerFault::NoToken), Some(stats)) = (self.fault, last.as_mut()) {
                (stats.generation_tokens, stats.generation_tps) = (0, 0.0);
            }
            // Where the first token is the last, too, the fault comes between it and the end.
            if matches!(self.fault, Some(AnswerFault::ErrorFrame | AnswerFault::InstanceGone | AnswerFault::Reset)) {
                *last = last.filter(|_| self.fault == Some(AnswerFault::Reset) && !streamed);
            }
        }
        event
    }

    /// Why the answer ends, in exo's word.
    fn reason(&self) -> &'static str {
        if self.fault == Some(AnswerFault::EarlyStop) { "stop" } else { "length" }
    }
}

/// Answers a request.
pub(super) async fn complete(cluster: Cluster, bytes: Bytes) -> Response {
    let mut wish = match refusal::json_body(&bytes).and_then(|body| read(&body)) {
        Ok(Some(wish)) => wish,
        Ok(None) => return refusal::internal(),
        Err(complaint) => return complaint.response(),
    };
    let found = {
        let mut world = cluster.world();
        let fault = world.tally.answer(&cluster.settings().faults);
        let placed = world.least_loaded(&wish.model);
        placed.map(|placed| (fault, placed.jobs.clone(), Arc::clone(&placed.open), placed.instance.id().to_owned()))
    };
    let Some((fault, jobs, open, instance)) = found else {
        return refusal::error(StatusCode::NOT_FOUND, &format!("No instance found for model {}", wish.model));
    };
    match fault {
        Some(AnswerFault::Http500) => return refusal::internal(),
        // Until the client leaves.
        Some(AnswerFault::Hang) if !wish.stream => return pending().await,
        Some(AnswerFault::Hang) => return stream::silent(),
        Some(AnswerFault::NoToken) => wish.max_tokens = 1,
        Some(AnswerFault::EarlyStop) => wish.max_tokens = (wish.max_tokens / 2).max(1),
        _ => (),
    }
    // Counting a long prompt is arithmetic for a while: off the threads that keep the engines' time.
    let counter = Arc::clone(&cluster.settings().counter);
    let content = wish.content.clone();
    let counted = tokio::task::spawn_blocking(move || counter.count(&content)).await;
    let Ok(Ok(prompt_tokens)) = counted else { return refusal::internal() };
    let prompt_tokens = prompt_tokens + fault.map_or(0, AnswerFault::miscount);
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
    let delete: Box<dyn FnOnce() + Send> = {
        let cluster = cluster.clone();
        Box::new(move || instance::vanish(&cluster, &instance))
    };
    let accepted = Accepted {
        id: command_id(&cluster),
        wish,
        prompt_tokens,
        events,
        fault,
        delete: Some(delete),
        tokens: 0,
        _open: open,
    };
    if accepted.wish.stream { stream::answer(&cluster, accepted) } else { plain::answer(&cluster, accepted).await }
}

/// exo spells the key for bytes differently in a plain answer (`inBytes`) and in a comment (`in_bytes`).
fn stats_json(stats: &Stats, bytes_key: &str) -> Value {
    json!({
        "prompt_tps": stats.prompt_tps, "generation_tps": stats.generation_tps, "prompt_tokens": stats.prompt_tokens,
        "generation_tokens": stats.generation_tokens, "peak_memory_usage": {bytes_key: stats.peak_memory},
        "prefix_cache_hit": stats.hit.word(),
    })
}

/// Seconds since 1970, for `created`.
pub(super) fn seconds() -> i64 {
    jiff::Timestamp::now().as_second()
}
