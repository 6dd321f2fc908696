//! An archive of result files: each cell as a series over time, and the newest file against what came before.
//!
//! * `levels` where the levels changed, by how much, and in words.

mod levels;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::logs::Logs;
use super::measured::MeasuredFile;
use super::{CompareError, Comparison, Options, Verdict, compare_measured, verdict};
use crate::metric::Metric;
use crate::statistics::{difference, segments};
use crate::summary::CellKey;

pub use levels::LevelChange;

/// A file and when it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Dated {
    /// The file.
    pub file: MeasuredFile,
    /// Seconds since 1970-01-01 UTC.
    pub at_s: f64,
    /// The same in words, and where it is from.
    pub at: String,
}

/// What an archive says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// The first glance: what the newest file shows, then the latest change of level, all cells together.
    #[serde(default)]
    pub headline: String,
    /// The files, oldest first.
    pub files: Vec<ArchivedFile>,
    /// Each cell and metric over time.
    pub cells: Vec<CellHistory>,
    /// Each change of level of a primary metric, the oldest first; the newest file takes part where it completes a level.
    #[serde(default)]
    pub level_changes: Vec<LevelChange>,
    /// The newest file against all files of the seven days before it; null where there is none.
    pub against_week: Option<Comparison>,
    /// The newest file against the files since the last change point, metric by metric; a metric without a file before the
    /// newest has no entry.
    pub against_segments: Vec<SegmentComparison>,
    /// The gravest verdict of all these comparisons.
    pub verdict: Verdict,
    /// What was left out and why, a sentence each.
    pub notices: Vec<String>,
}

/// A file of the archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArchivedFile {
    /// Its name.
    pub name: String,
    /// When it was measured.
    pub at: String,
    /// The same, seconds since 1970-01-01 UTC.
    pub at_s: f64,
}

/// One metric of one cell over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellHistory {
    /// The cell.
    pub cell: CellKey,
    /// The metric.
    pub metric: Metric,
    /// Its unit.
    pub unit: String,
    /// One point per file that has it, oldest first.
    pub points: Vec<Point>,
    /// Where the level changed: places in `points`, the first 0. The newest point takes part only where it completes a level: else
    /// it is what is judged.
    pub segments: Vec<usize>,
    /// Whether the last level is one only with the newest point in it.
    #[serde(default)]
    pub newest_completes: bool,
}

/// One file's value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Place of the file in [`History::files`].
    pub file: usize,
    /// Geometric mean over the file's sessions.
    pub geomean: f64,
    /// Values.
    pub n: u64,
}

/// The newest file against the segment of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentComparison {
    /// The metric.
    pub metric: Metric,
    /// Name of the segment's first file: since the last change of any cell's level; without one, the first of all.
    pub since: String,
    /// What the newest is held against, in words: "the level since day09", or all files and why.
    #[serde(default)]
    pub against: String,
    /// The comparison, of this metric alone.
    pub comparison: Comparison,
}

/// The week that asiai's rule looks back, s.
pub const WEEK_S: f64 = 7.0 * 86400.0;

/// Reads an archive. Files of the same measurement count once.
///
/// # Errors
/// [`CompareError::Nothing`] for no file; [`CompareError::Frame`] is a fault of this program.
pub fn history(files: Vec<Dated>, options: &Options) -> Result<History, CompareError> {
    options.check()?;
    let (files, mut notices) = in_order(files);
    let files = of_one_class(files, &mut notices);
    let Some((newest, before)) = files.split_last() else { return Err(CompareError::Nothing) };
    let cells = series(&files, options);
    let week: Vec<&MeasuredFile> = before
        .iter()
        .filter(|file| file.at_s >= newest.at_s - WEEK_S && file.at_s < newest.at_s)
        .map(|file| &file.file)
        .collect();
    let against_week = (!week.is_empty()).then(|| compare_measured(&week, &[&newest.file], options)).transpose()?;
    if against_week.is_none() {
        let same = before.iter().filter(|file| file.at_s >= newest.at_s).count() as u64;
        notices.push(match same {
            0 => "no file is of the seven days before the newest".to_owned(),
            _ => format!(
                "no file is of the seven days before the newest: {} of the same instant ({}), and which was measured first is \
                 not known",
                match same {
                    1 => "another is".to_owned(),
                    others => format!("{others} others are"),
                },
                newest.at
            ),
        });
    }
    let archived: Vec<ArchivedFile> = files
        .iter()
        .map(|file| ArchivedFile { name: file.file.name.clone(), at: file.at.clone(), at_s: file.at_s })
        .collect();
    let mut against_segments = Vec::new();
    for metric in Metric::ALL.into_iter().filter(|metric| metric.definition().primary && options.shows(*metric)) {
        let Some((since, is_change)) = last_change(metric, &cells, before.len()) else { continue };
        let begun = beginning(metric, &cells, before.len()).filter(|begun| *begun > since);
        let base: Vec<&MeasuredFile> =
            before[since..begun.unwrap_or(before.len())].iter().map(|file| &file.file).collect();
        let of_metric = Options { metrics: vec![metric], legacy: false, ..options.clone() };
        against_segments.push(SegmentComparison {
            metric,
            since: before[since].file.name.clone(),
            against: match (begun, is_change) {
                (Some(begun), _) => format!(
                    "the level before {}: from there on the newest and what is just before it are another",
                    before[begun].file.name
                ),
                (None, true) => format!("the level since {}", before[since].file.name),
                (None, false) => {
                    let why = levels::unchanged(levels::searched(&archived, &cells, metric));
                    format!("all files before it ({why})")
                }
            },
            comparison: compare_measured(&base, &[&newest.file], &of_metric)?,
        });
    }
    let compared: Vec<&Comparison> =
        against_segments.iter().map(|segment| &segment.comparison).chain(&against_week).collect();
    let verdict = verdict::gravest(compared.iter().map(|compared| compared.verdict));
    let newest_said = of_the_newest(verdict, &compared);
    let level_changes = levels::changes(&archived, &cells);
    // The first file of the week is still of the level before.
    let first_of_week = before.iter().position(|file| file.at_s >= newest.at_s - WEEK_S && file.at_s < newest.at_s);
    if first_of_week.is_some_and(|first| level_changes.iter().any(|change| change.file > first)) {
        notices.push(
            "the level changed within the seven days before the newest: how much they differ holds that change, so that the \
             comparison with them is coarse; the one with the files of its own level is not"
                .to_owned(),
        );
    }
    Ok(History {
        headline: format!("{newest_said} {}", levels::headline(&archived, &cells, &level_changes)),
        level_changes,
        verdict,
        files: archived,
        cells,
        against_week,
        against_segments,
        notices,
    })
}

/// The first glance at the newest file.
fn of_the_newest(verdict: Verdict, compared: &[&Comparison]) -> String {
    let said = compared.iter().find(|compared| compared.verdict == verdict).map(|compared| compared.headline.as_str());
    match (verdict, said) {
        (Verdict::Regressed | Verdict::Improved, Some(said)) => format!("The newest file: {said}"),
        (Verdict::Same, _) => "The newest file: the same.".to_owned(),
        (Verdict::NotComparable, _) => "The newest file cannot be compared.".to_owned(),
        _ => "The newest file: no difference found.".to_owned(),
    }
}

/// The JSON Schema of a history, generated from these types.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(History).to_value()
}

/// Files of another class than the newest are other quantities: they are left out, and so do not make all of it
/// incomparable.
fn of_one_class(mut files: Vec<Dated>, notices: &mut Vec<String>) -> Vec<Dated> {
    let Some(newest) = files.last().map(|newest| (newest.file.class, newest.file.name.clone())) else { return files };
    files.retain(|Dated { file, .. }| {
        let is = file.class == newest.0;
        if !is {
            notices.push(format!(
                "{} holds {}, the newest ({}) holds {}: not the same quantities; left out",
                file.name,
                file.class.words(),
                newest.1,
                newest.0.words()
            ));
        }
        is
    });
    files
}

/// Oldest first, by name where two are of the same instant; copies left out.
fn in_order(mut files: Vec<Dated>) -> (Vec<Dated>, Vec<String>) {
    files.sort_by(|a, b| a.at_s.total_cmp(&b.at_s).then_with(|| a.file.name.cmp(&b.file.name)));
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut notices = Vec::new();
    files.retain(|Dated { file, .. }| {
        let Some(fingerprint) = &file.fingerprint else { return true };
        if let Some(twin) = names.get(fingerprint) {
            notices.push(format!("{} holds the same measurement as {twin} and is left out", file.name));
            return false;
        }
        names.insert(fingerprint.clone(), file.name.clone());
        true
    });
    (files, notices)
}

fn series(files: &[Dated], options: &Options) -> Vec<CellHistory> {
    let mut points: BTreeMap<(&CellKey, Metric), Vec<Point>> = BTreeMap::new();
    for (place, Dated { file, .. }) in files.iter().enumerate() {
        for cell in &file.cells {
            for sample in cell.samples.iter().filter(|sample| options.shows(sample.metric)) {
                let Some(logs) = Logs::of(sample) else { continue };
                let point = Point { file: place, geomean: libm::exp(logs.mean()), n: logs.count() as u64 };
                points.entry((&cell.key, sample.metric)).or_default().push(point);
            }
        }
    }
    let newest = files.len().saturating_sub(1);
    points
        .into_iter()
        .map(|((cell, metric), points)| {
            let logs: Vec<f64> = points.iter().map(|point| libm::log(point.geomean)).collect();
            let before = points.iter().filter(|point| point.file < newest).count();
            let (mut segments, whole) =
                (starts(&logs[..before], options.delta(metric)), starts(&logs, options.delta(metric)));
            // A level that the newest completes is not told from the files before it alone, or at another place.
            let newest_completes = before < logs.len()
                && whole.last().is_some_and(|last| *last > 0 && last + segments::FILES.shortest >= logs.len());
            if newest_completes {
                segments = whole;
            }
            CellHistory {
                cell: cell.clone(),
                metric,
                unit: metric.definition().unit.to_owned(),
                segments,
                newest_completes,
                points,
            }
        })
        .collect()
}

/// Where the levels of a series of logarithms begin, the first always at 0. A change of less than what matters is none.
fn starts(logs: &[f64], delta_percent: f64) -> Vec<usize> {
    let steps = segments::steps(logs, segments::FILES, difference::log_difference(delta_percent));
    [0].into_iter().chain(steps).collect()
}

/// The first file of a level that is one only with the newest in it. The level that it leaves is what the newest has to be held
/// against: among its files these two or three would make any change look possible.
fn beginning(metric: Metric, cells: &[CellHistory], newest: usize) -> Option<usize> {
    let of_metric = cells.iter().filter(|cell| cell.metric == metric && cell.newest_completes);
    let begins = |cell: &CellHistory| cell.points.get(*cell.segments.last()?).map(|point| point.file);
    of_metric.filter_map(begins).filter(|file| *file < newest).min()
}

/// The first file since the last change of any cell that the newest file has, too, and true; without a change the first file
/// of all, and false. None where no earlier file has one.
fn last_change(metric: Metric, cells: &[CellHistory], newest: usize) -> Option<(usize, bool)> {
    let in_newest = |cell: &&CellHistory| cell.points.last().is_some_and(|point| point.file == newest);
    let of_metric = || cells.iter().filter(|cell| cell.metric == metric).filter(in_newest);
    let earlier: BTreeSet<usize> =
        of_metric().flat_map(|cell| &cell.points).map(|point| point.file).filter(|file| *file < newest).collect();
    let changed = of_metric()
        .filter_map(|cell| {
            let established = &cell.segments[..cell.segments.len() - usize::from(cell.newest_completes)];
            Some((cell, established.last().filter(|place| **place > 0)?))
        })
        .filter_map(|(cell, place)| cell.points.get(*place))
        .map(|point| point.file)
        .filter(|file| *file < newest)
        .max();
    changed.map(|file| (file, true)).or_else(|| Some((earlier.first().copied()?, false)))
}
