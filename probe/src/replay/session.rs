//! A recorded session: one exchange per line, as a recording proxy wrote it.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde_json::Value;

use super::unpacked::Unpacked;
use crate::capture::recording::recorded::{Header, RECORDING_VERSION};
use crate::report::reading::why;

pub use crate::capture::recording::recorded::Recorded as Exchange;

/// A year. No run lasts so long, and what lies beyond would overflow a timer.
pub(super) const LONGEST: f64 = 366.0 * 24.0 * 3600.0;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{}: cannot read the recording: {}; give a .jsonl or .jsonl.gz file", path.display(), why(&path.to_string_lossy(), source))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not an exchange.
    #[error("{}: line {line} is not a recorded exchange: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// Written by a later build.
    #[error("{}: recording version {found} is newer than this build reads ({RECORDING_VERSION}); update Exoscope", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file is something else.
    #[error(
        "{}: {seems}; give a recording of `exoscope bench --record`, a session of the same shape, or a timeline",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        seems: String,
    },
    /// The file holds no exchange.
    #[error("{}: the recording is empty; nothing can be answered from it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// A request as a server sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The method, upper case.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// The body: JSON, or a JSON string holding the text where it was not JSON; `None` where there was none.
    pub body: Option<Value>,
}

impl Received {
    /// Reads a body the way recordings and servers alike see it.
    #[must_use]
    pub fn new(method: &str, target: &str, body: &str) -> Self {
        let body =
            (!body.is_empty()).then(|| serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned())));
        Self { method: method.to_owned(), target: target.to_owned(), body }
    }
}

impl Exchange {
    /// The request.
    #[must_use]
    pub fn received(&self) -> Received {
        let body = self.asked().unwrap_or_default();
        Received::new(&self.method, &self.target, &String::from_utf8_lossy(&body))
    }

    /// The body cut as it came: each chunk with the seconds between the headers and it. A recording without chunks, or
    /// with chunks that do not add up to the body, is one chunk at once.
    #[must_use]
    pub fn chunks(&self) -> Vec<(f64, Bytes)> {
        // Checked when the session was loaded.
        let mut rest = Bytes::from(self.answered().unwrap_or_default().into_owned());
        let recorded: usize = self.resp_chunks.iter().map(|(_, length)| length).sum();
        if recorded != rest.len() || self.resp_chunks.is_empty() {
            return vec![(0.0, rest)];
        }
        let headers_at = self.t_resp_headers.unwrap_or(self.resp_chunks[0].0);
        let cut = |&(at, length): &(f64, usize)| ((at - headers_at).max(0.0), rest.split_to(length));
        self.resp_chunks.iter().map(cut).collect()
    }

    /// Seconds between the end of the request and the answer's headers; none where the recorder did not say.
    #[must_use]
    pub fn wait(&self) -> Option<f64> {
        Some((self.t_resp_headers? - self.t_req_end?).max(0.0))
    }

    /// Seconds between the end of the request and the end of everything; none where the recorder did not say.
    #[must_use]
    pub fn whole(&self) -> Option<f64> {
        Some((self.t_resp_end? - self.t_req_end?).max(0.0))
    }
}

/// A recorded session, in the order of its requests.
#[derive(Debug, Clone)]
pub struct Session {
    exchanges: Vec<Exchange>,
    simulated: bool,
    torn: bool,
}

impl Session {
    /// Reads a recording, gzipped or not.
    ///
    /// # Errors
    /// When the file cannot be read, a line is not an exchange, or there is none.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        Self::read(path, &Unpacked::read(path)?)
    }

    /// Reads a recording out of its unpacked bytes. A last line without its end was being written when the recorder was
    /// cut off, and is left out.
    ///
    /// # Errors
    /// When a line is not an exchange, or there is none.
    pub fn read(path: &Path, unpacked: &Unpacked) -> Result<Self, LoadError> {
        let mut session = Self { exchanges: Vec::new(), simulated: false, torn: unpacked.torn };
        let mut lines = unpacked.bytes.split_inclusive(|byte| *byte == b'\n').enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            let wrong = |reason: String| LoadError::Line { path: path.to_owned(), line: index + 1, reason };
            if line.trim_ascii().is_empty() {
                continue;
            }
            match one(line) {
                Ok(Entry::Header(header)) if header.exoscope_recording > RECORDING_VERSION => {
                    return Err(LoadError::Newer { path: path.to_owned(), found: header.exoscope_recording });
                }
                Ok(Entry::Header(header)) => session.simulated |= header.simulated,
                Ok(Entry::Exchange(exchange)) => session.exchanges.push(*exchange),
                Err(_) if index > 0 && lines.peek().is_none() && line.last() != Some(&b'\n') => session.torn = true,
                Err(reason) => return Err(wrong(reason)),
            }
        }
        if session.exchanges.is_empty() {
            return Err(LoadError::Empty { path: path.to_owned() });
        }
        session.exchanges.sort_by_key(|exchange| exchange.seq);
        Ok(session)
    }

    /// A session of exchanges in any order.
    #[must_use]
    pub fn from_exchanges(mut exchanges: Vec<Exchange>) -> Self {
        exchanges.sort_by_key(|exchange| exchange.seq);
        Self { exchanges, simulated: false, torn: false }
    }

    /// The exchanges, in the order of their requests.
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// The recorded requests, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.exchanges.iter().map(Exchange::received).collect()
    }

    /// Whether the recording says that its server was a simulation.
    #[must_use]
    pub const fn is_simulated(&self) -> bool {
        self.simulated
    }

    /// Whether the recorder was cut off in the middle of writing.
    #[must_use]
    pub const fn is_torn(&self) -> bool {
        self.torn
    }
}

enum Entry {
    Header(Header),
    Exchange(Box<Exchange>),
}

fn one(line: &[u8]) -> Result<Entry, String> {
    let words = |error: serde_json::Error| error.to_string();
    let value: Value = serde_json::from_slice(line).map_err(words)?;
    if value.get("exoscope_recording").is_some() {
        return Ok(Entry::Header(serde_json::from_value(value).map_err(words)?));
    }
    let exchange: Exchange = serde_json::from_value(value).map_err(words)?;
    exchange.asked().map_err(|error| format!("req_body_base64: {error}"))?;
    exchange.answered().map_err(|error| format!("resp_body_base64: {error}"))?;
    let times = [exchange.t_req_end, exchange.t_resp_headers, exchange.t_resp_end].into_iter().flatten();
    if times.chain(exchange.resp_chunks.iter().map(|(at, _)| *at)).any(|time| time.abs() > LONGEST) {
        return Err(format!("a time of it is more than {LONGEST} s from the recording's 0"));
    }
    Ok(Entry::Exchange(Box::new(exchange)))
}
