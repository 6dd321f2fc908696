//! What the user asked for, and why it may be no plan.

use std::path::PathBuf;

use analyzer::record::Sampling;

use super::lists::ListError;
use super::{Selection, Streaming};

/// What the user asked for, not yet checked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Host of the cluster's API.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Model, by short name or full id.
    pub model: String,
    /// Prompt lengths, as written.
    pub pp: Vec<String>,
    /// Generation lengths, as written.
    pub tg: Vec<String>,
    /// Requests started together, as written.
    pub concurrency: Vec<String>,
    /// Measured repeats.
    pub repeat: i64,
    /// Half-width of the interval to repeat to, percent; none: repeat as often as asked.
    pub target_precision: Option<f64>,
    /// The most repeats for that; none: ten times as many as asked for.
    pub max_repeats: Option<i64>,
    /// How often the plan is measured on new instances.
    pub sessions: i64,
    /// Discarded requests.
    pub warmup: u32,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Seconds of idling before and after each placement.
    pub idle_baseline_s: f64,
    /// Pair each prompt length with each generation length.
    pub all_combinations: bool,
    /// Which answers are streamed.
    pub streaming: Streaming,
    /// Whether the server may use its prefix cache.
    pub use_prefix_cache: bool,
    /// Which placements are wanted.
    pub selection: Selection,
    /// Seconds to wait for a matching placement.
    pub settle_s: f64,
    /// Seconds without a sign of an answer.
    pub idle_s: f64,
    /// Seconds for the instance to get ready.
    pub ready_s: f64,
    /// Seconds without a further byte until a download has stalled; 0: never.
    pub stall_s: f64,
    /// Pauses, as written: `NAME=SECONDS`.
    pub pauses: Vec<String>,
    /// Seconds between polls of the node metrics; none: they are not polled.
    pub metrics_interval_s: Option<f64>,
    /// Only list the placements.
    pub dry_run: bool,
    /// Use an instance that is there.
    pub reuse_instance: bool,
    /// Delete the instances of others.
    pub delete_other_instances: bool,
    /// Keep the beginning of each answer.
    pub keep_preview: bool,
    /// Folder of the tokenizer.
    pub tokenizer: Option<PathBuf>,
    /// What prompts are made of; none: exo's atom, or another where that cannot make the length.
    pub atom: Option<String>,
    /// Let the cluster learn an unknown model.
    pub force_download: bool,
    /// Delete other models' files where a disk is full.
    pub delete_downloads: bool,
}

/// Why a command line is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A list of numbers.
    #[error(transparent)]
    List(#[from] ListError),
    /// A number outside of what can be measured.
    #[error("{flag} {value}: {reason}")]
    Number {
        /// The flag.
        flag: &'static str,
        /// Its value.
        value: String,
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// The same group twice.
    #[error("{what} is listed twice; its rows could not be told apart, so list it once and raise --repeat")]
    Twice {
        /// What.
        what: String,
    },
    /// A pause that cannot be read.
    #[error(
        "--pause {given}: write NAME=SECONDS with one of cleanup, ready, repeat, group, placement, all, like --pause repeat=1"
    )]
    Pause {
        /// What was given.
        given: String,
    },
    /// A host that is a URL.
    #[error("--host {host}: give the name or address alone, and the port with --port")]
    Host {
        /// What was given.
        host: String,
    },
    /// No model.
    #[error("--model is empty; give a model's short name or id, as GET /models of the cluster lists them")]
    NoModel,
    /// A host without a name.
    #[error("--host is empty; give the name or address of a node, like --host mac-studio.local")]
    NoHost,
    /// Deleting downloads where nothing is placed.
    #[error("{one} and {other} do not go together: {reason}")]
    Together {
        /// A flag.
        one: &'static str,
        /// Another.
        other: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// An atom without text.
    #[error("--atom is empty; prompts are made by repeating it, so give some text, like --atom 'a '")]
    EmptyAtom,
}
