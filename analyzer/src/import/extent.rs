//! How much memory a text would take as a tree of values, found by one scan of its bytes and before anything is taken.
//!
//! A tree takes up to two hundred times the bytes of the text: a packed file of 60 kB can hold thirty million zeros. The
//! scan knows no grammar: it counts the marks that begin a value, outside of texts.

use std::mem::size_of;

use serde_json::Value;

/// The most bytes that the tree of a text may take. A browser's tab holds 4 GB at most, and what is made of the tree stands
/// beside it.
const MOST: u64 = if cfg!(target_arch = "wasm32") { 1 << 30 } else { 3 << 29 };

/// `serde_json` gives up at this depth, so nothing below it becomes a tree.
const DEEPEST: u32 = 128;

/// Lists and maps double their room as they grow.
const GROWTH: u64 = 2;
/// A value where it stands in its list.
const ENTRY: u64 = GROWTH * size_of::<Value>() as u64;
/// A key of an object: its text on the heap, its hash and its place in the table.
const KEY: u64 = 32 + GROWTH * (size_of::<String>() as u64 + 8 + 8);
/// The room of a list or an object that holds anything is that of four entries.
const ROOM: u64 = 4 * size_of::<Value>() as u64 + 16;
/// What the heap takes for a text beside its bytes.
const TEXT: u64 = 16;

/// A number where it stands in a list that holds nothing else, and may lack some.
const NUMBER: u64 = GROWTH * size_of::<Option<f64>>() as u64;

/// What the parts of a text take, added up until it is too much.
#[derive(Debug, Default)]
pub(super) struct Spent(u64);

impl Spent {
    /// Adds a part that becomes a tree; whether that still may be.
    pub(super) fn tree(&mut self, text: &[u8]) -> bool {
        self.add(text, ENTRY)
    }

    /// Adds a part whose lists are of numbers, read as such; whether that still may be.
    pub(super) fn numbers(&mut self, text: &[u8]) -> bool {
        self.add(text, NUMBER)
    }

    fn add(&mut self, text: &[u8], entry: u64) -> bool {
        self.0 += scan(text, MOST, entry, false).unwrap_or_else(|spent| spent);
        self.0 <= MOST
    }
}

/// Whether the tree of a text stays within what is taken.
pub(super) fn is_within(text: &[u8]) -> bool {
    Spent::default().tree(text)
}

/// The same of the first value of a text alone.
pub(super) fn is_first_within(text: &[u8]) -> bool {
    scan(text, MOST, ENTRY, true).is_ok()
}

/// The bound in words.
pub(super) fn bound() -> String {
    format!("{:.1} GiB", MOST as f64 / (1_u64 << 30) as f64)
}

/// The bytes that are reckoned, at `entry` for each value of a list; an error once they are more than `most`.
fn scan(text: &[u8], most: u64, entry: u64, first: bool) -> Result<u64, u64> {
    let (mut bytes, mut depth) = (entry, 0_u32);
    let mut place = 0;
    while let Some(byte) = text.get(place) {
        place += 1;
        match byte {
            b'"' => {
                let length = length_of_text(&text[place..]);
                bytes += TEXT + length as u64;
                place += length + 1;
            }
            b',' => bytes += entry,
            b':' => bytes += KEY,
            b'[' | b'{' => {
                bytes += ROOM + entry;
                depth += 1;
                if depth > DEEPEST {
                    // The reader stops here, too, and says so.
                    return Ok(bytes);
                }
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if first && depth == 0 {
                    return Ok(bytes);
                }
            }
            // Documents of a number each, one after the other.
            b'\n' if depth == 0 => bytes += entry,
            _ => continue,
        }
        if bytes > most {
            return Err(bytes);
        }
    }
    Ok(bytes)
}

/// Bytes up to the mark that closes a text, which one behind a backslash does not.
fn length_of_text(rest: &[u8]) -> usize {
    let mut place = 0;
    while let Some(byte) = rest.get(place) {
        match byte {
            b'"' => return place,
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_are_too_much_long_before_the_text_is() {
        let zeros = |count: usize| format!("{{\"runs\":[],\"x\":[{}0]}}", "0,".repeat(count));
        assert!(scan(zeros(1000).as_bytes(), 1 << 20, ENTRY, false).is_ok());
        assert!(scan(zeros(10_000).as_bytes(), 1 << 20, ENTRY, false).is_err());
        for piece in ["[0],", "{\"a\":0},", "\"\",", "[],", "{},"] {
            let text = format!("[{}0]", piece.repeat(10_000));
            assert!(scan(text.as_bytes(), 1 << 20, ENTRY, false).is_err(), "{piece}");
        }
    }

    #[test]
    fn marks_within_texts_are_none() {
        let text = format!("[\"{}\\\"{}\"]", "[,".repeat(4000), "{:".repeat(4000));
        assert!(scan(text.as_bytes(), 20_000, ENTRY, false).is_ok(), "16 kB of text and one entry");
        assert!(scan(b"\"open \\", 1 << 20, ENTRY, false).is_ok());
        assert!(scan(b"\"\\", 1 << 20, ENTRY, false).is_ok());
    }

    #[test]
    fn the_first_value_alone_can_be_asked_for() {
        let text = format!("{{\"a\":[1]}} [{}0]", "0,".repeat(10_000));
        assert!(scan(text.as_bytes(), 1 << 20, ENTRY, true).is_ok());
        assert!(scan(text.as_bytes(), 1 << 20, ENTRY, false).is_err());
    }

    #[test]
    fn numbers_that_are_read_as_such_take_less_and_parts_add_up() {
        let text = format!("[{}0]", "0,".repeat(1000));
        let of = |entry| scan(text.as_bytes(), MOST, entry, false).unwrap();
        assert!(of(NUMBER) < of(ENTRY) / 3);
        let mut spent = Spent(MOST - 2 * of(NUMBER));
        assert!(spent.numbers(text.as_bytes()));
        assert!(!spent.tree(text.as_bytes()));
    }

    #[test]
    fn depth_ends_the_scan() {
        assert!(scan("[".repeat(1 << 20).as_bytes(), 1 << 20, ENTRY, false).is_ok());
    }
}
