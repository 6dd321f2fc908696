//! The verbs that read and write files: none loses what it reads, hangs on a stream, or shows a terminal what it obeys.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn exoscope(folder: &Path, arguments: &[&str]) -> Output {
    let program = tests::exoscope().unwrap_or_else(|error| panic!("{error}"));
    Command::new(program).current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with two result files.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in [("a.json", "exoscope_sessions_base"), ("b.json", "exoscope_sessions_faster")] {
        std::fs::copy(tests::fixture(&format!("results/{from}.json")), folder.path().join(name)).unwrap();
    }
    folder
}

#[cfg(unix)]
#[test]
fn no_verb_writes_over_what_it_reads() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("a.json", at("link.json")).unwrap();
    std::fs::hard_link(at("a.json"), at("hard.json")).unwrap();
    std::fs::write(at("night.toml"), "[[benchmark]]\nname = \"night\"\nmodel = \"m\"\npp = 8\ntg = 8\n").unwrap();
    std::os::unix::fs::symlink("night.toml", at("night.json")).unwrap();
    let before = std::fs::read(at("a.json")).unwrap();
    let verbs: [&[&str]; 8] = [
        &["report", "a.json"],
        &["compare", "a.json", "b.json"],
        &["validate", "b.json", "a.json"],
        &["explain", "elapsed", "a.json"],
        &["plan", "a.json", "--sessions", "2", "--repeat", "3"],
        &["history", "a.json", "b.json"],
        &["calibrate", "a.json", "b.json"],
        &["export", "a.json", "--format", "csv"],
    ];
    for verb in verbs {
        for output in ["a.json", "./a.json", "link.json", "hard.json"] {
            let ended = exoscope(folder.path(), &[verb, &["--output", output]].concat());
            assert_eq!(ended.status.code(), Some(2), "{verb:?} {output}: {}", said(&ended));
            assert!(said(&ended).contains("which is read here and would be lost"), "{verb:?}: {}", said(&ended));
            assert_eq!(std::fs::read(at("a.json")).unwrap(), before, "{verb:?} {output}");
        }
    }
    let suite = exoscope(folder.path(), &["bench", "--suite", "night.toml", "--json-out", "results.json"]);
    assert_eq!(suite.status.code(), Some(2), "{}", said(&suite));
    assert!(said(&suite).contains("--json-out night.json is night.toml"), "{}", said(&suite));
    let elsewhere = exoscope(folder.path(), &["report", "a.json", "--output", "report.txt"]);
    assert!(elsewhere.status.success() && at("report.txt").exists());
    // Written again, an output of before is replaced as ever.
    assert!(exoscope(folder.path(), &["report", "a.json", "--output", "report.txt"]).status.success());
}

#[test]
fn files_of_this_program_that_are_no_results_are_known() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let file = tests::measured::read_json(&at("a.json")).unwrap();
    let started = serde_json::json!({"event": "started", "provenance": file["exoscope"]});
    std::fs::write(at("run.journal"), format!("{started}\n{{\"event\": \"tor")).unwrap();
    let header = "{\"exoscope_recording\": 1, \"tool\": \"exoscope\"}\n";
    std::fs::write(at("run.jsonl"), header).unwrap();
    for (name, verb, words) in [
        ("run.journal", "report", "exoscope recover"),
        ("run.journal", "validate", "exoscope recover"),
        ("run.jsonl", "report", "exoscope replay"),
        ("run.jsonl", "validate", "exoscope replay"),
    ] {
        let output = exoscope(folder.path(), &[verb, name]);
        let all = said(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && all.contains(words), "{verb} {name}: {all}");
    }
    let compared = exoscope(folder.path(), &["compare", "a.json", "run.journal"]);
    assert!(said(&compared).contains("exoscope recover"), "{}", said(&compared));
}

#[test]
fn what_the_verbs_write_of_results_is_known_and_passed_over_by_a_history() {
    let folder = folder();
    let calibrated = exoscope(folder.path(), &["calibrate", "a.json", "--output", "c.json"]);
    assert!(calibrated.status.success(), "{}", said(&calibrated));
    let written: [(&[&str], &str); 8] = [
        (&["compare", "a.json", "b.json"], "a comparison of exoscope compare, no result file; "),
        (&["plan", "a.json", "--sessions", "3", "--repeat", "3"], "a plan of exoscope plan, no result file; "),
        (&["history", "a.json", "b.json"], "a history of exoscope history, no result file; "),
        (&["report", "a.json"], "a report of exoscope report, no result file; "),
        (&["validate", "a.json"], "findings of exoscope validate, no result file; "),
        (&["explain"], "an explanation of exoscope explain, no result file; "),
        (&["explain", "generation"], "an explanation of exoscope explain, no result file; "),
        (&[], "a calibration of exoscope calibrate, no result file; give it with --calibration"),
    ];
    for (place, (arguments, words)) in written.iter().enumerate() {
        let name = format!("{place}.json");
        match arguments.is_empty() {
            true => std::fs::rename(folder.path().join("c.json"), folder.path().join(&name)).unwrap(),
            false => {
                let wrote = exoscope(folder.path(), &[arguments, &["--format", "json"][..]].concat());
                std::fs::write(folder.path().join(&name), wrote.stdout).unwrap();
            }
        }
        for verb in ["report", "validate"] {
            let output = exoscope(folder.path(), &[verb, &name]);
            let all = said(&output) + &String::from_utf8_lossy(&output.stdout);
            assert!(
                !output.status.success() && all.contains(&format!("{name}: {words}")),
                "{verb} {arguments:?}: {all}"
            );
        }
    }
    let output = exoscope(folder.path(), &["history", "."]);
    let (all, names) = (said(&output), (0..8).map(|place| format!("./{place}.json")).collect::<Vec<_>>().join(", "));
    assert_eq!(all, format!("exoscope: passed over as no result files: {names}\n"));
}

#[test]
fn a_folder_a_pattern_and_nothing_are_told_apart() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let a_folder = "it is a folder; name a file in it (a folder of results is read by `exoscope history`)";
    let a_pattern = "leave the quotes away, so that the shell puts the names of the files in its place";
    let cases: [(&[&str], &str); 14] = [
        (&["compare", "a.json", "empty"], a_folder),
        (&["report", "empty"], a_folder),
        (&["view", "empty", "--check"], a_folder),
        (&["recover", "empty", "--output", "r.json"], a_folder),
        (&["redact", "empty"], a_folder),
        (&["compare", "a.json", "b.json", "--calibration", "empty"], a_folder),
        (&["report", "*.json"], a_pattern),
        (&["compare", "a.json", "--to", "b?.json"], a_pattern),
        (&["export", "*.json", "--format", "csv"], a_pattern),
        (&["merge", "*.json", "--output", "m.json"], a_pattern),
        (&["history", "nope/"], "nope/: cannot be read: No such file or directory"),
        (&["history", "a.json", "nope.json"], "nope.json: cannot be read: "),
        (&["history", "n*.json"], "n*.json: no file fits this pattern"),
        (&["history", "empty"], "empty: no result file in it"),
    ];
    for (arguments, words) in cases {
        let output = exoscope(folder.path(), arguments);
        assert!(!output.status.success() && said(&output).contains(words), "{arguments:?}: {}", said(&output));
    }
    assert!(!said(&exoscope(folder.path(), &["report", "nope.json"])).contains("quotes"));
    assert!(exoscope(folder.path(), &["history", "?.json", "--fail-on", "never"]).status.success());
}

#[test]
fn half_a_character_is_said_to_be_one() {
    let folder = folder();
    std::fs::write(folder.path().join("lone.json"), "{\"runs\": [{\"model_id\": \"\\ud800\"}]}").unwrap();
    let output = exoscope(folder.path(), &["report", "lone.json"]);
    assert!(said(&output).contains("half of a character"), "{}", said(&output));
}

#[cfg(unix)]
#[test]
fn a_name_that_is_no_text_is_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let program = tests::exoscope().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"night\xff.json");
    let output = Command::new(program).arg("report").arg(name).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("\"night\u{fffd}.json\"") && said(&output).contains("rename"), "{}", said(&output));
}

#[cfg(unix)]
#[test]
fn paths_cannot_move_the_cursor() {
    let folder = folder();
    let odd = "x\u{1b}[31m\u{2028}\u{202e}";
    let verbs: [&[&str]; 4] = [
        &["merge", "a.json", "b.json", "--output", &format!("{odd}m.json")],
        &["redact", "a.json", "--output", &format!("{odd}r.json")],
        &["calibrate", "a.json", "b.json", "--output", &format!("{odd}c.json")],
        &["export", "a.json", "--format", "parquet", "--output", odd],
    ];
    for verb in verbs {
        let output = exoscope(folder.path(), verb);
        let all = said(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{verb:?}: {all}");
        assert!(!all.contains(['\u{1b}', '\u{2028}', '\u{202e}']) && all.contains("x\u{fffd}[31m"), "{verb:?}: {all}");
    }
}
