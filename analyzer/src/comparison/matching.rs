//! Which cell of one side stands beside which of the other, and in what the two still differ.
//!
//! Cells that share everything are pairs. What is left is paired where the work is the same (model, lengths, placement) and
//! the rest differs in engine or quantization, which may be what the comparison is about, or is told by one side alone.

use std::collections::{BTreeMap, BTreeSet};

use super::measured::MeasuredCell;
use crate::frame::{self, FrameError};
use crate::summary::{CacheState, CellKey};
use crate::units::ABSENT;

/// Settings of other tools that are the work itself and not how it is done: cells that differ in one are no pair.
const WORK: [&str; 10] = [
    "n_depth",
    "prompt_type",
    "phase",
    "context_size",
    "is_context_prefill_phase",
    "type_",
    "rate",
    "request_rate",
    "burstiness",
    "is_pp_shared",
];

/// Cells side by side; one at least.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Beside {
    /// Place in the base.
    pub(super) base: Option<usize>,
    /// Place in the new side.
    pub(super) new: Option<usize>,
    /// What the two do not share.
    pub(super) axes: Vec<Axis>,
    /// Of a cell that stands alone: in what the nearest of the other side differs; empty where there is none like it.
    pub(super) nearest: Vec<Axis>,
}

/// One thing in which two cells differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Axis {
    /// What.
    pub(super) name: String,
    /// In the base; None where it does not tell.
    pub(super) base: Option<String>,
    /// In the new side; None where it does not tell.
    pub(super) new: Option<String>,
}

impl Axis {
    /// Whether both sides tell it.
    pub(super) const fn is_told(&self) -> bool {
        self.base.is_some() && self.new.is_some()
    }

    /// "quantization 4bit and 8bit".
    pub(super) fn words(&self) -> String {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| ABSENT.to_owned());
        format!("{} {} and {}", self.name, word(&self.base), word(&self.new))
    }
}

/// The pairs: the base's order, then what only the new side has.
pub(super) fn matched(base: &[MeasuredCell], new: &[MeasuredCell]) -> Result<Vec<Beside>, FrameError> {
    let keys = |cells: &[MeasuredCell]| cells.iter().map(|cell| cell.key.clone()).collect::<Vec<CellKey>>();
    let (base, new) = (keys(base), keys(new));
    let mut all: Vec<Beside> =
        frame::pair(&base, &new)?.into_iter().map(|(base, new)| Beside { base, new, ..Beside::default() }).collect();
    // Only cells of the same work can be a pair, and only those of the same lengths are near: looked for among all, two files
    // of thousands of cells with nothing in common would take forever.
    let left = all.iter().filter(|one| one.new.is_none()).filter_map(|one| one.base);
    let mut works: BTreeMap<Work<'_>, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    left.for_each(|at| works.entry(work(&base[at])).or_default().0.push(at));
    let right = all.iter().filter(|one| one.base.is_none()).filter_map(|one| one.new);
    right.for_each(|at| works.entry(work(&new[at])).or_default().1.push(at));
    let pairs: BTreeMap<usize, (usize, Vec<Axis>)> = works
        .values()
        .flat_map(|(left, right)| alike(&base, &new, left, right))
        .map(|(at_base, at_new, axes)| (at_base, (at_new, axes)))
        .collect();
    let paired: BTreeSet<usize> = pairs.values().map(|(at_new, _)| *at_new).collect();
    all.retain(|one| one.base.is_some() || one.new.is_none_or(|at| !paired.contains(&at)));
    for one in &mut all {
        if let Some((at_new, axes)) = one.base.filter(|_| one.new.is_none()).and_then(|at| pairs.get(&at)) {
            (one.new, one.axes) = (Some(*at_new), axes.clone());
        }
    }
    let of_lengths = |keys: &'_ [CellKey]| {
        let mut places: BTreeMap<Lengths, Vec<usize>> = BTreeMap::new();
        keys.iter().enumerate().for_each(|(at, key)| places.entry(lengths(key)).or_default().push(at));
        places
    };
    let (bases, news) = (of_lengths(&base), of_lengths(&new));
    for one in &mut all {
        one.nearest = match (one.base, one.new) {
            (Some(at), None) => {
                let others = news.get(&lengths(&base[at])).into_iter().flatten();
                nearest(others.map(|other| differences(&base[at], &new[*other])))
            }
            (None, Some(at)) => {
                let others = bases.get(&lengths(&new[at])).into_iter().flatten();
                nearest(others.map(|other| differences(&base[*other], &new[at])))
            }
            _ => Vec::new(),
        };
    }
    Ok(all)
}

/// Prompt tokens, tokens to generate, concurrency.
type Lengths = (Option<u64>, Option<u64>, Option<u32>);

const fn lengths(key: &CellKey) -> Lengths {
    (key.pp_tokens, key.tg, key.concurrency)
}

/// What was to be done: model, placement, lengths.
type Work<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>, Option<u32>, Lengths);

fn work(key: &CellKey) -> Work<'_> {
    let placement = (key.sharding.as_deref(), key.instance_meta.as_deref());
    (key.model_id.as_deref(), placement.0, placement.1, key.nodes, lengths(key))
}

/// Pairs among what is left of one work: those that differ least first, each cell once, and none where another is as near.
fn alike(base: &[CellKey], new: &[CellKey], left: &[usize], right: &[usize]) -> Vec<(usize, usize, Vec<Axis>)> {
    let mut candidates: Vec<(usize, usize, Vec<Axis>)> = left
        .iter()
        .flat_map(|at_base| right.iter().map(move |at_new| (*at_base, *at_new)))
        .map(|(at_base, at_new)| (at_base, at_new, differences(&base[at_base], &new[at_new])))
        .filter(|(.., axes)| axes.iter().all(may_differ))
        .collect();
    let distance = |axes: &[Axis]| (axes.iter().filter(|axis| axis.is_told()).count(), axes.len());
    candidates.sort_by_key(|(at_base, at_new, axes)| (distance(axes), *at_base, *at_new));
    let has_rival = |one: &(usize, usize, Vec<Axis>)| {
        let mut others = candidates.iter();
        others.any(|other| (other.0 == one.0) != (other.1 == one.1) && distance(&other.2) == distance(&one.2))
    };
    let mut taken: Vec<(usize, usize, Vec<Axis>)> = Vec::new();
    for candidate in &candidates {
        let free = taken.iter().all(|(base, new, _)| *base != candidate.0 && *new != candidate.1);
        if free && !has_rival(candidate) {
            taken.push(candidate.clone());
        }
    }
    taken
}

/// Whether cells of the same work that differ in this may be a pair all the same.
fn may_differ(axis: &Axis) -> bool {
    match axis.name.as_str() {
        "engine" | "quantization" => true,
        "cache" | "streamed" => !axis.is_told(),
        setting => !WORK.contains(&setting),
    }
}

/// What of two keys of the same lengths differs.
fn differences(base: &CellKey, new: &CellKey) -> Vec<Axis> {
    let placement = |key: &CellKey| {
        let told = key.sharding.is_some() || key.instance_meta.is_some() || key.nodes.is_some();
        told.then(|| key.placement())
    };
    let cache = |key: &CellKey| (key.cache != CacheState::Unknown).then(|| key.cache.word().to_owned());
    let streamed = |key: &CellKey| key.streamed.map(|streamed| if streamed { "yes" } else { "no" }.to_owned());
    let mut axes: Vec<Axis> = [
        ("model", base.model_id.clone(), new.model_id.clone()),
        ("placement", placement(base), placement(new)),
        ("cache", cache(base), cache(new)),
        ("streamed", streamed(base), streamed(new)),
        ("engine", base.engine.clone(), new.engine.clone()),
        ("quantization", base.quantization.clone(), new.quantization.clone()),
    ]
    .into_iter()
    .map(|(name, base, new)| Axis { name: name.to_owned(), base, new })
    .collect();
    let names: BTreeSet<&String> = base.settings.keys().chain(new.settings.keys()).collect();
    axes.extend(names.into_iter().map(|name| Axis {
        name: name.clone(),
        base: base.settings.get(name).cloned(),
        new: new.settings.get(name).cloned(),
    }));
    axes.retain(|axis| axis.base != axis.new);
    axes
}

/// The fewest differences, where they are few enough to be a slip.
fn nearest(all: impl Iterator<Item = Vec<Axis>>) -> Vec<Axis> {
    const FEW: usize = 2;
    all.filter(|axes| axes.len() <= FEW).min_by_key(Vec::len).unwrap_or_default()
}
