//! HTTP/1.1, one TCP connection per request, opened before the request is due. The only place that knows hyper.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::barrier::Place;
use super::clock::Clock;
use super::exchange::{End, Exchange, Sign};
use super::held_back::{HeldBack, Payload, Sent};
use super::interrupt::Interrupt;
use super::recording::recorded::Recorded;
use super::socket::{Socket, Trigger};
use crate::plan::Address;

/// A server on the same network that does not take a connection within this time will not take it at all.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// The header by which the simulator says what it is.
pub(crate) const SIMULATED: &str = "x-exoscope-simulated";

/// The header by which a replayed recording says what it is.
pub(crate) const REPLAYED: &str = "x-exoscope-replay";

/// Why nothing could be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// No connection.
    #[error("nothing answers at {address}: {reason}; is the cluster running there? --host and --port name another")]
    Connect {
        /// Where.
        address: String,
        /// The system's words.
        reason: String,
    },
    /// A defect here, not there: a request must not vanish for it.
    #[error("the request was lost by a fault of this program; please report it")]
    Lost,
    /// A target that is no part of a URL.
    #[error("{target} cannot be asked for: {reason}")]
    Target {
        /// What.
        target: String,
        /// Why not.
        reason: String,
    },
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Creates.
    Post,
    /// Removes.
    Delete,
}

impl Verb {
    /// The method's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// A request whose bytes are ready.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// What it does.
    pub verb: Verb,
    /// Path and query.
    pub target: String,
    /// JSON text; none: no body.
    pub body: Option<Bytes>,
    /// Whether a stream is asked for.
    pub stream: bool,
}

/// An open connection with a request that only has to be let go.
pub struct Ready {
    sender: http1::SendRequest<Payload>,
    request: hyper::Request<Option<Bytes>>,
    connect: Duration,
    sign: Sign,
    driver: Driver,
    first: Option<Arc<Notify>>,
    trigger: Arc<Trigger>,
    released: Sent,
}

/// Drives the connection's bytes; closing with the last owner is what tells a server to stop a stream.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Opens a connection and prepares a request on it.
///
/// # Errors
/// Nothing answers there, or the target is no part of a URL.
pub async fn prepare(address: &Address, outgoing: Outgoing) -> Result<Ready, TransportError> {
    let refused = |reason: String| TransportError::Connect { address: address.to_string(), reason: one_line(&reason) };
    let wrong = |error: hyper::http::Error| TransportError::Target {
        target: outgoing.target.clone(),
        reason: error.to_string(),
    };
    // Order and values of the headers are those of the official client.
    let mut request = hyper::Request::builder()
        .method(outgoing.verb.name())
        .uri(&outgoing.target)
        .header(HOST, address.to_string())
        .header(ACCEPT_ENCODING, "identity");
    if !outgoing.stream {
        request = request.header(ACCEPT, "application/json");
    }
    if outgoing.body.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if outgoing.stream {
        request = request.header(ACCEPT, "text/event-stream");
    }
    let request = request.body(outgoing.body.clone()).map_err(wrong)?;

    let before = Instant::now();
    let stream = match timeout(CONNECT_DEADLINE, TcpStream::connect((address.host.as_str(), address.port))).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(refused(error.to_string())),
        Err(_) => return Err(refused(format!("no connection within {} s", CONNECT_DEADLINE.as_secs()))),
    };
    // Nagle would hold back the tail of a request until the server acknowledges its head.
    stream.set_nodelay(true).map_err(|error| refused(error.to_string()))?;
    let socket = Socket::new(stream);
    let trigger = Arc::new(socket.trigger());
    let (mut sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .handshake(TokioIo::new(socket))
        .await
        .map_err(|error| refused(error.to_string()))?;
    let driver = Driver(tokio::spawn(async move {
        // Its error reaches the one who waits for the answer as well, who tells it.
        drop(connection.await);
    }));
    sender.ready().await.map_err(|error| refused(error.to_string()))?;
    let sign = if outgoing.stream { Sign::Data } else { Sign::End };
    Ok(Ready {
        sender,
        request,
        connect: before.elapsed(),
        sign,
        driver,
        first: None,
        trigger,
        released: Sent::default(),
    })
}

/// The last byte of a request, to be let go at the start.
#[derive(Debug)]
pub struct LastByte {
    trigger: Arc<Trigger>,
    released: Sent,
    byte: u8,
}

impl LastByte {
    /// Whether all before it has left.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.trigger.is_loaded()
    }

    /// Lets it go now, where all before it has left; else the HTTP library will.
    pub fn release(&self, clock: &Clock) {
        self.trigger.pull(self.byte, clock, &self.released);
    }
}

impl Ready {
    /// The last byte of its body; none without a body.
    #[must_use]
    pub fn last_byte(&self) -> Option<LastByte> {
        let byte = *self.request.body().as_ref()?.last()?;
        Some(LastByte { trigger: self.trigger.clone(), released: self.released.clone(), byte })
    }

    /// How long opening the connection took.
    pub(super) const fn connect(&self) -> Duration {
        self.connect
    }

    /// The request as a recording keeps it; nothing of the answer yet.
    pub(super) fn recorded(&self) -> Recorded {
        let mut recorded = Recorded {
            method: self.request.method().to_string(),
            target: self.request.uri().to_string(),
            req_headers: words_of(self.request.headers()),
            ..Recorded::default()
        };
        recorded.set_asked(self.request.body().as_deref().unwrap_or_default().to_vec());
        recorded
    }

    /// Rings when the first data line comes: the first token of a stream, or an error in its place.
    #[must_use]
    pub fn ringing(self, first: Option<Arc<Notify>>) -> Self {
        Self { first, ..self }
    }

    /// Lets the request go and takes what comes: stamp first, keep the bytes, read them later. Where there is a place at a
    /// start line, the request's last byte waits there.
    pub async fn exchange(
        self,
        clock: &Clock,
        idle: Duration,
        interrupt: &Interrupt,
        place: Option<Place>,
    ) -> Exchange {
        let Self { mut sender, request, connect, sign, driver, mut first, trigger, released } = self;
        let request = match (place, request.body().clone()) {
            (Some(place), Some(body)) => {
                let held = HeldBack::new(&body, place, *clock, released.clone(), Some(trigger));
                request.map(|_| Payload::HeldBack(held))
            }
            (_, _) => request.map(Payload::Whole),
        };
        let mut deadline = Instant::now() + idle;
        let sent = clock.now();
        let mut exchange = Exchange {
            connect,
            sent,
            headers: None,
            status: None,
            simulated: false,
            answer_headers: Vec::new(),
            chunks: Vec::new(),
            done: sent,
            end: End::Whole,
        };
        let response = tokio::select! {
            response = sender.send_request(request) => response,
            end = silent_or_interrupted(deadline, idle, interrupt) => {
                exchange.sent = released.get().copied().unwrap_or(sent);
                return exchange.ended(clock, end);
            }
        };
        let mut response = match response {
            Ok(response) => response,
            Err(error) => {
                exchange.sent = released.get().copied().unwrap_or(sent);
                return exchange.ended(clock, End::Broken(words(&error)));
            }
        };
        exchange.headers = Some(clock.now());
        exchange.sent = released.get().copied().unwrap_or(sent);
        exchange.status = Some(response.status().as_u16());
        exchange.simulated = response.headers().get(SIMULATED).is_some_and(|value| value == "true");
        let mut size = 0;
        let end = loop {
            let frame = tokio::select! {
                frame = response.body_mut().frame() => frame,
                () = sleep_until(deadline) => break End::Silent(idle),
                () = interrupt.raised() => break End::Interrupted,
            };
            let stamp = clock.now();
            match frame {
                None => break End::Whole,
                Some(Err(error)) => break End::Broken(words(&error)),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        if sign.is_in(&bytes) {
                            deadline = Instant::now() + idle;
                            if let Some(bell) = first.take() {
                                bell.notify_one();
                            }
                        }
                        size += bytes.len();
                        if size > sign.largest() {
                            break End::Broken(format!("it went on beyond {} MiB", sign.largest() >> 20));
                        }
                        // A piece of the read buffer would keep all of it: kilobytes for a token.
                        exchange.chunks.push((stamp, Bytes::copy_from_slice(&bytes)));
                    }
                }
            }
        };
        let mut exchange = exchange.ended(clock, end);
        exchange.answer_headers = words_of(response.headers());
        drop(driver);
        exchange
    }
}

impl Exchange {
    fn ended(mut self, clock: &Clock, end: End) -> Self {
        self.done = clock.now();
        self.end = end;
        self
    }
}

/// Waits for the deadline or the wish to stop.
async fn silent_or_interrupted(deadline: Instant, idle: Duration, interrupt: &Interrupt) -> End {
    tokio::select! {
        () = sleep_until(deadline) => End::Silent(idle),
        () = interrupt.raised() => End::Interrupted,
    }
}

/// Headers in order, as text; bytes that are none are shown as the replacement character.
fn words_of(headers: &hyper::HeaderMap) -> Vec<(String, String)> {
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// hyper's own words say little; the cause below them says what the system did.
fn words(error: &hyper::Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    one_line(&words)
}

fn one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
