//! Energy of one node in one window: phase by phase, each held to its edges, never across the boundary of two.
//!
//! exo's client keeps the samples inside the window and drops its edges, which loses about one sample period of power; a
//! line drawn across an edge mixes two powers instead (our simulation: −35 % and −10 % at 3 s). A publication that was made
//! inside a phase tells that phase's power alone.

use super::phases::{Phases, Window};
use super::publications::{Channel, Publication};

/// A poll is forced right before a batch is released; a publication first seen after it belongs to the batch although the
/// poll ended up to this long before, s. Releases that take longer would need more.
const BEFORE_RELEASE_S: f64 = 0.05;

/// Power sensors are taken as right to 1 % of the reading (one standard deviation): makers state none, and this is a usual
/// class of power meters. A calibrated meter would change this.
pub(super) const SENSOR_SHARE: f64 = 0.01;

/// A phase without a publication of its own may be guessed by its neighbour's where it is below this share of the window:
/// were its power anything from none to double, the whole would be off by less than this.
pub(super) const GUESSED_SHARE: f64 = 0.1;

/// One node in one window.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeReading {
    /// The node.
    pub node: String,
    /// Joules; a phase without a publication of its own counts with the nearest one's power.
    pub joules: f64,
    /// Squared standard uncertainty, J².
    pub variance_j2: f64,
    /// Publications made inside a phase of the window.
    pub samples: usize,
    /// Longest time between two publications that the window touches, s.
    pub longest_gap_s: f64,
    /// The phases in order.
    pub parts: Vec<Part>,
}

/// One phase of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Length, s.
    pub seconds: f64,
    /// Power of each publication made inside, W.
    pub powers_w: Vec<f64>,
    /// Joules; None without a publication of its own.
    pub joules: Option<f64>,
    /// Squared standard uncertainty of the joules, J².
    pub variance_j2: f64,
}

/// The energy of a node. None where the polls do not span the window.
#[must_use]
pub fn integrate(node: &str, channel: &Channel, phases: &Phases) -> Option<NodeReading> {
    let made = &channel.publications;
    let window = phases.window;
    let (first, last) = channel.span()?;
    if window.seconds() <= 0.0 || first > window.from_s || last < window.to_s {
        return None;
    }
    let spans = phases.spans();
    let own_of: Vec<&[Publication]> = spans.iter().map(|span| inside(made, *span)).collect();
    let mut reading = NodeReading {
        node: node.to_owned(),
        joules: 0.0,
        variance_j2: 0.0,
        samples: own_of.iter().map(|own| own.len()).sum(),
        longest_gap_s: longest_gap(made, window),
        parts: Vec::with_capacity(spans.len()),
    };
    let edges: Vec<f64> = std::iter::once(edge(made, window.from_s, None, own_of[0].first()))
        .chain(
            (1..spans.len())
                .map(|place| edge(made, spans[place].from_s, own_of[place - 1].last(), own_of[place].first())),
        )
        .chain([edge(made, window.to_s, own_of[own_of.len() - 1].last(), None)])
        .collect();
    let mut guessed = vec![false; spans.len()];
    for (place, (span, own)) in spans.iter().zip(&own_of).enumerate() {
        let joules = held(own, *span);
        let variance = edges[place] + edges[place + 1] + joules.map_or(0.0, |joules| (SENSOR_SHARE * joules).powi(2));
        reading.joules += match joules {
            Some(joules) => joules,
            None => {
                guessed[place] = true;
                let before = place.checked_sub(1).and_then(|place| own_of.get(place)).and_then(|own| own.last());
                let after = own_of.get(place + 1).and_then(|own| own.first());
                let beside = before.or(after).map_or_else(|| nearest(made, *span), Some)?;
                let joules = beside.power_w * span.seconds();
                // Anything from none to double is as likely: a spread of the length over √12.
                reading.variance_j2 += joules * joules / 3.0;
                joules
            }
        };
        let powers_w = own.iter().map(|one| one.power_w).collect();
        reading.parts.push(Part { seconds: span.seconds(), powers_w, joules, variance_j2: variance });
    }
    // An edge to a guessed phase is in its guess already.
    let known = |edge: usize| {
        let left = edge > 0 && guessed[edge - 1];
        !left && guessed.get(edge) != Some(&true)
    };
    reading.variance_j2 += (0..edges.len()).filter(|edge| known(*edge)).map(|edge| edges[edge]).sum::<f64>();
    reading.variance_j2 += (SENSOR_SHARE * reading.joules).powi(2);
    Some(reading)
}

/// The publications that were surely made inside: after its start, and at their best guess before its end.
pub(super) fn inside(made: &[Publication], span: Window) -> &[Publication] {
    let from = made.partition_point(|one| one.after_s < span.from_s - BEFORE_RELEASE_S);
    let to = made.partition_point(|one| one.made_s <= span.to_s);
    made.get(from..to).unwrap_or(&[])
}

/// Trapezoid between the publications, the first and the last held to the edges. None for no publication.
fn held(own: &[Publication], span: Window) -> Option<f64> {
    let (first, last) = (own.first()?, own.last()?);
    let at = |one: &Publication| one.made_s.clamp(span.from_s, span.to_s);
    let between: f64 =
        own.windows(2).map(|pair| (pair[0].power_w + pair[1].power_w) / 2.0 * (at(&pair[1]) - at(&pair[0]))).sum();
    Some(first.power_w * (at(first) - span.from_s) + between + last.power_w * (span.to_s - at(last)))
}

/// The squared uncertainty of an edge, J²: a step of power at an unknown phase of the sampling costs ΔP · Δt / √12.
fn edge(made: &[Publication], at_s: f64, before: Option<&Publication>, after: Option<&Publication>) -> f64 {
    let next = made.partition_point(|one| one.made_s <= at_s);
    let before = before.or_else(|| next.checked_sub(1).and_then(|place| made.get(place)));
    let after = after.or_else(|| made.get(next));
    match (before, after) {
        (Some(before), Some(after)) => {
            let step = (after.power_w - before.power_w) * (after.made_s - before.made_s).max(0.0);
            step * step / 12.0
        }
        // Nothing beyond the edge: what is held to it is all that is known.
        _ => 0.0,
    }
}

/// The publication made nearest to a span.
fn nearest(made: &[Publication], span: Window) -> Option<&Publication> {
    let distance = |one: &Publication| (span.from_s - one.made_s).max(one.made_s - span.to_s).max(0.0);
    made.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))
}

fn longest_gap(made: &[Publication], window: Window) -> f64 {
    made.windows(2)
        .filter(|pair| pair[1].made_s > window.from_s && pair[0].made_s < window.to_s)
        .map(|pair| pair[1].made_s - pair[0].made_s)
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::phases::Split;
    use super::super::publications::tests::series;
    use super::*;

    /// Powers that a sensor made at these instants, each seen at once.
    fn channel(made: &[(f64, f64)]) -> Channel {
        let polls: Vec<(f64, Option<f64>)> = made.iter().map(|(t, power)| (*t, Some(*power))).collect();
        Channel::of(&series(&polls))
    }

    fn phases(from_s: f64, split: Split, to_s: f64) -> Phases {
        Phases::new(Window { from_s, to_s }, split)
    }

    // poll         0   1   2   3   4   5   6   7   8   9  10  11
    // made      −.5  .5 1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5 10.5
    // W          30  30  30 180 180 120 121 122 123 124  30  31
    // batch               [---------|-------------------]
    //                     2         4                   9
    fn batch() -> Channel {
        let powers = [30.0, 30.5, 30.2, 180.0, 180.5, 120.0, 121.0, 122.0, 123.0, 124.0, 30.1, 30.4];
        channel(&powers.iter().enumerate().map(|(t, power)| (t as f64, *power)).collect::<Vec<_>>())
    }

    #[test]
    fn each_phase_is_held_to_its_edges_and_no_line_crosses_them() {
        let found = integrate("a", &batch(), &phases(2.0, Split::At(4.0), 9.0)).unwrap();
        // 180 to 2.5, half-way up to 180.5 by 3.5, held to 4.
        let prefill = 90.0 + 180.25 + 90.25;
        let decode = 60.0 + 120.5 + 121.5 + 122.5 + 123.5 + 62.0;
        assert_eq!(found.parts[0].joules, Some(prefill));
        assert_eq!(found.parts[1].joules, Some(decode));
        assert_eq!((found.joules, found.samples, found.longest_gap_s), (prefill + decode, 7, 1.0));
        // Steps of 149.8, 60.5 and 93.9 W, one second each.
        let edges = (149.8_f64.powi(2) + 60.5_f64.powi(2) + 93.9_f64.powi(2)) / 12.0;
        assert!((found.variance_j2 - edges - (0.01 * found.joules).powi(2)).abs() < 1e-6, "{}", found.variance_j2);
    }

    #[test]
    fn a_phase_that_no_sample_saw_is_guessed_by_its_neighbour_and_the_doubt_grows() {
        let found = integrate("a", &batch(), &phases(4.0, Split::At(4.4), 9.0)).unwrap();
        assert_eq!(found.parts[0].joules, None);
        let guessed = found.joules - found.parts[1].joules.unwrap();
        assert!((guessed - 121.0 * 0.4).abs() < 1e-9, "the first power that is surely the decoding's: {guessed} J");
        assert!(found.variance_j2 > (121.0 * 0.4_f64).powi(2) / 3.0);
    }

    #[test]
    fn a_window_beyond_the_polls_has_no_energy() {
        assert_eq!(integrate("a", &batch(), &phases(9.0, Split::Unknown, 11.5)), None);
        assert_eq!(integrate("a", &batch(), &phases(-0.1, Split::Unknown, 3.0)), None);
        assert_eq!(integrate("a", &Channel::default(), &phases(0.0, Split::Unknown, 3.0)), None);
    }

    #[test]
    fn a_poll_that_was_forced_just_before_the_release_brackets_the_first_sample() {
        let polls = channel(&[(0.0, 30.0), (1.97, 31.0), (2.9, 180.0), (4.0, 181.0), (5.0, 31.0)]);
        let found = integrate("a", &polls, &phases(2.0, Split::Unknown, 4.0)).unwrap();
        assert_eq!(found.samples, 2, "2.9 was made after 1.97, which is close enough to the release at 2.0");
        let found = integrate("a", &polls, &phases(2.1, Split::Unknown, 4.0)).unwrap();
        assert_eq!(found.samples, 1, "and too long before one at 2.1");
    }
}
