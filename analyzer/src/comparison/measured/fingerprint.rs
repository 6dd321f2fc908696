//! Whether two files hold the same measurement: a digest of their rows.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::record::Run;

/// SHA-256 of the rows as JSON, in hexadecimal digits; None for no rows.
///
/// Fields stand in the order of their declaration, keys that no field has in alphabetical order, and numbers in the shortest
/// digits that give them back: neither the machine nor the file's layout shows in it.
pub(super) fn fingerprint(runs: &[Run]) -> Option<String> {
    if runs.is_empty() {
        return None;
    }
    let mut digest = Sha256::new();
    let mut line = Vec::new();
    for run in runs {
        line.clear();
        // Rows of numbers, text and maps keyed by text can always be written.
        let written = if has_keys_of_others(run) {
            serde_json::to_value(run).and_then(|mut row| {
                row.sort_all_objects();
                serde_json::to_writer(&mut line, &row)
            })
        } else {
            serde_json::to_writer(&mut line, run)
        };
        written.ok()?;
        line.push(b'\n');
        digest.update(&line);
    }
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        write!(text, "{byte:02x}").ok()?;
    }
    Some(text)
}

/// Whether a row holds what others wrote: only such keys come in the order of the file.
fn has_keys_of_others(run: &Run) -> bool {
    let usage = run
        .power_usage
        .as_deref()
        .is_some_and(|usage| !usage.unknown.is_empty() || usage.nodes.iter().any(|node| !node.unknown.is_empty()));
    let figures = run.figures.as_deref().is_some_and(|figures| !figures.published.is_empty());
    usage
        || figures
        || !run.unknown.is_empty()
        || run.stats.as_ref().is_some_and(|stats| !stats.unknown.is_empty())
        || run.exoscope.as_deref().is_some_and(|detail| !detail.unknown.is_empty())
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
        // By Python: sha256 of json.dumps(row, separators=(",", ":")) and a line feed, with null for what is not there.
        let row = runs(r#"[{"elapsed_s": 10.5, "output_text_preview": "", "stats": null}]"#);
        assert_eq!(fingerprint(&row).unwrap(), "912d60a2bcd0c43e39c37f43b37eeb39e55e3be4b339cbd67b24b24a52d05cee");
    }
}
