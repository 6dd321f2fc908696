//! Result files in, reports out: reading by name and writing whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use analyzer::import::{self, ImportError, Loaded};

use super::own::{self, Own};
use super::reading;

/// The name that stands for standard input and output.
pub const STANDARD: &str = "-";

/// Why a document could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The file could not be read.
    #[error("{name}: cannot be read: {}", reading::why(name, source))]
    Read {
        /// The file.
        name: String,
        /// The system's words.
        source: io::Error,
    },
    /// The file was read and is no result file.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// It is a file of this program that holds no numbers yet.
    #[error("{name}: {own}")]
    Own {
        /// The file.
        name: String,
        /// Which.
        own: Own,
    },
    /// The same readings twice would count the same power twice.
    #[error("{name}: the same power readings as {other}; each instrument is given once")]
    SameReadings {
        /// The file.
        name: String,
        /// The one that was given before.
        other: String,
    },
    /// The report could not be written.
    #[error("{name}: cannot be written: {source}")]
    Write {
        /// The file.
        name: String,
        /// The system's words.
        source: io::Error,
    },
}

/// Reads a result file; "-" is standard input.
///
/// # Errors
/// [`DocumentError`] names the file and the reason.
pub fn load(name: &str) -> Result<Loaded, DocumentError> {
    let unread = |source| DocumentError::Read { name: name.to_owned(), source };
    if name != STANDARD
        && let Some(loaded) = stream(name).map_err(unread)?
    {
        return Ok(loaded);
    }
    let bytes = reading::bytes(Path::new(name)).map_err(unread)?;
    let name = if name == STANDARD { "standard input" } else { name };
    import::load(name, &bytes).map_err(|error| match own::kind(&bytes) {
        Some(own) => DocumentError::Own { name: name.to_owned(), own },
        None => error.into(),
    })
}

/// The straight way, without holding the bytes of a large file. None for what has to be read as a whole, and for what is no
/// file: the bytes of a pipe come once.
fn stream(name: &str) -> io::Result<Option<Loaded>> {
    // Looked at before it is opened: a writer to a pipe would lose its reader when it is opened anew.
    if fs::metadata(name)?.is_file() { import::stream(name, fs::File::open(name)?) } else { Ok(None) }
}

/// Lays power readings over a run by time.
///
/// # Errors
/// [`DocumentError`] names the file of readings and the reason.
pub fn lay_over(loaded: &mut Loaded, power: &[String]) -> Result<(), DocumentError> {
    let mut given: Vec<(&String, Vec<u8>)> = Vec::new();
    for name in power {
        let bytes =
            reading::bytes(Path::new(name)).map_err(|source| DocumentError::Read { name: name.clone(), source })?;
        if let Some((other, _)) = given.iter().find(|(_, known)| *known == bytes) {
            return Err(DocumentError::SameReadings { name: name.clone(), other: (*other).clone() });
        }
        let (overlay, notices) = import::overlay::overlay(&loaded.file, name, &bytes)?;
        loaded.file.overlays.push(overlay);
        loaded.notices.extend(notices);
        given.push((name, bytes));
    }
    Ok(())
}

/// Writes a report to a file, or to standard output for `None` and "-".
///
/// A file appears whole or not at all: it is written beside its place and then moved there. Folders are made as needed.
///
/// # Errors
/// [`DocumentError::Write`] names the file and the reason. A reader that closed standard output early is none.
pub fn write(output: Option<&Path>, text: &str) -> Result<(), DocumentError> {
    match output.filter(|path| *path != Path::new(STANDARD)) {
        Some(path) => write_file(path, text.as_bytes())
            .map_err(|source| DocumentError::Write { name: path.display().to_string(), source }),
        None => match write_standard(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(|source| DocumentError::Write { name: "standard output".to_owned(), source }),
        },
    }
}

/// Writes bytes to a file, whole or not at all. Folders are made as needed.
///
/// # Errors
/// [`DocumentError::Write`] names the file and the reason.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), DocumentError> {
    write_file(path, bytes).map_err(|source| DocumentError::Write { name: path.display().to_string(), source })
}

/// Writes to standard output, all of it or an error, also where the reader is gone.
///
/// # Errors
/// The system's own.
pub fn write_standard(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A pipe or a device is written to; moving a file onto it would replace it.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return fs::write(path, bytes);
    }
    // A link is written through: moving a file onto it would cut it off from its target.
    let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let path = resolved.as_path();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".exoscope-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Temporary files are private by default; a report is an ordinary file, as the user's umask says.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_written_into_folders_that_were_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/report.md");
        write(Some(&path), "first").unwrap();
        write(Some(&path), "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = write(Some(&file.join("report.md")), "text").unwrap_err();
        assert!(error.to_string().contains("report.md: cannot be written: "), "{error}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = load("no/such/file.json").unwrap_err();
        assert!(error.to_string().starts_with("no/such/file.json: cannot be read: "), "{error}");
    }
}
