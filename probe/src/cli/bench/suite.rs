//! `exoscope bench --suite`: a TOML file of benchmarks, each carried out as if its flags had been given.
//!
//! The keys are the flags' own names, so that a suite can say whatever a command line can and is checked by the same code.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Arguments;
use crate::cli::{CliError, Exit, bench_arguments};
use crate::report::progress::say;
use crate::report::reading::why;
use crate::report::target;

/// One benchmark of a suite.
#[derive(Debug, PartialEq)]
struct Benchmark {
    /// The name of its result file, without the ending.
    name: String,
    /// Its flags, those of the command line behind those of the file.
    words: Vec<String>,
}

pub(super) fn run(given: Arguments, file: &Path, command: &[String]) -> Result<Exit, CliError> {
    let shown = file.display().to_string();
    if !(given.model.is_empty() && given.pp.is_empty() && given.tg.is_empty()) {
        return Err(CliError::usage(
            "--suite: its file holds the models and lengths; give no --model, --pp or --tg beside it",
        ));
    }
    if given.stdout {
        return Err(CliError::usage("--suite writes a result file per benchmark, so --stdout does not go with it"));
    }
    if given.record.is_some() {
        return Err(CliError::usage("--suite: a recording is of one benchmark; give \"record\" in its table"));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|error| CliError::failed(format!("{shown} cannot be read: {}", why(&shown, &error))))?;
    let benchmarks = read(&text, command).map_err(|reason| CliError::usage(format!("{shown}: {reason}")))?;
    let folder = folder(&given);
    // All of them are looked at before the first begins: a slip in the last must not show after a night.
    let mut plans = Vec::new();
    for benchmark in benchmarks {
        let mut arguments = bench_arguments(&benchmark.words)
            .map_err(|reason| CliError::usage(format!("{shown}, benchmark {}: {reason}", benchmark.name)))?;
        arguments.json_out = folder.join(format!("{}.json", benchmark.name));
        for (flag, place) in [("--json-out", Some(&arguments.json_out)), ("--record", arguments.record.as_ref())] {
            target::spare(flag, place.map(PathBuf::as_path), [file]).map_err(CliError::usage)?;
        }
        arguments.progress = given.progress;
        let checked = arguments.clone().asked().check();
        checked.map_err(|error| CliError::usage(format!("{shown}, benchmark {}: {error}", benchmark.name)))?;
        plans.push((benchmark, arguments));
    }
    let count = plans.len();
    let mut exits = Vec::new();
    for (number, (benchmark, arguments)) in (1..).zip(plans) {
        say(&format!("benchmark {number} of {count}: {}", benchmark.name));
        let mut words = benchmark.words;
        words.extend(["--json-out".to_owned(), arguments.json_out.display().to_string()]);
        let exit = arguments.measure(words).unwrap_or_else(|error| {
            say(&format!("exoscope: benchmark {}: {}", benchmark.name, error.sentence));
            error.exit
        });
        if exit == Exit::Interrupted {
            return Err(CliError {
                sentence: "the suite was interrupted; the benchmarks behind it were not begun".into(),
                exit,
            });
        }
        exits.push(exit);
    }
    Ok(together(&exits))
}

/// A suite of which something was measured and something not was measured in part.
fn together(exits: &[Exit]) -> Exit {
    let measured = exits.iter().any(|exit| matches!(exit, Exit::Done | Exit::Partial));
    match (measured, exits.iter().all(|exit| *exit == Exit::Done)) {
        (_, true) => Exit::Done,
        (true, false) => Exit::Partial,
        (false, false) => Exit::Failed,
    }
}

/// Where the result files go: the folder that was named, else that of the default.
fn folder(given: &Arguments) -> PathBuf {
    let named = given.json_out.as_path();
    match named.extension() {
        // The name of a file, the default's for one: beside it.
        Some(ending) if ending == "json" => named.parent().map_or_else(PathBuf::new, Path::to_path_buf),
        _ => named.to_path_buf(),
    }
}

/// The benchmarks of a suite. Flags on the command line win over the file's.
fn read(text: &str, command: &[String]) -> Result<Vec<Benchmark>, String> {
    let suite: Table = text.parse().map_err(|error: toml::de::Error| error.to_string().replace('\n', " "))?;
    for key in suite.keys() {
        if !matches!(key.as_str(), "defaults" | "benchmark") {
            return Err(format!("\"{key}\" is neither [defaults] nor [[benchmark]]"));
        }
    }
    let empty = Table::new();
    let defaults = match suite.get("defaults") {
        None => &empty,
        Some(value) => value.as_table().ok_or("\"defaults\" is no table; write [defaults]")?,
    };
    let list = suite.get("benchmark").and_then(Value::as_array).filter(|list| !list.is_empty());
    let list = list.ok_or("there is no [[benchmark]] in it")?;
    let given = flags_behind(command);
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    for (number, entry) in (1..).zip(list) {
        let entry = entry.as_table().ok_or("\"benchmark\" is no list of tables; write [[benchmark]]")?;
        let mut merged = defaults.clone();
        merged.extend(entry.clone());
        let name = match merged.remove("name") {
            None => merged
                .get("model")
                .and_then(Value::as_str)
                .map(|model| model.rsplit('/').next().unwrap_or(model).to_owned()),
            Some(value) => value.as_str().map(str::to_owned),
        };
        let name = name.ok_or_else(|| format!("benchmark {number} has neither a \"name\" nor a \"model\""))?;
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
            return Err(format!("benchmark {number}: \"{name}\" cannot be the name of a result file"));
        }
        // Some file systems, macOS's usual one among them, take A and a for one.
        if benchmarks.iter().any(|other| other.name.to_lowercase() == name.to_lowercase()) {
            return Err(format!("two benchmarks are called \"{name}\"; give one another \"name\""));
        }
        let mut words = vec!["exoscope".to_owned(), "bench".to_owned()];
        for (key, value) in &merged {
            if matches!(key.as_str(), "suite" | "resume" | "json-out" | "stdout" | "progress") {
                return Err(format!("benchmark {name}: \"{key}\" belongs on the command line"));
            }
            if given.iter().any(|word| flag_of(word) == Some(key)) {
                continue;
            }
            words.extend(flag(key, value).map_err(|reason| format!("benchmark {name}: {reason}"))?);
        }
        words.extend(given.iter().cloned());
        benchmarks.push(Benchmark { name, words });
    }
    Ok(benchmarks)
}

/// A key and its value as words of a command line.
fn flag(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let flag = format!("--{key}");
    let one = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        _ => None,
    };
    let wrong = || format!("\"{key}\" is neither a number, a text, true, false, nor a list of numbers or texts");
    match value {
        Value::Boolean(true) => Ok(vec![flag]),
        Value::Boolean(false) => Ok(Vec::new()),
        // A pause is a flag given again; lists of numbers are one flag.
        Value::Array(list) if key == "pause" => {
            let list: Option<Vec<String>> = list.iter().map(one).collect();
            Ok(list.ok_or_else(wrong)?.into_iter().map(|item| format!("{flag}={item}")).collect())
        }
        Value::Array(list) => {
            let list: Option<Vec<String>> = list.iter().map(one).collect();
            Ok(vec![format!("{flag}={}", list.ok_or_else(wrong)?.join(","))])
        }
        value => Ok(vec![format!("{flag}={}", one(value).ok_or_else(wrong)?)]),
    }
}

/// The words of the command line behind `bench`, without those that are the suite's own.
fn flags_behind(command: &[String]) -> Vec<String> {
    let mut words = command.iter().skip_while(|word| *word != "bench").skip(1);
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match flag_of(word) {
            Some("suite" | "json-out" | "progress") => {
                if !word.contains('=') {
                    words.next();
                }
            }
            _ => kept.push(word.clone()),
        }
    }
    kept
}

/// The name of a long flag.
fn flag_of(word: &str) -> Option<&str> {
    let name = word.strip_prefix("--")?;
    Some(name.split('=').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = r#"
        [defaults]
        tg = 128
        repeat = 3
        pause = ["all=0", "repeat=1"]

        [[benchmark]]
        model = "org/Small"
        pp = [512, 4096]
        stream = true
        use-prefix-cache = false

        [[benchmark]]
        name = "wide"
        model = "Small"
        pp = "64"
        repeat = 5
    "#;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_benchmark_is_its_flags_over_the_defaults_under_the_command_line() {
        let command = words("exoscope bench --suite s.toml --host mac --json-out out --repeat 7");
        let found = read(SUITE, &command).unwrap();
        let line = |benchmark: &Benchmark| {
            let mut words: Vec<&str> = benchmark.words.iter().map(String::as_str).collect();
            words.sort_unstable();
            words.join(" ")
        };
        assert_eq!((found[0].name.as_str(), found[1].name.as_str()), ("Small", "wide"));
        assert_eq!(
            line(&found[0]),
            "--host --model=org/Small --pause=all=0 --pause=repeat=1 --pp=512,4096 --repeat --stream --tg=128 7 bench exoscope mac"
        );
        let found = read(SUITE, &words("exoscope bench --suite s.toml")).unwrap();
        assert!(found[1].words.contains(&"--repeat=5".to_owned()) && found[0].words.contains(&"--repeat=3".to_owned()));
    }

    #[test]
    fn a_suite_measured_in_part_says_so_whatever_came_first() {
        assert_eq!(together(&[Exit::Done, Exit::Done]), Exit::Done);
        assert_eq!(together(&[Exit::Done, Exit::Failed]), Exit::Partial);
        assert_eq!(together(&[Exit::Usage, Exit::Done]), Exit::Partial);
        assert_eq!(together(&[Exit::Partial]), Exit::Partial);
        assert_eq!(together(&[Exit::Failed, Exit::Usage]), Exit::Failed);
    }

    #[test]
    fn the_suite_of_the_readme_is_one() {
        let readme = include_str!("../../../../README.md");
        let block = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let found = read(block, &words("exoscope bench --suite night.toml")).unwrap();
        for benchmark in &found {
            let arguments = bench_arguments(&benchmark.words).unwrap();
            assert!(arguments.asked().check().is_ok(), "{benchmark:?}");
        }
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_slip_is_named() {
        let sentence = |text: &str| read(text, &[]).unwrap_err();
        assert_eq!(sentence("[defaults]"), "there is no [[benchmark]] in it");
        assert!(sentence("[[bench]]\nmodel = \"x\"").contains("\"bench\" is neither"));
        assert!(sentence("[[benchmark]]\npp = 1").contains("benchmark 1 has neither"));
        assert!(sentence("[[benchmark]]\nmodel = \"x\"\npp = {a = 1}").contains("benchmark x: \"pp\" is neither"));
        let twice = "[[benchmark]]\nmodel = \"x\"\n[[benchmark]]\nmodel = \"y/x\"";
        assert!(sentence(twice).contains("two benchmarks are called \"x\""));
        assert!(sentence("[[benchmark]\n").contains("line 1") || sentence("[[benchmark]\n").contains("TOML"));
        assert!(sentence("[[benchmark]]\nname = \"../x\"").contains("cannot be the name"));
    }
}
