//! The data of the charts as Plotly takes it, and their twin tables.

use analyzer::metric::Metric;
use analyzer::summary::{FileReport, Timeline};
use analyzer::units::Scale;
use serde_json::{Value, json};

use super::run::metric_id;
use super::table::{Cell, Column, Row, Table};

/// A chart and the table that says the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Plotly's traces.
    pub traces: Value,
    /// Plotly's layout.
    pub layout: Value,
    /// The numbers.
    pub twin: Table,
}

/// Okabe–Ito, safe for the colour-blind; black is left out, it cannot be seen in the dark.
const COLOURS: [&str; 7] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#999999"];

/// The metrics that a file has values of, in the catalogue's order.
#[must_use]
pub fn metrics(report: &FileReport) -> Vec<Metric> {
    let has =
        |metric: &Metric| report.cells.iter().any(|cell| cell.metrics.iter().any(|summary| summary.metric == *metric));
    Metric::ALL.into_iter().filter(has).collect()
}

/// Every value of a metric a dot, the median of each cell a line across.
#[must_use]
pub fn repeats(report: &FileReport, metric: Metric) -> Picture {
    let definition = metric.definition();
    let all = report.cells.iter().flat_map(|cell| cell.metrics.iter().filter(|found| found.metric == metric));
    let scale = Scale::of(definition.unit, all.flat_map(|summary| summary.values.iter().copied()));
    let mut traces = Vec::new();
    let mut rows = Vec::new();
    let mut names = Vec::new();
    for (index, cell) in report.cells.iter().enumerate() {
        let Some(summary) = cell.metrics.iter().find(|found| found.metric == metric) else { continue };
        let name = format!("{}<br>{}", cell.key.words(), cell.key.placement());
        let x: Vec<&str> = summary.values.iter().map(|_| name.as_str()).collect();
        let y: Vec<f64> = summary.values.iter().copied().map(|value| scale.scaled(value)).collect();
        let order: Vec<usize> = (1..=y.len()).collect();
        traces.push(json!({"type": "scatter", "mode": "markers", "x": x, "y": y, "customdata": order,
            "hovertemplate": "value %{customdata}: %{y:.4~g}<extra></extra>", "showlegend": false,
            "marker": {"color": COLOURS[0], "opacity": 0.6, "size": 8}}));
        traces.push(json!({"type": "scatter", "mode": "markers", "x": [name], "y": [scale.scaled(summary.median)],
            "hovertemplate": "median of %{text}: %{y:.4~g}<extra></extra>", "text": [summary.n.to_string()],
            "showlegend": false,
            "marker": {"symbol": "line-ew-open", "size": 34, "line": {"width": 3}, "color": COLOURS[4]}}));
        for (number, value) in summary.values.iter().enumerate() {
            rows.push(Row {
                cell: Some(index),
                metric: Some(metric_id(metric)),
                cells: vec![
                    Cell::words(format!("{} {}", cell.key.words(), cell.key.placement())),
                    Cell::number((number + 1).to_string(), "order", Some((number + 1) as f64)),
                    Cell::number(scale.text(Some(*value)), "value", Some(*value)),
                ],
                ..Row::default()
            });
        }
        names.push(name);
    }
    let title = format!("{} ({})", definition.name, scale.label());
    Picture {
        traces: Value::Array(traces),
        layout: json!({
            "title": {"text": format!("{title}: each value a dot, the median a line"), "font": {"size": 14}},
            "yaxis": {"title": {"text": title}, "rangemode": "tozero"},
            "xaxis": {"type": "category", "categoryarray": names, "categoryorder": "array"},
        }),
        twin: Table {
            caption: title.clone(),
            columns: vec![Column::words("cell"), Column::number("value no."), Column::number(title)],
            rows,
            notes: Vec::new(),
        },
    }
}

/// Power of each node over time, with the windows of the measured requests shaded.
#[must_use]
pub fn power(timeline: &Timeline) -> Picture {
    let mut rows = Vec::new();
    let traces: Vec<Value> = timeline
        .series
        .iter()
        .enumerate()
        .map(|(number, series)| {
            for (t, watts) in series.t_s.iter().zip(&series.power_w) {
                rows.push(Row {
                    cells: vec![
                        Cell::words(series.label.clone()),
                        Cell::number(Scale::of("s", [100.0]).text(Some(*t)), "t_s", Some(*t)),
                        Cell::number(Scale::of("W", [100.0]).text(*watts), "power_w", *watts),
                    ],
                    ..Row::default()
                });
            }
            json!({"type": "scatter", "mode": "lines+markers", "name": series.label, "x": series.t_s, "y": series.power_w,
                "connectgaps": false, "hovertemplate": "%{y:.1f} W at %{x:.1f} s<extra>%{fullData.name}</extra>",
                "marker": {"size": 4}, "line": {"width": 2, "color": COLOURS[number % COLOURS.len()]}})
        })
        .collect();
    let shapes: Vec<Value> = timeline
        .windows
        .iter()
        .map(|window| {
            json!({"type": "rect", "xref": "x", "yref": "paper", "x0": window.sent_s, "x1": window.done_s, "y0": 0, "y1": 1,
                "line": {"width": 0}, "fillcolor": COLOURS[window.cell % COLOURS.len()], "opacity": 0.13, "layer": "below"})
        })
        .collect();
    Picture {
        traces: Value::Array(traces),
        layout: json!({
            "title": {"text": "Power of each node; shaded while a measured request ran, one colour per cell", "font": {"size": 14}},
            "yaxis": {"title": {"text": "power (W, whole machine)"}, "rangemode": "tozero"},
            "xaxis": {"title": {"text": "time since the start of the run (s)"}},
            "shapes": shapes, "showlegend": true, "legend": {"orientation": "h", "y": 1.08, "x": 0},
        }),
        twin: Table {
            caption: "Power of each node".into(),
            columns: vec![Column::words("node"), Column::number("time s"), Column::number("power W")],
            rows,
            notes: Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use analyzer::summary::{PowerSeries, RequestWindow};

    use super::*;

    #[test]
    fn windows_are_shaded_and_gaps_stay_gaps() {
        let timeline = Timeline {
            series: vec![PowerSeries {
                node_id: "n".into(),
                label: "studio".into(),
                t_s: vec![0.0, 1.0],
                power_w: vec![Some(30.0), None],
                temperature_c: vec![None, None],
            }],
            windows: vec![RequestWindow { cell: 2, repeat_index: 0, sent_s: 0.2, first_token_s: None, done_s: 0.9 }],
        };
        let picture = power(&timeline);
        assert_eq!(picture.traces[0]["y"], json!([30.0, null]));
        assert_eq!(
            (&picture.layout["shapes"][0]["x0"], &picture.layout["shapes"][0]["x1"]),
            (&json!(0.2), &json!(0.9))
        );
        assert_eq!(picture.twin.rows[1].cells[2].text, "–");
    }
}
