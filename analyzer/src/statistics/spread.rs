//! Location and spread of one group of values.

use super::quantile::median;

/// Arithmetic mean; None for no values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// Sum of the squared deviations from the mean, in two passes: the one-pass formula loses every digit where the spread is
/// small beside the mean. 0 for fewer than two values.
#[must_use]
pub fn squared_deviations(values: &[f64]) -> f64 {
    mean(values).map_or(0.0, |mean| values.iter().map(|value| (value - mean) * (value - mean)).sum())
}

/// Sample variance (n − 1 in the denominator, Bessel); None for fewer than two values.
#[must_use]
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 { None } else { Some(squared_deviations(values) / (values.len() - 1) as f64) }
}

/// Sample standard deviation: the root of [`variance`].
#[must_use]
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// Coefficient of variation in percent: standard deviation / |mean|. None for fewer than two values or a mean of 0.
#[must_use]
pub fn variation_percent(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let deviation = standard_deviation(values)?;
    if mean == 0.0 { None } else { Some(100.0 * deviation / mean.abs()) }
}

/// Geometric mean; None for no values or where one is not positive.
#[must_use]
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    logarithms(values).and_then(|logarithms| mean(&logarithms)).map(f64::exp)
}

/// Natural logarithms; None where a value is not positive.
#[must_use]
pub fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().map(|value| (*value > 0.0).then(|| libm::log(*value))).collect()
}

/// Median absolute deviation from the median, unscaled (for normal values it is 0.6745 of the standard deviation). None for
/// no values.
#[must_use]
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    median(&values.iter().map(|value| (value - center).abs()).collect::<Vec<_>>())
}

/// Mean absolute deviation from the median; None for no values.
#[must_use]
pub fn mean_absolute_deviation(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    mean(&values.iter().map(|value| (value - center).abs()).collect::<Vec<_>>())
}
