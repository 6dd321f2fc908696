//! A comparison → JUnit's XML: a test case per cell and judged metric, so that any CI shows which one regressed.

use analyzer::comparison::{Comparison, MetricComparison, Verdict};
use analyzer::summary::CellKey;
use analyzer::units;

/// Writes the suite: a failure where a metric regressed, skipped where it is not comparable; all else passes with its words.
pub(super) fn draw(comparison: &Comparison) -> String {
    let cases: Vec<(&CellKey, &MetricComparison, Verdict)> = comparison
        .cells
        .iter()
        .flat_map(|cell| cell.metrics.iter().filter_map(|row| Some((&cell.cell, row, row.verdict?))))
        .collect();
    let count = |wanted: Verdict| cases.iter().filter(|(_, _, verdict)| *verdict == wanted).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
        cases.len(),
        count(Verdict::Regressed),
        count(Verdict::NotComparable)
    );
    let name = escape(&format!("exoscope compare {} → {}", comparison.base, comparison.new));
    let body: String = cases.iter().map(|(key, row, verdict)| case(key, row, *verdict)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"{name}\" {counts}>\n{body}  \
         </testsuite>\n</testsuites>\n"
    )
}

fn case(key: &CellKey, row: &MetricComparison, verdict: Verdict) -> String {
    let model = key.model_id.as_deref().unwrap_or("model unknown");
    let class = escape(&format!("{model} {}", key.placement()));
    let name = escape(&format!("{} {} {}", key.words(), key.cache.word(), row.metric.definition().name));
    let said = escape(&sentence(row));
    let outcome = match verdict {
        Verdict::Regressed => format!("<failure type=\"regressed\" message=\"{said}\"/>"),
        Verdict::NotComparable => format!("<skipped message=\"{}\"/>", escape(&row.words)),
        Verdict::Improved | Verdict::Same | Verdict::Undecided => format!("<system-out>{said}</system-out>"),
    };
    format!("    <testcase classname=\"{class}\" name=\"{name}\">{outcome}</testcase>\n")
}

/// The verdict with its change and interval, in a line.
pub(super) fn sentence(row: &MetricComparison) -> String {
    let change = row.change_percent.map(|change| format!(": {}", units::change(change))).unwrap_or_default();
    let interval = row
        .interval_percent
        .map(|ends| format!(", 95 % interval {}", units::change_range(ends, "to")))
        .unwrap_or_default();
    format!("{}{change}{interval}", row.words)
}

/// Text that XML would read as its own, and characters that it has no way to write.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in crate::report::tame(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_name_cannot_break_the_document() {
        assert_eq!(escape("a<b>&\"c\u{1b}"), "a&lt;b&gt;&amp;&quot;c\u{FFFD}");
    }
}
