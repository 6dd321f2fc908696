//! Three programs that reckon the same, and what each of them spends.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Who does the work.
pub(crate) enum Peer<'a> {
    /// This program.
    Exoscope { program: &'a Path, verb: &'a str, files: &'a [PathBuf], format: &'a str },
    /// tests/peers/analyze.py.
    Python { name: &'a str, files: &'a [PathBuf] },
}

/// What a process took.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) wall_s: f64,
    pub(crate) peak_mib: f64,
}

fn script() -> PathBuf {
    tests::root().join("tests/peers/analyze.py")
}

impl Peer<'_> {
    fn command(&self, python: &Path) -> Vec<OsString> {
        match self {
            Self::Exoscope { program, verb, files, format } => {
                let mut command: Vec<OsString> = vec![program.as_os_str().to_owned(), verb.into()];
                command.extend(files.iter().map(|file| file.as_os_str().to_owned()));
                command.extend(["--format", *format].map(OsString::from));
                command
            }
            Self::Python { name, files } => {
                let mut command: Vec<OsString> = vec![python.into(), script().into(), name.into()];
                command.extend(files.iter().map(|file| file.as_os_str().to_owned()));
                command
            }
        }
    }
}

/// The median time and the largest memory of some runs.
pub(crate) fn spent(python: &Path, peer: &Peer, again: usize) -> Spent {
    let command = peer.command(python);
    let mut all: Vec<Spent> = (0..again)
        .map(|_| {
            let output =
                Command::new(python).arg(script()).arg("measure").args(&command).output().expect("python starts");
            let found: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
            // A comparison that found a regression ends with 1.
            let code = found["code"].as_i64();
            assert!(matches!(code, Some(0 | 1)), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            Spent { wall_s: number(&found["wall_s"]), peak_mib: number(&found["peak_mib"]) }
        })
        .collect();
    all.sort_by(|a, b| a.wall_s.total_cmp(&b.wall_s));
    let peak_mib = all.iter().map(|spent| spent.peak_mib).fold(0.0, f64::max);
    Spent { wall_s: all[all.len() / 2].wall_s, peak_mib }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// That all three reckon the same, so that their times can be set side by side.
pub(crate) fn agree(program: &Path, python: &Path, file: &Path) {
    let ask = |command: &mut Command| -> Value {
        let output = command.output().expect("it starts");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    let report = ask(Command::new(program).arg("report").arg(file).args(["--format", "json"]));
    let pandas = ask(Command::new(python).arg(script()).arg("pandas").arg(file));
    let duckdb = ask(Command::new(python).arg(script()).arg("duckdb").arg(file));
    type Cells = BTreeMap<(u64, u64, u64), BTreeMap<String, f64>>;
    let names = [("prefill_tps", "prompt_tps"), ("generation_tps", "generation_tps"), ("elapsed", "elapsed_s")];
    let mut ours = Cells::new();
    for cell in report["files"][0]["cells"].as_array().expect("cells") {
        let key = ["nodes", "pp_tokens", "tg"].map(|name| cell["key"][name].as_u64().expect("a count"));
        for metric in cell["metrics"].as_array().expect("metrics") {
            let Some((_, name)) = names.iter().find(|(ours, _)| metric["metric"] == *ours) else { continue };
            for (field, theirs) in [("n", "count"), ("median", "median"), ("mean", "mean"), ("sd", "std")] {
                let values = ours.entry(key.into()).or_default();
                values.insert(format!("{name}/{theirs}"), number(&metric[field]));
            }
        }
    }
    for (peer, table, between) in [("pandas", &pandas, "/"), ("duckdb", &duckdb, "_")] {
        let rows = table.as_array().expect("rows");
        assert_eq!(rows.len(), ours.len(), "{peer} finds other cells");
        for row in rows {
            let key = match row["cell"].as_array() {
                Some(cell) => {
                    [3, 4, 5].map(|at| cell[at].as_str().and_then(|text| text.parse().ok()).expect("a count"))
                }
                None => ["placement_nodes", "pp_tokens", "tg"].map(|name| row[name].as_u64().expect("a count")),
            };
            for (name, value) in &ours[&key.into()] {
                let (metric, field) = name.split_once('/').expect("a metric and a field");
                let theirs = number(&row[format!("{metric}{between}{field}")]);
                assert!((theirs - value).abs() <= 1e-9 * value.abs(), "{peer}, {key:?} {name}: {theirs}, ours {value}");
            }
        }
    }
}
