//! How often the course of a steady cell raises an alarm, and how often a real change does: simulated with a fixed seed.

use analyzer::course::{drift, steps};
use analyzer::metric::Metric;

/// Numbers of a fixed sequence (Marsaglia's xorshift), and normal ones of them (Box & Muller).
struct Chance(u64);

impl Chance {
    fn even(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.even().ln()).sqrt() * (std::f64::consts::TAU * self.even()).cos()
    }

    /// A series of rates with a noise in percent, that changes by some percent at its middle.
    fn series(&mut self, count: usize, noise: f64, change: f64) -> Vec<f64> {
        let level = |place: usize| if place < count / 2 { 100.0 } else { 100.0 + change };
        (0..count).map(|place| level(place) + noise * self.normal()).collect()
    }
}

/// They know a share of 5 % to 2.2 % (two deviations).
const SERIES: u32 = 400;

/// The shares of drifts and of steps found in some hundred series.
fn shares(count: usize, noise: f64, change: f64) -> (f64, f64) {
    let mut chance = Chance(20_260_415);
    let (mut drifts, mut with_steps) = (0, 0);
    for _ in 0..SERIES {
        let series = chance.series(count, noise, change);
        drifts += u32::from(drift(Metric::GenerationTps, &series).unwrap().found == Some(true));
        with_steps += u32::from(!steps(Metric::GenerationTps, &series).is_empty());
    }
    (f64::from(drifts) / f64::from(SERIES), f64::from(with_steps) / f64::from(SERIES))
}

#[test]
fn a_steady_cell_seldom_raises_an_alarm() {
    for count in [5, 10, 20, 50, 100] {
        for noise in [0.5, 2.0, 5.0] {
            let (drifts, steps) = shares(count, noise, 0.0);
            eprintln!("steady, n {count}, noise {noise} %: drift {drifts}, steps {steps}");
            assert!(drifts <= 0.072, "n {count}, noise {noise} %: drift {drifts}");
            assert!(steps <= 0.072, "n {count}, noise {noise} %: steps {steps}");
        }
    }
}

#[test]
fn a_change_of_three_deviations_is_found() {
    for count in [20, 50, 100] {
        let (drifts, steps) = shares(count, 2.0, -6.0);
        eprintln!("−6 %, n {count}, noise 2 %: drift {drifts}, steps {steps}");
        assert!(drifts > 0.9 && steps > 0.9, "n {count}: drift {drifts}, steps {steps}");
    }
}
