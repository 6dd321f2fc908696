//! `just bench-probe`: how exact and how cheap the probe is, beside a plain Python client in the same run.
//!
//! The machine is shared and its clock speed wavers, so every figure is a ratio of the two in one run; single times stand
//! beside it for orientation only. Ends with 1 where a target is missed.
//!
//! - `arrival` how far apart the requests of a batch reach the server.
//! - `sizing` the CPU that an exact prompt costs.
//! - `streams` the CPU per streamed token and the memory of 64 streams.
//! - `energy` the error of an energy against the simulator's own account.

#[path = "probe/arrival.rs"]
mod arrival;
#[path = "probe/energy.rs"]
mod energy;
#[path = "probe/server.rs"]
mod server;
#[path = "probe/sizing.rs"]
mod sizing;
#[path = "probe/streams.rs"]
mod streams;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// One figure with the target it is held against.
struct Line {
    what: String,
    ours: f64,
    peer: f64,
    unit: &'static str,
    /// Ours over theirs must not be above; none: shown only.
    at_most: Option<f64>,
}

impl Line {
    fn ratio(&self) -> f64 {
        self.ours / self.peer
    }

    fn met(&self) -> bool {
        self.at_most.is_none_or(|most| self.ratio() <= most)
    }

    fn print(&self) {
        let target = self.at_most.map_or_else(
            || "shown only".to_owned(),
            |most| format!("at most {most:.3}: {}", if self.met() { "met" } else { "MISSED" }),
        );
        let Self { what, ours, peer, unit, .. } = self;
        println!("{what:<44} {ours:>12.4} {peer:>12.4} {unit:<12} ratio {:>8.4}   {target}", self.ratio());
    }
}

/// The Python client, started in one of its modes.
fn peer(arguments: &[String]) -> Command {
    let python = std::env::var_os("EXOSCOPE_PEER_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(python);
    command.arg(tests::root().join("tests/peers/bench_client.py")).args(arguments).env("HF_HUB_OFFLINE", "1");
    command
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

fn this_program() -> PathBuf {
    std::env::current_exe().expect("the system tells where this program is")
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.first().is_some_and(|word| word == "serve") {
        server::run();
        return ExitCode::SUCCESS;
    }
    let quick = words.iter().any(|word| word == "quick");
    let named: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "quick").collect();
    let wanted = |section: &str| named.is_empty() || named.contains(&section);
    if let Some(unknown) = named.iter().find(|name| !["arrival", "sizing", "streams", "energy"].contains(name)) {
        eprintln!("there is no section {unknown}; name some of arrival, sizing, streams, energy, or quick");
        return ExitCode::from(2);
    }
    println!("{:<44} {:>12} {:>12}", "", "exoscope", "peer");
    let mut all_met = true;
    let mut show = |lines: Vec<Line>| {
        for line in lines {
            line.print();
            all_met &= line.met();
        }
    };
    if wanted("arrival") {
        show(arrival::measure(quick));
    }
    if wanted("streams") {
        show(streams::measure(quick));
    }
    if wanted("energy") {
        show(energy::measure(quick));
    }
    if wanted("sizing") {
        show(sizing::measure(quick));
    }
    println!("{}", if all_met { "bench-probe: every target met" } else { "bench-probe: a target was missed" });
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
