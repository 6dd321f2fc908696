//! Whether two files hold the same measurement: a digest of what was measured.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::record::Run;

/// SHA-256 of what was measured of each row, in hexadecimal digits; None for no rows.
///
/// Of a row count what was asked for and every number that was measured, to the last bit; a number that is absent is a NaN
/// there. Labels, previews and notices do not: a copy with another word in it is the same measurement. Neither the machine nor
/// the file's layout shows in the digest.
pub(super) fn fingerprint(runs: &[Run]) -> Option<String> {
    if runs.is_empty() {
        return None;
    }
    let mut digest = Sha256::new();
    let mut row = Vec::new();
    for run in runs {
        row.clear();
        row.extend(run.model_id.as_deref().unwrap_or_default().bytes());
        row.push(0);
        for number in numbers(run) {
            row.extend(number.unwrap_or(f64::NAN).to_bits().to_le_bytes());
        }
        // Rows of other tools are few and small; their own words stand in the order of their keys.
        if let Some(figures) = &run.figures {
            let mut value = serde_json::to_value(figures).ok()?;
            value.sort_all_objects();
            row.extend(value.to_string().bytes());
        }
        digest.update(&row);
    }
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        write!(text, "{byte:02x}").ok()?;
    }
    Some(text)
}

/// What was asked for and what was measured.
fn numbers(run: &Run) -> [Option<f64>; 16] {
    let stats = run.stats.as_ref();
    let timing = run.exoscope.as_deref().map(|detail| &detail.timing);
    let count = |count: Option<u64>| count.map(|count| count as f64);
    [
        count(run.pp_tokens),
        count(run.tg),
        run.concurrency.map(f64::from),
        run.repeat_index.map(f64::from),
        run.exoscope.as_deref().map(|detail| f64::from(detail.session)),
        run.elapsed_s,
        stats.and_then(|stats| stats.prompt_tps),
        stats.and_then(|stats| stats.generation_tps),
        count(stats.and_then(|stats| stats.prompt_tokens)),
        count(stats.and_then(|stats| stats.generation_tokens)),
        count(stats.and_then(|stats| stats.peak_memory_usage).map(|size| size.bytes())),
        run.power_usage.as_deref().and_then(|usage| usage.total_energy_joules),
        timing.map(|timing| timing.sent_s),
        timing.and_then(|timing| timing.first_token_s),
        timing.and_then(|timing| timing.last_token_s),
        timing.map(|timing| timing.done_s),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> Vec<Run> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_same_rows_have_the_same_digest_however_they_are_written() {
        let plain =
            runs(r#"[{"elapsed_s": 10.0, "output_text_preview": null, "stats": null, "b": 1, "a": {"y": 2, "x": 3}}]"#);
        let other =
            runs(r#"[{"a": {"x": 3, "y": 2}, "stats": null, "b": 1, "elapsed_s": 1e1, "output_text_preview": null}]"#);
        let found = fingerprint(&plain).unwrap();
        assert_eq!(Some(&found), fingerprint(&other).as_ref());
        assert_eq!(found.len(), 64);
        let slower = runs(
            r#"[{"elapsed_s": 10.000000000000002, "output_text_preview": null, "stats": null, "b": 1, "a": {"y": 2, "x": 3}}]"#,
        );
        assert_ne!(Some(found), fingerprint(&slower), "the last bit counts");
        assert_eq!(fingerprint(&[]), None);
    }

    #[test]
    fn the_digest_is_the_same_on_every_machine() {
        // By Python: b"\0" and sixteen little-endian doubles (struct "<16d"), NaN 0x7ff8000000000000 but for the sixth.
        let row = runs(r#"[{"elapsed_s": 10.5, "output_text_preview": "", "stats": null}]"#);
        assert_eq!(fingerprint(&row).unwrap(), "2e51294d0ff3862b0940613ba03851294799016fd4d0136b248eba110d729f08");
    }
}
