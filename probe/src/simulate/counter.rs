//! How many tokens a prompt has on the server.

use std::fmt;

/// Counts the tokens of a user message within the model's chat template.
///
/// The one place where a real tokenizer is plugged in: implement this for it and put it into
/// [`Settings::counter`](super::Settings::counter).
pub trait PromptCounter: Send + Sync + fmt::Debug {
    /// Tokens of one user message with this content, template included.
    ///
    /// # Errors
    /// When the text cannot be tokenised; the reason in words.
    fn count(&self, content: &str) -> Result<u64, String>;
}

/// Counts without a tokenizer: one token per word and one for a trailing space, on top of a template of 8. This is what
/// Qwen's tokenizer makes of exo's `"a a a "` prompts, and only of those.
#[derive(Debug, Clone, Copy, Default)]
pub struct WordCounter;

/// Tokens of Qwen 3's chat template around an empty user message.
const TEMPLATE: u64 = 8;

impl PromptCounter for WordCounter {
    fn count(&self, content: &str) -> Result<u64, String> {
        let words = content.split_whitespace().count() as u64;
        Ok(TEMPLATE + words + u64::from(content.ends_with(' ')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_prompts_have_the_recorded_counts() {
        // Recorded: 55 atoms are 64 tokens, "a a a" is 11.
        assert_eq!(WordCounter.count(&"a ".repeat(55)), Ok(64));
        assert_eq!(WordCounter.count("a a a"), Ok(11));
        assert_eq!(WordCounter.count(""), Ok(TEMPLATE));
    }
}
