//! Bytes of any known shape → a result file, or a sentence that says why not.

use crate::record::ResultFile;

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
}
