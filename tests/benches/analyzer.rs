//! `just bench-analyzer`: report and compare, beside pandas and DuckDB that reckon the same from the same JSON.
//!
//! Every figure is a whole process: start, read, reckon, write. The machine is shared, so what counts are the ratios of one
//! run; single times stand beside them for orientation. Ends with 1 where a target is missed.
//!
//! - `rows` files of 1k, 100k and 1M rows of exo's shape.
//! - `tokens` one result file of ours of 100 MB, most of it the instants of tokens.
//! - `wasm` the viewer's worker in a Chromium beside this program, over 1k and 100k rows and the 100 MB.
//! - `quick` leaves out 1M rows and measures each once.

#[path = "analyzer/browser.rs"]
mod browser;
#[path = "analyzer/inputs.rs"]
mod inputs;
#[path = "analyzer/peers.rs"]
mod peers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use peers::{Peer, Spent};

/// Never slower than the faster peer.
const TIME: f64 = 1.0;
/// At most a third of pandas.
const MEMORY: f64 = 1.0 / 3.0;
/// Ten times the rows take at most this many times the time and the memory: linear, with room for the machine.
const TENFOLD: f64 = 13.0;

/// One task with what each of the three spent on it.
struct Done {
    what: String,
    rows: usize,
    ours: Spent,
    pandas: Spent,
    duckdb: Spent,
}

impl Done {
    /// Prints both ratios; whether both targets are met.
    fn print(&self) -> bool {
        let faster = self.pandas.wall_s.min(self.duckdb.wall_s);
        let time = self.ours.wall_s / faster;
        let memory = self.ours.peak_mib / self.pandas.peak_mib;
        let word = |met: bool| if met { "met" } else { "MISSED" };
        println!(
            "{:<24} {:>8.3} s {:>8.3} s {:>8.3} s   ratio {time:>6.3}  at most {TIME:.2}: {:<7}{:>8.0} MiB {:>7.0} MiB {:>7.0} MiB   ratio {memory:>6.3}  at most {MEMORY:.2}: {}",
            self.what,
            self.ours.wall_s,
            self.pandas.wall_s,
            self.duckdb.wall_s,
            word(time <= TIME),
            self.ours.peak_mib,
            self.pandas.peak_mib,
            self.duckdb.peak_mib,
            word(memory <= MEMORY),
        );
        time <= TIME && memory <= MEMORY
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let quick = words.iter().any(|word| word == "quick");
    let named: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "quick").collect();
    if let Some(unknown) = named.iter().find(|name| !["rows", "tokens", "wasm"].contains(name)) {
        eprintln!("there is no section {unknown}; name some of rows, tokens, wasm, or quick");
        return ExitCode::from(2);
    }
    let wanted = |section: &str| named.is_empty() || named.contains(&section);
    let program = tests::exoscope().unwrap_or_else(|error| panic!("{error}"));
    let Some(python) = tests::peer_python("pandas, duckdb") else { return ExitCode::from(2) };
    let folder = tempfile::tempdir().expect("a folder for the inputs");
    let (mut all, mut all_met) = (Vec::new(), true);
    println!("{:<24} {:>10} {:>10} {:>10}", "", "exoscope", "pandas", "duckdb");
    if wanted("rows") {
        let sizes: &[usize] = if quick { &[1_000, 100_000] } else { &[1_000, 100_000, 1_000_000] };
        for &rows in sizes {
            let files = ["base", "new"].map(|name| folder.path().join(format!("{name}_{rows}.json")));
            inputs::rows(&files[0], rows, 1.0).expect("the input is written");
            inputs::rows(&files[1], rows, 0.95).expect("the input is written");
            if rows == 1_000 {
                peers::agree(&program, &python, &files[0]);
            }
            let again = if quick || rows >= 1_000_000 { 1 } else { 3 };
            all.extend(both(&program, &python, &files, rows, &format!("{rows} rows"), again, &mut all_met));
            files.iter().for_each(|file| std::fs::remove_file(file).expect("the input was there"));
        }
    }
    if wanted("tokens") {
        let files = ["base", "new"].map(|name| folder.path().join(format!("{name}_tokens.json")));
        let rows = inputs::tokens(&files[0], 100_000_000, 1.0).expect("the input is written");
        inputs::tokens(&files[1], 100_000_000, 0.95).expect("the input is written");
        both(&program, &python, &files, rows, "100 MB of tokens", if quick { 1 } else { 3 }, &mut all_met);
    }
    all_met &= grows_linearly(&all);
    if wanted("wasm") {
        let again = if quick { 1 } else { 3 };
        for rows in [1_000, 100_000] {
            let files = ["base", "new"].map(|name| folder.path().join(format!("{name}_{rows}.json")));
            inputs::rows(&files[0], rows, 1.0).expect("the input is written");
            inputs::rows(&files[1], rows, 0.95).expect("the input is written");
            all_met &= browser::compare(&program, &python, &files, &format!("{rows} rows"), again);
        }
        let files = ["base", "new"].map(|name| folder.path().join(format!("{name}_tokens.json")));
        inputs::tokens(&files[0], 100_000_000, 1.0).expect("the input is written");
        inputs::tokens(&files[1], 100_000_000, 0.95).expect("the input is written");
        all_met &= browser::compare(&program, &python, &files, "100 MB of tokens", again);
    }
    println!("{}", if all_met { "bench-analyzer: every target met" } else { "bench-analyzer: a target was missed" });
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Report of the first file, then both compared.
fn both(
    program: &Path,
    python: &Path,
    files: &[PathBuf; 2],
    rows: usize,
    what: &str,
    again: usize,
    all_met: &mut bool,
) -> Vec<Done> {
    let tasks = [("report", &files[..1]), ("compare", &files[..])];
    let done = tasks.map(|(verb, files)| {
        let spent = |peer: &Peer| peers::spent(python, peer, again);
        Done {
            what: format!("{verb}, {what}"),
            rows,
            ours: spent(&Peer::Exoscope { program, verb, files, format: "markdown" }),
            pandas: spent(&Peer::Python { name: "pandas", files }),
            duckdb: spent(&Peer::Python { name: "duckdb", files }),
        }
    });
    for task in &done {
        *all_met &= task.print();
    }
    done.into()
}

/// The same task over ten times the rows.
fn grows_linearly(all: &[Done]) -> bool {
    let mut linear = true;
    for large in all {
        let verb = large.what.split(',').next();
        let small = all.iter().find(|small| small.rows * 10 == large.rows && small.what.split(',').next() == verb);
        let Some(small) = small else { continue };
        let time = large.ours.wall_s / small.ours.wall_s;
        let memory = large.ours.peak_mib / small.ours.peak_mib;
        let met = time <= TENFOLD && memory <= TENFOLD;
        linear &= met;
        let word = if met { "met" } else { "MISSED" };
        println!(
            "{:<24} ten times the rows: {time:.1} × time, {memory:.1} × memory   at most {TENFOLD}: {word}",
            large.what
        );
    }
    linear
}
