//! A comparison → JUnit's XML: a test case per cell and judged metric, so that any CI shows which one regressed.

use analyzer::comparison::{Comparison, GeomeanComparison, MetricComparison, Verdict};
use analyzer::summary::CellKey;
use analyzer::units;

/// A test case, not yet escaped.
struct Case {
    class: String,
    name: String,
    verdict: Verdict,
    /// The words alone, and with the change and its interval.
    words: String,
    said: String,
}

/// Writes the suite: a failure where a metric regressed, in a cell or over all of them, skipped where it is not comparable; all
/// else passes with its words.
pub(super) fn draw(comparison: &Comparison) -> String {
    let of_cells = comparison
        .cells
        .iter()
        .flat_map(|cell| cell.metrics.iter().filter_map(|row| Some(Case::of_cell(&cell.cell, row, row.verdict?))));
    let whole = comparison.geomean.iter().filter(|row| row.cells > 1);
    let cases: Vec<Case> = of_cells.chain(whole.filter_map(|row| Some(Case::over_all(row, row.verdict?)))).collect();
    let count = |wanted: Verdict| cases.iter().filter(|case| case.verdict == wanted).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
        cases.len(),
        count(Verdict::Regressed),
        count(Verdict::NotComparable)
    );
    let name = escape(&format!("exoscope compare {} → {}", comparison.base, comparison.new));
    let body: String = cases.iter().map(Case::draw).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"{name}\" {counts}>\n{body}  \
         </testsuite>\n</testsuites>\n"
    )
}

impl Case {
    fn of_cell(key: &CellKey, row: &MetricComparison, verdict: Verdict) -> Self {
        let model = key.model_id.as_deref().unwrap_or("model unknown");
        Self {
            class: format!("{model} {}", key.placement()),
            name: format!("{} {} {}", key.words(), key.cache.word(), row.metric.definition().name),
            verdict,
            words: row.words.clone(),
            said: sentence(row),
        }
    }

    fn over_all(row: &GeomeanComparison, verdict: Verdict) -> Self {
        Self {
            class: "over all cells".to_owned(),
            name: format!("{} over {} cells", row.metric.definition().name, row.cells),
            verdict,
            words: row.words.clone(),
            said: in_a_line(&row.words, row.change_percent, row.interval_percent),
        }
    }

    fn draw(&self) -> String {
        let said = escape(&self.said);
        let outcome = match self.verdict {
            Verdict::Regressed => format!("<failure type=\"regressed\" message=\"{said}\"/>"),
            Verdict::NotComparable => format!("<skipped message=\"{}\"/>", escape(&self.words)),
            Verdict::Improved | Verdict::Same | Verdict::Undecided => format!("<system-out>{said}</system-out>"),
        };
        let (class, name) = (escape(&self.class), escape(&self.name));
        format!("    <testcase classname=\"{class}\" name=\"{name}\">{outcome}</testcase>\n")
    }
}

/// The verdict of a cell with its change and interval, in a line.
pub(super) fn sentence(row: &MetricComparison) -> String {
    in_a_line(&row.words, row.change_percent, row.interval_percent)
}

fn in_a_line(words: &str, change: Option<f64>, interval: Option<[f64; 2]>) -> String {
    let change = change.map(|change| format!(": {}", units::change(change))).unwrap_or_default();
    let interval =
        interval.map(|ends| format!(", 95 % interval {}", units::change_range(ends, "to"))).unwrap_or_default();
    format!("{words}{change}{interval}")
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
