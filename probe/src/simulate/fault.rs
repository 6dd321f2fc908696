//! The faults that the simulated cluster can be told to have, each seen on a real one.
//!
//! - `when`: which requests a fault strikes; `catalogue`: the names that `--fault` takes, and their help.
//! - `tally`: how many things of each kind there were, so that a fault strikes when it shall.

mod catalogue;
mod tally;
mod when;

use std::time::Duration;

pub use catalogue::{FaultError, help};
pub(super) use tally::Tally;
pub use when::When;

/// A fault, and whom it strikes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// What becomes of an answer. Counted are the requests to the bench endpoint, warm-ups included.
    Answer(AnswerFault, When),
    /// What becomes of an instance. Counted are the instances that were posted.
    Instance(InstanceFault, When),
    /// What becomes of a download. Counted are the downloads that were started.
    Download(DownloadFault, When),
    /// A download takes this long, whatever the settings say.
    DownloadSlow(Duration),
    /// A node's disk has no room for a model until another one is deleted from it.
    DiskFull,
    /// An instance goes this long after it was told to.
    DeleteSlow(Duration),
    /// So many requests to delete an instance are answered with 500.
    DeleteRefused(u64),
    /// The node with this number, from 1, has no sensors.
    NoPower(usize),
    /// The sensors of the node with this number, from 1, say the same for ever.
    FrozenPower(usize),
    /// No node has sensors.
    NoMacmon,
    /// Each answer about the state takes this long.
    SlowPoll(Duration),
    /// So many questions for a runner's state are answered with 500.
    PollFails(u64),
    /// An instance of another model is there from the start.
    OtherInstance,
}

/// What becomes of an answer to a bench request. One that needs a token strikes after the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFault {
    /// Status 500 in plain text at once, streamed or not: a runner's error on a real server.
    Http500,
    /// An error frame in a stream with status 200, then `[DONE]`; a plain answer is a 500.
    ErrorFrame,
    /// Status 200 without statistics and without a reason for the end; a stream ends with `[DONE]` all the same.
    NoStats,
    /// A stream ends without `[DONE]`. A plain answer has none to lack: it comes without statistics.
    NoDone,
    /// The connection ends within the answer.
    Reset,
    /// Nothing comes; a stream goes on with its keep-alive comments.
    Hang,
    /// The answer ends well without a token.
    NoToken,
    /// Half of the tokens asked for, at least one; the reason is `stop`.
    EarlyStop,
    /// The answer, or a frame of it, is not JSON.
    Malformed,
    /// The instance is deleted; later requests find none.
    InstanceGone,
    /// One prompt token more than the client counts, as exo's sequential engine does.
    SequentialCount,
    /// Seven prompt tokens more than the client counts, as another chat template would have.
    WrongCount,
}

impl AnswerFault {
    /// Prompt tokens that the server counts beyond what there are.
    pub(super) const fn miscount(self) -> u64 {
        match self {
            Self::SequentialCount => 1,
            Self::WrongCount => 7,
            _ => 0,
        }
    }
}

/// What becomes of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceFault {
    /// Its runners fail while they load, with a message and diagnostics.
    RunnerFails,
    /// Its runners load for ever.
    NeverReady,
    /// The request is accepted, and nothing comes of it.
    NeverAppears,
}

/// What becomes of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownloadFault {
    /// Fails half-way.
    Fails,
    /// Comes to half of the file and no further.
    Stalls,
}

impl Fault {
    /// Whether nobody would meet it if the models were on the nodes already.
    pub(super) const fn needs_download(self) -> bool {
        matches!(self, Self::Download(..) | Self::DownloadSlow(_) | Self::DiskFull)
    }
}
