//! `exoscope bench` sends what exo's own client sends: the recorded sessions of the official client are served again, and
//! the same arguments must give the same requests in the same order. Polling aside, as its number depends on time.

use std::process::Command;

use probe::replay::{Pace, Received, Session, is_polling};

/// Runs a recorded session's command line against its own recording.
fn session_is_repeated(name: &str) {
    let Some(command) = tests::shared(&format!("captures/exo-results/{name}.cmd")) else { return };
    let Some(recording) = tests::shared(&format!("captures/exo-wire/exo_bench_wire.{name}.jsonl.gz")) else { return };
    let tokenizer = tests::real_tokenizer("qwen3").unwrap_or_else(|reason| panic!("{reason}"));

    let session = Session::load(&recording).unwrap();
    let expected: Vec<Received> = without_polling(session.requests());
    let server = probe::replay::start(session, Pace::Instant).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(tests::exoscope().unwrap())
        .arg("bench")
        .args(official_arguments(&std::fs::read_to_string(command).unwrap()))
        .args(["--host", "127.0.0.1", "--port", &server.address.port().to_string()])
        .args(["--delete-other-instances", "--pause", "all=0", "--progress", "off"])
        .arg("--tokenizer")
        .arg(&tokenizer)
        .arg("--json-out")
        .arg(folder.path().join("results.json"))
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {}\n{words}", output.status);

    let received = without_polling(server.received());
    for (place, (expected, received)) in expected.iter().zip(&received).enumerate() {
        assert_eq!(received, expected, "{name}: request {place} that is not polling");
    }
    assert_eq!(received.len(), expected.len(), "{name}: number of requests that are not polling");
}

/// The arguments of the recorded command line without the program and the address, which are the machine's.
fn official_arguments(command: &str) -> Vec<String> {
    let mut words = command.split_whitespace().skip(1).map(str::to_owned);
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == "--host" || word == "--port" {
            words.next();
        } else {
            kept.push(word);
        }
    }
    kept
}

fn without_polling(requests: Vec<Received>) -> Vec<Received> {
    requests.into_iter().filter(|request| !is_polling(&request.target, &request.method)).collect()
}

#[test]
fn plain_answers_at_concurrency_one_and_two() {
    session_is_repeated("r1_nonstream");
}

#[test]
fn plain_answers_with_the_prefix_cache() {
    session_is_repeated("r2_nonstream_cache");
}

#[test]
fn streams_at_concurrency_one_and_plain_answers_above() {
    session_is_repeated("r3_stream");
}

#[test]
fn streams_with_the_prefix_cache_and_without_metrics() {
    session_is_repeated("r4_stream_cache");
}

#[test]
fn a_dry_run_asks_and_changes_nothing() {
    session_is_repeated("r5_dryrun");
}

#[test]
fn a_reused_instance_is_neither_made_nor_removed() {
    session_is_repeated("r6_reuse");
}

#[test]
fn the_recordings_are_told_apart_from_polling() {
    assert!(is_polling("/state/runners/x", "GET") && is_polling("/instance/x", "GET"));
    assert!(!is_polling("/state", "GET") && !is_polling("/instance/x", "DELETE"));
}
