//! The tool, the host, the target and the tokenizer behind a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program that wrote a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// "exoscope".
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The machine that the probe ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// "macos", "linux", …
    pub os: String,
    /// "aarch64", "x86_64", …
    pub arch: String,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// "exo".
    pub engine: String,
    /// The engine's version; null where it does not tell.
    pub engine_version: Option<String>,
    /// Host and port that were asked.
    pub address: String,
    /// The model id in full.
    pub model_id: String,
    /// Quantization as the server names it; null where it does not.
    pub quantization: Option<String>,
}

/// The tokenizer that sized the prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenizerIdentity {
    /// How it was found: "--tokenizer", "exo models", "huggingface cache", "huggingface hub".
    pub source: String,
    /// The folder's own name (not its path); of a snapshot in the Hugging Face cache, the repository's.
    pub name: String,
    /// The commit of the Hugging Face repository that it was taken from; null where the folder does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// SHA-256 of tokenizer.json (or the model file), hex.
    pub sha256: String,
    /// Where the chat template came from: "chat_template.jinja", "tokenizer_config.json", or "fixed: deepseek" for what exo
    /// writes by code; its SHA-256 then is that of the text with `{content}` in the user's place.
    pub template_source: String,
    /// SHA-256 of the chat template, hex.
    pub template_sha256: String,
    /// Tokens that the template adds to an empty message.
    pub template_overhead_tokens: u64,
    /// The text that prompts are made of.
    pub atom: String,
}
