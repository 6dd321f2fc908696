//! A row per node and sample.

use std::collections::BTreeMap;

use super::{Table, origin};
use crate::import::Loaded;
use crate::record::{MetricSeries, SeriesColumns};
use crate::summary::node_name;

/// The samples of a file's nodes. `run` names the run: the same word for the same content.
#[must_use]
pub fn series(loaded: &Loaded, run: &str) -> Table {
    let file = &loaded.file;
    let all = &file.metric_series;
    // An instance serves one model; a series tells the instance only.
    let models: BTreeMap<&str, &str> =
        file.runs.iter().filter_map(|run| Some((run.instance_id.as_deref()?, run.model_id.as_deref()?))).collect();
    let target = file.exoscope.as_ref().map(|provenance| provenance.target.model_id.as_str());
    let model = |series: &MetricSeries| {
        let served = series.instance_id.as_deref().and_then(|instance| models.get(instance).copied());
        served.or(target).map(str::to_owned)
    };
    let mut table = Table::default();
    origin(&mut table, loaded, run, all.iter().map(|series| series.t_s.len()).sum());
    let each = |of: &dyn Fn(&MetricSeries) -> Option<String>| -> Vec<Option<String>> {
        all.iter().flat_map(|series| std::iter::repeat_n(of(series), series.t_s.len())).collect()
    };
    table.text("model_id", each(&model).into_iter());
    table.text("node_id", each(&|series| Some(series.node_id.clone())).into_iter());
    table.text("node_name", each(&|series| node_name(file, &series.node_id)).into_iter());
    table.text("source", each(&|series| Some(series.source.clone())).into_iter());
    table.text("instance_id", each(&|series| series.instance_id.clone()).into_iter());
    let sessions = all.iter().flat_map(|series| series.t_s.iter().map(|_| Some(series.session.into())));
    table.whole("session", sessions);
    table.number("t_s", all.iter().flat_map(|series| series.t_s.iter().map(|t| Some(*t))));
    // A column that is shorter than the instants says nothing of the rest.
    let column = |of: fn(&SeriesColumns) -> &[Option<f64>]| {
        all.iter().flat_map(move |series| {
            let values = of(&series.columns);
            (0..series.t_s.len()).map(|place| values.get(place).copied().flatten())
        })
    };
    table
        .number("poll_s", all.iter().flat_map(|series| (0..series.t_s.len()).map(|at| series.poll_s.get(at).copied())));
    let powers = all.iter().flat_map(|series| (0..series.t_s.len()).map(|place| series.columns.power_w(place)));
    table.number("power_w", powers);
    table.number("temperature_c", column(|columns| &columns.temp));
    table.number("gpu_usage_ratio", column(|columns| &columns.gpu_usage));
    table.number("performance_cores_ratio", column(|columns| &columns.pcpu_usage));
    table.number("efficiency_cores_ratio", column(|columns| &columns.ecpu_usage));
    table
}
