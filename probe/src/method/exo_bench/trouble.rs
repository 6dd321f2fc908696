//! Why a bench cannot go on.

use crate::capture::cluster::ClusterError;
use crate::endpoint::exo::ShapeError;
use crate::workload::{LocateError, ObtainError, SizingError, TokenizerError};

/// What ends a bench, or one placement of it, in a sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The cluster does not answer as it should.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Nobody there knows the model.
    #[error("the cluster at {address} knows no model {model}{near}")]
    UnknownModel {
        /// Where was asked.
        address: String,
        /// What was asked for.
        model: String,
        /// "; did you mean …?", or how to add one.
        near: String,
    },
    /// No placement fits.
    #[error("no placement of {model} fits {wanted}{said}")]
    NoPlacement {
        /// The model.
        model: String,
        /// The selection in words, flags named.
        wanted: String,
        /// What the cluster said to the placements it cannot build, and which ones it offers.
        said: String,
    },
    /// Somebody else uses the cluster.
    #[error(
        "the cluster runs instances that this bench did not make: {list}; they would share its memory and time, so stop them, or let --delete-other-instances delete them, or measure one of them with --reuse-instance"
    )]
    OtherInstances {
        /// Id and model of each.
        list: String,
    },
    /// The model's files cannot be had.
    #[error("the model cannot be downloaded onto node {node}: {reason}")]
    Download {
        /// The node.
        node: String,
        /// The server's words.
        reason: String,
    },
    /// A node has no room for the model.
    #[error("node {node} has {available_gb:.1} GB free and the model needs {needed_gb:.1} GB{way_out}")]
    Disk {
        /// The node.
        node: String,
        /// Free, 10^9 bytes.
        available_gb: f64,
        /// Needed, 10^9 bytes.
        needed_gb: f64,
        /// What to do, with a semicolon before it.
        way_out: String,
    },
    /// The instance does not get ready.
    #[error("the instance {instance} did not get ready: {reason}")]
    NotReady {
        /// Its id.
        instance: String,
        /// The runner's words, or how long was waited.
        reason: String,
    },
    /// The instance went away while it was measured.
    #[error(
        "the instance {instance} went away while it was measured, so the rest of its groups was left out; look at exo's own log for why"
    )]
    Gone {
        /// Its id.
        instance: String,
    },
    /// What is to be resumed is not what was begun.
    #[error(
        "{what} is not what the run was begun with, so it cannot go on; `exoscope recover` makes a result file of what was measured"
    )]
    OtherRun {
        /// What differs.
        what: &'static str,
    },
    /// No tokenizer.
    #[error(transparent)]
    Locate(#[from] LocateError),
    /// No tokenizer, and none could be fetched.
    #[error(transparent)]
    Obtain(#[from] ObtainError),
    /// A tokenizer that cannot be used.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// Making the prompts stopped over a defect of ours.
    #[error("the prompts could not be made: {0}; this is a defect of exoscope, please report it")]
    Defect(String),
    /// A prompt that cannot be made.
    #[error(transparent)]
    Sizing(#[from] SizingError),
}

impl From<ShapeError> for BenchError {
    fn from(error: ShapeError) -> Self {
        Self::Cluster(error.into())
    }
}

impl From<crate::capture::interrupt::Interrupted> for BenchError {
    fn from(interrupted: crate::capture::interrupt::Interrupted) -> Self {
        Self::Cluster(interrupted.into())
    }
}

impl BenchError {
    /// Whether the user asked to stop.
    #[must_use]
    pub const fn is_interrupt(&self) -> bool {
        matches!(self, Self::Cluster(ClusterError::Interrupted))
    }

    /// Whether the command line asks for what cannot be.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Sizing(_))
    }
}
