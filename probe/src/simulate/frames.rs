//! A response body that is fed chunk by chunk while it is being sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::Frame;
use tokio::sync::mpsc;

/// How many chunks may wait for a slow reader before the writer waits too.
const WAITING: usize = 256;

struct Frames(mpsc::Receiver<Bytes>);

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

/// A body and the end that feeds it. Sending fails once the reader has gone; dropping the sender ends the body cleanly.
pub(crate) fn channel() -> (mpsc::Sender<Bytes>, Body) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (sender, Body::new(Frames(receiver)))
}
