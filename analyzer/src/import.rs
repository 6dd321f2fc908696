//! Bytes of any known shape → a result file, or a sentence that says why not.
//!
//! * [`documents`] bytes → JSON documents: encodings, several documents in one file, where it broke.
//! * [`sniff`] what a document is, and what it only looks like.
//! * [`exo`] exo's own shapes, from the bare list of January 2026 on, with the caveats of each.
//! * [`merge`] several documents → one result file.

mod documents;
mod exo;
mod merge;
mod sniff;

pub(crate) use merge::merge as together;

use crate::record::{self, RecordError, ResultFile};
use sniff::Shape;

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
    /// Not UTF-8, or packed.
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
    let documents = documents::read(name, bytes)?;
    let mut files = Vec::with_capacity(documents.len());
    let mut formats: Vec<String> = Vec::new();
    let mut notices: Vec<String> = Vec::new();
    for document in documents {
        let (document, found) = match sniff::shape(&document) {
            Shape::Exoscope => {
                let format = format!("exoscope {}", document["exoscope"]["format_version"]);
                (document, exo::Found { format, notices: Vec::new() })
            }
            Shape::ExoObject => {
                let found = exo::describe(&document["runs"], exo::Top::Object);
                (document, found)
            }
            Shape::ExoList => {
                let found = exo::describe(&document, exo::Top::List);
                (serde_json::json!({ "runs": document }), found)
            }
            Shape::Foreign { seems, hint } => return Err(ImportError::Foreign { name: name.into(), seems, hint }),
        };
        files.push(record::parse(document).map_err(|source| ImportError::Record { name: name.into(), source })?);
        push_new(&mut formats, found.format);
        for notice in found.notices {
            push_new(&mut notices, notice);
        }
    }
    let document_rows: Vec<usize> = files.iter().flat_map(merge::rows_of_documents).collect();
    let mut format = formats.join(" and ");
    if files.len() > 1 {
        format = format!("{format}, {} documents", files.len());
    }
    let (file, merged) = merge::merge(files);
    notices.extend(merged);
    notices.extend(exo::oddities(&file));
    Ok(Loaded { name: name.into(), format, file, notices, document_rows })
}

fn push_new(list: &mut Vec<String>, entry: String) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}
