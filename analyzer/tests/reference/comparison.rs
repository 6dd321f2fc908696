//! The comparison against numbers made by NumPy and SciPy (fixtures/reference/comparison.py).

use analyzer::comparison::Options;
use analyzer::comparison::numbers::{Answer, Values, calibrate, compare, cross_check};
use analyzer::metric::Metric;
use serde_json::Value;

const METRIC: Metric = Metric::GenerationTps;

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/reference/comparison.json")).unwrap()
}

fn close(found: f64, wanted: &Value, what: &str) {
    let wanted = wanted.as_f64().unwrap();
    assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1e-3), "{what}: {found} and {wanted}");
}

fn cells(of: &Value) -> Vec<Values> {
    let side = |name: &str| -> Vec<Vec<Vec<f64>>> { serde_json::from_value(of[name].clone()).unwrap() };
    side("base").into_iter().zip(side("new")).map(|(base, new)| Values { base, new }).collect()
}

fn holds(found: &Answer, wanted: &Value, what: &str) {
    let [low, high] = found.interval_percent.unwrap();
    close(low, &wanted["interval_percent"][0], what);
    close(high, &wanted["interval_percent"][1], what);
    close(found.p.unwrap(), &wanted["p"], what);
}

pub(crate) fn intervals_and_p_are_those_of_scipy() {
    let reference = reference();
    for kind in ["one_session", "several_sessions"] {
        for case in reference[kind].as_array().unwrap() {
            let options = Options { floor_percent: case["floor_percent"].as_f64(), ..Options::default() };
            let (answers, whole) = compare(METRIC, &cells(case), &options);
            for (found, wanted) in answers.iter().zip(case["cells"].as_array().unwrap()) {
                holds(found, wanted, kind);
            }
            holds(&whole.unwrap(), &case["geomean"], "geomean");
        }
    }
}

pub(crate) fn a_calibration_is_that_of_numpy() {
    for case in reference()["calibrated"].as_array().unwrap() {
        let cells: Vec<Vec<Vec<f64>>> = serde_json::from_value(case["cells"].clone()).unwrap();
        let found = calibrate(METRIC, &cells).unwrap();
        close(found.within_percent.unwrap(), &case["within_percent"], "within");
        close(found.within_freedom.unwrap(), &case["within_freedom"], "its freedom");
        close(found.between_percent, &case["between_percent"], "between");
        close(found.between_freedom.unwrap(), &case["between_freedom"], "its freedom");
    }
}

pub(crate) fn the_permutation_test_deals_in_every_way() {
    for case in reference()["permuted"].as_array().unwrap() {
        let side = |name: &str| -> Vec<f64> { serde_json::from_value(case[name].clone()).unwrap() };
        let values = Values { base: vec![side("base")], new: vec![side("new")] };
        close(cross_check(&values).unwrap().p, &case["p"], "permutation");
    }
}
