//! `exoscope validate`, and `report --power`, as a user sees them.

use std::process::{Command, Output};

use serde_json::Value;

fn exoscope(arguments: &[&str]) -> Output {
    Command::new(tests::exoscope().unwrap()).current_dir(tests::fixture("")).args(arguments).output().unwrap()
}

#[test]
fn each_file_is_named_with_its_reason_class_and_counts() {
    let output = exoscope(&["validate", "imports/exo_loop.log.gz", "results/f3e.json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let first = "valid    imports/exo_loop.log.gz: a console log of exo's bench, recognised by its lines with prompt_tps= and \
                 gen_tps=; class endpoint; rows 3, failures 2\n         warning: the file was packed with gzip\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("results/f3e.json: exo (2026-05-28 or later), recognised by runs with elapsed_s"), "{text}");
}

#[test]
fn one_bad_file_makes_the_exit_code_1_and_hides_none_of_the_others() {
    let output = exoscope(&[
        "validate",
        "--format",
        "json",
        "hostile/cut_off.json",
        "imports/vllm_bench_serve.json",
        "no/such/file",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    let valid: Vec<bool> =
        findings.as_array().unwrap().iter().map(|finding| finding["valid"].as_bool().unwrap()).collect();
    assert_eq!(valid, [false, true, false]);
    assert!(findings[0]["problem"].as_str().unwrap().contains("the file ends in the middle"));
    assert_eq!(findings[1]["class"], "aggregate_only");
}

#[test]
fn a_report_shows_the_energy_at_the_wall_with_its_scope() {
    let output =
        exoscope(&["report", "imports/exo_loop.log", "--power", "imports/overlays/meter.csv", "--format", "markdown"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("energy, overlay") && text.contains("wall AC (imports/overlays/meter.csv)"), "{text}");
    let late = exoscope(&["report", "results/f3e.json", "--power", "imports/overlays/meter.csv"]);
    assert_eq!(late.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&late.stderr).contains("does not tell when it began"));
}
