//! What else differs between two sides: each difference is a rival explanation of a change.

use std::collections::BTreeSet;

use super::Difference;
use super::measured::MeasuredFile;
use crate::summary::Fact;

/// Facts that differ for every two runs and explain nothing.
const ALWAYS_DIFFERENT: [&str; 5] = ["started", "ended", "starts", "command", "sha256"];

/// The facts of a side, in the reading order of its first file; where the files differ, all their values.
struct Facts(Vec<(Fact, BTreeSet<Option<String>>)>);

impl Facts {
    fn of(files: &[&MeasuredFile]) -> Self {
        let all: Vec<&[Fact]> = files.iter().map(|file| file.facts.as_slice()).collect();
        let mut facts: Vec<(Fact, BTreeSet<Option<String>>)> = Vec::new();
        for fact in all.iter().copied().flatten().filter(|fact| !ALWAYS_DIFFERENT.contains(&fact.key.as_str())) {
            if facts.iter().any(|(known, _)| known.key == fact.key) {
                continue;
            }
            let values =
                all.iter().map(|file| file.iter().find(|found| found.key == fact.key).map(|found| found.value.clone()));
            facts.push((fact.clone(), values.collect()));
        }
        Self(facts)
    }

    /// The value, or the values of the files, of a side; None where no file tells.
    fn value(&self, key: &str) -> Option<String> {
        let (_, values) = self.0.iter().find(|(fact, _)| fact.key == key)?;
        let told: Vec<&str> = values.iter().map(|value| value.as_deref().unwrap_or(crate::units::ABSENT)).collect();
        Some(told.join(" | "))
    }
}

/// The facts that differ, in the reading order of the base, then those that only the new side has.
pub(super) fn residue(base: &[&MeasuredFile], new: &[&MeasuredFile]) -> Vec<Difference> {
    let (base, new) = (Facts::of(base), Facts::of(new));
    let only_new = new.0.iter().filter(|(fact, _)| base.value(&fact.key).is_none());
    base.0
        .iter()
        .chain(only_new)
        .map(|(fact, _)| Difference {
            key: fact.key.clone(),
            name: fact.name.clone(),
            base: base.value(&fact.key),
            new: new.value(&fact.key),
        })
        .filter(|difference| difference.base != difference.new)
        .collect()
}

/// The names of the facts in which the files of one side differ among themselves: what is pooled is then not one thing.
pub(super) fn hidden(files: &[&MeasuredFile]) -> Vec<String> {
    Facts::of(files).0.into_iter().filter(|(_, values)| values.len() > 1).map(|(fact, _)| fact.name).collect()
}

/// What a change can be put down to: where two of these differ at once, to neither.
const CAUSES: [&str; 7] = ["engine", "engine_version", "model", "quantization", "placements", "nodes", "systems"];

/// The names of the likely causes that differ.
pub(super) fn causes(residue: &[Difference]) -> Vec<&str> {
    residue
        .iter()
        .filter(|difference| {
            CAUSES.contains(&difference.key.as_str()) && difference.base.is_some() && difference.new.is_some()
        })
        .map(|difference| difference.name.as_str())
        .collect()
}
