//! The cache of `exoscope history` is never to be seen in an answer, whatever becomes of it or of the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::json;

const CACHE: &str = ".exoscope-history.parquet";

fn history(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(tests::exoscope().unwrap());
    command.arg("history").arg(folder).args(["--format", "json"]).args(more);
    command
}

fn run(folder: &Path, more: &[&str]) -> Output {
    history(folder, more).output().unwrap()
}

/// Writes exo's file of a day, dated that day: long ago, so that it counts as settled.
fn write(folder: &Path, day: u64, rate: f64) -> PathBuf {
    let rows: Vec<_> = [1.0, 1.002, 0.998]
        .iter()
        .enumerate()
        .map(|(repeat, by)| {
            json!({
                "elapsed_s": 10.0, "output_text_preview": "", "power_usage": null, "model_id": "o/m", "instance_id": "i",
                "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing", "placement_nodes": 1,
                "pp_tokens": 512, "tg": 128, "repeat_index": repeat, "concurrency": 1,
                "stats": {"prompt_tps": 20.0 * rate * by, "generation_tps": rate * by, "prompt_tokens": 512,
                    "generation_tokens": 128, "peak_memory_usage": {"inBytes": 7}, "prefix_cache_hit": "none"},
            })
        })
        .collect();
    let path = folder.join(format!("day{day:02}.json"));
    fs::write(&path, json!({ "runs": rows }).to_string()).unwrap();
    date(&path, day);
    path
}

fn date(path: &Path, day: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + 86400 * day);
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Twelve days, a file of our own, and one that is no result.
fn archive() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for day in 0..12 {
        write(folder.path(), day, 30.0 + 0.1 * (day % 5) as f64);
    }
    let ours = folder.path().join("ours.json");
    let mut document = tests::measured::read_json(&tests::fixture("results/exoscope_sessions_base.json")).unwrap();
    document["exoscope"]["started_at"] = json!("2023-11-17T00:00:00Z");
    fs::write(&ours, document.to_string()).unwrap();
    date(&ours, 3);
    fs::write(folder.path().join("notes.json"), "{}").unwrap();
    folder
}

/// Asserts that the answer is that without a cache, and tells how many files came from it.
fn same(folder: &Path, what: &str) -> u64 {
    let expected = run(folder, &["--no-cache"]);
    let found = run(folder, &["--verbose"]);
    let text = String::from_utf8(found.stderr).unwrap();
    assert!(!expected.stdout.is_empty(), "{what}: {}", String::from_utf8_lossy(&expected.stderr));
    assert!(found.stdout == expected.stdout && found.status == expected.status, "{what}: {text}");
    let said = text.lines().find(|line| line.ends_with(" from the cache")).unwrap();
    let (count, _) = said.strip_prefix("exoscope: ").unwrap().split_once(" of ").unwrap();
    let others: String = text.lines().filter(|line| *line != said).map(|line| format!("{line}\n")).collect();
    assert_eq!(others, String::from_utf8(expected.stderr).unwrap(), "{what}: nothing else is said");
    count.parse().unwrap()
}

#[test]
fn no_answer_shows_whether_there_was_a_cache() {
    let folder = archive();
    let folder = folder.path();
    assert!(run(folder, &["--no-cache"]).status.code().is_some() && !folder.join(CACHE).exists());
    assert_eq!(same(folder, "cold"), 0);
    assert!(folder.join(CACHE).exists());
    assert_eq!(same(folder, "warm"), 13);
    for question in [&["--metric", "generation_tps"][..], &["--metric", "ttft", "--legacy"], &["--legacy"]] {
        let expected = run(folder, &[question, &["--no-cache"]].concat());
        assert_eq!(run(folder, question), expected, "{question:?}");
    }
    // A verdict is the same, too.
    let worse = archive();
    write(worse.path(), 12, 24.0);
    let expected = run(worse.path(), &["--no-cache"]);
    assert_eq!(expected.status.code(), Some(1), "{}", String::from_utf8_lossy(&expected.stdout));
    for state in ["cold", "warm"] {
        assert_eq!(run(worse.path(), &[]), expected, "{state}");
    }
    let before = fs::read(folder.join(CACHE)).unwrap();
    assert_eq!(same(folder, "warm again"), 13);
    assert_eq!(fs::read(folder.join(CACHE)).unwrap(), before, "nothing is new, so nothing is written");

    date(&folder.join("day03.json"), 4);
    assert_eq!(same(folder, "touched"), 12);
    assert_eq!(same(folder, "warm after a touch"), 13);
    write(folder, 5, 20.5);
    assert_eq!(same(folder, "replaced by a file of other numbers"), 12);
    let size = fs::metadata(folder.join("day06.json")).unwrap().len();
    let text = fs::read_to_string(folder.join("day06.json")).unwrap();
    fs::write(folder.join("day06.json"), text.replace("\"generation_tps\":30", "\"generation_tps\":40")).unwrap();
    date(&folder.join("day06.json"), 6);
    assert_eq!(fs::metadata(folder.join("day06.json")).unwrap().len(), size);
    if cfg!(unix) {
        assert_eq!(same(folder, "replaced under the same name, size and date"), 12);
    }
    fs::remove_file(folder.join("day07.json")).unwrap();
    assert_eq!(same(folder, "removed"), 12);
    write(folder, 12, 24.0);
    assert_eq!(same(folder, "a new one"), 12);
    fs::write(folder.join("day11.json"), "{\"runs\": [").unwrap();
    assert_eq!(same(folder, "broken off"), 12);
    fs::write(folder.join("day13.json"), fs::read(folder.join("day01.json")).unwrap()).unwrap();
    assert_eq!(same(folder, "a copy of just now"), 12);
    assert_eq!(same(folder, "a file of just now is read again"), 12);
}

#[test]
fn a_cache_that_is_damaged_or_of_others_is_made_anew() {
    let folder = archive();
    let (folder, cache) = (folder.path(), folder.path().join(CACHE));
    assert_eq!(same(folder, "cold"), 0);
    let whole = fs::read(&cache).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    let cut = whole[..whole.len() * 2 / 3].to_vec();
    for (what, bytes) in
        [("cut", cut), ("empty", Vec::new()), ("garbage", b"PAR1 nothing PAR1".to_vec()), ("flipped", flipped)]
    {
        fs::write(&cache, bytes).unwrap();
        assert_eq!(same(folder, what), 0);
        assert_eq!(same(folder, &format!("{what}, then made anew")), 13);
    }
    assert_eq!(run(folder, &["--rebuild-cache"]).stdout, run(folder, &["--no-cache"]).stdout);
    let expected = run(folder, &["--no-cache"]);
    fs::remove_file(&cache).unwrap();
    fs::create_dir(&cache).unwrap();
    let found = run(folder, &[]);
    assert_eq!((found.status, found.stdout), (expected.status, expected.stdout));
    let text = String::from_utf8(found.stderr).unwrap();
    assert!(text.contains(&format!("{CACHE}: cannot be written")), "{text}");
    assert!(fs::read_dir(folder).unwrap().all(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name == CACHE || !name.starts_with(".exoscope-")
    }));
}

#[test]
fn several_at_once_do_not_spoil_it() {
    let folder = archive();
    let folder = folder.path();
    let expected = run(folder, &["--no-cache"]);
    let running: Vec<_> = (0..6)
        .map(|place| {
            let more: &[&str] = if place % 2 == 0 { &["--rebuild-cache"] } else { &[] };
            let mut command = history(folder, more);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in running {
        assert_eq!(child.wait_with_output().unwrap(), expected);
    }
    assert_eq!(same(folder, "after all of them"), 13);
}

#[test]
fn the_cache_is_no_result_file_and_a_pattern_keeps_what_it_does_not_name() {
    let folder = archive();
    let folder = folder.path();
    assert_eq!(same(folder, "cold"), 0);
    let all = folder.join("*");
    let found = Command::new(tests::exoscope().unwrap()).arg("history").arg(&all).arg("--verbose").output().unwrap();
    let text = String::from_utf8(found.stderr).unwrap();
    assert!(!text.contains(CACHE) && text.contains("13 of 13 files from the cache"), "{text}");
    write(folder, 2, 31.5);
    let some = folder.join("day0?.json");
    let found = Command::new(tests::exoscope().unwrap()).arg("history").arg(&some).arg("--verbose").output().unwrap();
    let text = String::from_utf8(found.stderr).unwrap();
    assert!(text.contains("9 of 10 files from the cache"), "{text}");
    assert_eq!(same(folder, "after a part of it"), 13);
}
