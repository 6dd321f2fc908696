//! asiai's words for how steady a measurement is.

use crate::summary::Stability;

/// The class of a coefficient of variation in percent.
///
/// The limits are asiai's: below 5 % stable, below 10 % variable, else unstable. Two things differ on purpose: asiai rounds
/// mean and deviation before it divides, and calls a single value stable. One value shows no deviation at all, so it is
/// [`Stability::Unknown`] here.
#[must_use]
pub fn classify(cv_percent: Option<f64>) -> Stability {
    match cv_percent {
        None => Stability::Unknown,
        Some(cv) if cv < 5.0 => Stability::Stable,
        Some(cv) if cv < 10.0 => Stability::Variable,
        Some(_) => Stability::Unstable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::spread::variation_percent;

    #[test]
    fn the_limits_belong_to_the_class_above() {
        assert_eq!(classify(Some(4.999)), Stability::Stable);
        assert_eq!(classify(Some(5.0)), Stability::Variable);
        assert_eq!(classify(Some(10.0)), Stability::Unstable);
        assert_eq!(classify(None), Stability::Unknown);
    }

    #[test]
    fn agrees_with_asiai_on_its_own_examples() {
        assert_eq!(classify(variation_percent(&[50.0, 52.0, 51.0, 49.0, 51.0])), Stability::Stable);
        assert_eq!(classify(variation_percent(&[95.0, 100.0, 105.0])), Stability::Variable);
        assert_eq!(classify(variation_percent(&[90.0, 100.0, 110.0])), Stability::Unstable);
    }
}
