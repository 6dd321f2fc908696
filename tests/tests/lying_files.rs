//! Files that lie, through the program: what can be no measurement is told and left out, no report and no export holds what
//! is no number, and no file takes more memory than there is.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

fn run(arguments: &[&str], file: &Path) -> Output {
    let program = tests::exoscope().unwrap_or_else(|error| panic!("{error}"));
    Command::new(program).args(arguments).arg(file).output().unwrap()
}

fn text(arguments: &[&str], file: &Path) -> String {
    let output = run(arguments, file);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A file with energies, changed.
fn changed(change: impl Fn(&mut Value)) -> (tempfile::TempDir, std::path::PathBuf) {
    let bytes = std::fs::read(tests::fixture("results/exoscope_energy.json")).unwrap();
    let mut document: Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut document);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lies.json");
    std::fs::write(&path, document.to_string()).unwrap();
    (folder, path)
}

fn each(list: &mut Value, change: impl Fn(&mut Value)) {
    list.as_array_mut().unwrap().iter_mut().for_each(change);
}

fn power(document: &mut Value, watts: impl Fn(f64) -> f64) {
    each(&mut document["metric_series"], |series| {
        each(&mut series["columns"]["sysPower"], |reading| {
            *reading = reading.as_f64().map_or(Value::Null, |reading| json!(watts(reading)));
        });
    });
}

/// Every instant of the client's.
fn timing(document: &mut Value, second: impl Fn(f64) -> f64) {
    fn walk(value: &mut Value, second: &dyn Fn(f64) -> f64) {
        match value {
            Value::Number(number) => *value = json!(second(number.as_f64().unwrap())),
            Value::Array(list) => list.iter_mut().for_each(|entry| walk(entry, second)),
            Value::Object(map) => map.values_mut().for_each(|entry| walk(entry, second)),
            _ => {}
        }
    }
    each(&mut document["runs"], |run| walk(&mut run["exoscope"]["timing"], &second));
}

/// Whether a text holds infinity or what is no number, as any of the formats spells it.
fn is_sound(text: &str) -> bool {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || "+-_".contains(letter)));
    !words
        .map(|word| word.trim_start_matches(['+', '-']).to_lowercase())
        .any(|word| ["inf", "nan", "infinity"].contains(&word.as_str()))
}

fn cells(file: &Path) -> Vec<Value> {
    let report: Value = serde_json::from_str(&text(&["report", "--format", "json"], file)).unwrap();
    report["files"][0]["cells"].as_array().unwrap().clone()
}

fn values(cells: &[Value], metric: &str) -> Vec<f64> {
    let metrics = cells.iter().flat_map(|cell| cell["metrics"].as_array().unwrap());
    let found = metrics.filter(|found| found["metric"] == metric);
    found.flat_map(|found| found["values"].as_array().unwrap()).map(|value| value.as_f64().unwrap()).collect()
}

#[test]
fn no_report_and_no_export_holds_what_is_no_number() {
    assert!(is_sound("information 1e308 finance") && !is_sound("a,inf,b") && !is_sound("x NaN") && !is_sound("-inf"));
    let lies: [(&str, &dyn Fn(&mut Value)); 7] = [
        ("power 1e308", &|file| power(file, |_| 1e308)),
        ("elapsed 1e308", &|file| each(&mut file["runs"], |run| run["elapsed_s"] = json!(1e308))),
        ("elapsed 1e-320", &|file| each(&mut file["runs"], |run| run["elapsed_s"] = json!(1e-320))),
        ("rates 1e308", &|file| {
            each(&mut file["runs"], |run| {
                run["stats"]["generation_tps"] = json!(1e308);
                run["stats"]["prompt_tps"] = json!(1e-308);
            });
        }),
        ("energies 1e308", &|file| {
            each(&mut file["runs"], |run| {
                run["power_usage"] = json!({"nodes": [{"node_id": "a"}], "total_energy_joules": 1e308});
            });
        }),
        ("instants 1e308", &|file| timing(file, |second| if second > 1.0 { 1e308 } else { -1e308 })),
        ("tokens 2^64 - 1", &|file| {
            each(&mut file["runs"], |run| run["stats"]["generation_tokens"] = json!(u64::MAX));
        }),
    ];
    for (name, lie) in lies {
        let (_folder, file) = changed(lie);
        for format in ["table", "csv", "json"] {
            assert!(is_sound(&text(&["report", "--format", format], &file)), "{name}: report {format}");
        }
        for format in ["prometheus", "gobench", "csv"] {
            assert!(is_sound(&text(&["export", "--format", format], &file)), "{name}: export {format}");
        }
        let found = text(&["validate"], &file);
        assert!(found.contains("warning:"), "{name}: {found}");
    }
}

#[test]
fn powers_that_no_machine_draws_are_missing_ones() {
    for (lie, watts) in [("below 0", -30.0), ("no power", 1e308), ("above 1 MW", 1e6 + 1.0)] {
        let (_folder, file) = changed(|file| power(file, |_| watts));
        assert!(text(&["validate"], &file).contains("are below 0 W or above 1 MW"), "{lie}");
        let cells = cells(&file);
        for metric in ["energy", "power", "tokens_per_second_per_watt", "energy_exo_client"] {
            assert!(values(&cells, metric).is_empty(), "{lie}: {metric}");
        }
    }
    let (_folder, file) = changed(|file| power(file, |watts| watts * 1000.0));
    assert!(text(&["validate"], &file).contains("are above 10 kW for one node: is it in milliwatts?"));
}

#[test]
fn energies_below_nothing_are_left_out() {
    let (_folder, file) = changed(|file| {
        each(&mut file["runs"], |run| {
            run["power_usage"] = json!({"nodes": [{"node_id": "a"}], "total_energy_joules": -5.0});
        });
    });
    assert!(text(&["validate"], &file).contains("have an energy below 0, which is left out"));
    assert!(values(&cells(&file), "energy_server").is_empty());
}

#[test]
fn instants_in_milliseconds_are_told_and_give_no_latency() {
    let (_folder, honest) = changed(|_| {});
    let before = cells(&honest);
    assert!(!values(&before, "ttft").is_empty() && !values(&before, "tpot").is_empty());
    assert!(!text(&["validate"], &honest).contains("instants"));
    let (_folder, file) = changed(|file| timing(file, |second| second * 1000.0));
    let found = text(&["validate"], &file);
    assert!(found.contains("instants that are not as far apart as their elapsed time says"), "{found}");
    assert!(found.contains("a first token before the start, after the end or after twice the elapsed time"), "{found}");
    let cells = cells(&file);
    for metric in ["ttft", "ttft_gap", "tpot", "itl", "itl_p99"] {
        assert!(values(&cells, metric).is_empty(), "{metric}");
    }
}

#[test]
fn a_first_token_of_a_clock_that_ran_backwards_gives_no_latency() {
    for after_s in [-1.0, 1e4] {
        let (_folder, file) = changed(|file| {
            each(&mut file["runs"], |run| {
                let sent = run["exoscope"]["timing"]["sent_s"].as_f64().unwrap();
                run["exoscope"]["timing"]["first_token_s"] = json!(sent + after_s);
            });
        });
        assert!(text(&["validate"], &file).contains("the clock ran backwards"));
        let cells = cells(&file);
        assert!(values(&cells, "ttft").is_empty() && values(&cells, "ttft_gap").is_empty());
    }
}

#[test]
fn a_start_that_is_no_time_is_told_and_packed_files_of_a_folder_are_read() {
    let (folder, file) = changed(|file| file["exoscope"]["started_at"] = json!("yesterday"));
    let found = text(&["validate"], &file);
    assert!(found.contains("its start, \"yesterday\", is no time with a zone"), "{found}");
    let mut packed =
        GzEncoder::new(std::fs::File::create(folder.path().join("b.json.gz")).unwrap(), Compression::fast());
    let honest = std::fs::read(tests::fixture("results/exoscope_sessions_base.json")).unwrap();
    packed.write_all(&honest).unwrap();
    packed.finish().unwrap();
    let output = run(&["history", "--format", "json"], folder.path());
    let history: Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = history["files"].as_array().unwrap();
    let at = |name: &str| {
        let file = files.iter().find(|file| file["name"].as_str().unwrap().ends_with(name)).unwrap();
        file["at"].as_str().unwrap().to_owned()
    };
    assert_eq!(files.len(), 2);
    assert!(at("lies.json").ends_with("(date of the file: it says \"yesterday\", which is no time with a zone)"));
    assert!(!at("b.json.gz").contains("date of the file"));
}

/// A made-up file of another tool, changed, and what is said of it and found in it.
fn of_another(name: &str, change: impl Fn(&mut Value)) -> (String, Vec<Value>) {
    let bytes = std::fs::read(tests::fixture(&format!("imports/{name}"))).unwrap();
    let mut document: Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut document);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lies.json");
    std::fs::write(&path, document.to_string()).unwrap();
    (text(&["validate"], &path), cells(&path))
}

#[test]
fn times_and_rates_of_other_tools_that_do_not_fit_each_other_are_told() {
    let times = |value: &mut Value, by: f64| *value = json!(value.as_f64().unwrap() * by);
    let (said, found) = of_another("vllm_bench_serve.json", |result| times(&mut result["output_throughput"], -1.0));
    assert!(said.contains("has a throughput below 0, which is left out"), "{said}");
    assert_eq!(values(&found, "aggregate_tokens_over_wall"), Vec::<f64>::new());
    let (said, _) = of_another("vllm_bench_serve.json", |result| times(&mut result["output_throughput"], 1000.0));
    assert!(said.contains("a throughput of ten times what its requests decode together"), "{said}");
    let (said, _) = of_another("guidellm_aggregates.json", |report| {
        times(&mut report["benchmarks"][0]["metrics"]["time_to_first_token_ms"]["successful"]["mean"], 1000.0);
    });
    assert!(said.contains("has its first token after the whole answer: is a time in another unit?"), "{said}");
    let (said, _) = of_another("aiperf.json", |report| times(&mut report["time_to_first_token"]["avg"], 1e-9));
    assert!(said.contains("holds a time below a microsecond, which nothing takes"), "{said}");
    let (said, found) = of_another("aiperf.json", |report| report["request_latency"]["unit"] = json!("furlong"));
    assert!(
        said.contains("request_latency is in \"furlong\", which is no unit of time that is known: left out"),
        "{said}"
    );
    assert_eq!(values(&found, "elapsed"), Vec::<f64>::new());
    let (said, _) = of_another("vllm_detailed.json", |result| result["ttfts"].as_array_mut().unwrap().truncate(1));
    assert!(said.contains("completed requests; the others are in no number of one request"), "{said}");
}

/// Runs under a limit of 3 GB of addresses; what it said, whichever way it ended.
#[cfg(unix)]
fn limited(file: &Path) -> (Option<i32>, String) {
    let program = tests::exoscope().unwrap_or_else(|error| panic!("{error}"));
    let script = "ulimit -v 3000000; exec \"$0\" validate \"$1\"";
    let output = Command::new("sh").args(["-c", script]).arg(program).arg(file).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(unix)]
#[test]
fn small_files_that_hold_many_values_do_not_fill_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let packed = |name: &str, head: &str, piece: &str, tail: &str| {
        let path = folder.path().join(name);
        let mut encoder = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
        encoder.write_all(head.as_bytes()).unwrap();
        let piece = piece.repeat((1 << 20) / piece.len());
        (0..60).for_each(|_| encoder.write_all(piece.as_bytes()).unwrap());
        encoder.write_all(tail.as_bytes()).unwrap();
        encoder.finish().unwrap();
        path
    };
    for (name, head, piece, tail) in [
        ("zeros.json.gz", r#"{"runs":[],"x":["#, "0,", "0]}"),
        ("in_a_row.json.gz", r#"[{"elapsed_s":1,"stats":null,"output_text_preview":"","x":["#, "0,", "0]}]"),
        ("lists.json.gz", r#"{"runs":[],"x":["#, "[0],", "0]}"),
        ("rows.json.gz", "[", r#"{"elapsed_s":1},"#, r#"{"elapsed_s":1}]"#),
    ] {
        let (code, said) = limited(&packed(name, head, piece, tail));
        assert!(code == Some(1) && said.contains("so many values"), "{name}: {code:?} {said}");
    }
    let (code, said) = limited(&packed("brackets.json.gz", "", "[", ""));
    assert!(code == Some(1) && said.contains("no result file is nested that deeply"), "{code:?} {said}");
    let sparse = folder.path().join("sparse.json");
    std::fs::File::create(&sparse).unwrap().set_len(2_900_000_000).unwrap();
    let (code, said) = limited(&sparse);
    assert!(code == Some(1) && said.contains("it is larger than 1024 MiB"), "{code:?} {said}");
}
