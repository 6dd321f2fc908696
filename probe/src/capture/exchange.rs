//! One request and the bytes that came back, each chunk with its stamp. Reading them comes later, off the timed path.

use std::time::Duration;

use analyzer::record::FailureKind;
use bytes::Bytes;

use super::clock::Stamp;
use crate::endpoint::exo::{chat, error_words};
use crate::endpoint::{Outcome, Problem};

/// How the bytes ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The body is whole by the rules of HTTP.
    Whole,
    /// The connection broke, in the system's words.
    Broken(String),
    /// No sign of an answer for so long.
    Silent(Duration),
    /// The user wanted to stop.
    Interrupted,
}

/// What is a sign of life of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Nothing before the end: exo sends a plain answer in one piece when it is whole, so whatever drips in before is a server
    /// that keeps a connection open.
    End,
    /// Data lines only: a server that hangs goes on sending keep-alive comments.
    Data,
}

impl Sign {
    /// More bytes than any answer has: exo's whole state is 140 KB, and a stream of a million tokens 300 MB.
    #[must_use]
    pub const fn largest(self) -> usize {
        match self {
            Self::End => 256 << 20,
            Self::Data => 1 << 30,
        }
    }

    /// Whether a chunk is one. A data line cut within its first five bytes is missed once, which shortens a deadline of
    /// minutes by the time between two chunks.
    #[must_use]
    pub fn is_in(self, chunk: &[u8]) -> bool {
        match self {
            Self::End => false,
            Self::Data => chunk.windows(5).any(|window| window == b"data:"),
        }
    }
}

/// One request and what came back.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// How long opening the connection took.
    pub connect: Duration,
    /// The request was handed to the connected socket.
    pub sent: Stamp,
    /// Status and headers were there.
    pub headers: Option<Stamp>,
    /// HTTP status.
    pub status: Option<u16>,
    /// The server said that it is a simulation.
    pub simulated: bool,
    /// The answer's headers, names in lower case; read after the answer has ended.
    pub answer_headers: Vec<(String, String)>,
    /// The body as it came.
    pub chunks: Vec<(Stamp, Bytes)>,
    /// Nothing more came.
    pub done: Stamp,
    /// Why nothing more came.
    pub end: End,
}

impl Exchange {
    /// The body in one piece.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect()
    }

    /// When the first byte of the body came.
    #[must_use]
    pub fn first_byte(&self) -> Option<Stamp> {
        self.chunks.first().map(|&(stamp, _)| stamp)
    }

    /// Reads the answer of exo to a benchmark request.
    #[must_use]
    pub fn read_chat(&self, streamed: bool) -> Outcome<Stamp> {
        // A refusal is plain JSON or text on the streaming path too.
        if let Some(status) = self.status.filter(|&status| status != 200) {
            let words = format!("HTTP {status}: {}", error_words(&self.body()));
            return Outcome::Failed(Problem::new(FailureKind::HttpStatus, words));
        }
        let ended_badly = match &self.end {
            End::Whole => None,
            End::Broken(words) => Some((FailureKind::Reset, format!("the connection broke: {words}"))),
            End::Silent(idle) => {
                Some((FailureKind::Timeout, format!("no sign of an answer for {} s (--timeout)", idle.as_secs_f64())))
            }
            End::Interrupted => Some((FailureKind::Interrupted, "the run was interrupted".into())),
        };
        let outcome = match (streamed, &ended_badly) {
            (true, _) => chat::read_stream(&self.chunks),
            (false, None) => chat::read_plain(&self.body()),
            (false, Some((kind, words))) => Outcome::Failed(Problem::new(*kind, words.clone())),
        };
        match (outcome, ended_badly) {
            // Nothing but comments: the prompt was never answered.
            (Outcome::Failed(problem), Some((FailureKind::Timeout, words)))
                if streamed && problem.kind != FailureKind::ErrorFrame && problem.frames == Some(0) =>
            {
                Outcome::Failed(Problem { frames: problem.frames, ..Problem::new(FailureKind::NoFirstToken, words) })
            }
            // Cut off for a reason that is known better than "the stream ended".
            (Outcome::Failed(problem), Some((kind, words))) if problem.kind != FailureKind::ErrorFrame => {
                Outcome::Failed(Problem { frames: problem.frames, ..Problem::new(kind, words) })
            }
            (outcome, _) => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::clock::Clock;

    fn exchange(status: u16, body: &'static str, end: End) -> Exchange {
        let now = Clock::start().now();
        Exchange {
            connect: Duration::ZERO,
            sent: now,
            headers: Some(now),
            status: Some(status),
            simulated: false,
            answer_headers: Vec::new(),
            chunks: vec![(now, Bytes::from_static(body.as_bytes()))],
            done: now,
            end,
        }
    }

    fn problem(exchange: &Exchange, streamed: bool) -> Problem {
        match exchange.read_chat(streamed) {
            Outcome::Failed(problem) => problem,
            Outcome::Completed(answer) => panic!("completed: {answer:?}"),
        }
    }

    #[test]
    fn the_reason_that_is_known_best_names_the_failure() {
        let frame = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
        let silent = problem(&exchange(200, frame, End::Silent(Duration::from_secs(5))), true);
        assert_eq!((silent.kind, silent.frames), (FailureKind::Timeout, Some(1)));
        assert!(silent.message.contains("5 s"), "{}", silent.message);
        let comments = problem(&exchange(200, ": keep-alive\n\n", End::Silent(Duration::from_secs(5))), true);
        assert_eq!((comments.kind, comments.frames), (FailureKind::NoFirstToken, Some(0)));
        let cut = problem(&exchange(200, frame, End::Whole), true);
        assert_eq!((cut.kind, cut.frames), (FailureKind::TruncatedStream, Some(1)));
        let broken = problem(&exchange(200, "{", End::Broken("reset by peer".into())), false);
        assert_eq!((broken.kind, broken.frames), (FailureKind::Reset, None));
        let error = "data: {\"error\":{\"message\":\"died\"}}\n\n";
        assert_eq!(problem(&exchange(200, error, End::Broken("x".into())), true).kind, FailureKind::ErrorFrame);
        let refused = problem(&exchange(500, "Internal Server Error", End::Whole), true);
        assert_eq!(
            (refused.kind, refused.message.as_str()),
            (FailureKind::HttpStatus, "HTTP 500: Internal Server Error")
        );
    }

    #[test]
    fn a_keep_alive_is_no_sign_of_an_answer() {
        assert!(!Sign::Data.is_in(b": keep-alive\n\n"));
        assert!(Sign::Data.is_in(b": keep-alive\n\ndata: {}\n\n"));
        assert!(!Sign::End.is_in(b"{"));
    }
}
