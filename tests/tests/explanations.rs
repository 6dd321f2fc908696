//! `exoscope explain`: a reader who reckons what is shown gets what is shown.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// What stands behind a number, and what it is in the base unit; the longest first.
const UNITS: [(&str, f64); 20] = [
    ("tok/s/W", 1.0),
    ("J/tok", 1.0),
    ("tok/s", 1.0),
    ("req/s", 1.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("KiB", 1024.0),
    ("ms", 1e-3),
    ("µs", 1e-6),
    ("kJ", 1e3),
    ("MJ", 1e6),
    ("kW", 1e3),
    ("mJ", 1e-3),
    ("mW", 1e-3),
    ("pp", 1.0),
    ("s", 1.0),
    ("J", 1.0),
    ("W", 1.0),
    ("B", 1.0),
    ("%", 1.0),
];

/// A working as a reader reads it: sums of products of numbers with units and of brackets.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn next(&mut self, sign: &str) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        loop {
            if self.next("+") {
                value += self.product();
            } else if self.next("−") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.factor();
        loop {
            if self.next("×") {
                value *= self.factor();
            } else if self.next("/") {
                value /= self.factor();
            } else {
                return value;
            }
        }
    }

    fn factor(&mut self) -> f64 {
        if self.next("(") {
            let value = self.sum();
            assert!(self.next(")"), "no end of a bracket: {}", self.0);
            return value;
        }
        let (number, _, factor) = self.number();
        number * factor
    }

    /// The number as it stands, how many decimals it has, and what its unit is worth.
    fn number(&mut self) -> (f64, usize, f64) {
        self.0 = self.0.trim_start();
        let end = self.0.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        let number = digits.parse().unwrap_or_else(|_| panic!("no number: {}", self.0));
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        self.0 = rest;
        let unit = rest.strip_prefix(' ').and_then(|rest| UNITS.iter().find(|(unit, _)| rest.starts_with(unit)));
        let factor = unit.map_or(1.0, |(unit, factor)| {
            self.0 = &rest[1 + unit.len()..];
            *factor
        });
        (number, decimals, factor)
    }
}

fn explained(metric: &str, file: &PathBuf) -> Value {
    let program = tests::exoscope().unwrap();
    let output = Command::new(program).args(["explain", metric]).arg(file).args(["--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn metrics() -> Vec<String> {
    let all = analyzer::metric::Metric::ALL.iter().map(|metric| serde_json::to_value(metric).unwrap());
    all.map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_working_gives_the_result_by_the_digits_shown() {
    let mut reckoned = 0;
    for file in [
        "explain/example.json",
        "results/exoscope_energy.json",
        "results/exoscope_simulated_base.json",
        "results/exoscope_accumulated.json",
        "results/exoscope_sessions_base.json",
        "results/f3e.json",
    ] {
        for metric in metrics() {
            let explained = explained(&metric, &tests::fixture(file));
            let Some(example) = explained.get("example").filter(|example| !example.is_null()) else { continue };
            let (working, result) = (example["working"].as_str().unwrap(), example["result_words"].as_str().unwrap());
            if working.starts_with(char::is_alphabetic) {
                continue;
            }
            let mut reader = Reader(working);
            let value = reader.sum();
            assert!(reader.0.trim().is_empty(), "{metric}: {} is left of {working}", reader.0);
            let (shown, decimals, factor) = Reader(result).number();
            // Half of the last digit, and what the reckoning itself loses.
            let half = 0.5 * 10_f64.powi(-i32::try_from(decimals).unwrap());
            let off = (value / factor - shown).abs();
            assert!(off <= half * (1.0 + 1e-6), "{file} {metric}: {working} is {value}, not {result}");
            reckoned += 1;
        }
    }
    assert!(reckoned > 50, "{reckoned}");
}

#[test]
fn only_a_number_of_the_file_is_told_by_the_file() {
    let file = tests::fixture("results/exoscope_energy.json");
    for (metric, words) in [
        ("energy_prefill", "power readings show, held to the edges of the window"),
        ("energy_decode", "power readings show, held to the edges of the window"),
        ("energy_exo_client", "trapezoids from the first to the last of"),
        ("elapsed", "as the file tells it"),
        ("energy_server", "as the file tells it"),
    ] {
        let explained = explained(metric, &file);
        let working = explained["example"]["working"].as_str().unwrap_or_else(|| panic!("{metric}: no example"));
        assert!(working.contains(words), "{metric}: {working}");
    }
}

#[test]
fn a_metric_has_the_same_names_everywhere() {
    let file = tests::fixture("results/exoscope_sessions_base.json");
    for name in ["generation", "generation_tps", "generation-tps", "Generation"] {
        let program = tests::exoscope().unwrap();
        let other = tests::fixture("results/exoscope_sessions_faster.json");
        let output = Command::new(program)
            .arg("compare")
            .args([&file, &other])
            .args(["--format", "json", "--fail-on", "never", "--metric", name])
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(explained(name, &file)["metric"], "generation_tps");
    }
}
