//! Many tests at once: keeping the share of false finds down.

/// Adjusts p values by Benjamini & Hochberg (1995): rejecting those below q keeps the expected share of false finds below q.
///
/// Result in the order given; each at least its p and at most 1.
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; count];
    let mut smallest: f64 = 1.0;
    for (rank, place) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[*place] * count as f64 / (rank + 1) as f64);
        adjusted[*place] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_test_needs_no_adjustment() {
        assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
