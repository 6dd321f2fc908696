//! Events → progress on stderr; files and comparisons → text.
//!
//! - [`progress`] shows a run while it lasts.
//! - [`closing`] is the table at its end.
//! - [`document`] reads result files for the verbs that print them, and writes what they print.
//! - [`own`] knows journals and recordings, which are no result files.
//! - [`reading`] bounds what is read of a stream; [`target`] keeps what is read from being written over.
//! - [`render`] turns summaries and comparisons into tables, Markdown, CSV and JSON.

pub mod closing;
pub mod document;
pub mod own;
pub mod progress;
pub mod reading;
pub mod render;
pub mod target;

/// Text that a terminal shows on one line and in order: control characters (escape codes, line ends, also those of Unicode)
/// and marks that turn the direction of writing become "\u{fffd}".
#[must_use]
pub fn tame(text: &str) -> String {
    text.chars().map(|letter| if is_wild(letter) { char::REPLACEMENT_CHARACTER } else { letter }).collect()
}

/// Whether a character moves the cursor, ends a line or turns the direction of what follows.
#[must_use]
pub fn is_wild(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text as a cell of CSV that a spreadsheet takes for text and a terminal may show: one that begins like a formula
/// (= + - @, and is more than numbers) gets an apostrophe before it, line ends and tabs become spaces, other control
/// characters "\u{fffd}".
#[must_use]
pub fn csv_field(text: &str) -> String {
    let text = tame(&text.replace(['\n', '\r', '\t', '\u{2028}', '\u{2029}'], " "));
    let is_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ';' | '+' | '-' | 'e' | 'E');
    if text.trim_start().starts_with(['=', '+', '-', '@']) && !text.chars().all(is_number) {
        format!("'{text}")
    } else {
        text
    }
}

/// A path as a terminal may show it.
#[must_use]
pub fn shown(path: &std::path::Path) -> String {
    tame(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_no_formula() {
        for (text, shown) in [
            ("=1+1", "'=1+1"),
            (" @SUM(A1)", "' @SUM(A1)"),
            ("-cmd", "'-cmd"),
            ("-3.5e-7", "-3.5e-7"),
            ("-1;+2", "-1;+2"),
            ("lab/m-8b", "lab/m-8b"),
            ("a\nb\u{1b}[31m", "a b\u{fffd}[31m"),
        ] {
            assert_eq!(csv_field(text), shown);
        }
    }

    #[test]
    fn words_of_others_cannot_move_the_cursor_or_turn_the_text() {
        assert_eq!(tame("a\u{1b}[31mb\nc\u{202e}d\u{9b}e"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d\u{fffd}e");
        assert_eq!(tame("a\u{2028}b\u{2029}c\u{61c}d"), "a\u{fffd}b\u{fffd}c\u{fffd}d");
        assert_eq!(tame("é 你好 ✕"), "é 你好 ✕");
    }
}
