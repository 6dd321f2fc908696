//! Where the levels of an archive changed, by how much, and in words.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArchivedFile, CellHistory};
use crate::comparison::headline;
use crate::metric::{Better, Metric};
use crate::statistics::difference;
use crate::statistics::segments::FILES;
use crate::statistics::spread::mean;
use crate::summary::CellKey;
use crate::units;

/// A change of level of one metric of one cell: before the newest file, or one that the newest completes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelChange {
    /// The cell.
    pub cell: CellKey,
    /// The metric.
    pub metric: Metric,
    /// Place of the new level's first file in [`super::History::files`].
    pub file: usize,
    /// The name of that file.
    pub since: String,
    /// When it was measured.
    pub at: String,
    /// Geometric mean of the files of the level before.
    pub before: f64,
    /// Geometric mean of the files since, up to the next change or to the newest file, which takes part only where it completes
    /// the level.
    pub after: f64,
    /// Change from the one to the other, percent.
    pub change_percent: f64,
    /// Whether it is for the better.
    pub improved: bool,
}

/// All changes of level of the primary metrics, the oldest first.
pub(super) fn changes(files: &[ArchivedFile], cells: &[CellHistory]) -> Vec<LevelChange> {
    let mut changes: Vec<LevelChange> =
        cells.iter().filter(|cell| cell.metric.definition().primary).flat_map(|cell| of_cell(files, cell)).collect();
    // Stable: within a file the order of the cells stays.
    changes.sort_by_key(|change| change.file);
    changes
}

fn of_cell(files: &[ArchivedFile], cell: &CellHistory) -> Vec<LevelChange> {
    let newest = files.len().saturating_sub(1);
    let end = match cell.newest_completes {
        true => cell.points.len(),
        false => cell.points.iter().filter(|point| point.file < newest).count(),
    };
    let ends = cell.segments.iter().skip(1).copied().chain([end]);
    let levels: Vec<(usize, Option<f64>)> =
        cell.segments.iter().zip(ends).map(|(from, to)| (*from, level(cell, *from, to))).collect();
    let change = |pair: &[(usize, Option<f64>)]| {
        let [(_, before), (from, after)] = pair else { return None };
        let (before, after) = ((*before)?, (*after)?);
        let first = cell.points.get(*from)?.file;
        let file = files.get(first)?;
        Some(LevelChange {
            cell: cell.cell.clone(),
            metric: cell.metric,
            file: first,
            since: file.name.clone(),
            at: file.at.clone(),
            before: libm::exp(before),
            after: libm::exp(after),
            change_percent: difference::percent(after - before),
            improved: (after > before) == (cell.metric.definition().better == Better::Higher),
        })
    };
    levels.windows(2).filter_map(change).collect()
}

/// Mean of the logarithms of some points.
fn level(cell: &CellHistory, from: usize, to: usize) -> Option<f64> {
    let logs: Vec<f64> = cell.points.get(from..to)?.iter().map(|point| libm::log(point.geomean)).collect();
    mean(&logs)
}

/// The latest change, all cells together: "Generation is 10.2 % slower since day09 (2026-03-09) in 3 of 4 cells."; without
/// one, whether one was looked for.
pub(super) fn headline(files: &[ArchivedFile], cells: &[CellHistory], changes: &[LevelChange]) -> String {
    let Some(latest) = changes.last() else {
        let metrics = cells.iter().map(|cell| cell.metric).filter(|metric| metric.definition().primary);
        let searched = metrics.map(|metric| searched(files, cells, metric)).max().unwrap_or(0);
        return capital(format!("{}.", unchanged(searched)));
    };
    // Noise moves a cut by a file. Two changes of one series are never so close, so that a cell is counted once.
    let is_near = |change: &&LevelChange| change.file + FILES.shortest > latest.file;
    let mut groups: BTreeMap<(Metric, bool), Vec<&LevelChange>> = BTreeMap::new();
    for change in changes.iter().filter(is_near) {
        groups.entry((change.metric, change.change_percent > 0.0)).or_default().push(change);
    }
    let parts: Vec<String> = groups
        .into_iter()
        .filter_map(|((metric, rises), group)| {
            let logs: Vec<f64> = group.iter().map(|change| difference::log_difference(change.change_percent)).collect();
            let size = units::percent(difference::percent(mean(&logs)?).abs());
            let first = usual(&group)?;
            let total = cells.iter().filter(|cell| cell.metric == metric).count();
            Some(format!(
                "{} is {size} {} since {} ({}) {}",
                metric.definition().name,
                headline::direction(metric, rises),
                first.since,
                day(&first.at),
                headline::in_cells(group.len(), total)
            ))
        })
        .collect();
    // A cell that the newest file lacks judges nothing.
    let newest = files.len().saturating_sub(1);
    let is_judged = |change: &LevelChange| {
        cells.iter().any(|cell| {
            cell.metric == change.metric
                && cell.cell == change.cell
                && cell.points.last().is_some_and(|point| point.file == newest)
        })
    };
    let completes = |change: &LevelChange| {
        let of_change = |cell: &&CellHistory| cell.metric == change.metric && cell.cell == change.cell;
        let last = |cell: &CellHistory| cell.points.get(*cell.segments.last()?).map(|point| point.file);
        cells.iter().find(of_change).is_some_and(|cell| cell.newest_completes && last(cell) == Some(change.file))
    };
    let near = || changes.iter().filter(is_near);
    let judged = match (near().any(is_judged), near().any(completes)) {
        (true, true) => " The newest file completes that level and is judged against the one before.",
        (true, false) => {
            " The newest file is judged against the level since then, so its verdict does not tell of that change."
        }
        (false, _) => "",
    };
    capital(format!("{}.{judged}", parts.join("; ")))
}

/// The change whose file most of a group share, the earliest of equals.
fn usual<'a>(group: &[&'a LevelChange]) -> Option<&'a LevelChange> {
    let count = |file: usize| group.iter().filter(|change| change.file == file).count();
    group.iter().copied().max_by_key(|change| (count(change.file), usize::MAX - change.file))
}

/// How many files before the newest tell of the levels of a metric: those of the cell with the most.
pub(super) fn searched(files: &[ArchivedFile], cells: &[CellHistory], metric: Metric) -> usize {
    let newest = files.len().saturating_sub(1);
    let before = |cell: &CellHistory| cell.points.iter().filter(|point| point.file < newest).count();
    cells.iter().filter(|cell| cell.metric == metric).map(before).max().unwrap_or(0)
}

/// Why no change is told of, where so many files before the newest were there.
pub(super) fn unchanged(searched: usize) -> String {
    if searched < FILES.fewest {
        return format!("levels are sought from {} files on, the newest not counted", FILES.fewest);
    }
    format!("no level change was found in {searched} files, the newest not counted")
}

/// The day of "2026-03-09T06:00:00Z"; other words as they are.
fn day(at: &str) -> &str {
    at.split_once('T').map_or(at, |(day, _)| if day.len() == 10 { day } else { at })
}

fn capital(sentence: String) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}
