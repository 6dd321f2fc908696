//! A small HTTP client for tests: one connection per request, every chunk with its time.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1;
use hyper::header::{HeaderMap, HeaderValue};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// An answer that was read to its end.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap<HeaderValue>,
    /// The body, chunking undone.
    pub body: String,
    /// Each chunk of the body and when it came, counted from the sending.
    pub chunks: Vec<(Duration, Bytes)>,
    /// When the body was complete, counted from the sending.
    pub elapsed: Duration,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// With the body in the sentence when it is none.
    pub fn json(&self) -> Result<Value, String> {
        serde_json::from_str(&self.body).map_err(|error| format!("{error} in {:?}", self.body))
    }

    /// A header's text; `None` where it is absent or not text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Sends a request and reads the answer to its end.
///
/// # Errors
/// What broke, in words.
pub async fn send(address: SocketAddr, method: &str, target: &str, body: &str) -> Result<Answer, String> {
    let say = |what: &str, error: &dyn std::fmt::Display| format!("{method} {target}: {what}: {error}");
    let stream = TcpStream::connect(address).await.map_err(|error| say("cannot connect", &error))?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| say("no handshake", &error))?;
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header("host", address.to_string())
        .header("content-type", "application/json")
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .map_err(|error| say("not a request", &error))?;
    let start = Instant::now();
    let response = sender.send_request(request).await.map_err(|error| say("no answer", &error))?;
    let (head, mut incoming) = response.into_parts();
    let mut chunks = Vec::new();
    let mut bytes = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|error| say("the answer broke off", &error))?;
        if let Ok(data) = frame.into_data() {
            bytes.extend_from_slice(&data);
            chunks.push((start.elapsed(), data));
        }
    }
    let elapsed = start.elapsed();
    let body = String::from_utf8(bytes).map_err(|error| say("the answer is not text", &error))?;
    Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, chunks, elapsed })
}

/// The events of an SSE body in order: `(name, JSON)`. A comment's name is its first word, a data frame's is `data`, and
/// the end mark is `[DONE]`; the JSON is null where there is none.
#[must_use]
pub fn events(body: &str) -> Vec<(String, Value)> {
    let parsed = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
    body.split("\n\n")
        .filter_map(|frame| {
            if let Some(comment) = frame.strip_prefix(": ") {
                let (name, rest) = comment.split_once(' ').unwrap_or((comment, ""));
                return Some((name.to_owned(), parsed(rest)));
            }
            let data = frame.strip_prefix("data: ")?;
            let name = if data == "[DONE]" { data } else { "data" };
            Some((name.to_owned(), parsed(data)))
        })
        .collect()
}
