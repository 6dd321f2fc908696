//! A body whose pieces are sent when they are due.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec::IntoIter;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::Frame;
use tokio::time::{Instant, Sleep, sleep_until};

/// What comes behind the last piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// The body is whole.
    End,
    /// The connection breaks then.
    Break(Instant),
    /// Nothing more, until the client gives up.
    Silence,
}

/// A body of these pieces, each with the time when it is due, in their order.
pub(super) fn paced(pieces: Vec<(Instant, Bytes)>, last: Last) -> Body {
    let mut pieces = pieces.into_iter();
    let next = pieces.next();
    let until = next.as_ref().map(|(due, _)| *due).or(if let Last::Break(at) = last { Some(at) } else { None });
    let wait = Box::pin(sleep_until(until.unwrap_or_else(Instant::now)));
    Body::new(Paced { pieces, next, last, wait })
}

struct Paced {
    pieces: IntoIter<(Instant, Bytes)>,
    next: Option<(Instant, Bytes)>,
    last: Last,
    wait: Pin<Box<Sleep>>,
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let waits = self.next.is_some() || matches!(self.last, Last::Break(_));
        // A timer waits for its next millisecond even when it is due already.
        if waits && self.wait.deadline() > Instant::now() {
            ready!(self.wait.as_mut().poll(context));
        }
        let Some((_, piece)) = self.next.take() else {
            return match self.last {
                Last::End => Poll::Ready(None),
                Last::Break(_) => Poll::Ready(Some(Err(io::Error::other("the recorded connection broke here")))),
                // Never woken: the connection goes when the client does.
                Last::Silence => Poll::Pending,
            };
        };
        self.next = self.pieces.next();
        let until = match (&self.next, self.last) {
            (Some((due, _)), _) => Some(*due),
            (None, Last::Break(at)) => Some(at),
            (None, _) => None,
        };
        if let Some(until) = until {
            self.wait.as_mut().reset(until);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}
