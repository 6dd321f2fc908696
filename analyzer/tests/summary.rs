//! What a reader relies on in the summary of a file.

use analyzer::import::{self, Loaded};
use analyzer::metric::Metric;
use analyzer::record::{Sampling, Start, TargetPrecision};
use analyzer::summary::{self, CacheState, CellReport, FileReport};

fn loaded(name: &str) -> Loaded {
    let path = format!("{}/../fixtures/results/{name}", env!("CARGO_MANIFEST_DIR"));
    #[allow(clippy::disallowed_methods)]
    let bytes = std::fs::read(path).unwrap();
    import::load(name, &bytes).unwrap()
}

fn report(loaded: &Loaded) -> FileReport {
    summary::report(loaded).unwrap()
}

fn has(cell: &CellReport, metric: Metric) -> bool {
    cell.metrics.iter().any(|found| found.metric == metric)
}

#[test]
fn a_request_that_the_cache_served_enters_no_cold_figure() {
    for cell in report(&loaded("f3c.json")).cells {
        let cold = cell.key.cache == CacheState::Cold;
        assert_eq!(has(&cell, Metric::Overhead), cold, "{:?}", cell.key);
        assert!(has(&cell, Metric::Elapsed), "what the client saw stands in a cell of its own");
    }
    let mut hit = loaded("exoscope_energy.json");
    hit.file.runs[0].stats.as_mut().unwrap().prefix_cache_hit = Some("partial".into());
    let cells = report(&hit).cells;
    let partial = cells.iter().find(|cell| cell.key.cache == CacheState::Partial).unwrap();
    assert!(has(partial, Metric::EnergyPrefill) && !has(partial, Metric::JoulesPerPromptToken));
    assert!(!has(partial, Metric::TtftGap));
    assert_eq!((partial.requests, cells[1].requests), (1, 2), "the cold cell lost it");
}

#[test]
fn the_gap_between_the_clocks_is_shown_as_it_is_also_below_zero() {
    let mut file = loaded("exoscope_energy.json");
    for run in &mut file.file.runs {
        run.elapsed_s = run.elapsed_s.map(|elapsed| elapsed - 1.0);
    }
    let report = report(&file);
    let overhead = report.cells[0].metrics.iter().find(|found| found.metric == Metric::Overhead).unwrap();
    // Made with 21 ms before the first token and 13 ms after the last.
    assert!((overhead.median - (0.034 - 1.0)).abs() < 1e-6, "{}", overhead.median);
}

#[test]
fn requests_that_were_sent_together_show_how_far_apart_they_were_sent() {
    let mut file = loaded("exoscope_energy.json");
    for run in file.file.runs.iter_mut().filter(|run| run.concurrency == Some(4)) {
        let detail = run.exoscope.as_mut().unwrap();
        detail.timing.sent_s += 0.001 * f64::from(detail.request_index);
    }
    let report = report(&file);
    let spread = report.cells[1].metrics.iter().find(|found| found.metric == Metric::SendSpread).unwrap();
    assert!((spread.median - 0.003).abs() < 1e-9 && spread.n == 3, "{spread:?}");
    assert!(!has(&report.cells[0], Metric::SendSpread), "one request has no spread");
}

#[test]
fn a_cell_says_how_much_of_what_was_asked_for_it_stands_on() {
    let failures = report(&loaded("exoscope_failures.json"));
    assert_eq!(failures.cells[1].notices, ["1 of 6 requests failed; the numbers stand on the rest"]);
    assert!(failures.cells[0].notices.is_empty());
    let exo = report(&loaded("f3e.json"));
    assert_eq!(
        exo.cells[3].notices,
        [
            "1 request of its batches gave no row",
            "2 valid batches in all: fewer than 3 say little of how the numbers vary"
        ]
    );
    let mut cut = loaded("exoscope_energy.json");
    cut.file.runs.retain(|run| run.repeat_index != Some(2));
    assert_eq!(report(&cut).cells[0].notices, ["2 of 3 batches gave a valid request"]);
}

#[test]
fn failures_find_the_cell_of_their_kind_and_make_one_where_nothing_succeeded() {
    let mut file = loaded("exoscope_failures.json");
    let mut other = file.file.failures[0].clone();
    other.tg = 999;
    file.file.failures.extend([other.clone(), other]);
    let cells = report(&file).cells;
    assert_eq!(cells.iter().map(|cell| cell.failed).collect::<Vec<_>>(), [0, 1, 0, 0, 2]);
    assert_eq!(cells[4].notices, ["2 of 2 requests failed; there is no number"]);
}

#[test]
fn every_value_carries_its_session() {
    let report = report(&loaded("exoscope_sessions_base.json"));
    for metric in report.cells.iter().flat_map(|cell| &cell.metrics) {
        assert_eq!(metric.sessions.len(), metric.values.len());
        assert!(metric.sessions.is_sorted() || metric.n < 2, "{metric:?}");
    }
    assert_eq!(report.cells[0].metrics[0].sessions, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
}

#[test]
fn how_a_run_was_resumed_sampled_and_repeated_are_facts() {
    let mut file = loaded("exoscope_energy.json");
    let provenance = file.file.exoscope.as_mut().unwrap();
    let start = |at: &str, at_s: f64| Start { at: at.into(), at_s, command: Vec::new() };
    provenance.starts = vec![start("2026-06-03T09:00:00Z", 0.0), start("2026-06-03T10:00:00Z", 3600.0)];
    provenance.method.sampling = Some(Sampling { temperature: Some(0.0), seed: Some(7), ..Sampling::default() });
    provenance.method.target_precision = Some(TargetPrecision { percent: 2.0, max_repeats: 20 });
    for (place, run) in file.file.runs.iter_mut().enumerate() {
        run.exoscope.as_mut().unwrap().start = Some(u32::from(place >= 10));
    }
    let report = report(&file);
    let fact = |key: &str| report.facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.as_str());
    assert_eq!(fact("starts"), Some("2026-06-03T09:00:00Z (10 rows); 2026-06-03T10:00:00Z (20 rows)"));
    assert_eq!(fact("sampling"), Some("temperature 0, seed 7"));
    assert_eq!(fact("target_precision"), Some("the mean is known to ± 2.0 %, at most 20 repeats"));
    assert_eq!(fact("idle_baseline"), Some("recorded for 30 s before and after each placement"));
}

#[test]
fn documents_of_one_file_keep_their_idle_windows_apart() {
    let one = serde_json::to_string(&loaded("exoscope_energy.json").file).unwrap();
    let both = import::load("both.json", format!("{one}\n{one}").as_bytes()).unwrap();
    let sessions: Vec<u32> = both.file.idle_windows.iter().map(|idle| idle.session).collect();
    assert_eq!(sessions, [0, 0, 1, 1]);
    let net =
        |cell: &CellReport| cell.metrics.iter().find(|found| found.metric == Metric::EnergyNet).map(|found| found.n);
    assert_eq!(net(&report(&both).cells[0]), Some(6));
}

#[test]
fn a_channel_that_was_missing_is_named_with_its_placement_where_there_are_several() {
    let mut file = loaded("exoscope_energy.json");
    for power in &mut file.file.metric_series[1].columns.sys_power {
        *power = None;
    }
    let report = report(&file);
    assert!(
        report.notices.iter().any(|words| words.starts_with("power of node lab-studio-2 is missing in all of ")),
        "{:?}",
        report.notices
    );
    assert!(report.cells[0].absent[0].why.starts_with("node lab-studio-2 has no power readings"));
    let mut other = file.file.metric_series[1].clone();
    other.instance_id = Some("other".into());
    file.file.metric_series.push(other);
    for run in &mut file.file.runs[10..] {
        run.instance_id = Some("other".into());
        run.placement_sharding = Some("Tensor".into());
    }
    let notices = summary::report(&file).unwrap().notices;
    for placement in ["Pipeline / MlxRing / 2 nodes", "Tensor / MlxRing / 2 nodes"] {
        let words = format!("power of node lab-studio-2 on {placement} is missing in all of ");
        assert!(notices.iter().any(|notice| notice.starts_with(&words)), "{notices:?}");
    }
}
