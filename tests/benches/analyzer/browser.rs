//! The same in WebAssembly: the viewer's worker in a Chromium, beside this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::peers::{self, Peer};

/// At most this many times the native program.
const TIMES: f64 = 3.0;

/// Prints both ratios for two files; whether both are met.
///
/// The worker is timed from bytes in memory to the answer, the program from its start to its end: it reads the file, too.
pub(crate) fn compare(program: &Path, python: &Path, files: &[PathBuf; 2], what: &str, again: usize) -> bool {
    let found: Vec<Value> = (0..again).map(|_| in_chromium(program, files)).collect();
    let mut all_met = true;
    for (verb, key, files) in [("report", "report_s", &files[..1]), ("compare", "compare_s", &files[..])] {
        let middle = |times: &mut dyn Iterator<Item = &Value>| {
            let mut times: Vec<f64> = times.map(|times| times[key].as_f64().expect("seconds")).collect();
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        let native = peers::spent(python, &Peer::Exoscope { program, verb, files, format: "json" }, again).wall_s;
        let (first, wasm) = (middle(&mut found.iter().map(|times| &times["first"])), middle(&mut found.iter()));
        let ratio = wasm / native;
        println!(
            "{:<24} {native:>8.3} s native {wasm:>8.3} s in Chromium   ratio {ratio:>6.3}  at most {TIMES:.2}: {}; the first of a page {first:.3} s",
            format!("{verb}, {what}"),
            if ratio <= TIMES { "met" } else { "MISSED" },
        );
        all_met &= ratio <= TIMES;
    }
    all_met
}

fn in_chromium(program: &Path, files: &[PathBuf; 2]) -> Value {
    let folder = tests::root().join("tests/browser");
    let output = Command::new("node")
        .current_dir(folder)
        .arg("times.mjs")
        .args(files)
        .env("EXOSCOPE_BIN", program)
        .output()
        .expect("node starts; `just setup test` installs what it needs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}
