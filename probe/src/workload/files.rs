//! The files of a tokenizer: read from a folder in the Hugging Face layout, or built in.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::tokenizer::TokenizerError;

/// The vocabulary and merges.
pub(crate) const TOKENIZER: &str = "tokenizer.json";
/// Special tokens, and in most repositories the chat template.
pub(crate) const CONFIGURATION: &str = "tokenizer_config.json";
/// The chat template as a file of its own; beats the one in the configuration.
pub(crate) const TEMPLATE: &str = "chat_template.jinja";
/// Special tokens of repositories that were saved by old versions of transformers.
const SPECIAL_TOKENS: &str = "special_tokens_map.json";
/// Other formats of a vocabulary, which this build cannot read, with what each is.
const OTHER_FORMATS: [(&str, &str); 2] =
    [("tiktoken.model", "a tiktoken rank file"), ("tokenizer.model", "a sentencepiece model")];

/// What stands in a tokenizer's folder.
#[derive(Debug, Clone)]
pub struct TokenizerFiles {
    /// Where the files are, for error messages.
    pub(crate) folder: PathBuf,
    /// The bytes of `tokenizer.json`.
    pub(crate) tokenizer: Vec<u8>,
    /// `tokenizer_config.json`; `None` where the folder has none.
    pub(crate) configuration: Option<Value>,
    /// `special_tokens_map.json`; `None` where the folder has none.
    pub(crate) special_tokens: Option<Value>,
    /// The text of `chat_template.jinja`; `None` where the folder has none.
    pub(crate) template: Option<String>,
}

impl TokenizerFiles {
    /// Reads a folder. A missing `tokenizer.json` is an error, which names the other formats where it sees them; the
    /// remaining files may be absent.
    pub fn read(folder: &Path) -> Result<Self, TokenizerError> {
        if !folder.is_dir() {
            return Err(TokenizerError::NoFolder { folder: folder.to_owned() });
        }
        let Some(tokenizer) = read_if_there(&folder.join(TOKENIZER))? else {
            return Err(match OTHER_FORMATS.iter().find(|(name, _)| folder.join(name).is_file()) {
                Some((file, format)) => TokenizerError::OtherFormat { folder: folder.to_owned(), file, format },
                None => TokenizerError::NoVocabulary { folder: folder.to_owned() },
            });
        };
        let template = match read_if_there(&folder.join(TEMPLATE))? {
            Some(bytes) => {
                let text = String::from_utf8(bytes);
                Some(text.map_err(|_| TokenizerError::NotText { path: folder.join(TEMPLATE) })?)
            }
            None => None,
        };
        Ok(Self {
            folder: folder.to_owned(),
            tokenizer,
            configuration: read_json(&folder.join(CONFIGURATION))?,
            special_tokens: read_json(&folder.join(SPECIAL_TOKENS))?,
            template,
        })
    }

    /// The tiny tokenizer that comes with the program: for the simulated cluster and the tests, not for a real model.
    pub fn built_in() -> Result<Self, TokenizerError> {
        let configuration = include_bytes!("../../../fixtures/tokenizers/tiny/tokenizer_config.json");
        Ok(Self {
            folder: PathBuf::from("tiny"),
            tokenizer: include_bytes!("../../../fixtures/tokenizers/tiny/tokenizer.json").to_vec(),
            configuration: Some(parse(Path::new("tiny").join(CONFIGURATION).as_path(), configuration)?),
            special_tokens: None,
            template: None,
        })
    }

    /// The special tokens by name (`bos_token`, `eos_token`, …), as transformers hands them to a template.
    ///
    /// Each is a string or an object with a `content`. One that is absent or null stays out: a template sees it as
    /// undefined, which it can test for and which prints as nothing.
    pub(crate) fn special_tokens(&self) -> Vec<(String, String)> {
        let configuration = self.configuration.as_ref();
        // The legacy file counts only where the configuration does not list the added tokens itself.
        let legacy = self.special_tokens.as_ref();
        let legacy = legacy.filter(|_| configuration.is_none_or(|known| known.get("added_tokens_decoder").is_none()));
        let nested = ["extra_special_tokens", "model_specific_special_tokens"];
        let sources = [configuration, legacy]
            .into_iter()
            .flatten()
            .flat_map(|source| nested.iter().map(|key| source.get(key)).chain([Some(source)]).flatten());

        let mut tokens: Vec<(String, String)> = Vec::new();
        for (name, value) in sources.filter_map(Value::as_object).flatten() {
            let content = value.as_str().or_else(|| value.get("content").and_then(Value::as_str));
            let Some(content) = content.filter(|_| name.ends_with("_token")) else { continue };
            match tokens.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => content.clone_into(known),
                None => tokens.push((name.clone(), content.to_owned())),
            }
        }
        tokens
    }
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, TokenizerError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(TokenizerError::Unreadable { path: path.to_owned(), source }),
    }
}

fn read_json(path: &Path) -> Result<Option<Value>, TokenizerError> {
    read_if_there(path)?.map(|bytes| parse(path, &bytes)).transpose()
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Value, TokenizerError> {
    serde_json::from_slice(bytes).map_err(|source| TokenizerError::Json { path: path.to_owned(), source })
}
