//! What else differs between two files: each difference is a rival explanation of a change.

use super::Difference;
use crate::import::Loaded;
use crate::summary;

/// Facts that differ for every two runs and explain nothing.
const ALWAYS_DIFFERENT: [&str; 4] = ["started", "ended", "starts", "command"];

/// The facts that differ, in the reading order of the base, then those that only the new file has.
pub(super) fn residue(base: &Loaded, new: &Loaded) -> Vec<Difference> {
    let (base, new) = (summary::facts(base), summary::facts(new));
    let value =
        |facts: &[summary::Fact], key: &str| facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone());
    let only_new = new.iter().filter(|fact| base.iter().all(|other| other.key != fact.key));
    base.iter()
        .chain(only_new)
        .filter(|fact| !ALWAYS_DIFFERENT.contains(&fact.key.as_str()))
        .map(|fact| Difference {
            key: fact.key.clone(),
            name: fact.name.clone(),
            base: value(&base, &fact.key),
            new: value(&new, &fact.key),
        })
        .filter(|difference| difference.base != difference.new)
        .collect()
}
