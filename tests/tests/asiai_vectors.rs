//! asiai's own answers: where its rule is kept under its name, it must give its numbers.

use analyzer::stability::classify;
use analyzer::statistics::{pooling, quantile, trend};
use analyzer::summary::Stability;
use serde_json::Value;

fn vectors() -> Option<Value> {
    tests::shared("cases/asiai-vectors.json").map(|path| tests::measured::read_json(&path).unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn round(value: f64, decimals: i32) -> f64 {
    let factor = 10f64.powi(decimals);
    (value * factor).round() / factor
}

#[test]
fn the_unweighted_pooled_deviation_and_the_percentiles() {
    let Some(vectors) = vectors() else { return };
    for case in vectors["aggregate"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let mut groups: std::collections::BTreeMap<&str, Vec<f64>> = std::collections::BTreeMap::new();
        let mut all = Vec::new();
        for row in case["rows"].as_array().unwrap() {
            let value = row[1].as_f64().unwrap();
            // A speed of 0 is no measurement, with asiai and here.
            if value > 0.0 {
                groups.entry(row[0].as_str().unwrap()).or_default().push(value);
                all.push(value);
            }
        }
        let out = &case["out"];
        let pooled = pooling::pooled_deviation(groups.values().map(Vec::as_slice));
        // asiai writes 0 where there is none; here it is absent.
        let found = pooled.map_or(0.0, |pooled| round(pooled.unweighted, 2));
        assert_eq!(found, out["std_dev_tok_s"].as_f64().unwrap(), "{name}");
        for (p, key) in [(0.5, "p50_tok_s"), (0.9, "p90_tok_s"), (0.99, "p99_tok_s")] {
            // Unrounded against rounded to one decimal: Python rounds a half to the even digit.
            let found = quantile::quantile(&all, p).unwrap();
            assert!((found - out[key].as_f64().unwrap()).abs() < 0.05 + 1e-9, "{name}, {key}: {found}");
        }
    }
    for case in vectors["percentile"].as_array().unwrap() {
        let values = numbers(&case["v"]);
        let found = quantile::quantile(&values, case["p"].as_f64().unwrap() / 100.0);
        match found {
            Some(found) => assert!((found - case["out"].as_f64().unwrap()).abs() < 1e-9, "{case}"),
            None => assert_eq!(case["out"].as_f64(), Some(0.0), "asiai has 0 for nothing: {case}"),
        }
    }
}

#[test]
fn the_drift() {
    let Some(vectors) = vectors() else { return };
    for case in vectors["drift"].as_array().unwrap() {
        let found = trend::steady_change_percent(&numbers(&case["values"])).is_some_and(|change| change <= -5.0);
        assert_eq!(Some(found), case["warn"].as_bool(), "{case}");
    }
}

#[test]
fn the_words_for_the_variation() {
    let Some(vectors) = vectors() else { return };
    for case in vectors["stability"].as_array().unwrap() {
        let (mean, sd) = (case["avg"].as_f64().unwrap(), case["sd"].as_f64().unwrap());
        let found = if mean > 0.0 { classify(Some(100.0 * sd / mean)) } else { Stability::Unknown };
        // Without a mean asiai says stable; there is nothing to call so.
        let expected = if mean > 0.0 { case["out"].as_str().unwrap() } else { analyzer::units::ABSENT };
        assert_eq!(found.word(), expected, "{case}");
    }
}
