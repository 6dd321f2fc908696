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
    let cold = found.iter().filter_map(|times| times["cold_s"].as_f64()).fold(f64::INFINITY, f64::min);
    println!("{:<24} {cold:>8.3} s in Chromium for the first file of a page", format!("report, {what}"));
    for (verb, key, files) in [("report", "report_s", &files[..1]), ("compare", "compare_s", &files[..])] {
        let native = peers::spent(python, &Peer::Exoscope { program, verb, files, format: "json" }, again).wall_s;
        let mut times: Vec<f64> = found.iter().map(|times| times[key].as_f64().expect("seconds")).collect();
        times.sort_by(f64::total_cmp);
        let (wasm, word) = (times[times.len() / 2], |met: bool| if met { "met" } else { "MISSED" });
        let ratio = wasm / native;
        println!(
            "{:<24} {native:>8.3} s native {wasm:>8.3} s in Chromium   ratio {ratio:>6.3}  at most {TIMES:.2}: {}",
            format!("{verb}, {what}"),
            word(ratio <= TIMES)
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
