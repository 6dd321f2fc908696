//! Every value of a metric a dot, the median of each cell a line across; one file, or two side by side on one axis.

use analyzer::metric::Metric;
use analyzer::summary::{CellKey, FileReport, MetricSummary};
use analyzer::units::{ABSENT, Scale};
use serde_json::{Value, json};

use super::{BASE, NEW, Picture, plain};
use crate::view_model::cell::names;
use crate::view_model::run::metric_id;
use crate::view_model::table::{Cell, Column, Row, Table};

/// Where the axis of the values begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At zero: lengths can be compared by eye.
    Zero,
    /// Near the smallest value: the scatter can be seen. The chart says so.
    Data,
}

/// The metrics that any of the files has values of, in the catalogue's order.
#[must_use]
pub fn metrics(files: &[&FileReport]) -> Vec<Metric> {
    let has =
        |metric: &Metric| files.iter().flat_map(|file| &file.cells).any(|cell| of(&cell.metrics, *metric).is_some());
    Metric::ALL.into_iter().filter(has).collect()
}

/// The chart of one metric of one or two files, base first. Cells stand in the order of the first file, then what only
/// the second has.
#[must_use]
pub fn repeats(files: &[&FileReport], metric: Metric, start: Start) -> Picture {
    let definition = metric.definition();
    let places = places(files, metric);
    let all = files.iter().flat_map(|file| file.cells.iter()).filter_map(|cell| of(&cell.metrics, metric));
    let scale = Scale::of(definition.unit, all.flat_map(|summary| summary.values.iter().copied()));
    let called = names(&places);
    let mut traces = Vec::new();
    let mut rows = Vec::new();
    for (side, file) in files.iter().enumerate() {
        let (mut x, mut y, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let (mut median_x, mut median_y) = (Vec::new(), Vec::new());
        let colour = if side == 0 { BASE } else { NEW };
        for (place, key) in places.iter().enumerate() {
            let Some(summary) =
                file.cells.iter().find(|cell| cell.key == **key).and_then(|cell| of(&cell.metrics, metric))
            else {
                continue;
            };
            let middle = place as f64 + offset(side, files.len());
            median_x.push(middle);
            median_y.push(scale.scaled(summary.median));
            for (number, value) in summary.values.iter().enumerate() {
                // In the order of measurement, from left to right: a drift shows as a slope.
                x.push(middle + spread(number, summary.values.len(), files.len()));
                y.push(scale.scaled(*value));
                numbers.push(number + 1);
                rows.push(Row {
                    cell: Some(place),
                    metric: Some(metric_id(metric)),
                    cells: vec![
                        Cell::words(file.name.clone()),
                        Cell::words(called[place].clone()),
                        session(summary, number),
                        Cell::number((number + 1).to_string(), "order", Some((number + 1) as f64)),
                        Cell::number(scale.text(Some(*value)), "value", Some(*value)),
                    ],
                    ..Row::default()
                });
            }
        }
        traces.push(json!({"type": "scatter", "mode": "markers", "name": plain(&file.name), "x": x, "y": y, "customdata": numbers,
            "hovertemplate": format!("value %{{customdata}}: %{{y:.5~g}} {}<extra>%{{fullData.name}}</extra>", scale.label()),
            "legendgroup": side, "marker": {"color": colour, "opacity": 0.8, "size": 9}}));
        traces.push(json!({"type": "scatter", "mode": "markers", "name": format!("{}, median", plain(&file.name)),
            "x": median_x, "y": median_y, "legendgroup": side, "showlegend": false,
            "hovertemplate": format!("median: %{{y:.5~g}} {}<extra>%{{fullData.name}}</extra>", scale.label()),
            "marker": {"symbol": "line-ew-open", "size": 36, "line": {"width": 2}, "color": colour}}));
    }
    let unit = format!("{} ({})", definition.name, scale.label());
    let cut = if start == Start::Data { "; the axis does not start at zero" } else { "" };
    let title = format!("{unit}: each value a dot, in the order of measurement; the median a line{cut}");
    let ticks: Vec<usize> = (0..places.len()).collect();
    let labels: Vec<String> = called.iter().map(|name| plain(name).replace(" · ", "<br>")).collect();
    Picture {
        traces: Value::Array(traces),
        layout: json!({
            "title": {"text": title, "font": {"size": 14}},
            "yaxis": {"title": {"text": unit}, "rangemode": if start == Start::Zero { "tozero" } else { "normal" }, "zeroline": false},
            "xaxis": {"tickvals": ticks, "ticktext": labels, "range": [-0.5, places.len() as f64 - 0.5], "zeroline": false},
            "showlegend": files.len() > 1, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        }),
        twin: Table {
            caption: unit.clone(),
            columns: vec![
                Column::words("file"),
                Column::words("cell"),
                Column {
                    meaning: "from 0; the instance is replaced between sessions".into(),
                    ..Column::number("session")
                },
                Column::number("value no."),
                Column::number(unit),
            ],
            rows,
            notes: Vec::new(),
        },
        title,
    }
}

fn of(metrics: &[MetricSummary], metric: Metric) -> Option<&MetricSummary> {
    metrics.iter().find(|summary| summary.metric == metric)
}

fn session(summary: &MetricSummary, number: usize) -> Cell {
    let session = summary.sessions.get(number).copied();
    Cell::number(
        session.map_or_else(|| ABSENT.to_owned(), |session| session.to_string()),
        "session",
        session.map(f64::from),
    )
}

/// The cells that have the metric on any side, each once.
fn places<'a>(files: &[&'a FileReport], metric: Metric) -> Vec<&'a CellKey> {
    let mut places: Vec<&CellKey> = Vec::new();
    for cell in files.iter().flat_map(|file| &file.cells) {
        if of(&cell.metrics, metric).is_some() && !places.contains(&&cell.key) {
            places.push(&cell.key);
        }
    }
    places
}

/// Cells are 1 apart; two files stand left and right of the middle.
fn offset(side: usize, sides: usize) -> f64 {
    match (sides, side) {
        (1, _) => 0.0,
        (_, 0) => -0.18,
        _ => 0.18,
    }
}

/// How far left or right of its place a value stands. All values together take a part of the room of their file.
fn spread(number: usize, values: usize, sides: usize) -> f64 {
    let width = if sides == 1 { 0.4 } else { 0.22 };
    if values < 2 { 0.0 } else { width * (number as f64 / (values - 1) as f64 - 0.5) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, rates: &[f64], tg: u64) -> FileReport {
        let rows: Vec<Value> = (0..).zip(rates).map(|(repeat, rate): (u32, _)| {
            json!({"elapsed_s": 1.0, "output_text_preview": "", "stats": {"prompt_tps": 400.0, "generation_tps": rate,
                "prompt_tokens": 64, "generation_tokens": 8, "prefix_cache_hit": "none"}, "model_id": "lab/m",
                "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing", "placement_nodes": 1,
                "instance_id": "i", "pp_tokens": 64, "tg": tg, "repeat_index": repeat})
        }).collect();
        let loaded = analyzer::import::load(name, json!({ "runs": rows }).to_string().as_bytes()).unwrap();
        analyzer::summary::report(&loaded).unwrap()
    }

    #[test]
    fn every_value_is_a_dot_in_the_order_of_measurement() {
        let file = report("a.json", &[50.0, 48.0, 52.0], 8);
        let picture = repeats(&[&file], Metric::GenerationTps, Start::Zero);
        assert_eq!(picture.traces[0]["y"], json!([50.0, 48.0, 52.0]));
        assert_eq!(picture.traces[0]["x"], json!([-0.2, 0.0, 0.2]));
        assert_eq!(picture.traces[1]["y"], json!([50.0]), "the median");
        assert_eq!(picture.layout["yaxis"]["rangemode"], "tozero");
        assert_eq!(picture.layout["showlegend"], false);
        assert_eq!(picture.twin.rows.len(), 3);
    }

    #[test]
    fn two_files_stand_side_by_side_in_their_colours_and_cells_of_one_alone_keep_a_place() {
        let (base, new) = (report("a.json", &[50.0], 8), report("b.json", &[40.0], 16));
        let picture = repeats(&[&base, &new], Metric::GenerationTps, Start::Data);
        assert_eq!(picture.layout["xaxis"]["tickvals"], json!([0, 1]));
        assert_eq!((&picture.traces[0]["x"], &picture.traces[2]["x"]), (&json!([-0.18]), &json!([1.18])));
        assert_eq!(
            (&picture.traces[0]["marker"]["color"], &picture.traces[2]["marker"]["color"]),
            (&json!(BASE), &json!(NEW))
        );
        assert!(picture.title.ends_with("does not start at zero"));
    }

    #[test]
    fn metrics_are_those_with_values_in_the_order_of_the_catalogue() {
        let file = report("a.json", &[50.0], 8);
        assert_eq!(metrics(&[&file])[..3], [Metric::PrefillTps, Metric::GenerationTps, Metric::Elapsed]);
        assert!(!metrics(&[&file]).contains(&Metric::Energy));
    }
}
