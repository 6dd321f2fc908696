//! A connection whose last byte can be written past the HTTP library, in the same breath as those of other connections.
//!
//! Waking the library for each of 64 requests takes a millisecond or two; writing 64 bytes takes a tenth of that. What the
//! library writes afterwards as its last byte has left already and is swallowed here.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::clock::Clock;
use super::held_back::Sent;

#[derive(Debug)]
struct Shared {
    stream: TcpStream,
    /// The library was given all but the last byte.
    armed: AtomicBool,
    /// Everything that the library wanted to write so far has gone into the system's hands.
    flushed: AtomicBool,
    /// The next byte of the library has left already.
    swallow: AtomicBool,
}

/// A connection as the HTTP library uses it.
#[derive(Debug)]
pub struct Socket(Arc<Shared>);

impl Socket {
    /// Takes a connection over.
    #[must_use]
    pub fn new(stream: TcpStream) -> Self {
        let no = || AtomicBool::new(false);
        Self(Arc::new(Shared { stream, armed: no(), flushed: no(), swallow: no() }))
    }

    /// The way to its last byte.
    #[must_use]
    pub fn trigger(&self) -> Trigger {
        Trigger(self.0.clone())
    }
}

/// Lets the last byte of a request go that stands at the start line.
#[derive(Debug)]
pub struct Trigger(Arc<Shared>);

impl Trigger {
    /// The library has all but the last byte now; what it flushed before says nothing of that.
    pub fn load(&self) {
        self.0.armed.store(true, Ordering::Release);
        self.0.flushed.store(false, Ordering::Release);
    }

    /// Whether all before the last byte is in the system's hands.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.0.armed.load(Ordering::Acquire) && self.0.flushed.load(Ordering::Acquire)
    }

    /// Writes the last byte now, and stamps it. Where bytes before it are still in the library's hands, or the system takes
    /// none, nothing happens: the library sends it then as the body goes on.
    pub fn pull(&self, last: u8, clock: &Clock, sent: &Sent) {
        if !self.is_loaded() {
            return;
        }
        let now = clock.now();
        if matches!(self.0.stream.try_write(&[last]), Ok(1)) {
            sent.get_or_init(|| now);
            self.0.swallow.store(true, Ordering::Release);
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.stream.poll_read_ready(context))?;
            match self.0.stream.try_read(buffer.initialize_unfilled()) {
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !bytes.is_empty() && self.0.swallow.swap(false, Ordering::AcqRel) {
            return Poll::Ready(Ok(1));
        }
        self.0.flushed.store(false, Ordering::Release);
        loop {
            ready!(self.0.stream.poll_write_ready(context))?;
            match self.0.stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    /// The library calls this when it has nothing left to write.
    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.flushed.store(true, Ordering::Release);
        Poll::Ready(Ok(()))
    }

    /// The connection closes when its last owner drops it.
    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn the_last_byte_leaves_once_and_only_behind_all_others() {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let mut socket = Socket::new(stream);
        let (clock, sent) = (Clock::start(), Sent::default());
        let trigger = socket.trigger();

        // Idle connections are flushed, too: that is no sign that a request has left.
        socket.flush().await.unwrap();
        trigger.pull(b'd', &clock, &sent);
        trigger.load();
        trigger.pull(b'd', &clock, &sent);
        assert!(sent.get().is_none(), "not a byte of it was written");
        socket.write_all(b"abc").await.unwrap();
        trigger.pull(b'd', &clock, &sent);
        assert!(sent.get().is_none(), "the library may have more to write");
        socket.flush().await.unwrap();
        trigger.pull(b'd', &clock, &sent);
        assert!(sent.get().is_some());
        // What the library then writes has left already; what follows has not.
        socket.write_all(b"d").await.unwrap();
        socket.write_all(b"ef").await.unwrap();
        drop((socket, trigger));
        let mut received = String::new();
        server.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "abcdef");
    }
}
