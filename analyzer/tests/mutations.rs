//! Importers against bytes that nobody wrote: random ones, and every fixture with pieces changed, cut, doubled and swapped.
//! Nothing panics, and what was read can be reported and written.
//!
//! The same every time: the seed is fixed. `cargo fuzz` (analyzer/fuzz) looks further.

use std::fs;
use std::path::Path;

use analyzer::import::{load, overlay};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures");

/// All files that are read as results or refused, at most 200 kB each: what is larger is one of the others repeated.
#[allow(clippy::disallowed_methods)]
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for folder in ["imports", "imports/overlays", "results", "hostile", "hostile/lying"] {
        for entry in fs::read_dir(Path::new(FIXTURES).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_file() && name != "make.py" && name != "expected.json" {
                let bytes = fs::read(&path).unwrap();
                seeds.extend((bytes.len() < 200_000).then_some((name, bytes)));
            }
        }
    }
    seeds.sort();
    assert!(seeds.len() > 60, "the fixtures are there");
    seeds
}

/// Reads the bytes; what is read must hold together.
fn hold(name: &str, bytes: &[u8]) {
    match load(name, bytes) {
        Ok(loaded) => {
            assert_eq!(loaded.document_rows.iter().sum::<usize>(), loaded.file.runs.len());
            analyzer::record::to_json(&loaded.file).unwrap();
            analyzer::summary::report(&loaded).unwrap();
            drop(overlay::overlay(&loaded.file, name, bytes));
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.starts_with(name) && !sentence.ends_with('.'), "{sentence}");
        }
    }
}

#[derive(Debug, Clone)]
enum Change {
    Byte(usize, u8),
    Cut(usize),
    Remove(usize, usize),
    Double(usize, usize),
    Number(usize, &'static str),
    Splice(usize, usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let numbers = prop::sample::select(vec![
        "-1",
        "0",
        "1e308",
        "-1e308",
        "18446744073709551615",
        "99999999999999999999",
        "1e-320",
        "null",
        "\"x\"",
        "[]",
        "{}",
        "NaN",
        "4294967296",
        "0.1",
        "true",
    ]);
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), 1..64usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (any::<usize>(), 1..256usize).prop_map(|(at, length)| Change::Double(at, length)),
        (any::<usize>(), numbers).prop_map(|(at, number)| Change::Number(at, number)),
        (any::<usize>(), any::<usize>(), any::<usize>()).prop_map(|(at, other, from)| Change::Splice(at, other, from)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change, seeds: &[(String, Vec<u8>)]) {
    if bytes.is_empty() {
        return;
    }
    let place = |at: usize| at % bytes.len();
    match *change {
        Change::Byte(at, byte) => {
            let at = place(at);
            bytes[at] = byte;
        }
        Change::Cut(at) => bytes.truncate(at % (bytes.len() + 1)),
        Change::Remove(at, length) => {
            let at = place(at);
            let end = (at + length).min(bytes.len());
            bytes.drain(at..end);
        }
        Change::Double(at, length) => {
            let at = place(at);
            let piece = bytes[at..(at + length).min(bytes.len())].to_vec();
            bytes.splice(at..at, piece);
        }
        Change::Number(at, number) => {
            // The next number from there on becomes another, so that the document stays one.
            let at = place(at);
            let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|offset| at + offset) else { return };
            let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
            bytes.splice(start..start + length, number.bytes());
        }
        Change::Splice(at, other, from) => {
            let at = place(at);
            let other = &seeds[other % seeds.len()].1;
            let from = from % (other.len() + 1);
            bytes.splice(at.., other[from..].iter().copied().take(4096));
        }
    }
}

fn runner(cases: u32) -> TestRunner {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    TestRunner::new_with_rng(Config { cases, failure_persistence: None, ..Config::default() }, rng)
}

/// `EXOSCOPE_MUTATIONS` asks for more of them.
#[allow(clippy::disallowed_methods)]
fn cases() -> u32 {
    std::env::var("EXOSCOPE_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(800)
}

#[test]
fn no_change_of_a_file_brings_an_importer_down() {
    let seeds = seeds();
    let strategy = (any::<prop::sample::Index>(), prop::collection::vec(change(), 1..6));
    runner(cases())
        .run(&strategy, |(index, changes)| {
            let (name, bytes) = index.get(&seeds);
            let mut bytes = bytes.clone();
            for change in &changes {
                apply(&mut bytes, change, &seeds);
            }
            hold(name, &bytes);
            Ok(())
        })
        .unwrap();
}

#[test]
fn no_bytes_bring_an_importer_down() {
    runner(cases() / 4)
        .run(&prop::collection::vec(any::<u8>(), 0..512), |bytes| {
            hold("bytes", &bytes);
            Ok(())
        })
        .unwrap();
    let words = "(\\{|\\}|\\[|\\]|:|,|\"|runs|elapsed_s|stats|prompt_tps=|gen_tps=|tok=|--- pp=|\\| model \\| test \\| t/s \\||Trial 1:|time,watts\\n|<plist|<key>|[0-9]{1,22}|\\.|-|e|\\n| |é){0,60}";
    runner(cases() / 4)
        .run(&words, |text| {
            hold("words", text.as_bytes());
            Ok(())
        })
        .unwrap();
}
