//! How many atoms make a prompt of exactly N tokens.
//!
//! A prompt is one atom repeated, as in exo's bench, so that a shorter prompt is a textual prefix of a longer one. The
//! answer is exo's own (the smallest number of atoms that reaches the target) with fewer counts: [`search`]. Where the atom
//! jumps over the target, other atoms are tried, if the caller says so. [`trouble`] is why there is no such prompt.

mod search;
mod trouble;

use std::sync::Arc;

use self::search::{Counts, Reached};
pub use self::trouble::SizingError;
use super::tokenizer::{Tokenizer, TokenizerError};

/// A user message of a known length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What the user message says: the atom, repeated.
    pub content: String,
    /// The text that is repeated. Not always the one asked for: see [`Otherwise::TryOthers`].
    pub atom: String,
    /// Tokens of the message in its chat template, by a full count.
    pub tokens: u64,
    /// How often the atom stands in the content; 0 for the empty message.
    pub atoms: u64,
}

/// The most content that is tried. Ten million tokens, the longest context a model has been announced with (Llama 4
/// Scout), are 20 MB of the default atom; counting takes about a hundred times the text in memory.
const LONGEST_CONTENT: u64 = 32 << 20;
/// The atom of exo's bench.
pub const DEFAULT_ATOM: &str = "a ";
/// Atoms that are tried where another one overshoots, in this order; each is one that exo's bench or its error text names.
/// A line break is the last: many vocabularies have tokens for several of them, and many templates trim it.
const OTHER_ATOMS: [&str; 4] = [" a", DEFAULT_ATOM, "0 ", "\n"];

/// What to do where the atom cannot make a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// Say so, with an atom that can: the user chose this one.
    Refuse,
    /// Make the prompt of the first other atom that can, and say in [`Prompt::atom`] which.
    TryOthers,
}

/// Makes prompts of exactly N tokens of one atom.
#[derive(Debug)]
pub struct PromptSizer {
    tokenizer: Arc<Tokenizer>,
    atom: Atom,
    otherwise: Otherwise,
}

impl PromptSizer {
    /// Counts a few short messages. An atom that adds no tokens is an error, or gives way to another one.
    pub fn new(tokenizer: Arc<Tokenizer>, atom: &str, otherwise: Otherwise) -> Result<Self, SizingError> {
        let atom = match Atom::new(&tokenizer, atom) {
            Err(SizingError::AddsNothing { .. }) if otherwise == Otherwise::TryOthers => {
                let other = others(atom).find_map(|other| Atom::new(&tokenizer, other).ok());
                // Where no atom does it the one asked for is named.
                other.map_or_else(|| Atom::new(&tokenizer, atom), Ok)
            }
            tried => tried,
        }?;
        Ok(Self { tokenizer, atom, otherwise })
    }

    /// Tokens of an empty message: the smallest prompt there is.
    pub fn overhead(&self) -> u64 {
        self.tokenizer.overhead()
    }

    /// A prompt of exactly `target` tokens. The overhead itself gives the empty message.
    pub fn build(&self, target: u64) -> Result<Prompt, SizingError> {
        let overhead = self.overhead();
        if target < overhead {
            let reachable = self.atom.anchors.first_above(overhead);
            return Err(SizingError::BelowOverhead { target, overhead, reachable });
        }
        let reached = self.atom.reach(&self.tokenizer, target)?;
        if reached.tokens == target {
            return Ok(self.atom.prompt(reached));
        }
        let other = self.of_another_atom(target);
        match other {
            Some(prompt) if self.otherwise == Otherwise::TryOthers => Ok(prompt),
            other => Err(SizingError::Overshoot {
                target,
                atom: self.atom.text.clone(),
                atoms: reached.atoms,
                tokens: reached.tokens,
                instead: other.map(|prompt| prompt.atom),
            }),
        }
    }

    /// The error that counts is that of the atom asked for, so what goes wrong with the others is no error of its own.
    fn of_another_atom(&self, target: u64) -> Option<Prompt> {
        others(&self.atom.text).find_map(|other| {
            let atom = Atom::new(&self.tokenizer, other).ok()?;
            let reached = atom.reach(&self.tokenizer, target).ok()?;
            (reached.tokens == target).then(|| atom.prompt(reached))
        })
    }
}

fn others(atom: &str) -> impl Iterator<Item = &'static str> {
    OTHER_ATOMS.into_iter().filter(move |other| *other != atom)
}

/// A text to be repeated.
#[derive(Debug)]
struct Atom {
    text: String,
    /// Counts of a few small numbers of atoms, taken once: they show how many tokens an atom costs.
    anchors: Counts,
}

impl Atom {
    fn new(tokenizer: &Tokenizer, text: &str) -> Result<Self, SizingError> {
        if text.is_empty() {
            return Err(SizingError::EmptyAtom);
        }
        let overhead = tokenizer.overhead();
        let anchors = Counts::take(overhead, |atoms| count(tokenizer, text, atoms))?;
        let most = anchors.last();
        if most.tokens <= overhead {
            return Err(SizingError::AddsNothing { atom: text.to_owned(), atoms: most.atoms, overhead });
        }
        Ok(Self { text: text.to_owned(), anchors })
    }

    /// The smallest number of atoms that reaches the target, or, where that overshoots, another one that hits it.
    fn reach(&self, tokenizer: &Tokenizer, target: u64) -> Result<Reached, SizingError> {
        let most = LONGEST_CONTENT / self.text.len() as u64;
        let mut count = |atoms| count(tokenizer, &self.text, atoms);
        let found = search::guided(target, &self.anchors, most, &mut count)?;
        let found = found.ok_or_else(|| SizingError::TooLong {
            target,
            atom: self.text.clone(),
            limit: LONGEST_CONTENT >> 20,
        })?;
        if found.tokens == target {
            return Ok(found);
        }
        // Runs of spaces or line breaks can cost fewer tokens when there are more of them, so another way to halve may
        // end at another number of atoms. This is the way exo's bench halves.
        let halved = search::bisection(target, self.anchors.estimate(target).min(most), &mut count)?;
        Ok(if halved.tokens == target { halved } else { found })
    }

    fn prompt(&self, reached: Reached) -> Prompt {
        Prompt {
            content: repeated(&self.text, reached.atoms),
            atom: self.text.clone(),
            tokens: reached.tokens,
            atoms: reached.atoms,
        }
    }
}

fn count(tokenizer: &Tokenizer, atom: &str, atoms: u64) -> Result<u64, TokenizerError> {
    tokenizer.count(&repeated(atom, atoms))
}

fn repeated(atom: &str, atoms: u64) -> String {
    // The number of atoms is bounded by the longest content, far below what a usize holds.
    atom.repeat(usize::try_from(atoms).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::{Otherwise, Prompt, PromptSizer, SizingError, search};
    use crate::workload::Tokenizer;
    use crate::workload::files::TokenizerFiles;
    use crate::workload::template::LocalTime;

    fn sizer(folder: &str, atom: &str) -> Result<PromptSizer, SizingError> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/tokenizers").join(folder);
        PromptSizer::new(Arc::new(Tokenizer::load(&folder).unwrap()), atom, Otherwise::Refuse)
    }

    fn sentence<T: std::fmt::Debug>(result: Result<T, SizingError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_prompt_has_exactly_the_tokens_asked_for_by_a_count_of_its_own() {
        for folder in ["tiny", "begins-twice", "trims", "named-templates"] {
            let sizer = sizer(folder, "a ").unwrap();
            for target in [11, 12, 64, 512, 4096] {
                let prompt = sizer.build(target).unwrap();
                assert_eq!(prompt.tokens, target);
                assert_eq!(sizer.tokenizer.count(&prompt.content).unwrap(), target);
                assert_eq!(prompt.content, "a ".repeat(prompt.atoms as usize));
            }
        }
    }

    #[test]
    fn a_shorter_prompt_is_the_beginning_of_a_longer_one() {
        let sizer = sizer("tiny", "a ").unwrap();
        let [short, long] = [100, 1000].map(|target| sizer.build(target).unwrap().content);
        assert!(long.starts_with(&short));
    }

    #[test]
    fn the_overhead_itself_is_the_empty_message() {
        let sizer = sizer("tiny", "a ").unwrap();
        assert_eq!(
            sizer.build(sizer.overhead()).unwrap(),
            Prompt { content: String::new(), atom: "a ".to_owned(), tokens: 9, atoms: 0 }
        );
    }

    #[test]
    fn a_target_below_the_overhead_is_refused_with_the_shortest_that_works() {
        let expected = "--pp 4 is below the 9 tokens that the chat template adds to an empty message; ask for";
        assert_eq!(sentence(sizer("tiny", "a ").unwrap().build(4)), format!("{expected} 11 or more"));
        assert_eq!(sentence(sizer("trims", "a ").unwrap().build(4)), format!("{expected} 10 or more"));
    }

    #[test]
    fn a_target_that_the_atom_jumps_over_is_refused_with_a_length_and_an_atom_that_work() {
        let tiny = sizer("tiny", "a ").unwrap();
        assert_eq!(
            sentence(tiny.build(10)),
            "the atom \"a \" cannot make exactly 10 tokens with this tokenizer: 1 atom gives 11; try --pp 11 or --atom ' a'"
        );
        assert_eq!(sizer("tiny", " a").unwrap().build(10).unwrap().tokens, 10);
        // Seven tokens each, and so the others are needed to fill the gap.
        assert_eq!(
            sentence(sizer("tiny", "\u{1f600}\n").unwrap().build(30)),
            "the atom \"😀\\n\" cannot make exactly 30 tokens with this tokenizer: 5 atoms give 34; try --pp 34 or --atom \
             ' a'"
        );
    }

    #[test]
    fn an_atom_that_adds_nothing_is_refused_before_anything_is_divided_by_it() {
        for atom in [" ", "\n"] {
            assert_eq!(
                sentence(sizer("trims", atom)),
                format!(
                    "the atom {atom:?} adds no tokens: repeated 600 times it gives the same 9 tokens as an empty message, \
                     because the chat template trims it or the tokenizer drops it; try --atom 'a '"
                )
            );
        }
        assert_eq!(
            sentence(sizer("tiny", "")),
            "the atom is empty, so no number of them makes a prompt; try --atom 'a '"
        );
    }

    /// `target  atom → the atom of the prompt`, with the tiny tokenizer, where "a " costs a token more at its end.
    #[test]
    fn another_atom_is_taken_where_one_jumps_over_the_target_and_named_in_the_prompt() {
        let tokenizer = Arc::new(Tokenizer::built_in().unwrap());
        for (target, given, taken) in [
            (10, "a ", " a"),
            (11, "a ", "a "),
            (10, "0 ", " a"),
            // Seven tokens each.
            (30, "\u{1f600}\n", " a"),
        ] {
            let sizer = PromptSizer::new(Arc::clone(&tokenizer), given, Otherwise::TryOthers).unwrap();
            let prompt = sizer.build(target).unwrap();
            assert_eq!((prompt.atom.as_str(), prompt.tokens), (taken, target), "{given:?}");
            assert_eq!(prompt.content, taken.repeat(prompt.atoms as usize));
            assert_eq!(tokenizer.count(&prompt.content).unwrap(), target);
        }
    }

    #[test]
    fn another_atom_is_taken_where_one_adds_nothing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/tokenizers/trims");
        let tokenizer = Arc::new(Tokenizer::load(&folder).unwrap());
        let sizer = PromptSizer::new(tokenizer, "\n", Otherwise::TryOthers).unwrap();
        assert_eq!(sizer.build(12).unwrap().atom, " a");
    }

    #[test]
    fn where_no_atom_makes_the_target_the_one_asked_for_is_named() {
        // Each message twice: the overhead is even, and so is whatever is said.
        let mut files = TokenizerFiles::built_in().unwrap();
        files.template = Some("{{ messages[0].content }}<|turn|>{{ messages[0].content }}<|turn|>".to_owned());
        let tokenizer = Arc::new(Tokenizer::from_files(files, LocalTime::now()).unwrap());
        let sizer = PromptSizer::new(tokenizer, "a ", Otherwise::TryOthers).unwrap();
        assert_eq!(
            sentence(sizer.build(101)),
            "the atom \"a \" cannot make exactly 101 tokens with this tokenizer: 49 atoms give 102; try --pp 102"
        );
    }

    #[test]
    fn a_long_prompt_takes_one_long_count_and_three_short_ones() {
        for folder in ["tiny", "trims", "kimi"] {
            let sizer = sizer(folder, "a ").unwrap();
            let encodes = || sizer.tokenizer.encodes();
            assert_eq!(encodes(), 4, "the overhead, and 1, 100 and 600 atoms");
            let prompt = sizer.build(32_768).unwrap();
            assert_eq!((encodes(), prompt.tokens), (5, 32_768), "{folder}");
        }
    }

    #[test]
    fn a_length_that_no_memory_holds_is_refused_and_not_tried() {
        for target in [1 << 40, u64::MAX] {
            assert_eq!(
                sentence(sizer("tiny", "a ").unwrap().build(target)),
                format!("--pp {target} would need more than 32 MiB of the atom \"a \"; ask for fewer tokens")
            );
        }
    }

    #[test]
    fn the_answer_is_that_of_plain_halving() {
        for atom in ["a ", " a", "0 ", "hello world, ", "ab", "你好", "\n", " "] {
            let sizer = sizer("tiny", atom).unwrap();
            for target in (sizer.overhead()..200).step_by(7).chain([777, 1500]) {
                let mut count = |atoms| super::count(&sizer.tokenizer, atom, atoms);
                let halved = search::bisection(target, sizer.atom.anchors.estimate(target), &mut count).unwrap();
                match sizer.build(target) {
                    Ok(prompt) => assert_eq!((prompt.atoms, prompt.tokens), (halved.atoms, halved.tokens)),
                    Err(SizingError::Overshoot { atoms, tokens, .. }) => {
                        assert_eq!((atoms, tokens), (halved.atoms, halved.tokens));
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}
