//! Claims the output before anything is measured, and writes the result file whole or not at all.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use analyzer::record::{ResultFile, to_json};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::journal::{self, Journal};

/// Why an output cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The folder or a file in it cannot be written.
    #[error("{path} cannot be written: {error}; name another place with {flag}")]
    Unwritable {
        /// What was tried.
        path: String,
        /// The flag that names it.
        flag: &'static str,
        /// The system's words.
        error: io::Error,
    },
    /// The path is a folder.
    #[error("{path} is a folder; name a file with {flag}")]
    Folder {
        /// The path.
        path: String,
        /// The flag that names it.
        flag: &'static str,
    },
    /// The path is a device or a pipe: moving a file there would put it out of the way for everybody.
    #[error("{path} is no ordinary file and would be replaced by one; {}name a file with {flag}", stdout_instead(flag))]
    NotAFile {
        /// The path.
        path: String,
        /// The flag that names it.
        flag: &'static str,
    },
    /// Another run writes to the same place.
    #[error("another run is writing {path}; wait for its end, or name another place with {flag}")]
    Running {
        /// The place.
        path: String,
        /// The flag that names it.
        flag: &'static str,
    },
    /// A run that was cut off left its journal.
    #[error(
        "{path} is the journal of an earlier run; go on with that run with `exoscope bench --resume {path}`, or make a result file of it with `exoscope recover {path}`, or remove it, or name another place with {flag}"
    )]
    EarlierJournal {
        /// The journal.
        path: String,
        /// The flag that names it.
        flag: &'static str,
    },
    /// A number that JSON cannot hold.
    #[error("the result file cannot be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// Where a result file will stand.
#[derive(Debug, Clone)]
pub struct Output {
    path: PathBuf,
    /// The flag that names it, for the words.
    flag: &'static str,
}

/// The flag of a run's result file.
const JSON_OUT: &str = "--json-out";

/// A bench can write to standard output, which other verbs cannot.
fn stdout_instead(flag: &str) -> &'static str {
    if flag == JSON_OUT { "use --stdout, or " } else { "" }
}

impl Output {
    /// Makes sure that the file can be written: the folder is made, and the journal beside the file is started.
    ///
    /// # Errors
    /// [`OutputError`], before anything was measured.
    pub fn claim(path: &Path) -> Result<(Self, Journal), OutputError> {
        let output = Self::at(JSON_OUT, path)?;
        let place = journal_path(&output.path);
        let created = Journal::create(&place);
        let journal = created.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists if journal::is_held(&place) => {
                OutputError::Running { path: path.display().to_string(), flag: JSON_OUT }
            }
            io::ErrorKind::AlreadyExists => {
                OutputError::EarlierJournal { path: place.display().to_string(), flag: JSON_OUT }
            }
            _ => unwritable(JSON_OUT, &place, error),
        })?;
        Ok((output, journal))
    }

    /// A place for a file whose journal is elsewhere; the folder is made. `flag` names it in the words of an error.
    ///
    /// # Errors
    /// The place is a folder or a device, or its folder cannot be made.
    pub fn at(flag: &'static str, path: &Path) -> Result<Self, OutputError> {
        // A link is written through, as any program does: moving a file onto it would cut it off from its target.
        let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let path = resolved.as_path();
        if path.is_dir() {
            return Err(OutputError::Folder { path: path.display().to_string(), flag });
        }
        if path.exists() && !path.is_file() {
            return Err(OutputError::NotAFile { path: path.display().to_string(), flag });
        }
        let folder = folder_of(path);
        std::fs::create_dir_all(folder).map_err(|error| unwritable(flag, folder, error))?;
        Ok(Self { path: path.to_path_buf(), flag })
    }

    /// Where.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file beside its place, forces it to the disk, then moves it there: a reader sees the old one or the
    /// new one, never half of it. A name that ends in .gz is packed as it says.
    ///
    /// # Errors
    /// The disk is full or the folder gone; what was at the place stays.
    pub fn write(&self, file: &ResultFile) -> Result<(), OutputError> {
        let text = to_json(file)?;
        let folder = folder_of(&self.path);
        let failed = |error| unwritable(self.flag, &self.path, error);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".exoscope-");
        // Temporary files are the user's alone; a result file is a file like any other, as far as the umask lets it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut beside = builder.tempfile_in(folder).map_err(failed)?;
        if self.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
            let mut packed = GzEncoder::new(&mut beside, Compression::default());
            packed.write_all(text.as_bytes()).map_err(failed)?;
            packed.finish().map_err(failed)?;
        } else {
            beside.write_all(text.as_bytes()).map_err(failed)?;
        }
        beside.as_file().sync_all().map_err(failed)?;
        beside.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// The journal of a result file: beside it, with `.journal` behind its name.
#[must_use]
pub fn journal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    PathBuf::from(name)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn unwritable(flag: &'static str, path: &Path, error: io::Error) -> OutputError {
    OutputError::Unwritable { path: path.display().to_string(), flag, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_made_and_a_second_claim_is_told_of_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/results.json");
        let (output, journal) = Output::claim(&path).unwrap();
        assert!(journal.path().exists());
        let error = Output::claim(&path).unwrap_err().to_string();
        assert!(error.contains("another run is writing"), "{error}");
        drop(journal);
        let error = Output::claim(&path).unwrap_err().to_string();
        assert!(error.contains("exoscope recover") && error.contains("results.json.journal"), "{error}");
        output.write(&ResultFile::default()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  \"runs\": []\n}");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn a_folder_and_a_file_in_the_way_are_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Output::claim(folder.path()).unwrap_err().to_string().contains("is a folder"));
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = Output::claim(&file.join("results.json")).unwrap_err().to_string();
        assert!(error.contains("cannot be written"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_result_file_may_be_read_as_any_other_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (other, path) = (folder.path().join("other"), folder.path().join("results.json"));
        std::fs::write(&other, "").unwrap();
        Output::at(JSON_OUT, &path).unwrap().write(&ResultFile::default()).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&other));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target.json"), folder.path().join("link.json"));
        std::fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        Output::at(JSON_OUT, &link).unwrap().write(&ResultFile::default()).unwrap();
        assert!(link.is_symlink());
        assert!(std::fs::read_to_string(&target).unwrap().contains("runs"));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_replaced_by_a_file() {
        let error = Output::claim(Path::new("/dev/null")).unwrap_err().to_string();
        assert!(error.contains("/dev/null is no ordinary file") && error.contains("--stdout"), "{error}");
    }
}
