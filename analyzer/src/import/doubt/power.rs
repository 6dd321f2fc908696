//! Powers and energies that cannot be true.

use crate::record::{MetricSeries, ResultFile, Run, SeriesColumns};
use crate::units;

/// No node that serves models alone was seen to draw more, W.
const NODE_W: f64 = 1e4;

/// The doubts about the power readings of a file.
pub(super) fn doubts(file: &ResultFile) -> Vec<String> {
    let of_file = file.metric_series.iter().chain(file.overlays.iter().map(|overlay| &overlay.series));
    of_series(of_file)
}

/// The same of some series.
pub(in crate::import) fn of_series<'a>(series: impl Iterator<Item = &'a MetricSeries>) -> Vec<String> {
    let (mut all, mut none, mut high) = (0_u64, 0_u64, 0_u64);
    for watts in series.flat_map(|series| series.columns.sys_power.iter().copied().flatten()) {
        all += 1;
        none += u64::from(!SeriesColumns::is_power(watts));
        high += u64::from(SeriesColumns::is_power(watts) && watts > NODE_W);
    }
    let readings = units::count(all, "power reading");
    let mut doubts = Vec::new();
    if none > 0 {
        let (are, like) = (units::agree(none, "is", "are"), units::agree(none, "a missing one", "missing ones"));
        doubts.push(format!(
            "{none} of {readings} {are} below 0 W or above 1 MW, which no machine draws, and {are} left out like {like}"
        ));
    }
    if high > 0 {
        let are = units::agree(high, "is", "are");
        doubts.push(format!("{high} of {readings} {are} above 10 kW for one node: is it in milliwatts?"));
    }
    doubts
}

/// Whether an account of a row is below nothing.
pub(super) fn is_below_nothing(run: &Run) -> bool {
    let server = run
        .power_usage
        .as_ref()
        .map(|power| [power.total_energy_joules, power.prefill_energy_joules, power.generation_energy_joules]);
    let figures = run
        .figures
        .as_ref()
        .map(|figures| [figures.client_energy_j, figures.server_prefill_energy_j, figures.server_decode_energy_j]);
    server.into_iter().chain(figures).flatten().flatten().any(|joules| joules < 0.0)
}
