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

/// One complaint of the validation, as the framework's list holds it.
#[derive(Debug)]
pub(crate) struct Complaint(Box<Value>);

impl Complaint {
    /// `fault` is the framework's name of it (`extra_forbidden`, `int_parsing` …), `place` where it is, `input` what was
    /// sent there.
    pub(crate) fn new(fault: &str, place: &[Value], message: &str, input: &Value) -> Self {
        Self(Box::new(json!({"type": fault, "loc": place, "msg": message, "input": input})))
    }

    /// A required field is not there; `within` is the object that lacks it.
    pub(crate) fn missing(place: [&str; 2], within: &Value) -> Self {
        Self::new("missing", &place.map(Value::from), "Field required", within)
    }

    /// The answer: 422 with this one complaint.
    pub(crate) fn response(self) -> Response {
        (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({"detail": [self.0]}))).into_response()
    }
}

/// A body as JSON, or the complaint the framework makes.
pub(crate) fn json_body(bytes: &[u8]) -> Result<Value, Complaint> {
    serde_json::from_slice(bytes).map_err(|problem| {
        let place = ["body".into(), problem.column().into()];
        let mut complaint = Complaint::new("json_invalid", &place, "JSON decode error", &json!({}));
        complaint.0["ctx"] = json!({"error": "Expecting value"});
        complaint
    })
}
