//! The files of a tokenizer: read from a folder in the Hugging Face layout, or built in.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::trouble::TokenizerError;

/// The vocabulary and merges.
pub(crate) const TOKENIZER: &str = "tokenizer.json";
/// The vocabulary of Kimi: ranks in tiktoken's format.
pub(crate) const RANKS: &str = "tiktoken.model";
/// Other names of such a file end like this.
const RANKS_ENDING: &str = "tiktoken";
/// A vocabulary in sentencepiece's format, which this build refuses with a sentence that says how to convert it.
///
/// Every model family among exo's cards comes with one of the other two; what Python adds around a sentencepiece model
/// (prefix spaces, added tokens, the legacy flag) would have to be matched as well.
pub(crate) const SENTENCEPIECE: &str = "tokenizer.model";
/// Special tokens, and in most repositories the chat template.
pub(crate) const CONFIGURATION: &str = "tokenizer_config.json";
/// The chat template as a file of its own; beats the one in the configuration.
pub(crate) const TEMPLATE: &str = "chat_template.jinja";
/// Special tokens of repositories that were saved by old versions of transformers.
pub(crate) const SPECIAL_TOKENS: &str = "special_tokens_map.json";
/// What a vocabulary's file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// `tokenizer.json`.
    Json,
    /// A token in base64 and its rank on each line.
    Ranks,
}

/// The file that holds a vocabulary.
#[derive(Debug, Clone)]
pub(crate) struct VocabularyFile {
    /// Its name within the folder.
    pub(crate) name: String,
    /// How to read it.
    pub(crate) format: Format,
    /// What stands in it.
    pub(crate) bytes: Vec<u8>,
}

/// What stands in a tokenizer's folder.
#[derive(Debug, Clone)]
pub struct TokenizerFiles {
    /// Where the files are, for error messages.
    pub(crate) folder: PathBuf,
    /// The vocabulary.
    pub(crate) vocabulary: VocabularyFile,
    /// `tokenizer_config.json`; `None` where the folder has none.
    pub(crate) configuration: Option<Value>,
    /// `special_tokens_map.json`; `None` where the folder has none.
    pub(crate) special_tokens: Option<Value>,
    /// The text of `chat_template.jinja`; `None` where the folder has none.
    pub(crate) template: Option<String>,
    /// The model's id; `None` where it is not known.
    pub(crate) model_id: Option<String>,
}

impl TokenizerFiles {
    /// Reads a folder. A missing vocabulary is an error, which names a format that this build cannot read where it sees
    /// one; the remaining files may be absent. Of two vocabularies `tokenizer.json` is taken, as Python does.
    pub fn read(folder: &Path) -> Result<Self, TokenizerError> {
        if !folder.is_dir() {
            return Err(TokenizerError::NoFolder { folder: folder.to_owned() });
        }
        let vocabulary = vocabulary(folder)?;
        let template = match read_if_there(&folder.join(TEMPLATE))? {
            Some(bytes) => {
                let text = String::from_utf8(bytes);
                Some(text.map_err(|_| TokenizerError::NotText { path: folder.join(TEMPLATE) })?)
            }
            None => None,
        };
        Ok(Self {
            folder: folder.to_owned(),
            vocabulary,
            configuration: read_json(&folder.join(CONFIGURATION))?,
            special_tokens: read_json(&folder.join(SPECIAL_TOKENS))?,
            template,
            model_id: None,
        })
    }

    /// Says which model the files are of. It matters for those whose messages exo's server writes by code of its own,
    /// whatever template lies in the folder: DeepSeek V3.2 and V4.
    #[must_use]
    pub fn for_model(self, model_id: &str) -> Self {
        Self { model_id: Some(model_id.to_owned()), ..self }
    }

    /// The tiny tokenizer that comes with the program: for the simulated cluster and the tests, not for a real model.
    pub fn built_in() -> Result<Self, TokenizerError> {
        let configuration = include_bytes!("../../../fixtures/tokenizers/tiny/tokenizer_config.json");
        Ok(Self {
            folder: PathBuf::from("tiny"),
            vocabulary: VocabularyFile {
                name: TOKENIZER.to_owned(),
                format: Format::Json,
                bytes: include_bytes!("../../../fixtures/tokenizers/tiny/tokenizer.json").to_vec(),
            },
            configuration: Some(parse(Path::new("tiny").join(CONFIGURATION).as_path(), configuration)?),
            special_tokens: None,
            template: None,
            model_id: None,
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

/// The vocabulary of a folder, in the first format that is there.
fn vocabulary(folder: &Path) -> Result<VocabularyFile, TokenizerError> {
    if let Some(bytes) = read_if_there(&folder.join(TOKENIZER))? {
        return Ok(VocabularyFile { name: TOKENIZER.to_owned(), format: Format::Json, bytes });
    }
    let name = if folder.join(RANKS).is_file() { Some(RANKS.to_owned()) } else { other_ranks(folder)? };
    if let Some(name) = name
        && let Some(bytes) = read_if_there(&folder.join(&name))?
    {
        return Ok(VocabularyFile { name, format: Format::Ranks, bytes });
    }
    let folder = folder.to_owned();
    Err(if folder.join(SENTENCEPIECE).is_file() {
        let format = "a sentencepiece model".to_owned();
        TokenizerError::OtherFormat { folder, file: SENTENCEPIECE.to_owned(), format }
    } else {
        TokenizerError::NoVocabulary { folder }
    })
}

/// The first `*.tiktoken` by name.
fn other_ranks(folder: &Path) -> Result<Option<String>, TokenizerError> {
    let unreadable = |source| TokenizerError::Unreadable { path: folder.to_owned(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let name = PathBuf::from(entry.map_err(unreadable)?.file_name());
        if name.extension().is_some_and(|ending| ending == RANKS_ENDING) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(names.into_iter().min())
}

/// Whether a folder holds a vocabulary that can be read.
pub(crate) fn is_usable(folder: &Path) -> bool {
    // A folder that cannot be listed holds nothing for us; that is said where it is the only one.
    folder.join(TOKENIZER).is_file() || folder.join(RANKS).is_file() || matches!(other_ranks(folder), Ok(Some(_)))
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

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::TokenizerFiles;

    fn with(configuration: serde_json::Value, legacy: serde_json::Value) -> Vec<(String, String)> {
        let mut files = TokenizerFiles::built_in().unwrap();
        files.configuration = Some(configuration);
        files.special_tokens = Some(legacy);
        files.special_tokens()
    }

    #[test]
    fn special_tokens_are_strings_or_objects_and_null_is_absent() {
        let configuration = json!({
            "added_tokens_decoder": {},
            "bos_token": {"__type": "AddedToken", "content": "<s>"},
            "eos_token": "</s>",
            "unk_token": null,
            "add_bos_token": true,
            "extra_special_tokens": {"boi_token": "<image>"},
            "tokenizer_class": "LlamaTokenizerFast",
        });
        let tokens = with(configuration, json!({"bos_token": "ignored", "sep_token": "ignored"}));
        let named = [("boi_token", "<image>"), ("bos_token", "<s>"), ("eos_token", "</s>")];
        assert_eq!(tokens, named.map(|(name, token)| (name.to_owned(), token.to_owned())));
    }

    #[test]
    fn the_legacy_map_counts_where_the_configuration_lists_no_added_tokens() {
        let tokens = with(json!({"bos_token": "old"}), json!({"bos_token": {"content": "<s>"}}));
        assert_eq!(tokens, [("bos_token".to_owned(), "<s>".to_owned())]);
    }

    /// What a folder holds, and the sentence that reading it gives.
    #[test]
    fn a_folder_that_cannot_be_used_says_what_to_do() {
        let root = tempfile::tempdir().unwrap();
        let sentence = |files: &[(&str, &str)]| {
            let folder = root.path().join("model");
            fs::create_dir(&folder).unwrap();
            for (name, content) in files {
                fs::write(folder.join(name), content).unwrap();
            }
            let error = TokenizerFiles::read(&folder).unwrap_err().to_string();
            fs::remove_dir_all(&folder).unwrap();
            error.replace(&root.path().display().to_string(), "ROOT")
        };
        assert_eq!(
            sentence(&[]),
            "ROOT/model has no tokenizer.json and no tiktoken.model; fetch the tokenizer there with: hf download MODEL-ID \
             --include \"*.json\" \"*.jinja\" \"tiktoken.model\" --local-dir ROOT/model"
        );
        assert_eq!(
            sentence(&[("tokenizer.model", ""), ("tokenizer_config.json", "{}")]),
            "ROOT/model has no tokenizer.json but tokenizer.model, a sentencepiece model, which this build cannot read; \
             convert it with: python -c \"from transformers import AutoTokenizer as T; d = 'ROOT/model'; \
             T.from_pretrained(d, trust_remote_code=True).save_pretrained(d)\""
        );
        assert_eq!(
            sentence(&[("tokenizer.json", "{}"), ("tokenizer_config.json", "{\n  \"bos_token\": <s>\n}")]),
            "ROOT/model/tokenizer_config.json is not valid JSON: expected value at line 2 column 16; fetch it again"
        );
        let missing = TokenizerFiles::read(&root.path().join("nowhere")).unwrap_err().to_string();
        assert!(
            missing.ends_with(
                "nowhere is not a folder; give the folder that holds tokenizer.json and \
                                   tokenizer_config.json"
            ),
            "{missing}"
        );
    }
}
