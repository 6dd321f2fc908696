//! What texts are replaced by: the same word for the same text, so that what differed still does.

use std::collections::{BTreeMap, BTreeSet};

/// The texts of a file.
#[derive(Debug, Default)]
pub(super) struct Texts {
    known: BTreeMap<String, String>,
    /// Words that an earlier redaction put in place, which stay as they are.
    taken: BTreeSet<String>,
}

impl Texts {
    /// Learns a word that is in the file already.
    pub(super) fn take(&mut self, text: &str) {
        if is_replacement(text) {
            self.taken.insert(text.to_owned());
        }
    }

    /// The word for a text.
    pub(super) fn word(&mut self, text: &str) -> String {
        if let Some(word) = self.known.get(text) {
            return word.clone();
        }
        let mut number = self.known.len() + 1;
        while self.taken.contains(&format!("text-{number}")) {
            number += 1;
        }
        let word = format!("text-{number}");
        self.taken.insert(word.clone());
        self.known.insert(text.to_owned(), word.clone());
        word
    }

    /// How many different ones there were.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }
}

/// Whether a text is such a word.
pub(super) fn is_replacement(text: &str) -> bool {
    let number = text.strip_prefix("text-");
    text == super::secrets::GONE
        || number.is_some_and(|n| !n.is_empty() && n.len() < 8 && n.bytes().all(|b| b.is_ascii_digit()))
}
