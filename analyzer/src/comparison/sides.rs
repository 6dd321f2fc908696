//! Several files → one side: the same cells put together, each session of each file a session of the side.

use std::collections::BTreeMap;

use super::logs::Logs;
use super::measured::{MeasuredCell, Sample};
use crate::metric::Metric;
use crate::summary::CellKey;

/// Puts the cells of several files together, in the order of first appearance, with the metrics that are `wanted`. Sessions
/// are numbered on from file to file.
pub(super) fn put_together<'a>(
    files: impl IntoIterator<Item = &'a [MeasuredCell]>,
    wanted: impl Fn(Metric) -> bool,
) -> Vec<MeasuredCell> {
    let mut whole: Vec<MeasuredCell> = Vec::new();
    let mut places: BTreeMap<&CellKey, usize> = BTreeMap::new();
    let mut sessions: u32 = 0;
    for cells in files {
        let last = cells.iter().flat_map(|cell| &cell.sessions).map(|session| session.number).max();
        for cell in cells {
            let numbered = numbered_from(sessions, cell, &wanted);
            match places.get(&cell.key) {
                Some(place) => append(&mut whole[*place], numbered),
                None => {
                    places.insert(&cell.key, whole.len());
                    whole.push(numbered);
                }
            }
        }
        sessions = sessions.saturating_add(last.map_or(0, |last| last.saturating_add(1)));
    }
    whole
}

fn numbered_from(first: u32, cell: &MeasuredCell, wanted: impl Fn(Metric) -> bool) -> MeasuredCell {
    let mut cell = MeasuredCell {
        samples: cell.samples.iter().filter(|sample| wanted(sample.metric)).cloned().collect(),
        key: cell.key.clone(),
        sessions: cell.sessions.clone(),
        published: cell.published.iter().filter(|one| wanted(one.metric)).copied().collect(),
        ..*cell
    };
    for sample in &mut cell.samples {
        sample.moves = Logs::of(sample).and_then(|logs| logs.moved(sample.metric)).into_iter().collect();
    }
    for session in &mut cell.sessions {
        session.number = session.number.saturating_add(first);
    }
    for batch in cell.samples.iter_mut().flat_map(|sample| &mut sample.batches) {
        batch.session = batch.session.saturating_add(first);
    }
    cell
}

fn append(whole: &mut MeasuredCell, other: MeasuredCell) {
    whole.sessions.extend(other.sessions);
    whole.published.extend(other.published);
    for sample in other.samples {
        match whole.samples.iter_mut().find(|known| known.metric == sample.metric) {
            Some(known) => {
                known.batches.extend(sample.batches);
                known.values.extend(sample.values);
                known.moves.extend(sample.moves);
            }
            None => whole.samples.push(sample),
        }
    }
    whole.samples.sort_by_key(|sample| sample.metric);
    whole.server_power_samples = match (whole.server_power_samples, other.server_power_samples) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
}

/// Takes a side apart again: the cells of each session, in the order of the sessions.
pub(super) fn take_apart(cells: &[MeasuredCell]) -> Vec<Vec<MeasuredCell>> {
    let mut sessions: BTreeMap<u32, Vec<MeasuredCell>> = BTreeMap::new();
    for cell in cells {
        for session in &cell.sessions {
            let of_session = |sample: &Sample| {
                let mut own = Sample::of(sample.metric);
                let groups = sample.groups().filter(|(number, _)| *number == session.number);
                groups.for_each(|(number, values)| own.push(number, values));
                Some(own).filter(|own| !own.values.is_empty())
            };
            sessions.entry(session.number).or_default().push(MeasuredCell {
                key: cell.key.clone(),
                sessions: vec![*session],
                published: Vec::new(),
                samples: cell.samples.iter().filter_map(of_session).collect(),
                ..*cell
            });
        }
    }
    sessions.into_values().collect()
}

/// The samples of a metric, cell by cell in the order of the keys.
pub(super) fn samples(cells: &[MeasuredCell], metric: Metric) -> Vec<(&CellKey, &Sample)> {
    let mut samples: Vec<(&CellKey, &Sample)> =
        cells.iter().filter_map(|cell| Some((&cell.key, cell.sample(metric)?))).collect();
    samples.sort_by_key(|(key, _)| *key);
    samples
}
