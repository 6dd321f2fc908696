//! Takes out of result files and recordings what names a person, a machine or a text, and leaves every number.
//!
//! Two passes over the same text: the first learns what the names are, the second replaces each by the same word
//! everywhere. Nothing is parsed and written anew, so numbers stay as they were, to the digit.
//!
//! - [`literals`] finds the strings of JSON in any text, with the keys above them.
//! - [`learn`] decides which of them are names; [`names`] says what each is replaced by.
//! - [`mask`] makes prompts and answers unreadable at their length.
//! - [`edit`] keeps track of what moved; [`recording`] moves the chunks with it.

mod edit;
mod learn;
mod literals;
mod mask;
mod names;
mod recording;

use std::collections::BTreeMap;
use std::path::Path;

use crate::replay::{LoadError, Session, Unpacked};
use edit::Edit;
use learn::Learner;
use literals::{Part, parts};

/// The key under which exo's bench keeps the first characters of an answer.
const PREVIEW: &str = "output_text_preview";

/// Why a file cannot be redacted.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// It cannot be read as what it begins like.
    #[error(transparent)]
    Recording(#[from] LoadError),
    /// It is no result file.
    #[error(transparent)]
    Result(#[from] analyzer::import::ImportError),
    /// A body that is not UTF-8 is not what it says.
    #[error("a body of the recording is no base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// A line cannot be written.
    #[error("the recording cannot be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// A file without names.
#[derive(Debug)]
pub struct Redacted {
    /// Its bytes, not packed.
    pub bytes: Vec<u8>,
    /// What was replaced, in words, with how many different ones there were.
    pub counts: BTreeMap<&'static str, usize>,
}

/// Redacts a result file or a recording; what it is, its content tells.
///
/// # Errors
/// It is neither.
pub fn redact(path: &Path, unpacked: &Unpacked) -> Result<Redacted, RedactError> {
    if recording::is_one(&unpacked.bytes) {
        // Read as the replay reads it: what cannot be replayed is not passed on.
        Session::read(path, unpacked)?;
        return recording::redact(&unpacked.bytes);
    }
    let name = path.display().to_string();
    analyzer::import::load(&name, &unpacked.bytes)?;
    // Checked by the reading: a result file is UTF-8.
    let text = String::from_utf8_lossy(&unpacked.bytes);
    let mut learner = Learner::default();
    learner.text(&text, None);
    let names = learner.names();
    let mut previews = 0;
    let mut edit = Edit::default();
    for (part, raw) in parts(&text, None) {
        match part {
            Part::Value { key: Some(key), .. } if key == PREVIEW => {
                previews += 1;
                edit.replace(raw.len(), "null");
            }
            part => names.rewrite(&mut edit, &part, raw),
        }
    }
    let bytes = edit.text.into_bytes();
    analyzer::import::load(&name, &bytes)?;
    let mut counts = names.counts();
    if previews > 0 {
        counts.insert("output previews", previews);
    }
    Ok(Redacted { bytes, counts })
}
