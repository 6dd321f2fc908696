//! Why there is no prompt of a length, in sentences with what would work.

use crate::workload::trouble::TokenizerError;

/// Why there is no prompt of the length asked for.
#[derive(Debug, thiserror::Error)]
pub enum SizingError {
    /// Fewer tokens than the template alone has.
    #[error(
        "--pp {target} is below the {overhead} tokens that the chat template adds to an empty message; ask for \
         {reachable} or more"
    )]
    BelowOverhead {
        /// Tokens asked for.
        target: u64,
        /// Tokens of an empty message.
        overhead: u64,
        /// Tokens of one atom: the shortest prompt that says something.
        reachable: u64,
    },
    /// No number of atoms gives the target.
    #[error(
        "the atom {atom:?} cannot make exactly {target} tokens with this tokenizer: {atoms} {} {tokens}; try --pp \
         {tokens}{}",
        if *.atoms == 1 { "atom gives" } else { "atoms give" },
        .instead.as_ref().map(|atom| format!(" or --atom {}", quoted(atom))).unwrap_or_default()
    )]
    Overshoot {
        /// Tokens asked for.
        target: u64,
        /// The atom.
        atom: String,
        /// The smallest number of atoms that reaches the target …
        atoms: u64,
        /// … and the tokens it gives, more than asked for.
        tokens: u64,
        /// Another atom that was counted to give exactly the target; `None` where none of those tried does.
        instead: Option<String>,
    },
    /// The atom vanishes: a template that trims, or a tokenizer that drops it.
    #[error(
        "the atom {atom:?} adds no tokens: repeated {atoms} times it gives the same {overhead} tokens as an empty \
         message, because the chat template trims it or the tokenizer drops it; try --atom 'a '"
    )]
    AddsNothing {
        /// The atom.
        atom: String,
        /// How often it was repeated.
        atoms: u64,
        /// Tokens of an empty message.
        overhead: u64,
    },
    /// The atom is the empty text.
    #[error("the atom is empty, so no number of them makes a prompt; try --atom 'a '")]
    EmptyAtom,
    /// The target is out of reach of any text that fits in memory.
    #[error("--pp {target} would need more than {limit} MiB of the atom {atom:?}; ask for fewer tokens")]
    TooLong {
        /// Tokens asked for.
        target: u64,
        /// The atom.
        atom: String,
        /// The most text that is tried, in MiB.
        limit: u64,
    },
    /// The message cannot be counted at all.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
}

/// An atom as a shell takes it: bash and zsh read `$'\n'` as a line break.
fn quoted(atom: &str) -> String {
    let plain = !atom.contains(|letter: char| letter.is_control() || letter == '\'');
    if plain { format!("'{atom}'") } else { format!("$'{}'", atom.escape_debug()) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn an_atom_in_a_hint_can_be_pasted_into_a_shell() {
        assert_eq!([" a", "\n", "it's"].map(quoted), ["' a'", "$'\\n'", "$'it\\'s'"]);
    }
}
