//! The prefix cache of one engine, with the meanings exo's has.

use super::counter::PromptCounter;

/// The tail of the chat template, which an unfinished prompt cannot have in the cache.
const TEMPLATE_TAIL: u64 = 5;

/// What the cache had of a prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Hit {
    /// Nothing, or the request did not ask.
    None,
    /// The first tokens of it.
    Partial {
        /// How many.
        cached: u64,
    },
    /// All of it. exo then answers the prompt rate of the run that filled the entry: not a measurement of this request.
    Exact {
        /// Two tokens less than the prompt: exo always works out the last ones anew.
        cached: u64,
        /// The rate that is copied.
        prompt_tps: f64,
    },
}

impl Hit {
    /// exo's word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial { .. } => "partial",
            Self::Exact { .. } => "exact",
        }
    }

    /// Prompt tokens that need not be worked out.
    pub(super) fn cached(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Partial { cached } | Self::Exact { cached, .. } => cached,
        }
    }
}

#[derive(Debug)]
struct Entry {
    content: String,
    prompt_tps: f64,
}

/// The prompts seen by requests that asked for the cache.
#[derive(Debug, Default)]
pub(super) struct PrefixCache {
    entries: Vec<Entry>,
}

impl PrefixCache {
    /// What is known of a prompt of `tokens` tokens.
    pub(super) fn look_up(&self, content: &str, tokens: u64, counter: &dyn PromptCounter) -> Hit {
        if let Some(entry) = self.entries.iter().find(|entry| entry.content == content) {
            return Hit::Exact { cached: tokens.saturating_sub(2), prompt_tps: entry.prompt_tps };
        }
        let shared =
            self.entries.iter().map(|entry| shared_prefix(&entry.content, content)).max_by_key(|text| text.len());
        // Text in common is counted as the beginning of a prompt; what cannot be counted is not in the cache.
        let cached = match shared.filter(|text| !text.is_empty()).map(|text| counter.count(text)) {
            Some(Ok(count)) => count.saturating_sub(TEMPLATE_TAIL).min(tokens.saturating_sub(2)),
            Some(Err(_)) | None => 0,
        };
        if cached == 0 { Hit::None } else { Hit::Partial { cached } }
    }

    /// Remembers a prompt and the rate at which it was worked out.
    pub(super) fn remember(&mut self, content: &str, prompt_tps: f64) {
        if !self.entries.iter().any(|entry| entry.content == content) {
            self.entries.push(Entry { content: content.to_owned(), prompt_tps });
        }
    }
}

fn shared_prefix<'a>(one: &str, other: &'a str) -> &'a str {
    let ends = other.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let shared = ends.zip(one.chars().zip(other.chars())).take_while(|(_, (a, b))| a == b).map(|(end, _)| end).last();
    shared.map_or("", |end| &other[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::counter::WordCounter;

    #[test]
    fn none_then_exact_with_the_copied_rate_then_partial() {
        let mut cache = PrefixCache::default();
        let first = "a ".repeat(55);
        assert_eq!(cache.look_up(&first, 64, &WordCounter), Hit::None);
        cache.remember(&first, 123.5);
        assert_eq!(cache.look_up(&first, 64, &WordCounter), Hit::Exact { cached: 62, prompt_tps: 123.5 });
        let longer = "a ".repeat(119);
        assert_eq!(cache.look_up(&longer, 128, &WordCounter), Hit::Partial { cached: 64 - TEMPLATE_TAIL });
        assert_eq!(cache.look_up("b", 9, &WordCounter), Hit::None);
    }

    #[test]
    fn the_first_rate_of_a_prompt_stays() {
        let mut cache = PrefixCache::default();
        cache.remember("a", 1.0);
        cache.remember("a", 2.0);
        assert_eq!(cache.look_up("a", 9, &WordCounter), Hit::Exact { cached: 7, prompt_tps: 1.0 });
    }

    #[test]
    fn a_shared_prefix_ends_between_letters() {
        assert_eq!(shared_prefix("aéx", "aéy"), "aé");
        assert_eq!(shared_prefix("", "a"), "");
        assert_eq!(shared_prefix("é", "è"), "");
    }
}
