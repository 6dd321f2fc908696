//! What goes wrong around a run: one sentence each, the right exit code, no panic.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Output};

use probe::simulate::Settings;
use tests::measured::{Bench, bench_at};

fn cluster() -> Bench {
    Bench::new(Settings { load_seconds: 0.0, decode_tps: 2000.0, ..Settings::default() }).unwrap()
}

/// The one sentence that an ended program left on stderr.
fn sentence(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("exoscope: ")).collect();
    assert_eq!(lines.len(), 1, "one sentence, not\n{said}");
    lines[0].trim_start_matches("exoscope: ").to_owned()
}

fn run(mut command: Command, code: i32) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    sentence(&output)
}

/// A file that may not grow any more ends most programs on the spot, with a signal that nobody sees.
#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_leaves_no_instance_behind() {
    let bench = Bench::new(Settings { load_seconds: 0.0, ..Settings::default() }).unwrap();
    let plan = "--model simulated-8b --pp 64 --tg 8 --repeat 12 --max-nodes 1 --metrics-interval 0.1";
    let command = bench.command(plan).unwrap();
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let limited = format!("ulimit -f 8; exec {}", words.join(" "));
    let output = std::process::Command::new("bash").args(["-c", &limited]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some_and(|code| code != 0), "{}: {said}", output.status);
    assert!(said.contains("journal"), "{said}");
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new());
}

#[test]
fn a_cluster_that_is_not_there() {
    // Bound and let go: nobody listens there now.
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = bench_at(SocketAddr::new(free.ip(), free.port())).unwrap();
    command.args(["--model", "m", "--pp", "64", "--tg", "8", "--json-out"]).arg(folder.path().join("r.json"));
    let said = run(command, 1);
    assert!(said.contains(&free.to_string()) && said.contains("refused"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn an_unknown_model_is_met_with_the_names_that_are_near() {
    let bench = cluster();
    let said = run(bench.command("--model simulated-8 --pp 64 --tg 8").unwrap(), 1);
    assert!(said.contains("simulated-8") && said.contains("simulated-8b"), "{said}");
}

#[test]
fn no_matching_placement_shows_what_the_server_said() {
    let bench = cluster();
    let said = run(bench.command("--model simulated-8b --pp 64 --tg 8 --min-nodes 3 --settle-timeout 0").unwrap(), 1);
    assert!(said.contains("placement") && said.contains("--min-nodes"), "{said}");
    let said = run(bench.command("--model simulated-400b --pp 64 --tg 8 --settle-timeout 0").unwrap(), 1);
    assert!(said.contains("No cycles found with sufficient memory"), "the server's own words: {said}");
}

#[test]
fn a_prompt_shorter_than_the_template() {
    let bench = cluster();
    let said = run(bench.command("--model simulated-8b --pp 4 --tg 8").unwrap(), 2);
    assert!(said.contains("4") && said.contains("template"), "{said}");
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new(), "said before anything was changed");
}

#[test]
fn a_size_that_the_chosen_atom_cannot_make() {
    let bench = cluster();
    let overhead = probe::workload::Tokenizer::built_in().unwrap().overhead();
    let said = run(bench.command(&format!("--model simulated-8b --pp {} --tg 8 --atom ab", overhead + 1)).unwrap(), 2);
    assert!(said.contains("atom") && said.contains("--atom"), "{said}");
}

#[test]
fn an_output_that_cannot_be_written_is_said_before_anything_is_measured() {
    let bench = cluster();
    let file = bench.folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let mut command = bench_at(bench.cluster.address).unwrap();
    command
        .args(["--model", "simulated-8b", "--pp", "64", "--tg", "8", "--max-nodes", "1", "--json-out"])
        .arg(file.join("results.json"));
    let said = run(command, 1);
    assert!(said.contains("a-file"), "{said}");
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_in_the_middle_of_a_run() {
    // A limit on the size of files refuses writes as a full disk does, and needs no root: 16 blocks of 1024 bytes.
    let bench = cluster();
    let command = bench.command("--model simulated-8b --pp 64 --tg 8 --repeat 200 --max-nodes 1").unwrap();
    let mut limited = Command::new("bash");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    let said = run(limited, 1);
    assert!(said.contains("journal") && said.contains("exoscope recover"), "{said}");
    assert_eq!(bench.instances().unwrap(), Vec::<String>::new(), "nothing is left on the cluster");

    let saved = bench.folder.path().join("saved.json");
    let mut recover = Command::new(tests::exoscope().unwrap());
    recover.arg("recover").arg(bench.journal()).arg("--output").arg(&saved);
    assert!(recover.output().unwrap().status.success());
    let file = tests::measured::read_json(&saved).unwrap();
    assert!(!file["runs"].as_array().unwrap().is_empty(), "what was written before is not lost");
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_nobody_could_read_stays_in_the_journal() {
    let bench = cluster();
    let mut command = bench_at(bench.cluster.address).unwrap();
    command.args(["--model", "simulated-8b", "--pp", "64", "--tg", "8", "--max-nodes", "1", "--stdout"]);
    command.env("TMPDIR", bench.folder.path()).stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let said = run(command, 1);
    assert!(said.contains("standard output") && said.contains("exoscope recover"), "{said}");
    let journals = std::fs::read_dir(bench.folder.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "journal"));
    assert_eq!(journals.count(), 1, "what was measured is not lost");
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_that_cannot_be_shown_does_not_undo_the_result_file() {
    let bench = cluster();
    let mut command = bench.command("--model simulated-8b --pp 64 --tg 8 --max-nodes 1").unwrap();
    let output = command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("is whole"), "{said}");
    assert!(bench.results().exists() && !bench.journal().exists());
}

#[test]
fn a_gate_does_not_pass_on_nothing() {
    let gate = |base: &str, new: &str, fail_on: &str| {
        let mut command = Command::new(tests::exoscope().unwrap());
        let file = |name: &str| tests::fixture(&format!("results/{name}.json"));
        command
            .arg("compare")
            .arg(file(base))
            .arg(file(new))
            .args(fail_on.split_whitespace())
            .output()
            .unwrap()
            .status
            .code()
    };
    let (base, slower, same) = ("exoscope_simulated_base", "exoscope_simulated_slower", "exoscope_simulated_same");
    for (new, fail_on, code) in [
        (slower, "", 1),
        (slower, "--fail-on-regression", 1),
        (slower, "--fail-on regressed", 1),
        (slower, "--fail-on never", 0),
        (same, "", 0),
        (same, "--fail-on undecided", 1),
        (same, "--fail-on undecided --delta 20 --delta-energy 20", 0),
        (base, "--fail-on never", 2),
        ("f3c", "", 2),
        ("f3c", "--fail-on never", 0),
        ("no_such_file", "--fail-on never", 2),
        (same, "--delta 0", 2),
        (same, "--calibration /no/such/file", 2),
    ] {
        assert_eq!(gate(base, new, fail_on), Some(code), "{new} {fail_on}");
    }
}

#[test]
fn the_journal_of_an_earlier_run_is_not_overwritten() {
    let bench = cluster();
    std::fs::write(bench.journal(), "").unwrap();
    let said = run(bench.command("--model simulated-8b --pp 64 --tg 8 --max-nodes 1").unwrap(), 1);
    assert!(said.contains("exoscope recover"), "{said}");
}

#[test]
fn wrong_numbers_on_the_command_line() {
    let bench = cluster();
    for (arguments, word) in [
        ("--model simulated-8b --pp 64 --tg 0", "tg"),
        ("--model simulated-8b --pp 64 --tg 8 --repeat 0", "repeat"),
        ("--model simulated-8b --pp 64 --tg 8 --concurrency 0", "concurrency"),
        ("--model simulated-8b --pp 64,64 --tg 8", "64"),
        ("--model simulated-8b --pp x --tg 8", "x"),
    ] {
        let output = bench.command(arguments).unwrap().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(word) && !said.contains("panicked"), "{arguments}: {said}");
    }
}
