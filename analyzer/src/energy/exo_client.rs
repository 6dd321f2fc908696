//! exo's own figure of the client's energy, digit for digit, to be laid beside ours.

use super::phases::Window;

/// exo's energy of one node in joules: the samples with from ≤ t ≤ to by the time of the poll; two or more: trapezoid between
/// the first and the last; one: its power × the window; none: None, where exo prints 0 J.
///
/// Blind at both edges: at constant power and one poll a second a window of 3 s reads about 65 % of the truth.
#[must_use]
pub fn exo_client_joules(t_s: &[f64], power_w: &[Option<f64>], window: Window) -> Option<f64> {
    let inside: Vec<(f64, f64)> = t_s
        .iter()
        .zip(power_w)
        .filter(|(t, _)| (window.from_s..=window.to_s).contains(*t))
        .filter_map(|(t, power)| power.map(|power| (*t, power)))
        .collect();
    match inside.as_slice() {
        [] => None,
        [(_, power)] => Some(power * window.seconds()),
        samples => Some(samples.windows(2).map(|pair| (pair[0].1 + pair[1].1) / 2.0 * (pair[1].0 - pair[0].0)).sum()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_are_dropped() {
        let (t, power) = ([0.0, 1.0, 2.0, 3.0], [Some(10.0), Some(20.0), Some(40.0), None]);
        let of = |from_s, to_s| exo_client_joules(&t, &power, Window { from_s, to_s });
        assert_eq!(of(0.5, 2.9), Some(30.0), "one of 2.4 s");
        assert_eq!(of(0.5, 1.5), Some(20.0), "one sample stands for the whole window");
        assert_eq!(of(1.1, 1.9), None, "exo prints 0 J");
    }
}
