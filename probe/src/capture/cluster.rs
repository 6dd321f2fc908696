//! Asks an exo cluster the small questions of a bench: models, placements, states. One connection each, as exo's own
//! client does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::clock::Clock;
use super::exchange::{End, Exchange};
use super::interrupt::{Interrupt, Interrupted};
use super::recording::Recording;
use super::transport::{Outgoing, REPLAYED, TransportError, Verb, prepare};
use crate::endpoint::exo::{ShapeError, error_words};
use crate::plan::Address;

/// A loaded exo needs up to a tenth of a second for a state; what takes a minute will not come.
const ANSWER_DEADLINE: Duration = Duration::from_secs(60);

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No connection.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The server said no.
    #[error("{verb} {target} was answered with HTTP {status}: {words}")]
    Refused {
        /// The method.
        verb: &'static str,
        /// What was asked.
        target: String,
        /// The status.
        status: u16,
        /// The server's words.
        words: String,
    },
    /// The answer did not come whole.
    #[error("{verb} {target} was not answered: {reason}")]
    Broken {
        /// The method.
        verb: &'static str,
        /// What was asked.
        target: String,
        /// Why not.
        reason: String,
    },
    /// The answer is not what exo promises.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The run shall stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupted> for ClusterError {
    fn from(Interrupted: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// An exo cluster behind its HTTP interface. Copies are the same cluster.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Where it answers.
    pub address: Address,
    /// The clock of the run.
    pub clock: Clock,
    /// The wish to stop.
    pub interrupt: Interrupt,
    /// Where the raw exchanges are kept; none: nowhere.
    pub recording: Option<Recording>,
    simulated: Arc<AtomicBool>,
    replayed: Arc<AtomicBool>,
}

impl Cluster {
    /// A cluster at an address.
    #[must_use]
    pub fn new(address: Address, clock: Clock, interrupt: Interrupt) -> Self {
        Self { address, clock, interrupt, recording: None, simulated: Arc::default(), replayed: Arc::default() }
    }

    /// The same cluster with its raw exchanges kept.
    #[must_use]
    pub fn recorded(self, recording: Option<Recording>) -> Self {
        Self { recording, ..self }
    }

    /// The same cluster for what must be done even when the run shall stop.
    #[must_use]
    pub fn regardless(&self) -> Self {
        Self { interrupt: Interrupt::default(), ..self.clone() }
    }

    /// Whether any answer so far said that this is a simulation.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.simulated.load(Ordering::Relaxed)
    }

    /// Whether any answer so far said that it comes from a recording.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.replayed.load(Ordering::Relaxed)
    }

    /// Reads something that must be there.
    ///
    /// # Errors
    /// [`ClusterError`]; also a status of 400 or above.
    pub async fn get(&self, target: &str) -> Result<Value, ClusterError> {
        self.ask(Verb::Get, target, None).await
    }

    /// Reads something that may not be there.
    ///
    /// # Errors
    /// [`ClusterError`]; a 404 is no error but `None`.
    pub async fn find(&self, target: &str) -> Result<Option<Value>, ClusterError> {
        match self.get(target).await {
            Ok(value) => Ok(Some(value)),
            Err(ClusterError::Refused { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks for something to be done.
    ///
    /// # Errors
    /// [`ClusterError`]; also a status of 400 or above.
    pub async fn post(&self, target: &str, body: &Value) -> Result<Value, ClusterError> {
        self.ask(Verb::Post, target, Some(Bytes::from(body.to_string()))).await
    }

    /// Removes something. False where it was not there.
    ///
    /// # Errors
    /// [`ClusterError`]; also a status of 400 or above other than 404.
    pub async fn delete(&self, target: &str) -> Result<bool, ClusterError> {
        match self.ask(Verb::Delete, target, None).await {
            Ok(_) => Ok(true),
            Err(ClusterError::Refused { status: 404, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn ask(&self, verb: Verb, target: &str, body: Option<Bytes>) -> Result<Value, ClusterError> {
        let outgoing = Outgoing { verb, target: target.to_owned(), body, stream: false };
        let ready = self.interrupt.unless(prepare(&self.address, outgoing)).await??;
        let kept = self.recording.as_ref().map(|recording| (recording, recording.asked(&ready)));
        let exchange = ready.exchange(&self.clock, ANSWER_DEADLINE, &self.interrupt, None).await;
        if let Some((recording, asked)) = kept {
            recording.keep(asked, &exchange);
        }
        if exchange.answer_headers.iter().any(|(name, value)| name == REPLAYED && value == "true") {
            self.replayed.store(true, Ordering::Relaxed);
        }
        if exchange.simulated {
            self.simulated.store(true, Ordering::Relaxed);
        }
        read(verb, target, &exchange)
    }
}

fn read(verb: Verb, target: &str, exchange: &Exchange) -> Result<Value, ClusterError> {
    let broken = |reason: String| ClusterError::Broken { verb: verb.name(), target: target.to_owned(), reason };
    match &exchange.end {
        End::Whole => {}
        End::Broken(words) => return Err(broken(words.clone())),
        End::Silent(time) => return Err(broken(format!("no answer for {} s", time.as_secs()))),
        End::Interrupted => return Err(ClusterError::Interrupted),
    }
    let body = exchange.body();
    match exchange.status {
        Some(status) if status >= 400 => Err(ClusterError::Refused {
            verb: verb.name(),
            target: target.to_owned(),
            status,
            words: error_words(&body),
        }),
        _ if body.is_empty() => Ok(Value::Null),
        _ => serde_json::from_slice(&body)
            .map_err(|error| broken(format!("the answer is not JSON ({error}); is this an exo server?"))),
    }
}
