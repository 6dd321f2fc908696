//! Several files → one side: the same cells put together, each session of each file a session of the side.

use std::collections::BTreeMap;

use crate::frame::FrameError;
use crate::import::Loaded;
use crate::metric::Metric;
use crate::summary::{self, CellKey, MeasuredCell, Sample};

/// The cells of all files, in the order of first appearance.
pub(super) fn measure(files: &[Loaded]) -> Result<Vec<MeasuredCell>, FrameError> {
    files.iter().map(summary::measure).collect::<Result<Vec<_>, _>>().map(put_together)
}

/// Puts the cells of several files together. Sessions are numbered on from file to file.
pub(super) fn put_together(files: Vec<Vec<MeasuredCell>>) -> Vec<MeasuredCell> {
    let mut whole: Vec<MeasuredCell> = Vec::new();
    let mut places: BTreeMap<CellKey, usize> = BTreeMap::new();
    let mut sessions = 0;
    for mut cells in files {
        let last = cells.iter().flat_map(|cell| &cell.cell.batches).map(|batch| batch.session).max();
        cells.iter_mut().for_each(|cell| renumber(cell, sessions));
        sessions += last.map_or(0, |last| last.saturating_add(1));
        for cell in cells {
            match places.get(cell.key()) {
                Some(place) => append(&mut whole[*place], cell),
                None => {
                    places.insert(cell.key().clone(), whole.len());
                    whole.push(cell);
                }
            }
        }
    }
    whole
}

fn renumber(cell: &mut MeasuredCell, by: u32) {
    for batch in cell.cell.batches.iter_mut().chain(&mut cell.cell.console) {
        batch.session = batch.session.saturating_add(by);
    }
    for group in cell.samples.iter_mut().flat_map(|sample| &mut sample.groups) {
        group.session = group.session.saturating_add(by);
    }
}

fn append(whole: &mut MeasuredCell, mut other: MeasuredCell) {
    whole.cell.batches.append(&mut other.cell.batches);
    whole.cell.console.append(&mut other.cell.console);
    for sample in other.samples {
        match whole.samples.iter_mut().find(|known| known.metric == sample.metric) {
            Some(known) => known.groups.extend(sample.groups),
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
        let numbers: std::collections::BTreeSet<u32> = cell.cell.batches.iter().map(|batch| batch.session).collect();
        for number in numbers {
            let mut one = cell.clone();
            one.cell.batches.retain(|batch| batch.session == number);
            one.cell.console.retain(|batch| batch.session == number);
            for sample in &mut one.samples {
                sample.groups.retain(|group| group.session == number);
            }
            one.samples.retain(|sample| !sample.groups.is_empty());
            sessions.entry(number).or_default().push(one);
        }
    }
    sessions.into_values().collect()
}

/// The samples of a metric, cell by cell in the order of the keys.
pub(super) fn samples(cells: &[MeasuredCell], metric: Metric) -> Vec<(&CellKey, &Sample)> {
    let mut samples: Vec<(&CellKey, &Sample)> =
        cells.iter().filter_map(|cell| Some((cell.key(), cell.sample(metric)?))).collect();
    samples.sort_by_key(|(key, _)| *key);
    samples
}
