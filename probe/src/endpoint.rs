//! One file per engine: build a request, read an answer. Nothing here talks to a network or knows the time; a stamp is
//! whatever the caller puts on a chunk.
//!
//! - [`sse`] cuts a byte stream into server-sent events.
//! - [`exo`] is exo's own interface.

pub mod exo;
pub mod sse;

use analyzer::record::{FailureKind, GenerationStats, PowerUsage};

/// How a request ended, as far as its bytes tell. `T` is the stamp of a chunk.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one per request, and the large one is the usual one")]
pub enum Outcome<T> {
    /// A whole answer with statistics.
    Completed(Answer<T>),
    /// No valid answer.
    Failed(Problem),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<T> {
    /// The generated text.
    pub text: String,
    /// The server's own figures.
    pub stats: GenerationStats,
    /// The server's energy account; exo gives none on a stream.
    pub power_usage: Option<PowerUsage>,
    /// The stamp of each token frame; none for a plain answer.
    pub token_stamps: Option<Vec<T>>,
}

/// Why an answer is no valid one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What went wrong.
    pub kind: FailureKind,
    /// The server's or the system's words, at most 300 characters.
    pub message: String,
    /// Token frames seen before; none for a plain answer.
    pub frames: Option<u64>,
}

impl Problem {
    /// A problem with its words cut to 300 characters, which exo's client shows too.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into().chars().take(300).collect(), frames: None }
    }

    /// The same, after so many token frames of a stream.
    #[must_use]
    pub const fn after(mut self, frames: u64) -> Self {
        self.frames = Some(frames);
        self
    }
}
