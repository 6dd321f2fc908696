//! What is told of one cell against numbers of NumPy and SciPy (`fixtures/reference/cells.py` makes them), to 1e-9.

use analyzer::statistics::difference::satterthwaite;
use analyzer::statistics::{interval, ordered, outlier, pooling, segments, sessions, spread, tail, trend};
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/reference/cells.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn groups(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

#[track_caller]
fn assert_close(found: Option<f64>, expected: &Value, what: &str) {
    match (found, expected.as_f64()) {
        (None, None) => {}
        (Some(found), Some(expected)) => {
            assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found:e} instead of {expected:e}");
        }
        (found, expected) => panic!("{what}: {found:?} instead of {expected:?}"),
    }
}

pub(crate) fn each_sample() {
    for (name, sample) in reference()["samples"].as_object().unwrap() {
        let values = numbers(&sample["values"]);
        assert_close(spread::median_absolute_deviation(&values), &sample["mad"], name);
        let sorted = analyzer::statistics::quantile::sorted(&values);
        for pair in sample["percentiles"].as_array().unwrap() {
            let percent = pair[0].as_f64().unwrap();
            let found = tail::percentile(&sorted, percent).map(|(value, _)| value);
            assert_close(found, &pair[1], &format!("{name}, p{percent}"));
        }
        let expected = &sample["median_interval"];
        let found = ordered::median_interval(&values, 0.95);
        assert_close(found.map(|found| found.low), &expected[0], &format!("{name}, median, low"));
        assert_close(found.map(|found| found.high), &expected[1], &format!("{name}, median, high"));
        assert_close(found.map(|found| found.coverage), &expected[2], &format!("{name}, median, coverage"));
        let found = outlier::outliers(&values);
        let expected = sample["outliers"].as_array().unwrap();
        assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.index as u64, expected[0].as_u64().unwrap(), "{name}");
            assert_close(Some(found.modified_z), &expected[1], &format!("{name}, outlier"));
        }
        let found = trend::kendall(&values);
        let expected = &sample["kendall"];
        assert_eq!(found.map(|found| found.exact), expected["exact"].as_bool(), "{name}");
        assert_close(found.map(|found| found.tau), &expected["tau"], &format!("{name}, tau"));
        assert_close(found.map(|found| found.p), &expected["p"], &format!("{name}, p"));
        assert_close(trend::theil_sen(&values), &sample["theil_sen"], &format!("{name}, slope"));
    }
}

pub(crate) fn the_interval_of_the_median_of_many_values() {
    for row in reference()["binomial"].as_array().unwrap() {
        let (count, rank) = (row[0].as_u64().unwrap(), row[1].as_u64().unwrap());
        let values: Vec<f64> = (1..=count).map(|value| value as f64).collect();
        // Asked for exactly that coverage, a hair less, the interval ends at that rank.
        let coverage = 1.0 - row[2].as_f64().unwrap();
        let found = ordered::median_interval(&values, coverage - 1e-9).unwrap();
        assert_eq!(found.low, rank as f64, "{count}");
        assert_close(Some(found.coverage), &Value::from(coverage), &format!("coverage of {count}"));
    }
}

pub(crate) fn the_mean_over_sessions() {
    for case in reference()["sure_mean"].as_array().unwrap() {
        let found = sessions::sure_mean(&groups(&case["sessions"])).unwrap();
        assert_close(Some(found.mean), &case["mean"], "mean");
        let [low, high] = found.interval(0.95).unwrap();
        assert_close(Some(low), &case["interval"][0], &format!("low of {found:?}"));
        assert_close(Some(high), &case["interval"][1], &format!("high of {found:?}"));
    }
}

pub(crate) fn the_ratio_of_two_sides() {
    let case = &reference()["ratio"];
    let side = |name: &str| sessions::sure_mean(&[spread::logarithms(&numbers(&case[name])).unwrap()]).unwrap();
    let (base, new) = (side("base"), side("new"));
    let error = satterthwaite(&[base.error, new.error]);
    let half = interval::critical_value(0.95, error.freedom).unwrap() * error.value.sqrt();
    let shift = new.mean - base.mean;
    assert_close(Some(shift.exp()), &case["ratio"], "ratio");
    assert_close(Some((shift - half).exp()), &case["interval"][0], "low");
    assert_close(Some((shift + half).exp()), &case["interval"][1], "high");
}

pub(crate) fn the_pooled_deviation_both_ways() {
    let case = &reference()["pooled"];
    let groups = groups(&case["groups"]);
    let found = pooling::pooled_deviation(groups.iter().map(Vec::as_slice)).unwrap();
    assert_close(Some(found.unweighted), &case["unweighted"], "unweighted");
    assert_close(Some(found.weighted), &case["weighted"], "weighted");
    assert_eq!(found.freedom, case["freedom"].as_u64().unwrap());
}

pub(crate) fn the_steps_of_a_series() {
    let case = &reference()["steps"];
    let places = segments::steps(&numbers(&case["values"]), segments::BATCHES, case["smallest"].as_f64().unwrap());
    let expected: Vec<u64> = case["places"].as_array().unwrap().iter().map(|place| place.as_u64().unwrap()).collect();
    assert_eq!(places.iter().map(|place| *place as u64).collect::<Vec<_>>(), expected);
}
