//! Where a series changes its level: deterministic binary segmentation, so that the same archive gives the same answer.

use crate::statistics::{interval, spread};

/// No segment is shorter: two values have no level that a third could contradict.
const SHORTEST: usize = 3;

/// A split must be this sure, after a correction for having looked at every place.
const SURE: f64 = 0.001;

/// Starts of the segments of a series of logarithms, the first always 0.
///
/// The place with the largest t between the values before and after is split where its p, times the number of places looked
/// at (Bonferroni), is below 0.1 %, and both parts are looked at again.
pub(super) fn starts(values: &[f64]) -> Vec<usize> {
    let mut starts = vec![0];
    split(values, 0, &mut starts);
    starts.sort_unstable();
    starts
}

fn split(values: &[f64], offset: usize, starts: &mut Vec<usize>) {
    let count = values.len();
    if count < 2 * SHORTEST {
        return;
    }
    let places = SHORTEST..=count - SHORTEST;
    let looked_at = places.clone().count() as f64;
    let steps: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
    let of_steps = steps / (2.0 * (count - 1) as f64);
    let best = places
        .filter_map(|place| Some((place, p(&values[..place], &values[place..], of_steps)?)))
        .reduce(|best, next| if next.1 < best.1 { next } else { best });
    let Some((place, p)) = best else { return };
    if p * looked_at < SURE {
        starts.push(offset + place);
        split(&values[..place], offset, starts);
        split(&values[place..], offset + place, starts);
    }
}

/// Two-sided p that both parts have one level, by Student's t. The variance is the smaller one of that around the two levels
/// and that of the steps from value to value (von Neumann): a level that goes and comes back hides in the first.
fn p(before: &[f64], after: &[f64], of_steps: f64) -> Option<f64> {
    let freedom = (before.len() + after.len()).checked_sub(2)? as f64;
    let of_levels = (spread::squared_deviations(before) + spread::squared_deviations(after)) / freedom;
    let variance = of_levels.min(of_steps);
    let step = spread::mean(after)? - spread::mean(before)?;
    let error = (variance * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
    if error == 0.0 {
        return Some(if step == 0.0 { 1.0 } else { 0.0 });
    }
    interval::two_sided_p(step / error, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_where_it_is_and_noise_has_none() {
        let noise = |place: usize| ((place * 37 + 11) % 17) as f64 / 17.0 * 0.01;
        let steady: Vec<f64> = (0..30).map(noise).collect();
        assert_eq!(starts(&steady), [0]);
        let stepped: Vec<f64> = (0..30).map(|place| noise(place) - if place >= 12 { 0.05 } else { 0.0 }).collect();
        assert_eq!(starts(&stepped), [0, 12]);
        let twice: Vec<f64> =
            (0..30).map(|place| noise(place) - if (10..20).contains(&place) { 0.05 } else { 0.0 }).collect();
        assert_eq!(starts(&twice), [0, 10, 20]);
        assert_eq!(starts(&[1.0, 2.0]), [0]);
    }
}
