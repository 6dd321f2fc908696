//! What can be wrong with an energy, as a closed list of words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A finding on the energy of a window. The words follow InferenceX' validity codes where those have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// It is not known which nodes held the model, or when the requests ran.
    UnknownNodes,
    /// A node has no power readings.
    NodeMissing,
    /// The polls of a node end before the window does, or begin after it began.
    WindowNotBracketed,
    /// A node's power was 0 W, which no running machine draws: the source is not there.
    ChannelZero,
    /// A node was polled and showed the same values for more than [`super::STALLED_S`].
    CounterStalled,
    /// Fewer than [`super::SAMPLES_NEEDED`] publications inside, of the node with the fewest.
    TooFewSamples,
    /// The uncertainty is more than [`super::UNCERTAIN_SHARE`] of the energy.
    Uncertain,
    /// More than [`super::GAP_S`] between publications.
    Gap,
    /// Several requests ran at once: while one decodes another prefills, so there are no energies of phases.
    OverlappingPhases,
}

impl Validity {
    /// The word of the code: "too_few_samples".
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::UnknownNodes => "unknown_nodes",
            Self::NodeMissing => "node_missing",
            Self::WindowNotBracketed => "window_not_bracketed",
            Self::ChannelZero => "channel_zero",
            Self::CounterStalled => "counter_stalled",
            Self::TooFewSamples => "too_few_samples",
            Self::Uncertain => "uncertain",
            Self::Gap => "gap",
            Self::OverlappingPhases => "overlapping_phases",
        }
    }

    /// Whether an energy with this finding is not shown. A gap grows the uncertainty, which judges by itself, and phases
    /// that overlap take nothing from the whole.
    #[must_use]
    pub const fn withholds(self) -> bool {
        !matches!(self, Self::Gap | Self::OverlappingPhases)
    }

    /// Whether a longer window, or several together, would help.
    #[must_use]
    pub const fn is_of_length(self) -> bool {
        matches!(self, Self::TooFewSamples | Self::Uncertain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_what_json_says() {
        for code in [
            Validity::UnknownNodes,
            Validity::NodeMissing,
            Validity::WindowNotBracketed,
            Validity::ChannelZero,
            Validity::CounterStalled,
            Validity::TooFewSamples,
            Validity::Uncertain,
            Validity::Gap,
            Validity::OverlappingPhases,
        ] {
            assert_eq!(serde_json::to_value(code).unwrap(), code.word());
        }
    }
}
