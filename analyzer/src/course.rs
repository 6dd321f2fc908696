//! How a metric goes while its cell is measured: whether it drifts, and where it steps to another level.
//!
//! A machine that grows hot, or whose fan or power limit steps in, gives other numbers at the end than at the beginning.
//! Both findings only mark; no value is taken out for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::energy::UNCERTAIN_SHARE;
use crate::metric::Metric;
use crate::statistics::{difference, quantile, segments, trend};
use crate::units;

/// asiai warns of a change of 5 % that goes one way all along.
const ASIAI_PERCENT: f64 = 5.0;

/// The smallest change over a cell that matters, percent: what the comparison takes as its smallest change of rates and
/// times, too. Long runs know a trend of a tenth of that for sure, and nobody has to act on it.
const MATTERS_PERCENT: f64 = 3.0;

/// Which test a drift was judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftRule {
    /// Kendall's tau against the order of measurement, p below 0.05, and a change by Theil and Sen's slope that matters: 3 %,
    /// of powers and energies 10 %, for they are shown when known to 10 %. From five batches on.
    KendallTheilSen,
    /// asiai's, in either direction: every step goes the same way, and first to last it is 5 % or more, of powers and energies
    /// 10 %. Of three and four batches, of which chance puts one cell in three or twelve in such an order.
    AsiaiMonotone,
}

/// Whether a metric rises or falls while its cell is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// The test that `found` stands on.
    pub rule: DriftRule,
    /// Whether it drifts; null for a metric that is not judged. Judged are the metrics that a comparison judges, the mean
    /// power, and the energy of exo's client, which is all that old logs have: of all thirty, one or two would drift by chance
    /// in every cell.
    pub found: Option<bool>,
    /// Theil and Sen's slope, in the metric's unit per batch.
    pub slope_per_batch: f64,
    /// What that slope makes from the first to the last batch, percent of the median; null where the median is 0.
    pub change_percent: Option<f64>,
    /// Kendall's tau-b, −1 to 1; null where all values are equal.
    pub kendall_tau: Option<f64>,
    /// Its two-sided p.
    pub kendall_p: Option<f64>,
    /// Whether p is exact (up to 33 batches) or by the normal distribution, corrected for ties.
    pub kendall_exact: Option<bool>,
    /// First to last in percent of the first where every step goes the same way, else null.
    pub monotone_change_percent: Option<f64>,
    /// asiai's own warning: a rate that falls at every step, by 5 % or more. Null for what is no rate.
    pub asiai_warns: Option<bool>,
}

/// A step of a metric from one level to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The first batch of the new level, counted from 0 among the batches that have the metric.
    pub batch: u64,
    /// Median of the level before.
    pub before: f64,
    /// Median of the level that begins.
    pub after: f64,
    /// The change in percent of the level before; null where that is 0.
    pub change_percent: Option<f64>,
}

/// The smallest change that matters, percent. A power or an energy is shown when it is known to 10 %, and its sensor follows
/// the temperature; a steady machine's power fell by 5 % overnight while its rates stayed within 0.5 %.
const fn matters_percent(metric: Metric) -> f64 {
    if metric.is_energy() { 100.0 * UNCERTAIN_SHARE } else { MATTERS_PERCENT }
}

/// The smallest changes from first to last of values around a level that make a drift, in the metric's unit.
fn smallest(metric: Metric, first: f64, median: f64) -> trend::Smallest {
    // Nothing is any percent of a level of 0, and asiai's rule takes the first value for the level.
    let share = |level: f64, percent: f64| if level > 0.0 { level * percent / 100.0 } else { f64::INFINITY };
    let matters = matters_percent(metric);
    trend::Smallest {
        by_slope: share(median.abs(), matters),
        from_first_to_last: share(first, matters.max(ASIAI_PERCENT)),
    }
}

/// The same of logarithms.
pub(crate) fn smallest_of_logarithms(metric: Metric) -> trend::Smallest {
    let matters = matters_percent(metric);
    trend::Smallest {
        by_slope: difference::log_difference(matters),
        from_first_to_last: difference::log_difference(matters.max(ASIAI_PERCENT)),
    }
}

/// The drift over the batches of a cell in the order of measurement, one value each. None below three.
#[must_use]
pub fn drift(metric: Metric, batches: &[f64]) -> Option<Drift> {
    let median = quantile::median(batches)?;
    let judged = trend::drift(batches, smallest(metric, *batches.first()?, median))?;
    let slope = trend::theil_sen(batches)?;
    let monotone = trend::steady_change_percent(batches);
    let definition = metric.definition();
    let shown = definition.primary || matches!(metric, Metric::Power | Metric::EnergyExoClient);
    let is_rate = definition.unit == "tok/s";
    Some(Drift {
        rule: if judged.by_rank { DriftRule::KendallTheilSen } else { DriftRule::AsiaiMonotone },
        found: shown.then_some(judged.change.is_some()),
        slope_per_batch: slope,
        change_percent: percent(slope * (batches.len() - 1) as f64, median),
        kendall_tau: judged.kendall.map(|kendall| kendall.tau),
        kendall_p: judged.kendall.map(|kendall| kendall.p),
        kendall_exact: judged.kendall.map(|kendall| kendall.exact),
        monotone_change_percent: monotone,
        asiai_warns: is_rate.then(|| monotone.is_some_and(|change| change <= -ASIAI_PERCENT)),
    })
}

/// The steps over the batches of a cell in the order of measurement, one value each; none below twenty.
///
/// [`segments::steps`] finds them; a step that is smaller than what matters (3 %, of powers and energies 10 %) is none.
#[must_use]
pub fn steps(metric: Metric, batches: &[f64]) -> Vec<Step> {
    let Some(median) = quantile::median(batches) else { return Vec::new() };
    let places = segments::steps(batches, segments::BATCHES, median.abs() * matters_percent(metric) / 100.0);
    let levels = segments::levels(batches, &places);
    let pairs = places.iter().zip(levels.windows(2));
    pairs
        .map(|(place, pair)| Step {
            batch: *place as u64,
            before: pair[0],
            after: pair[1],
            change_percent: percent(pair[1] - pair[0], pair[0]),
        })
        .collect()
}

/// Percent of a whole, whose sign does not turn the change's; None of 0.
fn percent(change: f64, whole: f64) -> Option<f64> {
    Some(100.0 * change / whole.abs()).filter(|percent| percent.is_finite())
}

impl Drift {
    /// The finding in a sentence; None where there is none.
    #[must_use]
    pub fn words(&self, batches: usize) -> Option<String> {
        if self.found != Some(true) {
            return None;
        }
        let span = units::count(batches as u64, "batch");
        Some(match self.rule {
            DriftRule::AsiaiMonotone => {
                let change = units::change(self.monotone_change_percent?);
                let orders = if batches > 3 { 12 } else { 3 };
                format!("may drift: {change} over {span}, every step the same way (as chance has it once in {orders})")
            }
            DriftRule::KendallTheilSen => {
                let p = self.kendall_p?;
                let p = if p < 0.0005 { "p < 0.001".to_owned() } else { format!("p = {}", units::fixed(p, 3)) };
                format!("drifts: {} over {span} (Theil–Sen slope; Kendall {p})", units::change(self.change_percent?))
            }
        })
    }
}

impl Step {
    /// The step in a sentence, in the words of a unit.
    #[must_use]
    pub fn words(&self, unit: &str, batches: usize) -> String {
        let scale = units::Scale::of(unit, [self.before, self.after]);
        let change = self.change_percent.map_or_else(String::new, |change| format!(" ({})", units::change(change)));
        format!(
            "steps from {} to {} {}{change} at batch {} of {batches}",
            scale.text(Some(self.before)),
            scale.text(Some(self.after)),
            scale.label(),
            self.batch + 1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64]) -> Option<bool> {
        drift(Metric::GenerationTps, values).and_then(|drift| drift.found)
    }

    #[test]
    fn few_batches_are_judged_by_asiais_rule_and_more_by_kendalls() {
        assert_eq!(found(&[100.0, 90.0]), None);
        assert_eq!(found(&[100.0, 97.0, 95.0]), Some(true));
        assert_eq!(found(&[100.0, 97.0, 95.01]), Some(false));
        assert_eq!(found(&[100.0, 99.0, 98.0, 97.0, 96.0]), Some(true));
        assert_eq!(found(&[100.0, 99.9, 99.8, 99.7, 99.6]), Some(false), "sure, and too little to matter");
        // A real notebook that asiai's rule is blind to, because its last step goes up.
        let notebook = [21.086, 18.929, 18.775, 17.456, 18.051];
        let drift = drift(Metric::GenerationTps, &notebook).unwrap();
        assert_eq!((drift.asiai_warns, drift.found), (Some(false), Some(false)), "p is 0.083: five cannot tell");
    }

    #[test]
    fn a_metric_that_is_not_judged_has_numbers_and_no_finding() {
        let drift = drift(Metric::Overhead, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((drift.found, drift.asiai_warns, drift.kendall_tau.is_some()), (None, None, true));
        assert_eq!(drift.words(5), None);
    }

    #[test]
    fn the_findings_are_said_in_a_sentence() {
        let values: Vec<f64> =
            (0..40).map(|place| if place < 20 { 26.8 } else { 22.6 } + 0.1 * f64::from(place % 3)).collect();
        let steps = steps(Metric::GenerationTps, &values);
        assert_eq!(steps[0].words("tok/s", 40), "steps from 26.90 to 22.70 tok/s (−15.6 %) at batch 21 of 40");
        let drift = drift(Metric::GenerationTps, &[100.0, 99.0, 98.0, 97.0, 96.0]).unwrap();
        assert_eq!(drift.words(5).unwrap(), "drifts: −4.1 % over 5 batches (Theil–Sen slope; Kendall p = 0.017)");
    }
}
