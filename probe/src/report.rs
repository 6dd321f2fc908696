//! Events → progress on stderr; files and comparisons → text.
//!
//! - [`progress`] shows a run while it lasts.
//! - [`closing`] is the table at its end.
//! - [`document`] reads result files for the verbs that print them, and writes what they print.
//! - [`render`] turns summaries and comparisons into tables, Markdown, CSV and JSON.

pub mod closing;
pub mod document;
pub mod progress;
pub mod render;

/// Text that a terminal shows on one line and in order: control characters (escape codes, line ends) and marks that turn the
/// direction of writing become "\u{fffd}".
#[must_use]
pub fn tame(text: &str) -> String {
    let wild = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|letter| if wild(letter) { char::REPLACEMENT_CHARACTER } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_cannot_move_the_cursor_or_turn_the_text() {
        assert_eq!(tame("a\u{1b}[31mb\nc\u{202e}d\u{9b}e"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d\u{fffd}e");
        assert_eq!(tame("é 你好 ✕"), "é 你好 ✕");
    }
}
