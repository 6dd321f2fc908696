//! Which of the requests a fault strikes.

/// Which requests, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// All.
    Always,
    /// From one to another, both included.
    Between(u64, u64),
    /// Each whose number this divides; at least 1.
    Every(u64),
}

impl When {
    /// Reads `2`, `2-3` or `every=3`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let count = |text: &str| text.parse().ok().filter(|&number: &u64| number > 0);
        if let Some(step) = text.strip_prefix("every=") {
            return Some(Self::Every(count(step)?));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (count(first)?, count(last)?);
        (first <= last).then_some(Self::Between(first, last))
    }

    /// Whether the request with this number is struck.
    #[must_use]
    pub fn strikes(self, number: u64) -> bool {
        match self {
            Self::Always => true,
            Self::Between(first, last) => (first..=last).contains(&number),
            Self::Every(step) => number.is_multiple_of(step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_some_or_every_so_manieth() {
        let struck = |text: &str| -> Vec<u64> {
            let when = When::read(text).unwrap();
            (1..=7).filter(|&number| when.strikes(number)).collect()
        };
        assert_eq!(struck("2"), [2]);
        assert_eq!(struck("2-4"), [2, 3, 4]);
        assert_eq!(struck("every=3"), [3, 6]);
        for wrong in ["", "0", "0-2", "3-2", "every=0", "every", "-1", "2-", "two"] {
            assert_eq!(When::read(wrong), None, "{wrong:?}");
        }
    }
}
