//! Why a tokenizer cannot be used, in sentences.

use std::io;
use std::path::PathBuf;

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
        "{} has no tokenizer.json and no tiktoken.model; fetch the tokenizer there with: hf download MODEL-ID --include \
         \"*.json\" \"*.jinja\" \"tiktoken.model\" --local-dir {}",
        folder.display(), folder.display()
    )]
    NoVocabulary {
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// A vocabulary in a format that this build does not read.
    #[error(
        "{} has no tokenizer.json but {file}, {format}, which this build cannot read; convert it with: python -c \
         \"from transformers import AutoTokenizer as T; d = '{}'; T.from_pretrained(d, trust_remote_code=True).save_pretrained(d)\"",
        folder.display(), folder.display()
    )]
    OtherFormat {
        /// The folder that was searched.
        folder: PathBuf,
        /// The file that was found.
        file: String,
        /// What it is, in words.
        format: String,
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
    /// The file with the vocabulary can be read, but is not a tokenizer.
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
