//! Where a long series steps from one level to another.

use super::quantile::median;

/// A series shorter than this is not searched: there would be no room for levels of [`SHORTEST`] values that are more than
/// luck.
pub const VALUES_NEEDED: usize = 20;

/// The fewest values of a level. Fewer are a spell of outliers.
pub const SHORTEST: usize = 5;

/// A longer series is searched by the medians of as many runs of neighbours, so that the work stays in proportion to its
/// length; a step is then found to within one run.
pub const POINTS: usize = 4000;

/// Each step must explain this many times ln n noise variances: two numbers for it (its place and its level) and the search
/// over all places. It is the leading term of the modified BIC of Zhang & Siegmund (2007), 3/2 · ln n of the log-likelihood
/// per step.
const PENALTY: f64 = 3.0;

/// Makes the median absolute difference of normal neighbours the standard deviation of one of them: 1 / (Φ⁻¹(¾) · √2).
const DEVIATIONS_PER_DIFFERENCE: f64 = 1.048_358_083_133_229;

/// The places at which a new level begins, ascending; empty for a steady series and below [`VALUES_NEEDED`] values.
///
/// Binary segmentation of levels with normal noise: the series is cut where that explains most, and both parts again, as
/// long as a cut explains more than [`PENALTY`] · ln n · σ² and leaves [`SHORTEST`] values on either side. σ is taken from
/// the median absolute difference of neighbours, which a step and a slow trend hardly touch. Then neighbouring levels whose
/// medians differ by less than `smallest` are put together again, the closest first: means follow single wild values,
/// medians do not. Fixed constants and no chance in it: the same series gives the same places.
#[must_use]
pub fn steps(values: &[f64], smallest: f64) -> Vec<usize> {
    if values.len() < VALUES_NEEDED || values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let run = values.len().div_ceil(POINTS);
    if run == 1 {
        return merged(values, cuts(values), smallest);
    }
    let points: Vec<f64> = values.chunks(run).filter_map(median).collect();
    merged(&points, cuts(&points), smallest).into_iter().map(|place| place * run).collect()
}

/// Every cut that explains enough, ascending.
fn cuts(values: &[f64]) -> Vec<usize> {
    let Some(noise) = noise(values) else { return Vec::new() };
    // From the median, lest sums of large numbers eat the digits of small differences.
    let center = median(values).unwrap_or(0.0);
    let mut sums = Vec::with_capacity(values.len() + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for value in values {
        sum += value - center;
        sums.push(sum);
    }
    let needed = PENALTY * libm::log(values.len() as f64) * noise * noise;
    let mut places = Vec::new();
    let mut parts = vec![(0, values.len())];
    while let Some((from, to)) = parts.pop() {
        if let Some((place, gain)) = best_cut(&sums, from, to)
            && gain > needed
        {
            places.push(place);
            parts.extend([(from, place), (place, to)]);
        }
    }
    places.sort_unstable();
    places
}

/// The standard deviation of the noise; None where there is none at all, for then nothing steps.
///
/// Where more than half of the neighbours are equal, as with coarsely rounded values, the root mean square of the
/// differences takes the median's place.
fn noise(values: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let robust = median(&differences)? * DEVIATIONS_PER_DIFFERENCE;
    if robust > 0.0 {
        return Some(robust);
    }
    let squares: f64 = differences.iter().map(|difference| difference * difference).sum();
    Some((squares / (2.0 * differences.len() as f64)).sqrt()).filter(|noise| *noise > 0.0)
}

/// The place that cuts a part of the series best, and by how much the squares shrink; the first of equal ones.
fn best_cut(sums: &[f64], from: usize, to: usize) -> Option<(usize, f64)> {
    let count = to - from;
    let mean = |from: usize, to: usize| (sums[to] - sums[from]) / (to - from) as f64;
    let mut best: Option<(usize, f64)> = None;
    for place in from + SHORTEST..=to.checked_sub(SHORTEST)? {
        let (left, right) = ((place - from) as f64, (to - place) as f64);
        let step = mean(place, to) - mean(from, place);
        let gain = step * step * left * right / count as f64;
        if best.is_none_or(|(_, found)| gain > found) {
            best = Some((place, gain));
        }
    }
    best
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
        assert_eq!(steps(&series, 3.0), [37]);
        assert!(steps(&series, 15.0).is_empty(), "a step that does not matter is none");
        assert!(steps(&series[30..49], 3.0).is_empty(), "nineteen values are too few");
    }

    #[test]
    fn wild_values_and_constants_are_no_steps() {
        let mut series: Vec<f64> = (0..60).map(|place| 100.0 + wave(place)).collect();
        series[20] = 60.0;
        series[41] = 10.0;
        assert!(steps(&series, 3.0).is_empty());
        assert!(steps(&[5.0; 40], 0.1).is_empty());
        let long: Vec<f64> =
            (0..200_000).map(|place| if place < 120_000 { 100.0 } else { 90.0 } + wave(place)).collect();
        assert_eq!(steps(&long, 3.0), [120_000]);
        let rounded: Vec<f64> = (0..40).map(|place| if place < 18 { 5.0 } else { 4.0 }).collect();
        assert_eq!(steps(&rounded, 0.1), [18]);
    }
}
