//! `exoscope merge`: the numbers of the merged file are those of its files read together.

use std::path::Path;
use std::process::{Command, Output};

use analyzer::import::{Loaded, load};
use serde_json::Value;

fn merge(files: &[&Path], output: &Path, more: &[&str]) -> Output {
    let program = tests::exoscope().unwrap_or_else(|error| panic!("{error}"));
    Command::new(program).arg("merge").args(files).arg("--output").arg(output).args(more).output().unwrap()
}

fn loaded(path: &Path) -> Loaded {
    load("file", &std::fs::read(path).unwrap()).unwrap()
}

/// Cells and failures of a report: all numbers, and nothing of where they come from.
fn numbers(loaded: &Loaded) -> Value {
    let report = serde_json::to_value(analyzer::summary::report(loaded).unwrap()).unwrap();
    serde_json::json!([report["cells"], report["failures"], report["timeline"]])
}

#[test]
fn the_numbers_are_those_of_the_files_one_behind_the_other() {
    let folder = tempfile::tempdir().unwrap();
    for (first, second) in [
        ("exoscope_sessions_base", "exoscope_sessions_faster"),
        ("f3c", "f3e"),
        ("exoscope_energy", "exoscope_energy_later"),
    ] {
        let first = tests::fixture(&format!("results/{first}.json"));
        let mut second = tests::fixture(&format!("results/{second}.json"));
        if !second.exists() {
            // The same machine on another day: the clock starts anew, so seconds of both files are alike.
            let mut file = tests::measured::read_json(&first).unwrap();
            file["exoscope"]["started_at"] = "2026-06-04T09:00:00Z".into();
            for run in file["runs"].as_array_mut().unwrap() {
                // Two measurements never take the same time to the last digit.
                run["elapsed_s"] = (run["elapsed_s"].as_f64().unwrap() + 1e-9).into();
            }
            second = folder.path().join("later.json");
            std::fs::write(&second, file.to_string()).unwrap();
        }
        let place = folder.path().join(format!("{}.merged.json", first.file_stem().unwrap().to_str().unwrap()));
        let output = merge(&[&first, &second], &place, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut together = std::fs::read(&first).unwrap();
        together.extend(std::fs::read(&second).unwrap());
        let together = load("file", &together).unwrap();
        let merged = loaded(&place);
        assert_eq!(merged.document_rows, together.document_rows);
        assert_eq!(numbers(&merged), numbers(&together), "{}", first.display());
        let names: Vec<&str> = merged.file.merged.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, [first.to_str().unwrap(), second.to_str().unwrap()]);
        let kept: Vec<_> = merged.file.merged.iter().map(|part| part.exoscope.clone()).collect();
        assert_eq!(kept, [loaded(&first).file.exoscope, loaded(&second).file.exoscope]);
    }
}

#[test]
fn the_facts_are_of_all_parts_and_every_node_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let first = tests::fixture("results/exoscope_sessions_base.json");
    let text = std::fs::read_to_string(tests::fixture("results/exoscope_sessions_faster.json")).unwrap();
    // exo was started anew, which gives every node another id, and one machine was exchanged.
    let text = text.replace("FixtureNodeA", "FixtureNodeC").replace("FixtureNodeB", "FixtureNodeD");
    let text = text.replace("lab-studio-2", "lab-studio-3").replace("localhost:52415", "mac.lab:52415");
    let (second, place) = (folder.path().join("second.json"), folder.path().join("m.json"));
    std::fs::write(&second, &text).unwrap();
    let output = merge(&[&first, &second], &place, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = analyzer::summary::report(&loaded(&place)).unwrap();
    let fact = |key: &str| report.facts.iter().find(|fact| fact.key == key).unwrap().value.as_str();
    assert_eq!(fact("address"), "localhost:52415; mac.lab:52415");
    assert_eq!(fact("started"), "2026-06-07T09:00:00Z; 2026-06-08T09:00:00Z");
    assert_eq!(fact("ended"), "2026-06-07T09:04:00Z; 2026-06-08T09:04:00Z");
    for machine in ["lab-studio-1", "lab-studio-2", "lab-studio-3"] {
        assert_eq!(fact("nodes").matches(machine).count(), 1, "{}", fact("nodes"));
    }
    let shown = serde_json::to_string(&report).unwrap();
    assert!(!shown.contains("12D3KooWFixtureNode"), "a raw id: {shown}");
}

#[test]
fn merging_step_by_step_is_merging_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = ["f3b", "f3c", "f3e"].map(|name| tests::fixture(&format!("results/{name}.json")));
    let [step, steps, once] = ["step.json", "steps.json", "once.json"].map(|name| folder.path().join(name));
    assert!(merge(&[&a, &b], &step, &[]).status.success());
    assert!(merge(&[&step, &c], &steps, &[]).status.success());
    assert!(merge(&[&a, &b, &c], &once, &[]).status.success());
    assert_eq!(loaded(&steps).file, loaded(&once).file);
}

#[test]
fn what_does_not_belong_together_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let base = tests::fixture("results/exoscope_sessions_base.json");
    let other = |name: &str, pointer: &str, value: Value| {
        let mut file = tests::measured::read_json(&tests::fixture("results/exoscope_sessions_faster.json")).unwrap();
        if pointer == "model" {
            file["runs"].as_array_mut().unwrap().iter_mut().for_each(|run| run["model_id"] = value.clone());
        } else {
            *file.pointer_mut(pointer).unwrap() = value;
        }
        let path = folder.path().join(name);
        std::fs::write(&path, file.to_string()).unwrap();
        path
    };
    let place = folder.path().join("merged.json");
    let refused = |file: &Path, words: &str| {
        let output = merge(&[&base, file], &place, &[]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(words) && !place.exists(), "{said}");
    };
    refused(&base, "hold the same run");
    refused(&other("model.json", "model", "lab/other".into()), "differ in the model (");
    let cached = other("cached.json", "/exoscope/method/use_prefix_cache", true.into());
    refused(&cached, "differ in the method's use_prefix_cache (false, true)");
    // Other lengths are further cells, not another method.
    let lengths = other("lengths.json", "/exoscope/method/pp", serde_json::json!([1]));
    assert!(merge(&[&base, &lengths], &place, &[]).status.success());
    let forced = folder.path().join("forced.json");
    assert!(merge(&[&base, &cached], &forced, &["--force"]).status.success());
    let notices = loaded(&forced).file.exoscope.unwrap().notices;
    assert!(notices.iter().any(|notice| notice.contains("they were merged all the same")), "{notices:?}");
    let again = merge(&[&base, &lengths], &place, &[]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("is not overwritten"));
}

#[test]
fn the_same_rows_are_not_counted_twice() {
    let folder = tempfile::tempdir().unwrap();
    let base = tests::fixture("results/exoscope_sessions_base.json");
    let place = folder.path().join("merged.json");
    let copy = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut file = tests::measured::read_json(&base).unwrap();
        change(&mut file);
        let path = folder.path().join(name);
        std::fs::write(&path, file.to_string()).unwrap();
        path
    };
    let noted = copy("noted.json", &|file| file["exoscope"]["notices"] = serde_json::json!(["another"]));
    let rows = tests::measured::read_json(&base).unwrap()["runs"].as_array().unwrap().len();
    let short = copy("short.json", &|file| drop(file["runs"].as_array_mut().unwrap().remove(0)));
    let lines = tests::fixture("imports/llama_bench.jsonl");
    for (first, second, words) in [
        (&base, &noted, "hold the same run".to_owned()),
        (&base, &short, format!("{} rows of {} are in", rows - 1, base.display())),
        (&tests::fixture("imports/llama_bench.json"), &lines, "hold the same run".to_owned()),
    ] {
        let output = merge(&[first, second], &place, &["--force"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(&words) && !place.exists(), "{said}");
    }
}

#[test]
fn the_merged_file_is_what_its_name_says() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["base", "faster"].map(|name| tests::fixture(&format!("results/exoscope_sessions_{name}.json")));
    let [plain, packed] = ["m.json", "m.json.gz"].map(|name| folder.path().join(name));
    assert!(merge(&[&a, &b], &plain, &[]).status.success());
    assert!(merge(&[&a, &b], &packed, &[]).status.success());
    assert!(std::fs::read(&packed).unwrap().starts_with(&[0x1F, 0x8B]));
    assert_eq!(loaded(&packed).file, loaded(&plain).file);
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = merge(&[&a, &b], &file.join("m.json"), &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("name another place with --output"), "{said}");
}

#[test]
fn what_was_simulated_is_not_merged_with_what_was_measured() {
    let file = |name: &str| tests::fixture(&format!("results/{name}.json")).display().to_string();
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(tests::exoscope().unwrap())
        .args(["merge", &file("exoscope_simulated_base"), &file("exoscope_energy"), "--output"])
        .arg(folder.path().join("both.json"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("where they come from (simulated, measured)"), "{said}");
}
