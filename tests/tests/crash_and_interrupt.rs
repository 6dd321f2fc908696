//! A run that is cut off loses nothing that finished, and leaves the cluster as it was.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use probe::simulate::Settings;
use serde_json::Value;
use tests::measured::{Bench, read_json};

/// Long enough that it cannot end by itself before the test has cut it off.
const LONG: &str = "--model simulated-8b --pp 64 --tg 32 --repeat 500 --max-nodes 1";

fn cluster() -> Bench {
    Bench::new(Settings { load_seconds: 0.0, ..Settings::default() }).unwrap()
}

/// Starts a long bench and waits until its journal holds `rows` finished requests.
fn running(bench: &Bench, rows: usize) -> Child {
    running_with(bench, LONG, rows)
}

fn running_with(bench: &Bench, arguments: &str, rows: usize) -> Child {
    let mut child = bench.command(arguments).unwrap().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while finished(&bench.journal()) < rows {
        if let Some(status) = child.try_wait().unwrap() {
            let mut said = String::new();
            std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
            panic!("the bench ended by itself: {status}\n{said}");
        }
        assert!(Instant::now() < deadline, "no {rows} finished requests within a minute");
        std::thread::yield_now();
    }
    child
}

/// How many finished requests a journal holds.
fn finished(journal: &Path) -> usize {
    let Ok(file) = std::fs::File::open(journal) else { return 0 };
    BufReader::new(file)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Value>(&line).ok())
        .filter(|event| event.to_string().contains("\"elapsed_s\""))
        .count()
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn after_kill_9_the_journal_becomes_a_result_file_with_every_finished_request() {
    let bench = cluster();
    let mut child = running(&bench, 3);
    signal(&child, "KILL");
    child.wait().unwrap();
    assert!(!bench.results().exists());
    let rows = finished(&bench.journal());
    assert!(rows >= 3);

    let output = Command::new(tests::exoscope().unwrap()).arg("recover").arg(bench.journal()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = read_json(&bench.results()).unwrap();
    assert_eq!(file["runs"].as_array().unwrap().len(), rows);
    let incomplete = &file["exoscope"]["incomplete"];
    assert_eq!(incomplete["finished_requests"].as_u64(), Some(rows as u64));
    assert_eq!(incomplete["planned_requests"], 500);
    assert!(incomplete["reason"].as_str().is_some_and(|reason| reason.contains("journal")), "{incomplete}");

    let report = Command::new(tests::exoscope().unwrap()).arg("report").arg(bench.results()).output().unwrap();
    assert!(report.status.success());
    let text = String::from_utf8(report.stdout).unwrap();
    assert!(text.contains("Incomplete:"), "the report says that it is incomplete:\n{text}");
    assert!(text.contains("simulated"), "{text}");
}

/// A run that was cut off, then resumed to its end; gives the file.
fn resumed(signal_name: &str) -> Value {
    let bench = cluster();
    let mut child = running_with(&bench, "--model simulated-8b --pp 64 --tg 32 --repeat 12 --max-nodes 1", 3);
    signal(&child, signal_name);
    child.wait().unwrap();
    let before = finished(&bench.journal());
    assert!((3..12).contains(&before), "{before} of 12");
    let mut resume = Command::new(tests::exoscope().unwrap());
    resume.args(["bench", "--progress", "off", "--resume"]).arg(bench.journal());
    let output = resume.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new(), "also what the first start left is gone");
    assert!(!bench.journal().exists());
    let again = resume.output().unwrap();
    assert_eq!(again.status.code(), Some(1), "there is nothing left to go on with");

    let file = read_json(&bench.results()).unwrap();
    let runs = file["runs"].as_array().unwrap();
    let repeats: Vec<u64> = runs.iter().map(|run| run["repeat_index"].as_u64().unwrap()).collect();
    assert_eq!(repeats, (0..12).collect::<Vec<u64>>(), "each repeat once, in order");
    let starts: Vec<u64> = runs.iter().map(|run| run["exoscope"]["start"].as_u64().unwrap()).collect();
    assert!(starts.is_sorted() && starts[0] == 0 && starts[11] == 1, "{starts:?}");
    assert!(runs.windows(2).all(|pair| sent(&pair[0]) < sent(&pair[1])), "one clock over both starts");
    file
}

fn sent(run: &Value) -> f64 {
    run["exoscope"]["timing"]["sent_s"].as_f64().unwrap()
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_stopped() {
    let file = resumed("KILL");
    let starts = file["exoscope"]["starts"].as_array().unwrap();
    assert_eq!(starts.len(), 2);
    assert!(starts[1]["command"].to_string().contains("--resume"), "{starts:?}");
    assert_eq!(file["exoscope"]["incomplete"], Value::Null);
}

#[test]
fn a_run_that_was_interrupted_goes_on_where_it_stopped() {
    resumed("INT");
}

#[test]
fn a_journal_is_resumed_with_its_own_plan_only() {
    let bench = cluster();
    let mut child = running(&bench, 2);
    signal(&child, "KILL");
    child.wait().unwrap();
    let resume = |more: &[&str]| {
        let mut command = Command::new(tests::exoscope().unwrap());
        command.args(["bench", "--resume"]).arg(bench.journal()).args(more);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = resume(&["--pp", "128"]);
    assert!(code == Some(2) && said.contains("takes the plan from the journal"), "{said}");
    let text = std::fs::read_to_string(bench.journal()).unwrap();
    std::fs::write(bench.journal(), text.replacen("\"repeat\":500", "\"repeat\":400", 1)).unwrap();
    let (code, said) = resume(&[]);
    assert!(code == Some(1) && said.contains("the plan is not what the run was begun with"), "{code:?} {said}");
    assert!(bench.journal().exists() && !bench.results().exists(), "nothing was measured by this start");
}

#[test]
fn a_run_goes_on_only_on_the_machines_it_was_begun_on() {
    let bench = cluster();
    let mut child = running(&bench, 2);
    signal(&child, "KILL");
    child.wait().unwrap();
    let other = Bench::new(Settings { nodes: 3, load_seconds: 0.0, ..Settings::default() }).unwrap();
    let journal = std::fs::read_to_string(bench.journal()).unwrap();
    let (here, there) = (bench.cluster.address.to_string(), other.cluster.address.to_string());
    std::fs::write(bench.journal(), journal.replace(&here, &there)).unwrap();
    let mut resume = Command::new(tests::exoscope().unwrap());
    let output = resume.args(["bench", "--resume"]).arg(bench.journal()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && said.contains("the cluster, by the names and chips of its nodes"),
        "{said}"
    );
    assert_eq!(other.instances().unwrap(), Vec::<String>::new());
    assert!(bench.journal().exists() && !bench.results().exists());
}

#[test]
fn what_finished_of_a_batch_survives_though_the_batch_did_not() {
    // Eight run, the ninth waits for them and then takes seconds of its own.
    let bench = Bench::new(Settings { load_seconds: 0.0, decode_tps: 100.0, ..Settings::default() }).unwrap();
    let batch = "--model simulated-8b --pp 64 --tg 400 --concurrency 9 --max-nodes 1";
    let mut child = running_with(&bench, batch, 1);
    signal(&child, "KILL");
    child.wait().unwrap();
    let rows = finished(&bench.journal());
    assert!((1..9).contains(&rows), "{rows} of 9");

    let output = Command::new(tests::exoscope().unwrap()).arg("recover").arg(bench.journal()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = read_json(&bench.results()).unwrap();
    assert_eq!(file["runs"].as_array().unwrap().len(), rows);
    assert_eq!(file["exoscope"]["incomplete"]["planned_requests"], 9);
}

#[test]
fn a_journal_whose_last_line_is_torn_is_recovered_up_to_there() {
    let bench = cluster();
    let mut child = running(&bench, 2);
    signal(&child, "KILL");
    child.wait().unwrap();
    let rows = finished(&bench.journal());
    let mut journal = std::fs::read(bench.journal()).unwrap();
    journal.extend_from_slice(b"{\"event\":\"request_fin");
    std::fs::write(bench.journal(), journal).unwrap();

    let other = bench.folder.path().join("elsewhere/recovered.json");
    let output = Command::new(tests::exoscope().unwrap())
        .arg("recover")
        .arg(bench.journal())
        .arg("--output")
        .arg(&other)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read_json(&other).unwrap()["runs"].as_array().unwrap().len(), rows);
}

/// A signal ends the run early: the file is written and says so, the instance is gone.
fn signal_ends_cleanly(name: &str) {
    let bench = cluster();
    let mut child = running(&bench, 2);
    assert_eq!(bench.instances().unwrap().len(), 1, "an instance is there while it runs");
    signal(&child, name);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{status}");
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new(), "the instance is gone");
    let file = read_json(&bench.results()).unwrap();
    assert!(file["runs"].as_array().unwrap().len() >= 2);
    assert!(file["exoscope"]["incomplete"]["reason"].as_str().is_some_and(|reason| reason.contains("interrupted")));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.contains("--resume") && bench.journal().exists(), "it can go on, and says how: {said}");
    // A new run at the same place would overwrite the file and what it takes to go on.
    let output = bench.command("--model simulated-8b --pp 64 --tg 8 --max-nodes 1").unwrap().output().unwrap();
    let refused = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && refused.contains("bench --resume"), "{refused}");
    assert!(bench.journal().exists() && read_json(&bench.results()).unwrap() == file);
}

#[test]
fn ctrl_c_writes_the_file_and_removes_the_instance() {
    signal_ends_cleanly("INT");
}

#[test]
fn a_request_to_terminate_does_the_same() {
    signal_ends_cleanly("TERM");
}

#[test]
fn a_closed_terminal_does_the_same() {
    signal_ends_cleanly("HUP");
}
