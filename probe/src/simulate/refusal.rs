//! The ways in which exo says no: its own error object, the framework's validation list, and a bare line of text.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

/// exo's error object: `{"error":{"message","type","param","code"}}`, the type being the status's phrase.
pub(crate) fn error(status: StatusCode, message: &str) -> Response {
    let phrase = status.canonical_reason();
    let body = json!({"error": {"message": message, "type": phrase, "param": null, "code": status.as_u16()}});
    (status, Json(body)).into_response()
}

/// A path that the server does not know.
pub(crate) fn not_found() -> Response {
    (StatusCode::NOT_FOUND, Json(json!({"detail": "Not Found"}))).into_response()
}

/// A method that a path does not take.
pub(crate) fn method_not_allowed() -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, Json(json!({"detail": "Method Not Allowed"}))).into_response()
}

/// An exception that nobody caught: plain text, no reason.
pub(crate) fn internal() -> Response {
    let text = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    (StatusCode::INTERNAL_SERVER_ERROR, text, "Internal Server Error").into_response()
}

/// One complaint of the validation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Complaint {
    /// The framework's name of the fault: `missing`, `extra_forbidden`, `json_invalid`, `int_parsing` …
    pub(crate) fault: &'static str,
    /// Where: `["body", "messages"]`.
    pub(crate) place: Vec<Value>,
    /// In words.
    pub(crate) message: String,
    /// What was sent there.
    pub(crate) input: Value,
}

impl Complaint {
    /// A required field is not there; `within` is the object that lacks it.
    pub(crate) fn missing(place: &[&str], within: &Value) -> Self {
        Self {
            fault: "missing",
            place: place.iter().map(|&step| step.into()).collect(),
            message: "Field required".to_owned(),
            input: within.clone(),
        }
    }

    /// The answer: 422 with this one complaint.
    pub(crate) fn response(self) -> Response {
        let mut detail = json!({"type": self.fault, "loc": self.place, "msg": self.message, "input": self.input});
        if self.fault == "json_invalid" {
            detail["ctx"] = json!({"error": "Expecting value"});
        }
        (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({"detail": [detail]}))).into_response()
    }
}

/// A body as JSON, or the complaint the framework makes.
pub(crate) fn json_body(bytes: &[u8]) -> Result<Value, Complaint> {
    serde_json::from_slice(bytes).map_err(|problem| Complaint {
        fault: "json_invalid",
        place: vec!["body".into(), problem.column().into()],
        message: "JSON decode error".to_owned(),
        input: json!({}),
    })
}
