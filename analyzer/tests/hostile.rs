//! Files that are no result files: each is refused with a sentence that names it, says what it seems to be, and what to do.
//!
//! `UPDATE_GOLDEN=1` writes the sentences anew; read the difference before it is committed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use analyzer::import;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/hostile");

#[test]
#[allow(clippy::disallowed_methods)]
fn every_hostile_file_gets_its_sentence() {
    let folder = Path::new(FOLDER);
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if matches!(name.as_str(), "expected.json" | "make.py" | "lying") {
            continue;
        }
        let error = import::load(&name, &fs::read(&path).unwrap()).expect_err(&name);
        found.insert(name, error.to_string());
    }
    let expected = folder.join("expected.json");
    let text = serde_json::to_string_pretty(&found).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&expected, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&expected).unwrap());
    for (name, sentence) in &found {
        assert!(sentence.starts_with(&format!("{name}: ")), "names its file: {sentence}");
        assert!(!sentence.ends_with('.') && !sentence.contains('\n'), "one sentence without a full stop: {sentence}");
    }
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_file_that_lies_is_read_with_a_warning() {
    let folder = Path::new(FOLDER).join("lying");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name != "expected.json" {
            let loaded = import::load(&name, &fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{error}"));
            found.insert(name, loaded.notices);
        }
    }
    let expected = folder.join("expected.json");
    let text = serde_json::to_string_pretty(&found).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&expected, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&expected).unwrap());
    let silent: Vec<_> =
        found.iter().filter(|(_, notices)| notices.is_empty()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(silent, ["byte_order_mark.json"], "the mark changes nothing");
}

#[test]
fn no_prefix_of_a_result_file_panics() {
    let whole = include_bytes!("../../fixtures/results/f3c.json");
    for end in (0..whole.len()).step_by(7) {
        assert!(import::load("cut", &whole[..end]).is_err(), "cut at byte {end}");
    }
}
