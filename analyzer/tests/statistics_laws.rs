//! Laws that the statistics of a cell keep for any numbers.

use analyzer::statistics::{ordered, outlier, segments, sessions, trend};
use proptest::prelude::*;

fn some(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.001..1e6_f64, count)
}

proptest! {
    #[test]
    fn the_interval_of_the_median_holds_it_and_is_blind_to_order(values in some(6..60)) {
        let found = ordered::median_interval(&values, 0.95).unwrap();
        let median = analyzer::statistics::quantile::median(&values).unwrap();
        prop_assert!(found.low <= median && median <= found.high && found.coverage >= 0.95);
        let mut reversed = values;
        reversed.reverse();
        prop_assert_eq!(ordered::median_interval(&reversed, 0.95), Some(found));
    }

    #[test]
    fn kendall_turns_round_with_the_series_and_does_not_see_the_scale(values in some(2..60)) {
        let found = trend::kendall(&values);
        let mut reversed = values.clone();
        reversed.reverse();
        let turned = trend::kendall(&reversed);
        prop_assert_eq!(turned.map(|turned| -turned.tau), found.map(|found| found.tau));
        prop_assert_eq!(turned.map(|turned| turned.p), found.map(|found| found.p));
        prop_assert!(found.is_none_or(|found| (0.0..=1.0).contains(&found.p) && found.tau.abs() <= 1.0 + 1e-12));
        let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
        prop_assert_eq!(trend::kendall(&doubled), found);
    }

    #[test]
    fn outliers_and_steps_do_not_see_the_scale(values in some(1..120)) {
        // A power of two scales without rounding.
        let scaled: Vec<f64> = values.iter().map(|value| value * 8.0).collect();
        let places = |values: &[f64]| outlier::outliers(values).iter().map(|found| found.index).collect::<Vec<_>>();
        prop_assert_eq!(places(&scaled), places(&values));
        let steps = segments::steps(&values, segments::BATCHES, 3.0);
        prop_assert_eq!(&segments::steps(&scaled, segments::BATCHES, 24.0), &steps);
        let ends: Vec<usize> = [0].into_iter().chain(steps).chain([values.len()]).collect();
        prop_assert!(ends.len() == 2 || ends.windows(2).all(|pair| pair[1] - pair[0] >= segments::BATCHES.shortest));
    }

    #[test]
    fn the_mean_of_one_session_is_within_its_interval(values in some(2..40)) {
        let found = sessions::sure_mean(&[values]).unwrap();
        let [low, high] = found.interval(0.95).unwrap();
        prop_assert!(low <= found.mean && found.mean <= high);
    }
}
