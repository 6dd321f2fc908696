//! Hodges & Lehmann's shift without laying out all differences: two sides of ten thousand values have a hundred million.

/// The median of all `new − base`, to the last bit that of the sorted list. None where a side is empty.
pub(super) fn hodges_lehmann(base: &[f64], new: &[f64]) -> Option<f64> {
    let pairs = base.len().checked_mul(new.len()).filter(|pairs| *pairs > 0)?;
    let (mut base, mut new) = (base.to_vec(), new.to_vec());
    base.sort_by(f64::total_cmp);
    new.sort_by(f64::total_cmp);
    let upper = smallest_with(&base, &new, pairs / 2 + 1)?;
    if pairs % 2 == 1 {
        return Some(upper);
    }
    let lower = smallest_with(&base, &new, pairs / 2)?;
    // As the median of a list is made of its two middle values by linear interpolation.
    Some(lower + (upper - lower) * 0.5)
}

/// The smallest difference that `rank` differences do not exceed, found by halving the doubles in their order. Each step
/// costs one walk along both sorted sides.
fn smallest_with(base: &[f64], new: &[f64], rank: usize) -> Option<f64> {
    let mut low = ordered(new.first()? - base.last()?);
    let mut high = ordered(new.last()? - base.first()?);
    while low < high {
        let middle = low + ((i128::from(high) - i128::from(low)) / 2) as i64;
        if at_most(base, new, from_ordered(middle)) >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(from_ordered(low))
}

/// How many differences are at most `limit`. A larger base allows a larger new value, so the walk never turns back.
fn at_most(base: &[f64], new: &[f64], limit: f64) -> usize {
    let mut place = 0;
    base.iter()
        .map(|base| {
            while place < new.len() && new[place] - base <= limit {
                place += 1;
            }
            place
        })
        .sum()
}

/// A double as a whole number that sorts as the double does; −0 is 0.
fn ordered(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits() as i64;
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

fn from_ordered(order: i64) -> f64 {
    let bits = if order < 0 { i64::MIN.wrapping_sub(order) } else { order };
    f64::from_bits(bits as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::difference;

    #[test]
    fn it_is_the_median_of_the_list_of_all_differences() {
        let values = |count: usize, seed: u64| -> Vec<f64> {
            (0..count as u64).map(|place| ((place * 2_654_435_761 + seed * 97) % 1009) as f64 / 100.0 - 5.0).collect()
        };
        for (of_base, of_new) in [(1, 1), (2, 3), (7, 5), (40, 33), (4, 4)] {
            let (base, new) = (values(of_base, 3), values(of_new, 11));
            let (found, wanted) = (hodges_lehmann(&base, &new), difference::hodges_lehmann(&base, &new));
            let (found, wanted) = (found.unwrap(), wanted.unwrap());
            assert!((found - wanted).abs() <= 1e-15, "{found} and {wanted}");
        }
        assert_eq!(hodges_lehmann(&[], &[1.0]), None);
    }

    #[test]
    fn the_order_of_doubles_is_kept() {
        let values = [f64::NEG_INFINITY, -1e300, -1.0, -1e-320, 0.0, 1e-320, 1.0, 1e300, f64::INFINITY];
        assert!(values.map(ordered).is_sorted());
        assert_eq!(values.map(|value| from_ordered(ordered(value))), values);
    }
}
