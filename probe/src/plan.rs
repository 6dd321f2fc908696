//! Arguments → a validated plan: what will be measured, in which order, and what cannot work, said before the run.
//!
//! - [`lists`] reads number lists as exo's client does: by comma, by space, or mixed.
//! - [`pairing`] sets prompt lengths against generation lengths.
//! - [`selection`] says which placements are wanted.
//! - [`asked`] is a command line, and the sentences that say why one is no plan.
//! - [`check`] turns what was asked into a [`Plan`], or says why not.

pub mod asked;
pub mod check;
pub mod lists;
pub mod pairing;
pub mod selection;

use std::path::PathBuf;
use std::time::Duration;

use analyzer::record::{Method, Pauses, Sampling, TargetPrecision};

pub use asked::{Asked, PlanError};
pub use pairing::{Pair, Pairing};
pub use selection::{InstanceMeta, Selection, Sharding};

/// Version of the definitions behind the numbers; raised when one of them changes its meaning.
pub const DEFINITION_VERSION: u32 = 1;

/// Host and port of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Name or IP address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl Address {
    /// Reads what [`std::fmt::Display`] writes; none where there is no port.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        Some(Self { host: host.to_owned(), port: port.parse().ok()? })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]:{}", self.host, self.port)
        } else {
            write!(formatter, "{}:{}", self.host, self.port)
        }
    }
}

/// Which answers are asked for as streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streaming {
    /// None: the server's energy account comes with plain answers only.
    Off,
    /// Those at concurrency 1, warm-ups included; concurrent ones go out plain, as exo's client sends them.
    Sequential,
    /// All.
    All,
}

impl Streaming {
    /// Whether a request of a batch of this size is streamed.
    #[must_use]
    pub const fn at(self, concurrency: u32) -> bool {
        match self {
            Self::Off => false,
            Self::Sequential => concurrency == 1,
            Self::All => true,
        }
    }
}

/// How long is waited for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// For the cluster to offer a matching placement; zero: one try.
    pub settle: Duration,
    /// For the next sign of an answer. Keep-alive comments are no sign.
    pub idle: Duration,
    /// For the instance to get ready, loading included.
    pub ready: Duration,
    /// For the next byte of a download; none: for ever.
    pub stall: Option<Duration>,
}

/// A validated plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Where the cluster answers.
    pub target: Address,
    /// The model as the user named it.
    pub model: String,
    /// Prompt lengths as asked for, tokens.
    pub pp: Vec<u64>,
    /// Generation lengths as asked for, tokens.
    pub tg: Vec<u64>,
    /// How the two were set against each other.
    pub pairing: Pairing,
    /// The pairs, in the order of measurement; never empty.
    pub pairs: Vec<Pair>,
    /// Requests started together, per group; never empty, no 0.
    pub concurrency: Vec<u32>,
    /// Measured repeats per group; 1 or more.
    pub repeat: u32,
    /// Until which precision groups are repeated beyond [`Self::repeat`]; none: not beyond.
    pub target_precision: Option<TargetPrecision>,
    /// How often the instances are replaced and the whole plan is measured; 1 or more.
    pub sessions: u32,
    /// Discarded requests per placement.
    pub warmup: u32,
    /// How tokens are chosen; none: as the server does by itself.
    pub sampling: Option<Sampling>,
    /// Time of idling that is recorded before and after each placement is measured; none: not.
    pub idle_baseline: Option<Duration>,
    /// Which answers are streamed.
    pub streaming: Streaming,
    /// Whether the server may use its prefix cache.
    pub use_prefix_cache: bool,
    /// Which placements are wanted.
    pub selection: Selection,
    /// How long is waited for what.
    pub deadlines: Deadlines,
    /// The pauses between steps.
    pub pauses: Pauses,
    /// Time between polls of the node metrics; none: they are not polled.
    pub metrics_interval: Option<Duration>,
    /// Only list the placements.
    pub dry_run: bool,
    /// Use an instance of the model that is there already.
    pub reuse_instance: bool,
    /// Delete the instances of others first, as exo's client always does.
    pub delete_other_instances: bool,
    /// Keep the first 200 characters of each answer.
    pub keep_preview: bool,
    /// Folder of the tokenizer; none: it is looked for.
    pub tokenizer: Option<PathBuf>,
    /// What prompts are made of; none: exo's atom, or another one where that cannot make the length.
    pub atom: Option<String>,
    /// Let the cluster learn a model that it does not know.
    pub force_download: bool,
    /// Make room on a full disk by deleting other models' files.
    pub delete_downloads: bool,
    /// What a reader of the numbers should know already, a sentence each.
    pub warnings: Vec<String>,
}

/// What exo's client makes prompts of.
pub const ATOM: &str = "a ";

impl Plan {
    /// What prompts are made of first.
    #[must_use]
    pub fn first_atom(&self) -> &str {
        self.atom.as_deref().unwrap_or(ATOM)
    }

    /// The most repeats of a group.
    #[must_use]
    pub fn most_repeats(&self) -> u32 {
        self.target_precision.map_or(self.repeat, |target| target.max_repeats)
    }

    /// Measured requests on one placement, in one session; where groups repeat to a precision, the fewest.
    #[must_use]
    pub fn requests_per_placement(&self) -> u64 {
        let together: u64 = self.concurrency.iter().map(|&requests| u64::from(requests)).sum();
        self.pairs.len() as u64 * u64::from(self.repeat) * together
    }

    /// Batches (requests started together) on one placement, in one session.
    #[must_use]
    pub fn batches_per_placement(&self) -> u64 {
        self.pairs.len() as u64 * self.concurrency.len() as u64 * u64::from(self.repeat)
    }

    /// Every setting that changes a number, as the result file keeps it.
    #[must_use]
    pub fn method(&self) -> Method {
        Method {
            name: "exo_bench".into(),
            definition_version: DEFINITION_VERSION,
            pp: self.pp.clone(),
            tg: self.tg.clone(),
            pairing: self.pairing.word().into(),
            concurrency: self.concurrency.clone(),
            repeat: self.repeat,
            warmup: self.warmup,
            stream: self.streaming != Streaming::Off,
            stream_all: self.streaming == Streaming::All,
            use_prefix_cache: self.use_prefix_cache,
            reuse_instance: self.reuse_instance,
            metrics_interval_s: self.metrics_interval.map(|interval| interval.as_secs_f64()),
            pauses: self.pauses,
            sampling: self.sampling,
            target_precision: self.target_precision,
            idle_baseline_s: self.idle_baseline.map(|time| time.as_secs_f64()),
        }
    }
}
