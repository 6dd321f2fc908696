//! What more nodes give: speed-up, efficiency and the price in energy, between cells that differ in their nodes alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CellKey, MeasuredCell};
use crate::metric::{Better, Metric};
use crate::statistics::difference::satterthwaite;
use crate::statistics::{interval, sessions, spread};

/// The rates, times and energies whose ratio over nodes says something.
const SCALED: [Metric; 7] = [
    Metric::PrefillTps,
    Metric::GenerationTps,
    Metric::Elapsed,
    Metric::Ttft,
    Metric::AggregateTokensOverWall,
    Metric::JoulesPerGeneratedToken,
    Metric::JoulesPerGeneratedTokenBatch,
];

/// One metric of a cell against the same on fewer nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// Index of the cell into `cells`.
    pub cell: u64,
    /// Index of the cell with the fewest nodes.
    pub base_cell: u64,
    /// Its nodes.
    pub base_nodes: u32,
    /// Nodes of the cell.
    pub nodes: u32,
    /// Which metric.
    pub metric: Metric,
    /// How many times better than on the fewest nodes: new / base of a rate, base / new of a time. Null for an energy.
    pub speed_up: Option<Ratio>,
    /// Speed-up over the ratio of the nodes: 1 where each node adds as much as the first. Null for an energy.
    pub efficiency: Option<Ratio>,
    /// Energy per token on more nodes / on the fewest: above 1 the speed is paid for. Null for what is no energy.
    pub joules_ratio: Option<Ratio>,
}

/// A ratio of geometric means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Its 95 % interval by the difference of logarithms (Student, degrees of freedom after Satterthwaite), over batches, or
    /// over sessions where they differ; null where a side was not repeated.
    pub interval: Option<[f64; 2]>,
}

impl Ratio {
    fn map(self, of: impl Fn(f64) -> f64) -> Self {
        let ends = self.interval.map(|[low, high]| (of(low), of(high))).map(|(a, b)| [a.min(b), a.max(b)]);
        Self { value: of(self.value), interval: ends.filter(|ends| ends.iter().all(|end| end.is_finite())) }
    }
}

/// Every cell against the one with the fewest nodes among those of the same model, work and cache state. How the model is
/// split may differ, for on one node there is nothing to split; where several have the fewest, one of the same split is
/// taken.
pub(super) fn scaling(measured: &[MeasuredCell]) -> Vec<Scaling> {
    let mut found = Vec::new();
    for (place, cell) in measured.iter().enumerate() {
        let Some(nodes) = cell.key().nodes.filter(|nodes| *nodes > 0) else { continue };
        let Some((base_place, base_nodes)) = base_of(measured, cell.key()).filter(|(_, base)| *base < nodes) else {
            continue;
        };
        for metric in SCALED {
            let Some(ratio) = ratio(&measured[base_place], cell, metric) else { continue };
            let is_energy = metric.is_energy();
            let higher = metric.definition().better == Better::Higher;
            let speed_up = (!is_energy).then(|| if higher { ratio } else { ratio.map(f64::recip) });
            let share = f64::from(nodes) / f64::from(base_nodes);
            found.push(Scaling {
                cell: place as u64,
                base_cell: base_place as u64,
                base_nodes,
                nodes,
                metric,
                speed_up,
                efficiency: speed_up.map(|speed_up| speed_up.map(|ratio| ratio / share)),
                joules_ratio: is_energy.then_some(ratio),
            });
        }
    }
    found
}

/// The cell with the fewest nodes that a cell can be set against, and these nodes.
fn base_of(measured: &[MeasuredCell], key: &CellKey) -> Option<(usize, u32)> {
    let work = |key: &CellKey| CellKey { sharding: None, instance_meta: None, nodes: None, ..key.clone() };
    let split = |key: &CellKey| (key.sharding.clone(), key.instance_meta.clone());
    let (of_key, split_of_key) = (work(key), split(key));
    measured
        .iter()
        .enumerate()
        .filter(|(_, cell)| work(cell.key()) == of_key)
        .filter_map(|(place, cell)| {
            let nodes = cell.key().nodes.filter(|nodes| *nodes > 0)?;
            Some((nodes, split(cell.key()) != split_of_key, place))
        })
        .min()
        .map(|(nodes, _, place)| (place, nodes))
}

/// New over base. None where one has no value, or one that is not positive.
fn ratio(base: &MeasuredCell, new: &MeasuredCell, metric: Metric) -> Option<Ratio> {
    let (base, new) = (logarithms(base, metric)?, logarithms(new, metric)?);
    let mean = |sessions: &[Vec<f64>]| -> Option<f64> {
        let means: Option<Vec<f64>> = sessions.iter().map(|values| spread::mean(values)).collect();
        spread::mean(&means?)
    };
    let shift = mean(&new)? - mean(&base)?;
    let half = || {
        let error = satterthwaite(&[sessions::sure_mean(&base)?.error, sessions::sure_mean(&new)?.error]);
        Some(interval::critical_value(0.95, error.freedom)? * error.value.sqrt())
    };
    let ends = half().map(|half: f64| [libm::exp(shift - half), libm::exp(shift + half)]);
    let value = Some(libm::exp(shift)).filter(|value| value.is_finite())?;
    Some(Ratio { value, interval: ends.filter(|ends| ends.iter().all(|end| end.is_finite())) })
}

/// The logarithms of the batches' means, session by session.
fn logarithms(cell: &MeasuredCell, metric: Metric) -> Option<Vec<Vec<f64>>> {
    cell.sample(metric)?.sessions().iter().map(|values| spread::logarithms(values)).collect()
}
