//! Events → the result file: the same fold at the end of a run and over the journal that a crash left.

use std::collections::{BTreeMap, BTreeSet};

use analyzer::record::{
    Failure, FailureKind, Incomplete, MetricRange, MetricSeries, Provenance, ResultFile, Start, SystemMetrics,
};

use super::event::Event;

/// A result file in the making.
#[derive(Debug, Default)]
pub struct Fold {
    file: ResultFile,
    provenance: Option<Provenance>,
    planned: Option<u64>,
    notices: Vec<String>,
    ended: bool,
    cut_short: Option<String>,
    batch: Option<Batch>,
    /// The instances that were made.
    instances: BTreeSet<String>,
}

/// The batch that is being measured: what was there before it, and how many requests it has.
#[derive(Debug, Clone, Copy)]
struct Batch {
    runs: usize,
    failures: usize,
    requests: usize,
}

impl Fold {
    /// Takes the next event.
    pub fn take(&mut self, event: Event) {
        match event {
            Event::Started { provenance } => self.provenance = Some(*provenance),
            Event::Planned { requests, .. } => self.planned = Some(requests),
            Event::Cluster { cluster } => match &mut self.file.cluster {
                // The nodes of an earlier start stay known: its rows name them.
                Some(known) => known.extend(*cluster),
                none => *none = Some(*cluster),
            },
            Event::Notice { sentence } => self.notices.push(sentence),
            Event::Finished { mut run } => {
                if let Some(detail) = &mut run.exoscope {
                    detail.start = self.start();
                }
                self.file.runs.push(*run);
            }
            Event::Failed { mut failure } => {
                failure.start = self.start();
                self.file.failures.push(*failure);
            }
            Event::Sampled { series } => series.into_iter().for_each(|chunk| self.append(chunk)),
            Event::Ended { at, cut_short } => {
                self.ended = true;
                self.cut_short = cut_short;
                if let Some(provenance) = &mut self.provenance {
                    provenance.ended_at = Some(at);
                }
            }
            Event::Idled { window } => self.file.idle_windows.push(window),
            Event::BatchStarted { concurrency, .. } => {
                let (runs, failures) = (self.file.runs.len(), self.file.failures.len());
                self.batch = Some(Batch { runs, failures, requests: concurrency as usize });
            }
            Event::BatchEnded => self.batch = None,
            Event::Resumed { start } => self.resume(start),
            Event::PlacementStarted { instance_id, .. } => {
                self.instances.insert(instance_id);
            }
            Event::Waiting { .. } | Event::WarmedUp { .. } | Event::PlacementEnded => {}
        }
    }

    /// What follows comes from a further start. A batch that the earlier one did not bring to its end is measured again:
    /// what is left of it ran beside requests that never finished.
    fn resume(&mut self, start: Start) {
        let through = |batch: &Batch, fold: &Self| {
            let interrupted = fold.file.failures.iter().skip(batch.failures).any(was_interrupted);
            let ended = fold.file.runs.len() - batch.runs + fold.file.failures.len() - batch.failures;
            ended == batch.requests && !interrupted
        };
        if let Some(batch) = self.batch.take().filter(|batch| !through(batch, self)) {
            let dropped = self.file.runs.len() - batch.runs;
            self.file.runs.truncate(batch.runs);
            self.file.failures.truncate(batch.failures);
            if dropped > 0 {
                self.notices.push(format!(
                    "a batch was cut off at the end of an earlier start and measured again; {} of its first try {} left out",
                    analyzer::units::count(dropped as u64, "row"),
                    if dropped == 1 { "is" } else { "are" },
                ));
            }
        }
        let Some(provenance) = &mut self.provenance else { return };
        if provenance.starts.is_empty() {
            provenance.starts.push(Start {
                at: provenance.started_at.clone(),
                at_s: 0.0,
                command: provenance.command.clone(),
            });
            let details = self.file.runs.iter_mut().filter_map(|run| run.exoscope.as_mut());
            details.for_each(|detail| detail.start = Some(0));
            self.file.failures.iter_mut().for_each(|failure| failure.start = Some(0));
        }
        provenance.starts.push(start);
        provenance.ended_at = None;
        self.ended = false;
        self.cut_short = None;
    }

    /// The start that is under way; none for a run in one go.
    fn start(&self) -> Option<u32> {
        let starts = self.provenance.as_ref()?.starts.len();
        u32::try_from(starts).ok()?.checked_sub(1)
    }

    /// Who, how and of what; none before the run has started.
    #[must_use]
    pub const fn provenance(&self) -> Option<&Provenance> {
        self.provenance.as_ref()
    }

    /// What was measured so far.
    #[must_use]
    pub const fn file(&self) -> &ResultFile {
        &self.file
    }

    /// The instances that the run made.
    #[must_use]
    pub const fn instances(&self) -> &BTreeSet<String> {
        &self.instances
    }

    /// Whether nothing that was planned is missing, as far as the run has ended.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.cut_short.is_none()
    }

    /// Whether the run came to an orderly end, early or not.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Measured requests that gave a row.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.file.runs.len()
    }

    /// Measured requests that failed; warm-ups are not measured, and those that the user cut off did not fail.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.file.failures.iter().filter(|failure| !failure.warmup && !was_interrupted(failure)).count()
    }

    /// The result file; none when the run did not even start.
    ///
    /// Without an end among the events, the reason given here is why.
    #[must_use]
    pub fn finish(self, otherwise: &str) -> Option<ResultFile> {
        let finished = self.rows() as u64 + self.failed() as u64;
        let Self { mut file, provenance, planned, notices, ended, cut_short, .. } = self;
        let mut provenance = provenance?;
        let reason = if ended { cut_short } else { Some(otherwise.to_owned()) };
        provenance.incomplete =
            reason.map(|reason| Incomplete { reason, planned_requests: planned, finished_requests: finished });
        provenance.notices.extend(notices);
        file.system_metrics = summarise(&file.metric_series);
        for series in &mut file.metric_series {
            series.health = Some(analyzer::energy::health(series));
        }
        file.exoscope = Some(provenance);
        Some(file)
    }

    /// Readings of the same node, instance and session are one series, however many chunks they came in.
    fn append(&mut self, chunk: MetricSeries) {
        let same = |series: &&mut MetricSeries| {
            series.node_id == chunk.node_id
                && series.instance_id == chunk.instance_id
                && series.session == chunk.session
                && series.source == chunk.source
        };
        let Some(series) = self.file.metric_series.iter_mut().find(same) else {
            self.file.metric_series.push(chunk);
            return;
        };
        series.t_s.extend(chunk.t_s);
        series.poll_s.extend(chunk.poll_s);
        let (into, from) = (&mut series.columns, chunk.columns);
        into.sys_power.extend(from.sys_power);
        into.temp.extend(from.temp);
        into.gpu_usage.extend(from.gpu_usage);
        into.pcpu_usage.extend(from.pcpu_usage);
        into.ecpu_usage.extend(from.ecpu_usage);
    }
}

fn was_interrupted(failure: &Failure) -> bool {
    failure.kind == FailureKind::Interrupted
}

/// exo's own summary of the node metrics, over all placements (exo's client keeps the last one's only). None without a
/// reading. Rounded to two decimals, as exo does.
fn summarise(all: &[MetricSeries]) -> Option<SystemMetrics> {
    let mut readings: BTreeMap<&str, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    for series in all {
        let columns = &series.columns;
        for (name, column) in [
            ("gpuUsage", &columns.gpu_usage),
            ("temp", &columns.temp),
            ("sysPower", &columns.sys_power),
            ("pcpuUsage", &columns.pcpu_usage),
            ("ecpuUsage", &columns.ecpu_usage),
        ] {
            let values = column.iter().flatten().copied();
            readings.entry(&series.node_id).or_default().entry(name).or_default().extend(values);
        }
    }
    let metrics: SystemMetrics = readings
        .into_iter()
        .map(|(node, metrics)| {
            let ranges = metrics
                .into_iter()
                .filter_map(|(name, values)| range(&values).map(|range| (name.to_owned(), range)))
                .collect::<BTreeMap<_, _>>();
            (node.to_owned(), ranges)
        })
        .filter(|(_, ranges)| !ranges.is_empty())
        .collect();
    (!metrics.is_empty()).then_some(metrics)
}

fn range(values: &[f64]) -> Option<MetricRange> {
    let rounded = |value: f64| (value * 100.0).round() / 100.0;
    let min = values.iter().copied().reduce(f64::min)?;
    let max = values.iter().copied().reduce(f64::max)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some(MetricRange { min: rounded(min), max: rounded(max), mean: rounded(mean), samples: values.len() as u64 })
}

#[cfg(test)]
mod tests {
    use analyzer::record::SeriesColumns;

    use super::*;

    fn chunk(node: &str, t: f64, watts: Option<f64>) -> MetricSeries {
        let none = vec![None];
        let columns = SeriesColumns {
            sys_power: vec![watts],
            temp: none.clone(),
            gpu_usage: none.clone(),
            pcpu_usage: none.clone(),
            ecpu_usage: none,
        };
        MetricSeries {
            node_id: node.into(),
            source: "exo nodeSystem".into(),
            instance_id: Some("i".into()),
            session: 0,
            interval_s: 1.0,
            t_s: vec![t],
            poll_s: vec![0.01],
            columns,
            health: None,
        }
    }

    #[test]
    fn chunks_of_a_node_become_one_series_and_missing_readings_are_not_summarised() {
        let mut fold = Fold::default();
        fold.take(Event::Sampled { series: vec![chunk("a", 1.0, Some(10.0)), chunk("b", 1.0, None)] });
        fold.take(Event::Sampled { series: vec![chunk("a", 2.0, Some(20.005)), chunk("b", 2.0, None)] });
        assert_eq!(fold.file.metric_series.len(), 2);
        assert_eq!(fold.file.metric_series[0].t_s, [1.0, 2.0]);
        let metrics = summarise(&fold.file.metric_series).unwrap();
        let power = metrics["a"]["sysPower"];
        assert_eq!((power.min, power.max, power.mean, power.samples), (10.0, 20.01, 15.0, 2));
        assert!(!metrics.contains_key("b") && !metrics["a"].contains_key("temp"));
    }

    #[test]
    fn without_a_start_there_is_no_file() {
        assert!(Fold::default().finish("x").is_none());
    }
}
