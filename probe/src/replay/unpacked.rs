//! The bytes of a recording, unzipped where they are gzipped, also as far as a crash let them be written.

use std::io::{self, Read as _};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::session::LoadError;
use crate::report::reading;

/// What every gzipped file begins with (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file.
#[derive(Debug)]
pub struct Unpacked {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether they were gzipped.
    pub gzipped: bool,
    /// Whether the gzip stream lacks its end.
    pub torn: bool,
}

impl Unpacked {
    /// Reads a file; what it begins with tells whether it is gzipped, whatever its name is.
    ///
    /// # Errors
    /// It cannot be read, or it is gzipped and broken in the middle.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let read = |source| LoadError::Read { path: path.to_owned(), source };
        let raw = reading::bytes(path).map_err(read)?;
        if !raw.starts_with(&GZIP) {
            return Ok(Self { bytes: raw, gzipped: false, torn: false });
        }
        let mut bytes = Vec::new();
        match MultiGzDecoder::new(raw.as_slice()).take(reading::MOST).read_to_end(&mut bytes) {
            // A few kilobytes can be packed so that they fill any memory.
            Ok(_) if bytes.len() as u64 == reading::MOST => Err(read(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it unpacks to 2 GiB or more, which is not taken; split it",
            ))),
            Ok(_) => Ok(Self { bytes, gzipped: true, torn: false }),
            // Cut off: what was unpacked so far is as it was written.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Self { bytes, gzipped: true, torn: true }),
            Err(error) => Err(read(error)),
        }
    }
}
