//! One file: a table per cell, and the words of the library's list.

use analyzer::metric::Metric;
use analyzer::summary::{AbsentMetric, CellReport, FileReport, MetricSummary};
use analyzer::units::{ABSENT, Scale, count, fixed};

use super::cell::names;
use super::table::{Cell, Column, Row, Table};

/// One line about a file, for the list.
#[must_use]
pub fn about(report: &FileReport) -> String {
    let fact = |key: &str| report.facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone());
    let requests: u64 = report.cells.iter().map(|cell| cell.requests).sum();
    let failed = report.failures.iter().filter(|failure| !failure.warmup).count() as u64;
    let mut words: Vec<String> = ["engine", "model", "placement"].into_iter().filter_map(fact).collect();
    words.push(count(requests, "request"));
    if failed > 0 {
        words.push(format!("{failed} failed"));
    }
    words.extend(fact("started").map(|started| to_the_minute(&started)));
    words.join(" · ")
}

/// "2026-06-03T09:00:12Z" → "2026-06-03 09:00 UTC"; all that is not an RFC 3339 time in UTC stays as it is.
fn to_the_minute(time: &str) -> String {
    match time.strip_suffix('Z').and_then(|time| time.split_once('T')) {
        Some((day, clock)) if day.len() == 10 && clock.len() >= 5 && clock.is_char_boundary(5) => {
            format!("{day} {} UTC", &clock[..5])
        }
        _ => time.to_owned(),
    }
}

/// The failures of a file, in the order they happened.
#[must_use]
pub fn failures(report: &FileReport) -> Table {
    let rows = report.failures.iter().map(|failure| Row {
        cells: vec![
            Cell::words(spelt(failure.kind).replace('_', " ")),
            Cell::words(failure.status.map_or_else(|| ABSENT.to_owned(), |status| status.to_string())),
            Cell::words(failure.cell.clone()),
            Cell::number(failure.repeat_index.to_string(), "repeat_index", Some(f64::from(failure.repeat_index))),
            Cell::words(if failure.warmup { "yes" } else { "no" }),
            Cell { class: "long", ..Cell::words(failure.message.clone()) },
        ],
        ..Row::default()
    });
    Table {
        caption: format!("{}, in no average", count(report.failures.len() as u64, "failure")),
        columns: vec![
            Column::words("what"),
            Column { meaning: "HTTP status".into(), ..Column::words("status") },
            Column::words("cell"),
            Column { meaning: "from 0".into(), ..Column::number("repeat") },
            Column::words("warm-up"),
            Column::words("words of the server or the system"),
        ],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// The tables of all cells, in the order of first appearance.
#[must_use]
pub fn cell_tables(report: &FileReport) -> Vec<Table> {
    let names = names(&report.cells.iter().map(|cell| &cell.key).collect::<Vec<_>>());
    report.cells.iter().zip(names).enumerate().map(|(index, (cell, name))| cell_table(index, &name, cell)).collect()
}

/// The table of one cell: a row per metric.
fn cell_table(index: usize, name: &str, cell: &CellReport) -> Table {
    let counts = [
        count(cell.requests, "request"),
        count(cell.batches, "batch"),
        count(cell.sessions, "session"),
        format!("{} failed", cell.failed),
    ];
    let mut notes = Vec::new();
    let mut rows: Vec<Row> = cell.metrics.iter().map(|summary| metric_row(index, summary, &mut notes)).collect();
    rows.extend(cell.absent.iter().map(|absent| absent_row(absent, &mut notes)));
    let said = cell.notices.iter().map(|notice| format!("; {notice}")).collect::<String>();
    Table {
        caption: format!("{name} — {}{said}", counts.join(", ")),
        columns: vec![
            Column::words("metric"),
            Column::words("unit"),
            Column::number("n"),
            Column::number("median"),
            Column::number("mean"),
            Column {
                meaning: "95 % interval of the mean (Student), over batches, or over sessions where they differ".into(),
                ..Column::number("95 % of mean")
            },
            Column { meaning: "sample standard deviation (n − 1)".into(), ..Column::number("sd") },
            Column { meaning: "coefficient of variation: sd / mean".into(), ..Column::number("CV %") },
            Column {
                meaning: "stable below 5 % CV of the batches, variable below 10 %, else unstable".into(),
                ..Column::words("steady")
            },
            Column::number("min"),
            Column::number("max"),
            Column::words("note"),
        ],
        rows,
        notes,
    }
}

fn metric_row(index: usize, summary: &MetricSummary, notes: &mut Vec<String>) -> Row {
    let definition = summary.metric.definition();
    let scale = Scale::of(&summary.unit, [summary.median, summary.mean, summary.min, summary.max]);
    let number = |stat, value: Option<f64>| Cell::number(scale.text(value), stat, value);
    let cv = summary.cv_percent.map_or_else(|| ABSENT.to_owned(), |cv| fixed(cv, 1));
    Row {
        cell: Some(index),
        metric: Some(metric_id(summary.metric)),
        cells: vec![
            Cell { more: Some(summary.formula().to_owned()), ..Cell::words(definition.name) },
            Cell::words(scale.label()),
            Cell::number(summary.n.to_string(), "n", Some(summary.n as f64)),
            number("median", Some(summary.median)),
            number("mean", Some(summary.mean)),
            interval(&scale, summary),
            number("sd", summary.sd),
            Cell::number(cv, "cv_percent", summary.cv_percent),
            Cell::words(summary.stability.word()),
            // Those of the requests behind a figure are not known.
            number("min", Some(summary.min).filter(|_| summary.published.is_none())),
            number("max", Some(summary.max).filter(|_| summary.published.is_none())),
            Cell::marks(notes, summary.warnings.clone()),
        ],
        ..Row::default()
    }
}

/// The interval of the mean; a dash where nothing was repeated.
fn interval(scale: &Scale, summary: &MetricSummary) -> Cell {
    let text = summary.mean_interval.as_ref().map_or_else(
        || ABSENT.to_owned(),
        |interval| format!("{}–{}", scale.text(Some(interval.low)), scale.text(Some(interval.high))),
    );
    Cell { class: "number", ..Cell::words(text) }
}

/// A metric that is too weak to be shown: a dash, and the reason below.
fn absent_row(absent: &AbsentMetric, notes: &mut Vec<String>) -> Row {
    let definition = absent.metric.definition();
    let dash = || Cell::words(ABSENT);
    Row {
        cells: vec![
            Cell { more: Some(definition.formula.to_owned()), ..Cell::words(definition.name) },
            Cell::words(definition.unit),
            Cell::words("0"),
            dash(),
            dash(),
            dash(),
            dash(),
            dash(),
            dash(),
            dash(),
            dash(),
            Cell::marks(notes, vec![absent.why.clone()]),
        ],
        ..Row::default()
    }
}

/// A metric as JSON spells it.
#[must_use]
pub fn metric_id(metric: Metric) -> String {
    spelt(metric)
}

/// A word of a closed list as JSON spells it.
fn spelt(word: impl serde::Serialize + std::fmt::Debug) -> String {
    match serde_json::to_value(&word) {
        Ok(serde_json::Value::String(id)) => id,
        // They are all spelt as strings; should that change, tables still name them.
        _ => format!("{word:?}"),
    }
}

/// The lines that exo's console prints for a cell; None for one of another tool.
#[must_use]
pub fn console(cell: &CellReport) -> Option<String> {
    let figures = cell.exo_console.as_ref()?;
    let mut lines = figures.batch_lines(cell.key.together());
    lines.push(figures.summary_line());
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> FileReport {
        let row = |repeat: u32, rate: f64| {
            serde_json::json!({"elapsed_s": 1.0, "output_text_preview": "", "stats": {"prompt_tps": rate,
                "generation_tps": 50.0, "prompt_tokens": 64, "generation_tokens": 8,
                "peak_memory_usage": {"inBytes": 1_073_741_824}, "prefix_cache_hit": "none"},
                "power_usage": null, "model_short_id": "m", "model_id": "lab/m", "placement_sharding": "Pipeline",
                "placement_instance_meta": "MlxRing", "placement_nodes": 1, "instance_id": "i", "pp_tokens": 64, "tg": 8,
                "repeat_index": repeat, "concurrency": 1})
        };
        let file = serde_json::json!({ "runs": [row(0, 400.0), row(1, 410.0)] }).to_string();
        let loaded = analyzer::import::load("f.json", file.as_bytes()).unwrap();
        analyzer::summary::report(&loaded).unwrap()
    }

    #[test]
    fn a_cell_has_a_row_per_metric_with_unrounded_values_behind() {
        let report = report();
        let table = cell_tables(&report).remove(0);
        let row = table.rows.iter().find(|row| row.metric.as_deref() == Some("prefill_tps")).unwrap();
        let of = |stat: &str| row.cells.iter().find(|cell| cell.stat == Some(stat)).unwrap();
        assert_eq!((of("median").text.as_str(), of("median").value), ("405.0", Some(405.0)));
        assert_eq!(of("n").value, Some(2.0));
        assert_eq!(table.columns.len(), row.cells.len());
        assert!(about(&report).contains("2 requests"), "{}", about(&report));
    }

    #[test]
    fn a_metric_that_is_too_weak_is_a_dash_with_its_reason_and_the_cell_says_what_failed() {
        let mut report = report();
        report.cells[0].absent.push(AbsentMetric {
            metric: Metric::Energy,
            codes: Vec::new(),
            why: "window too short".to_owned(),
        });
        report.cells[0].notices = vec!["1 of 3 requests failed; the numbers stand on the rest".to_owned()];
        let table = cell_tables(&report).remove(0);
        let row = table.rows.last().unwrap();
        assert_eq!((row.cells.len(), row.cells[3].text.as_str()), (table.columns.len(), ABSENT));
        assert!(table.notes.contains(&"window too short".to_owned()), "{:?}", table.notes);
        assert!(
            table.caption.ends_with("; 1 of 3 requests failed; the numbers stand on the rest"),
            "{}",
            table.caption
        );
    }
}
