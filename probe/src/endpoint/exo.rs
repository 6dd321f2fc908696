//! exo's HTTP interface, as its server answered in June 2026 (commit b5375f8).
//!
//! - [`chat`] is one request to `/bench/chat/completions` and its answer, plain or streamed.
//! - [`models`] is the list of models, and how a name finds one.
//! - [`placement`] is what `/instance/previews` offers and what an instance says of itself.
//! - [`runner`] is the life of a runner.
//! - [`download`] is the state of a model's files on a node.
//!
//! Tagged unions are objects with one key; sizes are spelt `inBytes` or `in_bytes`; keys that are not needed are not
//! looked at, so that a newer exo with more of them is read just the same.

pub mod chat;
pub mod download;
pub mod models;
pub mod placement;
pub mod runner;

use serde_json::Value;

/// An answer that is not what the interface promises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is not what exo's interface promises: {reason}; is this an exo server, and of which version?")]
pub struct ShapeError {
    /// Which answer.
    pub what: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl ShapeError {
    fn new(what: &'static str, reason: impl Into<String>) -> Self {
        Self { what, reason: reason.into() }
    }
}

/// The tag and the content of a tagged union.
fn tagged(value: &Value) -> Option<(&str, &Value)> {
    let object = value.as_object()?;
    if object.len() != 1 {
        return None;
    }
    object.iter().next().map(|(tag, content)| (tag.as_str(), content))
}

/// A size in bytes, in either spelling.
#[must_use]
pub fn bytes(size: &Value) -> Option<u64> {
    size.get("inBytes").or_else(|| size.get("in_bytes"))?.as_u64()
}

/// The words of an error body: exo's own, the framework's, or plain text; cut to 300 characters.
#[must_use]
pub fn error_words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words = match serde_json::from_slice::<Value>(body) {
        Ok(value) => match (value.pointer("/error/message"), value.get("detail")) {
            (Some(Value::String(message)), _) | (None, Some(Value::String(message))) => message.clone(),
            (None, Some(detail)) => detail.to_string(),
            _ => text.into_owned(),
        },
        Err(_) => text.into_owned(),
    };
    words.trim().chars().take(300).collect()
}

/// A value in a query, percent-encoded as Python's `urlencode` does it (`/` included).
#[must_use]
pub fn query_value(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
        encoded
    })
}

/// A value in a path whose slashes stay: exo takes the rest of a path as a model's id.
#[must_use]
pub fn path_value(text: &str) -> String {
    text.split('/').map(|part| query_value(part).replace('+', "%20")).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_bodies_of_every_kind_give_their_words() {
        let exo =
            br#"{"error":{"message":"No instance found for model X","type":"Not Found","param":null,"code":404}}"#;
        assert_eq!(error_words(exo), "No instance found for model X");
        assert_eq!(error_words(br#"{"detail":"Not Found"}"#), "Not Found");
        assert_eq!(error_words(br#"{"detail":[{"msg":"Field required"}]}"#), r#"[{"msg":"Field required"}]"#);
        assert_eq!(error_words(b"Internal Server Error\n"), "Internal Server Error");
        assert_eq!(error_words(&[b'x'; 1000]).len(), 300);
    }

    #[test]
    fn a_model_id_in_a_query_is_encoded_as_the_official_client_does() {
        assert_eq!(query_value("lab/tiny-qwen3"), "lab%2Ftiny-qwen3");
        assert_eq!(query_value("a b é"), "a+b+%C3%A9");
    }
}
