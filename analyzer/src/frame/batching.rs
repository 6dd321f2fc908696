//! Rows → batches: which requests were started together.
//!
//! Flat keys are sorted. At concurrency 1 every request is a batch, and a group of its own in polars takes five times the
//! memory of its numbers.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lay_out::{self, cache_code, concurrency, instance_meta, nodes, sharding, streamed, word};
use crate::import::Loaded;
use crate::record::{ResultFile, Run};
use crate::summary::{CacheState, CellKey};

/// The batches of a file.
pub(super) struct Batches {
    /// What requests of each kind share: all of a cell's key but the cache.
    pub(super) kinds: Vec<CellKey>,
    /// Indices into `runs`, one batch after the other.
    pub(super) rows: Vec<usize>,
    /// In the order of first appearance.
    pub(super) batches: Vec<Batched>,
}

/// A batch.
pub(super) struct Batched {
    /// Place among the kinds.
    pub(super) kind: u32,
    /// Cache state as a number.
    pub(super) cache: u32,
    /// Number of the session in the file.
    pub(super) session: u32,
    /// The session as the file numbers it, where it does.
    pub(super) told: u32,
    /// Repeat, from 0.
    pub(super) repeat_index: Option<u32>,
    /// Its stretch of the rows.
    pub(super) places: Range<u32>,
}

/// What the requests of one batch share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: u32,
    session: u32,
    repeat_index: Option<u32>,
    /// How many earlier rows hold the same place in a batch like it: above 0 where a list named a length twice.
    occurrence: u32,
}

/// Puts the rows of a file into batches, in which they stand in the file's order.
pub(super) fn batches(loaded: &Loaded) -> Batches {
    let runs = &loaded.file.runs;
    let sessions = lay_out::sessions(loaded);
    let occurrences = occurrences(runs, &sessions);
    let (kinds, kind_of) = kinds(&loaded.file);
    let keys = kind_of.into_iter().zip(sessions).zip(occurrences).zip(runs);
    let keys = keys.map(|(((kind, session), occurrence), run)| Key {
        kind,
        session,
        repeat_index: run.repeat_index,
        occurrence,
    });
    let mut keys: Vec<(Key, u32)> = keys.zip(0..).collect();
    keys.sort_unstable();
    let mut groups: Vec<&[(Key, u32)]> = keys.chunk_by(|(a, _), (b, _)| a == b).collect();
    groups.sort_unstable_by_key(|group| group.first().map(|(_, row)| *row));
    let mut rows = Vec::with_capacity(runs.len());
    let mut batches = Vec::with_capacity(groups.len());
    let mut start = 0;
    for group in groups {
        let Some((key, first)) = group.first() else { continue };
        let first = runs.get(*first as usize);
        rows.extend(group.iter().map(|(_, row)| *row as usize));
        let end = start + group.len() as u32;
        let states = group.iter().filter_map(|(_, row)| runs.get(*row as usize)).map(lay_out::cache);
        batches.push(Batched {
            kind: key.kind,
            cache: cache_code(together(states)),
            session: key.session,
            told: first.and_then(|run| run.exoscope.as_ref()).map_or(key.session, |detail| detail.session),
            repeat_index: key.repeat_index,
            places: std::mem::replace(&mut start, end)..end,
        });
    }
    Batches { kinds, rows, batches }
}

/// The cache state of a batch: requests that were started together are one measurement, and where the cache served some of
/// them more than others, it served the batch in part.
fn together(states: impl Iterator<Item = CacheState>) -> CacheState {
    let both = |a, b| match (a, b) {
        (CacheState::Unknown, _) | (_, CacheState::Unknown) => CacheState::Unknown,
        _ if a == b => a,
        _ => CacheState::Partial,
    };
    states.reduce(both).unwrap_or(CacheState::Unknown)
}

/// Counts earlier rows with the same batch key and the same place in the batch. Two batches tie where `--pp 512,512` names
/// a length twice; their rows are told apart by that each place occurs once in a batch.
fn occurrences(runs: &[Run], sessions: &[u32]) -> Vec<u32> {
    let mut works: BTreeMap<(Option<&str>, Option<u64>, Option<u64>, Option<u32>, Option<Variant<'_>>), u32> =
        BTreeMap::new();
    let places = runs.iter().zip(sessions).map(|(run, session)| {
        let next = works.len() as u32;
        let work = (run.model_id.as_deref(), run.pp_tokens, run.tg, concurrency(run), variant(run));
        let work = *works.entry(work).or_insert(next);
        let place = run.concurrent_index.or_else(|| run.exoscope.as_ref().map(|detail| detail.request_index));
        (*session, work, run.repeat_index, place)
    });
    let mut places: Vec<_> = places.zip(0_u32..).collect();
    places.sort_unstable();
    let mut occurrences = vec![0; runs.len()];
    for alike in places.chunk_by(|(a, _), (b, _)| a == b) {
        for ((_, row), count) in alike.iter().zip(0..) {
            if let Some(occurrence) = occurrences.get_mut(*row as usize) {
                *occurrence = count;
            }
        }
    }
    occurrences
}

/// Engine, quantization and settings of a row that tells them itself: rows of other tools.
type Variant<'a> = (Option<&'a str>, Option<&'a str>, &'a BTreeMap<String, String>);

fn variant(run: &Run) -> Option<Variant<'_>> {
    let figures = run.figures.as_ref()?;
    Some((figures.engine.as_deref(), figures.quantization.as_deref(), &figures.settings))
}

/// What requests of one kind share: all of a cell's key but the cache. The kinds in the order of first appearance, and each
/// row's place among them.
fn kinds(file: &ResultFile) -> (Vec<CellKey>, Vec<u32>) {
    let runs = &file.runs;
    let (engine, quantization) = (lay_out::engine(file), lay_out::quantization(file));
    // Rows say the same in different words. Most say it in the same, which are looked up as they stand.
    type Labels<'a> = [Option<&'a str>; 3];
    type Lengths = (Option<u32>, Option<u64>, Option<u64>, Option<u32>, Option<bool>);
    let mut worded: BTreeMap<(Labels<'_>, Lengths, Option<Variant<'_>>), u32> = BTreeMap::new();
    let mut known: BTreeMap<CellKey, u32> = BTreeMap::new();
    let mut kinds = Vec::new();
    let mut place = |run: &Run| {
        let key = CellKey {
            model_id: run.model_id.as_deref().map(str::to_owned),
            sharding: sharding(run).and_then(word),
            instance_meta: instance_meta(run).and_then(word),
            nodes: nodes(run),
            pp_tokens: run.pp_tokens,
            tg: run.tg,
            concurrency: concurrency(run),
            cache: CacheState::Unknown,
            streamed: streamed(run),
            engine: variant(run).and_then(|(engine, ..)| engine).or(engine).map(str::to_owned),
            quantization: variant(run).and_then(|(_, told, _)| told).or(quantization).map(str::to_owned),
            settings: run.figures.as_ref().map_or_else(BTreeMap::new, |figures| figures.settings.clone()),
        };
        *known.entry(key.clone()).or_insert_with(|| {
            kinds.push(key);
            u32::try_from(kinds.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let kind_of = runs.iter().map(|run| {
        let labels = [run.model_id.as_deref(), sharding(run), instance_meta(run)];
        let lengths = (nodes(run), run.pp_tokens, run.tg, concurrency(run), streamed(run));
        *worded.entry((labels, lengths, variant(run))).or_insert_with(|| place(run))
    });
    let kind_of = kind_of.collect();
    (kinds, kind_of)
}
