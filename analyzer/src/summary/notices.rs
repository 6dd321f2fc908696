//! What a reader should know of a cell as a whole: how much of what was asked for its numbers stand on.

use super::{CacheState, CellKey, CellReport};
use crate::record::{ResultFile, Run};
use crate::units;

/// Fewer batches than this have hardly a deviation; three is also exo's own advice for `--repeat`.
const BATCHES_NEEDED: u64 = 3;

/// The sentences of a cell; none for one that has all it asked for. `batches` are those of its group, whatever the cache did:
/// what was asked for is asked of them together. `foreign` are
/// its rows where another tool measured it, which tells its failures itself.
pub(super) fn notices(file: &ResultFile, cell: &CellReport, batches: u64, foreign: Option<u64>) -> Vec<String> {
    let mut notices = Vec::new();
    let all = cell.requests + cell.failed;
    if cell.failed > 0 {
        let rest = if cell.requests == 0 { "there is no number" } else { "the numbers stand on the rest" };
        notices.push(format!("{} of {} failed; {rest}", cell.failed, units::count(all, "request")));
    }
    if cell.requests == 0 {
        return notices;
    }
    // exo's client writes no row for a request that failed, and our failures name theirs.
    let silent = (cell.batches * u64::from(cell.key.together())).saturating_sub(all);
    if silent > 0 && foreign.is_none() {
        notices.push(format!("{} of its batches gave no row", units::count(silent, "request")));
    }
    let asked = asked(file);
    match asked {
        Some(asked) if batches < asked => {
            notices.push(format!("{} gave a valid request", units::part(batches, asked, "batch")));
        }
        _ if foreign > Some(cell.batches) && cell.batches < BATCHES_NEEDED => notices.push(format!(
            "{} ran side by side in {} and are not independent of each other: {}",
            units::count(cell.requests, "request"),
            units::count(cell.batches, "run"),
            if cell.batches == 1 { "one run has no interval" } else { "two runs say little of how the numbers vary" },
        )),
        _ if foreign.is_some_and(|rows| rows < cell.requests) && cell.batches < BATCHES_NEEDED => {
            notices.push(format!(
                "{} over {}: how they varied is only in what was published",
                units::count(cell.batches, "published figure"),
                units::count(cell.requests, "request"),
            ))
        }
        _ if cell.batches < BATCHES_NEEDED => notices.push(format!(
            "{} in all: fewer than {BATCHES_NEEDED} say little of how the numbers vary",
            units::count(cell.batches, "valid batch")
        )),
        _ => {}
    }
    notices
}

/// What the token counts of the rows tell: a prompt that the server counts otherwise has not the length it says, and an
/// answer that stopped early was cut off although the end of sequence is banned.
///
/// exo's batch engine counts N prompt tokens and its sequential engine N + 1; with the cache, the latter counts the
/// uncached rest only, so that nothing follows from a difference there.
pub(super) fn counts(key: &CellKey, rows: &[&Run]) -> Vec<String> {
    let mut notices = Vec::new();
    let otherwise = |run: &&&Run| {
        let counts = run.pp_tokens.zip(run.stats.as_ref().and_then(|stats| stats.prompt_tokens));
        counts.is_some_and(|(asked, counted)| counted != asked && Some(counted) != asked.checked_add(1))
    };
    if let Some(first) = rows.iter().find(otherwise).filter(|_| key.cache == CacheState::Cold) {
        let counted = first.stats.as_ref().and_then(|stats| stats.prompt_tokens);
        notices.push(format!(
            "{} of {}: the server counted {} prompt tokens where {} were made; its tokenizer or template is another one",
            rows.iter().filter(otherwise).count(),
            units::count(rows.len() as u64, "request"),
            counted.map_or_else(|| units::ABSENT.to_owned(), |count| count.to_string()),
            first.pp_tokens.map_or_else(|| units::ABSENT.to_owned(), |count| count.to_string()),
        ));
    }
    let short = |run: &&&Run| {
        let counts = run.tg.zip(run.stats.as_ref().and_then(|stats| stats.generation_tokens));
        counts.is_some_and(|(asked, generated)| generated < asked)
    };
    let stopped = rows.iter().filter(short).count();
    if stopped > 0 {
        notices.push(format!(
            "{stopped} of {} stopped before the tokens that were asked for: rates of shorter answers are not the same quantity",
            units::count(rows.len() as u64, "request"),
        ));
    }
    notices
}

/// Batches that were asked for of each cell: repeats × sessions. None where the file does not tell, or repeated until the
/// mean was known well enough.
fn asked(file: &ResultFile) -> Option<u64> {
    let provenance = file.exoscope.as_ref()?;
    let method = &provenance.method;
    method.target_precision.is_none().then(|| u64::from(method.repeat) * u64::from(provenance.sessions))
}
