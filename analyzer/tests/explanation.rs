//! What a reader of an explanation relies on: that its numbers are those of the report.

use analyzer::explanation::{explain, explain_all};
use analyzer::import::{self, Loaded};
use analyzer::metric::Metric;

fn loaded(path: &str) -> Loaded {
    #[allow(clippy::disallowed_methods)]
    let bytes = std::fs::read(format!("{}/../fixtures/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    import::load(path, &bytes).unwrap()
}

#[test]
fn the_built_in_example_works_every_metric_through_with_the_number_of_the_report() {
    let loaded = loaded("explain/example.json");
    let report = analyzer::summary::report(&loaded).unwrap();
    let all = explain_all(&loaded).unwrap();
    assert_eq!(all.iter().map(|found| found.metric).collect::<Vec<_>>(), Metric::ALL);
    // Told by the file, or integrals over readings.
    let told = [
        Metric::Elapsed,
        Metric::Connect,
        Metric::EnergyServer,
        Metric::EnergyServerPrefill,
        Metric::EnergyServerDecode,
        Metric::PeakMemory,
    ];
    for found in all {
        // Another instrument's readings are laid over a run, and the example's file has none.
        if found.metric == Metric::EnergyOverlay {
            assert!(found.example.is_none());
            continue;
        }
        let example = found.example.unwrap_or_else(|| panic!("{:?} has no example", found.metric));
        assert_eq!(example.working == "as the file tells it", told.contains(&found.metric), "{:?}", found.metric);
        let mut summaries = report.cells.iter().flat_map(|cell| &cell.metrics);
        let reported = summaries.find(|summary| summary.metric == found.metric).unwrap().values[0];
        assert_eq!(example.result, reported, "{:?}", found.metric);
        assert!(!example.working.contains('{'), "{}", example.working);
    }
}

#[test]
fn the_working_shows_the_inputs_in_the_formula() {
    let found = explain(Metric::Tpot, &loaded("explain/example.json")).unwrap();
    let example = found.example.unwrap();
    assert_eq!(example.working, "(61.692 s − 47.367 s) / (384 − 1)", "as many digits as the result needs");
    assert_eq!((example.inputs[2].name.as_str(), example.inputs[2].value), ("generated tokens", 384.0));
}

#[test]
fn the_energy_of_one_batch_of_three_is_no_mean() {
    // Two of the three batches are too short for an energy; the third's stands alone.
    let found = explain(Metric::Energy, &loaded("results/exoscope_simulated_base.json")).unwrap();
    let working = found.example.unwrap().working;
    assert!(working.starts_with("trapezoids over") && !working.contains("and so on"), "{working}");
}

#[test]
fn a_file_without_the_metric_still_has_the_words() {
    let found = explain(Metric::Energy, &loaded("results/f1_bare_list.json")).unwrap();
    assert!(found.example.is_none() && found.formula.contains("trapezoid"));
}
