//! What a file to replay is: a recording of many exchanges, or the timeline of one answer.

use std::path::Path;

use serde_json::Value;

use super::session::{LoadError, Session};
use super::timeline::Timeline;
use super::unpacked::Unpacked;

/// A file that can be served.
#[derive(Debug, Clone)]
pub enum Source {
    /// Many exchanges, answered in their order.
    Session(Session),
    /// One answer, given to every generation.
    Timeline(Timeline),
}

impl Source {
    /// Reads a file, and tells what it is by what is in it.
    ///
    /// # Errors
    /// It cannot be read, or it is neither.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let unpacked = Unpacked::read(path)?;
        let foreign = |seems: &str| Err(LoadError::Foreign { path: path.to_owned(), seems: seems.into() });
        // One document is a timeline or nothing we know; a recording of a single exchange is one too.
        match serde_json::from_slice::<Value>(&unpacked.bytes) {
            Ok(document) if document.get("timeline").is_some() => {
                return Timeline::read(path, document).map(Self::Timeline);
            }
            Ok(document) if document.get("runs").is_some() => {
                return foreign("this is a result file, which has no exchanges in it");
            }
            Ok(document) if document.get("seq").is_none() && document.get("exoscope_recording").is_none() => {
                return foreign("this is JSON, but neither a recording nor a timeline");
            }
            _ => {}
        }
        let first = unpacked.bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        if first.is_some_and(|line| serde_json::from_slice::<serde_json::Map<String, Value>>(line).is_err()) {
            return foreign("this is no recording: its first line is no JSON object");
        }
        Session::read(path, &unpacked).map(Self::Session)
    }
}
