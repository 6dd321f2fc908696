//! An archive of result files: which files it holds, when each was measured, and what is remembered of them.
//!
//! * `pattern` names with * and ?.
//! * `cache` what was measured of the files of a folder, kept beside them.
//! * `stamp` whether a file is still the one that was measured.

mod cache;
mod pattern;
mod stamp;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use analyzer::comparison::Options;
use analyzer::comparison::history::Dated;
use analyzer::comparison::measured::MeasuredFile;
use analyzer::import::ImportError;

use crate::report::document::{self, DocumentError};
use crate::report::reading;
use cache::Cache;
use stamp::Stamp;

pub use cache::{CACHE_NAME, CacheError};

/// What is done with what earlier runs measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Remembering {
    /// It is taken for files that are still the same, and kept for the next run.
    #[default]
    On,
    /// It is measured anew and kept.
    Anew,
    /// All is measured anew, and nothing is kept.
    Off,
}

/// The files of an archive, measured one after the other.
#[derive(Debug)]
pub struct Archive<'a> {
    remembering: Remembering,
    options: &'a Options,
    caches: BTreeMap<PathBuf, Cache>,
    files: Vec<Dated>,
    /// What was measured now and may be kept: place among the files, and where the file lies.
    fresh: Vec<Fresh>,
    remembered: u64,
}

/// Why a file of an archive is left out.
#[derive(Debug)]
pub struct LeftOut {
    /// A sentence with the file's name.
    pub reason: String,
    /// Whether it is a file that broke off or was spoilt, and not one of another kind.
    pub is_broken: bool,
    /// Whether a verb of this program wrote it beside the results: a calibration, a comparison, a report.
    pub is_output: bool,
}

impl From<String> for LeftOut {
    fn from(reason: String) -> Self {
        Self { reason, is_broken: false, is_output: false }
    }
}

#[derive(Debug)]
struct Fresh {
    folder: PathBuf,
    name: String,
    stamp: Stamp,
    place: usize,
}

impl<'a> Archive<'a> {
    /// An archive without a file yet, for a question with these options: of what is remembered, only the metrics that they
    /// ask for are read.
    #[must_use]
    pub const fn new(remembering: Remembering, options: &'a Options) -> Self {
        Self { remembering, options, caches: BTreeMap::new(), files: Vec::new(), fresh: Vec::new(), remembered: 0 }
    }

    /// Adds a file: as it is remembered where it is still the same, else read and measured.
    ///
    /// # Errors
    /// [`LeftOut`], where it is no result file or cannot be read.
    pub fn add(&mut self, path: &Path) -> Result<(), LeftOut> {
        let known = if self.remembering == Remembering::Off { None } else { known(path) };
        let remembered = known.as_ref().and_then(|(folder, name, stamp)| {
            let anew = self.remembering == Remembering::Anew;
            let cache = self.caches.entry(folder.clone()).or_insert_with(|| Cache::open(folder, anew));
            cache.file(name, stamp, |metric| self.options.reads(metric))
        });
        if let Some(file) = remembered {
            self.remembered += 1;
            let file = MeasuredFile { name: path.to_string_lossy().into_owned(), ..file };
            self.files.push(dated(path, file)?);
            return Ok(());
        }
        let loaded = document::load(&path.to_string_lossy()).map_err(|error| LeftOut {
            is_broken: matches!(
                &error,
                DocumentError::Import(
                    ImportError::Empty { .. }
                        | ImportError::Nothing { .. }
                        | ImportError::NotJson { .. }
                        | ImportError::Encoding { .. }
                ) | DocumentError::Read { .. }
            ),
            is_output: matches!(&error, DocumentError::Import(ImportError::Output { .. })),
            reason: error.to_string(),
        })?;
        let file = MeasuredFile::of(&loaded).map_err(|error| format!("{}: {error}", path.display()))?;
        drop(loaded);
        // A file that was written to meanwhile is none that can be known again.
        if let Some((folder, name, stamp)) = known.filter(|(.., before)| Stamp::of(path).as_ref() == Some(before))
            && stamp.is_settled()
        {
            self.fresh.push(Fresh { folder, name, stamp, place: self.files.len() });
        }
        self.files.push(dated(path, file)?);
        Ok(())
    }

    /// How many files were taken as they are remembered.
    #[must_use]
    pub const fn remembered(&self) -> u64 {
        self.remembered
    }

    /// The files, each with its time, and why something could not be kept for the next run, a sentence each.
    #[must_use]
    pub fn finish(self) -> (Vec<Dated>, Vec<String>) {
        let mut notes = Vec::new();
        for (folder, cache) in &self.caches {
            let fresh = self.fresh.iter().filter(|fresh| fresh.folder == *folder);
            let fresh = fresh.filter_map(|fresh| Some((fresh, &self.files.get(fresh.place)?.file)));
            let fresh: Vec<_> = fresh.map(|(fresh, file)| (fresh.name.as_str(), &fresh.stamp, file)).collect();
            notes.extend(cache.keep(&fresh).err().map(|error| error.to_string()));
        }
        (self.files, notes)
    }
}

/// Where a file lies, its name there, and what it is known again by; None where that cannot be told.
fn known(path: &Path) -> Option<(PathBuf, String, Stamp)> {
    // Names that are no text could be mixed up.
    let name = path.file_name()?.to_str()?.to_owned();
    Some((folder_of(path).to_path_buf(), name, Stamp::of(path)?))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// A file with its time: the start of its run, else the date of the file.
fn dated(path: &Path, file: MeasuredFile) -> Result<Dated, String> {
    let started = file.started_at.as_ref().and_then(|started| started.parse::<jiff::Timestamp>().ok());
    let (at, words) = match started {
        Some(at) => (at, at.to_string()),
        None => {
            let modified = fs::metadata(path).and_then(|found| found.modified());
            let at = modified.ok().and_then(|time| jiff::Timestamp::try_from(time).ok());
            let at = at.ok_or_else(|| {
                format!("{}: neither the file nor its date tells when it was measured", path.display())
            })?;
            let why = match &file.started_at {
                Some(words) => format!("date of the file: it says {words:?}, which is no time with a zone"),
                None => "date of the file".to_owned(),
            };
            // A file is dated when it was copied; a fraction of a second says nothing.
            let second = at.round(jiff::Unit::Second).unwrap_or(at);
            (at, format!("{second} ({why})"))
        }
    };
    Ok(Dated { file, at_s: at.as_nanosecond() as f64 / 1e9, at: words })
}

/// The files that names stand for: of folders all that are not hidden, of patterns with * and ? in the last part what fits,
/// and files. Each once, in the order of their names.
///
/// # Errors
/// The folder that cannot be read, or the name that nothing has, and the system's reason.
pub fn paths(names: &[String]) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut paths = Vec::new();
    for name in names {
        let path = Path::new(name);
        if path.is_dir() {
            paths.extend(pattern::matching(path, "*")?);
        } else if path.exists() {
            paths.push(path.to_path_buf());
        } else if !reading::is_pattern(name) {
            // Not there, or in a folder that may not be looked into: the system's words tell.
            let reason = fs::metadata(path).err().unwrap_or_else(|| io::ErrorKind::NotFound.into());
            return Err((path.to_path_buf(), reason));
        } else {
            let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned());
            paths.extend(
                pattern.map_or_else(|| Ok(Vec::new()), |pattern| pattern::matching(folder_of(path), &pattern))?,
            );
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}
