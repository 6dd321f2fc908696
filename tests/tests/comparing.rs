//! `exoscope compare`, `calibrate`, `plan` and `history` as a user calls them: outputs, files and exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn exoscope(arguments: &[&str]) -> Output {
    Command::new(tests::exoscope().unwrap()).args(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn fixture(name: &str) -> String {
    tests::fixture(&format!("results/{name}.json")).display().to_string()
}

/// Writes exo's file of one cell with these decode rates.
fn write(folder: &Path, name: &str, rates: &[f64]) -> String {
    let rows: Vec<Value> = rates
        .iter()
        .enumerate()
        .map(|(repeat, rate)| {
            json!({
                "elapsed_s": 10.0, "output_text_preview": "", "power_usage": null, "model_id": "o/m", "instance_id": "i",
                "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing", "placement_nodes": 1,
                "pp_tokens": 512, "tg": 128, "repeat_index": repeat, "concurrency": 1,
                "stats": {"prompt_tps": 20.0 * rate, "generation_tps": rate, "prompt_tokens": 512,
                    "generation_tokens": 128, "peak_memory_usage": {"inBytes": 7}, "prefix_cache_hit": "none"},
            })
        })
        .collect();
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, json!({ "runs": rows }).to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn several_files_stand_on_each_side_of_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, rate: f64| write(folder.path(), name, &[rate, rate * 1.003, rate * 0.997]);
    let (a, b, c) = (file("a.json", 30.0), file("b.json", 30.2), file("c.json", 29.9));
    let (x, y, z) = (file("x.json", 27.0), file("y.json", 27.1), file("z.json", 26.8));
    let output = exoscope(&["compare", &a, &b, &c, "--to", &x, &y, &z, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        (&found["verdict"], &found["cells"][0]["metrics"][1]["base"]["sessions"]),
        (&json!("regressed"), &json!(3))
    );
    assert_eq!(found["geomean"][0]["verdict"], "regressed");
    let alone = exoscope(&["compare", &a, &b, &c]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&alone.stderr).contains("BASE… --to NEW…"));
    let twice = exoscope(&["compare", &a, &a, "--to", &x]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&twice.stderr).contains("hold the same measurement"));
}

#[test]
fn a_measurement_is_not_compared_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, rate: f64| write(folder.path(), name, &[rate, rate * 1.003, rate * 0.997]);
    let (a, b) = (file("a.json", 30.0), file("b.json", 30.2));
    let copy = folder.path().join("copy.json").display().to_string();
    std::fs::copy(&a, &copy).unwrap();
    let itself = format!("{a} is on both sides and would be compared with itself");
    let copied = format!("{copy} holds the same measurement as {a} on the other side");
    for (arguments, words) in [
        (&[a.as_str(), a.as_str()][..], &itself),
        (&[&a, &copy], &copied),
        (&[&b, &a, "--to", &a], &itself),
        (&[&a, "--to", &b, &copy], &copied),
    ] {
        let output = exoscope(&[&["compare"], arguments, &["--fail-on", "never"]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{arguments:?}: {said}");
        assert!(said.contains(words.as_str()), "{arguments:?}: {said}");
    }
    assert_eq!(exoscope(&["compare", &a, &b]).status.code(), Some(0));
}

#[test]
fn a_metric_that_is_not_there_is_answered_with_those_that_are() {
    let output = exoscope(&["compare", &fixture("f3"), &fixture("f3"), "--metric", "speed"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("generation_tps"));
}

#[test]
fn every_format_says_the_same_verdicts() {
    let (base, slower) = (fixture("exoscope_simulated_base"), fixture("exoscope_simulated_slower"));
    let text = |format: &str| out(&exoscope(&["compare", &base, &slower, "--format", format, "--legacy"]));
    let found: Value = serde_json::from_str(&text("json")).unwrap();
    let words = |wanted: &str| {
        let rows = found["cells"].as_array().unwrap().iter().flat_map(|cell| cell["metrics"].as_array().unwrap());
        rows.filter(|row| row["verdict"] == wanted).count()
    };
    let of_cells = words("regressed");
    assert!(of_cells >= 8);
    // What all cells show together is judged, too, and ends with 1 as a cell does.
    let together = found["geomean"].as_array().unwrap().iter().filter(|row| row["verdict"] == "regressed");
    let regressed = of_cells + together.filter(|row| row["cells"].as_u64() > Some(1)).count();
    let junit = text("junit");
    assert_eq!(junit.matches("<failure type=\"regressed\"").count(), regressed);
    assert!(junit.starts_with("<?xml") && junit.contains(&format!("failures=\"{regressed}\"")), "{junit}");
    let open = junit.matches("<testcase ").count();
    assert_eq!((open, open), (junit.matches("</testcase>").count(), regressed));
    let csv = text("csv");
    assert_eq!(csv.lines().filter(|line| line.contains(",regressed,regressed,")).count(), regressed);
    let github = text("github");
    assert!(github.starts_with("## ▼ regressed: "), "{github}");
    assert!(github.contains("<details>\n<summary>") && github.ends_with("</details>\n"));
    let table = text("table");
    assert!(table.contains("Over all cells") && table.contains("largest decode rate of any request × concurrency"));
    assert!(table.contains("regression, significant"), "{table}");
}

#[test]
fn what_is_not_comparable_is_skipped_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let a = write(folder.path(), "a.json", &[30.0, 30.1]);
    let output = exoscope(&["compare", &a, &fixture("f3"), "--format", "junit"]);
    assert_eq!(output.status.code(), Some(2), "nothing is in both");
    let why = "<skipped message=\"not comparable (only the base has it; the nearest cells differ in model o/m and";
    assert!(out(&output).contains(why), "{}", out(&output));
}

#[test]
fn a_calibration_is_written_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<String> = [30.0, 30.9, 29.2, 30.4, 29.6, 30.6]
        .iter()
        .enumerate()
        .map(|(place, rate)| write(folder.path(), &format!("s{place}.json"), &[*rate, rate * 1.002, rate * 0.998]))
        .collect();
    let path = folder.path().join("calibration.json").display().to_string();
    let mut arguments: Vec<&str> = vec!["calibrate", "--output", &path];
    arguments.extend(files.iter().map(String::as_str));
    let output = exoscope(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(out(&output).contains("with this calibration 0 of 30 verdicts were false alarms"), "{}", out(&output));
    // An older calibration is written over, anything else is not.
    assert_eq!(exoscope(&arguments).status.code(), Some(0));
    let another = write(folder.path(), "measured.json", &[30.0]);
    let onto = exoscope(&["calibrate", &files[0], &files[1], "--output", &another]);
    assert_eq!(onto.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&onto.stderr).contains("is no calibration and is not overwritten"));
    let kept: Value = tests::measured::read_json(Path::new(&path)).unwrap();
    assert_eq!((&kept["sessions"], &kept["models"]), (&json!(6), &json!(["o/m"])));
    let compared = exoscope(&["compare", &files[0], &files[1], "--calibration", &path, "--metric", "generation-tps"]);
    assert!(out(&compared).contains("from the calibration, 2.1 %"), "{}", out(&compared));
    assert_eq!(compared.status.code(), Some(0));
    let wrong = exoscope(&["compare", &files[0], &files[1], "--calibration", &files[0]]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("no calibration"));
    let plan = exoscope(&["plan", "--sessions", "5", "--repeat", "3", "--calibration", &path, "--format", "json"]);
    let plan: Value = serde_json::from_str(&out(&plan)).unwrap();
    assert_eq!(plan["metrics"][0]["source"], "calibration");
    let alone = exoscope(&["calibrate", &files[0], "--output", "-"]);
    assert_eq!(alone.status.code(), Some(1), "one session calibrates nothing");
}

#[test]
fn the_newest_of_an_archive_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let day = |place: u64, rate: f64| {
        let name = write(folder.path(), &format!("day{place}.json"), &[rate, rate * 1.002, rate * 0.998]);
        let time = std::time::SystemTime::UNIX_EPOCH
            + std::time::Duration::from_millis(1_800_000_000_250 + 86_400_000 * place);
        std::fs::File::options().append(true).open(&name).unwrap().set_modified(time).unwrap();
    };
    for place in 0..5 {
        day(place, 30.0 + 0.1 * place as f64);
    }
    std::fs::write(folder.path().join("notes.json"), "{}").unwrap();
    let archive = folder.path().display().to_string();
    let steady = exoscope(&["history", &archive]);
    assert_eq!(steady.status.code(), Some(0), "{}", out(&steady));
    assert!(
        String::from_utf8_lossy(&steady.stderr).contains("notes.json") && out(&steady).contains("(date of the file)")
    );
    day(5, 24.0);
    let pattern = folder.path().join("day?.json").display().to_string();
    let fallen = exoscope(&["history", &pattern, "--format", "json", "--legacy"]);
    assert_eq!(fallen.status.code(), Some(1));
    assert!(fallen.stderr.is_empty(), "the pattern leaves the notes out");
    let found: Value = serde_json::from_str(&out(&fallen)).unwrap();
    assert_eq!((&found["verdict"], found["files"].as_array().unwrap().len()), (&json!("regressed"), 6));
    // date -u -d @1800000000: whole seconds, for the date of a file is no more exact.
    assert_eq!(found["files"][0]["at"], "2027-01-15T08:00:00Z (date of the file)");
    let said: Vec<&str> =
        found["against_week"]["legacy"].as_array().unwrap().iter().filter_map(|view| view["said"].as_str()).collect();
    assert_eq!(said[1], "regression, significant", "asiai's rule over the same week: 24 against a mean of 30.2");
    assert_eq!(exoscope(&["history", &archive, "--fail-on", "never"]).status.code(), Some(0));
    let nothing = exoscope(&["history", &folder.path().join("no*.txt").display().to_string()]);
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn a_history_tells_in_every_format_when_and_by_how_much_the_level_changed() {
    let folder = tempfile::tempdir().unwrap();
    for day in 1..=14 {
        let rate = if day < 9 { 30.0 } else { 27.0 } * (1.0 + 0.001 * (day * 37 % 7) as f64);
        let name = write(folder.path(), &format!("day{day:02}.json"), &[rate, rate * 1.002, rate * 0.998]);
        let time =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_772_366_400 + 86400 * (day - 1));
        std::fs::File::options().append(true).open(&name).unwrap().set_modified(time).unwrap();
    }
    let archive = folder.path().display().to_string();
    let read = |format: &str| exoscope(&["history", &archive, "--metric", "generation", "--format", format]);
    let output = read("json");
    // Today is as yesterday: the exit code is the newest file's, and the words say so.
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_str(&out(&output)).unwrap();
    let headline = found["headline"].as_str().unwrap();
    // By Python: geometric means of (1 + 0.001 * (day * 37 % 7)) over the days 9 to 13 and 1 to 8, times 0.9.
    assert!(headline.contains(". Generation is 9.9 % slower since "), "{headline}");
    assert!(
        headline.contains("day09.json (2026-03-09) in the one cell. The newest file is judged against"),
        "{headline}"
    );
    let changes = found["level_changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["improved"]), (1, &json!(false)));
    assert!(changes[0]["since"].as_str().unwrap().ends_with("day09.json"));
    let first_words = headline.split_whitespace().take(5).collect::<Vec<_>>().join(" ");
    for format in ["table", "markdown"] {
        // Long lines are broken.
        let text = out(&read(format)).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&first_words), "{text}");
        assert!(text.contains("▼ worse") && text.contains("against the level since "), "{text}");
    }
}

#[test]
fn asiais_words_are_asiais() {
    let Some(path) = tests::shared("cases/asiai-vectors.json") else { return };
    let vectors: Value = tests::measured::read_json(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let base = write(folder.path(), "base.json", &[100.0, 100.0]);
    for vector in vectors["severity"].as_array().unwrap() {
        let rate = 100.0 - vector["pct"].as_f64().unwrap();
        let new = write(folder.path(), "new.json", &[rate, rate]);
        let found: Value =
            serde_json::from_str(&out(&exoscope(&["compare", &base, &new, "--legacy", "--format", "json"]))).unwrap();
        let said = format!("regression, {}", vector["out"].as_str().unwrap());
        let by_asiai = found["legacy"].as_array().unwrap().iter().find(|view| view["tool"] == "asiai").unwrap();
        assert_eq!(by_asiai["said"], said, "{vector}");
    }
}

/// The words of every judged row, and what is said of them.
fn words(found: &Value) -> Vec<(String, String)> {
    let rows = found["cells"].as_array().unwrap().iter().flat_map(|cell| cell["metrics"].as_array().unwrap());
    let judged = rows.filter(|row| !row["verdict"].is_null());
    judged.map(|row| (row["words"].as_str().unwrap().to_owned(), row["warnings"].to_string())).collect()
}

fn compared(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = exoscope(&[&["compare"], arguments, &["--format", "json"]].concat());
    (output.status.code(), serde_json::from_str(&out(&output)).unwrap_or_else(|_| panic!("{output:?}")))
}

#[test]
fn sessions_of_one_request_each_are_judged_by_how_they_differ() {
    let folder = tempfile::tempdir().unwrap();
    let rates = [30.0, 30.4, 29.7, 30.2, 29.9, 30.1];
    let side = |name: &str, factor: f64| -> Vec<String> {
        let file =
            |(place, rate): (usize, &f64)| write(folder.path(), &format!("{name}{place}.json"), &[rate * factor]);
        rates.iter().enumerate().map(file).collect()
    };
    let (base, new) = (side("a", 1.0), side("b", 0.85));
    let all: Vec<&str> =
        base.iter().map(String::as_str).chain(["--to"]).chain(new.iter().map(String::as_str)).collect();
    let (code, found) = compared(&all);
    assert_eq!((code, &found["verdict"]), (Some(1), &json!("regressed")), "{found:#}");
    let row = &found["cells"][0]["metrics"][1];
    assert_eq!((row["metric"].as_str(), row["base"]["sessions"].as_u64()), (Some("generation_tps"), Some(6)));
    assert!(!row["warnings"].to_string().contains("no repeats anywhere"), "the sessions are the repeats: {row}");
}

#[test]
fn single_shots_are_judged_by_what_is_known_of_sessions_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (write(folder.path(), "a.json", &[30.0]), write(folder.path(), "b.json", &[12.9]));
    let (code, found) = compared(&[&a, &b]);
    assert_eq!(code, Some(1), "57 % slower is no chance: {found:#}");
    for (words, warnings) in words(&found) {
        assert!(words.contains("regressed"), "{words}");
        for said in ["single shot", "assumed", "stands for all of it"] {
            assert!(warnings.contains(said), "{said}: {warnings}");
        }
    }
    let close = write(folder.path(), "c.json", &[29.4]);
    let (code, found) = compared(&[&a, &close]);
    assert_eq!(code, Some(0));
    assert!(words(&found).iter().all(|(words, _)| words.contains("resolves ≥")), "{found:#}");
}

#[test]
fn what_the_new_side_lacks_is_named_and_never_passes_as_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (write(folder.path(), "a.json", &[30.0, 30.1]), folder.path().join("b.json"));
    let mut lacking: Value = serde_json::from_slice(&std::fs::read(&a).unwrap()).unwrap();
    for run in lacking["runs"].as_array_mut().unwrap() {
        run["stats"]["generation_tps"] = json!(0.0);
    }
    std::fs::write(&b, lacking.to_string()).unwrap();
    let b = b.display().to_string();
    let (code, found) = compared(&[&a, &b]);
    assert_eq!(code, Some(2), "a rate that is gone everywhere is compared nowhere");
    let headline = found["headline"].as_str().unwrap();
    assert!(headline.to_lowercase().contains("generation cannot be compared (only the base has it"), "{headline}");

    // One of two cells is gone: the stricter gate sees it.
    let both = folder.path().join("both.json");
    let mut runs: Value = serde_json::from_slice(&std::fs::read(&a).unwrap()).unwrap();
    let mut more = runs["runs"].as_array().unwrap().clone();
    for run in &mut more {
        (run["pp_tokens"], run["stats"]["prompt_tokens"]) = (json!(64), json!(64));
    }
    runs["runs"].as_array_mut().unwrap().extend(more);
    std::fs::write(&both, runs.to_string()).unwrap();
    let c = write(folder.path(), "c.json", &[30.05, 30.0]);
    let both = both.display().to_string();
    let (code, found) = compared(&[&both, &c, "--delta", "50", "--fail-on", "undecided"]);
    assert_eq!(code, Some(1), "{}", found["headline"]);
    assert_eq!(compared(&[&both, &c, "--delta", "50"]).0, Some(0), "what is left is the same");
    assert!(
        found["headline"].as_str().unwrap().contains("cannot be compared in 1 of 2 cells"),
        "{}",
        found["headline"]
    );

    let (code, found) = compared(&[&a, &c, "--metric", "elapsed"]);
    assert_eq!(code, Some(2));
    assert!(found["headline"].as_str().unwrap().contains("shown and not judged"), "{}", found["headline"]);
}

#[test]
fn what_a_file_is_doubted_for_is_said_of_its_comparison() {
    let lying = tests::fixture("hostile/lying/rates_per_millisecond.json").display().to_string();
    let honest = tests::fixture("hostile/lying/byte_order_mark.json").display().to_string();
    let (_, found) = compared(&[&honest, &lying]);
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("rates_per_millisecond.json: ") && warnings.contains("in another unit?"), "{warnings}");
}

#[test]
fn one_thing_may_differ_between_cells_and_two_may_not() {
    let folder = tempfile::tempdir().unwrap();
    let export = |name: &str, engine: &str, quantization: &str, speed: f64| {
        let mut document: Value =
            serde_json::from_slice(&std::fs::read(tests::fixture("imports/asiai_export_v2.json")).unwrap()).unwrap();
        let engines = document["benchmark"]["engines"].as_object_mut().unwrap();
        let mut one = engines["ollama"].clone();
        engines.clear();
        one["model_quantization"] = json!(quantization);
        for run in one["raw_runs"].as_array_mut().unwrap() {
            run["tok_per_sec"] = json!(run["tok_per_sec"].as_f64().unwrap() * speed);
        }
        engines.insert(engine.to_owned(), one);
        let path = folder.path().join(name);
        std::fs::write(&path, document.to_string()).unwrap();
        path.display().to_string()
    };
    let base = export("base.json", "ollama", "4bit", 1.0);
    let (_, found) = compared(&[&base, &export("other_quantization.json", "ollama", "8bit", 0.5)]);
    assert!(found["headline"].as_str().unwrap().contains("slower at generation"), "{}", found["headline"]);
    assert!(words(&found)[0].1.contains("sets quantization 4bit beside 8bit"), "{found:#}");
    let (code, found) = compared(&[&base, &export("other_engine.json", "mlxlm", "8bit", 0.5)]);
    assert_eq!(code, Some(2));
    let said = &words(&found)[0].0;
    assert!(said.contains("engine ollama and mlxlm and quantization 4bit and 8bit at once"), "{said}");
    // The same engine in a file of two is in the same cell.
    let both = tests::fixture("imports/asiai_export_v2.json").display().to_string();
    let (_, found) = compared(&[&export("one.json", "ollama", "4bit", 0.9), &both]);
    assert!(
        found["cells"].as_array().unwrap().iter().any(|cell| {
            cell["cell"]["engine"] == "ollama"
                && cell["metrics"][0]["change_percent"].as_f64().is_some_and(|change| change > 5.0)
        }),
        "{found:#}"
    );
}

#[test]
fn an_archive_is_ordered_by_what_its_files_tell_and_a_broken_newest_is_no_pass() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    std::fs::create_dir(&archive).unwrap();
    // Console logs tell when they began; their files' dates are those of this copy, in the other order.
    let log = std::fs::read_to_string(tests::fixture("imports/exo_run.log")).unwrap();
    let day = |name: &str, day: &str| {
        let rate = format!("gen_tps={}", if name == "newer.log" { "16.25" } else { "16.00" });
        std::fs::write(archive.join(name), log.replace("2026-06-01", day).replace("gen_tps=16.00", &rate)).unwrap();
    };
    day("newer.log", "2026-06-03");
    day("older.log", "2026-06-02");
    let history = || exoscope(&["history", archive.to_str().unwrap(), "--format", "json", "--no-cache"]);
    let output = history();
    let found: Value = serde_json::from_str(&out(&output)).unwrap_or_else(|_| panic!("{output:?}"));
    let files: Vec<&str> =
        found["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert!(files[0].ends_with("older.log") && files[1].ends_with("newer.log"), "{files:?}");
    assert!(!found["files"][0]["at"].as_str().unwrap().contains("date of the file"), "{}", found["files"][0]);

    // A file that is dated ahead would be the newest for good.
    let ahead = archive.join("ahead.json");
    std::fs::copy(fixture("f3"), &ahead).unwrap();
    let days = std::time::SystemTime::now() + std::time::Duration::from_secs(3 * 86_400);
    std::fs::File::options().write(true).open(&ahead).unwrap().set_modified(days).unwrap();
    let said = out(&history());
    assert!(said.contains("ahead.json is dated in the future"), "{said}");
    std::fs::remove_file(&ahead).unwrap();

    // Broken off, packed and cut off, and what exo's client writes where no request succeeded.
    for bytes in ["{\"runs\": [{\"elapsed_s\": 1".as_bytes(), b"\x1f\x8b\x08\x00\x00\x00\x00\x00", b"[]\n", b"null"] {
        std::fs::write(archive.join("newest.json"), bytes).unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        std::fs::File::options().write(true).open(archive.join("newest.json")).unwrap().set_modified(later).unwrap();
        let output = history();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("newer than what was judged"), "{output:?}");
    }
}
