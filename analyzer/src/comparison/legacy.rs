//! What other tools would have said of the same numbers, each under its own rule, so that people can see it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measured::MeasuredCell;
use crate::metric::Metric;
use crate::summary::CellKey;

/// The metrics that the tools go by, whatever a comparison is asked for.
pub const METRICS: [Metric; 2] = [Metric::GenerationTps, Metric::Ttft];

/// What a tool would have said of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LegacyView {
    /// The cell.
    pub cell: CellKey,
    /// The tool: "exo" or "asiai".
    pub tool: String,
    /// Its rule, in words.
    pub rule: String,
    /// The metric it goes by.
    pub metric: Metric,
    /// Its figure of the base.
    pub base: f64,
    /// Its figure of the new side.
    pub new: f64,
    /// Change of the figure, percent of the base.
    pub change_percent: f64,
    /// What it would have said; exo prints the figures and draws no conclusion.
    pub said: String,
}

/// The views of all cells that both sides have.
pub(super) fn views(base: &[MeasuredCell], new: &[MeasuredCell]) -> Vec<LegacyView> {
    let news: BTreeMap<&CellKey, &MeasuredCell> = new.iter().map(|cell| (&cell.key, cell)).collect();
    base.iter()
        .filter_map(|cell| Some((cell, *news.get(&cell.key)?)))
        .flat_map(|(base, new)| of_cell(base, new))
        .collect()
}

fn of_cell(base: &MeasuredCell, new: &MeasuredCell) -> Vec<LegacyView> {
    let mut views = Vec::new();
    let mut add = |tool: &str, rule: &str, metric, figures: Option<(f64, f64)>, says: fn(f64) -> String| {
        let Some((of_base, of_new)) = figures else { return };
        let change_percent = (of_new - of_base) / of_base * 100.0;
        views.push(LegacyView {
            cell: base.key.clone(),
            tool: tool.to_owned(),
            rule: rule.to_owned(),
            metric,
            base: of_base,
            new: of_new,
            change_percent,
            said: says(change_percent),
        });
    };
    add(
        "exo",
        "largest decode rate of any request × concurrency, no deviation",
        Metric::AggregateExoMaxTimesN,
        max_times_n(base).zip(max_times_n(new)),
        |_| "prints both and no conclusion".to_owned(),
    );
    let means = |metric: Metric| base.mean(metric).zip(new.mean(metric));
    add(
        "asiai",
        "mean rate fell by more than 10 %, no deviation",
        Metric::GenerationTps,
        means(Metric::GenerationTps),
        |change| asiai(-change),
    );
    add(
        "asiai",
        "mean time to first token rose by more than 10 %, no deviation",
        Metric::Ttft,
        means(Metric::Ttft),
        asiai,
    );
    views
}

/// exo's console figure over a cell; None without a positive rate.
fn max_times_n(cell: &MeasuredCell) -> Option<f64> {
    let fastest = cell.sessions.iter().filter_map(|session| session.fastest).reduce(f64::max)?;
    Some(fastest * f64::from(cell.key.together()))
}

/// asiai's word for a loss of so many percent: strictly beyond 10, 15 and 30. It does not report gains.
fn asiai(loss_percent: f64) -> String {
    match loss_percent {
        loss if loss > 30.0 => "regression, major",
        loss if loss > 15.0 => "regression, significant",
        loss if loss > 10.0 => "regression, minor",
        _ => "nothing",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asiais_classes_are_strict() {
        for (loss, word) in [
            (10.0, "nothing"),
            (10.1, "regression, minor"),
            (15.0, "regression, minor"),
            (15.01, "regression, significant"),
            (30.0, "regression, significant"),
            (30.01, "regression, major"),
            (-50.0, "nothing"),
        ] {
            assert_eq!(asiai(loss), word, "{loss}");
        }
    }
}
