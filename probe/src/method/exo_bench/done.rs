//! What an earlier start of a run measured already, so that a later one goes on behind it.

use std::collections::BTreeMap;

use analyzer::record::{Failure, ResultFile, Run};

use super::offer::Placement;
use super::precision::Rates;
use crate::plan::Pair;

/// What tells the batches of a run apart. Labels and nodes stand for the placement: each start gets new instance ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchKey {
    session: u32,
    sharding: String,
    instance_meta: String,
    nodes: u32,
    pp: u64,
    tg: u64,
    concurrency: u32,
    repeat: u32,
}

impl BatchKey {
    /// The key of a batch that may be measured.
    #[must_use]
    pub fn new(session: u32, placement: &Placement, pair: Pair, concurrency: u32, repeat: u32) -> Self {
        Self {
            session,
            sharding: placement.sharding.clone(),
            instance_meta: placement.instance_meta.clone(),
            nodes: placement.nodes,
            pp: pair.pp,
            tg: pair.tg,
            concurrency,
            repeat,
        }
    }

    /// The batch that a row belongs to; none for a row that this program did not write.
    #[must_use]
    pub fn of_run(run: &Run) -> Option<Self> {
        Some(Self {
            session: run.exoscope.as_ref()?.session,
            sharding: run.placement_sharding.as_deref()?.to_owned(),
            instance_meta: run.placement_instance_meta.as_deref()?.to_owned(),
            nodes: run.placement_nodes?,
            pp: run.pp_tokens?,
            tg: run.tg?,
            concurrency: run.concurrency?,
            repeat: run.repeat_index?,
        })
    }

    /// The batch that a failed request belongs to; none for one that this program did not send.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Option<Self> {
        Some(Self {
            session: failure.session,
            sharding: failure.placement_sharding.clone()?,
            instance_meta: failure.placement_instance_meta.clone()?,
            nodes: failure.placement_nodes?,
            pp: failure.pp_tokens?,
            tg: failure.tg?,
            concurrency: failure.concurrency?,
            repeat: failure.repeat_index,
        })
    }
}

/// The batches that were measured to their end.
#[derive(Debug, Default)]
pub struct Done(BTreeMap<BatchKey, Vec<Rates>>);

impl Done {
    /// The batches of a file, each of which must be whole.
    #[must_use]
    pub fn of(file: &ResultFile) -> Self {
        let mut done: BTreeMap<BatchKey, Vec<Rates>> = BTreeMap::new();
        for run in &file.runs {
            if let Some(key) = BatchKey::of_run(run) {
                done.entry(key).or_default().extend(run.stats.as_ref().map(Rates::of));
            }
        }
        for failure in file.failures.iter().filter(|failure| !failure.warmup) {
            if let Some(key) = BatchKey::of_failure(failure) {
                done.entry(key).or_default();
            }
        }
        Self(done)
    }

    /// The rates of a batch's valid requests; none where it was not measured.
    #[must_use]
    pub fn rates(&self, key: &BatchKey) -> Option<&[Rates]> {
        self.0.get(key).map(Vec::as_slice)
    }
}
