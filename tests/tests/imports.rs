//! Files of other tools: a made-up one of every shape gives what is kept beside it, and real ones, where they are there,
//! give what one reads in them.

use std::fs;

use analyzer::comparison::{Options, Verdict, compare};
use analyzer::import::{Loaded, load, overlay};
use analyzer::record::{Comparability, FailureKind, PowerScope, Run};
use analyzer::summary::report;
use serde_json::{Value, json};
use tests::same::differences;

fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(tests::fixture("imports"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name != "make.py")
        .collect();
    names.sort();
    names
}

fn made(name: &str) -> Loaded {
    load(name, &fs::read(tests::fixture(&format!("imports/{name}"))).unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

/// A real file, where it is there.
fn real(name: &str) -> Option<Loaded> {
    let path = tests::shared(&format!("samples/{name}"))?;
    Some(load(name, &fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{error}")))
}

fn ttft(run: &Run) -> f64 {
    run.figures.as_ref().unwrap().ttft_s.unwrap()
}

fn rates(loaded: &Loaded) -> Vec<f64> {
    loaded.file.runs.iter().filter_map(|run| run.stats.as_ref()?.generation_tps).collect()
}

#[test]
fn every_shape_gives_the_report_that_is_kept() {
    let names = names();
    assert!(names.len() > 25, "the fixtures are there");
    for name in names {
        let loaded = made(&name);
        let source = loaded.file.source.as_ref().expect("every one is another tool's");
        assert!(source.original.is_some() && source.sha256.len() == 64, "{name}");
        let found = json!({
            "format": loaded.format, "reason": loaded.reason, "class": loaded.class,
            "report": serde_json::to_value(report(&loaded).unwrap()).unwrap(),
        });
        let path = tests::fixture(&format!("imports/golden/{name}.json"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
        }
        let kept = tests::measured::read_json(&path).unwrap_or_else(|error| panic!("{error}; run `just golden`"));
        let differences = differences(&kept, &found, 1e-12);
        assert!(differences.is_empty(), "{name} (kept ≠ found):\n{}", differences.join("\n"));
    }
}

#[test]
fn a_converted_file_is_read_again_as_what_it_was() {
    for name in names() {
        let first = made(&name);
        let written = analyzer::record::to_json(&first.file).unwrap();
        let again = load(&name, written.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&again.format, again.class, &again.file), (&first.format, first.class, &first.file), "{name}");
    }
}

#[test]
fn the_spellings_of_one_llama_bench_agree() {
    let json = made("llama_bench.json");
    assert_eq!(made("llama_bench.jsonl").file.runs, json.file.runs);
    assert_eq!(json.file.runs.len(), 10, "three tests of three repeats and one of one");
    assert_eq!(json.class, Comparability::EngineInternal);
    let (csv, sql) = (made("llama_bench.csv"), made("llama_bench.sql"));
    assert_eq!(csv.class, Comparability::AggregateOnly, "no repeats in it");
    assert_eq!(rates(&csv), [50.0, 40.0]);
    assert_eq!(rates(&sql), rates(&csv));
    assert_eq!(rates(&made("llama_bench.md")), rates(&csv));
    // What differs within a file makes cells of their own.
    let depths: Vec<&str> =
        csv.file.runs.iter().filter_map(|run| Some(run.figures.as_ref()?.settings.get("n_depth")?.as_str())).collect();
    assert_eq!(depths, ["0", "0", "4096", "0"]);
}

#[test]
fn seconds_and_milliseconds_of_vllm_give_the_same() {
    let (ms, s) = (made("vllm_bench_serve.json"), made("vllm_bench_serve_seconds.json"));
    assert_eq!(ttft(&ms.file.runs[0]), 0.25);
    assert!((ttft(&s.file.runs[0]) - 0.25).abs() < 1e-12);
    let detailed = made("vllm_detailed.json");
    assert_eq!((detailed.file.runs.len(), detailed.file.failures.len()), (2, 1));
    assert_eq!(detailed.class, Comparability::Endpoint);
    assert_eq!(detailed.file.failures[0].message, "Service Unavailable");
}

#[test]
fn zeros_of_a_run_that_failed_are_failures() {
    for loaded in
        [Some(made("vllm_all_failed.json")), real("vllm-bench-serve_all-failed_v0.25.1.json")].into_iter().flatten()
    {
        assert!(loaded.file.runs.is_empty(), "no row of 0 ms");
        assert!(loaded.file.failures.len() >= 8);
        assert!(report(&loaded).unwrap().cells.iter().all(|cell| cell.metrics.is_empty()));
    }
}

#[test]
fn a_log_of_a_loop_counts_what_failed_and_keeps_its_order_and_times() {
    let log = made("exo_loop.log");
    assert_eq!(made("exo_loop.log.gz").file.runs, log.file.runs);
    assert_eq!(rates(&log), [21.25, 22.25, 23.25]);
    let kinds: Vec<FailureKind> = log.file.failures.iter().map(|failure| failure.kind).collect();
    assert_eq!(kinds, [FailureKind::Untold, FailureKind::ClientEnded]);
    assert_eq!(log.file.failures[1].message, "OSError: Unable to load vocabulary from file.");
    let first = log.file.runs[0].figures.as_ref().unwrap();
    assert_eq!((first.client_energy_j, first.power_w), (Some(525.0), Some(100.1)));
    assert!((first.sent_s.unwrap() - 7.0).abs() < 1e-6, "since the first line with a stamp: {:?}", first.sent_s);
    assert!((log.file.runs[0].elapsed_s.unwrap() - 5.25).abs() < 1e-6);
    let repeats: Vec<Option<u32>> = log.file.runs.iter().map(|run| run.repeat_index).collect();
    assert_eq!(repeats, [Some(0), Some(1), Some(2)]);
    let cache: Vec<Option<&str>> =
        log.file.runs.iter().map(|run| run.stats.as_ref().unwrap().prefix_cache_hit.as_deref()).collect();
    assert_eq!(cache, [Some("none"), None, Some("none")]);
}

#[test]
fn the_real_loops_are_read_whole() {
    let Some(log) = real("exo/loop_20260415_002648.log.gz") else { return };
    assert_eq!((log.file.runs.len(), log.file.failures.len()), (308, 0));
    assert_eq!(log.class, Comparability::Endpoint);
    let first = &log.file.runs[0];
    assert_eq!((first.pp_tokens, first.tg), (Some(8192), Some(512)));
    assert_eq!(first.stats.as_ref().unwrap().generation_tps, Some(26.14));
    assert_eq!(first.figures.as_ref().unwrap().client_energy_j, Some(6824.1));
    let last = log.file.runs.last().unwrap();
    assert_eq!((last.repeat_index, last.stats.as_ref().unwrap().generation_tps), (Some(153), Some(21.34)));
    assert_eq!(log.file.source.as_ref().unwrap().started_at.as_deref(), Some("2026-04-15T00:26:50.258+01:00"));
    let Some(log) = real("exo/loop_20260416_165129.log.gz") else { return };
    assert_eq!((log.file.runs.len(), log.file.failures.len()), (346, 74));
    assert!(log.notices.iter().any(|notice| notice.starts_with("74 of 247 iterations")), "{:?}", log.notices);
    report(&log).unwrap();
}

#[test]
fn real_files_of_other_tools_give_what_stands_in_them() {
    if let Some(asiai) = real("asiai-agentic_m4-mlxlm-27b-mtp.json") {
        assert_eq!(asiai.file.runs.len(), 8);
        assert_eq!(ttft(&asiai.file.runs[0]), 62.51);
        assert_eq!(asiai.file.runs[1].stats.as_ref().unwrap().prefix_cache_hit.as_deref(), Some("exact"));
        assert_eq!(report(&asiai).unwrap().cells.len(), 8, "a phase is a workload of its own");
    }
    if let Some(export) = real("asiai-bench-export_v2.json") {
        assert_eq!(rates(&export), [50.0, 51.0, 52.0]);
    }
    if let Some(llama) = real("llama-bench_gpt-oss-20b_default-hip.jsonl") {
        assert_eq!(llama.file.runs[0].stats.as_ref().unwrap().prompt_tps, Some(1472.01));
        assert_eq!(llama.file.runs[0].elapsed_s, Some(0.347_823_052));
    }
    if let Some(table) = real("llama-bench_markdown_paste.md") {
        assert_eq!(rates(&table), [424.32], "pp+tg is neither rate");
        let prefill = |run: &Run| run.stats.as_ref().and_then(|stats| stats.prompt_tps);
        assert_eq!(table.file.runs.iter().filter_map(prefill).collect::<Vec<_>>(), [7094.19, 5393.59]);
    }
    if let Some(benchy) = real("llama-benchy_sample.json") {
        assert!(benchy.file.runs.len() >= 6);
        assert!((ttft(&benchy.file.runs[0]) - 2.078_303_374_815_732).abs() < 1e-12);
    }
    if let Some(vllm) = real("vllm-bench-serve_v0.25.1.json") {
        assert!((ttft(&vllm.file.runs[0]) - 0.215_535_942).abs() < 1e-9);
        assert_eq!(vllm.class, Comparability::AggregateOnly);
    }
    if let Some(sweep) = real("vllm-bench-sweep_summary.json") {
        assert_eq!(sweep.file.runs.len(), 2);
    }
    if let Some(aiperf) = real("aiperf_profile_export_ABRIDGED.json") {
        assert!((ttft(&aiperf.file.runs[0]) - 0.154_264_323_822).abs() < 1e-9);
        assert_eq!(aiperf.file.runs[0].concurrency, Some(2));
    }
    if let Some(perf) = real("inference-perf_prefixcache_summary.json") {
        assert!((ttft(&perf.file.runs[0]) - 0.921_627_594).abs() < 1e-8);
        assert_eq!(perf.file.runs[0].figures.as_ref().unwrap().stands_for, Some(53652));
    }
    if let Some(mlx) = real("mlx_lm_benchmark_stdout.txt") {
        assert_eq!(rates(&mlx), [205.325, 205.243, 205.256, 204.587, 205.085]);
    }
}

#[test]
fn real_logs_of_the_client_agree_with_its_results() {
    for run in ["r1_nonstream", "r3_stream", "r6_reuse"] {
        let Some(path) = tests::shared(&format!("captures/exo-results/{run}.log")) else { return };
        let log = load(run, &fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{error}"));
        let results: Value = serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
        let best = results["runs"].as_array().unwrap().iter().filter(|row| row["concurrency"] == 1);
        let best = best.map(|row| row["stats"]["generation_tps"].as_f64().unwrap()).fold(0.0, f64::max);
        let shown = rates(&log).into_iter().fold(0.0, f64::max);
        assert!((shown - best).abs() <= 0.005_001, "{run}: {shown} printed, {best} written");
    }
}

#[test]
fn files_of_different_classes_are_not_comparable() {
    let (engine, endpoint) = (made("llama_bench.json"), made("llama_benchy.json"));
    let comparison = compare(&engine, &endpoint, &Options::default()).unwrap();
    assert!(
        comparison.warnings[0].contains("inside the engine and requests to an endpoint"),
        "{:?}",
        comparison.warnings
    );
    let verdicts = comparison.cells.iter().flat_map(|cell| &cell.metrics).filter_map(|metric| metric.verdict);
    assert!(verdicts.into_iter().all(|verdict| verdict == Verdict::NotComparable));
}

#[test]
fn power_readings_are_laid_over_a_run_by_time() {
    let instruments = [
        ("macmon.jsonl", PowerScope::WholeMachineDc, 60.0, 62.0),
        ("meter.csv", PowerScope::WallAc, 100.0, 106.0),
        ("powermetrics.plist", PowerScope::Soc, 25.0, 25.4),
    ];
    for (name, scope, least, most) in instruments {
        let mut log = made("exo_loop.log");
        let bytes = fs::read(tests::fixture(&format!("imports/overlays/{name}"))).unwrap();
        let (overlay, notices) = overlay::overlay(&log.file, name, &bytes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((overlay.scope, notices), (scope, Vec::<String>::new()));
        log.file.overlays.push(overlay);
        let report = report(&log).unwrap();
        let summary = report.cells[0]
            .metrics
            .iter()
            .find(|metric| metric.unit == "J" && metric.metric.definition().name == "energy, overlay");
        let joules = summary.unwrap_or_else(|| panic!("{name}: the first group has an energy")).median;
        assert!((5.25 * least..=5.25 * most).contains(&joules), "{name}: {joules} J over 5.25 s");
        // Alone it is no result, and says where it belongs.
        let alone = load(name, &bytes).unwrap_err().to_string();
        assert!(alone.contains("exoscope report RUN --power"), "{alone}");
    }
    let timeless = made("guidellm.json");
    let error = overlay::overlay(&timeless.file, "meter.csv", b"time,watts\n2026-02-02T02:40:00Z,50\n").unwrap_err();
    assert!(error.to_string().contains("does not tell when its requests ran"), "{error}");
    let log = made("exo_loop.log");
    let late = b"time,watts\n2027-01-01T00:00:00Z,50\n";
    let error = overlay::overlay(&log.file, "late.csv", late).unwrap_err().to_string();
    assert!(error.contains("another time than the run"), "{error}");
}
