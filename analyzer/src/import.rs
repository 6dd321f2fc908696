//! Bytes of any known shape → a result file, or a sentence that says why not.
//!
//! * [`bytes`] bytes → text: packing, encodings, and a bound on what comes out.
//! * [`documents`] text → JSON documents: several in one file, where it broke, keys that stand twice.
//! * [`sniff`] the table of formats: how each is recognised, its class, and who reads it.
//! * [`exo`] exo's own rows, from the bare list of January 2026 on, with the caveats of each.
//! * [`exo_log`] the console log of exo's bench; [`exo_others`] what its other benches wrote.
//! * [`asiai`], [`llama_bench`], [`llama_table`], [`llama_benchy`], [`load_generators`], [`mlx_lm`], [`vllm`] other tools.
//! * [`foreign`] rows of other tools → rows of a result file.
//! * [`delimited`] lines of cells; [`instant`] dates and times.
//! * [`merge`] several documents → one result file.
//! * [`doubt`] what in a file cannot be true.
//! * [`overlay`] power readings of other instruments, laid over a run by time.

mod asiai;
mod bytes;
mod delimited;
mod documents;
mod doubt;
mod exo;
mod exo_log;
mod exo_others;
mod foreign;
mod instant;
mod llama_bench;
mod llama_benchy;
mod llama_table;
mod load_generators;
mod merge;
mod mlx_lm;
pub mod overlay;
mod sniff;
mod vllm;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::record::{self, Comparability, RecordError, ResultFile, Source};
use foreign::Found;
use sniff::{Format, Reader};

/// A file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The name it was given.
    pub name: String,
    /// What shape it was recognised as, in words.
    pub format: String,
    /// Its content.
    pub file: ResultFile,
    /// What a reader should know about the reading, a sentence each.
    pub notices: Vec<String>,
    /// Rows of `file.runs` that each document of the file gave, in order: one entry for an ordinary file. Every document
    /// is a session of its own.
    pub document_rows: Vec<usize>,
    /// Why it was recognised, in words: "its exoscope.format_version".
    pub reason: String,
    /// What its numbers can be set against.
    pub class: Comparability,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Nothing in it.
    #[error("{name}: the file is empty; the run that should have written it ended before its end")]
    Empty {
        /// The file.
        name: String,
    },
    /// No text that can be read, or packed so that it cannot be.
    #[error("{name}: {reason}")]
    Encoding {
        /// The file.
        name: String,
        /// What it is and what to do.
        reason: String,
    },
    /// JSON breaks off or is none.
    #[error("{name}: not JSON at line {line} column {column} ({reason}); {hint}")]
    NotJson {
        /// The file.
        name: String,
        /// From 1.
        line: usize,
        /// From 1; 0 at the end of a line.
        column: usize,
        /// The parser's words.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// JSON of another kind.
    #[error("{name}: {seems}; {hint}")]
    Foreign {
        /// The file.
        name: String,
        /// What it seems to be.
        seems: String,
        /// What to do.
        hint: &'static str,
    },
    /// A format that is known, with something missing or wrong in it.
    #[error("{name}: {format}, but {reason}")]
    Broken {
        /// The file.
        name: String,
        /// What it was recognised as.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A result file with something wrong in it.
    #[error("{name}: {source}")]
    Record {
        /// The file.
        name: String,
        /// What.
        source: RecordError,
    },
}

/// Reads a file. `name` is for the words only.
///
/// # Errors
/// [`ImportError`] names the file, what it seems to be, and what to do.
pub fn load(name: &str, bytes: &[u8]) -> Result<Loaded, ImportError> {
    let decoded = bytes::decode(name, bytes)?;
    let text = decoded.text.as_str();
    let (mut loaded, repeated) = match documents::read(name, text) {
        Ok(documents) => (from_documents(name, text, documents.values)?, documents.repeated),
        // Words and tables are no JSON; a log may begin like a list.
        Err(error) => (from_text(name, text, error)?, std::collections::BTreeMap::new()),
    };
    let mut notices = decoded.notices;
    if let Some((key, _)) = repeated.first_key_value() {
        let times: usize = repeated.values().sum();
        let others = if repeated.len() > 1 { format!(" and {} others", repeated.len() - 1) } else { String::new() };
        notices.push(format!(
            "the key {key:?}{others} stands twice in one object ({times} times in all); the last one counts"
        ));
    }
    notices.append(&mut loaded.notices);
    notices.extend(exo::oddities(&loaded.file));
    notices.extend(doubt::doubts(&loaded.file));
    loaded.notices = notices;
    Ok(loaded)
}

/// JSON of one format, or of exo's in several versions.
fn from_documents(name: &str, text: &str, documents: Vec<Value>) -> Result<Loaded, ImportError> {
    let foreign = |seems: String, hint| ImportError::Foreign { name: name.into(), seems, hint };
    let mut formats = Vec::with_capacity(documents.len());
    for document in &documents {
        let format = sniff::document(document).ok_or_else(|| {
            let (seems, hint) = sniff::unknown(document);
            foreign(seems, hint)
        })?;
        formats.push(format);
    }
    if formats.iter().all(|format| matches!(format.reader, Reader::Rows(_))) {
        return rows(name, documents, &formats);
    }
    let Some(first) = formats.first() else { return Err(ImportError::Empty { name: name.into() }) };
    if let Some(other) = formats.iter().find(|format| format.name != first.name) {
        let seems = format!("{} and {} in one file", first.name, other.name);
        return Err(foreign(seems, "split it, so that each file is of one kind"));
    }
    match &first.reader {
        Reader::Documents(_, import) => {
            let found = import(&documents).map_err(|reason| broken(name, first, reason))?;
            // A list is one document or the lines of JSON Lines.
            conclude(name, text, first, found, || Value::Array(documents.clone()))
        }
        Reader::Refused(_, hint) | Reader::RefusedText(_, hint) => Err(foreign(first.name.to_owned(), hint)),
        Reader::Text(..) | Reader::Rows(_) => Err(foreign(first.name.to_owned(), "take the original")),
    }
}

/// Text that is no JSON; `error` says where it is none, for a text that is nothing else either.
fn from_text(name: &str, text: &str, error: ImportError) -> Result<Loaded, ImportError> {
    let Some(format) = sniff::text(text) else { return Err(error) };
    match &format.reader {
        Reader::Text(_, import) => {
            let found = import(text).map_err(|reason| broken(name, format, reason))?;
            conclude(name, text, format, found, || Value::String(text.to_owned()))
        }
        Reader::RefusedText(_, hint) => {
            Err(ImportError::Foreign { name: name.into(), seems: format.name.to_owned(), hint })
        }
        _ => Err(error),
    }
}

fn broken(name: &str, format: &Format, reason: String) -> ImportError {
    ImportError::Broken { name: name.into(), format: format.name, reason }
}

/// An original up to this size is kept whole.
const ORIGINAL_KEPT: usize = 1_000_000;

fn conclude(
    name: &str,
    text: &str,
    format: &Format,
    mut found: Found,
    original: impl FnOnce() -> Value,
) -> Result<Loaded, ImportError> {
    let mut file = foreign::lay_down(&mut found);
    if file.runs.is_empty() && file.failures.is_empty() {
        return Err(broken(
            name,
            format,
            "it holds no measured request; take the file of a run that measured something".into(),
        ));
    }
    let class = found.class.unwrap_or(format.class);
    file.source = Some(Source {
        format: format.name.to_owned(),
        reason: format.reason.to_owned(),
        class,
        engine: found.engine,
        started_at: found.started_at,
        about: found.about,
        size_bytes: text.len() as u64,
        sha256: Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect(),
        original: (text.len() <= ORIGINAL_KEPT).then(original),
    });
    Ok(Loaded {
        name: name.into(),
        format: format.name.to_owned(),
        document_rows: vec![file.runs.len()],
        file,
        notices: found.notices,
        reason: format.reason.to_owned(),
        class,
    })
}

/// Documents with exo's rows, ours among them.
fn rows(name: &str, documents: Vec<Value>, formats: &[&Format]) -> Result<Loaded, ImportError> {
    let mut files = Vec::with_capacity(documents.len());
    let mut names: Vec<String> = Vec::new();
    let mut notices: Vec<String> = Vec::new();
    for document in documents {
        let (document, found) = if let Some(version) = document.pointer("/exoscope/format_version") {
            let format = format!("exoscope {version}");
            (document, exo::Found { format, notices: Vec::new() })
        } else if document.get("exoscope").is_some() || document.get("source").is_some() {
            (document, exo::Found { format: "exoscope".into(), notices: Vec::new() })
        } else if document.is_array() {
            let found = exo::describe(&document, exo::Top::List);
            (serde_json::json!({ "runs": document }), found)
        } else {
            let found = exo::describe(&document["runs"], exo::Top::Object);
            (document, found)
        };
        files.push(record::parse(document).map_err(|source| ImportError::Record { name: name.into(), source })?);
        push_new(&mut names, found.format);
        for notice in found.notices {
            push_new(&mut notices, notice);
        }
    }
    let document_rows: Vec<usize> = files.iter().map(|file| file.runs.len()).collect();
    let mut format = names.join(" and ");
    if files.len() > 1 {
        format = format!("{format}, {} documents", files.len());
    }
    let (file, merged) = merge::merge(files);
    notices.extend(merged);
    let class = file.source.as_ref().map_or(Comparability::Endpoint, |source| source.class);
    let reason = formats.first().map_or_else(String::new, |format| format.reason.to_owned());
    if let Some(source) = &file.source {
        format = source.format.clone();
    }
    Ok(Loaded { name: name.into(), format, file, notices, document_rows, reason, class })
}

fn push_new(list: &mut Vec<String>, entry: String) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}
