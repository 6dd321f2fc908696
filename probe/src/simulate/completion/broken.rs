//! A body whose connection ends before it does.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::Frame;

/// What is there of a body, then the end of the connection.
struct Broken {
    rest: Body,
    /// Whether what there was has been handed over to be sent.
    flushed: bool,
}

impl HttpBody for Broken {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match Pin::new(&mut self.rest).poll_frame(context) {
            Poll::Ready(None) if self.flushed => {
                let reason = io::Error::new(io::ErrorKind::ConnectionReset, "the simulated connection broke");
                Poll::Ready(Some(Err(axum::Error::new(reason))))
            }
            Poll::Ready(None) => {
                // The server sends what it holds when a body has nothing for it at the moment; an error throws it away.
                self.flushed = true;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            other => other,
        }
    }
}

/// A body that breaks off where this one ends.
pub(super) fn after(body: Body) -> Body {
    Body::new(Broken { rest: body, flushed: false })
}

/// The first half of a JSON answer whose headers promise all of it.
pub(super) fn half(text: String) -> Response {
    let mut bytes = Bytes::from(text);
    let whole = bytes.len();
    bytes.truncate(whole / 2);
    let mut response = Response::new(after(Body::from(bytes)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(whole));
    response
}
