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
            "ROOT/model has no tokenizer.json; fetch the tokenizer there with: hf download MODEL-ID --include \"*.json\" \
             \"*.jinja\" --local-dir ROOT/model"
        );
        for (file, format) in [("tiktoken.model", "a tiktoken rank file"), ("tokenizer.model", "a sentencepiece model")]
        {
            assert_eq!(
                sentence(&[(file, ""), ("tokenizer_config.json", "{}")]),
                format!(
                    "ROOT/model has no tokenizer.json but {file}, {format}, which is not supported yet; convert it \
                     with: python -c \"from transformers import AutoTokenizer as T; d = 'ROOT/model'; \
                     T.from_pretrained(d, trust_remote_code=True).save_pretrained(d)\""
                )
            );
        }
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
