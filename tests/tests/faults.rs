//! Every fault that the simulated cluster can have, each through a whole run of `exoscope bench`: what kind of failure it
//! is, what is left of the measurement, how the program ends, and that the cluster is left as it was found.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests: a failure shall say where")]

use std::collections::BTreeMap;

use probe::simulate::Settings;
use serde_json::Value;
use tests::measured::{Bench, get, read_json};

/// A cluster on which nothing takes long, with these faults.
fn cluster(faults: &str) -> Bench {
    let faults = faults.split_whitespace().map(|fault| fault.parse().unwrap()).collect();
    let quick = Settings {
        load_seconds: 0.0,
        download_seconds: 0.0,
        decode_tps: 2000.0,
        prefill_tps: 50_000.0,
        ..Settings::default()
    };
    Bench::new(Settings { faults, ..quick }).unwrap()
}

/// What a run left.
struct Run {
    exit: Option<i32>,
    said: String,
    /// The result file; null where there is none.
    file: Value,
    /// The ids of the instances that are there afterwards.
    instances: Vec<String>,
}

/// What the report tells of the file that a bench wrote.
fn report(bench: &Bench) -> String {
    let mut command = std::process::Command::new(tests::exoscope().unwrap());
    let output = command.arg("report").arg(bench.results()).args(["--format", "json"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

impl Run {
    fn of(bench: &Bench, arguments: &str) -> Self {
        let mut plan = format!("--model simulated-8b --pp 64 --metrics-interval 0.2 {arguments}");
        for (flag, value) in [("--tg", "8"), ("--max-nodes", "1")] {
            if !arguments.contains(flag) {
                plan += &format!(" {flag} {value}");
            }
        }
        let output = bench.command(&plan).unwrap().output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("panicked"), "{said}");
        let file = if bench.results().exists() { read_json(&bench.results()).unwrap() } else { Value::Null };
        assert!(!bench.journal().exists(), "the journal goes with the end of a run:\n{said}");
        Self { exit: output.status.code(), said, file, instances: bench.instances().unwrap() }
    }

    fn rows(&self) -> usize {
        self.file["runs"].as_array().map_or(0, Vec::len)
    }

    fn failures(&self) -> &[Value] {
        self.file["failures"].as_array().map_or(&[], Vec::as_slice)
    }

    /// How many failures there are of each kind.
    fn kinds(&self) -> String {
        let mut kinds = BTreeMap::new();
        for failure in self.failures() {
            *kinds.entry(failure["kind"].as_str().unwrap()).or_insert(0) += 1;
        }
        kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
    }

    #[track_caller]
    fn says(&self, words: &str) {
        assert!(self.said.contains(words), "{words:?} is not in:\n{}", self.said);
    }

    /// How it ended, what it left, and that nothing of it stays on the cluster.
    #[track_caller]
    fn left(&self, exit: i32, rows: usize, failures: &str) {
        let left = (self.exit, self.rows(), self.kinds());
        assert_eq!(left, (Some(exit), rows, failures.to_owned()), "{}", self.said);
        assert_eq!(self.instances, Vec::<String>::new(), "the instance is gone");
    }
}

/// Three repeats, the second answer faulty: the other two are measured.
///
/// ```text
/// fault, kind of failure where the answer is plain, kind where it is streamed
/// ```
const ANSWERS: [(&str, &str, &str); 8] = [
    ("http-500", "http_status", "http_status"),
    ("error-frame", "http_status", "error_frame"),
    ("no-stats", "no_stats", "no_stats"),
    ("no-done", "no_stats", "truncated_stream"),
    ("reset", "reset", "reset"),
    ("hang", "timeout", "no_first_token"),
    ("no-token", "no_token", "no_token"),
    ("malformed", "malformed", "malformed"),
];

fn one_of_three(mode: &str, kind: impl Fn(&(&str, &str, &str)) -> String) {
    for row in ANSWERS {
        let fault = row.0;
        let run = Run::of(&cluster(&format!("{fault}:2")), &format!("--repeat 3 --timeout 1 {mode}"));
        run.left(3, 2, &format!("1 {}", kind(&row)));
        let failure = &run.failures()[0];
        assert_eq!(failure["repeat_index"], 1, "{fault} {mode}");
        assert_eq!(failure["streamed"], !mode.is_empty(), "{fault} {mode}");
        assert!(failure["message"].as_str().is_some_and(|message| !message.is_empty()), "{fault} {mode}: {failure}");
        run.says("measured in part: 1 request and 0 placements failed");
    }
}

#[test]
fn a_faulty_plain_answer_is_a_failure_of_its_kind_and_the_others_are_rows() {
    one_of_three("", |row| row.1.to_owned());
}

#[test]
fn a_faulty_stream_is_a_failure_of_its_kind_and_the_others_are_rows() {
    one_of_three("--stream", |row| row.2.to_owned());
}

#[test]
fn with_nothing_but_faulty_answers_nothing_is_measured() {
    // A batch of three that fails as a whole is three failures, each of the kind of its answer.
    for (fault, mode, kinds) in [
        ("http-500", "", "3 http_status"),
        ("error-frame", "--stream-all", "3 error_frame"),
        ("no-stats", "", "3 no_stats"),
        ("no-done", "--stream-all", "3 truncated_stream"),
        ("reset", "", "3 reset"),
        ("hang", "--stream-all", "3 no_first_token"),
        ("hang:2 reset:1 malformed:3", "", "1 malformed, 1 reset, 1 timeout"),
    ] {
        let run = Run::of(&cluster(fault), &format!("--concurrency 3 --timeout 1 {mode}"));
        run.left(1, 0, kinds);
        run.says("no request gave a valid answer, 3 failed (the first: ");
    }
}

#[test]
fn one_bad_answer_of_a_batch_leaves_the_others_their_rows() {
    for mode in ["", "--stream-all"] {
        let run = Run::of(&cluster("http-500:every=4"), &format!("--concurrency 4 --repeat 2 {mode}"));
        run.left(3, 6, "2 http_status");
    }
}

#[test]
fn a_warm_up_that_fails_is_said_and_costs_no_row() {
    let run = Run::of(&cluster("http-500:1"), "--warmup 1");
    run.left(0, 1, "1 http_status");
    assert_eq!(run.failures()[0]["warmup"], true);
    run.says("a warm-up request failed");
}

#[test]
fn an_instance_that_goes_while_it_answers_takes_the_later_requests_with_it() {
    let plain = Run::of(&cluster("instance-gone:2"), "--repeat 3");
    plain.left(3, 1, "1 instance_gone");
    let streamed = Run::of(&cluster("instance-gone:2"), "--repeat 3 --stream");
    streamed.left(3, 1, "1 instance_gone");
    // The third repeat is not sent to nobody.
    streamed.says("went away while it was measured, so the rest of its groups was left out");
}

#[test]
fn an_answer_that_stops_early_says_how_many_tokens_it_has() {
    for mode in ["", "--stream"] {
        let bench = cluster("early-stop");
        let run = Run::of(&bench, mode);
        run.left(0, 1, "");
        let told = report(&bench);
        assert!(told.contains("1 of 1 request stopped before the tokens that were asked for"), "{told}");
        let row = &run.file["runs"][0];
        assert_eq!((&row["tg"], &row["stats"]["generation_tokens"]), (&8.into(), &4.into()));
        let tokens = &row["exoscope"]["tokens"];
        assert_eq!((&tokens["generation_requested"], &tokens["generation_server"]), (&8.into(), &4.into()));
    }
}

#[test]
fn a_prompt_that_the_server_counts_otherwise_is_said_once_and_one_more_is_known() {
    let counted = |run: &Run, tokens: u64| {
        for row in run.file["runs"].as_array().unwrap() {
            let (ours, theirs) = (&row["pp_tokens"], &row["stats"]["prompt_tokens"]);
            assert_eq!((ours, theirs), (&64.into(), &tokens.into()));
        }
    };
    let sequential = Run::of(&cluster("sequential-count"), "--repeat 2");
    sequential.left(0, 2, "");
    counted(&sequential, 65);
    assert!(!sequential.said.contains("server's count"), "{}", sequential.said);
    let bench = cluster("wrong-count");
    let wrong = Run::of(&bench, "--repeat 2");
    wrong.left(0, 2, "");
    let flagged = "2 of 2 requests: the server counted 71 prompt tokens where 64 were made";
    assert!(report(&bench).contains(flagged), "{}", report(&bench));
    counted(&wrong, 71);
    assert_eq!(wrong.said.matches("have 71 by the server's count").count(), 1, "{}", wrong.said);
}

#[test]
fn more_requests_than_the_engine_takes_wait_and_are_all_measured() {
    let run = Run::of(&cluster(""), "--concurrency 10");
    run.left(0, 10, "");
    let firsts = run.file["runs"].as_array().unwrap().iter().map(|row| row["elapsed_s"].as_f64().unwrap());
    let mut elapsed: Vec<f64> = firsts.collect();
    elapsed.sort_by(f64::total_cmp);
    assert!(elapsed[8] > elapsed[7], "the ninth waits for a place: {elapsed:?}");
}

#[test]
fn an_instance_that_does_not_get_ready_is_removed_and_its_reason_told() {
    for (fault, words) in [
        (
            "runner-fails",
            "its runner failed: the simulated runner ran out of memory; the simulated GPU did not answer in time",
        ),
        ("never-ready", "after 1 s (--ready-timeout) it still waits for layers, 16 of 32 loaded"),
        ("never-appears", "after 1 s (--ready-timeout) it still waits for the cluster to accept the instance"),
    ] {
        let run = Run::of(&cluster(fault), "--instance-meta ring --ready-timeout 1");
        run.left(1, 0, "");
        assert_eq!(run.file, Value::Null, "{fault}: nothing was measured, so nothing is written");
        run.says("did not get ready");
        run.says(words);
    }
}

#[test]
fn a_placement_that_fails_leaves_the_other_measured() {
    let run = Run::of(&cluster("runner-fails:1"), "--instance-meta ring --max-nodes 2");
    run.left(3, 1, "");
    run.says("placement Pipeline / MlxRing / nodes=2 was not measured");
    run.says("measured in part: 0 requests and 1 placement failed");
}

#[test]
fn a_model_that_cannot_be_fetched_for_one_placement_leaves_the_other_measured() {
    let run = Run::of(&cluster("download-fails:1"), "--instance-meta ring --max-nodes 2");
    run.left(3, 1, "");
    run.says("placement Pipeline / MlxRing / nodes=2 was not measured: the model cannot be downloaded");
}

#[test]
fn an_instance_that_is_slow_to_go_or_refuses_to_is_waited_for() {
    for fault in ["delete-slow:2", "delete-refused:3"] {
        let run = Run::of(&cluster(fault), "");
        run.left(0, 1, "");
        assert!(!run.said.contains("may still be on the cluster"), "{}", run.said);
    }
}

#[test]
fn an_instance_that_cannot_be_removed_is_named_with_what_to_do() {
    let run = Run::of(&cluster("delete-refused:1000"), "");
    assert_eq!((run.exit, run.rows()), (Some(0), 1), "what was measured stays measured");
    assert_eq!(run.instances.len(), 1);
    run.says(&format!("the instance {} may still be on the cluster", run.instances[0]));
    run.says(&format!("remove it with DELETE /instance/{}", run.instances[0]));
}

#[test]
fn a_model_that_cannot_be_fetched_stops_before_anything_is_made() {
    for (fault, words) in [
        ("download-fails", "the simulated download broke off"),
        ("disk-full", "has 1.0 GB free and the model needs 4.5 GB"),
    ] {
        let run = Run::of(&cluster(fault), "");
        run.left(1, 0, "");
        assert_eq!(run.file, Value::Null, "{fault}");
        run.says(words);
    }
}

#[test]
fn a_model_that_is_fetched_first_is_measured_with_the_time_it_took() {
    let bench = Bench::new(Settings {
        faults: vec!["download-slow:0.3".parse().unwrap()],
        load_seconds: 0.0,
        ..Settings::default()
    });
    let run = Run::of(&bench.unwrap(), "");
    run.left(0, 1, "");
    let seconds = run.file["runs"][0]["download_duration_s"].as_f64().unwrap();
    assert!(seconds >= 0.3, "{seconds} s");
}

#[test]
fn somebody_elses_instance_stops_the_bench_and_stays() {
    let bench = cluster("other-instance");
    let run = Run::of(&bench, "");
    assert_eq!((run.exit, run.rows(), run.instances.len()), (Some(1), 0, 1), "{}", run.said);
    run.says(&run.instances[0]);
    run.says("--delete-other-instances");
    let cleared = Run::of(&bench, "--delete-other-instances");
    cleared.left(0, 1, "");
}

/// The values of a column of each node's series, by node.
fn column(run: &Run, key: &str) -> BTreeMap<String, Vec<Option<f64>>> {
    let mut nodes: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    for series in run.file["metric_series"].as_array().unwrap() {
        let values = series["columns"][key].as_array().unwrap().iter().map(Value::as_f64);
        nodes.entry(series["node_id"].as_str().unwrap().to_owned()).or_default().extend(values);
    }
    nodes
}

/// The simulated nodes' ids, in the order of their numbers.
fn nodes(bench: &Bench) -> Vec<String> {
    let identities = get(bench.cluster.address, "/state/nodeIdentities").unwrap();
    identities.as_object().unwrap().keys().cloned().collect()
}

/// A request long enough that sensors of one second show it.
const LONG: &str = "--tg 4096 --no-preview";

#[test]
fn power_covers_the_nodes_that_have_sensors_and_no_others() {
    let bench = cluster("no-power:2");
    let ids = nodes(&bench);
    let run = Run::of(&bench, "");
    run.left(0, 1, "");
    let power = run.file["runs"][0]["power_usage"]["nodes"].as_array().unwrap();
    assert_eq!(power.iter().map(|node| node["node_id"].as_str().unwrap()).collect::<Vec<_>>(), [&ids[0]]);
    assert_eq!(column(&run, "sysPower").keys().collect::<Vec<_>>(), [&ids[0]]);

    let all = Run::of(&cluster(""), "");
    let power = all.file["runs"][0]["power_usage"]["nodes"].as_array().unwrap();
    assert_eq!(power.len(), 2, "the node that is in no instance counts, too");

    let none = Run::of(&cluster("no-macmon"), "");
    none.left(0, 1, "");
    assert_eq!(none.file["runs"][0]["power_usage"]["nodes"], Value::Array(Vec::new()));
    assert!(
        column(&none, "sysPower").values().flatten().all(Option::is_none),
        "a node without sensors has gaps, not 0 W"
    );
}

#[test]
fn a_dead_sensor_says_the_same_while_the_truth_goes_on() {
    let bench = cluster("frozen-power:1");
    let ids = nodes(&bench);
    let before = bench.cluster.energy();
    let run = Run::of(&bench, LONG);
    run.left(0, 1, "");
    let power = column(&run, "sysPower");
    let frozen = &power[&ids[0]];
    assert!(frozen.len() > 3 && frozen.iter().all(|value| value == &frozen[0]), "{frozen:?}");
    let health = |node: &String| {
        let all = run.file["metric_series"].as_array().unwrap();
        let series = all.iter().find(|series| series["node_id"].as_str() == Some(node)).unwrap();
        series["health"]["frozen_s"].as_f64().unwrap()
    };
    let length = run.file["runs"][0]["elapsed_s"].as_f64().unwrap();
    assert!(health(&ids[0]) >= length && health(&ids[1]) < 2.5, "{} {}", health(&ids[0]), health(&ids[1]));
    let after = bench.cluster.energy();
    let spent = |node: &String| {
        let (before, after) = (before[node], after[node]);
        (after.joules - before.joules) / (after.seconds - before.seconds)
    };
    let (worked, idle) = (spent(&ids[0]), spent(&ids[1]));
    assert!(worked > 1.5 * idle, "{worked} W where it worked, {idle} W where not");
    assert!(frozen[0].is_some_and(|watts| watts < worked), "the frozen value is that of rest: {frozen:?}");
}

#[test]
fn a_slow_state_slows_the_polls_and_not_the_answers() {
    let run = Run::of(&cluster("slow-poll:250"), LONG);
    run.left(0, 1, "");
    let series = &run.file["metric_series"][0];
    let polls: Vec<f64> = series["poll_s"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(!polls.is_empty() && polls.iter().all(|&seconds| seconds >= 0.25), "{polls:?}");
    // One at the start, one before and one after the answer, one at the end: in between they would take a twentieth of
    // the server's time and more, so that none comes for five seconds, though one each 0.2 s was asked for.
    let answer = &run.file["runs"][0]["exoscope"]["timing"];
    let (sent, done) = (answer["sent_s"].as_f64().unwrap(), answer["done_s"].as_f64().unwrap());
    assert!(done - sent > 1.0 && polls.len() <= 5, "{polls:?} in {} s", done - sent);
}

#[test]
fn the_runner_cannot_be_asked_for_a_while() {
    let run = Run::of(&cluster("poll-fails:2"), "");
    run.left(0, 1, "");
}

#[test]
fn a_download_that_stalls_is_given_up_with_the_flag_that_says_when() {
    let run = Run::of(&cluster("download-stalls"), "--stall-timeout 1");
    run.left(1, 0, "");
    run.says("no further byte came for 1 s (--stall-timeout)");
}

#[test]
fn room_is_made_only_when_told_and_by_the_smallest_models_that_do() {
    let bench = cluster("disk-full");
    let refused = Run::of(&bench, "");
    refused.left(1, 0, "");
    refused.says("let --danger-delete-downloads delete simulated/simulated-70b");
    let run = Run::of(&bench, "--danger-delete-downloads");
    run.left(0, 1, "");
    run.says("simulated/simulated-70b (40.0 GB) was deleted from node");
    assert!(run.file["runs"][0]["download_duration_s"].as_f64().is_some());
}

#[test]
fn an_unknown_model_is_learnt_only_when_told() {
    let bench = cluster("");
    let bare = |more: &str| {
        let arguments = format!("--model some-org/new-model --pp 64 --tg 8 --max-nodes 1 {more}");
        let output = bench.command(&arguments).unwrap().output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = bare("");
    assert!(code == Some(1) && said.contains("--force-download lets it learn the id"), "{said}");
    let (code, said) = bare("--force-download");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(read_json(&bench.results()).unwrap()["runs"][0]["model_id"], "some-org/new-model");
}

/// Who sees a download stand still need not wait for the deadline.
#[cfg(unix)]
#[test]
fn a_download_that_stands_still_can_be_left_without_a_trace() {
    let bench = cluster("download-stalls");
    let node = nodes(&bench)[0].clone();
    let plan = "--model simulated-8b --pp 64 --tg 8 --max-nodes 1";
    let child = bench.command(plan).unwrap().stderr(std::process::Stdio::piped()).spawn().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let target = format!("/state/downloads/{node}");
    while !get(bench.cluster.address, &target).unwrap().to_string().contains("DownloadOngoing") {
        assert!(std::time::Instant::now() < deadline, "the download never began");
        std::thread::yield_now();
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!bench.results().exists() && !bench.journal().exists(), "nothing was measured, so nothing is left");
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new());
}
