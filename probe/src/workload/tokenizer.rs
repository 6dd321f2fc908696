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
         \"from transformers import AutoTokenizer as T; d = '{}'; T.from_pretrained(d).save_pretrained(d)\"",
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
    use super::Tokenizer;

    #[test]
    fn the_built_in_tokenizer_counts_its_template_and_one_token_per_atom() {
        let tokenizer = Tokenizer::built_in().unwrap();
        let expected = "<|begin|><|turn|>user\na a <|end|>\n<|turn|>assistant\n";
        assert_eq!(tokenizer.render("a a ").unwrap(), expected);
        // begin, turn, user, line break, end, line break, turn, assistant, line break
        assert_eq!(tokenizer.overhead(), 9);
        // One for each atom and one for the space at the end.
        let counts = [1, 2, 3, 50].map(|atoms| tokenizer.count(&"a ".repeat(atoms)).unwrap());
        assert_eq!(counts, [11, 12, 13, 60]);
    }
}
