//! A request's body whose last byte waits for the start: all before it is with the server by then.
//!
//! A server can do nothing with a body that is not whole. What is left to send at the start is one byte per request, so
//! that requests of a batch become whole together, however long their prompts are: writing 64 prompts of 64 KB takes
//! milliseconds, and the first would be at work while the last is still being written.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::barrier::Place;
use super::clock::{Clock, Stamp};
use super::socket::Trigger;

/// When the last byte was let go; unset before.
pub type Sent = Arc<OnceLock<Stamp>>;

/// A body, whole or held back.
pub enum Payload {
    /// Sent at once; none: no body.
    Whole(Option<Bytes>),
    /// Sent but for its last byte.
    HeldBack(HeldBack),
}

/// See the module.
pub struct HeldBack {
    before: Option<Bytes>,
    last: Option<Bytes>,
    gate: Pin<Box<dyn Future<Output = Option<Stamp>> + Send>>,
    clock: Clock,
    sent: Sent,
    trigger: Option<Arc<Trigger>>,
}

impl HeldBack {
    /// A body that waits at `place`; `sent` is set when its last byte is let go, and `trigger` is loaded when all before it
    /// is in the library's hands.
    #[must_use]
    pub fn new(body: &Bytes, place: Place, clock: Clock, sent: Sent, trigger: Option<Arc<Trigger>>) -> Self {
        let cut = body.len().saturating_sub(1);
        let part = |bytes: Bytes| (!bytes.is_empty()).then_some(bytes);
        Self {
            before: part(body.slice(..cut)),
            last: part(body.slice(cut..)),
            gate: Box::pin(place.wait()),
            clock,
            sent,
            trigger,
        }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = |bytes: Bytes| Poll::Ready(Some(Ok(Frame::data(bytes))));
        match self.get_mut() {
            Self::Whole(body) => body.take().map_or(Poll::Ready(None), frame),
            Self::HeldBack(held) => {
                if let Some(before) = held.before.take() {
                    return frame(before);
                }
                if held.last.is_none() {
                    return Poll::Ready(None);
                }
                // Before the place is taken: the library writes and flushes what it has only after this.
                if let Some(trigger) = held.trigger.take() {
                    trigger.load();
                }
                // A line that was given up lets go as well: the request then fails by itself.
                if held.gate.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                held.sent.get_or_init(|| held.clock.now());
                held.last.take().map_or(Poll::Ready(None), frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_none(),
            Self::HeldBack(held) => held.last.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        let length = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        SizeHint::with_exact(match self {
            Self::Whole(body) => length(body),
            Self::HeldBack(held) => length(&held.before) + length(&held.last),
        })
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::capture::barrier::StartLine;

    #[tokio::test]
    async fn all_but_the_last_byte_comes_before_the_start_and_the_length_is_known() {
        let clock = Clock::start();
        let (line, mut places) = StartLine::new(1);
        let sent = Sent::default();
        let held = HeldBack::new(&Bytes::from_static(b"{\"a\":1}"), places.remove(0), clock, sent.clone(), None);
        let mut payload = Payload::HeldBack(held);
        assert_eq!(payload.size_hint().exact(), Some(7));
        let first = payload.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first, "{\"a\":1");
        let rest = tokio::spawn(async move { payload.collect().await.unwrap().to_bytes() });
        line.everyone().await;
        assert!(sent.get().is_none());
        let start = line.release(&clock, || ());
        assert_eq!(rest.await.unwrap(), "}");
        assert!(sent.get().is_some_and(|sent| *sent >= start));
    }
}
