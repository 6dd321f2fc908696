//! Bytes → text: packing and encodings, with a bound on what comes out.

use std::borrow::Cow;
use std::io::{ErrorKind, Read as _};

use super::ImportError;

/// The most bytes that are read as a whole, and that a packed file may unpack to. A browser's tab holds 4 GB at most, and
/// what is made of a text stands beside it. Result files that go the straight way are not read as a whole.
pub(super) const MOST: u64 = if cfg!(target_arch = "wasm32") { 256 << 20 } else { 1 << 30 };

/// The mark before the text of some editors.
const MARK: char = '\u{FEFF}';

/// The text of a file and what was done to get it, a sentence each.
pub(super) struct Decoded<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) notices: Vec<String>,
}

/// Unpacks and decodes.
pub(super) fn decode<'a>(name: &str, bytes: &'a [u8]) -> Result<Decoded<'a>, ImportError> {
    decode_within(name, bytes, MOST)
}

fn decode_within<'a>(name: &str, bytes: &'a [u8], most: u64) -> Result<Decoded<'a>, ImportError> {
    let refuse = |reason: String| ImportError::Encoding { name: name.into(), reason };
    let mut notices = Vec::new();
    let text = if bytes.starts_with(&[0x1F, 0x8B]) {
        let unpacked = unpack(bytes, most).map_err(refuse)?;
        notices.push("the file was packed with gzip".to_owned());
        Cow::Owned(match recoded(&unpacked, &mut notices).map_err(refuse)? {
            Some(text) => text,
            None => {
                let mut text = String::from_utf8(unpacked).map_err(|error| refuse(not_utf8(error.utf8_error())))?;
                if text.starts_with(MARK) {
                    text.replace_range(..MARK.len_utf8(), "");
                }
                text
            }
        })
    } else if bytes.len() as u64 > most {
        return Err(refuse(format!(
            "the file is larger than {}, which this build does not read as a whole; split it",
            megabytes(most)
        )));
    } else {
        match recoded(bytes, &mut notices).map_err(refuse)? {
            Some(text) => Cow::Owned(text),
            None => {
                let text = std::str::from_utf8(bytes).map_err(|error| refuse(not_utf8(error)))?;
                Cow::Borrowed(text.strip_prefix(MARK).unwrap_or(text))
            }
        }
    };
    if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(ImportError::Empty { name: name.into() });
    }
    Ok(Decoded { text, notices })
}

fn not_utf8(error: std::str::Utf8Error) -> String {
    format!("byte {} is not UTF-8 text; is it a result file at all?", error.valid_up_to())
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / (1 << 20))
}

/// The text of what is not UTF-8; none of what may be.
fn recoded(bytes: &[u8], notices: &mut Vec<String>) -> Result<Option<String>, String> {
    let (rest, unit): (&[u8], fn([u8; 2]) -> u16) = match bytes {
        [0x1F, 0x8B, ..] => {
            return Err("the file is packed with gzip twice; unpack it with gunzip first".into());
        }
        [b'P', b'K', 3, 4, ..] => return Err("the file is a zip archive; unpack it first".into()),
        [b'b', b'p', b'l', b'i', b's', b't', ..] => {
            return Err("the file is a binary property list; run plutil -convert xml1 on it first".into());
        }
        [0xFF, 0xFE, rest @ ..] => (rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => (rest, u16::from_be_bytes),
        _ => return Ok(None),
    };
    notices.push("the file was UTF-16 text".to_owned());
    utf16(rest, unit).map(Some)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    if !bytes.len().is_multiple_of(2) {
        return Err("the file is UTF-16 text with half a character at its end; it was cut off".into());
    }
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .collect::<Result<String, _>>()
        .map_err(|_| "the file begins as UTF-16 text and is none; save it as UTF-8".into())
}

/// Unpacks all members, at most `most` bytes: a few kilobytes can be packed so that they fill any memory.
fn unpack(bytes: &[u8], most: u64) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    let mut bounded = flate2::read::MultiGzDecoder::new(bytes).take(most.saturating_add(1));
    bounded.read_to_end(&mut unpacked).map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => {
            format!("the file unpacks to more than there is memory for ({} bytes and more); split it", unpacked.len())
        }
        _ => format!("the file begins as gzip and cannot be unpacked ({error}); copy it anew"),
    })?;
    if unpacked.len() as u64 > most {
        let most = megabytes(most);
        return Err(format!("the file unpacks to more than {most}, which this build does not take; split it"));
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_bomb_is_stopped_at_the_bound() {
        let bomb = packed(&vec![b' '; 4 << 20]);
        assert!(bomb.len() < 8192, "a small file");
        let error = decode_within("bomb.gz", &bomb, 1 << 20).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "bomb.gz: the file unpacks to more than 1 MB, which this build does not take; split it");
    }

    #[test]
    fn what_is_not_packed_has_the_same_bound() {
        let error = decode_within("a.json", &vec![b' '; (1 << 20) + 1], 1 << 20).map(|_| ()).unwrap_err().to_string();
        let why = "the file is larger than 1 MB, which this build does not read as a whole; split it";
        assert_eq!(error, format!("a.json: {why}"));
    }

    #[test]
    fn members_that_were_put_one_after_the_other_are_all_read() {
        let mut bytes = packed(b"[1]");
        bytes.extend(packed(b"[2]"));
        assert_eq!(decode("x", &bytes).unwrap().text, "[1][2]");
    }

    #[test]
    fn utf16_of_either_order_is_text() {
        for little in [true, false] {
            let order = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
            let bytes: Vec<u8> = "\u{feff}{\"é\": \"𝄞\"}".encode_utf16().flat_map(order).collect();
            assert_eq!(decode("x", &bytes).unwrap().text, "{\"é\": \"𝄞\"}");
        }
        assert!(decode("x", &[0xFF, 0xFE, 0x00, 0xD8]).is_err(), "half a pair");
    }
}
