//! Power over time and what ran meanwhile.

use super::{MeasuredCell, PowerSeries, RequestWindow, Timeline, facts};
use crate::import::Loaded;

/// The series of a file with the windows of its requests. None without a series, or where several documents with clocks of
/// their own were put into one file: their seconds do not count from one start.
pub(super) fn timeline(loaded: &Loaded, measured: &[MeasuredCell]) -> Option<Timeline> {
    let file = &loaded.file;
    if (file.metric_series.is_empty() && file.overlays.is_empty()) || loaded.document_rows.len() > 1 {
        return None;
    }
    let series = file
        .metric_series
        .iter()
        .chain(file.overlays.iter().map(|overlay| &overlay.series))
        .map(|series| PowerSeries {
            node_id: series.node_id.clone(),
            label: facts::node_name(file, &series.node_id).unwrap_or_else(|| series.node_id.clone()),
            t_s: series.t_s.clone(),
            power_w: series.columns.powers_w().into_owned(),
            temperature_c: series.columns.temp.clone(),
        })
        .collect();
    let mut windows: Vec<RequestWindow> = measured
        .iter()
        .enumerate()
        .flat_map(|(cell, measured)| {
            measured.cell.batches.iter().flat_map(|batch| &batch.rows).map(move |row| (cell, *row))
        })
        .filter_map(|(cell, row)| {
            let run = file.runs.get(row)?;
            let timing = &run.exoscope.as_ref()?.timing;
            Some(RequestWindow {
                cell,
                repeat_index: run.repeat_index?,
                sent_s: timing.sent_s,
                first_token_s: timing.first_token_s,
                done_s: timing.done_s,
            })
        })
        .collect();
    windows.sort_by(|a, b| a.sent_s.total_cmp(&b.sent_s));
    Some(Timeline { series, windows })
}
