//! Runs of several sessions, models and repeats, against the simulated cluster.

use std::collections::BTreeSet;
use std::process::Command;

use probe::simulate::Settings;
use serde_json::Value;
use tests::measured::{Bench, read_json};

fn quick() -> Settings {
    Settings { load_seconds: 0.0, decode_tps: 2000.0, prefill_tps: 50_000.0, ..Settings::default() }
}

fn measured(bench: &Bench, arguments: &str) -> Value {
    let output = bench.command(arguments).unwrap().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new());
    read_json(&bench.results()).unwrap()
}

fn rows(file: &Value) -> &[Value] {
    file["runs"].as_array().unwrap()
}

#[test]
fn the_whole_plan_runs_in_every_session_on_instances_of_its_own() {
    // 2 placements × 2 pairs × (1 + 4 requests) × 3 repeats × 2 sessions
    let bench = Bench::new(quick()).unwrap();
    let file = measured(
        &bench,
        "--model simulated-70b --pp 64,128 --tg 8,16 --concurrency 1,4 --repeat 3 --sessions 2 --warmup 1 \
         --min-nodes 2 --instance-meta ring --stream",
    );
    let rows = rows(&file);
    assert_eq!(rows.len(), 2 * 2 * 5 * 3 * 2);
    let placements: BTreeSet<&str> = rows.iter().filter_map(|row| row["placement_sharding"].as_str()).collect();
    assert_eq!(placements, BTreeSet::from(["Pipeline", "Tensor"]));
    let instances = |session: u64| -> BTreeSet<&str> {
        let of = rows.iter().filter(|row| row["exoscope"]["session"].as_u64() == Some(session));
        of.filter_map(|row| row["instance_id"].as_str()).collect()
    };
    assert_eq!((instances(0).len(), instances(1).len()), (2, 2));
    assert!(instances(0).is_disjoint(&instances(1)));
    assert_eq!(file["exoscope"]["sessions"], 2);
    let series: BTreeSet<(u64, &str)> = file["metric_series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|series| (series["session"].as_u64().unwrap(), series["instance_id"].as_str().unwrap()))
        .collect();
    assert_eq!(series.len(), 4, "the node metrics of each placement of each session stand alone");

    let report = Command::new(tests::exoscope().unwrap())
        .args(["report", "--format", "json"])
        .arg(bench.results())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let cells = report["files"][0]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2 * 2 * 2);
    assert!(cells.iter().all(|cell| cell["sessions"] == 2), "{cells:?}");
}

#[test]
fn a_group_is_repeated_until_its_rates_are_known_well_enough() {
    let bench = Bench::new(Settings { noise_percent: 0.0, ..quick() }).unwrap();
    let file = measured(&bench, "--model simulated-8b --pp 64 --tg 64 --max-nodes 1 --target-precision 60");
    assert_eq!(rows(&file).len(), 3, "three repeats are needed for an interval, and were enough");
    let target = &file["exoscope"]["method"]["target_precision"];
    assert_eq!((target["percent"].as_f64(), target["max_repeats"].as_u64()), (Some(60.0), Some(30)));

    let bench = Bench::new(Settings { noise_percent: 30.0, ..quick() }).unwrap();
    let file =
        measured(&bench, "--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --target-precision 0.01 --max-repeats 4");
    assert_eq!(rows(&file).len(), 4);
    let notices = file["exoscope"]["notices"].to_string();
    assert!(notices.contains("after 4 repeats") && notices.contains("not within the 0.01 %"), "{notices}");
}

#[test]
fn a_suite_writes_a_file_per_benchmark_and_the_command_line_wins() {
    let bench = Bench::new(quick()).unwrap();
    let suite = bench.folder.path().join("night.toml");
    let text = r#"
        [defaults]
        tg = 8
        max-nodes = 1

        [[benchmark]]
        model = "simulated-8b"
        pp = [64, 128]

        [[benchmark]]
        name = "slow"
        model = "simulated-70b"
        pp = 64
        repeat = 2
    "#;
    std::fs::write(&suite, text).unwrap();
    let folder = bench.folder.path().join("out");
    let run = |more: &[&str]| {
        let mut command = tests::measured::bench_at(bench.cluster.address).unwrap();
        command.arg("--suite").arg(&suite).arg("--json-out").arg(&folder).args(more).output().unwrap()
    };
    let output = run(&["--repeat", "3"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let fast = read_json(&folder.join("simulated-8b.json")).unwrap();
    let slow = read_json(&folder.join("slow.json")).unwrap();
    assert_eq!((rows(&fast).len(), rows(&slow).len()), (6, 3));
    assert_eq!(slow["exoscope"]["target"]["model_id"], "simulated/simulated-70b");

    // A slip in the last benchmark shows before the first begins.
    std::fs::write(&suite, format!("{text}\n[[benchmark]]\nmodel = \"x\"\npp = 64\nrepeat = 0\n")).unwrap();
    let output = run(&[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("benchmark x: --repeat 0:"), "{said}");
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new());
}

#[test]
fn idling_is_recorded_before_and_after_a_placement() {
    let bench = Bench::new(quick()).unwrap();
    let file = measured(&bench, "--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --idle-baseline 0.2");
    let windows = file["idle_windows"].as_array().unwrap();
    assert_eq!(windows.len(), 2);
    let row = &rows(&file)[0];
    let of = |window: &Value, key: &str| window[key].as_f64().unwrap();
    let sent = row["exoscope"]["timing"]["sent_s"].as_f64().unwrap();
    assert!(of(&windows[0], "to_s") <= sent && sent < of(&windows[1], "from_s"));
    assert!(windows.iter().all(|window| of(window, "to_s") - of(window, "from_s") >= 0.2));
    assert!(windows.iter().all(|window| window["instance_id"] == row["instance_id"]));
}

#[test]
fn power_is_read_right_before_and_right_after_every_batch() {
    let bench = Bench::new(quick()).unwrap();
    let file = measured(&bench, "--model simulated-8b --pp 64 --tg 64 --max-nodes 1 --repeat 2 --metrics-interval 60");
    let polls: Vec<f64> =
        file["metric_series"][0]["t_s"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
    for row in rows(&file) {
        let timing = &row["exoscope"]["timing"];
        let (sent, done) = (timing["sent_s"].as_f64().unwrap(), timing["done_s"].as_f64().unwrap());
        assert!(polls.iter().any(|t| *t <= sent && sent - t < 0.1), "before {sent}: {polls:?}");
        assert!(polls.iter().any(|t| *t >= done && t - done < 0.1), "after {done}: {polls:?}");
    }
}

#[test]
fn batches_that_the_cache_told_apart_are_not_missing() {
    let bench = Bench::new(quick()).unwrap();
    let file = measured(&bench, "--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --repeat 3 --use-prefix-cache");
    let hits: Vec<&str> = rows(&file).iter().filter_map(|row| row["stats"]["prefix_cache_hit"].as_str()).collect();
    assert_eq!(hits, ["none", "exact", "exact"]);
    let mut report = Command::new(tests::exoscope().unwrap());
    let report = report.args(["report", "--format", "json"]).arg(bench.results()).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let cells = report["files"][0]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2, "a cold cell and one of exact hits");
    assert!(cells.iter().all(|cell| !cell["notices"].to_string().contains("gave a valid request")), "{cells:?}");
}

#[test]
fn times_that_cannot_be_waited_for_are_refused() {
    let bench = Bench::new(quick()).unwrap();
    for flag in ["--timeout", "--ready-timeout", "--settle-timeout", "--stall-timeout", "--idle-baseline"] {
        let arguments = format!("--model simulated-8b --pp 64 --tg 8 {flag} 1e19");
        let output = bench.command(&arguments).unwrap().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(flag) && said.contains("a year"), "{said}");
    }
}

#[test]
fn sampling_is_asked_for_only_when_told_and_recorded_then() {
    let bench = Bench::new(quick()).unwrap();
    let file = measured(&bench, "--model simulated-8b --pp 64 --tg 8 --max-nodes 1");
    assert!(file["exoscope"]["method"].get("sampling").is_none());
    let file =
        measured(&bench, "--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --method-temperature 0 --method-seed 7");
    assert_eq!(file["exoscope"]["method"]["sampling"], serde_json::json!({"temperature": 0.0, "seed": 7}));
}
