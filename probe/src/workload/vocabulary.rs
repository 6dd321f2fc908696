//! The vocabulary behind a tokenizer: rendered text in, ids out, whatever the file's format.
//!
//! [`ranks`] is Kimi's format; `tokenizer.json` is read by the library that Python's transformers uses.

mod ranks;

use std::path::{Path, PathBuf};

use self::ranks::Ranks;
use super::files::{Format, TokenizerFiles};
use super::trouble::TokenizerError;

/// A vocabulary of either kind, ready to encode.
pub(crate) struct Vocabulary {
    engine: Engine,
    /// The file, for error messages.
    path: PathBuf,
}

/// What encodes. Boxed, so that neither is as large as the other.
enum Engine {
    /// `tokenizer.json`.
    Json(Box<tokenizers::Tokenizer>),
    /// A tiktoken rank file.
    Ranks(Box<Ranks>),
}

impl Vocabulary {
    /// Reads the vocabulary of a folder's files.
    pub(crate) fn of(files: &TokenizerFiles) -> Result<Self, TokenizerError> {
        let path = files.folder.join(&files.vocabulary.name);
        let engine = match files.vocabulary.format {
            Format::Json => Engine::Json(Box::new(json(&files.vocabulary.bytes, &path)?)),
            Format::Ranks => Engine::Ranks(Box::new(Ranks::of(files, &path)?)),
        };
        Ok(Self { engine, path })
    }

    /// The ids of a rendered text. What reads like a special token is one, as in exo's bench and its server.
    pub(crate) fn ids(&self, rendered: String) -> Result<Vec<u32>, TokenizerError> {
        let encoded = match &self.engine {
            Engine::Json(json) => encode(json, rendered).map(|encoded| encoded.get_ids().to_vec()),
            Engine::Ranks(ranks) => ranks.ids(&rendered),
        };
        encoded.map_err(|reason| TokenizerError::Encode { path: self.path.clone(), reason })
    }

    /// The number of those ids.
    pub(crate) fn count(&self, rendered: String) -> Result<u64, TokenizerError> {
        let counted = match &self.engine {
            Engine::Json(json) => encode(json, rendered).map(|encoded| encoded.len()),
            Engine::Ranks(ranks) => ranks.ids(&rendered).map(|ids| ids.len()),
        };
        let counted = counted.map_err(|reason| TokenizerError::Encode { path: self.path.clone(), reason })?;
        Ok(counted as u64)
    }
}

fn encode(json: &tokenizers::Tokenizer, rendered: String) -> Result<tokenizers::Encoding, String> {
    // No special tokens from the post-processor: the template has written its own, and a second BOS would count.
    json.encode_fast(rendered, false).map_err(|reason| reason.to_string())
}

fn json(bytes: &[u8], path: &Path) -> Result<tokenizers::Tokenizer, TokenizerError> {
    let no_tokenizer = |reason: String| TokenizerError::Vocabulary { path: path.to_owned(), reason };
    let mut vocabulary =
        tokenizers::Tokenizer::from_bytes(bytes).map_err(|reason| match reason.downcast::<serde_json::Error>() {
            Ok(source) if source.is_syntax() || source.is_eof() => {
                TokenizerError::Json { path: path.to_owned(), source: *source }
            }
            Ok(source) => no_tokenizer(source.to_string()),
            Err(reason) => no_tokenizer(reason.to_string()),
        })?;
    // Either would make a count lie: a long prompt would be cut, a short one filled up.
    vocabulary.with_truncation(None).map_err(|reason| no_tokenizer(reason.to_string()))?;
    vocabulary.with_padding(None);
    Ok(vocabulary)
}
