//! A recorded session: one exchange per line, as a recording proxy wrote it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{}: cannot read the recording: {source}; give a .jsonl or .jsonl.gz file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not an exchange.
    #[error("{}: line {line} is not a recorded exchange: {source}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser said.
        source: serde_json::Error,
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

/// One recorded request with its answer. Times are seconds on the recorder's clock.
#[derive(Debug, Clone, Deserialize)]
pub struct Exchange {
    /// Order of the requests.
    pub seq: u64,
    /// The method, upper case.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// The request's body; empty where there was none.
    #[serde(default)]
    pub req_body: String,
    /// The answer's status.
    pub status: u16,
    /// The answer's headers, in order.
    #[serde(default)]
    pub resp_headers: Vec<(String, String)>,
    /// The answer's body, chunking undone.
    #[serde(default)]
    pub resp_body: String,
    /// When each chunk of the body came, and its length in bytes.
    #[serde(default)]
    pub resp_chunks: Vec<(f64, usize)>,
    /// When the request was complete.
    #[serde(default)]
    pub t_req_end: Option<f64>,
    /// When the answer's headers came.
    #[serde(default)]
    pub t_resp_headers: Option<f64>,
}

impl Exchange {
    /// The request.
    #[must_use]
    pub fn received(&self) -> Received {
        Received::new(&self.method, &self.target, &self.req_body)
    }

    /// The body cut as it came: each chunk with the seconds between the headers and it. A recording without chunks, or
    /// with chunks that do not add up to the body, is one chunk at once.
    #[must_use]
    pub fn chunks(&self) -> Vec<(f64, &[u8])> {
        let body = self.resp_body.as_bytes();
        let recorded: usize = self.resp_chunks.iter().map(|(_, length)| length).sum();
        if recorded != body.len() || self.resp_chunks.is_empty() {
            return vec![(0.0, body)];
        }
        let headers_at = self.t_resp_headers.unwrap_or(self.resp_chunks[0].0);
        let mut rest = body;
        let mut chunks = Vec::with_capacity(self.resp_chunks.len());
        for &(at, length) in &self.resp_chunks {
            let (chunk, after) = rest.split_at(length);
            chunks.push(((at - headers_at).max(0.0), chunk));
            rest = after;
        }
        chunks
    }

    /// Seconds between the end of the request and the answer's headers; none where the recorder did not say.
    #[must_use]
    pub fn wait(&self) -> Option<f64> {
        Some((self.t_resp_headers? - self.t_req_end?).max(0.0))
    }
}

/// A recorded session, in the order of its requests.
#[derive(Debug, Clone)]
pub struct Session {
    exchanges: Vec<Exchange>,
}

impl Session {
    /// Reads a recording, gzipped where its name ends in `.gz`.
    ///
    /// # Errors
    /// When the file cannot be read, a line is not an exchange, or there is none.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let read = |source| LoadError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(read)?;
        let bytes: Box<dyn Read> = if path.extension().is_some_and(|extension| extension == "gz") {
            Box::new(MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        let mut exchanges = Vec::new();
        for (index, line) in BufReader::new(bytes).lines().enumerate() {
            let line = line.map_err(read)?;
            if line.trim().is_empty() {
                continue;
            }
            let exchange = serde_json::from_str(&line).map_err(|source| LoadError::Line {
                path: path.to_owned(),
                line: index + 1,
                source,
            })?;
            exchanges.push(exchange);
        }
        if exchanges.is_empty() {
            return Err(LoadError::Empty { path: path.to_owned() });
        }
        Ok(Self::from_exchanges(exchanges))
    }

    /// A session of exchanges in any order.
    #[must_use]
    pub fn from_exchanges(mut exchanges: Vec<Exchange>) -> Self {
        exchanges.sort_by_key(|exchange| exchange.seq);
        Self { exchanges }
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
}
