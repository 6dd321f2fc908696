//! How many tokens a prompt has on the server.

use std::fmt;

use crate::workload::{Tokenizer, TokenizerError};

/// Counts the tokens of a user message within the model's chat template.
pub trait PromptCounter: Send + Sync + fmt::Debug {
    /// Tokens of one user message with this content, template included.
    ///
    /// # Errors
    /// When the text cannot be tokenised.
    fn count(&self, content: &str) -> Result<u64, TokenizerError>;
}

impl PromptCounter for Tokenizer {
    fn count(&self, content: &str) -> Result<u64, TokenizerError> {
        Tokenizer::count(self, content)
    }
}

/// The tokenizer that comes with the program, read at the first prompt. One that cannot be read fails each request, as a
/// model without its tokenizer does on a real server; a bare guess at the count would look like a measurement.
#[derive(Debug, Default)]
pub struct BuiltIn(std::sync::OnceLock<Tokenizer>);

impl PromptCounter for BuiltIn {
    fn count(&self, content: &str) -> Result<u64, TokenizerError> {
        let tokenizer = match self.0.get() {
            Some(tokenizer) => tokenizer,
            None => {
                let tokenizer = Tokenizer::built_in()?;
                self.0.get_or_init(|| tokenizer)
            }
        };
        Tokenizer::count(tokenizer, content)
    }
}

/// One token per word and one for a trailing space, on top of a template of 8: what Qwen's tokenizer makes of exo's
/// `"a a a "` prompts, for tests whose numbers can be checked by head.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct WordCounter;

#[cfg(test)]
impl PromptCounter for WordCounter {
    fn count(&self, content: &str) -> Result<u64, TokenizerError> {
        Ok(8 + content.split_whitespace().count() as u64 + u64::from(content.ends_with(' ')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_tokenizer_counts_as_the_bench_does() {
        let tokenizer = Tokenizer::built_in().unwrap();
        for content in ["", "a a a ", "naïve 模拟"] {
            assert_eq!(BuiltIn::default().count(content).unwrap(), tokenizer.count(content).unwrap(), "{content:?}");
        }
    }
}
