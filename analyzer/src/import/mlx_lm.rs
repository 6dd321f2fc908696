//! The text that `mlx_lm.benchmark` prints: a line per trial, inside one process.

use super::foreign::{Found, Row};

/// Whether the text holds trials.
pub(super) fn is(text: &str) -> bool {
    text.lines().any(|line| trial(line).is_some())
}

/// A row per trial. The averages are left out: they are reckoned from the trials again.
pub(super) fn import(text: &str) -> Result<Found, String> {
    let mut found = Found { engine: Some("mlx-lm".to_owned()), ..Found::default() };
    let mut base = Row::default();
    for line in text.lines() {
        if line.contains("prompt_tokens=") && line.contains("generation_tokens=") {
            found.unread.words(line, &["prompt_tokens=", "generation_tokens=", "batch_size="], value, 0.0);
            base.pp = count(line, "prompt_tokens=").map(|tokens| tokens as u64);
            base.tg = count(line, "generation_tokens=").map(|tokens| tokens as u64);
            base.concurrency = value(line, "batch_size=").map(|size| size as u32).filter(|size| *size > 0);
        }
        let Some((place, rest)) = trial(line) else { continue };
        found.unread.words(rest, &["prompt_tps=", "generation_tps=", "peak_memory="], value, 0.0);
        let mut row = base.clone();
        row.repeat = place.saturating_sub(1);
        row.prompt_tps = value(rest, "prompt_tps=");
        row.generation_tps = value(rest, "generation_tps=");
        // mlx-lm prints 10^9 bytes as GB.
        row.peak_bytes = value(rest, "peak_memory=").filter(|gb| *gb > 0.0).map(|gb| (gb * 1e9).round() as u64);
        if row.concurrency > Some(1) {
            row.figures.stands_for = row.concurrency.map(u64::from);
            found.notices.push("rates of a batch are those of all its sequences together".to_owned());
        }
        found.rows.push(row);
    }
    found.notices.dedup();
    Ok(found)
}

/// A count, from 0.
fn count(line: &str, name: &str) -> Option<f64> {
    value(line, name).filter(|count| *count >= 0.0)
}

/// The number of a trial and what it says.
fn trial(line: &str) -> Option<(u32, &str)> {
    let (place, rest) = line.trim().strip_prefix("Trial ")?.split_once(':')?;
    let place = place.trim().parse().ok()?;
    rest.contains("prompt_tps=").then_some((place, rest))
}

/// The number behind a name.
pub(super) fn value(line: &str, name: &str) -> Option<f64> {
    // The name stands alone: `gen_tokens=` is no `tokens=`.
    let at = line
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|at| !line[..*at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_'))?;
    let rest = &line[at + name.len()..];
    let end =
        rest.find(|letter: char| !matches!(letter, '0'..='9' | '.' | '-' | '+' | 'e' | 'E')).unwrap_or(rest.len());
    // A comma within a number is another language's point, or parts thousands: which of the two, it does not tell.
    let more =
        rest[end..].strip_prefix(',').is_some_and(|more| more.starts_with(|letter: char| letter.is_ascii_digit()));
    if more {
        return None;
    }
    rest[..end].trim_end_matches(['.', 'e', 'E']).parse().ok().filter(|number: &f64| number.is_finite())
}
