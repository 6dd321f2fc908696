//! Blocks of text: what is said, before it is known how it will be shown.

use analyzer::units::ABSENT;

/// A piece of a report.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    /// A heading, 1 or 2.
    Heading(u8, String),
    /// A paragraph.
    Line(String),
    /// A list of sentences under a word; left out when empty.
    List(String, Vec<String>),
    /// Names and values.
    Facts(Vec<(String, String)>),
    /// Lines that are shown as they are.
    Verbatim(Vec<String>),
    /// A table.
    Grid(Grid),
}

/// A table with its footnotes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Grid {
    /// Heads, units included.
    pub(super) head: Vec<String>,
    /// True for columns of numbers, which stand on the right.
    pub(super) numbers: Vec<bool>,
    /// Rows of the head's length.
    pub(super) rows: Vec<Vec<String>>,
    /// Sentences that marks in the rows point to.
    pub(super) notes: Notes,
}

impl Grid {
    /// A grid with these heads; those that begin with `>` are columns of numbers.
    pub(super) fn new<'a>(heads: impl IntoIterator<Item = &'a str>) -> Self {
        let mut grid = Self::default();
        for head in heads {
            grid.numbers.push(head.starts_with('>'));
            grid.head.push(head.trim_start_matches('>').to_owned());
        }
        grid
    }

    /// Takes out the columns in which every row says the same as `–`, so that a table is no wider than it needs to be.
    pub(super) fn without_empty(mut self, removable: &[&str]) -> Self {
        for place in (0..self.head.len()).rev() {
            let empty = self.rows.iter().all(|row| row.get(place).is_none_or(|cell| cell.is_empty() || cell == ABSENT));
            if empty && removable.contains(&self.head[place].as_str()) {
                self.head.remove(place);
                self.numbers.remove(place);
                for row in &mut self.rows {
                    row.remove(place);
                }
            }
        }
        self
    }
}

/// Sentences numbered in the order in which they are first pointed to. The mark stands beside the number it weakens, the
/// sentence once below the table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Notes(pub(super) Vec<String>);

impl Notes {
    /// The marks of some sentences: "¹ ³"; empty for none.
    pub(super) fn marks(&mut self, sentences: &[String]) -> String {
        let mut numbers: Vec<usize> = Vec::new();
        for sentence in sentences {
            let place = self.0.iter().position(|known| known == sentence).unwrap_or_else(|| {
                self.0.push(sentence.clone());
                self.0.len() - 1
            });
            numbers.push(place + 1);
        }
        numbers.sort_unstable();
        numbers.into_iter().map(mark).collect::<Vec<_>>().join(" ")
    }

    /// Each sentence behind its mark.
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.iter().enumerate().map(|(place, sentence)| format!("{} {sentence}", mark(place + 1))).collect()
    }
}

fn mark(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// Text from a file, safe to print: a control character could move a terminal's cursor or change its colours.
pub(super) fn clean(text: &str) -> String {
    crate::report::tame(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_keeps_its_mark() {
        let mut notes = Notes::default();
        assert_eq!(notes.marks(&["a".into()]), "¹");
        assert_eq!(notes.marks(&["b".into(), "a".into()]), "¹ ²");
        assert_eq!(notes.lines(), ["¹ a", "² b"]);
        assert_eq!(mark(12), "¹²");
    }

    #[test]
    fn a_name_from_a_file_cannot_move_the_cursor() {
        assert_eq!(clean("model\u{1b}[2J\nx"), "model\u{FFFD}[2J\u{FFFD}x");
    }
}
