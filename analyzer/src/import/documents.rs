//! Bytes → JSON documents.

use serde_json::Value;

use super::ImportError;

const CUT_OFF: &str = "the file ends in the middle: it was cut off while it was written or copied";
const NO_RESULT: &str = "a result file starts with { or [";
const BROKEN: &str = "look at that place: something was changed or left out there";
const TOO_DEEP: &str = "no result file is nested that deeply";

/// Reads all documents of a file. exo's nightly script appends one run after the other to the same file, with nothing
/// between them.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Vec<Value>, ImportError> {
    let encoding = |reason: &str| ImportError::Encoding { name: name.into(), reason: reason.into() };
    let bytes = match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
            return Err(encoding("the file is UTF-16 text; save it as UTF-8"));
        }
        [0x1F, 0x8B, ..] => return Err(encoding("the file is packed with gzip; unpack it with gunzip first")),
        [b'P', b'K', 3, 4, ..] => return Err(encoding("the file is a zip archive; unpack it first")),
        [0xEF, 0xBB, 0xBF, rest @ ..] => rest,
        all => all,
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ImportError::Empty { name: name.into() });
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to();
        return Err(encoding(&format!("byte {at} is not UTF-8 text; is it a result file at all?")));
    }
    serde_json::Deserializer::from_slice(bytes)
        .into_iter::<Value>()
        .enumerate()
        .map(|(place, document)| document.map_err(|error| not_json(name, place, &error)))
        .collect()
}

fn not_json(name: &str, place: usize, error: &serde_json::Error) -> ImportError {
    let (line, column) = (error.line(), error.column());
    let words = error.to_string();
    // serde_json appends the place, which the sentence names already.
    let reason = words.split(" at line ").next().unwrap_or(&words).to_owned();
    let hint = if error.is_eof() {
        CUT_OFF
    } else if reason.contains("recursion limit") {
        TOO_DEEP
    } else if place == 0 && line == 1 && column <= 2 {
        NO_RESULT
    } else {
        BROKEN
    };
    ImportError::NotJson { name: name.into(), line, column, reason, hint }
}
