//! The recorded session behind an address.

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
use super::session::{Exchange, Received, Session};
use crate::simulate::background::Background;
use crate::simulate::frames;
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

struct Replay {
    session: Session,
    pace: Pace,
    cursor: Mutex<Cursor>,
    received: Arc<Mutex<Vec<Received>>>,
}

/// Serves a session on a free port of this machine.
///
/// # Errors
/// When no port can be bound or no thread started.
pub fn start(session: Session, pace: Pace) -> io::Result<Running> {
    let repeats = if pace == Pace::Instant { Repeats::Collapsed } else { Repeats::Kept };
    let received = Arc::new(Mutex::new(Vec::new()));
    let cursor = Mutex::new(Cursor::new(&session, repeats));
    let replay = Arc::new(Replay { session, pace, cursor, received: Arc::clone(&received) });
    let server = Background::start("127.0.0.1", 0, move || Router::new().fallback(answer).with_state(replay))?;
    Ok(Running { address: server.address(), received, _server: server })
}

async fn answer(State(replay): State<Arc<Replay>>, request: Request) -> Response {
    let method = request.method().to_string();
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let Ok(body) = request.into_body().collect().await else {
        // The client is gone before its request was complete: nobody is there to read an answer.
        return StatusCode::BAD_REQUEST.into_response();
    };
    let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    let next = {
        // One lock over both, so that the list has the order in which answers were given.
        let mut received = replay.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.push(Received::new(&method, &target, &body));
        replay.cursor.lock().unwrap_or_else(PoisonError::into_inner).next(&method, &target)
    };
    match next {
        Answer::Recorded(index) => recorded(&replay, index).await,
        Answer::NoReadings => axum::Json(serde_json::json!({})).into_response(),
        Answer::Unknown => {
            refusal::error(StatusCode::NOT_FOUND, &format!("{method} {target} was not recorded at this point"))
        }
    }
}

async fn recorded(replay: &Arc<Replay>, index: usize) -> Response {
    let exchange = &replay.session.exchanges()[index];
    if let (Pace::Recorded { speed }, Some(wait)) = (replay.pace, exchange.wait()) {
        tokio::time::sleep(Duration::from_secs_f64(wait / speed)).await;
    }
    let body = match replay.pace {
        Pace::Instant => Body::from(exchange.resp_body.clone()),
        Pace::Recorded { speed } => paced(exchange, speed),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(exchange.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in &exchange.resp_headers {
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str())) else {
            continue;
        };
        // The framing is that of this connection, not of the recorded one.
        if name != header::CONTENT_LENGTH && name != header::TRANSFER_ENCODING {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// The body in its recorded chunks, at their recorded distance from the headers.
fn paced(exchange: &Exchange, speed: f64) -> Body {
    let chunks: Vec<(f64, Bytes)> =
        exchange.chunks().into_iter().map(|(at, chunk)| (at, Bytes::copy_from_slice(chunk))).collect();
    let (sender, body) = frames::channel();
    let start = Instant::now();
    tokio::spawn(async move {
        for (at, chunk) in chunks {
            sleep_until(start + Duration::from_secs_f64(at / speed)).await;
            if sender.send(chunk).await.is_err() {
                return;
            }
        }
    });
    body
}
