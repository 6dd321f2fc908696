//! Two overnight loops of exo's own client on real machines: one that steps down after some hours, one that holds.

use std::io::Read as _;

use analyzer::course::{drift, steps};
use analyzer::metric::Metric;

/// What the loop's log says of one measured request.
struct Row {
    iteration: u64,
    series: String,
    generation_tps: f64,
    power_w: f64,
}

/// The number behind a word of a line, up to the next character that is no part of it.
fn number(line: &str, after: &str) -> Option<f64> {
    let (_, rest) = line.split_once(after)?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn rows(path: &std::path::Path) -> Vec<Row> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let (mut iteration, mut mode, mut pp) = (0, String::new(), 0.0);
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("=== iter ") {
            iteration = rest.split(' ').next().unwrap().parse().unwrap();
            mode = rest.split(['(', ')']).nth(1).unwrap().to_owned();
        }
        pp = number(line, "--- pp=").unwrap_or(pp);
        let power = line.contains("energy=").then(|| number(line, "J (")).flatten();
        if let (Some(generation_tps), Some(power_w)) = (number(line, " gen_tps="), power) {
            rows.push(Row { iteration, series: format!("pp {pp} {mode}"), generation_tps, power_w });
        }
    }
    rows
}

/// Name, iterations and values of every series, by metric.
fn all_series(path: &std::path::Path) -> Vec<(String, Metric, Vec<u64>, Vec<f64>)> {
    let rows = rows(path);
    let names: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.series.as_str()).collect();
    let mut found = Vec::new();
    for name in names {
        for metric in [Metric::GenerationTps, Metric::Power] {
            let of = || rows.iter().filter(|row| row.series == name);
            let value = |row: &Row| if metric == Metric::Power { row.power_w } else { row.generation_tps };
            found.push((name.to_owned(), metric, of().map(|row| row.iteration).collect(), of().map(value).collect()));
        }
    }
    found
}

#[test]
fn the_loop_that_steps_down_is_found_out_within_ten_iterations() {
    let Some(path) = tests::shared("samples/exo/loop_20260415_002648.log.gz") else { return };
    let all = all_series(&path);
    assert_eq!(all.len(), 8, "two prompt lengths, cold and cached, two metrics");
    for (name, metric, iterations, values) in all {
        assert!(values.len() > 70, "{name}: {}", values.len());
        let drift = drift(metric, &values).unwrap();
        assert_eq!(drift.found, Some(true), "{name}, {metric:?}: {drift:?}");
        assert!(drift.change_percent.unwrap() < 0.0);
        let steps = steps(metric, &values);
        assert_eq!(steps.len(), 1, "{name}, {metric:?}: {steps:?}");
        // The fall came in iteration 47, at 02:34; the loop began at 00:26.
        let iteration = iterations[steps[0].batch as usize];
        assert!(iteration.abs_diff(47) <= 10, "{name}, {metric:?}: {iteration}");
        assert!(steps[0].change_percent.unwrap() < -10.0, "{name}, {metric:?}: {steps:?}");
    }
}

#[test]
fn the_loop_that_holds_raises_nothing() {
    let Some(path) = tests::shared("samples/exo/loop_20260416_165129.log.gz") else { return };
    for (name, metric, _, values) in all_series(&path) {
        assert!(values.len() > 80, "{name}: {}", values.len());
        let drift = drift(metric, &values).unwrap();
        assert_eq!(drift.found, Some(false), "{name}, {metric:?}: {drift:?}");
        assert_eq!(steps(metric, &values), [], "{name}, {metric:?}");
    }
}
