//! Where the Parquet files of an export stand: three in a folder, or an archive in partitions.
//!
//! ```text
//! OUT/runs.parquet  OUT/series.parquet  OUT/failures.parquet
//!
//! OUT/runs/model=lab%2Fm/started=2026-06-03/run=5f0c…/part.parquet
//! OUT/series/model=…    OUT/failures/model=…
//! ```
//!
//! What a file does not tell is the word `unknown`: Hive's own word for it is a null to some readers, which then cannot put
//! it beside the values of other partitions. A name too long for a folder is cut and ends in a hash of the whole; the
//! column `model_id` has it in full.
//!
//! A table is a folder of its own, for Spark and Trino take every file below a table's folder for its rows. Names of
//! partitions are no names of columns, so that no reader has to choose between the two.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use analyzer::import::Loaded;
use analyzer::tables::{self, Table, Values};
use parquet::errors::ParquetError;
use sha2::{Digest as _, Sha256};

use super::{ExportError, parquet as file, run_id};
use crate::report::document::{self, DocumentError};

/// The partition of what a file does not tell: a text that every reader takes for one.
const UNKNOWN: &str = "unknown";

/// The most bytes of a partition's value. File systems take 255 for a name, and the key stands before it.
const LONGEST: usize = 200;

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

/// The names of the three tables.
pub const TABLES: [&str; 3] = ["runs", "series", "failures"];

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
    let mut parts = Vec::new();
    for (name, tables) in all {
        parts.push((folder.join(format!("{name}.parquet")), file::write(&tables)?));
    }
    write_all(parts, folder)
}

/// Adds all files to an archive in partitions; a run that is there already is replaced. Gives the paths.
///
/// # Errors
/// [`ArchiveError`] names the file that could not be written.
pub fn partitioned(files: &[Loaded], folder: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let mut parts = Vec::new();
    for loaded in files {
        let run = run_id(loaded)?;
        let started = tables::started_at(loaded).and_then(day);
        for (name, table) in tables_of(loaded, &run)? {
            for (model, rows) in by_model(&table) {
                let place = folder
                    .join(name)
                    .join(format!("model={}", escape(model.as_deref())))
                    .join(format!("started={}", escape(started.as_deref())))
                    .join(format!("run={run}"))
                    .join("part.parquet");
                parts.push((place, file::write(&[table.select(&rows)])?));
            }
        }
    }
    write_all(parts, folder)
}

/// The day of an instant as files of any tool spell it: RFC 3339, "20260601-100000", seconds since 1970.
fn day(at: &str) -> Option<String> {
    if let Some(day) = at.get(..10).filter(|day| is_day(day)) {
        return Some(day.to_owned());
    }
    if let Ok(seconds) = at.parse::<f64>() {
        let moment = jiff::Timestamp::from_second(seconds as i64).ok()?;
        return Some(moment.strftime("%Y-%m-%d").to_string());
    }
    let (day, _) = at.split_once(['-', 'T']).filter(|(day, _)| day.len() == 8)?;
    let day = format!("{}-{}-{}", day.get(..4)?, day.get(4..6)?, day.get(6..)?);
    is_day(&day).then_some(day)
}

/// Whether a text is a day, as a partition of them has to be: 2026-06-03.
fn is_day(text: &str) -> bool {
    let pattern = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(pattern)
}

/// Writes all parts, which are whole by now, below a folder. Where one cannot be written, those that were added before it
/// are taken away again: a part of an export looks like all of it.
fn write_all(parts: Vec<(PathBuf, Vec<u8>)>, folder: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let mut added = Vec::new();
    let mut written = Vec::with_capacity(parts.len());
    for (place, bytes) in parts {
        let is_new = !place.exists();
        if let Err(error) = document::write_bytes(&place, &bytes) {
            added.push(place);
            take_away(&added, folder);
            return Err(error.into());
        }
        if is_new {
            added.push(place.clone());
        }
        written.push(place);
    }
    Ok(written)
}

/// Removes files, and the folders that are empty without them, up to a folder and not the folder itself.
fn take_away(files: &[PathBuf], folder: &Path) {
    for file in files.iter().rev() {
        // What is in the way of the removal was in the way of the writing, which is told already.
        drop(fs::remove_file(file));
        for above in file.ancestors().skip(1).take_while(|above| *above != folder) {
            // A folder that holds something is not removed.
            if fs::remove_dir(above).is_err() && above.exists() {
                break;
            }
        }
    }
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
    let Some(value) = value.filter(|value| !value.is_empty()) else { return UNKNOWN.to_owned() };
    let mut name = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    // A value of dots would name another folder.
    if name.bytes().all(|byte| byte == b'.') {
        name = name.replace('.', "%2E");
    }
    if name.len() > LONGEST {
        let hash: String = Sha256::digest(value).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        // Not within a %2F.
        let end = name[..LONGEST].rfind('%').filter(|at| at + 3 > LONGEST).unwrap_or(LONGEST);
        name.truncate(end);
        name.push_str(&format!("-{hash}"));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{day, escape, write_all};

    #[test]
    fn a_model_cannot_lead_out_of_the_archive() {
        assert_eq!(escape(Some("lab/m=1 ü")), "lab%2Fm%3D1%20%C3%BC");
        assert_eq!(escape(Some("..")), "%2E%2E");
        assert_eq!(escape(None), "unknown");
    }

    #[test]
    fn the_day_is_found_in_any_spelling() {
        for (at, of) in [
            ("2026-06-03T09:00:00Z", Some("2026-06-03")),
            ("20260601-100000", Some("2026-06-01")),
            ("1770000000", Some("2026-02-02")),
            ("yesterday", None),
        ] {
            assert_eq!(day(at).as_deref(), of, "{at}");
        }
    }

    #[test]
    fn a_long_name_is_cut_and_still_its_own() {
        let [one, other] = ["a", "b"].map(|last| escape(Some(&("é".repeat(3000) + last))));
        assert!(one.len() < 240 && one.starts_with("%C3%A9") && one != other, "{one}");
        assert!(one[..one.len() - 17].len().is_multiple_of(3), "no escape is cut: {one}");
        assert_eq!(escape(Some("m".repeat(200).as_str())), "m".repeat(200));
    }

    #[test]
    fn what_was_added_before_a_failure_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        let parts = vec![(at("a/b/part"), vec![1]), (at("file/part"), vec![2])];
        assert!(write_all(parts, folder.path()).is_err());
        assert!(!at("a").exists() && at("file").exists());
    }
}
