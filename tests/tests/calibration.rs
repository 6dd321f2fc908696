//! Proof that verdicts keep their word, by simulation: runs of the same thing are called different at most one time in
//! twenty, intervals hold the truth nineteen times in twenty, and changes are caught as often as the method promises.
//!
//! `just calibration` runs it long and prints each figure beside the one that the method was chosen by.

use analyzer::comparison::Options;
use tests::trials::{Design, Outcome, run};

/// Few enough for every run of the tests; `just calibration` asks for thousands.
fn trials() -> usize {
    std::env::var("EXOSCOPE_TRIALS").ok().and_then(|count| count.parse().ok()).unwrap_or(1000)
}

const SEED: u64 = 20_260_731;

/// Three deviations of a share of `count` trials around `share`, so that chance fails no test.
fn slack(share: f64, count: usize) -> f64 {
    3.0 * (share * (1.0 - share) / count as f64).sqrt()
}

fn floor(percent: f64) -> Options {
    Options { floor_percent: Some(percent), ..Options::default() }
}

/// One cell, one session a side: the hardest case, and the one of the method's first table.
fn one_cell(repeats: usize, within: f64, between: f64, options: Options) -> Design {
    Design {
        cells: 1,
        sessions: 1,
        new_sessions: None,
        repeats,
        within,
        between,
        shared: false,
        options,
        calibrated_by: 0,
    }
}

/// Eight cells with a deviation of 1 % within and between sessions.
fn eight_cells(sessions: usize, repeats: usize, shared: bool, options: Options) -> Design {
    Design {
        cells: 8,
        sessions,
        new_sessions: None,
        repeats,
        within: 1.0,
        between: 1.0,
        shared,
        options,
        calibrated_by: 0,
    }
}

/// What the method's own simulation found of a design, percent, in words; "–" where it has no such figure.
#[derive(Clone, Copy)]
struct Sheet {
    small_p: &'static str,
    verdict: &'static str,
    coverage: &'static str,
}

const UNTOLD: Sheet = Sheet { small_p: "–", verdict: "–", coverage: "–" };

/// Every design in which the comparison is told the truth about sessions, or measures it.
fn honest() -> Vec<(String, Design, Sheet)> {
    let mut designs = Vec::new();
    let evidence = [(3, "3.7", "96.1", "4.8"), (5, "4.2", "95.6", "5.6"), (10, "5.3", "95.3", "5.0")];
    for (repeats, quiet_p, coverage, known_p) in evidence {
        let quiet = one_cell(repeats, 1.0, 0.0, floor(0.0));
        let sheet = Sheet { small_p: quiet_p, coverage, ..UNTOLD };
        designs.push((format!("1 cell, 1 × {repeats}, within 1, between 0"), quiet, sheet));
        let known = one_cell(repeats, 0.5, 1.0, floor(1.0));
        let sheet = Sheet { small_p: known_p, ..UNTOLD };
        designs.push((format!("1 cell, 1 × {repeats}, within 0.5, between 1, known"), known, sheet));
    }
    let usual = Options::default;
    designs.push(("8 cells, 3 × 3".into(), eight_cells(3, 3, false, usual()), Sheet { verdict: "0.1", ..UNTOLD }));
    designs.push(("8 cells, 3 × 3, slow sessions slow throughout".into(), eight_cells(3, 3, true, usual()), UNTOLD));
    designs.push(("8 cells, 2 × 3".into(), eight_cells(2, 3, false, usual()), UNTOLD));
    designs.push(("8 cells, 2 × 3, slow sessions slow throughout".into(), eight_cells(2, 3, true, usual()), UNTOLD));
    let two = |between| Design { between, ..one_cell(3, 1.0, 0.0, Options::default()) };
    for between in [0.0, 1.0, 2.0] {
        let design = Design { sessions: 2, ..two(between) };
        designs.push((format!("1 cell, 2 × 3, within 1, between {between}"), design, UNTOLD));
    }
    for shared in [false, true] {
        let fate = if shared { ", slow sessions slow throughout" } else { "" };
        designs.push((format!("8 cells, 6 × 1{fate}"), eight_cells(6, 1, shared, usual()), UNTOLD));
    }
    let single = |floor| Design { repeats: 1, ..one_cell(1, 1.0, 1.0, floor) };
    designs.push(("1 cell, 6 × 1".into(), Design { sessions: 6, ..single(usual()) }, UNTOLD));
    designs.push(("1 cell, single shot, floor 1.5 assumed".into(), single(usual()), UNTOLD));
    designs.push(("8 cells, single shots, floor 1.5 assumed".into(), eight_cells(1, 1, false, usual()), UNTOLD));
    designs.push(("8 cells, 1 × 3, floor 1.5 assumed".into(), eight_cells(1, 3, false, usual()), UNTOLD));
    designs.push(("8 cells, 1 × 3, floor 2".into(), eight_cells(1, 3, false, floor(2.0)), UNTOLD));
    for (sessions, shared) in [(5, false), (5, true), (10, true)] {
        let design = Design { calibrated_by: sessions, ..eight_cells(1, 3, shared, usual()) };
        let fate = if shared { ", slow sessions slow throughout" } else { "" };
        designs.push((format!("8 cells, 1 × 3, calibrated by {sessions}{fate}"), design, UNTOLD));
    }
    let single = Design { calibrated_by: 5, ..eight_cells(1, 1, true, usual()) };
    designs.push(("8 cells, single shots, calibrated by 5 of one".into(), single, UNTOLD));
    let one = Design { calibrated_by: 5, ..one_cell(3, 1.0, 1.0, usual()) };
    designs.push(("1 cell, 1 × 3, calibrated by 5".into(), one, UNTOLD));
    let quiet = Design { calibrated_by: 5, ..one_cell(3, 2.0, 1.0, usual()) };
    designs.push(("1 cell, 1 × 3, within 2, calibrated by 5".into(), quiet, UNTOLD));
    let hard = |shared| Design { within: 0.3, between: 2.0, ..eight_cells(3, 3, shared, Options::default()) };
    designs.push(("8 cells, 3 × 3, within 0.3, between 2".into(), hard(false), Sheet { verdict: "1.3", ..UNTOLD }));
    designs.push(("the same, slow sessions slow throughout".into(), hard(true), UNTOLD));
    // The newest of an archive: one session against many, which say how much they differ.
    for between in [1.0, 3.0] {
        let design = Design { between, sessions: 6, new_sessions: Some(1), ..one_cell(3, 1.0, 0.0, usual()) };
        designs.push((format!("1 cell, 6 × 3 against 1 × 3, between {between}"), design, UNTOLD));
    }
    for shared in [false, true] {
        let fate = if shared { ", slow sessions slow throughout" } else { "" };
        let design = Design { between: 3.0, new_sessions: Some(1), ..eight_cells(12, 3, shared, usual()) };
        designs.push((format!("8 cells, 12 × 3 against 1 × 3, between 3{fate}"), design, UNTOLD));
    }
    for sessions in [2, 3, 4] {
        let design = Design { between: 5.0, sessions, new_sessions: Some(1), ..one_cell(3, 1.0, 0.0, usual()) };
        designs.push((format!("1 cell, {sessions} × 3 against 1 × 3, between 5"), design, UNTOLD));
    }
    let few = Design { new_sessions: Some(1), ..eight_cells(3, 3, true, usual()) };
    designs.push(("8 cells, 3 × 3 against 1 × 3, floor 1.5 assumed".into(), few, UNTOLD));
    designs
}

#[test]
fn runs_of_the_same_thing_are_called_different_at_most_one_time_in_twenty() {
    println!("\nruns of the same thing, {} pairs; percent", trials());
    println!(
        "{:56} {:>8} {:>6} {:>8} {:>6} {:>6} {:>9} {:>6} {:>11}",
        "design", "p < 5 %", "sheet", "verdict", "sheet", "same", "coverage", "sheet", "of geomean"
    );
    for (name, design, sheet) in honest() {
        let found = run(&design, 0, 0.0, trials(), SEED);
        let Outcome { small_p, false_verdicts, same, covered, covered_geomean, .. } = found;
        println!(
            "{name:56} {:8.1} {:>6} {:8.1} {:>6} {:6.1} {:9.1} {:>6} {:11.1}",
            100.0 * small_p,
            sheet.small_p,
            100.0 * false_verdicts,
            sheet.verdict,
            100.0 * same,
            100.0 * covered,
            sheet.coverage,
            100.0 * covered_geomean
        );
        assert!(false_verdicts <= 0.05, "{name}: {found:?}");
        assert!(found.false_geomean <= 0.05 + slack(0.05, trials()), "{name}: {found:?}");
        // Cells of one trial may share their session: only trials are independent.
        assert!(covered >= 0.95 - slack(0.95, trials()) - 0.01, "{name}: {found:?}");
        assert!(covered_geomean >= 0.95 - slack(0.95, trials()) - 0.01, "{name}: {found:?}");
    }
}

#[test]
fn changes_are_caught_as_often_as_the_method_promises() {
    let usual = Options::default;
    let known = |repeats| one_cell(repeats, 0.5, 1.0, Options { delta_percent: 1.0, ..floor(1.0) });
    // The last: what the sheet found, percent.
    let designs: [(&str, Design, usize, f64, f64); 9] = [
        ("1 cell, 1 × 3, within 0.5, between 1, known", known(3), 1, -5.0, 93.0),
        ("1 cell, 1 × 5, within 0.5, between 1, known", known(5), 1, -5.0, 94.0),
        ("1 cell, 1 × 10, within 0.5, between 1, known", known(10), 1, -5.0, 95.0),
        ("8 cells, 3 × 3", eight_cells(3, 3, false, usual()), 8, -5.0, 98.5),
        ("8 cells, 3 × 3", eight_cells(3, 3, false, usual()), 8, -3.0, 48.0),
        ("8 cells, 1 × 3, floor 1.5 assumed", eight_cells(1, 3, false, usual()), 8, -5.0, 52.0),
        ("8 cells, 1 × 3, floor 1.5 assumed", eight_cells(1, 3, false, usual()), 8, -8.0, 99.0),
        ("8 cells, 1 × 3, floor 2", eight_cells(1, 3, false, floor(2.0)), 8, -5.0, 14.0),
        ("8 cells, 1 × 3, floor 2", eight_cells(1, 3, false, floor(2.0)), 8, -8.0, 92.0),
    ];
    println!("\nall cells slower, {} pairs; percent", trials());
    println!("{:56} {:>7} {:>7} {:>6}", "design", "change", "caught", "sheet");
    for (name, design, changed, change, sheet) in designs {
        let found = run(&design, changed, change, trials(), SEED + 1);
        println!("{name:56} {change:7.1} {:7.1} {sheet:6.1}", 100.0 * found.caught);
        assert!(found.caught >= sheet / 100.0 - 0.03 - slack(sheet / 100.0, trials()), "{name} {change}: {found:?}");
    }
}

#[test]
fn most_cells_that_did_not_change_are_called_the_same_with_three_sessions_of_three() {
    let found = run(&eight_cells(3, 3, false, Options::default()), 0, 0.0, trials(), SEED + 2);
    println!("\n8 cells, 3 × 3: called the same {:.1} % (sheet 77)", 100.0 * found.same);
    assert!((0.70..0.90).contains(&found.same), "{found:?}");
}

#[test]
fn without_the_deviation_of_sessions_the_simulation_finds_the_lie() {
    println!("\nrepeats alone, as if sessions did not differ, {} pairs; percent", trials());
    for (repeats, sheet) in [(3, 42.9), (5, 61.9), (10, 74.4)] {
        let found = run(&one_cell(repeats, 0.5, 1.0, floor(0.0)), 0, 0.0, trials(), SEED + 3);
        println!("1 cell, 1 × {repeats}: p < 5 % in {:.1} (sheet {sheet}, by Welch)", 100.0 * found.small_p);
        assert!(found.small_p > 0.35, "a simulation that finds no lie proves no truth: {found:?}");
    }
    let found = run(&eight_cells(1, 3, false, floor(0.0)), 0, 0.0, trials(), SEED + 3);
    println!("8 cells, 1 × 3: false verdicts {:.1} (sheet 5.7)", 100.0 * found.false_verdicts);
    assert!(found.false_verdicts > 0.03, "{found:?}");
}
