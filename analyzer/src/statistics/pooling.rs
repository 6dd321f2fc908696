//! One deviation for several groups, two ways that answer two questions.

use super::difference::pooled;
use super::spread::{squared_deviations, variance};

/// The deviation inside groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pooled {
    /// Root of the plain mean of the groups' variances: asiai's. Each group counts once, however few its values.
    pub unweighted: f64,
    /// Root of the squared deviations over the degrees of freedom: the textbook's. Each value counts once.
    pub weighted: f64,
    /// Degrees of freedom: Σ (n − 1).
    pub freedom: u64,
    /// Groups of two or more values; the others have no deviation.
    pub groups: u64,
}

/// Pools the deviations of groups; None where no group has two values.
#[must_use]
pub fn pooled_deviation<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Option<Pooled> {
    let groups: Vec<&[f64]> = groups.into_iter().filter(|values| values.len() > 1).collect();
    let parts: Vec<(f64, usize)> = groups.iter().map(|values| (squared_deviations(values), values.len())).collect();
    let weighted = pooled(&parts)?;
    let sum: f64 = groups.iter().filter_map(|values| variance(values)).sum();
    Some(Pooled {
        unweighted: (sum / groups.len() as f64).sqrt(),
        weighted: weighted.value.sqrt(),
        freedom: weighted.freedom as u64,
        groups: groups.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_differ_where_groups_do() {
        let groups: [&[f64]; 3] = [&[50.0, 52.0, 51.0], &[40.0, 44.0], &[7.0]];
        let found = pooled_deviation(groups).unwrap();
        // asiai fact: 2.12 by its own way, 1.83 by the textbook's.
        assert_eq!(format!("{:.2} {:.2}", found.unweighted, found.weighted), "2.12 1.83");
        assert_eq!((found.freedom, found.groups), (3, 2));
        assert_eq!(pooled_deviation([&[1.0][..]]), None);
    }
}
