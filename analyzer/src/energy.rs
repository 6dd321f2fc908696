//! Energy of a window of time from power samples, and why there is none.
//!
//! exo's client keeps the samples inside the window and drops its edges, which loses about one sample period of power; we
//! interpolate at both edges instead and never go beyond what was recorded.

/// A span of time on the clock of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Start, s.
    pub from_s: f64,
    /// End, s.
    pub to_s: f64,
}

/// Energy of one node in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Joules.
    pub joules: f64,
    /// Samples inside the window, edges included.
    pub samples: usize,
    /// Longest time between two samples that the window touches, s.
    pub longest_gap_s: f64,
}

/// Below this many samples inside the window the energy is too coarse to compare: at one sample a second a window of 3 s
/// reads about 10 % too low, and one of 5 s about 6 % (our simulation of a prefill and decode step).
pub const SAMPLES_TO_COMPARE: usize = 5;

/// A gap above this many seconds between samples (polls are asked for each second) is worth a warning.
pub const GAP_TO_WARN_S: f64 = 3.0;

/// Why a window has no energy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Absent {
    /// The node has no power samples at all.
    #[error("node {node} has no power samples")]
    NodeMissing {
        /// The node.
        node: String,
    },
    /// The samples do not span the window.
    #[error("the power samples of node {node} do not span the request: they end before it or begin after it started")]
    NotBracketed {
        /// The node.
        node: String,
    },
    /// It is not known which nodes hold the model.
    #[error("the file does not tell which nodes held the model")]
    UnknownNodes,
}

/// Trapezoid over the samples of one node, with linear interpolation at the window's edges. Readings that are missing are
/// left out; the line goes straight over them. None where no sample stands at or before the start, or at or after the end.
#[must_use]
pub fn integrate(t_s: &[f64], power_w: &[Option<f64>], window: Window) -> Option<Energy> {
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(t_s.len());
    for (t, power) in t_s.iter().zip(power_w).filter_map(|(t, power)| power.map(|power| (*t, power))) {
        // A sample that does not come after the last one would count its span twice.
        if points.last().is_none_or(|(last, _)| t > *last) {
            points.push((t, power));
        }
    }
    let (first, last) = (points.first()?, points.last()?);
    if window.to_s <= window.from_s || first.0 > window.from_s || last.0 < window.to_s {
        return None;
    }
    let mut energy = Energy { joules: 0.0, samples: 0, longest_gap_s: 0.0 };
    energy.samples = points.iter().filter(|(t, _)| (window.from_s..=window.to_s).contains(t)).count();
    for pair in points.windows(2) {
        let [(t0, p0), (t1, p1)] = [pair[0], pair[1]];
        let (from, to) = (t0.max(window.from_s), t1.min(window.to_s));
        if from >= to {
            continue;
        }
        let power_at = |t: f64| p0 + (p1 - p0) * ((t - t0) / (t1 - t0));
        energy.joules += (power_at(from) + power_at(to)) / 2.0 * (to - from);
        energy.longest_gap_s = energy.longest_gap_s.max(t1 - t0);
    }
    Some(energy)
}

/// Adds up the nodes of a placement. The fewest samples and the longest gap of any node speak for the whole.
///
/// # Errors
/// [`Absent`] where a node is missing or its samples do not span the window: a sum over fewer nodes is not the placement's.
pub fn of_nodes<'a>(
    nodes: &[String],
    window: Window,
    series_of: impl Fn(&str) -> Option<(&'a [f64], &'a [Option<f64>])>,
) -> Result<Energy, Absent> {
    let mut total: Option<Energy> = None;
    for node in nodes {
        let (t_s, power_w) = series_of(node)
            .filter(|(_, power)| power.iter().any(Option::is_some))
            .ok_or_else(|| Absent::NodeMissing { node: node.clone() })?;
        let energy = integrate(t_s, power_w, window).ok_or_else(|| Absent::NotBracketed { node: node.clone() })?;
        total = Some(total.map_or(energy, |sum| Energy {
            joules: sum.joules + energy.joules,
            samples: sum.samples.min(energy.samples),
            longest_gap_s: sum.longest_gap_s.max(energy.longest_gap_s),
        }));
    }
    total.ok_or(Absent::UnknownNodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: [f64; 4] = [0.0, 1.0, 2.0, 3.0];

    #[test]
    fn constant_power_is_power_times_seconds_wherever_the_edges_fall() {
        let energy = integrate(&T, &[Some(50.0); 4], Window { from_s: 0.25, to_s: 2.75 }).unwrap();
        assert!((energy.joules - 125.0).abs() < 1e-12);
        assert_eq!(energy.samples, 2);
    }

    #[test]
    fn a_ramp_is_interpolated_at_the_edges() {
        let power = [Some(0.0), Some(10.0), Some(20.0), Some(30.0)];
        let energy = integrate(&T, &power, Window { from_s: 0.5, to_s: 1.5 }).unwrap();
        assert!((energy.joules - 10.0).abs() < 1e-12);
    }

    #[test]
    fn never_beyond_what_was_recorded() {
        assert_eq!(integrate(&T, &[Some(50.0); 4], Window { from_s: 2.5, to_s: 3.1 }), None);
        assert_eq!(integrate(&T, &[None, Some(1.0), Some(1.0), None], Window { from_s: 0.5, to_s: 1.5 }), None);
        assert_eq!(integrate(&[], &[], Window { from_s: 0.0, to_s: 1.0 }), None);
    }

    #[test]
    fn a_missing_reading_is_bridged_and_shows_as_a_gap() {
        let power = [Some(10.0), None, None, Some(10.0)];
        let energy = integrate(&T, &power, Window { from_s: 0.5, to_s: 2.5 }).unwrap();
        assert!((energy.joules - 20.0).abs() < 1e-12);
        assert_eq!((energy.samples, energy.longest_gap_s), (0, 3.0));
    }

    #[test]
    fn a_missing_node_makes_the_sum_absent() {
        let nodes = ["a".to_owned(), "b".to_owned()];
        let power = [Some(1.0); 4];
        let found =
            of_nodes(&nodes, Window { from_s: 0.0, to_s: 1.0 }, |node| (node == "a").then_some((&T[..], &power[..])));
        assert_eq!(found, Err(Absent::NodeMissing { node: "b".into() }));
    }
}
