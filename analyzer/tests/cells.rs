//! What a reader relies on in the numbers of one cell: how sure, how spread, how they go; and what more nodes give.

use analyzer::import;
use analyzer::metric::Metric;
use analyzer::summary::{self, FileReport, IntervalUnit, MetricSummary, PercentileSupport, Stability};
use serde_json::{Value, json};

/// A row as exo writes it. Another instance is another session.
fn row(nodes: u32, instance: &str, repeat: usize, generation_tps: f64) -> Value {
    json!({"elapsed_s": 1.0 + 0.001 * repeat as f64, "output_text_preview": "", "power_usage": null, "model_id": "lab/m",
        "stats": {"prompt_tps": 400.0, "generation_tps": generation_tps, "prompt_tokens": 64, "generation_tokens": 8},
        "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing", "placement_nodes": nodes,
        "instance_id": instance, "pp_tokens": 64, "tg": 8, "repeat_index": repeat, "concurrency": 1})
}

fn report(rows: Vec<Value>) -> FileReport {
    let loaded = import::load("made up.json", json!({ "runs": rows }).to_string().as_bytes()).unwrap();
    summary::report(&loaded).unwrap()
}

fn of(report: &FileReport, cell: usize, metric: Metric) -> &MetricSummary {
    report.cells[cell].metrics.iter().find(|summary| summary.metric == metric).unwrap()
}

fn one_session(rates: &[f64]) -> FileReport {
    report(rates.iter().enumerate().map(|(repeat, rate)| row(1, "i", repeat, *rate)).collect())
}

#[test]
fn an_outlier_is_named_with_its_reason_and_stays_in_every_number() {
    let report = one_session(&[50.0, 50.1, 50.2, 50.3, 50.4, 70.0]);
    let found = of(&report, 0, Metric::GenerationTps);
    assert_eq!((found.outliers.len(), found.outliers[0].index, found.n, found.max), (1, 5, 6, 70.0));
    assert!((found.mean - 53.5).abs() < 1e-12 && (found.mad.unwrap() - 0.15).abs() < 1e-12, "{found:?}");
    let said =
        found.warnings.iter().find(|warning| warning.starts_with("value 6 of 6 stands apart and is kept: 70.00 tok/s"));
    assert!(said.is_some(), "{:?}", found.warnings);
}

#[test]
fn a_queue_inside_steady_batches_is_no_unsteadiness() {
    // Two at a time, the second always half as fast; the batches come out alike.
    let batches = [[40.0, 20.0], [40.2, 20.1], [39.8, 19.9]];
    let together = |repeat: usize, rates: &[f64]| -> Vec<Value> {
        let place = |(index, rate): (usize, &f64)| {
            let mut row = row(1, "i", repeat, *rate);
            (row["concurrency"], row["concurrent_index"]) = (rates.len().into(), index.into());
            row
        };
        rates.iter().enumerate().map(place).collect()
    };
    let found = report(batches.iter().enumerate().flat_map(|(repeat, rates)| together(repeat, rates)).collect());
    let summary = of(&found, 0, Metric::GenerationTps);
    assert!(summary.cv_percent.unwrap() > 30.0, "of the requests: {summary:?}");
    assert!((summary.batch_cv_percent.unwrap() - 0.5).abs() < 1e-9, "of 30, 30.15 and 29.85: {summary:?}");
    assert_eq!(summary.stability, Stability::Stable);
    assert!(
        summary.warnings.iter().any(|said| said == "steady is said of the batches, the CV of the requests in them")
    );
    // One batch says nothing of how steady batches are, however many requests it has.
    let one = report(together(0, &[40.0, 20.0, 30.0]));
    let one = of(&one, 0, Metric::GenerationTps);
    assert_eq!((one.n, one.batch_cv_percent, one.stability), (3, None, Stability::Unknown));
}

#[test]
fn a_row_of_zeros_is_a_failure_and_in_no_number() {
    // As exo's client writes for a stream that failed; the second has tokens and no rates.
    let mut rows: Vec<Value> = [26.1, 26.2, 26.3].iter().zip(0..).map(|(rate, at)| row(1, "i", at, *rate)).collect();
    for (at, tokens) in [(3, 0), (4, 8)] {
        let mut zeros = row(1, "i", at, 0.0);
        zeros["stats"]["prompt_tps"] = 0.0.into();
        zeros["stats"]["generation_tokens"] = tokens.into();
        rows.insert(1, zeros);
    }
    // A request of one token has no decode rate, and is none.
    let mut one = row(1, "i", 5, 0.0);
    one["stats"]["generation_tokens"] = 1.into();
    rows.push(one);
    let found = report(rows);
    assert_eq!((found.cells.len(), found.cells[0].requests, found.cells[0].failed), (1, 4, 2));
    assert_eq!((of(&found, 0, Metric::Elapsed).n, of(&found, 0, Metric::GenerationTps).n), (4, 3));
    assert_eq!(found.failures.len(), 2);
    let said = "2 of 6 rows hold zeros, as exo's client writes for a stream that failed: counted as failures, and in no number";
    assert!(found.notices.iter().any(|notice| notice == said), "{:?}", found.notices);
}

#[test]
fn a_count_as_large_as_a_number_can_be_is_only_told() {
    let mut row = row(1, "i", 0, 26.0);
    row["pp_tokens"] = u64::MAX.into();
    row["stats"]["prefix_cache_hit"] = "none".into();
    let found = report(vec![row]);
    assert!(found.cells[0].notices.iter().any(|notice| notice.contains("where 18446744073709551615 were made")));
}

#[test]
fn intervals_say_what_they_are_made_of_and_are_absent_where_nothing_can_be_said() {
    let found = one_session(&[26.1, 26.4, 26.2]);
    let three = of(&found, 0, Metric::GenerationTps);
    let mean = three.mean_interval.as_ref().unwrap();
    assert!(mean.low < three.mean && three.mean < mean.high && mean.of == IntervalUnit::Batches && mean.units == 3);
    assert_eq!(three.median_interval, None, "three values bound no median");
    let six = one_session(&[26.1, 26.4, 26.2, 26.3, 26.6, 26.0]);
    let median = of(&six, 0, Metric::GenerationTps).median_interval.clone().unwrap();
    assert_eq!((median.low, median.high, median.confidence), (26.0, 26.6, 0.96875));
    let one = one_session(&[26.1]);
    assert_eq!(of(&one, 0, Metric::GenerationTps).mean_interval, None);
    // The prefill rate is 400 each time.
    let constant = of(&six, 0, Metric::PrefillTps);
    assert!(constant.no_spread && constant.mean_interval.is_none() && constant.outliers.is_empty());
}

#[test]
fn sessions_that_differ_are_the_units_of_the_interval() {
    let rates = [("i", 26.0), ("i", 26.1), ("i", 25.9), ("j", 27.0), ("j", 27.1), ("j", 26.9)];
    let report = report(rates.iter().enumerate().map(|(repeat, (id, rate))| row(1, id, repeat % 3, *rate)).collect());
    let mean = of(&report, 0, Metric::GenerationTps).mean_interval.clone().unwrap();
    assert_eq!((mean.of, mean.units, mean.freedom), (IntervalUnit::Sessions, 2, Some(1.0)));
    assert!(mean.high - mean.low > 12.0, "two sessions half a token apart bound little: {mean:?}");
}

#[test]
fn percentiles_are_marked_by_what_stands_behind_them() {
    let rates: Vec<f64> = (0..20).map(|place| 50.0 + f64::from(place * 7 % 20)).collect();
    let report = one_session(&rates);
    let found = of(&report, 0, Metric::GenerationTps);
    let marks = |percentiles: &[summary::Percentile]| -> Vec<(f64, PercentileSupport)> {
        percentiles.iter().map(|percentile| (percentile.percent, percentile.support)).collect()
    };
    use PercentileSupport::{Enough, Thin, TooFew};
    assert_eq!(marks(&found.percentiles), [(50.0, Enough), (90.0, Thin), (95.0, Thin), (99.0, TooFew)]);
    assert_eq!(marks(&found.slow_tail), [(10.0, Thin), (5.0, Thin), (1.0, TooFew)]);
    assert!(of(&report, 0, Metric::Elapsed).slow_tail.is_empty(), "the slow tail of a time is its high one");
}

#[test]
fn a_fall_within_a_cell_is_said_beside_its_numbers() {
    let rates: Vec<f64> = (0..40).map(|n| if n < 22 { 26.8 } else { 22.6 } + 0.02 * f64::from(n * 7 % 5)).collect();
    let report = one_session(&rates);
    let found = of(&report, 0, Metric::GenerationTps);
    assert_eq!(found.drift.as_ref().unwrap().found, Some(true));
    assert_eq!(found.steps.iter().map(|step| step.batch).collect::<Vec<_>>(), [22]);
    assert!(found.warnings.iter().any(|warning| warning.starts_with("drifts: −")), "{:?}", found.warnings);
    assert!(found.warnings.iter().any(|warning| warning.contains(" at batch 23 of 40")), "{:?}", found.warnings);
}

#[test]
fn more_nodes_are_set_against_the_fewest() {
    let one = [20.0, 20.2, 19.8].into_iter().enumerate().map(|(repeat, rate)| row(1, "i", repeat, rate));
    let two = [36.0, 36.4, 35.6].into_iter().enumerate().map(|(repeat, rate)| row(2, "j", repeat, rate));
    let report = report(two.chain(one).collect());
    let found = report.scaling.iter().find(|scaling| scaling.metric == Metric::GenerationTps).unwrap();
    assert_eq!((found.cell, found.base_cell, found.base_nodes, found.nodes), (0, 1, 1, 2));
    let (speed_up, efficiency) = (found.speed_up.unwrap(), found.efficiency.unwrap());
    assert!((speed_up.value - 1.8).abs() < 1e-3 && (efficiency.value - 0.9).abs() < 1e-3, "{found:?}");
    let [low, high] = speed_up.interval.unwrap();
    assert!(1.7 < low && low < 1.8 && 1.8 < high && high < 1.9, "{low} {high}");
    assert_eq!(found.joules_ratio, None);
    let elapsed = report.scaling.iter().find(|scaling| scaling.metric == Metric::Elapsed).unwrap();
    assert!((elapsed.speed_up.unwrap().value - 1.0).abs() < 1e-9, "a time counts the other way round");
    assert!(one_session(&[20.0, 20.1]).scaling.is_empty());
}

#[test]
fn the_pooled_deviation_has_both_names() {
    let mut rows: Vec<Value> = [50.0, 52.0, 51.0].iter().enumerate().map(|(n, rate)| row(1, "i", n, *rate)).collect();
    rows.extend([40.0, 44.0].iter().enumerate().map(|(n, rate)| row(2, "i", n, *rate)));
    let report = report(rows);
    let found = report.pooled.iter().find(|pooled| pooled.metric == Metric::GenerationTps).unwrap();
    assert_eq!(format!("{:.2} {:.2}", found.sd_unweighted_asiai, found.sd_weighted_by_freedom), "2.12 1.83");
    assert_eq!((found.freedom, found.cells), (3, 2));
}
