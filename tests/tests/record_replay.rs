//! A run that is recorded and replayed is the same run.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use probe::replay::{Ended, Exchange, Pace, Running, Session, Source, start};
use probe::simulate::Settings;
use serde_json::Value;
use tests::client::send;
use tests::measured::{Bench, Lateness, bench_at, read_json};

const PLAN: &str = "--model simulated-8b --pp 64,256 --tg 8,16 --repeat 2 --warmup 1 --concurrency 1,2 --max-nodes 1 --metrics-interval 0.2";

fn cluster() -> Bench {
    Bench::new(Settings { load_seconds: 0.2, decode_tps: 100.0, prefill_tps: 2000.0, ..Settings::default() }).unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A recorded bench against the simulator.
fn record(bench: &Bench, plan: &str, name: &str) -> std::path::PathBuf {
    let recording = bench.folder.path().join(name);
    let output = bench.command(plan).unwrap().arg("--record").arg(&recording).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    recording
}

/// The same bench against a replay.
fn again(running: &Running, plan: &str, results: &Path) -> (Value, Duration) {
    let start = Instant::now();
    let mut command = bench_at(running.address).unwrap();
    let output = command.args(plan.split_whitespace()).arg("--json-out").arg(results).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    (read_json(results).unwrap(), start.elapsed())
}

/// The rows of a file; those of one batch in the order of what the server said of them, since requests that leave together
/// arrive in any order.
fn rows(file: &Value) -> Vec<Value> {
    let mut rows = file["runs"].as_array().unwrap().clone();
    let batch = |row: &Value| {
        let key = ["pp_tokens", "tg", "concurrency", "repeat_index"].map(|key| row[key].as_u64());
        (key, row["stats"].to_string())
    };
    rows.sort_by_key(batch);
    rows
}

/// Holds the rows of a replay against the recorded ones: what the server said is equal, and when it said it is near.
fn hold_against(recorded: &Value, replayed: &Value, patience: Duration) {
    let (recorded, replayed) = (rows(recorded), rows(replayed));
    assert_eq!(recorded.len(), replayed.len());
    for (one, other) in recorded.iter().zip(&replayed) {
        for key in
            ["stats", "power_usage", "output_text_preview", "instance_id", "placement_sharding", "pp_tokens", "tg"]
        {
            assert_eq!(one[key], other[key], "{key}");
        }
        assert_eq!(one["exoscope"]["tokens"], other["exoscope"]["tokens"]);
        for instant in ["headers_s", "first_token_s", "done_s"] {
            let since = |row: &Value| {
                let timing = &row["exoscope"]["timing"];
                Some(timing[instant].as_f64()? - timing["sent_s"].as_f64()?)
            };
            let (Some(one), Some(other)) = (since(one), since(other)) else {
                assert_eq!(since(one), since(other), "{instant} is absent in both or in none");
                continue;
            };
            let near = 0.2 * one + 0.02 + patience.as_secs_f64();
            assert!((one - other).abs() <= near, "{instant}: {one} s recorded, {other} s replayed, {patience:?}");
        }
    }
}

#[test]
fn a_replayed_run_gives_the_rows_of_the_recorded_one() {
    for (name, more) in [("plain.jsonl", ""), ("streamed.jsonl.gz", " --stream-all")] {
        let bench = cluster();
        let late = Lateness::watch();
        let plan = format!("{PLAN}{more}");
        let recording = record(&bench, &plan, name);
        let recorded = read_json(&bench.results()).unwrap();
        let running = start(Source::load(&recording).unwrap(), Pace::Recorded { speed: 1.0 }).unwrap();
        let (replayed, _) = again(&running, &plan, &bench.folder.path().join("replayed.json"));
        hold_against(&recorded, &replayed, 2 * late.worst());
        let provenance = &replayed["exoscope"];
        assert_eq!(provenance["simulated"], true, "the recording is one of a simulation");
        let notices = provenance["notices"].to_string();
        assert!(notices.contains("the server replays a recording"), "{notices}");
        assert!(!recorded["exoscope"]["notices"].to_string().contains("replays"));
    }
}

#[test]
fn a_higher_speed_shortens_what_the_server_takes() {
    let bench = cluster();
    let plan = "--model simulated-8b --pp 512 --tg 64 --stream --max-nodes 1 --no-system-metrics";
    let late = Lateness::watch();
    let recording = record(&bench, plan, "run.jsonl");
    let took = |file: &Value| {
        let timing = &file["runs"][0]["exoscope"]["timing"];
        timing["done_s"].as_f64().unwrap() - timing["sent_s"].as_f64().unwrap()
    };
    let recorded = took(&read_json(&bench.results()).unwrap());
    let at = |speed: f64, name: &str| {
        let running = start(Source::load(&recording).unwrap(), Pace::Recorded { speed }).unwrap();
        took(&again(&running, plan, &bench.folder.path().join(name)).0)
    };
    let faster = at(4.0, "faster.json");
    let near = 0.2 * recorded / 4.0 + 0.02 + 2.0 * late.worst().as_secs_f64();
    assert!((faster - recorded / 4.0).abs() < near, "{recorded} s, {faster} s at four times");
}

#[test]
fn a_recording_has_every_request_with_its_bytes_and_times_and_says_what_it_is() {
    let bench = cluster();
    let path =
        record(&bench, "--model simulated-8b --pp 64 --tg 8 --stream --max-nodes 1 --no-system-metrics", "r.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&header["exoscope_recording"], &header["simulated"]), (&Value::from(1), &Value::from(true)));
    assert_eq!(header["started_at"], read_json(&bench.results()).unwrap()["exoscope"]["started_at"]);
    let session = Session::load(&path).unwrap();
    assert_eq!(session.exchanges()[0].target, "/models");
    let chat = session.exchanges().iter().find(|one| one.target == "/bench/chat/completions").unwrap();
    assert!(chat.req_body.contains("\"max_tokens\":8") && chat.resp_body.ends_with("data: [DONE]\n\n"));
    assert_eq!(chat.resp_chunks.iter().map(|(_, length)| length).sum::<usize>(), chat.resp_body.len());
    assert!(chat.req_headers.iter().any(|(name, value)| name == "accept" && value == "text/event-stream"));
    let times = [chat.t_open, chat.t_req_end, chat.t_resp_headers, chat.t_resp_end].map(Option::unwrap);
    assert!(times.is_sorted(), "{times:?}");
    let sent = read_json(&bench.results()).unwrap()["runs"][0]["exoscope"]["timing"]["sent_s"].as_f64();
    assert_eq!(chat.t_req_end, sent, "on the clock of the result file");
    assert!(session.exchanges().iter().any(|one| one.method == "DELETE"), "to the last request");
}

#[test]
fn a_recording_never_overwrites_and_never_costs_the_measurement() {
    let bench = cluster();
    let plan = "--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --no-system-metrics";
    let there = bench.folder.path().join("there.jsonl");
    std::fs::write(&there, "mine").unwrap();
    let output = bench.command(plan).unwrap().arg("--record").arg(&there).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(words(&output).contains("never overwrites"), "{}", words(&output));
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "mine");
    assert!(!bench.journal().exists(), "nothing is left of a run that did not begin");
    let output = bench.command(plan).unwrap().arg("--record").arg(bench.results()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));

    // A limit on the size of files refuses writes as a full disk does: 64 blocks of 1024 bytes hold the journal but not
    // the prompts.
    let recording = bench.folder.path().join("full.jsonl");
    let command = bench.command(&plan.replace("--pp 64", "--pp 40000")).unwrap();
    let mut limited = Command::new("bash");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args())
        .arg("--record")
        .arg(&recording);
    let output = limited.output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let file = read_json(&bench.results()).unwrap();
    assert_eq!(file["runs"].as_array().unwrap().len(), 1);
    let notices = file["exoscope"]["notices"].to_string();
    assert!(notices.contains("full.jsonl could not be written to its end"), "{notices}");
    let session = Session::load(&recording).unwrap();
    assert!(session.is_torn() && session.exchanges()[0].target == "/models", "what was written is whole lines");
}

#[test]
fn what_a_crash_leaves_of_a_recording_can_be_replayed() {
    let bench = cluster();
    let plan = "--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --no-system-metrics";
    for name in ["cut.jsonl", "cut.jsonl.gz"] {
        let path = record(&bench, plan, name);
        let whole = Session::load(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() * 2 / 3]).unwrap();
        let cut = Session::load(&path).unwrap();
        assert!(cut.is_torn() && !whole.is_torn());
        let kept = cut.exchanges().len();
        assert!(kept > 0 && kept < whole.exchanges().len(), "{name}: {kept}");
        assert_eq!(cut.exchanges()[..1], whole.exchanges()[..1]);
        std::fs::remove_file(bench.results()).unwrap();
    }
}

#[tokio::test]
async fn an_answer_that_broke_or_never_came_does_so_again() {
    let get = |target: &str| Exchange { method: "GET".into(), target: target.into(), ..Exchange::default() };
    let body = || Exchange {
        status: Some(200),
        resp_body: "data: 1\n\n".into(),
        resp_chunks: vec![(0.0, 9)],
        t_req_end: Some(0.0),
        t_resp_headers: Some(0.0),
        t_resp_end: Some(0.05),
        ..get("/cut")
    };
    let session = Session::from_exchanges(vec![
        Exchange { end: Ended::Broken, ..body() },
        Exchange { end: Ended::Broken, seq: 1, ..get("/reset") },
        Exchange { end: Ended::Silent, seq: 2, target: "/silent".into(), ..body() },
    ]);
    let running = start(session, Pace::Recorded { speed: 1.0 }).unwrap();
    let cut = send(running.address, "GET", "/cut", "").await.unwrap_err();
    assert!(cut.contains("broke off"), "{cut}");
    let reset = send(running.address, "GET", "/reset", "").await.unwrap_err();
    assert!(reset.contains("no answer"), "{reset}");
    let silent = tokio::time::timeout(Duration::from_millis(300), send(running.address, "GET", "/silent", "")).await;
    assert!(silent.is_err(), "it goes on saying nothing");
}

/// Serves a timeline and holds bytes and offsets against the file.
async fn timeline(path: &Path) {
    let file = read_json(path).unwrap();
    let pieces = file["timeline"].as_array().unwrap();
    let running = start(Source::load(path).unwrap(), Pace::Recorded { speed: 1.0 }).unwrap();
    let ollama = file["kind"].as_str().unwrap().starts_with("ollama");
    let (asked_first, target) =
        if ollama { ("/api/version", "/api/generate") } else { ("/v1/models", "/v1/chat/completions") };
    assert_eq!(send(running.address, "GET", asked_first, "").await.unwrap().status, 200);
    assert_eq!(send(running.address, "POST", "/nowhere", "{}").await.unwrap().status, 404);
    let late = Lateness::watch();
    let answer = send(running.address, "POST", target, "{}").await.unwrap();
    // A busy machine wakes everybody late, this test too: by how much is seen beside it.
    let patience = Duration::from_millis(30) + 2 * late.worst();
    let place = path.display();
    assert_eq!(answer.status, 200, "{place}");
    assert_eq!(answer.header("x-exoscope-replay"), Some("true"));
    assert_eq!(answer.header("x-exoscope-simulated"), None, "nothing says that it is one");
    let usual = if ollama { "application/x-ndjson" } else { "text/event-stream" };
    assert_eq!(answer.header("content-type"), Some(file["content_type"].as_str().unwrap_or(usual)), "{place}");
    let text: String = pieces.iter().map(|piece| piece[1].as_str().unwrap()).collect();
    assert_eq!(answer.body, text, "{place}: byte for byte");
    let (mut sent, mut arrived, mut chunks) = (0, 0, answer.chunks.iter());
    let mut at = Duration::ZERO;
    for piece in pieces {
        sent += piece[1].as_str().unwrap().len();
        while arrived < sent {
            let (time, chunk) = chunks.next().unwrap();
            (at, arrived) = (*time, arrived + chunk.len());
        }
        let offset = Duration::from_secs_f64(piece[0].as_f64().unwrap() / 1000.0);
        assert!(at >= offset && at < offset + patience, "{place}: due at {offset:?}, came at {at:?} ({patience:?})");
    }
}

#[tokio::test]
async fn timelines_come_byte_for_byte_at_their_offsets() {
    for name in ["wire/timeline_ollama.json", "wire/timeline_chat.json"] {
        timeline(&tests::fixture(name)).await;
    }
}

#[tokio::test]
async fn every_timeline_of_the_engines_is_served() {
    let Some(folder) = tests::shared("cases/engines") else { return };
    let mut served = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        if read_json(&path).unwrap()["timeline"].as_array().unwrap().is_empty() {
            // A series of numbers to reckon with, not an answer.
            let error = Source::load(&path).unwrap_err().to_string();
            assert!(error.contains("empty"), "{error}");
            continue;
        }
        timeline(&path).await;
        served += 1;
    }
    assert!(served >= 10, "{served} timelines");
}

/// A started `exoscope replay`, ended with the value.
struct Served(std::process::Child);

impl Drop for Served {
    fn drop(&mut self) {
        // Ended by itself is as good.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn the_program_serves_what_it_recorded_and_says_where() {
    use std::io::{BufRead as _, BufReader};
    let bench = cluster();
    let plan = "--model simulated-8b --pp 64 --tg 8 --max-nodes 1 --no-system-metrics";
    let recording = record(&bench, plan, "run.jsonl.gz");
    let mut command = Command::new(tests::exoscope().unwrap());
    command.arg("replay").arg(&recording).args(["--port", "0", "--instant"]);
    let mut served = Served(command.stdout(std::process::Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).parse().unwrap();
    let mut again = bench_at(address).unwrap();
    let results = bench.folder.path().join("again.json");
    let output = again.args(plan.split_whitespace()).arg("--json-out").arg(&results).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    assert_eq!(
        rows(&read_json(&results).unwrap())[0]["stats"],
        rows(&read_json(&bench.results()).unwrap())[0]["stats"]
    );
}

#[test]
fn a_file_that_is_no_recording_is_met_with_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let packed = file("broken.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff");
    for (path, says) in [
        (tests::fixture("results/exoscope_simulated_base.json"), "this is a result file"),
        (tests::fixture("hostile/notes.txt"), "no recording"),
        (tests::fixture("wire/exo_shapes.json"), "neither a recording nor a timeline"),
        (file("empty", b""), "the recording is empty"),
        (file("newer", b"{\"exoscope_recording\": 9}\n"), "newer than this build reads"),
        (file("series", br#"{"kind": "series", "timeline": []}"#), "nothing to serve"),
        (file("offset", br#"{"kind": "chat", "timeline": [[-1, "x"]]}"#), "an offset of -1"),
        (file("far", br#"{"seq":0,"method":"GET","target":"/","status":200,"t_req_end":1e300}"#), "line 1"),
        (folder.path().join("absent.jsonl"), "cannot read the recording"),
        (folder.path().to_path_buf(), "cannot read the recording"),
        (packed, "cannot read the recording"),
    ] {
        let output = Command::new(tests::exoscope().unwrap()).arg("replay").arg(&path).output().unwrap();
        let said = words(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("exoscope: ") && said.trim().lines().count() == 1 && said.contains(says), "{said}");
    }
    for speed in ["0", "-1", "fast"] {
        let mut command = Command::new(tests::exoscope().unwrap());
        command.args(["replay", "x"]).arg(format!("--speed={speed}"));
        assert_eq!(command.output().unwrap().status.code(), Some(2), "{speed}");
    }
}
