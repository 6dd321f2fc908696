//! A redacted file names no one and has the same numbers.

use std::path::Path;
use std::process::{Command, Output};

use analyzer::comparison::{Options, Verdict, compare};
use probe::replay::{Pace, Session, start};
use probe::simulate::Settings;
use serde_json::Value;
use tests::measured::{Bench, bench_at, read_json};

fn exoscope(arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new(tests::exoscope().unwrap());
    let (verb, more) = arguments.split_first().unwrap();
    command.arg(verb).arg(file).args(more).output().unwrap()
}

fn report(file: &Path) -> Value {
    let output = exoscope(&["report", "--format", "json"], file);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A value with every string and key taken out: what is left are the numbers and where they stand.
fn numbers(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Array(map.values().map(numbers).collect()),
        Value::Array(list) => Value::Array(list.iter().map(numbers).collect()),
        Value::String(_) => Value::Null,
        other => other.clone(),
    }
}

#[test]
fn no_name_is_left_and_every_number_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    let mut file = read_json(&tests::fixture("results/exoscope_simulated_base.json")).unwrap();
    let about = &mut file["exoscope"];
    about["target"]["address"] = "marias-studio.local:52415".into();
    about["command"] = serde_json::json!(["/Users/maria/bin/exoscope", "bench", "--host", "marias-studio.local"]);
    about["notices"] = serde_json::json!([
        "node 12D3KooWFixtureNodeB at http://10.7.8.9:52415/x and fd00::77 (lab-studio-1) told maria nothing",
        "marias-studio does not answer"
    ]);
    file["cluster"]["nodeIdentities"]["12D3KooWFixtureNodeA"]["serialNumber"] = "C02XK1AAJG5H".into();
    file["cluster"]["topology"]["connections"] = serde_json::json!({"12D3KooWFixtureNodeA": {"12D3KooWFixtureNodeB": [
        {"sinkMultiaddr": {"address": "/ip4/10.7.8.9/tcp/52415", "ip_address": "10.7.8.9"}}]}});
    std::fs::write(&path, serde_json::to_string_pretty(&file).unwrap()).unwrap();

    let output = exoscope(&["redact"], &path);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("node ids: 2") && said.contains("output previews: "), "{said}");
    let redacted = folder.path().join("results.redacted.json");
    let text = std::fs::read_to_string(&redacted).unwrap();
    let preview = file["runs"][0]["output_text_preview"].as_str().unwrap_or("no preview").to_owned();
    for name in ["12D3KooW", "lab-studio", "marias-studio", "maria", "10.7.8.9", "fd00::77", "C02XK1AAJG5H", &preview] {
        assert!(!text.contains(name), "{name} is left");
        assert!(!said.contains(name), "{name} is told");
    }
    let instance = file["runs"][0]["instance_id"].as_str().unwrap();
    assert!(text.contains(instance), "instance ids name no one");
    let after = read_json(&redacted).unwrap();
    assert_eq!(after["exoscope"]["target"]["address"], "host-1:52415");
    assert_eq!(
        after["exoscope"]["notices"][0],
        "node node-2 at http://192.0.2.1:52415/x and 2001:db8::1 (name-1) told user-1 nothing"
    );
    assert_eq!(after["exoscope"]["notices"][1], "host-1 does not answer");
    assert_eq!(numbers(&report(&path)), numbers(&report(&redacted)));

    let again = exoscope(&["redact"], &path);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("not overwritten"));
}

#[test]
fn a_console_log_names_no_peer_and_keeps_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop.log");
    let peers = [
        "12D3KooWGkTtoBPxB2dQ6SK4vW5ibMsr8Ljw1J1UQ8av7REATzyA",
        "12D3KooWPjceQrSwdWXPyLLeABRXmuqt69Rg3sBYbU1Nft9HyQ6X",
        "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N",
    ];
    let mut log = std::fs::read_to_string(tests::fixture("imports/exo_loop.log")).unwrap();
    for peer in peers {
        log += &format!("2026-06-01 10:59:00.000 | INFO     | harness:run:463 - Started download on {peer}\n");
        log += &format!("2026-06-01 10:59:01.000 | INFO     | __main__:print_summary:214 -   {peer}:  GPU 84% avg\n");
    }
    log += "  File \"/opt/lib/huggingface_hub/utils.py\", line 1, in get: https://huggingface.co/lab/m is not there\n";
    log += "huggingface does not answer\n";
    std::fs::write(&path, &log).unwrap();
    let output = exoscope(&["redact"], &path);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.path().join("loop.redacted.log")).unwrap();
    for peer in peers {
        assert!(!text.contains(&peer[..12]), "{peer} is left");
    }
    assert_eq!(text.matches("Started download on node-").count(), 3);
    assert!(text.contains("/opt/lib/huggingface_hub/utils.py"), "a longer word is none of its parts");
    assert!(!text.contains("huggingface.co") && !text.contains("huggingface does not"), "{text}");
    assert_eq!(numbers(&report(&path)), numbers(&report(&folder.path().join("loop.redacted.log"))));
}

#[test]
fn every_result_file_of_the_fixtures_keeps_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(tests::fixture("results")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let redacted = folder.path().join(path.file_name().unwrap());
        let output = exoscope(&["redact", "--output", &redacted.display().to_string()], &path);
        assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
        assert_eq!(numbers(&report(&path)), numbers(&report(&redacted)), "{}", path.display());
        assert!(!std::fs::read_to_string(&redacted).unwrap().contains("12D3KooWFixture"), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 10);
}

#[test]
fn a_redacted_recording_replays_to_the_same_numbers_and_says_nothing() {
    let bench = Bench::new(Settings { load_seconds: 0.0, decode_tps: 500.0, ..Settings::default() }).unwrap();
    let plan = "--model simulated-8b --pp 64 --tg 16 --stream --max-nodes 1 --no-system-metrics";
    let recording = bench.folder.path().join("run.jsonl.gz");
    let output = bench.command(plan).unwrap().arg("--record").arg(&recording).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = exoscope(&["redact"], &recording);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let before = Session::load(&recording).unwrap();
    let after = Session::load(bench.folder.path().join("run.redacted.jsonl.gz")).unwrap();
    assert_eq!(before.exchanges().len(), after.exchanges().len());
    let cluster = read_json(&bench.results()).unwrap()["cluster"].clone();
    let nodes = cluster["nodeIdentities"].as_object().unwrap();
    for (one, other) in before.exchanges().iter().zip(after.exchanges()) {
        let times = |exchange: &probe::replay::Exchange| exchange.resp_chunks.iter().map(|c| c.0).collect::<Vec<_>>();
        assert_eq!(times(one), times(other), "every frame at its time");
        assert_eq!(other.resp_chunks.iter().map(|c| c.1).sum::<usize>(), other.resp_body.len());
        let text = serde_json::to_string(other).unwrap();
        for (id, node) in nodes {
            assert!(!text.contains(id.as_str()), "{} {}", other.target, id);
            let name = node["friendlyName"].as_str().unwrap();
            assert!(!text.contains(&format!("\\\"{name}\\\"")), "{name}");
        }
        assert!(!text.contains("127.0.0.1"), "{}", other.target);
        if one.target == "/bench/chat/completions" {
            let body: Value = serde_json::from_str(&other.req_body).unwrap();
            let prompt = body["messages"][0]["content"].as_str().unwrap();
            assert!(prompt.chars().all(|c| !c.is_alphanumeric() || c == 'x'), "{prompt}");
            let asked: Value = serde_json::from_str(&one.req_body).unwrap();
            assert_eq!(prompt.len(), asked["messages"][0]["content"].as_str().unwrap().len());
            assert_eq!(one.resp_body.matches("data:").count(), other.resp_body.matches("data:").count());
        }
    }
    let running = start(after, Pace::Recorded { speed: 1.0 }).unwrap();
    let results = bench.folder.path().join("replayed.json");
    let mut command = bench_at(running.address).unwrap();
    let output = command.args(plan.split_whitespace()).arg("--json-out").arg(&results).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (one, other) = (read_json(&bench.results()).unwrap(), read_json(&results).unwrap());
    assert_eq!(one["runs"][0]["stats"], other["runs"][0]["stats"]);
    assert_eq!(one["runs"][0]["exoscope"]["tokens"], other["runs"][0]["exoscope"]["tokens"]);
}

#[test]
fn a_file_that_cannot_be_redacted_is_met_with_one_sentence() {
    for (name, code) in [("hostile/notes.txt", 1), ("hostile/empty.json", 1), ("hostile/absent.json", 1)] {
        let output = exoscope(&["redact"], &tests::fixture(name));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.starts_with("exoscope: ") && said.trim().lines().count() == 1, "{said}");
    }
}

/// Redacts a text as a file of this name; gives the new text.
fn redacted(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    let place = folder.join(format!("{name}.share"));
    let output = exoscope(&["redact", "--output", place.to_str().unwrap()], &path);
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&place).unwrap();
    // Once more changes nothing.
    let again = folder.join(format!("{name}.again"));
    let output = exoscope(&["redact", "--output", again.to_str().unwrap()], &place);
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text, std::fs::read_to_string(&again).unwrap(), "{name}");
    text
}

#[test]
fn a_text_under_any_key_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = read_json(&tests::fixture("results/exoscope_failures.json")).unwrap();
    file["exoscope"]["command"] = serde_json::json!([
        "/opt/zebra/exoscope",
        "bench",
        "--model",
        "lab/m",
        "--pp",
        "64",
        "--api-key=zebra-1",
        "--header",
        "Authorization: Bearer zebra.2",
        "--json-out",
        "/data/zebra/r.json",
        "sk-zebrazebrazebra"
    ]);
    file["failures"][0]["message"] = "cannot reach zebra-host at /srv/zebra/x".into();
    file["runs"][0]["prompt"] = "why is the zebra striped".into();
    file["runs"][0]["note of mine"] = serde_json::json!({"deep": ["zebra", {"er": "zebra"}]});
    file["exoscope"]["notices"] =
        serde_json::json!(["asked http://u:zebra@box/v1?token=zebra with Authorization: Bearer zebra"]);
    file["exoscope"]["secret_token"] = "3b1d0c1e-0000-4000-8000-00000000beef".into();
    let text = redacted(folder.path(), "ours.json", file.to_string().as_bytes());
    assert!(!text.contains("zebra"), "{text}");
    assert!(!text.contains("00000000beef"), "a secret by its key");
    let after: Value = serde_json::from_str(&text).unwrap();
    let command: Vec<&str> =
        after["exoscope"]["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(command[..7], ["exoscope", "bench", "--model", "lab/m", "--pp", "64", "--api-key=redacted"]);
    assert_eq!(
        numbers(&report(&folder.path().join("ours.json"))),
        numbers(&report(&folder.path().join("ours.json.share")))
    );
}

#[test]
fn names_within_sentences_that_stay_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = read_json(&tests::fixture("results/exoscope_failures.json")).unwrap();
    file["exoscope"]["target"]["address"] = "zebrabox:52415".into();
    file["exoscope"]["notices"] = serde_json::json!([
        "ask striped.rider+lab@zebra.example.com (a4:83:e7:12:34:56, A4-83-E7-12-34-57) or rider@zebrabox",
        "dave:zebra-3@10.0.0.5:52415 and ssh rider@10.1.2.3, bob:hunter2@build.zebra.net timed out",
        "lab/m@main by mlx@0.28.1 at 2026-11-30-10-20-30 on 11-30-10-20-30-40 took 12:34:56"
    ]);
    file["runs"][0]["model_id"] = "lab/striped@zebra.example.com".into();
    let text = redacted(folder.path(), "ours.json", file.to_string().as_bytes());
    for name in ["zebra", "striped", "rider", "83:e7", "83-E7"] {
        assert!(!text.contains(name), "{name} is left: {text}");
    }
    let after: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(after["exoscope"]["notices"][0], "ask user-3 (id-2, id-1) or user-2@host-2");
    assert_eq!(after["exoscope"]["notices"][1], "192.0.2.1:52415 and ssh redacted@192.0.2.2, host-1 timed out");
    assert_eq!(
        after["exoscope"]["notices"][2], file["exoscope"]["notices"][2],
        "revisions, versions and times are no names"
    );
    assert_eq!(
        numbers(&report(&folder.path().join("ours.json"))),
        numbers(&report(&folder.path().join("ours.json.share")))
    );
}

#[test]
fn files_of_other_tools_and_their_originals_say_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = read_json(&tests::fixture("imports/vllm_detailed.json")).unwrap();
    let answers = file["generated_texts"].as_array_mut().expect("the fixture has answers");
    answers.iter_mut().for_each(|answer| *answer = "a zebra said so".into());
    let raw = redacted(folder.path(), "vllm.json", file.to_string().as_bytes());
    assert!(!raw.contains("zebra"));
    // The same within a result file, where the original is kept.
    let mut ours = read_json(&tests::fixture("results/exoscope_energy.json")).unwrap();
    ours["source"] = serde_json::json!({"format": "a result of vLLM's bench serve", "reason": "its date", "class": "endpoint",
        "size_bytes": 1, "sha256": "ab", "original": [file, "a log of a zebra"]});
    let kept = redacted(folder.path(), "ours.json", ours.to_string().as_bytes());
    assert!(!kept.contains("zebra"));
}

#[test]
fn what_is_read_in_another_encoding_is_redacted_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(tests::fixture("results/exoscope_failures.json")).unwrap();
    let wide: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let plain = redacted(folder.path(), "plain.json", text.as_bytes());
    assert_eq!(redacted(folder.path(), "wide.json", &wide), plain);
    assert_eq!(redacted(folder.path(), "marked.json", format!("\u{feff}{text}").as_bytes()), plain);
}

#[test]
fn a_recording_that_was_cut_off_says_what_it_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let line = serde_json::json!({"seq": 0, "method": "GET", "target": "/instance/previews?model_id=lab/m&token=zebra",
        "req_headers": [["Host", "box"], ["X-Mine", "zebra"]], "req_body": "", "status": 200, "reason": "OK",
        "resp_headers": [["Content-Type", "application/json"]],
        "resp_body": "{\"remark\": \"zebra\", \"sharding\": \"Pipeline\"}", "t_open": 0.0, "t_request_sent": 0.1,
        "t_first_byte": 0.2, "t_done": 0.3, "resp_chunks": [[0.2, 43]]});
    std::fs::write(&path, format!("{{\"exoscope_recording\": 1}}\n{line}\n{{\"seq\": 1, \"tar")).unwrap();
    let output = exoscope(&["redact"], &path);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("1 line cut off in the middle, left out"), "{said}");
    let text = std::fs::read_to_string(folder.path().join("run.redacted.jsonl")).unwrap();
    assert!(!text.contains("zebra") && text.contains("model_id=lab/m&token=redacted"), "{text}");
    assert!(text.contains("\\\"sharding\\\": \\\"Pipeline\\\""), "{text}");
}

#[test]
fn a_redacted_file_is_still_comparable_with_its_original() {
    let folder = tempfile::tempdir().unwrap();
    let program = tests::exoscope().unwrap();
    for name in ["results/exoscope_energy.json", "imports/guidellm.json", "imports/aiperf.json"] {
        let (original, redacted) = (tests::fixture(name), folder.path().join("redacted.json"));
        let output =
            std::process::Command::new(&program).arg("redact").arg(&original).arg("--output").arg(&redacted).output();
        assert!(output.unwrap().status.success());
        // The verb refuses it, since nothing can have changed.
        let load = |path: &Path| analyzer::import::load("file", &std::fs::read(path).unwrap()).unwrap();
        let found = compare(&load(&original), &load(&redacted), &Options::default()).unwrap();
        let rows = found.cells.iter().flat_map(|cell| &cell.metrics);
        let lost = rows.filter(|row| row.verdict == Some(Verdict::NotComparable)).count();
        assert_eq!(lost, 0, "{name}: {}", found.headline);
        std::fs::remove_file(&redacted).unwrap();
    }
}

#[test]
fn a_node_that_is_called_like_a_field_takes_no_field_with_it() {
    let text = std::fs::read_to_string(tests::fixture("results/exoscope_energy.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (file, redacted) = (folder.path().join("named.json"), folder.path().join("redacted.json"));
    let report = |path: &std::path::Path| {
        let program = tests::exoscope().unwrap();
        let output =
            std::process::Command::new(program).arg("report").arg(path).args(["--format", "csv"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    for name in ["host", "session", "generation_tps", "power_usage"] {
        std::fs::write(&file, text.replace("lab-studio-1", name)).unwrap();
        let program = tests::exoscope().unwrap();
        let output =
            std::process::Command::new(program).arg("redact").arg(&file).arg("--output").arg(&redacted).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(report(&redacted), report(&file), "{name}");
        std::fs::remove_file(&redacted).unwrap();
    }
}
