//! exo's own result files: which of its bench's versions wrote one, and what that means for the numbers.
//!
//! exo writes no version. The dates are those of the commits that changed the shape; a file that could come from several
//! versions is named by all of them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::record::ResultFile;
use crate::units;

/// What a document starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Top {
    /// A bare list of rows.
    List,
    /// An object with `runs`.
    Object,
}

/// The version in words, and its caveats.
pub(super) struct Found {
    pub(super) format: String,
    pub(super) notices: Vec<String>,
}

const POLLUTED: &str = "exo before 2026-03-24 gave the decode rate of the whole batch as each request's rate at concurrency \
    above 1, and could carry it over to later requests; the file does not tell on which side of that day it was written";
const ELAPSED: &str = "before 2026-04-05 exo took the elapsed time of concurrent requests per thread, without a common \
    start; since then from the common start; the file does not tell which";

/// What rows hold that tells the versions of exo's bench apart: whether any of them has the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Traits {
    pub(super) is_empty: bool,
    pub(super) concurrency: bool,
    /// A concurrency above 1.
    pub(super) concurrent: bool,
    pub(super) reused: bool,
    pub(super) download: bool,
    pub(super) power_usage: bool,
    pub(super) prefix_cache: bool,
    /// A peak memory as streams spell it.
    pub(super) streamed: bool,
}

impl Traits {
    /// Whether [`describe`] says the same whatever further rows hold.
    pub(super) const fn settle(self, top: Top) -> bool {
        !self.is_empty
            && match top {
                Top::Object => self.power_usage,
                Top::List => self.concurrency && self.concurrent,
            }
    }

    /// Of rows that were read as values.
    pub(super) fn of(rows: &Value) -> Self {
        let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
        let any = |pointer: &str| rows.iter().any(|row| row.pointer(pointer).is_some());
        Self {
            is_empty: rows.is_empty(),
            concurrency: any("/concurrency"),
            concurrent: rows.iter().any(|row| row.get("concurrency").and_then(Value::as_u64).is_some_and(|c| c > 1)),
            reused: rows.iter().any(|row| row.get("placement_sharding").is_some_and(|label| label == "reused")),
            download: any("/download_duration_s"),
            power_usage: any("/power_usage"),
            prefix_cache: any("/stats/prefix_cache_hit"),
            streamed: any("/stats/peak_memory_usage/in_bytes"),
        }
    }
}

/// Recognises the version of exo's bench by what the rows hold.
pub(super) fn describe(traits: Traits, top: Top) -> Found {
    let mut notices = Vec::new();
    let when = match top {
        Top::List if traits.concurrency => {
            if traits.concurrent {
                notices.push(POLLUTED.to_owned());
                notices.push(ELAPSED.to_owned());
            }
            "2026-03-09 to 2026-03-29, bare list"
        }
        Top::List if traits.download => "2026-02-20 to 2026-03-08, bare list",
        Top::List => "2026-01-06 to 2026-03-08, bare list",
        Top::Object if traits.power_usage => "2026-05-28 or later",
        Top::Object if traits.streamed || traits.reused => "2026-04-27 to 2026-05-27",
        Top::Object if traits.prefix_cache => "2026-04-14 to 2026-05-27",
        Top::Object if traits.is_empty => "2026-03-30 or later",
        Top::Object => {
            if traits.concurrent {
                notices.push(ELAPSED.to_owned());
            }
            "2026-03-30 to 2026-04-13"
        }
    };
    Found { format: format!("exo ({when})"), notices }
}

/// What is strange in the rows and does no harm when one knows it.
pub(super) fn oddities(file: &ResultFile) -> Vec<String> {
    let mut notices = Vec::new();
    let part = |rows: usize| units::part(rows as u64, file.runs.len() as u64, "row");
    if file.runs.is_empty() {
        notices.push("there is no valid request in it".to_owned());
    }
    let negative = file.runs.iter().filter(|run| run.elapsed_s.is_some_and(|elapsed| elapsed < 0.0)).count();
    if negative > 0 {
        let (rows, have) = (part(negative), units::agree(negative as u64, "has", "have"));
        notices.push(format!("{rows} {have} a negative elapsed time, which is left out"));
    }
    let without = file.runs.iter().filter(|run| run.stats.is_none()).count();
    if without > 0 {
        let (rows, carry) = (part(without), units::agree(without as u64, "carries", "carry"));
        notices.push(format!("{rows} {carry} no statistics of the server"));
    }
    let zero = file.runs.iter().filter_map(|run| run.stats.as_ref()).filter(|stats| {
        stats.generation_tps.is_some_and(|rate| rate == 0.0) && stats.generation_tokens.is_none_or(|tokens| tokens > 1)
    });
    let zero = zero.count();
    if zero > 0 {
        notices.push(format!(
            "{} {} a decode rate of 0, as a failed stream leaves behind; {} left out of the rates",
            part(zero),
            units::agree(zero as u64, "has", "have"),
            units::agree(zero as u64, "it is", "they are"),
        ));
    }
    // exo's server may count one token more than its client (the sequential engine); anything else is a different prompt.
    let mut off: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for run in file.runs.iter().filter(|run| run.figures.is_none()) {
        if let (Some(client), Some(server)) = (run.pp_tokens, run.stats.as_ref().and_then(|stats| stats.prompt_tokens))
            && client != server
        {
            *off.entry((client, server)).or_default() += 1;
        }
    }
    for ((client, server), count) in off {
        let (rows, counts) = (units::count(count, "row"), units::agree(count, "counts", "count"));
        notices.push(format!("{rows} with {client} prompt tokens by the client {counts} {server} by the server"));
    }
    notices.extend(repeated(file));
    notices
}

/// That rows are in the file twice.
pub(super) fn repeated(file: &ResultFile) -> Option<String> {
    let count = repeated_rows(file)?;
    let rows = units::count(count as u64, "row");
    let repeat = units::agree(
        count as u64,
        "repeats another row digit for digit; it is counted as it stands",
        "repeat another row digit for digit; they are counted as they stand",
    );
    Some(format!("{rows} {repeat}"))
}

fn repeated_rows(file: &ResultFile) -> Option<usize> {
    // Rows that are alike took the same time to the last digit; only those are worth writing out.
    let mut by_time: Vec<(Option<u64>, usize)> =
        file.runs.iter().enumerate().map(|(place, run)| (run.elapsed_s.map(f64::to_bits), place)).collect();
    by_time.sort_unstable();
    let alike = by_time.chunk_by(|(a, _), (b, _)| a == b).filter(|alike| alike.len() > 1);
    let mut repeated: usize = 0;
    for alike in alike {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for run in alike.iter().filter_map(|(_, place)| file.runs.get(*place)) {
            // A row that was read can be written; should it not, it is no duplicate.
            if let Ok(text) = serde_json::to_string(run) {
                *seen.entry(text).or_default() += 1;
            }
        }
        repeated += seen.values().map(|count| count - 1).sum::<usize>();
    }
    (repeated > 0).then_some(repeated)
}
