//! The difference of two groups on the log scale, so that a rate and its time give the same answer.

use super::quantile::median;

/// A variance with the degrees of freedom behind it; infinite where it is assumed and not estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variance {
    /// The variance, of logarithms.
    pub value: f64,
    /// Degrees of freedom, above 0.
    pub freedom: f64,
}

/// Pools variances by their degrees of freedom: Σ squared deviations / Σ (n − 1). None where no group has two values.
///
/// `groups` are (sum of squared deviations, number of values).
#[must_use]
pub fn pooled(groups: &[(f64, usize)]) -> Option<Variance> {
    let freedom: usize = groups.iter().map(|(_, count)| count.saturating_sub(1)).sum();
    if freedom == 0 {
        return None;
    }
    let squares: f64 = groups.iter().map(|(squares, _)| squares).sum();
    Some(Variance { value: squares / freedom as f64, freedom: freedom as f64 })
}

/// Adds up the parts of a squared standard error, with the degrees of freedom of the sum after Satterthwaite (1946):
/// (Σ vᵢ)² / Σ (vᵢ² / νᵢ). A part of infinite freedom is known and takes none away. Infinite where all parts are.
#[must_use]
pub fn satterthwaite(parts: &[Variance]) -> Variance {
    let value: f64 = parts.iter().map(|part| part.value).sum();
    let denominator: f64 = parts.iter().map(|part| part.value * part.value / part.freedom).sum();
    Variance { value, freedom: if denominator > 0.0 { value * value / denominator } else { f64::INFINITY } }
}

/// Hodges & Lehmann's estimate of the shift: the median of all `new − base`. None where a side is empty.
#[must_use]
pub fn hodges_lehmann(base: &[f64], new: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = new.iter().flat_map(|new| base.iter().map(move |base| new - base)).collect();
    median(&differences)
}

/// A difference of logarithms as a change in percent of the base.
#[must_use]
pub fn percent(log_difference: f64) -> f64 {
    100.0 * libm::expm1(log_difference)
}

/// A change in percent as the difference of logarithms that it is. `percent` above −100.
#[must_use]
pub fn log_difference(percent: f64) -> f64 {
    libm::log1p(percent / 100.0)
}
