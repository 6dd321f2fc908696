//! Takes out of result files and recordings what names a person, a machine or a text, and leaves every number.
//!
//! Two passes over the same text: the first learns what the names are, the second replaces each by the same word
//! everywhere. Nothing is parsed and written anew, so numbers stay as they were, to the digit.
//!
//! - [`literals`] finds the strings of JSON in any text, with the keys above them.
//! - [`learn`] decides which of them are names; [`names`] says what each is replaced by.
//! - [`harmless`] lists what may stay; every other string is one of [`texts`] and goes. In what stays, [`secrets`] and words
//!   of a [`command`] that are not known go, too.
//! - [`mask`] makes prompts and answers unreadable at their length.
//! - [`edit`] keeps track of what moved; [`recording`] moves the chunks with it.

mod command;
mod edit;
mod harmless;
mod learn;
mod literals;
mod mask;
mod names;
mod recording;
mod secrets;
mod texts;

use std::collections::BTreeMap;
use std::path::Path;

use crate::replay::{LoadError, Session, Unpacked};
use command::Command;
use edit::Edit;
use learn::Learner;
use literals::{Part, decoded, parts};
use names::Names;
use secrets::scrubbed;
use texts::Texts;

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
    /// What should be known of it, a sentence each.
    pub notes: Vec<String>,
    /// Lines of a recording that were cut off and are left out.
    pub lost: usize,
}

/// Redacts a result file or a recording; what it is, its content tells.
///
/// # Errors
/// It is neither.
pub fn redact(path: &Path, unpacked: &Unpacked) -> Result<Redacted, RedactError> {
    if recording::is_one(&unpacked.bytes) {
        // Read as the replay reads it: what cannot be replayed is not passed on.
        Session::read(path, unpacked)?;
        return recording::redact(unpacked);
    }
    let name = path.display().to_string();
    let text = analyzer::import::text(&name, &unpacked.bytes)?;
    analyzer::import::load(&name, text.as_bytes())?;
    let mut learner = Learner::default();
    learner.text(&text, None);
    let names = learner.names();
    let mut result = Rewriting { names: &names, texts: Texts::default(), command: Command::default(), previews: 0 };
    let is_json = is_json(&text);
    let edit = if is_json { result.json(&text) } else { result.words(&text) };
    let bytes = edit.text.into_bytes();
    analyzer::import::load(&name, &bytes)?;
    let mut counts = names.counts();
    for (kind, count) in [("output previews", result.previews), ("other texts", result.texts.count())] {
        if count > 0 {
            counts.insert(kind, count);
        }
    }
    let notes = if is_json { Vec::new() } else { vec![IN_WORDS.to_owned()] };
    Ok(Redacted { bytes, counts, notes, lost: 0 })
}

/// What is to be known of a log or a table, whose words have no keys.
const IN_WORDS: &str = "the file is no JSON, so only names and secrets that show by themselves were found; read it before you \
                        share it";

/// Whether a text is one JSON document or several.
fn is_json(text: &str) -> bool {
    serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>().all(|document| document.is_ok())
}

/// A result file on its way.
struct Rewriting<'a> {
    names: &'a Names,
    texts: Texts,
    command: Command,
    previews: usize,
}

impl Rewriting<'_> {
    fn json(&mut self, text: &str) -> Edit {
        let parts = parts(text, None);
        for (_, raw) in parts.iter().filter(|(part, _)| matches!(part, Part::Value { .. })) {
            self.texts.take(&decoded(raw));
        }
        let mut edit = Edit::default();
        for (part, raw) in parts {
            match &part {
                Part::Gap { key } if mask::is_ids(key.as_deref()) => mask::numbers(&mut edit, raw),
                Part::Gap { .. } => {
                    if raw.contains(['[', '{']) {
                        self.command = Command::default();
                    }
                    edit.keep(raw);
                }
                Part::Key { .. } => self.kept(&mut edit, &part, raw, scrubbed(&decoded(raw))),
                Part::Value { key, within } => self.value(&mut edit, &part, raw, key.as_deref(), within.as_deref()),
            }
        }
        edit
    }

    fn value(&mut self, edit: &mut Edit, part: &Part, raw: &str, key: Option<&str>, within: Option<&str>) {
        let text = decoded(raw);
        match key {
            Some(PREVIEW) => {
                self.previews += 1;
                edit.replace(raw.len(), "null");
            }
            Some("command") => {
                let words = self.command.rewritten(&text);
                self.kept(edit, part, raw, Some(words));
            }
            _ if harmless::is_harmless(key, within, &text) => self.kept(edit, part, raw, scrubbed(&text)),
            // Known names become their own words; what else stands where one is expected is none that was understood.
            _ if learn::is_identity(key) || learn::is_identity(within) => {
                // A name is known as it stands, whatever looks like a secret in it.
                let scrubbed = scrubbed(&text).filter(|_| !self.names.knows(&text));
                let mut kept = Edit::default();
                self.kept(&mut kept, part, raw, scrubbed);
                if kept.text == raw && !names::is_replacement(&text) {
                    edit.replace(raw.len(), &quoted(&self.texts.word(&text)));
                } else {
                    edit.replace(raw.len(), &kept.text);
                }
            }
            _ => edit.replace(raw.len(), &quoted(&self.texts.word(&text))),
        }
    }

    /// A string that stays but for the names in it, in its new form where it has one.
    fn kept(&self, edit: &mut Edit, part: &Part, raw: &str, new: Option<String>) {
        let mut kept = Edit::default();
        self.names.rewrite(&mut kept, part, &new.map_or_else(|| raw.to_owned(), |new| quoted(&new)));
        edit.replace(raw.len(), &kept.text);
    }

    /// Words without keys.
    fn words(&self, text: &str) -> Edit {
        let mut edit = Edit::default();
        for (part, raw) in parts(text, None) {
            let mut kept = Edit::default();
            self.names.rewrite(&mut kept, &part, raw);
            let new = scrubbed(&kept.text).unwrap_or(kept.text);
            edit.replace(raw.len(), &new);
        }
        edit
    }
}

/// A string of JSON. One in its quotes cannot fail to be written.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
