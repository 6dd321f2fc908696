//! What a node draws while the model is loaded and nothing is asked of it.

use super::integral::inside;
use super::phases::Window;
use super::publications::Channel;

/// Fewer publications than this say nothing of a node at rest: one of them may be the tail of the load before.
pub const IDLE_SAMPLES_NEEDED: usize = 3;

/// Mean power of a node over all idle windows together, W. None for fewer than [`IDLE_SAMPLES_NEEDED`] publications.
#[must_use]
pub fn idle_power_w(channel: &Channel, windows: &[Window]) -> Option<f64> {
    let powers: Vec<f64> = windows
        .iter()
        .flat_map(|window| inside(&channel.publications, *window))
        .map(|one| one.power_w)
        .filter(|power| *power > 0.0)
        .collect();
    (powers.len() >= IDLE_SAMPLES_NEEDED).then(|| powers.iter().sum::<f64>() / powers.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::publications::tests::series;
    use super::*;

    #[test]
    fn windows_before_and_after_count_together() {
        let powers = [30.0, 30.2, 180.0, 181.0, 30.4, 30.1].map(Some);
        let polls: Vec<(f64, Option<f64>)> = powers.iter().enumerate().map(|(t, power)| (t as f64, *power)).collect();
        let channel = Channel::of(&series(&polls));
        let windows = [Window { from_s: 0.0, to_s: 1.2 }, Window { from_s: 3.0, to_s: 5.0 }];
        let found = idle_power_w(&channel, &windows).unwrap();
        assert!((found - (30.2 + 30.4 + 30.1) / 3.0).abs() < 1e-12, "{found}");
        assert_eq!(idle_power_w(&channel, &windows[1..]), None, "two publications");
    }
}
