//! Bytes of a file or a stream, with a bound on what has no end of its own.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::document::STANDARD;

/// The most bytes that are read as a whole, of a device, a pipe or a file: as much as a packed file may unpack to.
pub(crate) const MOST: u64 = 1 << 30;

/// All bytes of a file; "-" is standard input.
///
/// # Errors
/// The system's own, and a sentence for what does not end within 1 GiB.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new(STANDARD) {
        return within(io::stdin().lock(), MOST);
    }
    let mut file = File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return within(file, MOST);
    }
    if found.len() > MOST {
        let larger = format!("it is larger than {} MiB and no result file that can be read row by row", MOST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("{larger}; split it")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Why a file cannot be read, in the system's words and with what to do where the name tells what was meant.
pub(crate) fn why(name: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => {
            "it is a folder; name a file in it (a folder of results is read by `exoscope history`)".to_owned()
        }
        // A shell hands a pattern on as it stands where it is quoted, and where no file fits.
        io::ErrorKind::NotFound if is_pattern(name) => format!(
            "{error}; it looks like a pattern: leave the quotes away, so that the shell puts the names of the files in \
             its place (`exoscope history` takes one itself, in the last part of the path)"
        ),
        _ => error.to_string(),
    }
}

/// Whether a name holds what shells fill in.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

fn within(stream: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let (mib, name) = (most >> 20, "it is a stream that does not end within");
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{name} {mib} MiB; name a file, or split what it gives"),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_pattern_are_told_what_takes_them() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| why(&path.to_string_lossy(), &bytes(path).unwrap_err());
        assert!(said(folder.path()).starts_with("it is a folder; "));
        assert!(said(&folder.path().join("*.json")).contains("leave the quotes away"));
        assert!(!said(&folder.path().join("a.json")).contains("quotes"));
    }

    #[test]
    fn a_stream_without_an_end_is_given_up() {
        let error = within(io::repeat(0), 1 << 20).unwrap_err().to_string();
        assert_eq!(error, "it is a stream that does not end within 1 MiB; name a file, or split what it gives");
        assert_eq!(within(io::repeat(7).take(1 << 20), 1 << 20).unwrap().len(), 1 << 20);
    }
}
