//! The statistics against numbers of NumPy and SciPy (`fixtures/reference/make.py` makes them).

use analyzer::statistics::difference::{self, Variance};
use analyzer::statistics::{interval, multiplicity, power, quantile, spread};
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/reference/statistics.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_close(found: Option<f64>, expected: &Value, what: &str) {
    match (found, expected.as_f64()) {
        (None, None) => {}
        (Some(found), Some(expected)) => assert!(
            (found - expected).abs() <= 1e-12 * expected.abs().max(f64::MIN_POSITIVE) || found == expected,
            "{what}: {found:e} instead of {expected:e}"
        ),
        (found, expected) => panic!("{what}: {found:?} instead of {expected:?}"),
    }
}

pub(crate) fn quantiles_means_and_deviations() {
    for (name, sample) in reference()["spread"].as_object().unwrap() {
        let values = numbers(&sample["values"]);
        for pair in sample["quantiles"].as_array().unwrap() {
            let p = pair[0].as_f64().unwrap();
            assert_close(quantile::quantile(&values, p), &pair[1], &format!("{name}, quantile {p}"));
        }
        assert_close(spread::mean(&values), &sample["mean"], &format!("{name}, mean"));
        assert_close(spread::geometric_mean(&values), &sample["geomean"], &format!("{name}, geometric mean"));
        // Where mean and spread are nine digits apart, the deviation itself has only some seven digits to give.
        if name == "close" {
            let expected = sample["sd"].as_f64().unwrap();
            assert!((spread::standard_deviation(&values).unwrap() - expected).abs() < 1e-6 * expected);
        } else {
            assert_close(spread::standard_deviation(&values), &sample["sd"], &format!("{name}, deviation"));
            assert_close(spread::variation_percent(&values), &sample["cv_percent"], &format!("{name}, variation"));
        }
    }
}

pub(crate) fn student_and_normal() {
    let reference = reference();
    for row in reference["student"].as_array().unwrap() {
        let freedom = row["freedom"].as_f64().unwrap();
        let what = format!("t with {freedom}");
        assert_close(interval::critical_value(0.95, freedom), &row["critical_95"], &what);
        assert_close(interval::critical_value(0.99, freedom), &row["critical_99"], &what);
        for pair in row["p"].as_array().unwrap() {
            let t = pair[0].as_f64().unwrap();
            assert_close(interval::two_sided_p(t, freedom), &pair[1], &format!("{what}, p of {t}"));
            assert_close(interval::two_sided_p(-t, freedom), &pair[1], &format!("{what}, p of −{t}"));
        }
    }
    assert_close(interval::critical_value(0.95, f64::INFINITY), &reference["normal"]["critical_95"], "normal");
    for pair in reference["normal"]["p"].as_array().unwrap() {
        let z = pair[0].as_f64().unwrap();
        assert_close(interval::two_sided_p(z, f64::INFINITY), &pair[1], &format!("normal, p of {z}"));
    }
}

pub(crate) fn nothing_can_be_told_without_degrees_of_freedom() {
    assert_eq!(interval::critical_value(0.95, 0.0), None);
    assert_eq!(interval::critical_value(1.0, 3.0), None);
    assert_eq!(interval::two_sided_p(f64::NAN, 3.0), None);
}

pub(crate) fn welch_satterthwaite_and_hodges_lehmann() {
    let reference = &reference()["difference"];
    let (base, new) = (numbers(&reference["base"]), numbers(&reference["new"]));
    let part = |values: &[f64]| Variance {
        value: spread::variance(values).unwrap() / values.len() as f64,
        freedom: (values.len() - 1) as f64,
    };
    let error = difference::satterthwaite(&[part(&base), part(&new)]);
    let shift = spread::mean(&new).unwrap() - spread::mean(&base).unwrap();
    let t = shift / error.value.sqrt();
    assert_close(Some(error.freedom), &reference["welch"]["freedom"], "freedom");
    assert_close(Some(t), &reference["welch"]["t"], "t");
    assert_close(interval::two_sided_p(t, error.freedom), &reference["welch"]["p"], "p");
    let half = error.value.sqrt() * interval::critical_value(0.95, error.freedom).unwrap();
    assert_close(Some(shift - half), &reference["welch"]["interval"][0], "lower edge");
    assert_close(Some(shift + half), &reference["welch"]["interval"][1], "upper edge");
    assert_close(difference::hodges_lehmann(&base, &new), &reference["hodges_lehmann"], "Hodges–Lehmann");

    let pooled = difference::pooled(&[
        (spread::squared_deviations(&base), base.len()),
        (spread::squared_deviations(&new), new.len()),
    ])
    .unwrap();
    let t = shift / (pooled.value * (1.0 / base.len() as f64 + 1.0 / new.len() as f64)).sqrt();
    assert_close(Some(pooled.freedom), &reference["pooled"]["freedom"], "pooled freedom");
    assert_close(interval::two_sided_p(t, pooled.freedom), &reference["pooled"]["p"], "pooled p");
}

pub(crate) fn benjamini_hochberg() {
    let reference = &reference()["benjamini_hochberg"];
    let adjusted = multiplicity::benjamini_hochberg(&numbers(&reference["p"]));
    for (place, found) in adjusted.iter().enumerate() {
        assert_close(Some(*found), &reference["adjusted"][place], &format!("place {place}"));
    }
}

pub(crate) fn the_change_that_a_design_detects() {
    let reference: Value = serde_json::from_str(include_str!("../../../fixtures/reference/power.json")).unwrap();
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
    let (confidence, share) = (number(&reference, "confidence"), number(&reference, "power"));
    let cases = reference["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 36);
    for case in cases {
        let freedom = case["freedom"].as_f64().unwrap_or(f64::INFINITY);
        let found = power::detectable(confidence, share, freedom, number(case, "smallest")).unwrap();
        let expected = number(case, "detectable");
        assert!((found - expected).abs() <= 1e-9 * expected, "{case}: {found}");
    }
    assert_eq!(power::detectable(confidence, share, 0.0, 1.0), None);
    assert_eq!(power::detectable(confidence, 1.0, 4.0, 1.0), None);
}
