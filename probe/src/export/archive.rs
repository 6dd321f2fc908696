//! Where the Parquet files of an export stand: three in a folder, or an archive in partitions.
//!
//! ```text
//! OUT/runs.parquet  OUT/series.parquet  OUT/failures.parquet
//!
//! OUT/runs/model=lab%2Fm/started=2026-06-03/run=5f0c…/part.parquet
//! OUT/series/model=…    OUT/failures/model=…
//! ```
//!
//! A table is a folder of its own, for Spark and Trino take every file below a table's folder for its rows. Names of
//! partitions are no names of columns, so that no reader has to choose between the two.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use analyzer::import::Loaded;
use analyzer::tables::{self, Table, Values};
use parquet::errors::ParquetError;

use super::{ExportError, parquet as file, run_id};
use crate::report::document::{self, DocumentError};

/// What Hive calls a partition whose value is null, and its heirs read as null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The tables could not be laid out.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A fault of this program: the tables could not be packed.
    #[error("the rows could not be written as Parquet ({0}); please report this with the file")]
    Parquet(#[from] ParquetError),
    /// A file could not be written.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// The three tables of a file.
fn tables_of(loaded: &Loaded, run: &str) -> Result<[(&'static str, Table); 3], ExportError> {
    Ok([
        ("runs", tables::requests(loaded, run)?),
        ("series", tables::series(loaded, run)),
        ("failures", tables::failures(loaded, run)),
    ])
}

/// Writes all files into `runs.parquet`, `series.parquet` and `failures.parquet` of a folder; gives the paths.
///
/// # Errors
/// [`ArchiveError`] names the file that could not be written.
pub fn in_folder(files: &[Loaded], folder: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let mut all: BTreeMap<&'static str, Vec<Table>> = BTreeMap::new();
    for loaded in files {
        for (name, table) in tables_of(loaded, &run_id(loaded)?)? {
            all.entry(name).or_default().push(table);
        }
    }
    let mut written = Vec::new();
    for (name, tables) in all {
        let path = folder.join(format!("{name}.parquet"));
        document::write_bytes(&path, &file::write(&tables)?)?;
        written.push(path);
    }
    Ok(written)
}

/// Adds all files to an archive in partitions; a run that is there already is replaced. Gives the paths.
///
/// # Errors
/// [`ArchiveError`] names the file that could not be written.
pub fn partitioned(files: &[Loaded], folder: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let mut written = Vec::new();
    for loaded in files {
        let run = run_id(loaded)?;
        // RFC 3339 begins with the day.
        let started = loaded.file.exoscope.as_ref().and_then(|provenance| provenance.started_at.get(..10));
        for (name, table) in tables_of(loaded, &run)? {
            for (model, rows) in by_model(&table) {
                let place = folder
                    .join(name)
                    .join(format!("model={}", escape(model.as_deref())))
                    .join(format!("started={}", escape(started)))
                    .join(format!("run={run}"))
                    .join("part.parquet");
                document::write_bytes(&place, &file::write(&[table.select(&rows)])?)?;
                written.push(place);
            }
        }
    }
    Ok(written)
}

/// The rows of each model.
fn by_model(table: &Table) -> BTreeMap<Option<String>, Vec<usize>> {
    let mut rows: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    if let Some(Values::Text(models)) = table.column("model_id") {
        for (row, model) in models.iter().enumerate() {
            rows.entry(model.clone()).or_default().push(row);
        }
    }
    rows
}

/// A value as the name of a folder: what is more than a plain word is written as Hive does, `%2F` for a slash.
fn escape(value: Option<&str>) -> String {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return NULL.to_owned() };
    let mut name = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    // A value of dots would name another folder.
    if name.bytes().all(|byte| byte == b'.') { name.replace('.', "%2E") } else { name }
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn a_model_cannot_lead_out_of_the_archive() {
        assert_eq!(escape(Some("lab/m=1 ü")), "lab%2Fm%3D1%20%C3%BC");
        assert_eq!(escape(Some("..")), "%2E%2E");
        assert_eq!(escape(None), "__HIVE_DEFAULT_PARTITION__");
    }
}
