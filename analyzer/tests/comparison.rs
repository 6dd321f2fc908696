//! What a reader relies on in a comparison, on made-up files.

use analyzer::comparison::{self, Comparison, MetricComparison, Options, Verdict};
use analyzer::import::{self, Loaded};
use analyzer::metric::Metric;
use proptest::prelude::*;
use serde_json::{Value, json};

fn fixture(name: &str) -> Loaded {
    let path = format!("{}/../fixtures/results/{name}", env!("CARGO_MANIFEST_DIR"));
    #[allow(clippy::disallowed_methods)]
    let bytes = std::fs::read(path).unwrap();
    import::load(name, &bytes).unwrap()
}

/// A cell's requests: prompt tokens, prefill rates, decode rates.
type Cell<'a> = (u64, &'a [f64], &'a [f64]);

/// exo's file of these cells at concurrency 1, one session.
fn file(name: &str, cells: &[Cell<'_>]) -> Loaded {
    let mut runs: Vec<Value> = Vec::new();
    for (pp, prefill, generation) in cells {
        for (repeat, (prompt_tps, generation_tps)) in prefill.iter().zip(*generation).enumerate() {
            runs.push(json!({
                "elapsed_s": *pp as f64 / prompt_tps + 127.0 / generation_tps,
                "output_text_preview": "", "power_usage": null, "model_id": "o/m", "instance_id": "i",
                "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing", "placement_nodes": 1,
                "pp_tokens": pp, "tg": 128, "repeat_index": repeat, "concurrency": 1,
                "stats": {"prompt_tps": prompt_tps, "generation_tps": generation_tps, "prompt_tokens": pp,
                    "generation_tokens": 128, "peak_memory_usage": {"inBytes": 7}, "prefix_cache_hit": "none"},
            }));
        }
    }
    import::load(name, json!({ "runs": runs }).to_string().as_bytes()).unwrap()
}

fn compare(base: &Loaded, new: &Loaded) -> Comparison {
    comparison::compare(base, new, &Options::default()).unwrap()
}

fn rows(comparison: &Comparison, metric: Metric) -> Vec<&MetricComparison> {
    comparison.cells.iter().flat_map(|cell| &cell.metrics).filter(|row| row.metric == metric).collect()
}

#[test]
fn a_slow_down_of_a_fifth_is_regressed_in_every_cell_with_three_repeats() {
    let found = compare(&fixture("exoscope_simulated_base.json"), &fixture("exoscope_simulated_slower.json"));
    assert_eq!(found.verdict, Verdict::Regressed);
    assert!(found.simulated);
    for metric in [Metric::PrefillTps, Metric::GenerationTps] {
        let rows = rows(&found, metric);
        assert_eq!(rows.len(), 4);
        for row in rows {
            assert_eq!(row.verdict, Some(Verdict::Regressed), "{row:?}");
            assert!(row.p_adjusted.unwrap() < 0.05);
            let [low, high] = row.interval_percent.unwrap();
            assert!(low < -22.0 && -22.0 < high, "the true change lies inside: {row:?}");
        }
    }
    assert!(
        found.headline.starts_with("New is 22.9 % slower at prefill (95 % intervals within "),
        "{}",
        found.headline
    );
    assert_eq!(found.residue.iter().map(|other| other.key.as_str()).collect::<Vec<_>>(), ["systems"]);
}

#[test]
fn the_same_again_is_neither_better_nor_worse_and_says_what_it_could_have_seen() {
    let found = compare(&fixture("exoscope_simulated_base.json"), &fixture("exoscope_simulated_same.json"));
    assert_eq!(found.verdict, Verdict::Undecided);
    let row = rows(&found, Metric::GenerationTps)[0];
    // Two sessions with an assumed 1.5 % each cannot be closer than 1.96 · 1.5 % · √2 = 4.2 %.
    assert!((4.2..5.0).contains(&row.resolves_percent.unwrap()), "{row:?}");
    assert!(row.warnings.iter().any(|warning| warning.contains("assumed, 1.5 %")), "{row:?}");
    assert!(found.headline.starts_with("No difference found in prefill in all 4 cells"), "{}", found.headline);
}

#[test]
fn several_sessions_measure_their_deviation_instead_of_assuming_it() {
    let found = compare(&fixture("exoscope_sessions_base.json"), &fixture("exoscope_sessions_faster.json"));
    assert_eq!(found.verdict, Verdict::Improved);
    for row in rows(&found, Metric::PrefillTps) {
        assert_eq!(row.base.as_ref().unwrap().sessions, 3);
        assert!(row.warnings.iter().all(|warning| !warning.contains("assumed")), "{row:?}");
    }
}

#[test]
fn without_repeats_the_deviation_of_sessions_stands_for_all_of_it() {
    let found = compare(&file("a", &[(512, &[400.0], &[27.0])]), &file("b", &[(512, &[200.0], &[13.0])]));
    let row = rows(&found, Metric::GenerationTps)[0];
    assert_eq!(row.verdict, Some(Verdict::Regressed));
    for said in ["single shot", "no repeats anywhere", "deviation between sessions assumed"] {
        assert!(row.warnings.iter().any(|warning| warning.starts_with(said)), "{said}: {row:?}");
    }
    // ±1.96 · 1.5 % · √2 around ln(13 / 27).
    let [low, high] = row.interval_percent.unwrap();
    assert!((low + 53.81).abs() < 0.01 && (high + 49.81).abs() < 0.01, "{low} {high}");
}

#[test]
fn one_file_with_repeats_lends_its_deviation_to_one_without_but_says_single_shot() {
    let base = file("a", &[(512, &[400.0, 402.0, 398.0], &[27.0, 27.1, 26.9])]);
    let found = compare(&base, &file("b", &[(512, &[200.0], &[13.0])]));
    let row = rows(&found, Metric::GenerationTps)[0];
    assert_eq!(row.verdict, Some(Verdict::Regressed));
    assert!(row.warnings.iter().any(|warning| warning.starts_with("single shot")), "{row:?}");
}

#[test]
fn a_rate_that_the_prefix_cache_copied_is_not_comparable() {
    let found = compare(&fixture("f3c.json"), &fixture("f3c.json"));
    let verdicts: Vec<Option<Verdict>> = rows(&found, Metric::PrefillTps).iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts[1..], [Some(Verdict::NotComparable), Some(Verdict::NotComparable)], "partial and exact");
    assert_ne!(verdicts[0], Some(Verdict::NotComparable), "cold");
}

#[test]
fn an_energy_that_only_one_file_can_tell_gets_no_verdict() {
    let short = fixture("exoscope_short_windows.json");
    assert!(rows(&compare(&short, &short), Metric::Energy).is_empty(), "too short on both sides: nothing to judge");
    let mut unread = fixture("exoscope_energy.json");
    unread.file.metric_series.clear();
    for row in rows(&compare(&fixture("exoscope_energy.json"), &unread), Metric::Energy) {
        assert_eq!(row.verdict, Some(Verdict::NotComparable));
        assert_eq!(row.warnings, ["only the base has it"]);
    }
}

#[test]
fn thousands_of_cells_are_compared() {
    let cells: Vec<(u64, Vec<f64>)> =
        (0..3000).map(|place| (64 + place, vec![400.0 + place as f64, 401.0 + place as f64])).collect();
    let cells: Vec<Cell<'_>> = cells.iter().map(|(pp, rates)| (*pp, &rates[..], &rates[..])).collect();
    let (base, new) = (file("a", &cells), file("b", &cells));
    let found = compare(&base, &new);
    assert_eq!(found.cells.len(), 3000);
    assert!(rows(&found, Metric::GenerationTps).iter().all(|row| row.change_percent == Some(0.0)));
    assert_eq!(analyzer::summary::report(&base).unwrap().cells.len(), 3000);

    // With nothing in common, too: each cell is looked for among those that can be near it, and not among all.
    let mut other = file("c", &cells);
    other.file.runs.iter_mut().for_each(|run| run.model_id = Some("o/other".into()));
    let found = compare(&base, &other);
    assert_eq!(found.cells.len(), 6000);
    let near = "only the base has it; the nearest cells differ in model o/m and o/other";
    assert_eq!(found.cells[0].metrics[0].warnings, [near]);
}

#[test]
fn cells_of_one_file_alone_are_shown_and_not_judged() {
    let steady: &[f64] = &[400.0, 401.0, 402.0];
    let base = file("a", &[(512, steady, steady), (1024, steady, steady)]);
    let found = compare(&base, &file("b", &[(2048, steady, steady), (512, steady, steady)]));
    let lengths: Vec<u64> = found.cells.iter().filter_map(|cell| cell.cell.pp_tokens).collect();
    assert_eq!(lengths, [512, 1024, 2048], "the base's order, then what only the new file has");
    let verdicts: Vec<_> = rows(&found, Metric::GenerationTps).iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts[1..], [Some(Verdict::NotComparable); 2]);
    assert_eq!(found.warnings, ["1 cell is only in the base", "1 cell is only in the new side"]);
}

#[test]
fn files_without_a_common_cell_say_so() {
    let steady: &[f64] = &[400.0, 401.0];
    let found = compare(&file("a", &[(512, steady, steady)]), &file("b", &[(2048, steady, steady)]));
    assert_eq!(found.verdict, Verdict::NotComparable);
    assert!(found.headline.starts_with("The two sides have no cell in common"), "{}", found.headline);
}

#[test]
fn other_definitions_are_not_comparable() {
    let base = fixture("exoscope_simulated_base.json");
    let mut new = base.clone();
    new.file.exoscope.as_mut().unwrap().method.definition_version = 2;
    let found = compare(&base, &new);
    assert_eq!(found.verdict, Verdict::NotComparable);
    assert!(found.warnings[0].contains("exo_bench 1 and exo_bench 2"), "{:?}", found.warnings);
}

#[test]
fn a_noisy_cell_is_judged_by_its_own_deviation() {
    let calm: &[f64] = &[400.0, 401.0, 402.0];
    let wild: &[f64] = &[300.0, 400.0, 520.0];
    let cells: [Cell<'_>; 3] = [(512, calm, calm), (1024, calm, calm), (2048, wild, wild)];
    let found = compare(&file("a", &cells), &file("b", &cells));
    let widths: Vec<f64> = rows(&found, Metric::GenerationTps).iter().filter_map(|row| row.resolves_percent).collect();
    assert!(widths[2] > 5.0 * widths[0], "{widths:?}");
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let base = fixture("f3.json");
    for delta_percent in [0.0, -1.0, f64::NAN, 5000.0] {
        let options = Options { delta_percent, ..Options::default() };
        assert!(comparison::compare(&base, &base, &options).is_err(), "{delta_percent}");
    }
}

fn turned(verdict: Option<Verdict>) -> Option<Verdict> {
    match verdict {
        Some(Verdict::Improved) => Some(Verdict::Regressed),
        Some(Verdict::Regressed) => Some(Verdict::Improved),
        other => other,
    }
}

fn rates() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(20.0..40.0_f64, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn swapping_the_files_turns_every_verdict_round_and_nothing_else(
        base in prop::collection::vec(rates(), 1..4), new in prop::collection::vec(rates(), 1..4)
    ) {
        let cells = |rates: &'_ [Vec<f64>]| -> Vec<(u64, Vec<f64>)> {
            rates.iter().enumerate().map(|(place, rates)| (512 << place, rates.clone())).collect()
        };
        let load = |name: &str, cells: &[(u64, Vec<f64>)]| {
            let cells: Vec<Cell<'_>> = cells.iter().map(|(pp, rates)| (*pp, &rates[..], &rates[..])).collect();
            file(name, &cells)
        };
        let (a, b) = (load("a", &cells(&base)), load("b", &cells(&new)));
        let (there, back) = (compare(&a, &b), compare(&b, &a));
        for cell in &there.cells {
            let other = back.cells.iter().find(|other| other.cell == cell.cell).unwrap();
            for (row, other) in cell.metrics.iter().zip(&other.metrics) {
                prop_assert_eq!(row.verdict, turned(other.verdict));
                prop_assert_eq!(row.p, other.p);
                prop_assert_eq!(row.p_adjusted, other.p_adjusted);
                prop_assert_eq!(row.resolves_percent, other.resolves_percent);
                prop_assert_eq!(&row.base, &other.new);
            }
        }
    }

    #[test]
    fn the_order_of_the_repeats_does_not_matter(rates in prop::collection::vec(20.0..40.0_f64, 2..6)) {
        let base = file("base", &[(512, &[30.0, 30.2, 29.9], &[30.0, 30.2, 29.9])]);
        let mut reversed = rates.clone();
        reversed.reverse();
        let one = compare(&base, &file("new", &[(512, &rates, &rates)]));
        let other = compare(&base, &file("new", &[(512, &reversed, &reversed)]));
        for (row, other) in one.cells[0].metrics.iter().zip(&other.cells[0].metrics) {
            prop_assert_eq!(row.verdict, other.verdict);
            let (p, q) = (row.p.unwrap_or(1.0), other.p.unwrap_or(1.0));
            prop_assert!((p - q).abs() <= 1e-9 * p.max(q) + 1e-15, "{p} and {q}");
        }
    }

    #[test]
    fn a_file_against_itself_is_never_better_or_worse(rates in prop::collection::vec(20.0..40.0_f64, 1..6)) {
        let same = file("same", &[(512, &rates, &rates)]);
        let found = compare(&same, &same);
        prop_assert!(!matches!(found.verdict, Verdict::Improved | Verdict::Regressed));
        prop_assert!(rows(&found, Metric::GenerationTps)[0].change_percent == Some(0.0));
    }
}
