//! Every fault that the simulated cluster can have, each through a whole run of `exoscope bench`: what kind of failure it
//! is, what is left of the measurement, how the program ends, and that the cluster is left as it was found.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests: a failure shall say where")]

use std::collections::BTreeMap;

use probe::simulate::{FAST, Settings};
use serde_json::Value;
use tests::measured::{Bench, get, read_json, request};

/// A cluster on which nothing takes long, with these faults.
fn cluster(faults: &str) -> Bench {
    let faults = faults.split_whitespace().map(|fault| fault.parse().unwrap()).collect();
    let quick = Settings { load_seconds: 0.0, download_seconds: 0.0, decode_tps: 2000.0, prefill_tps: 50_000.0, ..Settings::default() };
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

impl Run {
    fn of(bench: &Bench, arguments: &str) -> Self {
        let plan = format!("--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --metrics-interval 0.2 {arguments}");
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

/// A run of three repeats in each mode, with a fault of the second answer, of all, and of one in a batch of four.
///
/// ```text
/// fault          plain, kind of failure   streamed, kind of failure
/// ```
#[test]
fn a_faulty_answer_is_a_failure_of_its_kind_and_the_others_are_rows() {
    for (fault, plain, streamed) in [
        ("http-500", "http_status", "http_status"),
        ("error-frame", "http_status", "error_frame"),
        ("no-stats", "no_stats", "no_stats"),
        ("no-done", "no_stats", "truncated_stream"),
        ("reset", "reset", "reset"),
        ("hang", "timeout", "timeout"),
        ("no-token", "no_token", "no_token"),
        ("malformed", "malformed", "malformed"),
    ] {
        for (mode, kind) in [("", plain), ("--stream", streamed)] {
            let run = Run::of(&cluster(&format!("{fault}:2")), &format!("--repeat 3 --timeout 1 {mode}"));
            run.left(3, 2, &format!("1 {kind}"));
            assert_eq!(run.failures()[0]["repeat_index"], 1, "{fault} {mode}");
            run.says("measured in part: 1 requests");
        }
    }
}
