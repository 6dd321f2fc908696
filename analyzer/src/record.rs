//! The result file: a superset of exo's `results.json`.
//!
//! Every key that exo writes keeps exo's name, unit and meaning, so exo's own scripts read our files. What Exoscope adds
//! stands under new keys only: top level `exoscope`, `metric_series`, `failures`, and an `exoscope` object in each run.
//! The file holds observations and the legacy derived fields that exo's readers expect; all else is recomputed.
//! Keys that this build does not know are kept in `unknown` and written back.

mod cluster;
mod environment;
mod file;
mod leftover;
mod method;
mod outcome;
mod run;
mod series;
mod source;
mod upgrade;

pub use cluster::{Cluster, MetricRange, NodeId, SystemMetrics};
pub use environment::{Host, Target, TokenizerIdentity, Tool};
pub use file::{FORMAT_VERSION, IdleWindow, Incomplete, Part, Provenance, ResultFile, Start};
pub use leftover::Leftover;
pub use method::{Method, Pauses, Sampling, TargetPrecision};
pub use outcome::{Failure, FailureKind};
pub use run::{
    ActualPlacement, GenerationStats, MemorySize, NodePower, PowerUsage, Run, RunDetail, Timing, TokenCounts,
};
pub use series::{ChannelHealth, MetricSeries, SeriesColumns};
pub use source::{Comparability, Figures, Overlay, PowerScope, Source};
pub use upgrade::{RecordError, parse, schema, to_json};
