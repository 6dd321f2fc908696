//! Which prompt length goes with which generation length: exo's rule.

/// One prompt length with one generation length, tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pair {
    /// Prompt tokens, chat template included.
    pub pp: u64,
    /// Tokens to generate.
    pub tg: u64,
}

/// How two lists become pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// First with first, second with second.
    Tandem,
    /// Each with each, prompt lengths outer.
    Product,
}

impl Pairing {
    /// exo's rule: tandem for lists of equal length, unless all combinations are asked for.
    #[must_use]
    pub fn of(pp: &[u64], tg: &[u64], all_combinations: bool) -> Self {
        if all_combinations || pp.len() != tg.len() { Self::Product } else { Self::Tandem }
    }

    /// The pairs, in the order of measurement.
    #[must_use]
    pub fn pairs(self, pp: &[u64], tg: &[u64]) -> Vec<Pair> {
        match self {
            Self::Tandem => pp.iter().zip(tg).map(|(&pp, &tg)| Pair { pp, tg }).collect(),
            Self::Product => pp.iter().flat_map(|&pp| tg.iter().map(move |&tg| Pair { pp, tg })).collect(),
        }
    }

    /// The word that the result file keeps.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tandem => "tandem",
            Self::Product => "product",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pp: &[u64], tg: &[u64], all: bool) -> Vec<(u64, u64)> {
        Pairing::of(pp, tg, all).pairs(pp, tg).into_iter().map(|pair| (pair.pp, pair.tg)).collect()
    }

    #[test]
    fn lists_of_equal_length_go_in_tandem() {
        assert_eq!(pairs(&[64, 128], &[8, 16], false), [(64, 8), (128, 16)]);
        assert_eq!(pairs(&[64, 128], &[8, 16], true), [(64, 8), (64, 16), (128, 8), (128, 16)]);
        assert_eq!(pairs(&[64, 128], &[8], false), [(64, 8), (128, 8)]);
    }
}
