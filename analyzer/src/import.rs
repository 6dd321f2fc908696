//! Bytes of any known shape → a result file, or a sentence that says why not.
//!
//! * [`direct`] bytes → records where it is plainly a result file, read through a [`window`], the texts of rows [`shared`]; the rest goes the
//!   long way:
//! * [`bytes`] bytes → text: packing, encodings, and a bound on what comes out.
//! * [`documents`] text → JSON documents: several in one file, where it broke, keys that stand twice.
//! * [`failed_streams`] rows of zeros, which are failures.
//! * [`extent`] what a text would take as a tree of values, before it becomes one.
//! * [`sniff`] the table of formats: how each is recognised, its class, and who reads it.
//! * [`exo`] exo's own rows, from the bare list of January 2026 on, with the caveats of each.
//! * [`exo_log`] the console log of exo's bench; [`exo_others`] what its other benches wrote.
//! * [`aiperf`], [`asiai`], [`asiai_agentic`], [`guidellm`], [`inference_perf`], [`llama_bench`], [`llama_table`], [`llama_benchy`], [`mlx_lm`],
//!   [`vllm`] other tools.
//! * [`foreign`] rows of other tools → rows of a result file.
//! * [`delimited`] lines of cells; [`instant`] dates and times.
//! * [`unread`] what stands where a number should, and is none.
//! * [`merge`] several documents → one result file.
//! * [`doubt`] what in a file cannot be true.
//! * [`overlay`] power readings of other instruments, laid over a run by time.

mod aiperf;
mod asiai;
mod asiai_agentic;
mod bytes;
mod delimited;
mod direct;
mod documents;
mod doubt;
mod exo;
mod exo_log;
mod exo_others;
mod extent;
mod failed_streams;
mod foreign;
mod guidellm;
mod inference_perf;
pub(crate) mod instant;
mod llama_bench;
mod llama_benchy;
mod llama_table;
mod merge;
mod mlx_lm;
pub mod overlay;
mod shared;
mod sniff;
mod unread;
mod vllm;
mod window;

pub(crate) use foreign::per_second;
pub(crate) use merge::merge as together;

use std::collections::BTreeMap;
use std::io::{self, Read};

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
    /// Nothing: an empty list, which exo's client writes where no request succeeded, or a null.
    #[error("{name}: {seems}; {hint}")]
    Nothing {
        /// The file.
        name: String,
        /// What it is.
        seems: String,
        /// What to do.
        hint: &'static str,
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
    /// What a verb of this program wrote of result files.
    #[error("{name}: {what}; {hint}")]
    Output {
        /// The file.
        name: String,
        /// What it is, and which verb writes it.
        what: &'static str,
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

/// The text of a file, unpacked and decoded as [`load`] does it.
///
/// # Errors
/// [`ImportError`] for what is no text, and for JSON that would take too much memory.
pub fn text(name: &str, bytes: &[u8]) -> Result<String, ImportError> {
    let text = bytes::decode(name, bytes)?.text;
    bounded(name, &text)?;
    Ok(text.into_owned())
}

/// Reads a file. `name` is for the words only.
///
/// # Errors
/// [`ImportError`] names the file, what it seems to be, and what to do.
pub fn load(name: &str, bytes: &[u8]) -> Result<Loaded, ImportError> {
    let (loaded, repeated, notices) = match direct_of_bytes(name, bytes) {
        Some(loaded) => (loaded, BTreeMap::new(), Vec::new()),
        None => decoded(name, bytes)?,
    };
    Ok(noticed(loaded, &repeated, notices))
}

/// Reads what is plainly a result file piece by piece, so that its bytes are never in memory as a whole. None where it is
/// something else or something is wrong with it: [`load`] has to look at all its bytes.
///
/// # Errors
/// The source's own.
pub fn stream(name: &str, source: impl Read) -> io::Result<Option<Loaded>> {
    Ok(direct(name, source)?.map(|loaded| noticed(loaded, &BTreeMap::new(), Vec::new())))
}

/// Adds what a reader should know of the content.
fn noticed(mut loaded: Loaded, repeated: &BTreeMap<String, usize>, mut notices: Vec<String>) -> Loaded {
    if let Some((key, _)) = repeated.first_key_value() {
        let times = match repeated.values().sum::<usize>() {
            1 => "once in all".to_owned(),
            times => format!("{times} times in all"),
        };
        let others = match repeated.len() {
            1 => String::new(),
            2 => " and another".to_owned(),
            several => format!(" and {} others", several - 1),
        };
        let stand = if repeated.len() > 1 { "stand" } else { "stands" };
        notices.push(format!("the key {key:?}{others} {stand} twice in one object ({times}); the last one counts"));
    }
    notices.append(&mut loaded.notices);
    notices.extend(failed_streams::sift(&mut loaded));
    notices.extend(exo::oddities(&loaded.file));
    notices.extend(doubt::doubts(&loaded.file));
    loaded.notices = notices;
    loaded
}

/// What was read, the keys that stood twice, and what was done to get the text.
type Decoded = (Loaded, BTreeMap<String, usize>, Vec<String>);

/// The long way, by text and documents.
fn decoded(name: &str, bytes: &[u8]) -> Result<Decoded, ImportError> {
    let decoded = bytes::decode(name, bytes)?;
    let text: &str = &decoded.text;
    // Once unpacked it may be plainly a result file, too.
    let (loaded, repeated) = match direct_of_bytes(name, text.as_bytes()) {
        Some(loaded) => (loaded, BTreeMap::new()),
        None => from_text_or_documents(name, text)?,
    };
    Ok((loaded, repeated, decoded.notices))
}

fn from_text_or_documents(name: &str, text: &str) -> Result<(Loaded, BTreeMap<String, usize>), ImportError> {
    bounded(name, text)?;
    match documents::read(name, text) {
        Err(error) if documents::is_too_deep(&error) => Err(error),
        Ok(documents) => Ok((from_documents(name, text, documents.values)?, documents.repeated)),
        // Words and tables are no JSON; a log may begin like a list.
        Err(error) => Ok((from_text(name, text, error)?, BTreeMap::new())),
    }
}

/// Refuses JSON whose tree of values would take more memory than there may be.
fn bounded(name: &str, text: &str) -> Result<(), ImportError> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    if !is_json || extent::is_within(text.as_bytes()) {
        return Ok(());
    }
    let reason = format!(
        "it holds so many values that reading them would take more than {} of memory; split it, or take what holds the \
         results alone",
        extent::bound()
    );
    Err(ImportError::Encoding { name: name.into(), reason })
}

/// JSON of one format, or of exo's in several versions.
fn from_documents(name: &str, text: &str, documents: Vec<Value>) -> Result<Loaded, ImportError> {
    let foreign = |seems: String, hint| ImportError::Foreign { name: name.into(), seems, hint };
    let mut formats = Vec::with_capacity(documents.len());
    for document in &documents {
        let format = sniff::document(document).ok_or_else(|| {
            let (seems, hint) = sniff::unknown(document);
            if document.is_null() || document.as_array().is_some_and(Vec::is_empty) {
                return ImportError::Nothing { name: name.into(), seems, hint };
            }
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
        Reader::Output(_, hint) => Err(ImportError::Output { name: name.into(), what: first.name, hint }),
        Reader::Refused(_, hint) | Reader::RefusedText(_, hint) => Err(foreign(first.name.to_owned(), hint)),
        Reader::Text(..) | Reader::Rows(_) => Err(foreign(first.name.to_owned(), "take the original")),
    }
}

/// A line can be a row, which takes more than a thousand bytes.
const MOST_LINES: usize = 2_000_000;

/// Text that is no JSON; `error` says where it is none, for a text that is nothing else either.
fn from_text(name: &str, text: &str, error: ImportError) -> Result<Loaded, ImportError> {
    let Some(format) = sniff::text(text) else { return Err(error) };
    match &format.reader {
        Reader::Text(..) if text.lines().nth(MOST_LINES).is_some() => {
            Err(broken(name, format, format!("it has more than {} million lines; split it", MOST_LINES / 1_000_000)))
        }
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
        started_at: found.started_at.as_deref().map(instant::spelt),
        about: found.about,
        notices: found.notices.clone(),
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
    for document in documents {
        let (document, found) = if let Some(version) = document.pointer("/exoscope/format_version") {
            let format = format!("exoscope {version}");
            (document, exo::Found { format, notices: Vec::new() })
        } else if document.get("exoscope").is_some() || document.get("source").is_some() {
            (document, exo::Found { format: "exoscope".into(), notices: Vec::new() })
        } else if document.is_array() {
            let found = exo::describe(exo::Traits::of(&document), exo::Top::List);
            // Moved: the macro would copy all rows.
            let rows = serde_json::Map::from_iter([("runs".to_owned(), document)]);
            (Value::Object(rows), found)
        } else {
            let found = exo::describe(exo::Traits::of(&document["runs"]), exo::Top::Object);
            (document, found)
        };
        let file = record::parse(document).map_err(|source| ImportError::Record { name: name.into(), source })?;
        files.push((found, file));
    }
    let reason = formats.first().map_or_else(String::new, |format| format.reason.to_owned());
    Ok(put_together(name, files, reason))
}

/// The straight way, for what is plainly a result file.
fn direct(name: &str, source: impl Read) -> io::Result<Option<Loaded>> {
    let Some(documents) = direct::read(source)? else { return Ok(None) };
    let reason = documents.first().map_or("", |document| document.shape.reason());
    let files = documents.into_iter().map(|document| (document.shape.found(), document.file)).collect();
    Ok(Some(put_together(name, files, reason.to_owned())))
}

/// The same of bytes, which cannot fail to be read.
fn direct_of_bytes(name: &str, bytes: &[u8]) -> Option<Loaded> {
    direct(name, bytes).ok().flatten()
}

/// The documents of a file as one.
fn put_together(name: &str, documents: Vec<(exo::Found, ResultFile)>, reason: String) -> Loaded {
    let mut files = Vec::with_capacity(documents.len());
    let mut names: Vec<String> = Vec::new();
    let mut notices: Vec<String> = Vec::new();
    for (found, file) in documents {
        files.push(file);
        push_new(&mut names, found.format);
        for notice in found.notices {
            push_new(&mut notices, notice);
        }
    }
    let document_rows: Vec<usize> = files.iter().flat_map(merge::rows_of_documents).collect();
    let mut format = names.join(" and ");
    if files.len() > 1 {
        format = format!("{format}, {} documents", files.len());
    }
    let (file, merged) = merge::merge(files);
    notices.extend(merged);
    // What was found while the original was read holds for what was made of it, too.
    for notice in file.source.iter().flat_map(|source| &source.notices) {
        push_new(&mut notices, notice.clone());
    }
    for part in &file.merged {
        for notice in part.source.iter().flat_map(|source| &source.notices) {
            push_new(&mut notices, format!("{}: {notice}", part.name));
        }
    }
    let class = file.source.as_ref().map_or(Comparability::Endpoint, |source| source.class);
    if let Some(source) = &file.source {
        format = source.format.clone();
    }
    Loaded { name: name.into(), format, file, notices, document_rows, reason, class }
}

fn push_new(list: &mut Vec<String>, entry: String) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::{direct_of_bytes as direct, from_text_or_documents};

    fn fixtures(folder: &str) -> impl Iterator<Item = (String, Vec<u8>)> {
        let folder = format!("{}/../fixtures/{folder}", env!("CARGO_MANIFEST_DIR"));
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        paths.map(|path| (path.display().to_string(), std::fs::read(path).unwrap()))
    }

    /// All fixtures that are results; some go the long way for a reason.
    #[test]
    fn the_straight_way_reads_what_the_long_way_reads() {
        let mut straight = 0;
        for (name, bytes) in fixtures("results") {
            let Some(found) = direct("f", &bytes) else { continue };
            straight += 1;
            let text = String::from_utf8(bytes).unwrap();
            let (expected, repeated) = from_text_or_documents("f", text.trim_start_matches('\u{FEFF}')).unwrap();
            assert!(found == expected && repeated.is_empty(), "{name}");
        }
        assert!(straight >= 15, "only {straight} files go the straight way");
    }

    #[test]
    fn what_is_no_result_file_goes_the_long_way() {
        for (name, bytes) in fixtures("hostile").chain(fixtures("imports")) {
            let Some(found) = direct("f", &bytes) else { continue };
            let text = String::from_utf8(bytes).unwrap();
            let (expected, _) = from_text_or_documents("f", &text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(found == expected, "{name}");
        }
    }
}
