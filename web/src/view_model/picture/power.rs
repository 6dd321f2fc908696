//! Power of each node over time, with the windows of the measured requests shaded.

use analyzer::summary::{PowerSeries, RequestWindow, Timeline};
use analyzer::units::Scale;
use serde_json::{Value, json};

use super::{Picture, plain};
use crate::view_model::table::{Cell, Column, Row, Table};

/// Okabe–Ito, safe for the colour-blind; black and yellow are left out, each is lost on one of the two grounds.
const COLOURS: [&str; 7] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#999999"];

/// Readings of one node that are drawn as they are. More are drawn as the lowest and the highest of each stretch, so that
/// no peak is lost: a screen has fewer columns, and the browser would take seconds.
const DRAWN: usize = 8000;

/// Windows that are drawn one by one. More of them are drawn as the stretches in which any request ran.
const WINDOWS: usize = 400;

/// The chart of a time line.
#[must_use]
pub fn power(timeline: &Timeline) -> Picture {
    let thinned: Vec<Thinned> = timeline.series.iter().map(thin).collect();
    let seconds = Scale::of("s", timeline.series.iter().filter_map(|series| series.t_s.last().copied()));
    let watts = Scale::of("W", timeline.series.iter().flat_map(|series| series.power_w.iter().copied().flatten()));
    let mut rows = Vec::new();
    let mut traces = Vec::new();
    for (number, (series, points)) in timeline.series.iter().zip(&thinned).enumerate() {
        rows.extend(points.t_s.iter().zip(&points.power_w).map(|(t, power)| Row {
            cells: vec![
                Cell::words(series.label.clone()),
                Cell::number(seconds.text(Some(*t)), "t_s", Some(*t)),
                Cell::number(watts.text(*power), "power_w", *power),
            ],
            ..Row::default()
        }));
        let y: Vec<Option<f64>> = points.power_w.iter().map(|power| power.map(|power| watts.scaled(power))).collect();
        traces.push(
            json!({"type": "scatter", "mode": "lines+markers", "name": plain(&series.label), "x": points.t_s, "y": y,
            "connectgaps": false, "marker": {"size": 4},
            "hovertemplate": format!("%{{y:.4~g}} {} at %{{x:.1f}} s<extra>%{{fullData.name}}</extra>", watts.label()),
            "line": {"width": 2, "color": COLOURS[number % COLOURS.len()]}}),
        );
    }
    let stretch = thinned.iter().map(|points| points.stretch).max().filter(|stretch| *stretch > 1);
    let thinned =
        stretch.map(|stretch| format!("; lowest and highest of every {stretch} readings")).unwrap_or_default();
    let (shapes, shaded) = shapes(&timeline.windows);
    let title = format!("Power of each node; shaded while {shaded}{thinned}");
    Picture {
        traces: Value::Array(traces),
        layout: json!({
            "title": {"text": title, "font": {"size": 14}},
            "yaxis": {"title": {"text": format!("power ({}, whole machine)", watts.label())}, "rangemode": "tozero"},
            "xaxis": {"title": {"text": "time since the start of the run (s)"}, "zeroline": false},
            "shapes": shapes, "showlegend": true, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        }),
        twin: Table {
            caption: format!("Power of each node{thinned}"),
            columns: vec![
                Column::words("node"),
                Column::number(format!("time ({})", seconds.label())),
                Column::number(format!("power ({})", watts.label())),
            ],
            rows,
            notes: Vec::new(),
        },
        title,
    }
}

struct Thinned {
    t_s: Vec<f64>,
    power_w: Vec<Option<f64>>,
    /// Readings that one pair of points stands for; 1 where all are drawn.
    stretch: usize,
}

fn thin(series: &PowerSeries) -> Thinned {
    let readings = series.t_s.len();
    if readings <= DRAWN {
        return Thinned { t_s: series.t_s.clone(), power_w: series.power_w.clone(), stretch: 1 };
    }
    let stretch = readings.div_ceil(DRAWN / 2);
    let mut kept = Thinned { t_s: Vec::new(), power_w: Vec::new(), stretch };
    for (times, powers) in series.t_s.chunks(stretch).zip(series.power_w.chunks(stretch)) {
        let read = || times.iter().zip(powers).filter_map(|(t, power)| power.map(|power| (*t, power)));
        let low = read().min_by(|one, other| one.1.total_cmp(&other.1));
        let high = read().max_by(|one, other| one.1.total_cmp(&other.1));
        match low.zip(high) {
            Some((low, high)) => {
                let (first, second) = if low.0 <= high.0 { (low, high) } else { (high, low) };
                for (t, power) in [first, second] {
                    kept.t_s.push(t);
                    kept.power_w.push(Some(power));
                }
            }
            // A stretch without a reading stays a gap in the line.
            None => {
                kept.t_s.extend(times.first());
                kept.power_w.push(None);
            }
        }
    }
    kept
}

/// The shaded windows, and in words what they are.
fn shapes(windows: &[RequestWindow]) -> (Vec<Value>, &'static str) {
    let shape = |from: f64, to: f64, colour: &str| {
        json!({"type": "rect", "xref": "x", "yref": "paper", "x0": from, "x1": to, "y0": 0, "y1": 1,
            "line": {"width": 0}, "fillcolor": colour, "opacity": 0.13, "layer": "below"})
    };
    if windows.len() <= WINDOWS {
        let each =
            windows.iter().map(|window| shape(window.sent_s, window.done_s, COLOURS[window.cell % COLOURS.len()]));
        return (each.collect(), "a measured request ran, one colour per cell");
    }
    let mut spans: Vec<(f64, f64)> = windows.iter().map(|window| (window.sent_s, window.done_s)).collect();
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    (joined.into_iter().map(|(from, to)| shape(from, to, COLOURS[0])).collect(), "any measured request ran")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(t_s: Vec<f64>, power_w: Vec<Option<f64>>) -> PowerSeries {
        let temperature_c = vec![None; t_s.len()];
        PowerSeries { node_id: "n".into(), label: "studio".into(), t_s, power_w, temperature_c }
    }

    fn window(cell: usize, sent_s: f64, done_s: f64) -> RequestWindow {
        RequestWindow { cell, repeat_index: 0, sent_s, first_token_s: None, done_s }
    }

    #[test]
    fn windows_are_shaded_and_gaps_stay_gaps() {
        let timeline = Timeline {
            series: vec![series(vec![0.0, 1.0], vec![Some(30.0), None])],
            windows: vec![window(2, 0.2, 0.9)],
        };
        let picture = power(&timeline);
        assert_eq!(picture.traces[0]["y"], json!([30.0, null]));
        let shape = &picture.layout["shapes"][0];
        assert_eq!((&shape["x0"], &shape["x1"]), (&json!(0.2), &json!(0.9)));
        assert_eq!(picture.twin.rows[1].cells[2].text, "–");
    }

    #[test]
    fn a_label_of_a_file_is_no_markup() {
        let label = "<a href=\"http://elsewhere.example/\">studio</a> & co".to_owned();
        let timeline = Timeline {
            series: vec![PowerSeries { label, ..series(vec![0.0], vec![Some(30.0)]) }],
            windows: Vec::new(),
        };
        let picture = power(&timeline);
        let name = picture.traces[0]["name"].as_str().unwrap();
        assert_eq!(name, "&lt;a href=\"http://elsewhere.example/\"&gt;studio&lt;/a&gt; &amp; co");
        assert!(picture.twin.rows[0].cells[0].text.starts_with("<a href"), "tables show text as it is");
    }

    #[test]
    fn a_long_series_is_thinned_and_loses_no_peak() {
        let readings = 100_000;
        let mut watts = vec![Some(30.0); readings];
        watts[77_777] = Some(300.0);
        watts[12_345] = Some(1.0);
        let t_s = (0..readings).map(|second| second as f64).collect();
        let picture = power(&Timeline { series: vec![series(t_s, watts)], windows: Vec::new() });
        let y: Vec<f64> = picture.traces[0]["y"].as_array().unwrap().iter().map(|y| y.as_f64().unwrap()).collect();
        assert!(y.len() <= DRAWN + 2, "{}", y.len());
        assert!(y.contains(&300.0) && y.contains(&1.0));
        assert!(picture.title.contains("of every 25 readings"), "{}", picture.title);
    }

    #[test]
    fn very_many_windows_become_stretches() {
        let windows: Vec<RequestWindow> =
            (0..1000).map(|number| window(0, f64::from(number) * 2.0, f64::from(number) * 2.0 + 3.0)).collect();
        let (shapes, words) = shapes(&windows);
        assert_eq!((shapes.len(), words), (1, "any measured request ran"));
        assert_eq!((&shapes[0]["x0"], &shapes[0]["x1"]), (&json!(0.0), &json!(2001.0)));
    }
}
