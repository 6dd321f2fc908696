//! The golden suite, natively: every fixture gives the numbers and words that are kept beside it. The same suite runs in
//! WebAssembly in a real browser (tests/browser).
//!
//! `UPDATE_GOLDEN=1` writes them anew (`just golden`); read the difference before it is committed.

use std::fs;
use std::path::PathBuf;

use analyzer::comparison::{Options, compare};
use analyzer::import::{Loaded, load};
use analyzer::summary::report;
use serde_json::{Value, json};
use tests::same::differences;

/// What is compared beside the summaries: base and new.
const PAIRS: [(&str, &str); 8] = [
    ("exoscope_simulated_base", "exoscope_simulated_slower"),
    ("exoscope_simulated_base", "exoscope_simulated_same"),
    ("exoscope_sessions_base", "exoscope_sessions_faster"),
    ("exoscope_single_shot", "exoscope_single_shot"),
    ("f3c", "f3e"),
    ("f1_bare_list", "f2"),
    ("exoscope_simulated_slower", "exoscope_simulated_base"),
    ("exoscope_energy", "exoscope_frozen_node"),
];

fn names() -> Vec<String> {
    let folder = fs::read_dir(tests::fixture("results")).unwrap();
    let mut names: Vec<String> = folder
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn loaded(name: &str) -> Loaded {
    let bytes = fs::read(tests::fixture(&format!("results/{name}.json"))).unwrap();
    load(&format!("{name}.json"), &bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// Holds a value against the one that is kept, or keeps it.
fn check(path: PathBuf, found: &Value) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, serde_json::to_string_pretty(found).unwrap() + "\n").unwrap();
    }
    let kept = tests::measured::read_json(&path).unwrap_or_else(|error| panic!("{error}; run `just golden`"));
    let differences = differences(&kept, found, 1e-12);
    assert!(differences.is_empty(), "{} (kept ≠ found):\n{}", path.display(), differences.join("\n"));
}

fn pair(base: &str, new: &str) -> String {
    format!("golden/{base}--{new}.comparison.json")
}

#[test]
fn every_fixture_gives_the_summary_that_is_kept() {
    for name in names() {
        let report = report(&loaded(&name)).unwrap();
        check(tests::fixture(&format!("golden/{name}.report.json")), &serde_json::to_value(report).unwrap());
    }
}

#[test]
fn every_pair_gives_the_comparison_that_is_kept() {
    for (base, new) in PAIRS {
        let comparison = compare(&loaded(base), &loaded(new), &Options::default()).unwrap();
        check(tests::fixture(&pair(base, new)), &serde_json::to_value(comparison).unwrap());
    }
}

#[test]
fn the_index_for_the_browser_lists_all_of_it() {
    let reports: Vec<Value> = names()
        .iter()
        .map(|name| json!({"input": format!("results/{name}.json"), "report": format!("golden/{name}.report.json")}))
        .collect();
    let comparisons: Vec<Value> = PAIRS
        .iter()
        .map(|(base, new)| {
            json!({"base": format!("results/{base}.json"), "new": format!("results/{new}.json"), "comparison": pair(base, new)})
        })
        .collect();
    assert!(reports.len() >= 15, "the fixtures are there");
    check(tests::fixture("golden/index.json"), &json!({"reports": reports, "comparisons": comparisons}));
}
