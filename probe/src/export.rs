//! Result files → the formats of other tools.
//!
//! * `csv` a line per request.
//! * `gobench` a line per value, as Go's benchmarks print them.
//! * `prometheus` the statistics of each cell, as a scraper reads them.
//! * `junit` a test case per request.
//! * `parquet` the flat tables as Parquet files; `archive` where in a partitioned archive they stand.

mod archive;
mod csv;
mod gobench;
mod junit;
pub(crate) mod parquet;
mod prometheus;

use analyzer::frame::FrameError;
use analyzer::import::Loaded;
use analyzer::summary::Report;
use sha2::{Digest as _, Sha256};

pub use archive::{ArchiveError, TABLES, in_folder, partitioned};

/// A fault of this program: what was read could not be written down.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The rows could not be laid out.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// As CSV.
    #[error("the rows could not be written as CSV ({0}); please report this with the file")]
    Csv(#[from] ::csv::Error),
    /// As JSON, which a run is named by.
    #[error("the run could not be named ({0}); please report this with the file")]
    Json(#[from] serde_json::Error),
}

/// The name of a run: the first 16 hex digits of the SHA-256 of its content, so that the same content has the same name
/// wherever it lies and however it is packed, and an export that is repeated replaces itself.
///
/// # Errors
/// Only for a number that JSON does not have.
pub fn run_id(loaded: &Loaded) -> Result<String, ExportError> {
    let mut hash = Sha256::new();
    serde_json::to_writer(&mut hash, &loaded.file)?;
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// A line per request of all files, every field flat, under one head.
///
/// # Errors
/// [`ExportError`] is a fault of this program.
pub fn csv(files: &[Loaded]) -> Result<String, ExportError> {
    csv::requests(files)
}

/// Go's benchmark format: a line per value.
#[must_use]
pub fn gobench(report: &Report) -> String {
    gobench::draw(report)
}

/// The text exposition format of Prometheus.
#[must_use]
pub fn prometheus(report: &Report) -> String {
    prometheus::draw(report)
}

/// JUnit's XML: a suite per file, a test case per request.
#[must_use]
pub fn junit(files: &[Loaded]) -> String {
    junit::draw(files)
}
