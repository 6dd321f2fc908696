//! How well the rates of a group are known: when repeating may stop.

use analyzer::record::{GenerationStats, TargetPrecision};
use analyzer::statistics::{interval, spread};
use analyzer::units;

/// The server's two rates of one request, tok/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    prefill: Option<f64>,
    generation: Option<f64>,
}

impl Rates {
    /// The rates that can be averaged: a rate of 0 is none.
    #[must_use]
    pub fn of(stats: &GenerationStats) -> Self {
        let positive = |rate: Option<f64>| rate.filter(|rate| *rate > 0.0);
        Self { prefill: positive(stats.prompt_tps), generation: positive(stats.generation_tps) }
    }
}

/// The rates of a group so far, one mean per batch: requests of one batch are one measurement.
#[derive(Debug, Default)]
pub struct Precision {
    prefill: Vec<f64>,
    generation: Vec<f64>,
}

impl Precision {
    /// Takes the requests of a further batch.
    pub fn add(&mut self, requests: &[Rates]) {
        let mean = |of: fn(&Rates) -> Option<f64>| spread::mean(&requests.iter().filter_map(of).collect::<Vec<f64>>());
        self.prefill.extend(mean(|rates| rates.prefill));
        self.generation.extend(mean(|rates| rates.generation));
    }

    /// Whether the 95 % interval of the mean of both rates is as narrow as asked for. A rate that no batch has (one
    /// generated token) is not waited for; three batches are needed in any case.
    #[must_use]
    pub fn reaches(&self, target: TargetPrecision) -> bool {
        let known: Vec<&Vec<f64>> = [&self.prefill, &self.generation].into_iter().filter(|it| !it.is_empty()).collect();
        !known.is_empty()
            && known.iter().all(|rates| {
                rates.len() >= 3 && half_width_percent(rates).is_some_and(|percent| percent <= target.percent)
            })
    }

    /// How wide the intervals are: "prefill is known within ±1.2 %, generation within ±0.4 %".
    #[must_use]
    pub fn words(&self) -> String {
        let width = |rates: &[f64]| {
            half_width_percent(rates)
                .map_or_else(|| "unknown".to_owned(), |percent| format!("±{} %", units::fixed(percent, 1)))
        };
        format!("prefill is known within {}, generation within {}", width(&self.prefill), width(&self.generation))
    }
}

/// Half of Student's 95 % interval of the mean, percent of the mean; none for fewer than two values or a mean of 0.
fn half_width_percent(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = spread::mean(values).filter(|mean| *mean != 0.0)?;
    let deviation = spread::standard_deviation(values)?;
    let critical = interval::critical_value(0.95, count - 1.0)?;
    Some((critical * deviation / count.sqrt() / mean).abs() * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_PERCENT: TargetPrecision = TargetPrecision { percent: 2.0, max_repeats: 30 };

    fn batch(prefill: f64, generation: Option<f64>) -> [Rates; 1] {
        [Rates { prefill: Some(prefill), generation }]
    }

    #[test]
    fn the_half_width_is_students() {
        // SciPy: t.ppf(0.975, 2) = 4.302652729911275; sd of 99, 100, 101 is 1.
        let expected = 4.302_652_729_911_275 / 3.0_f64.sqrt();
        assert!((half_width_percent(&[99.0, 100.0, 101.0]).unwrap() - expected).abs() < 1e-9);
        assert_eq!(half_width_percent(&[99.0]), None);
    }

    #[test]
    fn both_rates_must_be_known_and_three_batches_be_there() {
        let mut precision = Precision::default();
        assert!(!precision.reaches(TWO_PERCENT));
        for generation in [50.0, 50.0, 50.0] {
            assert!(!precision.reaches(TWO_PERCENT));
            precision.add(&batch(100.0, Some(generation)));
        }
        assert!(precision.reaches(TWO_PERCENT));
        precision.add(&batch(100.0, Some(60.0)));
        assert!(!precision.reaches(TWO_PERCENT), "{}", precision.words());
    }

    #[test]
    fn a_rate_that_no_batch_has_is_not_waited_for() {
        let mut precision = Precision::default();
        (0..3).for_each(|_| precision.add(&batch(100.0, None)));
        assert!(precision.reaches(TWO_PERCENT));
    }
}
