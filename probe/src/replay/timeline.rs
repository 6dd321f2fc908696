//! A timeline: what one engine sent in answer to one request, each piece with its offset.

use std::path::Path;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::session::{LONGEST, LoadError};

/// What a file of the shape `{"kind": …, "timeline": [[ms, text], …]}` holds.
#[derive(Debug, Clone, Deserialize)]
struct Shape {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    content_type: Option<String>,
    timeline: Vec<(f64, String)>,
}

/// Which interface the engine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interface {
    /// Ollama's own.
    Ollama,
    /// OpenAI's, which the others follow.
    OpenAi,
}

/// One recorded answer and the engine around it.
#[derive(Debug, Clone)]
pub struct Timeline {
    interface: Interface,
    content_type: String,
    /// Seconds from the request, bytes.
    pieces: Vec<(f64, Bytes)>,
    model: String,
}

/// What the engine says to a request.
#[derive(Debug)]
pub(super) enum Reply<'a> {
    /// The recorded answer.
    Recorded(&'a Timeline),
    /// A small question that clients ask beforehand.
    Small(Value),
    /// No such path.
    Unknown,
}

impl Timeline {
    /// Reads a document that has a `timeline`.
    ///
    /// # Errors
    /// It is none, holds nothing, or its offsets are no times.
    pub(super) fn read(path: &Path, document: Value) -> Result<Self, LoadError> {
        let foreign = |seems: String| LoadError::Foreign { path: path.to_owned(), seems };
        let shape: Shape =
            serde_json::from_value(document).map_err(|error| foreign(format!("its timeline is none ({error})")))?;
        if shape.timeline.is_empty() {
            return Err(foreign(format!(
                "its timeline of kind {:?} is empty, so there is nothing to serve",
                shape.kind
            )));
        }
        if let Some((at, _)) = shape.timeline.iter().find(|(at, _)| !(0.0..=LONGEST * 1000.0).contains(at)) {
            return Err(foreign(format!("its timeline has an offset of {at} ms")));
        }
        let interface = if shape.kind.starts_with("ollama") { Interface::Ollama } else { Interface::OpenAi };
        let usual = match interface {
            Interface::Ollama => "application/x-ndjson",
            Interface::OpenAi => "text/event-stream",
        };
        let model = shape.timeline.iter().find_map(|(_, text)| named(text)).unwrap_or_else(|| "model".into());
        Ok(Self {
            interface,
            content_type: shape.content_type.unwrap_or_else(|| usual.into()),
            pieces: shape.timeline.into_iter().map(|(at, text)| (at / 1000.0, Bytes::from(text))).collect(),
            model,
        })
    }

    /// Its content type.
    pub(super) fn content_type(&self) -> &str {
        &self.content_type
    }

    /// Its pieces: seconds from the request, bytes.
    pub(super) fn pieces(&self) -> &[(f64, Bytes)] {
        &self.pieces
    }

    /// What the engine says: any generation gets the timeline, and the questions that clients ask first get an answer
    /// that lets them go on.
    pub(super) fn reply(&self, method: &str, target: &str) -> Reply<'_> {
        let path = target.split('?').next().unwrap_or(target);
        let model = &self.model;
        match (method, path, self.interface) {
            ("POST", "/api/generate" | "/api/chat", Interface::Ollama) => Reply::Recorded(self),
            ("POST", path, _) if path.ends_with("/completions") || path.ends_with("/completion") => {
                Reply::Recorded(self)
            }
            ("GET", "/api/version", _) => Reply::Small(json!({"version": "0.0.0"})),
            ("GET", "/api/tags" | "/api/ps", Interface::Ollama) => {
                Reply::Small(json!({"models": [{"name": model, "model": model}]}))
            }
            ("POST", "/api/show", Interface::Ollama) => Reply::Small(json!({"details": {}, "model_info": {}})),
            ("GET", "/v1/models" | "/models" | "/api/v0/models", _) => {
                Reply::Small(json!({"object": "list", "data": [{"id": model, "object": "model"}]}))
            }
            ("GET", "/" | "/health" | "/v1/health", _) => Reply::Small(json!({"status": "ok"})),
            _ => Reply::Unknown,
        }
    }
}

/// The model that a frame names.
fn named(frame: &str) -> Option<String> {
    let json = frame.trim().strip_prefix("data:").unwrap_or(frame);
    let value: Value = serde_json::from_str(json.trim()).ok()?;
    Some(value.get("model")?.as_str()?.to_owned())
}
