//! What was measured of the files of a folder, kept beside them as Parquet: a row group per file.
//!
//! It may never change an answer. So it is checked whole before anything of it is believed, it holds for this very program
//! alone, a file is taken from it only under an unchanged stamp, and whatever is wrong with it means that the files are read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use analyzer::comparison::measured::{MeasuredFile, flat};
use analyzer::metric::Metric;
use analyzer::tables::Table;
use parquet::errors::ParquetError;
use sha2::{Digest as _, Sha256};

use super::stamp::Stamp;
use crate::export::parquet::{Reading, write_groups};
use crate::report::document::{self, DocumentError};

/// Name of the cache in the folder of the files.
pub const CACHE_NAME: &str = ".exoscope-history.parquet";

/// The layout of the cache; another one is not read.
const LAYOUT: u32 = 1;

/// Keys in the file's metadata.
const PROGRAM: &str = "exoscope.program";
const DIGEST: &str = "exoscope.sha256";

/// What stands before the digest, and the digest's place while it is not known.
const MARK: &[u8] = b"sha256:";
const OPEN: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// Why a cache was not written. The answer does not suffer from it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The file could not be written.
    #[error("{0}; the next history reads all files again (--no-cache does not try)")]
    Write(#[from] DocumentError),
    /// It could not be laid out.
    #[error("the cache could not be laid out ({0}); the next history reads all files again")]
    Parquet(#[from] ParquetError),
}

/// The cache of a folder.
pub(super) struct Cache {
    folder: PathBuf,
    /// What an earlier run left, where it can be believed.
    old: Option<Reading>,
    /// The row groups of the files in it, by name.
    entries: BTreeMap<String, (Stamp, usize)>,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Cache").field("folder", &self.folder).field("entries", &self.entries).finish()
    }
}

impl Cache {
    /// The cache of a folder; an empty one where there is none that can be believed, or where all is to be measured `anew`.
    pub(super) fn open(folder: &Path, anew: bool) -> Self {
        let old = if anew { None } else { fs::read(folder.join(CACHE_NAME)).ok().and_then(believed) };
        let entries = old.as_ref().map(entries).unwrap_or_default();
        Self { folder: folder.to_path_buf(), old, entries }
    }

    /// A file under its stamp, with the metrics that are wanted.
    pub(super) fn file(&self, name: &str, stamp: &Stamp, wanted: impl Fn(Metric) -> bool) -> Option<MeasuredFile> {
        let (known, group) = self.entries.get(name)?;
        let old = self.old.as_ref().filter(|_| known == stamp)?;
        flat::file(old.group(*group, &flat::columns()).ok()?, wanted).ok()
    }

    /// Keeps what was measured beside what is known of other files, as long as those are still there. Writes nothing where
    /// nothing is new.
    pub(super) fn keep(&self, fresh: &[(&str, &Stamp, &MeasuredFile)]) -> Result<(), CacheError> {
        let named: BTreeSet<&str> = fresh.iter().map(|(name, ..)| *name).collect();
        let is_there = |name: &str, stamp: &Stamp| Stamp::of(&self.folder.join(name)).as_ref() == Some(stamp);
        let still: Vec<_> = self
            .entries
            .iter()
            .filter(|(name, (stamp, _))| !named.contains(name.as_str()) && is_there(name, stamp))
            .collect();
        if fresh.is_empty() && still.len() == self.entries.len() {
            return Ok(());
        }
        let carried = still.into_iter().filter_map(|(name, (stamp, group))| {
            let old = self.old.as_ref()?;
            Some(old.group(*group, &flat::columns()).map(|table| stamped(name, stamp, table)))
        });
        let measured = fresh.iter().filter_map(|(name, stamp, file)| {
            let table = flat::table(file).ok()?;
            // What does not come back as it was, as a number that JSON does not have, is measured each time.
            let back = flat::file(table.clone(), |_| true).ok();
            (back.as_ref() == Some(*file)).then(|| Ok(stamped(name, stamp, table)))
        });
        let columns = stamped("", &Stamp::default(), flat::columns());
        let metadata = [(PROGRAM, program()), (DIGEST, OPEN.to_owned())];
        let metadata = metadata.each_ref().map(|(key, value)| (*key, value.as_str()));
        let mut bytes = write_groups(&columns, carried.chain(measured), &metadata)?;
        seal(&mut bytes);
        let path = self.folder.join(CACHE_NAME);
        // Whatever a link leads to is not ours to write over.
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            let source = std::io::Error::other("it is a link to another file");
            return Err(DocumentError::Write { name: path.display().to_string(), source }.into());
        }
        Ok(document::write_bytes(&path, &bytes)?)
    }
}

fn stamped(name: &str, stamp: &Stamp, table: Table) -> Table {
    let mut columns = Stamp::columns(name, stamp, table.height());
    columns.extend(table.columns);
    Table { columns }
}

/// The bytes of a cache that is whole and of this program.
fn believed(mut bytes: Vec<u8>) -> Option<Reading> {
    let place = digest_place(&bytes)?;
    let kept = bytes.get(place.clone())?.to_vec();
    bytes.get_mut(place)?.fill(b'0');
    if digest(&bytes).as_bytes() != kept {
        return None;
    }
    Reading::of(bytes).ok().filter(|reading| reading.metadata(PROGRAM) == Some(program().as_str()))
}

fn entries(reading: &Reading) -> BTreeMap<String, (Stamp, usize)> {
    let columns = Table { columns: Stamp::columns("", &Stamp::default(), 0) };
    let entry = |group| {
        let (name, stamp) = Stamp::from_columns(&reading.group(group, &columns).ok()?)?;
        Some((name, (stamp, group)))
    };
    (0..reading.groups()).filter_map(entry).collect()
}

/// What has to be the same for the same numbers: the layout, the version, the definitions, and the program's file, since two
/// builds of one version may reckon differently.
fn program() -> String {
    let definitions: Vec<String> = Metric::ALL
        .iter()
        .map(|metric| metric.definition())
        .map(|definition| format!("{} {}", definition.name, definition.version))
        .collect();
    let build = std::env::current_exe().and_then(fs::metadata).and_then(|found| Ok((found.len(), found.modified()?)));
    let build = build.ok().and_then(|(size, modified)| Some((size, modified.duration_since(UNIX_EPOCH).ok()?)));
    let build = build.map(|(size, modified)| format!("{size} bytes of {} ns", modified.as_nanos()));
    format!(
        "layout {LAYOUT}; exoscope {}; {}; {}",
        env!("CARGO_PKG_VERSION"),
        build.unwrap_or_else(|| "build not known".to_owned()),
        definitions.join(", ")
    )
}

/// Puts the digest of the whole file into its place: all other bytes, and zeros there.
fn seal(bytes: &mut [u8]) {
    let digest = digest(bytes);
    if let Some(place) = digest_place(bytes).and_then(|place| bytes.get_mut(place)) {
        place.copy_from_slice(digest.as_bytes());
    }
}

/// The last mark is ours: the file's metadata stand at its end, behind all that is said of the files.
fn digest_place(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let from = bytes.windows(MARK.len()).rposition(|window| window == MARK)? + MARK.len();
    let to = from + OPEN.len() - MARK.len();
    (to <= bytes.len()).then_some(from..to)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_lost_or_changed_a_byte_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/results/exoscope_sessions_base.json");
        let path = folder.path().join("a.json");
        fs::copy(fixture, &path).unwrap();
        let file = MeasuredFile::of(&document::load(fixture).unwrap()).unwrap();
        let stamp = Stamp::of(&path).unwrap();
        Cache::open(folder.path(), false).keep(&[("a.json", &stamp, &file)]).unwrap();
        let found = Cache::open(folder.path(), false);
        assert_eq!(found.file("a.json", &stamp, |_| true).as_ref(), Some(&file));
        assert_eq!(found.file("a.json", &Stamp::default(), |_| true), None);
        let whole = fs::read(folder.path().join(CACHE_NAME)).unwrap();
        assert!(believed(whole.clone()).is_some());
        for place in (0..whole.len()).step_by(97).chain(whole.len() - 8..whole.len()) {
            let mut broken = whole.clone();
            broken[place] ^= 1;
            assert!(believed(broken).is_none(), "byte {place}");
            assert!(believed(whole[..place].to_vec()).is_none(), "cut at {place}");
        }
    }
}
