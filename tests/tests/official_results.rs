//! `exoscope report` shows what exo's official client printed for its own results, to the printed digit.

use std::process::Command;

use serde_json::Value;

fn report(arguments: &[&str], file: &std::path::Path) -> String {
    let output = Command::new(tests::exoscope().unwrap()).arg("report").arg(file).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The figures of a console line, `name=value`, without energy: that server had no power source, and 0 J of no meter is no
/// energy.
fn figures(line: &str) -> Vec<&str> {
    line.split_whitespace().filter(|word| word.contains('=') && !word.contains("energy")).collect()
}

/// The lines of a console log that tell a result, in order, as lists of figures.
fn printed(log: &str) -> Vec<Vec<&str>> {
    log.lines()
        .filter(|line| line.contains("prompt_tps=") || line.contains("agg_gen_tps="))
        .map(|line| figures(line.split(" - ").last().unwrap_or(line)))
        .collect()
}

fn the_console_is_repeated(name: &str) {
    let Some(file) = tests::shared(&format!("captures/exo-results/{name}.json")) else { return };
    let log = std::fs::read_to_string(file.with_extension("log")).unwrap();
    let official = printed(&log);
    assert!(!official.is_empty(), "{name}: the log tells results");
    let ours = report(&[], &file);
    assert_eq!(printed(&ours), official, "{name}");
    let energy: Vec<&str> = ours.lines().filter(|line| line.to_lowercase().contains("energy")).collect();
    assert_eq!(energy.len(), 1, "{name}: energy is said to be absent, once\n{ours}");
    assert!(energy[0].trim().starts_with("Energy") && energy[0].contains("– ("), "{name}: {}", energy[0]);
}

#[test]
fn plain_answers() {
    the_console_is_repeated("r1_nonstream");
}

#[test]
fn plain_answers_with_the_prefix_cache() {
    the_console_is_repeated("r2_nonstream_cache");
}

#[test]
fn streams() {
    the_console_is_repeated("r3_stream");
}

#[test]
fn streams_with_the_prefix_cache() {
    the_console_is_repeated("r4_stream_cache");
}

#[test]
fn a_reused_instance() {
    the_console_is_repeated("r6_reuse");
}

#[test]
fn unrounded_figures_stand_under_the_names_of_their_definitions() {
    let Some(file) = tests::shared("captures/exo-results/r1_nonstream.json") else { return };
    let report: Value = serde_json::from_str(&report(&["--format", "json"], &file)).unwrap();
    let raw = tests::measured::read_json(&file).unwrap();
    let rates = |key: &str, concurrency: u64| -> Vec<f64> {
        let rows = raw["runs"].as_array().unwrap().iter().filter(|run| run["concurrency"] == concurrency);
        rows.map(|run| run["stats"][key].as_f64().unwrap()).collect()
    };
    for (place, concurrency) in [(0, 1), (1, 2)] {
        let console = &report["files"][0]["cells"][place]["exo_console"];
        let prompt = rates("prompt_tps", concurrency);
        let mean = prompt.iter().sum::<f64>() / prompt.len() as f64;
        let found = console["prompt_tps_mean"].as_f64().unwrap();
        assert!((found - mean).abs() <= 1e-12 * mean, "{found} {mean}");
        let largest = rates("generation_tps", concurrency).into_iter().fold(0.0, f64::max);
        assert_eq!(console["gen_tps_max_times_concurrency"].as_f64(), Some(largest * concurrency as f64));
    }
}

/// The one published file of January 2026: a bare list, concurrency not told. Its console line follows from exo's rules.
#[test]
fn the_published_bare_list() {
    let Some(file) = tests::shared("samples/exo/results_F1_bare-list.json") else { return };
    let found = printed_of(&file);
    let expected = "prompt_tps=117.79 gen_tps=85.50 prompt_tokens=129 gen_tokens=128 peak_memory=63.53GB";
    assert_eq!(found, [figures(expected)]);
}

/// The same shape with numbers of our own, so that this holds where the captures are not.
#[test]
fn a_bare_list_of_our_own() {
    let file = tests::fixture("results/f1_bare_list.json");
    let raw = tests::measured::read_json(&file).unwrap();
    let rows = raw.as_array().unwrap();
    let groups: std::collections::BTreeSet<String> =
        rows.iter().map(|row| format!("{} {} {}", row["instance_id"], row["pp_tokens"], row["tg"])).collect();
    let found = printed_of(&file);
    assert_eq!(found.len(), groups.len(), "a line per group");
    let first: Vec<&Value> = rows
        .iter()
        .filter(|row| {
            (&row["pp_tokens"], &row["tg"], &row["instance_id"])
                == (&rows[0]["pp_tokens"], &rows[0]["tg"], &rows[0]["instance_id"])
        })
        .collect();
    let rates = first.iter().map(|row| row["stats"]["generation_tps"].as_f64().unwrap());
    let fastest = rates.fold(0.0, f64::max);
    assert!(found[0].contains(&format!("gen_tps={fastest:.2}")), "{found:?} {fastest}");
}

fn printed_of(file: &std::path::Path) -> Vec<Vec<String>> {
    let text = report(&[], file);
    printed(&text).into_iter().map(|line| line.into_iter().map(str::to_owned).collect()).collect()
}
