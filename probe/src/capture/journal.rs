//! The journal: events appended as they happen, one JSON object per line, so that a crash loses nothing that finished.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use super::event::Event;
use super::fold::Fold;
use crate::report::reading::why;

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Starts a journal where none is: one that is there belongs to a run that was cut off, and is not overwritten.
    ///
    /// # Errors
    /// The system's own; `AlreadyExists` when there is one.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        // Held as long as the run lasts, so that nobody takes it for one that was cut off. Where a file system has no locks,
        // a run is as good without.
        drop(file.try_lock());
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// Goes on with a journal that an earlier start left, behind its last whole line.
    ///
    /// # Errors
    /// [`JournalError`]: it cannot be read or written, its run goes on, or it is no journal.
    pub fn reopen(path: &Path) -> Result<(Self, Fold), JournalError> {
        let Read { fold, whole, .. } = read(path)?;
        let unreadable = |error| JournalError::Unreadable { path: path.display().to_string(), error };
        let file = OpenOptions::new().append(true).open(path).map_err(unreadable)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(JournalError::Running { path: path.display().to_string() }),
            // Where a file system has no locks, a run is as good without.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        file.set_len(whole).map_err(unreadable)?;
        Ok((Self { file, path: path.to_path_buf() }, fold))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an event. One that is precious is on the disk when this returns.
    ///
    /// # Errors
    /// The system's own: a full disk, most likely.
    pub fn append(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        if event.is_precious() {
            self.file.sync_data()?;
        }
        Ok(())
    }
}

/// What a journal held.
#[derive(Debug)]
pub struct Read {
    /// The events, folded.
    pub fold: Fold,
    /// True where the last line was cut off in the middle of writing.
    pub torn: bool,
    /// Bytes of the whole lines.
    pub whole: u64,
}

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system's own words.
    #[error("{path}: {}", why(path, error))]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// Its run goes on.
    #[error("{path} belongs to a run that still goes on; it writes its result file itself when it ends")]
    Running {
        /// The file.
        path: String,
    },
    /// A line in the middle is no event.
    #[error("{path}, line {line}: {reason}; this is not a journal of exoscope, or it was changed")]
    NotAJournal {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// Whether a run that still goes on holds the journal.
#[must_use]
pub fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Reads a journal. A last line without its end was being written when the run was cut off, and is left out.
///
/// # Errors
/// It cannot be read, or a whole line of it is no event.
pub fn read(path: &Path) -> Result<Read, JournalError> {
    let shown = path.display().to_string();
    let unreadable = |error| JournalError::Unreadable { path: shown.clone(), error };
    if is_held(path) {
        return Err(JournalError::Running { path: shown });
    }
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut fold = Fold::default();
    let mut line = Vec::new();
    let mut whole = 0;
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Ok(Read { fold, torn: false, whole });
        }
        if line.last() != Some(&b'\n') {
            return Ok(Read { fold, torn: true, whole });
        }
        match serde_json::from_slice(&line) {
            Ok(Event::Started { .. }) if fold.provenance().is_some() => {
                let reason = "a second run begins in it".to_owned();
                return Err(JournalError::NotAJournal { path: shown, line: number, reason });
            }
            Ok(event) => {
                fold.take(event);
                whole += line.len() as u64;
            }
            Err(error) => {
                return Err(JournalError::NotAJournal { path: shown, line: number, reason: error.to_string() });
            }
        }
    }
    Ok(Read { fold, torn: false, whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(sentence: &str) -> Event {
        Event::Notice { sentence: sentence.into() }
    }

    #[test]
    fn a_torn_last_line_is_left_out_and_a_broken_middle_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let mut journal = Journal::create(&path).unwrap();
        journal.append(&notice("one")).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("still goes on"), "held as long as the run lasts");
        drop(journal);
        assert!(!read(&path).unwrap().torn);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"event\":\"noti").unwrap();
        assert!(read(&path).unwrap().torn);
        std::fs::write(&path, "{\"event\":\"notice\",\"sentence\":\"x\"}\nnonsense\n").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("not a journal"), "{error}");
    }

    #[test]
    fn a_journal_goes_on_behind_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        std::fs::write(&path, "{\"event\":\"notice\",\"sentence\":\"one\"}\n{\"event\":\"not").unwrap();
        let (mut journal, _) = Journal::reopen(&path).unwrap();
        journal.append(&notice("two")).unwrap();
        assert!(Journal::reopen(&path).unwrap_err().to_string().contains("still goes on"));
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.ends_with("\"two\"}\n"), "{text}");
    }

    #[test]
    fn a_journal_that_is_there_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        Journal::create(&path).unwrap();
        assert_eq!(Journal::create(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }
}
