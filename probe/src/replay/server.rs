//! A recording behind an address.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, sleep_until};

use super::cursor::{Answer, Cursor, Repeats};
use super::paced::{Last, paced};
use super::session::{Exchange, Received, Session};
use super::source::Source;
use super::timeline::{Reply, Timeline};
use crate::capture::recording::recorded::Ended;
use crate::capture::transport::{REPLAYED, SIMULATED};
use crate::simulate::background::Background;
use crate::simulate::refusal;

/// When answers and their chunks are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// At once. Equal polls in a row are answered as one, so that a client need not wait as long as the recorded one did.
    Instant,
    /// As recorded.
    Recorded {
        /// How many times faster than recorded; more than 0.
        speed: f64,
    },
}

impl Pace {
    /// When something that happened so many seconds after the arrival of its request is due.
    fn due(self, arrival: Instant, seconds: f64) -> Instant {
        match self {
            Self::Instant => arrival,
            // A speed so low that no clock reaches the time is as good as a century.
            Self::Recorded { speed } => {
                arrival + Duration::try_from_secs_f64(seconds / speed).unwrap_or(CENTURY).min(CENTURY)
            }
        }
    }
}

const CENTURY: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

/// A replay that runs until it is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    _server: Background,
}

impl Running {
    /// Every request so far, in the order in which it arrived.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

enum Script {
    Session { session: Session, cursor: Mutex<Cursor> },
    Timeline(Timeline),
}

struct Replay {
    script: Script,
    pace: Pace,
    /// None where nobody will ask for it: a server that runs for days shall not grow.
    received: Option<Arc<Mutex<Vec<Received>>>>,
}

impl From<Session> for Source {
    fn from(session: Session) -> Self {
        Self::Session(session)
    }
}

/// Serves a recording on a free port of this machine.
///
/// # Errors
/// When no port can be bound or no thread started.
pub fn start(source: impl Into<Source>, pace: Pace) -> io::Result<Running> {
    let received = Arc::new(Mutex::new(Vec::new()));
    let router = router(source.into(), pace, Some(Arc::clone(&received)));
    let server = Background::start("127.0.0.1", 0, move || router)?;
    Ok(Running { address: server.address(), received, _server: server })
}

/// Serves a recording until `shutdown` is over.
///
/// # Errors
/// When the listener cannot be served.
pub async fn serve(
    listener: tokio::net::TcpListener,
    source: Source,
    pace: Pace,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    tokio::select! {
        served = axum::serve(listener, router(source, pace, None)) => served,
        // Not axum's graceful shutdown: it would wait for answers that may take as long as recorded.
        () = shutdown => Ok(()),
    }
}

fn router(source: Source, pace: Pace, received: Option<Arc<Mutex<Vec<Received>>>>) -> Router {
    let repeats = if pace == Pace::Instant { Repeats::Collapsed } else { Repeats::Kept };
    let script = match source {
        Source::Session(session) => Script::Session { cursor: Mutex::new(Cursor::new(&session, repeats)), session },
        Source::Timeline(timeline) => Script::Timeline(timeline),
    };
    Router::new().fallback(answer).with_state(Arc::new(Replay { script, pace, received }))
}

async fn answer(State(replay): State<Arc<Replay>>, request: Request) -> Response {
    let method = request.method().to_string();
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let Ok(body) = request.into_body().collect().await else {
        // The client is gone before its request was complete: nobody is there to read an answer.
        return StatusCode::BAD_REQUEST.into_response();
    };
    let arrival = Instant::now();
    let kept = replay.received.as_ref().map(|received| {
        // One lock over both, so that the list has the order in which answers were given.
        let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
        let body = body.to_bytes();
        received.push(Received::new(&method, &target, &String::from_utf8_lossy(&body)));
        received
    });
    let mut response = match &replay.script {
        Script::Timeline(timeline) => {
            drop(kept);
            told(timeline.reply(&method, &target), replay.pace, arrival, &method, &target)
        }
        Script::Session { session, cursor } => {
            let next = cursor.lock().unwrap_or_else(PoisonError::into_inner).next(&method, &target);
            drop(kept);
            let mut response = match next {
                Answer::Recorded(index) => recorded(&session.exchanges()[index], replay.pace, arrival).await,
                Answer::NoReadings => axum::Json(serde_json::json!({})).into_response(),
                Answer::Unknown => {
                    refusal::error(StatusCode::NOT_FOUND, &format!("{method} {target} was not recorded at this point"))
                }
            };
            if session.is_simulated() {
                response.headers_mut().insert(SIMULATED, HeaderValue::from_static("true"));
            }
            response
        }
    };
    // Never mistaken for the server it was recorded from.
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

fn told(reply: Reply<'_>, pace: Pace, arrival: Instant, method: &str, target: &str) -> Response {
    match reply {
        Reply::Recorded(timeline) => {
            let pieces = timeline.pieces().iter().map(|(at, piece)| (pace.due(arrival, *at), piece.clone())).collect();
            let mut response = Response::new(paced(pieces, Last::End));
            if let Ok(value) = HeaderValue::try_from(timeline.content_type()) {
                response.headers_mut().insert(header::CONTENT_TYPE, value);
            }
            response
        }
        Reply::Small(value) => axum::Json(value).into_response(),
        Reply::Unknown => {
            refusal::error(StatusCode::NOT_FOUND, &format!("{method} {target} is not part of the recorded engine"))
        }
    }
}

async fn recorded(exchange: &Exchange, pace: Pace, arrival: Instant) -> Response {
    let end = pace.due(arrival, exchange.whole().unwrap_or(0.0));
    let last = match exchange.end {
        Ended::Whole => Last::End,
        // Nobody knows how it would have ended: the recording does.
        Ended::Broken | Ended::Interrupted => Last::Break(end),
        Ended::Silent => Last::Silence,
    };
    let Some(status) = exchange.status.and_then(|status| StatusCode::from_u16(status).ok()) else {
        return unanswered(last).await;
    };
    let wait = exchange.wait().unwrap_or(0.0);
    sleep_until(pace.due(arrival, wait)).await;
    let chunks: Vec<(Instant, Bytes)> =
        exchange.chunks().into_iter().map(|(at, chunk)| (pace.due(arrival, wait + at), chunk)).collect();
    let mut response = Response::new(match (pace, last) {
        // Whole answers in one piece, with their length.
        (Pace::Instant, Last::End) => {
            Body::from(chunks.iter().flat_map(|(_, chunk)| chunk.iter().copied()).collect::<Bytes>())
        }
        _ => paced(chunks, last),
    });
    *response.status_mut() = status;
    for (name, value) in &exchange.resp_headers {
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str())) else {
            continue;
        };
        // The framing is that of this connection, not of the recorded one.
        if name != header::CONTENT_LENGTH && name != header::TRANSFER_ENCODING && name != header::CONNECTION {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// A connection that ends without an answer, or never: hyper drops the head of a response whose body fails at once.
async fn unanswered(last: Last) -> Response {
    match last {
        Last::Break(at) => sleep_until(at).await,
        Last::End => {}
        Last::Silence => std::future::pending().await,
    }
    Response::new(paced(Vec::new(), Last::Break(Instant::now())))
}
