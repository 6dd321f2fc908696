//! A model's tokenizer together with its chat template: text in, token count out.

use std::io;
use std::path::{Path, PathBuf};

use analyzer::record::TokenizerIdentity;
use sha2::{Digest as _, Sha256};

use super::files::{TOKENIZER, TokenizerFiles};
use super::template::{ChatTemplate, LocalTime};

/// Why a tokenizer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// The path is not a folder.
    #[error("{} is not a folder; give the folder that holds tokenizer.json and tokenizer_config.json", folder.display())]
    NoFolder {
        /// The path that was given.
        folder: PathBuf,
    },
    /// No file with a vocabulary.
    #[error(
        "{} has no tokenizer.json; fetch the tokenizer there with: hf download MODEL-ID --include \"*.json\" \
         \"*.jinja\" --local-dir {}",
        folder.display(), folder.display()
    )]
    NoVocabulary {
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// A vocabulary in a format that this build does not read.
    #[error(
        "{} has no tokenizer.json but {file}, {format}, which is not supported yet; convert it with: python -c \
         \"from transformers import AutoTokenizer as T; d = '{}'; T.from_pretrained(d, trust_remote_code=True).save_pretrained(d)\"",
        folder.display(), folder.display()
    )]
    OtherFormat {
        /// The folder that was searched.
        folder: PathBuf,
        /// The file that was found.
        file: &'static str,
        /// What it is, in words.
        format: &'static str,
    },
    /// A file that is there cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file is not UTF-8.
    #[error("{} is not text in UTF-8; fetch it again", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A file is not JSON; the source names line and column.
    #[error("{} is not valid JSON: {source}; fetch it again", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The reason, with line and column.
        source: serde_json::Error,
    },
    /// `tokenizer.json` is JSON, but not a tokenizer.
    #[error("{} is not a tokenizer that this build understands: {reason}", path.display())]
    Vocabulary {
        /// The file.
        path: PathBuf,
        /// The library's reason.
        reason: String,
    },
    /// No chat template anywhere.
    #[error(
        "{} has no chat template (looked for chat_template.jinja and for chat_template in tokenizer_config.json); \
         models without one are not supported yet, so fetch the instruction-tuned model's own files or put its template \
         there as chat_template.jinja",
        folder.display()
    )]
    NoTemplate {
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// A list of named templates without a default one.
    #[error("the chat templates in {} are named {names}, and none is named default", folder.display())]
    NoDefaultTemplate {
        /// The folder.
        folder: PathBuf,
        /// The names there are, separated by commas.
        names: String,
    },
    /// The template does not compile.
    #[error("the chat template in {} has an error in line {line}: {reason}", path.display())]
    Template {
        /// The file that the template came from.
        path: PathBuf,
        /// 1-based, within the template's own text.
        line: usize,
        /// The engine's reason.
        reason: String,
    },
    /// The template refused the message by its own `raise_exception`.
    #[error("the chat template in {} refuses a single user message: {message}", path.display())]
    Refused {
        /// The file that the template came from.
        path: PathBuf,
        /// The template's own words.
        message: String,
    },
    /// The vocabulary cannot encode a text.
    #[error("{} cannot encode the prompt: {reason}", path.display())]
    Encode {
        /// The tokenizer's file.
        path: PathBuf,
        /// The library's reason.
        reason: String,
    },
}

/// A loaded tokenizer and the chat template beside it. Safe to share between threads.
pub struct Tokenizer {
    vocabulary: tokenizers::Tokenizer,
    template: ChatTemplate,
    folder: PathBuf,
    sha256: String,
    overhead: u64,
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Tokenizer")
            .field("folder", &self.folder)
            .field("sha256", &self.sha256)
            .finish_non_exhaustive()
    }
}

impl Tokenizer {
    /// Loads `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja` from a folder.
    ///
    /// Templates that print the date (`strftime_now`) see the local date of this call for as long as the value lives:
    /// a count must not change at midnight in the middle of a run. A template that cannot render an empty user message
    /// is an error here rather than at the first prompt.
    pub fn load(folder: &Path) -> Result<Self, TokenizerError> {
        Self::from_files(TokenizerFiles::read(folder)?, LocalTime::now())
    }

    /// The tiny tokenizer that comes with the program, for the simulated cluster and the tests.
    pub fn built_in() -> Result<Self, TokenizerError> {
        Self::from_files(TokenizerFiles::built_in()?, LocalTime::now())
    }

    /// Makes a tokenizer of files that are already read, with the date that its template shall see.
    pub fn from_files(files: TokenizerFiles, date: LocalTime) -> Result<Self, TokenizerError> {
        let template = ChatTemplate::of(&files, date)?;
        let path = files.folder.join(TOKENIZER);
        let mut vocabulary = tokenizers::Tokenizer::from_bytes(&files.tokenizer).map_err(|reason| {
            match reason.downcast::<serde_json::Error>() {
                Ok(source) if source.is_syntax() || source.is_eof() => {
                    TokenizerError::Json { path: path.clone(), source: *source }
                }
                Ok(source) => TokenizerError::Vocabulary { path: path.clone(), reason: source.to_string() },
                Err(reason) => TokenizerError::Vocabulary { path: path.clone(), reason: reason.to_string() },
            }
        })?;
        // Either would make a count lie: a long prompt would be cut, a short one filled up.
        vocabulary
            .with_truncation(None)
            .map_err(|reason| TokenizerError::Vocabulary { path, reason: reason.to_string() })?;
        vocabulary.with_padding(None);

        let sha256 = hex_of_sha256(&files.tokenizer);
        let mut tokenizer = Self { vocabulary, template, folder: files.folder, sha256, overhead: 0 };
        tokenizer.overhead = tokenizer.count("")?;
        Ok(tokenizer)
    }

    /// The prompt as the model sees it: one user message in the chat template, with the generation prompt added.
    pub fn render(&self, content: &str) -> Result<String, TokenizerError> {
        self.template.render(content)
    }

    /// The ids of a rendered message.
    pub fn ids(&self, content: &str) -> Result<Vec<u32>, TokenizerError> {
        Ok(self.encode(content)?.get_ids().to_vec())
    }

    /// The number of tokens of a rendered message: the template's own and the content's.
    pub fn count(&self, content: &str) -> Result<u64, TokenizerError> {
        Ok(self.encode(content)?.len() as u64)
    }

    /// Tokens that the template adds to an empty message.
    pub fn overhead(&self) -> u64 {
        self.overhead
    }

    /// What a result file says about this tokenizer.
    pub fn identity(&self, source: &str, atom: &str) -> TokenizerIdentity {
        let name = self.folder.file_name().unwrap_or(self.folder.as_os_str());
        TokenizerIdentity {
            source: source.to_owned(),
            name: name.to_string_lossy().into_owned(),
            sha256: self.sha256.clone(),
            template_source: self.template.source().to_owned(),
            template_sha256: hex_of_sha256(self.template.text().as_bytes()),
            template_overhead_tokens: self.overhead,
            atom: atom.to_owned(),
        }
    }

    fn encode(&self, content: &str) -> Result<tokenizers::Encoding, TokenizerError> {
        let rendered = self.render(content)?;
        // No special tokens from the post-processor: the template has written its own, and a second BOS would count.
        self.vocabulary
            .encode_fast(rendered, false)
            .map_err(|reason| TokenizerError::Encode { path: self.folder.join(TOKENIZER), reason: reason.to_string() })
    }
}

fn hex_of_sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{LocalTime, Tokenizer, TokenizerFiles};

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/tokenizers").join(name)
    }

    fn load(name: &str) -> Tokenizer {
        Tokenizer::load(&fixture(name)).unwrap()
    }

    fn counts(tokenizer: &Tokenizer) -> [u64; 5] {
        [0, 1, 2, 3, 100].map(|atoms| tokenizer.count(&"a ".repeat(atoms)).unwrap())
    }

    #[test]
    fn the_built_in_tokenizer_counts_its_template_and_one_token_per_atom() {
        let tokenizer = Tokenizer::built_in().unwrap();
        let expected = "<|begin|><|turn|>user\na a <|end|>\n<|turn|>assistant\n";
        assert_eq!(tokenizer.render("a a ").unwrap(), expected);
        // begin, turn, user, line break, end, line break, turn, assistant, line break
        assert_eq!(tokenizer.overhead(), 9);
        // One for each atom and one for the space at the end.
        assert_eq!(counts(&tokenizer), [9, 11, 12, 13, 110]);
    }

    /// Its post-processor would add a second begin token, its truncation would cut at 16, its padding fill up to 64.
    #[test]
    fn a_count_is_free_of_post_processor_truncation_and_padding() {
        let tokenizer = load("begins-twice");
        assert_eq!(counts(&tokenizer), counts(&load("tiny")));
        let begin = tokenizer.ids("").unwrap()[0];
        assert_eq!(tokenizer.ids("a ").unwrap().iter().filter(|id| **id == begin).count(), 1);
    }

    #[test]
    fn the_template_file_beats_the_configuration_and_may_trim() {
        let tokenizer = load("trims");
        assert_eq!(counts(&tokenizer), [9, 10, 11, 12, 109]);
        assert_eq!(tokenizer.identity("--tokenizer", "a ").template_source, "chat_template.jinja");
    }

    #[test]
    fn of_several_named_templates_the_default_one_is_taken_and_an_absent_begin_token_prints_nothing() {
        let tokenizer = load("named-templates");
        assert_eq!(tokenizer.render("x").unwrap(), "<|turn|>user\nx<|end|>\n<|turn|>assistant\n");
        assert_eq!(tokenizer.overhead(), 8);
    }

    #[test]
    fn a_special_token_in_the_content_is_one_token_as_in_python() {
        let tokenizer = load("tiny");
        assert_eq!(tokenizer.count("<|turn|>").unwrap(), tokenizer.overhead() + 1);
    }

    #[test]
    fn a_model_without_a_template_says_where_one_was_looked_for() {
        let error = Tokenizer::load(&fixture("no-template")).unwrap_err().to_string();
        assert!(
            error.contains("no-template has no chat template (looked for chat_template.jinja and for chat_template in"),
            "{error}"
        );
    }

    #[test]
    fn named_templates_without_a_default_are_listed() {
        let mut files = TokenizerFiles::built_in().unwrap();
        let named = serde_json::json!([{"name": "rag", "template": ""}, {"name": "tool_use", "template": ""}]);
        files.configuration = Some(serde_json::json!({ "chat_template": named }));
        assert_eq!(
            Tokenizer::from_files(files, LocalTime::now()).unwrap_err().to_string(),
            "the chat templates in tiny are named rag, tool_use, and none is named default"
        );
    }

    #[test]
    fn a_broken_vocabulary_is_named_with_line_and_column() {
        for (content, expected) in [
            (
                "{\n \"model\": }",
                "tiny/tokenizer.json is not valid JSON: expected value at line 2 column 11; fetch it again",
            ),
            (
                "{\"model\":",
                "tiny/tokenizer.json is not valid JSON: EOF while parsing a value at line 1 column 9; fetch it again",
            ),
            ("{\"version\": \"1.0\"}", "tiny/tokenizer.json is not a tokenizer that this build understands: "),
        ] {
            let mut files = TokenizerFiles::built_in().unwrap();
            files.tokenizer = content.as_bytes().to_vec();
            let error = Tokenizer::from_files(files, LocalTime::now()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_identity_names_the_folder_and_never_its_path() {
        let identity = load("tiny").identity("exo models", "a ");
        assert_eq!((identity.name.as_str(), identity.source.as_str()), ("tiny", "exo models"));
        assert_eq!(identity.template_source, "tokenizer_config.json");
        assert_eq!(identity.template_overhead_tokens, 9);
        assert_eq!(identity.sha256.len(), 64);
        assert_ne!(identity.sha256, identity.template_sha256);
    }
}
