//! Values that stand apart from the rest: named with their distance, never taken out.

use super::quantile::median;
use super::spread::{mean_absolute_deviation, median_absolute_deviation};

/// How far apart is too far: Iglewicz & Hoaglin's limit (How to Detect and Handle Outliers, 1993). Of normal values one in
/// two thousand lies beyond it.
pub const LIMIT: f64 = 3.5;

/// Below this many values the median absolute deviation says too little: of four values one can hardly stand out.
pub const VALUES_NEEDED: usize = 5;

/// A value that stands apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Its place among the values.
    pub index: usize,
    /// The value.
    pub value: f64,
    /// Its modified z: the distance from the median in (robust) standard deviations, with its sign.
    pub modified_z: f64,
}

/// Makes the median absolute deviation of normal values their standard deviation: 1 / Φ⁻¹(¾).
const DEVIATIONS_PER_MEDIAN: f64 = 1.482_602_218_505_602;

/// Makes the mean absolute deviation of normal values their standard deviation: √(π / 2).
const DEVIATIONS_PER_MEAN: f64 = 1.253_314_137_315_500_1;

/// The values whose modified z is beyond [`LIMIT`], in their order.
///
/// z = (value − median) / (1.4826 · median absolute deviation). Where more than half of the values are equal that deviation
/// is 0, and 1.2533 · the mean absolute deviation from the median takes its place (Iglewicz & Hoaglin's own advice). None
/// below [`VALUES_NEEDED`] values, or where all are equal.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<Outlier> {
    let scale = median_absolute_deviation(values)
        .map(|deviation| deviation * DEVIATIONS_PER_MEDIAN)
        .filter(|scale| *scale > 0.0)
        .or_else(|| mean_absolute_deviation(values).map(|deviation| deviation * DEVIATIONS_PER_MEAN));
    let (Some(center), Some(scale)) = (median(values), scale) else { return Vec::new() };
    if values.len() < VALUES_NEEDED || scale <= 0.0 {
        return Vec::new();
    }
    let z = |value: f64| (value - center) / scale;
    let all = values.iter().enumerate().map(|(index, value)| Outlier { index, value: *value, modified_z: z(*value) });
    all.filter(|outlier| outlier.modified_z.abs() > LIMIT).collect()
}

/// Whether all of two or more values are the same: there is no spread to judge anything by.
#[must_use]
pub fn have_no_spread(values: &[f64]) -> bool {
    values.len() > 1 && values.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_stands_apart_is_named() {
        let found = outliers(&[50.0, 50.1, 50.2, 50.3, 50.4, 70.0]);
        assert_eq!(found.iter().map(|outlier| outlier.index).collect::<Vec<_>>(), [5]);
        assert!(outliers(&[50.0, 50.1, 50.2, 70.0]).is_empty(), "four values are too few");
    }

    #[test]
    fn where_most_are_equal_the_mean_deviation_is_the_scale() {
        let found = outliers(&[50.0, 50.0, 50.0, 50.0, 50.0, 50.0, 70.0]);
        assert_eq!(found.iter().map(|outlier| outlier.index).collect::<Vec<_>>(), [6]);
        assert!(outliers(&[50.0; 9]).is_empty() && have_no_spread(&[50.0; 9]));
        assert!(!have_no_spread(&[50.0]), "one value has no spread to lack");
    }
}
