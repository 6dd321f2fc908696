//! One exchange as a line of a recording: the shape that the recorded sessions of exo's official client have, written and
//! read by the same type.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// The version of the recordings that this build writes.
pub const RECORDING_VERSION: u32 = 1;

/// The first line of a recording. Those of others have none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`RECORDING_VERSION`] when written by this build.
    pub exoscope_recording: u32,
    /// Who wrote it, with its version.
    #[serde(default)]
    pub tool: String,
    /// UTC, RFC 3339: the 0 of all times in it.
    #[serde(default)]
    pub started_at: Option<String>,
    /// Whether the server said that it is a simulation.
    #[serde(default)]
    pub simulated: bool,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The body is whole by the rules of HTTP.
    #[default]
    Whole,
    /// The connection broke.
    Broken,
    /// The client gave up: nothing came for too long.
    Silent,
    /// The client was told to stop.
    Interrupted,
}

impl Ended {
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// One recorded request with its answer. Times are seconds on the recorder's clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Order of the requests.
    pub seq: u64,
    /// The connection; absent where the recorder did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conn: Option<u64>,
    /// When the connection began to be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_open: Option<f64>,
    /// The method, upper case.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// The request's headers, in order.
    #[serde(default)]
    pub req_headers: Vec<(String, String)>,
    /// When the request was complete; of our own, when it was handed to the connected socket.
    #[serde(default)]
    pub t_req_end: Option<f64>,
    /// The answer's status; absent where none came.
    #[serde(default)]
    pub status: Option<u16>,
    /// When the answer's headers came.
    #[serde(default)]
    pub t_resp_headers: Option<f64>,
    /// The answer's headers, in order.
    #[serde(default)]
    pub resp_headers: Vec<(String, String)>,
    /// When each chunk of the body came, and its length in bytes.
    #[serde(default)]
    pub resp_chunks: Vec<(f64, usize)>,
    /// When nothing more came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_resp_end: Option<f64>,
    /// How the answer ended; absent where it came whole.
    #[serde(default, skip_serializing_if = "Ended::is_whole")]
    pub end: Ended,
    /// The request's body; empty where there was none, or where it stands in `req_body_base64`.
    #[serde(default)]
    pub req_body: String,
    /// The request's body where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub req_body_base64: Option<String>,
    /// The answer's body, chunking undone; empty where there was none, or where it stands in `resp_body_base64`.
    #[serde(default)]
    pub resp_body: String,
    /// The answer's body where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resp_body_base64: Option<String>,
}

impl Recorded {
    /// The bytes of the request's body.
    ///
    /// # Errors
    /// What stands in `req_body_base64` is none.
    pub fn asked(&self) -> Result<Cow<'_, [u8]>, base64::DecodeError> {
        bytes(&self.req_body, self.req_body_base64.as_deref())
    }

    /// The bytes of the answer's body.
    ///
    /// # Errors
    /// What stands in `resp_body_base64` is none.
    pub fn answered(&self) -> Result<Cow<'_, [u8]>, base64::DecodeError> {
        bytes(&self.resp_body, self.resp_body_base64.as_deref())
    }

    /// Puts the request's body in, losslessly.
    pub fn set_asked(&mut self, body: Vec<u8>) {
        (self.req_body, self.req_body_base64) = text(body);
    }

    /// Puts the answer's body in, losslessly.
    pub fn set_answered(&mut self, body: Vec<u8>) {
        (self.resp_body, self.resp_body_base64) = text(body);
    }
}

fn bytes<'a>(text: &'a str, base64: Option<&str>) -> Result<Cow<'a, [u8]>, base64::DecodeError> {
    base64.map_or(Ok(Cow::Borrowed(text.as_bytes())), |base64| STANDARD.decode(base64).map(Cow::Owned))
}

fn text(body: Vec<u8>) -> (String, Option<String>) {
    match String::from_utf8(body) {
        Ok(text) => (text, None),
        Err(error) => (String::new(), Some(STANDARD.encode(error.as_bytes()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_kept_to_the_byte_whether_they_are_text_or_not() {
        for body in [&b"{\"a\":\"\xc3\xa9\"}"[..], b"", b"data: \xff\xfe\x00 cut \xc3"] {
            let mut recorded = Recorded::default();
            recorded.set_answered(body.to_vec());
            recorded.set_asked(body.to_vec());
            let line = serde_json::to_string(&recorded).unwrap();
            let read: Recorded = serde_json::from_str(&line).unwrap();
            assert_eq!((&*read.answered().unwrap(), &*read.asked().unwrap()), (body, body), "{line}");
        }
        let broken = Recorded { resp_body_base64: Some("%".into()), ..Recorded::default() };
        assert!(broken.answered().is_err());
    }
}
