//! Bytes → text: packing and encodings, with a bound on what comes out.

use std::io::Read as _;

use super::ImportError;

/// The most bytes that a packed file may unpack to. A browser's tab holds 4 GB at most, and the parsed tree of a text is a
/// few times its size.
const MOST: u64 = if cfg!(target_arch = "wasm32") { 256 << 20 } else { 2 << 30 };

/// The text of a file and what was done to get it, a sentence each.
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) notices: Vec<String>,
}

/// Unpacks and decodes.
pub(super) fn decode(name: &str, bytes: &[u8]) -> Result<Decoded, ImportError> {
    decode_within(name, bytes, MOST)
}

fn decode_within(name: &str, bytes: &[u8], most: u64) -> Result<Decoded, ImportError> {
    let refuse = |reason: String| ImportError::Encoding { name: name.into(), reason };
    let mut notices = Vec::new();
    let unpacked;
    let mut bytes = bytes;
    if bytes.starts_with(&[0x1F, 0x8B]) {
        unpacked = unpack(bytes, most).map_err(refuse)?;
        bytes = &unpacked;
        notices.push("the file was packed with gzip".to_owned());
    }
    let text = match bytes {
        [0x1F, 0x8B, ..] => {
            return Err(refuse("the file is packed with gzip twice; unpack it with gunzip first".into()));
        }
        [b'P', b'K', 3, 4, ..] => return Err(refuse("the file is a zip archive; unpack it first".into())),
        [b'b', b'p', b'l', b'i', b's', b't', ..] => {
            let hint = "the file is a binary property list; run plutil -convert xml1 on it first";
            return Err(refuse(hint.into()));
        }
        [0xFF, 0xFE, rest @ ..] => {
            notices.push("the file was UTF-16 text".to_owned());
            utf16(rest, u16::from_le_bytes).map_err(refuse)?
        }
        [0xFE, 0xFF, rest @ ..] => {
            notices.push("the file was UTF-16 text".to_owned());
            utf16(rest, u16::from_be_bytes).map_err(refuse)?
        }
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest).map_err(refuse)?,
        all => utf8(all).map_err(refuse)?,
    };
    if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(ImportError::Empty { name: name.into() });
    }
    Ok(Decoded { text, notices })
}

fn utf8(bytes: &[u8]) -> Result<String, String> {
    std::str::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(|error| format!("byte {} is not UTF-8 text; is it a result file at all?", error.valid_up_to()))
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
    bounded
        .read_to_end(&mut unpacked)
        .map_err(|error| format!("the file begins as gzip and cannot be unpacked ({error}); copy it anew"))?;
    if unpacked.len() as u64 > most {
        return Err(format!(
            "the file unpacks to more than {} MB, which this build does not take; split it",
            most / (1 << 20)
        ));
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
