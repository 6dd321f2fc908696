//! Turns LLM inference result files into numbers and verdicts: pure, the same natively and in WebAssembly.
//!
//! The way of the data, which is also the list of modules:
//!
//! 1. [`import`] takes bytes of any known shape and gives a [`record::ResultFile`], or says why not.
//! 2. [`record`] is the result file: observations, in exo's own keys plus ours. `upgrade` lifts older versions.
//! 3. [`frame`] lays records out as polars columns and groups them into cells.
//! 4. [`statistics`] reckons on plain slices; it knows no file and no frame.
//! 5. [`throughput`], [`latency`], [`energy`], [`stability`] and [`course`] hold the field's definitions, one place each;
//!    [`metric`] names them.
//! 6. [`summary`] puts it together: one file in, a [`summary::FileReport`] out.
//! 7. [`explanation`] says what a metric is, with the numbers of a file.
//! 8. [`comparison`] sets two files side by side: a verdict per cell and metric, and what else differed.
//!
//! Beside the road: [`merging`] makes one file of several, [`tables`] lays files out as flat tables for exports.
//!
//! [`units`] turns numbers into words and is the only place that does.

pub mod comparison;
pub mod course;
pub mod energy;
pub mod explanation;
pub mod frame;
pub mod import;
pub mod latency;
pub mod merging;
pub mod metric;
pub mod record;
pub mod stability;
pub mod statistics;
pub mod summary;
pub mod tables;
pub mod throughput;
pub mod units;
