//! One file: a table per cell, and the words of the library's list.

use analyzer::summary::{CellReport, FileReport, MetricSummary};
use analyzer::units::{ABSENT, Scale, count, fixed};

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
    words.extend(fact("started"));
    words.join(" · ")
}

/// The table of one cell: a row per metric.
#[must_use]
pub fn cell_table(index: usize, cell: &CellReport) -> Table {
    let counts = [
        count(cell.requests, "request"),
        count(cell.batches, "batch"),
        count(cell.sessions, "session"),
        format!("{} failed", cell.failed),
    ];
    let mut notes = Vec::new();
    let rows = cell.metrics.iter().map(|summary| metric_row(index, summary, &mut notes)).collect();
    Table {
        caption: format!("{} — {} — {}", cell.key.words(), cell.key.placement(), counts.join(", ")),
        columns: vec![
            Column::words("metric"),
            Column::words("unit"),
            Column::number("n"),
            Column::number("median"),
            Column::number("mean"),
            Column { meaning: "sample standard deviation (n − 1)".into(), ..Column::number("sd") },
            Column { meaning: "coefficient of variation: sd / mean".into(), ..Column::number("CV %") },
            Column {
                meaning: "stable below 5 % CV, variable below 10 %, else unstable".into(),
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
    let scale = Scale::of(&summary.unit, [summary.median, summary.mean, summary.min, summary.max]);
    let number = |stat, value: Option<f64>| Cell::number(scale.text(value), stat, value);
    let cv = summary.cv_percent.map_or_else(|| ABSENT.to_owned(), |cv| fixed(cv, 1));
    Row {
        cell: Some(index),
        metric: Some(metric_id(summary.metric)),
        cells: vec![
            Cell::words(summary.metric.definition().name),
            Cell::words(scale.label()),
            Cell::number(summary.n.to_string(), "n", Some(summary.n as f64)),
            number("median", Some(summary.median)),
            number("mean", Some(summary.mean)),
            number("sd", summary.sd),
            Cell::number(cv, "cv_percent", summary.cv_percent),
            Cell::words(summary.stability.word()),
            number("min", Some(summary.min)),
            number("max", Some(summary.max)),
            Cell { class: "note", ..Cell::words(Table::marks(notes, summary.warnings.iter().cloned())) },
        ],
        ..Row::default()
    }
}

/// A metric as JSON spells it.
#[must_use]
pub fn metric_id(metric: analyzer::metric::Metric) -> String {
    match serde_json::to_value(metric) {
        Ok(serde_json::Value::String(id)) => id,
        // Metrics are spelt as strings; should that change, tables still name them.
        _ => format!("{metric:?}"),
    }
}

/// The lines that exo's console prints for a cell.
#[must_use]
pub fn console(cell: &CellReport) -> String {
    let mut lines = cell.exo_console.batch_lines(cell.key.concurrency);
    lines.push(cell.exo_console.summary_line());
    lines.join("\n")
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
        let table = cell_table(0, &report.cells[0]);
        let row = table.rows.iter().find(|row| row.metric.as_deref() == Some("prefill_tps")).unwrap();
        let of = |stat: &str| row.cells.iter().find(|cell| cell.stat == Some(stat)).unwrap();
        assert_eq!((of("median").text.as_str(), of("median").value), ("405.0", Some(405.0)));
        assert_eq!(of("n").value, Some(2.0));
        assert_eq!(table.columns.len(), row.cells.len());
        assert!(about(&report).contains("2 requests"), "{}", about(&report));
    }
}
