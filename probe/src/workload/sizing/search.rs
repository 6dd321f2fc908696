//! The search for a number of atoms, on any function from atoms to tokens.
//!
//! exo's bench halves an interval: 13 to 24 counts a prompt, many of them of more text than is needed. The guided search
//! interpolates, and ends where nothing is left to look for:
//!
//! * at a count of exactly the target on the line through the counts of a few short texts, when each atom of those cost the
//!   same. As long as each atom costs something no other number of atoms has that count, so this is the one that halving
//!   ends at, for one count of a long text;
//! * else at two neighbours of which one is counted below the target and one is not: for a function that never falls that
//!   is the very number that halving gives, mostly after two counts.
//!
//! Either way the tokens are those of a full count, never reckoned.

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
    /// Takes them; the tokens of no atoms are known.
    pub(super) fn take<E>(empty: u64, mut count: impl FnMut(u64) -> Result<u64, E>) -> Result<Self, E> {
        let mut at = |atoms| count(atoms).map(|tokens| Reached { atoms, tokens });
        Ok(Self([Reached { atoms: 0, tokens: empty }, at(1)?, at(SAMPLE)?, at(FAR)?]))
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

impl Counts {
    /// Whether a count lies on the line through those from the first atom on: one that rises by the same whole number of
    /// tokens with each atom. What the first atom costs apart (the space at the end, mostly) does not matter to it.
    fn are_in_line_with(&self, counted: Reached) -> bool {
        let [_, first, near, far] = self.0;
        let cost = far.tokens.saturating_sub(near.tokens) / (FAR - SAMPLE);
        let on_line = |count: Reached| {
            let ahead = count.atoms.checked_sub(first.atoms).and_then(|ahead| ahead.checked_mul(cost));
            ahead.is_some() && ahead == count.tokens.checked_sub(first.tokens)
        };
        cost > 0 && [near, far, counted].into_iter().all(on_line)
    }
}

/// The smallest number of atoms that reaches the target; `None` when it would be more than `most`.
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
            None => match beyond(target, below, anchors, most, step) {
                Some(atoms) => atoms,
                None => return Ok(None),
            },
        };
        let counted = Reached { atoms, tokens: count(atoms)? };
        if counted.tokens == target && anchors.are_in_line_with(counted) {
            return Ok(Some(counted));
        }
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

/// Where to count next when nothing has reached the target; more atoms than `below`. `None` when that would be more than
/// `most`, and so without counting a text of that size first.
fn beyond(target: u64, below: Reached, anchors: &Counts, most: u64, step: u32) -> Option<u64> {
    let doubled = below.atoms.saturating_mul(2).saturating_add(SAMPLE).min(most);
    let atoms = match anchors.atoms_for(target - below.tokens) {
        Some(ahead) if step < GUIDED_STEPS => below.atoms.saturating_add(ahead.max(1)),
        _ => doubled,
    };
    (below.atoms < atoms && atoms <= most).then_some(atoms)
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::{Counts, Reached, bisection, guided};

    /// Both searches on the same function: what they found, and how many counts the guided one took after the anchors.
    fn both(target: u64, most: u64, tokens: impl Fn(u64) -> u64) -> (Option<Reached>, Reached, u32) {
        let count = |atoms| Ok::<_, Infallible>(tokens(atoms));
        let Ok(anchors) = Counts::take(tokens(0), count);
        let mut taken = 0;
        let Ok(found) = guided(target, &anchors, most, |atoms| {
            taken += 1;
            count(atoms)
        });
        let Ok(halved) = bisection(target, most, count);
        (found, halved, taken)
    }

    #[test]
    fn an_atom_of_one_token_takes_one_count_whatever_the_length() {
        for target in [1_000, 32_768, 1_048_576] {
            // The template's 8 tokens, one for each atom and one for the last space.
            let (found, halved, taken) = both(target, 1 << 24, |atoms| if atoms == 0 { 8 } else { 9 + atoms });
            assert_eq!(found, Some(Reached { atoms: target - 9, tokens: target }));
            assert_eq!(found, Some(halved));
            assert_eq!(taken, 1);
        }
    }

    #[test]
    fn an_atom_that_costs_now_one_token_and_now_two_is_also_counted_beside_the_answer() {
        let (found, halved, taken) = both(32_768, 1 << 24, |atoms| 8 + atoms * 3 / 2);
        assert_eq!(found, Some(halved));
        assert_eq!(taken, 2);
    }

    #[test]
    fn what_no_text_reaches_is_told_and_not_searched_for_ever() {
        let (found, _, taken) = both(5_000, 1 << 28, |atoms| 8 + atoms.min(1_000));
        assert_eq!(found, None);
        assert!(taken < 40, "{taken}");
        let (found, ..) = both(u64::MAX, 1 << 28, |atoms| 8 + atoms);
        assert_eq!(found, None);
    }

    #[test]
    fn an_atom_that_vanishes_after_the_first_divides_by_nothing() {
        let Ok(anchors) = Counts::take(8, |_| Ok::<_, Infallible>(8));
        assert_eq!(anchors.estimate(u64::MAX), 1_300);
    }

    proptest! {
        /// Steps of any height and length, rising: kinks, plateaus and jumps.
        #[test]
        fn the_guided_search_ends_where_halving_does(
            steps in prop::collection::vec((1_u64..400, 0_u64..9), 1..60),
            overhead in 0_u64..100,
            target in 0_u64..20_000,
        ) {
            let length: u64 = steps.iter().map(|(length, _)| length).sum();
            let tokens = |atoms: u64| {
                let round: u64 = steps.iter().map(|(length, slope)| length * slope).sum();
                let mut sum = overhead + atoms / length * round;
                let mut left = atoms % length;
                for (length, slope) in &steps {
                    sum += left.min(*length) * slope;
                    left = left.saturating_sub(*length);
                }
                sum
            };
            let (found, halved, taken) = both(target, 1 << 20, tokens);
            prop_assert!(taken < 64);
            match found {
                Some(found) => {
                    prop_assert_eq!(found.tokens, halved.tokens);
                    // Where an atom may cost nothing, several numbers of atoms have the same exact count.
                    let each_costs = steps.iter().all(|(_, slope)| *slope > 0);
                    prop_assert!(found == halved || found.tokens == target && !each_costs && found.atoms > halved.atoms);
                }
                None => prop_assert!(halved.tokens < target),
            }
        }

        /// Where a count can fall again, the answer still is exact, or its neighbours are what they are said to be.
        #[test]
        fn on_a_function_that_falls_the_answer_is_exact_or_has_a_neighbour_below(
            wobble in prop::collection::vec(0_u64..6, 7),
            target in 10_u64..5_000,
        ) {
            let tokens = |atoms: u64| 8 + atoms + wobble[(atoms % 7) as usize];
            let (found, ..) = both(target, 1 << 20, tokens);
            let found = found.unwrap();
            prop_assert_eq!(found.tokens, tokens(found.atoms));
            prop_assert!(found.tokens >= target);
            prop_assert!(found.tokens == target || found.atoms == 0 || tokens(found.atoms - 1) < target);
        }
    }
}
