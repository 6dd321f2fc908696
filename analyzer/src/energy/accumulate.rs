//! Short windows put together: what no single repeat can tell, all repeats of a cell may (as Zeus does it).

use super::integral::Part;
use super::phases::Split;
use super::reading::{Joules, Reading, SAMPLES_NEEDED, UNCERTAIN_SHARE};

/// The energy of a typical window, from all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accumulated {
    /// Windows that were put together.
    pub windows: usize,
    /// Mean length of a window, s.
    pub seconds: f64,
    /// Energy of a mean window.
    pub energy: Joules,
    /// Its prefill; None where phases overlap.
    pub prefill: Option<Joules>,
    /// Its decoding; None where phases overlap.
    pub decode: Option<Joules>,
}

/// Pools the publications of each phase over all windows: mean power of the phase × its mean length.
///
/// A window that no publication hit still counts with its length, so that windows with a lucky hit are not preferred. The
/// uncertainty is the standard error of each phase's power, by its own scatter, and the sensor's.
///
/// None where the windows differ in nodes or phases, where together they hold fewer than [`SAMPLES_NEEDED`] publications of
/// some node or a phase has none, or where the uncertainty is above [`UNCERTAIN_SHARE`].
#[must_use]
pub fn accumulate(readings: &[&Reading]) -> Option<Accumulated> {
    let first = readings.first()?;
    let shape = |reading: &Reading| -> Vec<(String, usize)> {
        reading.nodes.iter().map(|node| (node.node.clone(), node.parts.len())).collect()
    };
    let alike = shape(first);
    if readings.len() < 2 || alike.is_empty() || readings.iter().any(|reading| shape(reading) != alike) {
        return None;
    }
    let mut phases: Vec<(f64, f64)> = vec![(0.0, 0.0); alike[0].1];
    for node in 0..alike.len() {
        if readings.iter().map(|reading| reading.nodes[node].samples).sum::<usize>() < SAMPLES_NEEDED {
            return None;
        }
        for (place, phase) in phases.iter_mut().enumerate() {
            let parts: Vec<&Part> =
                readings.iter().filter_map(|reading| reading.nodes[node].parts.get(place)).collect();
            let (joules, variance) = pooled(&parts)?;
            phase.0 += joules;
            phase.1 += variance;
        }
    }
    let energy = Joules::of(phases.iter().map(|phase| phase.0).sum(), phases.iter().map(|phase| phase.1).sum());
    if energy.share() > UNCERTAIN_SHARE {
        return None;
    }
    let split = matches!(first.phases.split, Split::At(_));
    let part = |place: usize| split.then(|| phases.get(place)).flatten().map(|phase| Joules::of(phase.0, phase.1));
    let seconds = readings.iter().map(|reading| reading.phases.window.seconds()).sum::<f64>() / readings.len() as f64;
    Some(Accumulated { windows: readings.len(), seconds, energy, prefill: part(0), decode: part(1) })
}

/// Mean energy of one phase of one node, and its squared uncertainty.
fn pooled(parts: &[&Part]) -> Option<(f64, f64)> {
    let powers: Vec<f64> = parts.iter().flat_map(|part| part.powers_w.iter().copied()).collect();
    if powers.is_empty() {
        return None;
    }
    let count = powers.len() as f64;
    let seconds = parts.iter().map(|part| part.seconds).sum::<f64>() / parts.len() as f64;
    let mean = powers.iter().sum::<f64>() / count;
    let squared_error = if powers.len() == 1 {
        // One reading shows no scatter: anything from none to double is as likely.
        mean * mean / 3.0
    } else {
        powers.iter().map(|power| (power - mean).powi(2)).sum::<f64>() / (count - 1.0) / count
    };
    let sensor = super::integral::SENSOR_SHARE * mean;
    Some((mean * seconds, (squared_error + sensor * sensor) * seconds * seconds))
}

#[cfg(test)]
mod tests {
    use super::super::phases::{Phases, Window};
    use super::super::publications::tests::series;
    use super::super::{Channel, read};
    use super::*;

    fn channel() -> Channel {
        // 100 W from 0 to 60 s, one publication a second that wavers a little.
        let polls: Vec<(f64, Option<f64>)> = (0..60).map(|t| (f64::from(t), Some(100.0 + f64::from(t % 3)))).collect();
        Channel::of(&series(&polls))
    }

    fn readings(count: usize, split: bool) -> Vec<Reading> {
        let channel = channel();
        (0..count)
            .map(|place| {
                let from_s = 2.0 + 4.0 * place as f64;
                let split = if split { Split::At(from_s + 1.0) } else { Split::Unknown };
                read(&[("a", Some(&channel))], Phases::new(Window { from_s, to_s: from_s + 2.0 }, split))
            })
            .collect()
    }

    #[test]
    fn windows_that_are_too_short_alone_tell_an_energy_together() {
        let readings = readings(5, true);
        assert!(readings.iter().all(|reading| !reading.is_valid()));
        let found = accumulate(&readings.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((found.windows, found.seconds), (5, 2.0));
        assert!((found.energy.value - 202.0).abs() < 3.0, "{found:?}");
        assert!((found.prefill.unwrap().value - 101.0).abs() < 2.0, "{found:?}");
        assert!(found.energy.share() < 0.02);
    }

    #[test]
    fn two_windows_with_four_samples_do_not() {
        assert_eq!(accumulate(&readings(2, false).iter().collect::<Vec<_>>()), None);
        assert_eq!(accumulate(&[]), None);
    }
}
