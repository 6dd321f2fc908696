//! What happens in a run, as values: the only road from the runner to the terminal, the journal and the file.

use analyzer::record::{Cluster, Failure, IdleWindow, MetricSeries, Provenance, Run, Start};
use serde::{Deserialize, Serialize};

/// One thing that happened. A journal is a list of these, one JSON object per line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run begins. Always the first event.
    Started {
        /// Who, how and of what.
        provenance: Box<Provenance>,
    },
    /// The placements that will be measured are known.
    Planned {
        /// Each in words, in the order of measurement.
        placements: Vec<String>,
        /// Measured requests over all of them.
        requests: u64,
        /// Batches over all of them.
        batches: u64,
    },
    /// exo's snapshot of the cluster.
    Cluster {
        /// As `/state` gave it.
        cluster: Box<Cluster>,
    },
    /// Something a reader of the file should know.
    Notice {
        /// One sentence.
        sentence: String,
    },
    /// A placement is being built.
    PlacementStarted {
        /// In words.
        placement: String,
        /// From 1.
        number: usize,
        /// The instance.
        instance_id: String,
    },
    /// What is waited for, for the progress only.
    Waiting {
        /// In words.
        what: String,
    },
    /// A warm-up ended.
    WarmedUp {
        /// From 1.
        number: u32,
        /// Of how many.
        of: u32,
    },
    /// A batch is about to start.
    BatchStarted {
        /// Prompt tokens.
        pp: u64,
        /// Tokens to generate.
        tg: u64,
        /// Requests started together.
        concurrency: u32,
        /// Repeat, from 0.
        repeat: u32,
    },
    /// A request gave a valid row.
    Finished {
        /// The row.
        run: Box<Run>,
    },
    /// A request gave none.
    Failed {
        /// Why.
        failure: Box<Failure>,
    },
    /// Readings of the node metrics since the last such event, one entry per node.
    Sampled {
        /// The readings.
        series: Vec<MetricSeries>,
    },
    /// The cluster was left idle on purpose for a while.
    Idled {
        /// When.
        window: IdleWindow,
    },
    /// A run that was cut off goes on. What stands before it in the journal is the earlier starts'.
    Resumed {
        /// The new start.
        start: Start,
    },
    /// A batch ended, all its requests accounted for.
    BatchEnded,
    /// A placement was removed.
    PlacementEnded,
    /// The run ended, by itself or cut short. Always the last event.
    Ended {
        /// UTC, RFC 3339.
        at: String,
        /// Why it did not reach its end; none: it did.
        cut_short: Option<String>,
    },
}

impl Event {
    /// Whether a crash must not lose it: what was measured, and what it means.
    #[must_use]
    pub const fn is_precious(&self) -> bool {
        matches!(
            self,
            Self::Started { .. }
                | Self::Resumed { .. }
                | Self::Finished { .. }
                | Self::Failed { .. }
                | Self::Ended { .. }
        )
    }
}
