//! Several result files of the same thing → one, whose numbers are those of the files read together.
//!
//! * `overlap` the rows that two files share.
//!
//! The runs of each file become further sessions. Clocks are kept apart: seconds count from each file's own start, so the
//! sessions of one part are never mixed with those of another. Each part's account of itself is kept under `merged`.

mod overlap;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::import::{self, Loaded};
use crate::record::{Comparability, Method, Part, ResultFile, Source};

/// What is done about files that differ in what was measured, or how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differences {
    /// They are not put together.
    Refuse,
    /// They are, and a notice names the difference.
    Accept,
}

/// Why files are not put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Less than two files.
    #[error("one file is one file already; name at least two")]
    Alone,
    /// The same content twice would count every request twice.
    #[error("{first} and {second} hold the same run; name each run once")]
    Twice {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// Some rows twice would count their requests twice.
    #[error(
        "{} of {first} {} in {second}, too, which would count {} twice; leave one of the files out",
        crate::units::count(*rows, "row"),
        crate::units::agree(*rows, "is", "are"),
        crate::units::agree(*rows, "it", "them")
    )]
    Overlap {
        /// One of the files.
        first: String,
        /// The other.
        second: String,
        /// Rows that are in both.
        rows: u64,
    },
    /// Another model or another method.
    #[error("{first} and {second} differ in {what}; their numbers do not belong into one file (--force merges them)")]
    Different {
        /// The first file.
        first: String,
        /// The one that differs.
        second: String,
        /// In what: "the model (lab/a, lab/b)".
        what: String,
    },
}

/// Puts files one behind the other, in the order given.
///
/// # Errors
/// [`MergeError`] names the two files that do not belong together.
pub fn merge(files: Vec<Loaded>, differences: Differences) -> Result<ResultFile, MergeError> {
    let Some((first, others)) = files.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(MergeError::Alone);
    };
    for (place, file) in files.iter().enumerate() {
        for earlier in files.iter().take(place) {
            match overlap::shared(&earlier.file, &file.file) {
                Some(rows) => {
                    let (first, second) = (earlier.name.clone(), file.name.clone());
                    let whole = rows == earlier.file.runs.len() && rows == file.file.runs.len();
                    return Err(if whole {
                        MergeError::Twice { first, second }
                    } else {
                        MergeError::Overlap { first, second, rows: rows as u64 }
                    });
                }
                // Files of failures alone have no rows to be told by.
                None if earlier.file == file.file => {
                    return Err(MergeError::Twice { first: earlier.name.clone(), second: file.name.clone() });
                }
                None => {}
            }
        }
    }
    let mut notices = Vec::new();
    for other in others {
        let Some(what) = difference(&first.file, &other.file) else { continue };
        let (first, second) = (first.name.clone(), other.name.clone());
        match differences {
            Differences::Refuse => return Err(MergeError::Different { first, second, what }),
            Differences::Accept => {
                notices.push(format!("{first} and {second} differ in {what}; they were merged all the same"))
            }
        }
    }
    if files.iter().any(|file| !file.file.overlays.is_empty()) {
        notices.push(
            "power readings that were laid over a part are left out: each part counts from a start of its own"
                .to_owned(),
        );
    }
    let parts: Vec<Part> = files.iter().flat_map(parts).collect();
    let (mut whole, _) = import::together(files.into_iter().map(|loaded| loaded.file).collect());
    whole.source = common(&parts);
    whole.merged = parts;
    whole.overlays.clear();
    if let Some(provenance) = &mut whole.exoscope {
        provenance.notices.extend(notices);
    } else if let Some(source) = &mut whole.source {
        source.notices.extend(notices);
    }
    Ok(whole)
}

/// What a file is of: itself, or the parts it was put together of before, so that merging step by step is merging at once.
fn parts(loaded: &Loaded) -> Vec<Part> {
    if !loaded.file.merged.is_empty() {
        return loaded.file.merged.clone();
    }
    let one = |rows: &usize| Part {
        name: loaded.name.clone(),
        rows: *rows as u64,
        exoscope: loaded.file.exoscope.clone(),
        source: loaded.file.source.clone(),
    };
    loaded.document_rows.iter().map(one).collect()
}

/// What the sources of all parts have in common; each part keeps its own whole, its original and its notices with it.
fn common(parts: &[Part]) -> Option<Source> {
    let sources: Vec<&Source> = parts.iter().filter_map(|part| part.source.as_ref()).collect();
    let mut source = (*sources.first()?).clone();
    let names = |of: fn(&Source) -> &str| {
        let names: BTreeSet<&str> = sources.iter().map(|source| of(source)).collect();
        names.into_iter().collect::<Vec<_>>().join(" and ")
    };
    source.format = names(|source| &source.format);
    source.reason = names(|source| &source.reason);
    // What is an aggregate in one of them makes the whole no better.
    source.class = sources.iter().map(|source| source.class).max().unwrap_or(source.class);
    source.about.retain(|name, value| sources.iter().all(|other| other.about.get(name) == Some(value)));
    if sources.iter().any(|other| other.engine != source.engine) {
        source.engine = None;
    }
    source.notices.clear();
    source.original = None;
    Some(source)
}

/// In what two files differ that their numbers depend on.
fn difference(first: &ResultFile, other: &ResultFile) -> Option<String> {
    let differ =
        |what: &str, first: String, other: String| (first != other).then(|| format!("{what} ({first}, {other})"));
    let class = |file: &ResultFile| {
        file.source.as_ref().map_or(Comparability::Endpoint, |source| source.class).words().to_owned()
    };
    let simulated = |file: &ResultFile| {
        let simulated = file.exoscope.as_ref().is_some_and(|provenance| provenance.simulated);
        if simulated { "simulated" } else { "measured" }.to_owned()
    };
    differ("where they come from", simulated(first), simulated(other))
        .or_else(|| differ("the model", models(first), models(other)))
        .or_else(|| differ("the class", class(first), class(other)))
        .or_else(|| {
            let (first, other) = (first.exoscope.as_ref()?, other.exoscope.as_ref()?);
            differ("the engine", first.target.engine.clone(), other.target.engine.clone())
                .or_else(|| method(&first.method, &other.method))
        })
}

fn models(file: &ResultFile) -> String {
    let mut models: BTreeSet<&str> = file.runs.iter().filter_map(|run| run.model_id.as_deref()).collect();
    if models.is_empty() {
        models.extend(file.failures.iter().filter_map(|failure| failure.model_id.as_deref()));
    }
    if models.is_empty() {
        models.extend(file.exoscope.as_ref().map(|provenance| provenance.target.model_id.as_str()));
    }
    if models.is_empty() { "not told".to_owned() } else { models.into_iter().collect::<Vec<_>>().join(" and ") }
}

/// Which cells were measured, how often and how power was polled may differ: rows of further cells are further cells.
const OF_THE_PLAN: [&str; 8] =
    ["pp", "tg", "pairing", "concurrency", "repeat", "metrics_interval_s", "target_precision", "idle_baseline_s"];

/// The first setting that changes a number and is not the same in both.
fn method(first: &Method, other: &Method) -> Option<String> {
    let settings = |method: &Method| serde_json::to_value(method).ok();
    let (first, other) = (settings(first)?, settings(other)?);
    let keys: BTreeSet<&String> =
        [&first, &other].into_iter().filter_map(Value::as_object).flat_map(|all| all.keys()).collect();
    let key =
        keys.into_iter().find(|key| !OF_THE_PLAN.contains(&key.as_str()) && first.get(*key) != other.get(*key))?;
    let word = |value: Option<&Value>| value.map_or_else(|| crate::units::ABSENT.to_owned(), Value::to_string);
    Some(format!("the method's {key} ({}, {})", word(first.get(key)), word(other.get(key))))
}
