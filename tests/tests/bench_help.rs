//! `exoscope bench --help` is what people meet first.

use std::process::Command;

/// Every flag of exo's own client.
const OFFICIAL: [&str; 28] = [
    "--host",
    "--port",
    "--model",
    "--force-download",
    "--min-nodes",
    "--max-nodes",
    "--instance-meta",
    "--sharding",
    "--skip-pipeline-jaccl",
    "--skip-tensor-ring",
    "--timeout",
    "--settle-timeout",
    "--danger-delete-downloads",
    "--reuse-instance",
    "--pp",
    "--tg",
    "--repeat",
    "--concurrency",
    "--warmup",
    "--json-out",
    "--stdout",
    "--dry-run",
    "--all-combinations",
    "--stream",
    "--no-system-metrics",
    "--metrics-interval",
    "--use-prefix-cache",
    "--help",
];

fn help(columns: &str) -> String {
    let output =
        Command::new(tests::exoscope().unwrap()).args(["bench", "--help"]).env("COLUMNS", columns).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_flag_of_exos_client_is_there_with_its_default() {
    let help = help("100");
    let flags: Vec<&str> =
        help.lines().filter_map(|line| line.split_whitespace().find(|w| w.starts_with("--"))).collect();
    let missing: Vec<&str> = OFFICIAL.into_iter().filter(|flag| !flags.contains(flag)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for default in ["localhost", "52415", "7200", "60", "4", "both", "bench/results.json"] {
        assert!(help.contains(&format!("[default: {default}]")) || help.contains(&format!("{default}]")), "{default}");
    }
    for variable in ["EXO_HOST", "EXO_PORT"] {
        assert!(help.contains(&format!("[env: {variable}=")), "{variable}");
    }
}

#[test]
fn no_line_is_wider_than_the_terminal_nor_broken_in_the_middle_of_a_paragraph() {
    let help = help("100");
    let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:#?}");
    // A paragraph that was written wider than the terminal leaves stumps of a word or two.
    let stumps: Vec<&str> = help
        .lines()
        .filter(|line| !line.starts_with(' ') && (1..12).contains(&line.trim().len()) && !line.ends_with(':'))
        .collect();
    assert!(stumps.is_empty(), "{stumps:#?}");
}

#[test]
fn the_last_of_a_flag_given_again_counts_as_with_exos_client() {
    let mut command = tests::measured::bench_at("127.0.0.1:1".parse().unwrap()).unwrap();
    let again =
        ["--model", "a", "--model", "m", "--pp", "8", "--pp", "0", "--tg", "2", "--repeat", "0", "--repeat", "1"];
    let output = command.args(again).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("--pp 0:"), "{said}");
}

#[test]
fn flags_may_be_shortened_as_with_exos_client() {
    let mut command = tests::measured::bench_at("127.0.0.1:1".parse().unwrap()).unwrap();
    let output = command.args(["--mod", "m", "--pp", "8", "--tg", "2", "--conc", "0"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("--concurrency 0:"), "{said}");
}
