//! `exoscope export`: every format is held against a strict reader of its rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs the export of some fixtures and gives what it printed.
fn export(files: &[&str], more: &[&str]) -> String {
    let program = tests::exoscope().unwrap_or_else(|error| panic!("{error}"));
    let files = files.iter().map(|name| tests::fixture(&format!("results/{name}.json")));
    let output = Command::new(program).arg("export").args(files).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn report(name: &str) -> Value {
    let bytes = std::fs::read(tests::fixture(&format!("results/{name}.json"))).unwrap();
    let loaded = analyzer::import::load(name, &bytes).unwrap();
    serde_json::to_value(analyzer::summary::report(&loaded).unwrap()).unwrap()
}

/// Every value of a metric, over all cells.
fn values(report: &Value, metric: &str) -> Vec<f64> {
    let metrics = report["cells"].as_array().unwrap().iter().flat_map(|cell| cell["metrics"].as_array().unwrap());
    let values =
        metrics.filter(|found| found["metric"] == metric).flat_map(|found| found["values"].as_array().unwrap());
    values.map(|value| value.as_f64().unwrap()).collect()
}

#[test]
fn csv_has_a_line_per_request_and_units_in_its_names() {
    let text = export(&["exoscope_energy", "f3e"], &["--format", "csv"]);
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let measured = ["elapsed_s", "prefill_tokens_per_s", "peak_memory_bytes", "server_energy_j", "token_offsets_s"];
    assert!(measured.iter().all(|name| head.contains(name)), "{head:?}");
    let rows: usize = ["exoscope_energy", "f3e"]
        .iter()
        .map(|name| {
            let path = tests::fixture(&format!("results/{name}.json"));
            tests::measured::read_json(&path).unwrap()["runs"].as_array().unwrap().len()
        })
        .sum();
    assert_eq!(lines.count(), rows, "no field of these files holds a line feed");
}

/// The lines of a CSV, each by the names of its head.
fn records(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines().map(fields);
    let head = lines.next().unwrap();
    lines.map(|line| head.iter().cloned().zip(line).collect()).collect()
}

fn fields(line: &str) -> Vec<String> {
    let (mut all, mut field, mut quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    all.push(field);
    all
}

#[test]
fn csv_has_the_failed_requests_too() {
    let lines = records(&export(&["exoscope_failures"], &["--format", "csv"]));
    let file = tests::measured::read_json(&tests::fixture("results/exoscope_failures.json")).unwrap();
    let (runs, failures) = (file["runs"].as_array().unwrap(), file["failures"].as_array().unwrap());
    let failed: Vec<_> = lines.iter().filter(|line| line["status"] == "failed").collect();
    assert_eq!((lines.len() - failed.len(), failed.len()), (runs.len(), failures.len()));
    for (line, failure) in failed.iter().zip(failures) {
        assert_eq!(line["failure_message"], failure["message"].as_str().unwrap());
        assert_eq!(line["pp_tokens"], failure["pp_tokens"].to_string());
        assert!(line["elapsed_s"].is_empty() && !line["failure_kind"].is_empty());
    }
}

#[test]
fn a_cell_of_csv_is_no_formula_and_moves_no_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.json");
    let mut file = tests::measured::read_json(&tests::fixture("results/exoscope_failures.json")).unwrap();
    for run in file["runs"].as_array_mut().unwrap() {
        run["model_id"] = "=cmd|' /C calc'!A0".into();
        run["output_text_preview"] = "\u{1b}[2Jgone".into();
    }
    file["failures"][0]["message"] = "@SUM(1)".into();
    std::fs::write(&path, file.to_string()).unwrap();
    let path = path.to_str().unwrap();
    let text = export(&[], &[path, "--format", "csv"]);
    let lines = records(&text);
    assert!(!text.contains('\u{1b}'));
    assert!(lines.iter().filter(|line| line["status"] == "ok").all(|line| line["model_id"].starts_with("'=cmd")));
    assert!(lines.iter().any(|line| line["failure_message"] == "'@SUM(1)"));
    let program = tests::exoscope().unwrap();
    let report = Command::new(program).args(["report", path, "--format", "csv"]).output().unwrap();
    assert!(
        records(&String::from_utf8(report.stdout).unwrap()).iter().any(|line| line["model_id"].starts_with("'=cmd"))
    );
    let samples = export(&[], &[path, "--format", "prometheus"]);
    assert!(!samples.contains('\u{1b}'));
}

/// What a benchmark file holds: the configuration at a line, the name, the value and the unit.
struct Benchmark {
    configuration: BTreeMap<String, String>,
    name: String,
    value: f64,
    unit: String,
}

/// The rules of golang.org/design/14313-benchmark-format, and benchstat's `Unit` lines; any other line is an error here,
/// though the format would skip it.
fn go_benchmarks(text: &str) -> Vec<Benchmark> {
    let mut configuration = BTreeMap::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Unit ") {
            let (unit, setting) = rest.split_once(' ').unwrap();
            assert!(!unit.is_empty() && ["better=higher", "better=lower"].contains(&setting), "{line}");
        } else if line.starts_with("Benchmark") {
            let fields: Vec<&str> = line.split_whitespace().collect();
            assert!(fields.len() >= 4 && fields.len().is_multiple_of(2), "name, iterations, pairs: {line}");
            let name = fields[0].strip_prefix("Benchmark").unwrap();
            assert!(name.chars().next().unwrap().is_uppercase(), "{line}");
            let (name, processors) = name.rsplit_once('-').expect("GOMAXPROCS stands behind the last hyphen");
            assert_eq!(processors, "1");
            let mut keys = BTreeSet::new();
            for part in name.split('/').skip(1) {
                let (key, value) = part.split_once('=').unwrap_or_else(|| panic!("key=value: {line}"));
                assert!(!value.is_empty() && keys.insert(key), "{line}");
            }
            assert!(fields[1].parse::<u64>().unwrap() > 0);
            for pair in fields[2..].chunks(2) {
                let value: f64 = pair[0].parse().unwrap();
                assert!(value.is_finite());
                let (name, unit) = (name.to_owned(), pair[1].to_owned());
                found.push(Benchmark { configuration: BTreeMap::clone(&configuration), name, value, unit });
            }
        } else {
            let (key, value) = line.split_once(':').unwrap_or_else(|| panic!("neither a result nor a setting: {line}"));
            assert!(key.chars().next().is_some_and(char::is_lowercase), "{line}");
            assert!(!key.chars().any(|c| c.is_whitespace() || c.is_uppercase()), "{line}");
            assert!(value.starts_with([' ', '\t']), "{line}");
            configuration.insert(key.to_owned(), value.trim().to_owned());
        }
    }
    found
}

#[test]
fn gobench_holds_every_value_and_no_setting_of_an_earlier_file() {
    let found = go_benchmarks(&export(&["exoscope_energy", "f3e"], &["--format", "gobench"]));
    for (file, has_method) in [("exoscope_energy", true), ("f3e", false)] {
        let of_file: Vec<&Benchmark> =
            found.iter().filter(|found| found.configuration["file"].ends_with(&format!("{file}.json"))).collect();
        let rates = of_file.iter().filter(|found| found.name.starts_with("PrefillTps/"));
        assert!(rates.clone().all(|found| found.unit == "tok/s" && found.name.contains("/pp=")));
        let rates: Vec<f64> = rates.map(|found| found.value).collect();
        assert_eq!(rates, values(&report(file), "prefill_tps"), "{file}");
        // exo's file does not tell its method; the one of the file before must not stand for it.
        assert!(of_file.iter().all(|found| found.configuration["method"].is_empty() != has_method), "{file}");
        assert!(of_file.iter().all(|found| found.configuration["model"].contains('/')), "{file}");
    }
}

/// A sample: its name, its labels, its value.
type Scraped = (String, BTreeMap<String, String>, f64);

/// The text exposition format, read strictly: help and type once and first, samples of a name together, no sample twice.
fn scrape(text: &str) -> Vec<Scraped> {
    assert!(text.ends_with('\n'), "the last line ends, too");
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    let mut current = String::new();
    let mut seen = BTreeSet::new();
    let mut samples = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            current = rest.split_once(' ').unwrap().0.to_owned();
            assert!(!families.contains_key(&current), "{current} stands twice");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(name == current && ["summary", "gauge"].contains(&kind), "{line}");
            families.insert(name.to_owned(), kind.to_owned());
        } else {
            let (name, labels, value) = sample(line);
            let of_summary = families[&current] == "summary";
            let bare = name.strip_suffix("_sum").or_else(|| name.strip_suffix("_count")).filter(|_| of_summary);
            assert_eq!(bare.unwrap_or(&name), current, "{line}");
            assert_eq!(of_summary && bare.is_none(), labels.contains_key("quantile"), "{line}");
            assert!(seen.insert((name.clone(), labels.clone())), "twice: {line}");
            samples.push((name, labels, value));
        }
    }
    samples
}

fn sample(line: &str) -> Scraped {
    let word = |text: &str| {
        !text.is_empty()
            && !text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let (name, mut rest) = line.split_once('{').unwrap();
    assert!(word(name), "{line}");
    let mut labels = BTreeMap::new();
    loop {
        let (label, after) = rest.split_once("=\"").unwrap();
        assert!(word(label), "{line}");
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next().unwrap() {
                (at, '"') => break at,
                (_, '\\') => value.push(match letters.next().unwrap().1 {
                    'n' => '\n',
                    escaped @ ('\\' | '"') => escaped,
                    other => panic!("\\{other} is no escape: {line}"),
                }),
                (_, letter) => value.push(letter),
            }
        };
        assert!(labels.insert(label.to_owned(), value).is_none(), "{line}");
        rest = &after[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => break,
        }
    }
    (name.to_owned(), labels, rest.strip_prefix("} ").unwrap().parse().unwrap())
}

#[test]
fn prometheus_reads_what_the_report_says_in_base_units() {
    let samples = scrape(&export(&["exoscope_energy", "f3e", "f3e"], &["--format", "prometheus"]));
    let of = |name: &str| -> Vec<f64> {
        let ours = samples.iter().filter(|(found, labels, _)| found == name && labels["file"].ends_with("energy.json"));
        ours.map(|(_, _, value)| *value).collect()
    };
    let report = report("exoscope_energy");
    let all = values(&report, "prefill_tps");
    assert_eq!(of("exoscope_prefill_tokens_per_second_count").iter().sum::<f64>(), all.len() as f64);
    let sum: f64 = of("exoscope_prefill_tokens_per_second_sum").iter().sum();
    assert!((sum - all.iter().sum::<f64>()).abs() < 1e-9 * sum);
    // A share is a ratio, not percent.
    let shares = values(&report, "idle_share");
    let largest = of("exoscope_idle_share_ratio").into_iter().fold(0.0, f64::max);
    let expected = shares.iter().copied().fold(0.0, f64::max) / 100.0;
    assert!(!shares.is_empty() && (largest - expected).abs() < 1e-12);
    for unit in ["_seconds", "_joules", "_watts", "_bytes", "_per_second", "_ratio"] {
        let with = |name: &str| name.trim_end_matches("_sum").trim_end_matches("_count").ends_with(unit);
        assert!(samples.iter().any(|(name, ..)| with(name)), "{unit}");
    }
}

#[test]
fn a_name_with_quotes_backslashes_and_line_feeds_stays_one_label() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.json");
    let mut file = tests::measured::read_json(&tests::fixture("results/f3e.json")).unwrap();
    let odd = "lab\\mo\"del\nno 2 <&>";
    file["runs"].as_array_mut().unwrap().iter_mut().for_each(|run| run["model_id"] = odd.into());
    std::fs::write(&path, file.to_string()).unwrap();
    let path = path.to_str().unwrap();
    let samples = scrape(&export(&[], &[path, "--format", "prometheus"]));
    assert!(samples.iter().any(|(name, labels, _)| name == "exoscope_requests" && labels["model"] == odd));
    let found = go_benchmarks(&export(&[], &[path, "--format", "gobench"]));
    assert!(found.iter().all(|found| found.name.contains("/model=lab\\mo\"del_no_2_<&>/")));
    let suites = well_formed(&export(&[], &[path, "--format", "junit"]));
    let classes = suites.iter().filter(|(name, _)| name == "testcase").map(|(_, attributes)| &attributes["classname"]);
    assert!(classes.clone().count() > 0 && classes.into_iter().all(|class| class.starts_with(odd)));
}

/// The opening tags of an XML document in order, each with its attributes; every rule that is broken panics.
fn well_formed(text: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap();
    let (mut open, mut tags): (Vec<String>, _) = (Vec::new(), Vec::new());
    while let Some(start) = rest.find('<') {
        assert!(!unescape(&rest[..start]).contains('\0'));
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (tag, alone) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut pairs) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = BTreeMap::new();
        while !pairs.is_empty() {
            let (key, after) = pairs.split_once("=\"").unwrap();
            let (value, after) = after.split_once('"').unwrap();
            assert!(attributes.insert(key.to_owned(), unescape(value)).is_none(), "{tag}");
            pairs = after.strip_prefix(' ').unwrap_or(after);
        }
        if !alone {
            open.push(name.to_owned());
        }
        tags.push((name.to_owned(), attributes));
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    tags
}

fn unescape(text: &str) -> String {
    assert!(!text.contains('<'), "{text}");
    let (mut plain, mut parts) = (String::new(), text.split('&'));
    plain.push_str(parts.next().unwrap());
    for part in parts {
        let (entity, after) = part.split_once(';').expect("an ampersand begins an entity");
        plain.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#10" => '\n',
            other => panic!("&{other};"),
        });
        plain.push_str(after);
    }
    plain
}

#[test]
fn junit_has_a_case_per_request_and_a_failure_for_each_that_failed() {
    let tags = well_formed(&export(&["exoscope_failures"], &["--format", "junit"]));
    let file = tests::measured::read_json(&tests::fixture("results/exoscope_failures.json")).unwrap();
    let (runs, failures) = (file["runs"].as_array().unwrap(), file["failures"].as_array().unwrap());
    // The run was interrupted, which is a failure of its own.
    let expected = (runs.len() + failures.len() + 1, failures.len() + 1);
    let count = |name: &str| tags.iter().filter(|(tag, _)| tag == name).count();
    assert_eq!((count("testcase"), count("failure")), expected);
    let suite = &tags.iter().find(|(tag, _)| tag == "testsuite").unwrap().1;
    assert_eq!((suite["tests"].clone(), suite["failures"].clone()), (expected.0.to_string(), expected.1.to_string()));
    assert!(tags.iter().any(|(_, attributes)| attributes.get("type").is_some_and(|kind| kind == "http_status")));
}

#[test]
fn junit_has_no_name_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.json");
    let one = std::fs::read_to_string(tests::fixture("results/f3e.json")).unwrap();
    std::fs::write(&path, one.clone() + &one).unwrap();
    let tags = well_formed(&export(&[], &[path.to_str().unwrap(), "--format", "junit"]));
    let names: Vec<_> = tags
        .iter()
        .filter(|(tag, _)| tag == "testcase")
        .map(|(_, attributes)| (attributes["classname"].clone(), attributes["name"].clone()))
        .collect();
    let different: BTreeSet<_> = names.iter().collect();
    assert!(!names.is_empty());
    assert_eq!(different.len(), names.len());
}

#[test]
fn a_row_that_stands_for_many_requests_counts_as_many() {
    let path = tests::fixture("imports/inference_perf.json");
    let samples = scrape(&export(&[], &[path.to_str().unwrap(), "--format", "prometheus"]));
    let requests: Vec<f64> =
        samples.iter().filter(|(name, ..)| name == "exoscope_requests").map(|(_, _, value)| *value).collect();
    let successes = tests::measured::read_json(&path).unwrap()["successes"]["count"].as_f64().unwrap();
    assert_eq!(requests, [successes]);
}

#[test]
fn an_archive_is_written_whole_whatever_the_models_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.json");
    let mut file = tests::measured::read_json(&tests::fixture("results/f3e.json")).unwrap();
    let long = "m".repeat(3000);
    file["runs"].as_array_mut().unwrap().iter_mut().for_each(|run| run["model_id"] = long.clone().into());
    std::fs::write(&path, file.to_string()).unwrap();
    let archive = folder.path().join("archive");
    let more = [path.to_str().unwrap(), "--format", "parquet", "--partitioned", "--output", archive.to_str().unwrap()];
    let written = export(&["exoscope_energy"], &more);
    assert!(written.lines().all(|part| Path::new(part).is_file()), "{written}");
    // Where one part cannot be written, none is left.
    let program = tests::exoscope().unwrap();
    let other = folder.path().join("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("series"), "in the way").unwrap();
    let output = Command::new(program)
        .arg("export")
        .arg(tests::fixture("results/exoscope_energy.json"))
        .args(["--format", "parquet", "--partitioned", "--output", other.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 1, "what was in the way, alone");
}

/// Asks pandas, as [`duckdb`] is asked.
fn pandas(folder: &Path, expression: &str) -> Option<String> {
    let python = tests::peer_python("pandas")?;
    let script = "import pandas, sys, os; os.chdir(sys.argv[1]); print(eval(sys.argv[2]))";
    let output = Command::new(python).args(["-c", script]).arg(folder).arg(expression).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn imports_have_their_engine_class_and_day_in_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let imports = ["llama_bench.json", "asiai_export_v1.json", "inference_perf.json"]
        .map(|name| tests::fixture(&format!("imports/{name}")).to_str().unwrap().to_owned());
    let mut more: Vec<&str> = imports.iter().map(String::as_str).collect();
    more.extend(["--format", "parquet", "--partitioned", "--output", archive.to_str().unwrap()]);
    export(&["exoscope_energy", "f3e"], &more);
    let hive = "read_parquet('archive/runs/**/*.parquet', hive_partitioning = true)";
    let query = format!(
        "select distinct regexp_extract(file, '[^/]*$'), format, class, engine, quantization, started::text, simulated from {hive} \
         where file like '%llama_bench%' or file like '%asiai%' or file like '%f3e%' order by 1"
    );
    let Some(found) = duckdb(folder.path(), &query) else { return };
    let expected = serde_json::json!([
        ["asiai_export_v1.json", "an export of asiai bench", "endpoint", "mlxlm", "4bit", "2026-02-02", null],
        ["f3e.json", "exo (2026-05-28 or later)", "endpoint", "exo", null, "unknown", null],
        ["llama_bench.json", "llama-bench JSON", "engine_internal", "llama.cpp", null, "2026-02-01", null]
    ]);
    assert_eq!(serde_json::from_str::<Value>(&found).unwrap(), expected);
    // pandas puts all partitions into one table, those without a day beside those with one.
    let read = "(lambda t: (len(t), sorted(set(t.started.astype(str)))[-1]))(pandas.read_parquet('archive/runs'))";
    let Some(table) = pandas(folder.path(), read) else { return };
    let rows = duckdb(folder.path(), &format!("select count(*) from {hive}")).unwrap();
    assert_eq!(table, format!("({}, 'unknown')", rows.trim_matches(['[', ']'])));
}

#[test]
fn markdown_and_json_are_the_reports() {
    let program = tests::exoscope().unwrap();
    for format in ["markdown", "json"] {
        let file = tests::fixture("results/exoscope_energy.json");
        let printed = Command::new(&program).arg("report").arg(file).args(["--format", format]).output().unwrap();
        assert_eq!(export(&["exoscope_energy"], &["--format", format]), String::from_utf8(printed.stdout).unwrap());
    }
}

#[test]
fn parquet_needs_a_folder() {
    let program = tests::exoscope().unwrap();
    for more in [
        &["--format", "parquet"][..],
        &["--format", "parquet", "--output", "x.parquet"],
        &["--format", "csv", "--partitioned"],
    ] {
        let output =
            Command::new(&program).arg("export").arg(tests::fixture("results/f3e.json")).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(!Path::new("x.parquet").exists());
    }
}

/// Asks DuckDB, which is no part of the workspace: Python with it is named in EXOSCOPE_PEER_PYTHON, else the set-up's.
fn duckdb(folder: &Path, query: &str) -> Option<String> {
    let python = tests::peer_python("duckdb")?;
    let script = "import duckdb, json, os, sys; os.chdir(sys.argv[1]); print(json.dumps(duckdb.sql(sys.argv[2]).fetchall(), default=str))";
    let output = Command::new(python).args(["-c", script]).arg(folder).arg(query).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn duckdb_reads_the_folder_and_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let files = ["exoscope_energy", "exoscope_failures", "f3e"];
    export(&files, &["--format", "parquet", "--output", &at("plain")]);
    export(&files, &["--format", "parquet", "--partitioned", "--output", &at("archive")]);
    // Written again, every run replaces itself.
    export(&files, &["--format", "parquet", "--partitioned", "--output", &at("archive")]);
    let mut rows = 0;
    let (mut elapsed, mut streamed, mut samples, mut failures) = (0.0, 0, 0, 0);
    for file in files {
        let file = tests::measured::read_json(&tests::fixture(&format!("results/{file}.json"))).unwrap();
        for run in file["runs"].as_array().unwrap() {
            rows += 1;
            elapsed += run["elapsed_s"].as_f64().unwrap();
            streamed += usize::from(run.pointer("/exoscope/timing/token_offsets_s").is_some_and(Value::is_array));
        }
        let series = file["metric_series"].as_array().map_or(&[][..], Vec::as_slice);
        samples += series.iter().map(|series| series["t_s"].as_array().unwrap().len()).sum::<usize>();
        failures += file["failures"].as_array().map_or(0, Vec::len);
    }
    let query = "select count(*), round(sum(elapsed_s), 6), count(token_offsets_s), count(distinct run_id) from";
    let Some(plain) = duckdb(folder.path(), &format!("{query} 'plain/runs.parquet'")) else { return };
    let expected = serde_json::json!([[rows, (elapsed * 1e6_f64).round() / 1e6, streamed, files.len()]]);
    assert_eq!(serde_json::from_str::<Value>(&plain).unwrap(), expected);
    let hive = "read_parquet('archive/runs/**/*.parquet', hive_partitioning = true)";
    assert_eq!(duckdb(folder.path(), &format!("{query} {hive}")).unwrap(), plain);
    // The archive's partitions are columns; the same model is one value in both spellings, also where no day is known.
    let query =
        format!("select count(*), count_if(started <> 'unknown') from {hive} where model = model_id and run = run_id");
    let known = duckdb(folder.path(), &query).unwrap();
    let ours = rows
        - tests::measured::read_json(&tests::fixture("results/f3e.json")).unwrap()["runs"].as_array().unwrap().len();
    assert_eq!(serde_json::from_str::<Value>(&known).unwrap(), serde_json::json!([[rows, ours]]));
    for (table, count) in [("series", samples), ("failures", failures)] {
        for place in [format!("plain/{table}.parquet"), format!("archive/{table}/**/*.parquet")] {
            let found = duckdb(folder.path(), &format!("select count(*) from '{place}'")).unwrap();
            assert_eq!(found, format!("[[{count}]]"), "{place}");
        }
    }
}

#[test]
fn every_line_of_a_go_benchmark_is_a_name_a_count_and_pairs() {
    for name in ["vllm_bench_serve.json", "aiperf.json", "guidellm.json", "llama_bench.json", "exo_run.log"] {
        let output = std::process::Command::new(tests::exoscope().unwrap())
            .arg("export")
            .arg(tests::fixture(&format!("imports/{name}")))
            .args(["--format", "gobench"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Benchmark")).collect();
        assert!(!lines.is_empty(), "{name}");
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(words.len() >= 4 && words.len() % 2 == 0, "{name}: {line}");
            assert!(words[1].parse::<u64>().is_ok() && words[2].parse::<f64>().is_ok(), "{name}: {line}");
        }
    }
}
