//! Bytes of any known shape → a result file, or a sentence that says why not.
//!
//! * [`direct`] bytes → records where it is plainly a result file; the rest goes the long way:
//! * [`documents`] bytes → JSON documents: encodings, several documents in one file, where it broke.
//! * [`sniff`] what a document is, and what it only looks like.
//! * [`exo`] exo's own shapes, from the bare list of January 2026 on, with the caveats of each.
//! * [`merge`] several documents → one result file.

mod direct;
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
    let mut files = Vec::new();
    let mut formats: Vec<String> = Vec::new();
    let mut notices: Vec<String> = Vec::new();
    for (found, file) in direct(bytes).map_or_else(|| long(name, bytes), Ok)? {
        files.push(file);
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

/// The straight way, for what is plainly a result file.
fn direct(bytes: &[u8]) -> Option<Vec<(exo::Found, ResultFile)>> {
    let documents = direct::read(bytes)?.into_iter().map(|(shape, traits, file)| {
        let found = match shape {
            Shape::Exoscope => {
                let version = file.exoscope.as_ref().map_or(record::FORMAT_VERSION, |p| p.format_version);
                exo::Found { format: format!("exoscope {version}"), notices: Vec::new() }
            }
            Shape::ExoObject => exo::describe(traits, exo::Top::Object),
            Shape::ExoList | Shape::Foreign { .. } => exo::describe(traits, exo::Top::List),
        };
        (found, file)
    });
    Some(documents.collect())
}

/// The long way: documents first, so that what is wrong or foreign can be named.
fn long(name: &str, bytes: &[u8]) -> Result<Vec<(exo::Found, ResultFile)>, ImportError> {
    let mut files = Vec::new();
    for document in documents::read(name, bytes)? {
        let (document, found) = match sniff::shape(&document) {
            Shape::Exoscope => {
                let format = format!("exoscope {}", document["exoscope"]["format_version"]);
                (document, exo::Found { format, notices: Vec::new() })
            }
            Shape::ExoObject => {
                let found = exo::describe(exo::Traits::of(&document["runs"]), exo::Top::Object);
                (document, found)
            }
            Shape::ExoList => {
                let found = exo::describe(exo::Traits::of(&document), exo::Top::List);
                (serde_json::json!({ "runs": document }), found)
            }
            Shape::Foreign { seems, hint } => return Err(ImportError::Foreign { name: name.into(), seems, hint }),
        };
        let file = record::parse(document).map_err(|source| ImportError::Record { name: name.into(), source })?;
        files.push((found, file));
    }
    Ok(files)
}

fn push_new(list: &mut Vec<String>, entry: String) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::{direct, long};

    /// All fixtures that are results, also those that go the long way for a reason.
    #[test]
    fn the_straight_way_reads_what_the_long_way_reads() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/results");
        let mut straight = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let Some(found) = direct(&bytes) else { continue };
            straight += 1;
            let expected = long("f", &bytes).unwrap();
            assert_eq!(found.len(), expected.len(), "{}", path.display());
            for ((found, file), (other, expected)) in found.iter().zip(&expected) {
                assert_eq!((&found.format, &found.notices, file), (&other.format, &other.notices, expected));
            }
        }
        assert!(straight >= 15, "only {straight} files go the straight way");
    }

    #[test]
    fn what_is_no_result_file_goes_the_long_way() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/hostile");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            if long("f", &bytes).is_err() {
                assert!(direct(&bytes).is_none(), "{}", path.display());
            }
        }
    }
}
