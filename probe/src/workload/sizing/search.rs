//! The search for a number of atoms, on any function from atoms to tokens.
//!
//! exo's bench halves an interval, 13 to 24 counts a prompt, each of up to twice the text that is needed. The guided search interpolates
//! instead, about two counts, and ends only at two neighbours of which one is counted below the target and one is not:
//! for a function that never falls that is the very number that halving gives.

/// A number of atoms and the tokens that were counted for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) atoms: u64,
    pub(super) tokens: u64,
}

/// exo's bench takes the cost of an atom from a hundred of them.
const SAMPLE: u64 = 100;
/// Far enough from [`SAMPLE`] that what the first atoms cost apart from the others no longer shows in the slope.
const FAR: u64 = 600;
/// Steps that may interpolate. Real atoms need one or two; after these the interval is halved, which always ends.
const GUIDED_STEPS: u32 = 6;

/// Counts of 0, 1, [`SAMPLE`] and [`FAR`] atoms.
#[derive(Debug)]
pub(super) struct Counts([Reached; 4]);

impl Counts {
    /// Takes them.
    pub(super) fn take<E>(mut count: impl FnMut(u64) -> Result<u64, E>) -> Result<Self, E> {
        let mut at = |atoms| count(atoms).map(|tokens| Reached { atoms, tokens });
        Ok(Self([at(0)?, at(1)?, at(SAMPLE)?, at(FAR)?]))
    }

    /// The count of the most atoms.
    pub(super) fn last(&self) -> Reached {
        self.0[3]
    }

    /// The first count above a number of tokens; one more than it where none is.
    pub(super) fn first_above(&self, tokens: u64) -> u64 {
        self.0.iter().map(|count| count.tokens).find(|count| *count > tokens).unwrap_or(tokens.saturating_add(1))
    }

    /// A number of atoms that is enough by twice and a hundred, estimated as exo's bench does.
    pub(super) fn estimate(&self, target: u64) -> u64 {
        let [empty, _, sample, _] = self.0;
        let gained = sample.tokens.saturating_sub(empty.tokens);
        let atoms = proportion(target.saturating_sub(empty.tokens), SAMPLE, gained).unwrap_or(FAR);
        atoms.saturating_mul(2).saturating_add(SAMPLE)
    }

    /// Atoms that `tokens` tokens cost, far from the beginning; `None` where the counts do not rise.
    fn atoms_for(&self, tokens: u64) -> Option<u64> {
        let [_, _, near, far] = self.0;
        proportion(tokens, FAR - SAMPLE, far.tokens.saturating_sub(near.tokens))
    }
}

/// The smallest number of atoms that reaches the target; `None` when `most` atoms do not.
pub(super) fn guided<E>(
    target: u64,
    anchors: &Counts,
    most: u64,
    mut count: impl FnMut(u64) -> Result<u64, E>,
) -> Result<Option<Reached>, E> {
    let [mut below, ..] = anchors.0;
    if below.tokens >= target {
        return Ok(Some(below));
    }
    let mut enough = None;
    for anchor in anchors.0 {
        if anchor.tokens >= target {
            enough = Some(anchor);
            break;
        }
        below = anchor;
    }

    for step in 0.. {
        let atoms = match enough {
            Some(enough) if enough.atoms - below.atoms <= 1 => return Ok(Some(enough)),
            Some(enough) => between(target, below, enough, step),
            None if below.atoms >= most => return Ok(None),
            None => beyond(target, below, anchors, step).min(most),
        };
        let counted = Reached { atoms, tokens: count(atoms)? };
        if counted.tokens >= target {
            enough = Some(counted);
        } else {
            below = counted;
        }
    }
    Ok(enough)
}

/// Where to count next between two neighbours of the target; strictly between them.
fn between(target: u64, below: Reached, enough: Reached, step: u32) -> u64 {
    let width = enough.atoms - below.atoms;
    let ahead = if step >= GUIDED_STEPS {
        width / 2
    } else if enough.tokens == target {
        // Most likely the answer: one fewer must be too few.
        width - 1
    } else {
        proportion(target - below.tokens, width, enough.tokens - below.tokens).unwrap_or(width / 2)
    };
    below.atoms + ahead.clamp(1, width - 1)
}

/// Where to count next when nothing has reached the target; more atoms than `below`.
fn beyond(target: u64, below: Reached, anchors: &Counts, step: u32) -> u64 {
    let doubled = below.atoms.saturating_mul(2).saturating_add(SAMPLE);
    match anchors.atoms_for(target - below.tokens) {
        Some(ahead) if step < GUIDED_STEPS => below.atoms.saturating_add(ahead.max(1)),
        _ => doubled,
    }
}

/// `part / whole * size`, rounded up; `None` when the whole is 0, saturated when too large.
fn proportion(part: u64, size: u64, whole: u64) -> Option<u64> {
    let product = u128::from(part) * u128::from(size);
    let rounded = product.checked_add(u128::from(whole.checked_sub(1)?))? / u128::from(whole);
    Some(u64::try_from(rounded).unwrap_or(u64::MAX))
}

/// Plain halving of `0..=most`, as exo's bench does it; the count at `most` where nothing reaches the target.
pub(super) fn bisection<E>(target: u64, most: u64, mut count: impl FnMut(u64) -> Result<u64, E>) -> Result<Reached, E> {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if count(middle)? < target {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(Reached { atoms: low, tokens: count(low)? })
}
