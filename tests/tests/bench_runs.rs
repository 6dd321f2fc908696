//! Whole runs of `exoscope bench` against the simulated cluster: what a user gets.

use probe::simulate::Settings;
use serde_json::Value;
use tests::measured::{Bench, read_json};

fn quick() -> Settings {
    Settings { load_seconds: 0.0, decode_tps: 2000.0, prefill_tps: 50_000.0, ..Settings::default() }
}

fn words(output: &std::process::Output) -> String {
    format!(
        "stdout:\n{}\nstderr:\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_placement_that_is_not_what_its_label_says_is_told() {
    let bench = Bench::new(quick()).unwrap();
    let arguments = "--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --instance-meta jaccl";
    let output = bench.command(arguments).unwrap().output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let file = read_json(&bench.results()).unwrap();
    assert_eq!(file["runs"][0]["placement_instance_meta"], "MlxJaccl");
    assert_eq!(file["runs"][0]["exoscope"]["placement"]["instance"], "MlxRingInstance");
    let notices = file["exoscope"]["notices"].to_string();
    assert!(notices.contains("is really Pipeline / MlxRing / nodes=1"), "{notices}");
    let report =
        std::process::Command::new(tests::exoscope().unwrap()).arg("report").arg(bench.results()).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("Pipeline / MlxJaccl / 1 node (really Pipeline / MlxRing)"), "{report}");
}

#[test]
fn a_run_writes_a_row_per_request_in_exos_keys_and_leaves_nothing_behind() {
    let bench = Bench::new(quick()).unwrap();
    let output = bench
        .command("--model simulated-8b --pp 64,128 --tg 8,16 --repeat 2 --warmup 1 --concurrency 1,2 --max-nodes 1 --metrics-interval 0.1")
        .unwrap()
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));

    let file = read_json(&bench.results()).unwrap();
    let runs = file["runs"].as_array().unwrap();
    // Two pairs, two repeats, one and two requests at once.
    assert_eq!(runs.len(), 2 * 2 * (1 + 2));
    for run in runs {
        for key in [
            "elapsed_s",
            "output_text_preview",
            "stats",
            "power_usage",
            "model_short_id",
            "model_id",
            "placement_sharding",
            "placement_instance_meta",
            "placement_nodes",
            "instance_id",
            "pp_tokens",
            "tg",
            "repeat_index",
            "concurrency",
        ] {
            assert!(run.get(key).is_some(), "{key} is missing in {run}");
        }
        assert_eq!(run["stats"]["prompt_tokens"], run["pp_tokens"], "the server counts what we count");
        assert_eq!(run["stats"]["generation_tokens"], run["tg"], "the end of sequence is banned");
        assert_eq!(run["stats"]["prefix_cache_hit"], "none", "the cache is cold");
        assert_eq!(run.get("concurrent_index").is_some(), run["concurrency"] == 2);
        assert_eq!(run["exoscope"]["placement"]["nodes"].as_array().unwrap().len(), 1);
        let timing = &run["exoscope"]["timing"];
        let at = |key: &str| timing[key].as_f64().unwrap_or_else(|| panic!("{key} in {timing}"));
        assert!(at("intended_s") <= at("sent_s") && at("sent_s") <= at("headers_s") && at("headers_s") <= at("done_s"));
        assert_eq!(timing["first_token_s"], Value::Null, "a plain answer shows no token");
    }
    assert_eq!(file["exoscope"]["simulated"], true);
    assert_eq!(file["exoscope"]["incomplete"], Value::Null);
    assert!(file.get("failures").is_none(), "nothing failed");
    assert!(file["cluster"]["nodeIdentities"].is_object());
    let series = &file["metric_series"][0];
    let ticks = series["t_s"].as_array().unwrap().len();
    assert!(ticks > 0 && series["columns"]["sysPower"].as_array().unwrap().len() == ticks);
    assert!(
        file["system_metrics"].as_object().unwrap().values().all(|node| node["sysPower"]["samples"].as_u64() > Some(0))
    );

    assert_eq!(bench.instances().unwrap(), Vec::<String>::new(), "the instance is gone");
    assert!(!bench.journal().exists(), "the journal goes once the file is whole");
}

#[test]
fn requests_of_a_batch_leave_together() {
    let bench = Bench::new(quick()).unwrap();
    let output = bench
        .command("--model simulated-8b --pp 64 --tg 8 --concurrency 8 --repeat 3 --max-nodes 1")
        .unwrap()
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let file = read_json(&bench.results()).unwrap();
    let runs = file["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 24);
    for repeat in 0..3 {
        let batch: Vec<&Value> = runs.iter().filter(|run| run["repeat_index"] == repeat).collect();
        let intended: Vec<f64> =
            batch.iter().map(|run| run["exoscope"]["timing"]["intended_s"].as_f64().unwrap()).collect();
        assert!(intended.iter().all(|one| *one == intended[0]), "one start for all: {intended:?}");
        let first_answer = batch.iter().map(|run| run["exoscope"]["timing"]["headers_s"].as_f64().unwrap());
        let first_answer = first_answer.fold(f64::INFINITY, f64::min);
        for run in &batch {
            let sent = run["exoscope"]["timing"]["sent_s"].as_f64().unwrap();
            assert!(sent < first_answer, "sent before any of them was answered");
        }
        let mut places: Vec<u64> = batch.iter().map(|run| run["concurrent_index"].as_u64().unwrap()).collect();
        places.sort_unstable();
        assert_eq!(places, (0..8).collect::<Vec<_>>());
    }
}

#[test]
fn a_stream_shows_every_token_and_when_it_came() {
    let bench = Bench::new(quick()).unwrap();
    let output = bench
        .command("--model simulated-8b --pp 64 --tg 16 --stream --max-nodes 1 --no-system-metrics")
        .unwrap()
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let file = read_json(&bench.results()).unwrap();
    let run = &file["runs"][0];
    assert_eq!(run["exoscope"]["streamed"], true);
    assert_eq!(run["exoscope"]["tokens"]["generation_frames"], 16);
    assert_eq!(run["exoscope"]["timing"]["token_offsets_s"].as_array().unwrap().len(), 16);
    assert_eq!(run["power_usage"], Value::Null, "exo does not tell power on a stream");
    assert!(run["stats"]["peak_memory_usage"]["in_bytes"].is_u64(), "as exo's comments spell it");
    assert!(file.get("metric_series").is_none() && file.get("system_metrics").is_none());
}

#[test]
fn json_goes_to_stdout_alone_when_asked() {
    let bench = Bench::new(quick()).unwrap();
    let output = bench.command("--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --stdout").unwrap().output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let file: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(file["runs"].as_array().unwrap().len(), 1);
    assert!(!bench.results().exists(), "stdout instead of the file");
}

#[test]
fn instances_of_others_are_named_and_left_alone() {
    let bench = Bench::new(quick()).unwrap();
    let previews =
        tests::measured::get(bench.cluster.address, "/instance/previews?model_id=simulated%2Fsimulated-8b").unwrap();
    let preview = previews["previews"].as_array().unwrap().iter().find(|one| one["instance"].is_object()).unwrap();
    let body = serde_json::json!({ "instance": preview["instance"] }).to_string();
    tests::measured::request(bench.cluster.address, "POST", "/instance", &body).unwrap();
    // The command is accepted before it is carried out.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let theirs = loop {
        let there = bench.instances().unwrap();
        if there.len() == 1 {
            break there;
        }
        assert!(std::time::Instant::now() < deadline, "the instance never appeared");
        std::thread::yield_now();
    };

    let output = bench.command("--model simulated-8b --pp 64 --tg 8 --max-nodes 1").unwrap().output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(&theirs[0]) && said.contains("--delete-other-instances"), "{said}");
    assert_eq!(bench.instances().unwrap(), theirs, "still there");

    let output = bench
        .command("--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --delete-other-instances")
        .unwrap()
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output));
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new());
}
