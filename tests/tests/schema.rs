//! The published JSON Schema is that of the types, and every file we ship or write is valid by it.

use std::fs;

use analyzer::comparison::history::Dated;
use analyzer::comparison::measured::MeasuredFile;
use analyzer::comparison::{Options, calibration, history};
use serde_json::Value;

#[test]
fn the_published_schemas_are_those_of_the_types() {
    published("schema/results.schema.json", &analyzer::record::schema());
    published("schema/comparison.schema.json", &analyzer::comparison::schema());
    published("schema/calibration.schema.json", &calibration::schema());
    published("schema/history.schema.json", &history::schema());
}

fn published(name: &str, schema: &Value) {
    let path = tests::fixture(name);
    let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    let kept =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}; run `just golden`", path.display()));
    let other = kept.lines().zip(text.lines()).find(|(kept, now)| kept != now);
    assert!(kept == text, "the schema is stale; run `just golden`; first difference: {other:?}");
}

/// What is wrong with a document by the schema of the types.
fn faults(document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(&analyzer::record::schema()).unwrap();
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn every_fixture_of_ours_is_valid() {
    let mut seen = 0;
    for entry in fs::read_dir(tests::fixture("results")).unwrap() {
        let path = entry.unwrap().path();
        // Bare lists, several documents in one file and a byte order mark are shapes of others.
        let Ok(document) = tests::measured::read_json(&path) else { continue };
        if document.get("runs").is_none() {
            continue;
        }
        let faults = faults(&document);
        assert!(faults.is_empty(), "{}:\n{}", path.display(), faults.join("\n"));
        seen += 1;
    }
    assert!(seen >= 10, "fixtures were validated, not {seen}");
}

#[test]
fn every_comparison_that_is_kept_is_valid_and_has_the_keys_of_the_contract() {
    let validator = jsonschema::validator_for(&analyzer::comparison::schema()).unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(tests::fixture("golden")).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".comparison.json") {
            continue;
        }
        let document = tests::measured::read_json(&path).unwrap();
        let faults: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{}:\n{}", path.display(), faults.join("\n"));
        for key in ["verdict", "delta_percent", "cells", "geomean", "residue"] {
            assert!(!document[key].is_null(), "{}: {key}", path.display());
        }
        for row in document["cells"].as_array().unwrap().iter().flat_map(|cell| cell["metrics"].as_array().unwrap()) {
            let keys = "metric unit better base new change_percent interval_percent p p_adjusted resolves_percent verdict warnings";
            for key in keys.split(' ') {
                assert!(row.get(key).is_some(), "{}: {key} of {row}", path.display());
            }
        }
        seen += 1;
    }
    assert!(seen >= 8, "comparisons were validated, not {seen}");
}

/// What is wrong with a document by a schema.
fn faults_by(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn calibrations_and_histories_are_valid() {
    let files = ["exoscope_sessions_base", "exoscope_sessions_faster"].map(|name| {
        let bytes = fs::read(tests::fixture(&format!("results/{name}.json"))).unwrap();
        MeasuredFile::of(&analyzer::import::load(name, &bytes).unwrap()).unwrap()
    });
    let calibrated = serde_json::to_value(calibration::calibrate(&files).unwrap()).unwrap();
    assert_eq!(faults_by(&calibration::schema(), &calibrated), Vec::<String>::new());
    assert!(!faults_by(&calibration::schema(), &serde_json::json!({"metrics": []})).is_empty());
    let dated = files.into_iter().zip([0.0, 1.0]).map(|(file, day)| Dated {
        file,
        at_s: 1.8e9 + 86400.0 * day,
        at: format!("day {day}"),
    });
    let found = history::history(dated.collect(), &Options { legacy: true, ..Options::default() }).unwrap();
    assert!(found.against_week.is_some() && !found.against_segments.is_empty());
    let found = serde_json::to_value(found).unwrap();
    assert_eq!(faults_by(&history::schema(), &found), Vec::<String>::new());
    assert!(!faults_by(&history::schema(), &calibrated).is_empty());
}

#[test]
fn a_file_that_bench_wrote_is_valid() {
    let settings = probe::simulate::Settings { load_seconds: 0.0, ..probe::simulate::Settings::default() };
    let bench = tests::measured::Bench::new(settings).unwrap();
    let output = bench
        .command("--model simulated-8b --pp 64 --tg 8 --concurrency 1,2 --stream --max-nodes 1 --metrics-interval 0.1")
        .unwrap()
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let faults = faults(&tests::measured::read_json(&bench.results()).unwrap());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_schema_refuses_what_is_no_result_file() {
    assert!(!faults(&serde_json::json!({"runs": [{"elapsed_s": "fast"}]})).is_empty());
    assert!(!faults(&serde_json::json!({})).is_empty());
}
