//! Where a series steps from one level to another: of the batches of a cell, and of the files of an archive.

use super::interval;
use super::quantile::median;
use super::spread::{mean, squared_deviations};

/// How short a series and a level may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// A shorter series is not searched.
    pub fewest: usize,
    /// The fewest values of a level, 2 or more.
    pub shortest: usize,
}

/// For the batches of a cell. Each is a single look, and a machine has spells of wild ones: fewer than five are no level. In
/// a series below twenty the drift says what there is to say.
pub const BATCHES: Search = Search { fewest: 20, shortest: 5 };

/// For the files of an archive. Each is the mean of a whole run already, and an archive of a dozen is a long one: three
/// files are a level, since two have none that a third could contradict.
pub const FILES: Search = Search { fewest: 6, shortest: 3 };

/// A longer series is searched by the medians of as many runs of neighbours, so that the work stays in proportion to its
/// length; a step is then found to within one run.
pub const POINTS: usize = 4000;

/// A cut is believed when chance makes one as clear in fewer than this share of steady series, at any of the places that were
/// looked at (Bonferroni). Not the usual 5 %: every metric of every cell is searched.
const SURE: f64 = 0.005;

/// The places at which a new level begins, ascending; empty for a steady series.
///
/// Binary segmentation of levels with normal noise: the series is cut where the squares shrink most, and both parts again, as
/// long as Student's t of the cut is sure. Then neighbouring levels whose medians differ by less than `smallest` are put
/// together again, the closest first: means follow single wild values, medians do not. Fixed constants and no chance in it:
/// the same series gives the same places.
#[must_use]
pub fn steps(values: &[f64], search: Search, smallest: f64) -> Vec<usize> {
    if values.len() < search.fewest || values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let run = values.len().div_ceil(POINTS);
    if run == 1 {
        return merged(values, cuts(values, search.shortest), smallest);
    }
    let points: Vec<f64> = values.chunks(run).filter_map(median).collect();
    merged(&points, cuts(&points, search.shortest), smallest).into_iter().map(|place| place * run).collect()
}

/// Every cut that is sure, ascending.
fn cuts(values: &[f64], shortest: usize) -> Vec<usize> {
    // From the median, lest sums of large numbers eat the digits of small differences.
    let center = median(values).unwrap_or(0.0);
    let mut sums = Vec::with_capacity(values.len() + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for value in values {
        sum += value - center;
        sums.push(sum);
    }
    let mut places = Vec::new();
    let mut parts = vec![(0, values.len())];
    while let Some((from, to)) = parts.pop() {
        let Some(place) = best_cut(&sums, from, to, shortest) else { continue };
        let looked_at = (to - from + 1 - 2 * shortest) as f64;
        if p(&values[from..place], &values[place..to], &values[from..to]).is_some_and(|p| p * looked_at < SURE) {
            places.push(place);
            parts.extend([(from, place), (place, to)]);
        }
    }
    places.sort_unstable();
    places
}

/// The place at which cutting a part of the series makes the squares shrink most, the first of equal ones; it is also the one
/// with the largest t.
fn best_cut(sums: &[f64], from: usize, to: usize, shortest: usize) -> Option<usize> {
    let mean = |from: usize, to: usize| (sums[to] - sums[from]) / (to - from) as f64;
    let mut best: Option<(usize, f64)> = None;
    for place in from + shortest..=to.checked_sub(shortest)? {
        let step = mean(place, to) - mean(from, place);
        let gain = step * step * (place - from) as f64 * (to - place) as f64;
        if best.is_none_or(|(_, found)| gain > found) {
            best = Some((place, gain));
        }
    }
    best.map(|(place, _)| place)
}

/// Two-sided p that both parts have one level, by Student's t; None for equal values, of which nothing steps.
///
/// The variance is the smaller one of that around the two levels and that of the steps from neighbour to neighbour (von
/// Neumann): a level that goes and comes back hides in the first, and a single step shows in the second.
fn p(before: &[f64], after: &[f64], both: &[f64]) -> Option<f64> {
    let steps: f64 = both.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
    if steps == 0.0 {
        return None;
    }
    let freedom = both.len().checked_sub(2)? as f64;
    let of_levels = (squared_deviations(before) + squared_deviations(after)) / freedom;
    let variance = of_levels.min(steps / (2.0 * (both.len() - 1) as f64));
    let step = mean(after)? - mean(before)?;
    let error = (variance * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
    if error == 0.0 {
        return Some(if step == 0.0 { 1.0 } else { 0.0 });
    }
    interval::two_sided_p(step / error, freedom)
}

/// Takes out the steps between levels that are too close, the smallest step first.
fn merged(values: &[f64], mut places: Vec<usize>, smallest: f64) -> Vec<usize> {
    let mut levels = levels(values, &places);
    loop {
        let steps = levels.windows(2).map(|pair| (pair[1] - pair[0]).abs()).enumerate();
        match steps.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((place, step)) if step < smallest => {
                places.remove(place);
                levels.remove(place + 1);
                let from = if place == 0 { 0 } else { places[place - 1] };
                let to = places.get(place).copied().unwrap_or(values.len());
                levels[place] = median(&values[from..to]).unwrap_or(levels[place]);
            }
            _ => return places,
        }
    }
}

/// The median of each level.
#[must_use]
pub fn levels(values: &[f64], places: &[usize]) -> Vec<f64> {
    let ends = places.iter().copied().chain([values.len()]);
    let starts = [0].into_iter().chain(places.iter().copied());
    starts.zip(ends).filter_map(|(from, to)| median(values.get(from..to)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wave that never repeats: noise without chance.
    fn wave(place: usize) -> f64 {
        (place as f64 * 2.399).sin()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let series: Vec<f64> = (0..60).map(|place| if place < 37 { 100.0 } else { 90.0 } + wave(place)).collect();
        assert_eq!(steps(&series, BATCHES, 3.0), [37]);
        assert!(steps(&series, BATCHES, 15.0).is_empty(), "a step that does not matter is none");
        assert!(steps(&series[30..49], BATCHES, 3.0).is_empty(), "nineteen values are too few");
    }

    #[test]
    fn wild_values_and_constants_are_no_steps() {
        let mut series: Vec<f64> = (0..60).map(|place| 100.0 + wave(place)).collect();
        series[20] = 60.0;
        series[41] = 10.0;
        assert!(steps(&series, BATCHES, 3.0).is_empty());
        assert!(steps(&[5.0; 40], BATCHES, 0.1).is_empty());
        let long: Vec<f64> =
            (0..200_000).map(|place| if place < 120_000 { 100.0 } else { 90.0 } + wave(place)).collect();
        assert_eq!(steps(&long, BATCHES, 3.0), [120_000]);
        let rounded: Vec<f64> = (0..40).map(|place| if place < 18 { 5.0 } else { 4.0 }).collect();
        assert_eq!(steps(&rounded, BATCHES, 0.1), [18]);
    }

    #[test]
    fn an_archive_is_short_and_its_levels_too() {
        let noise = |place: usize| ((place * 37 + 11) % 17) as f64 / 17.0 * 0.01;
        let found = |level: fn(usize) -> f64, files: usize| {
            let series: Vec<f64> = (0..files).map(|place| level(place) + noise(place)).collect();
            steps(&series, FILES, 0.03)
        };
        assert!(found(|_| 0.0, 30).is_empty());
        assert_eq!(found(|place| if place < 12 { 0.0 } else { -0.05 }, 30), [12]);
        assert_eq!(found(|place| if (10..20).contains(&place) { -0.05 } else { 0.0 }, 30), [10, 20]);
        assert_eq!(found(|place| if place < 3 { 0.0 } else { 0.2 }, 7), [3]);
        assert!(found(|place| if place < 3 { 0.0 } else { 0.2 }, 5).is_empty(), "two files are no level");
    }
}
