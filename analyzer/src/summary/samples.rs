//! The values of each metric, cell by cell, and what makes them weaker than they look.

use super::{CacheState, CellKey};
use crate::energy::{self, Absent, Energy, GAP_TO_WARN_S, SAMPLES_TO_COMPARE, Window};
use crate::frame::{self, Batch, Cell, FrameError};
use crate::import::Loaded;
use crate::metric::Metric;
use crate::record::ResultFile;
use crate::throughput;
use crate::units;

/// exo's server runs this many requests at once (EXO_MAX_CONCURRENT_REQUESTS); the rest wait.
const EXO_REQUESTS_AT_ONCE: u32 = 8;

/// A cell with its samples.
#[derive(Debug, Clone)]
pub(crate) struct MeasuredCell {
    /// The requests.
    pub(crate) cell: Cell,
    /// Metrics with at least one value, in the catalogue's order.
    pub(crate) samples: Vec<Sample>,
    /// What a reader should know of the cell beside its numbers.
    pub(crate) notices: Vec<String>,
    /// Fewest power samples in the window of any batch; None where no batch has an energy.
    pub(crate) power_samples: Option<usize>,
    /// Power readings behind the server's own account, of the request and node with the fewest.
    pub(crate) server_power_samples: Option<usize>,
}

/// The values of one metric.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// Which metric.
    pub(crate) metric: Metric,
    /// The values, batch by batch in the order of measurement.
    pub(crate) groups: Vec<Group>,
    /// What weakens them, a sentence each.
    pub(crate) warnings: Vec<String>,
}

/// The values of one batch. Requests of a batch disturb each other: they are one measurement.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Number of the session.
    pub(crate) session: u32,
    /// One value per request, or one for the batch.
    pub(crate) values: Vec<f64>,
}

impl Sample {
    /// All values in the order of measurement.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.groups.iter().flat_map(|group| group.values.iter().copied()).collect()
    }
}

impl MeasuredCell {
    /// The cell's key.
    pub(crate) const fn key(&self) -> &CellKey {
        &self.cell.key
    }

    /// The sample of a metric.
    pub(crate) fn sample(&self, metric: Metric) -> Option<&Sample> {
        self.samples.iter().find(|sample| sample.metric == metric)
    }
}

/// Groups a file's requests into cells and takes each metric's values out.
pub(crate) fn measure(loaded: &Loaded) -> Result<Vec<MeasuredCell>, FrameError> {
    Ok(frame::cells(loaded)?.into_iter().map(|cell| measure_cell(&loaded.file, cell)).collect())
}

fn measure_cell(file: &ResultFile, cell: Cell) -> MeasuredCell {
    let energies: Vec<Result<Energy, Absent>> = cell.batches.iter().map(|batch| batch_energy(file, batch)).collect();
    let mut samples = Vec::new();
    for metric in Metric::ALL {
        let groups: Vec<Group> = cell
            .batches
            .iter()
            .zip(&energies)
            .map(|(batch, energy)| Group {
                session: batch.session,
                values: values(metric, &cell, batch, energy.as_ref().ok().copied()),
            })
            .filter(|group| !group.values.is_empty())
            .collect();
        if !groups.is_empty() {
            let warnings = warnings(metric, &cell, &groups, &energies);
            samples.push(Sample { metric, groups, warnings });
        }
    }
    let notices = energy_notices(file, &cell.key, &energies);
    let power_samples = energies.iter().flatten().map(|energy| energy.samples).min();
    let server_power_samples = server_power_samples(&cell);
    MeasuredCell { cell, samples, notices, power_samples, server_power_samples }
}

/// Power readings behind the server's account, of the request with the fewest.
fn server_power_samples(cell: &Cell) -> Option<usize> {
    let counts = cell.batches.iter().flat_map(|batch| batch.column(frame::SERVER_SAMPLES)).flatten();
    counts.copied().reduce(f64::min).map(|fewest| fewest as usize)
}

/// The sentence for an energy of too few power readings; none where there are enough.
fn too_short(fewest: Option<usize>) -> Option<String> {
    let fewest = fewest.filter(|fewest| *fewest < SAMPLES_TO_COMPARE)?;
    Some(format!(
        "window too short: as few as {} inside, {SAMPLES_TO_COMPARE} are needed to trust it; generate more tokens",
        units::count(fewest as u64, "power sample")
    ))
}

/// The values of one metric in one batch; none where it has none.
fn values(metric: Metric, cell: &Cell, batch: &Batch, energy: Option<Energy>) -> Vec<f64> {
    // A rate or a time of 0 or below is no measurement: exo writes a decode rate of 0 for one token and for failed streams.
    let positive = |name: &str| batch.column(name).iter().flatten().copied().filter(|value| *value > 0.0).collect();
    let rates: Vec<Option<f64>> =
        batch.column(frame::GENERATION_TPS).iter().map(|rate| rate.filter(|rate| *rate > 0.0)).collect();
    let concurrency = cell.key.concurrency;
    let together = concurrency > 1;
    let window = window(batch);
    let one = |value: Option<f64>| -> Vec<f64> { value.into_iter().collect() };
    match metric {
        Metric::PrefillTps => positive(frame::PROMPT_TPS),
        Metric::GenerationTps => positive(frame::GENERATION_TPS),
        Metric::Elapsed => positive(frame::ELAPSED),
        Metric::Ttft => positive(frame::TTFT),
        Metric::AggregateExoMaxTimesN if together => one(throughput::max_times_concurrency(&rates, concurrency)),
        Metric::AggregateSumOfRates if together => one(throughput::sum_of_rates(&rates)),
        Metric::AggregateTokensOverWall if together => {
            let wall_s =
                throughput::wall_s(batch.column(frame::SENT), batch.column(frame::DONE), batch.column(frame::ELAPSED));
            one(throughput::tokens_over_wall(batch.column(frame::GENERATION_TOKENS), wall_s))
        }
        Metric::AggregateExoMaxTimesN | Metric::AggregateSumOfRates | Metric::AggregateTokensOverWall => Vec::new(),
        Metric::EnergyClient => one(energy.map(|energy| energy.joules)),
        Metric::PowerClient => {
            one(energy.zip(window).map(|(energy, window)| energy.joules / (window.to_s - window.from_s)))
        }
        Metric::EnergyServer => batch.column(frame::SERVER_ENERGY).iter().flatten().copied().collect(),
        Metric::PeakMemory => positive(frame::PEAK),
    }
}

fn window(batch: &Batch) -> Option<Window> {
    throughput::stamped_window(batch.column(frame::SENT), batch.column(frame::DONE))
        .map(|(from_s, to_s)| Window { from_s, to_s })
}

/// Client energy of a batch: from its first request sent to its last answer done, over the nodes of its placement.
fn batch_energy(file: &ResultFile, batch: &Batch) -> Result<Energy, Absent> {
    let row = batch.rows.first().and_then(|row| file.runs.get(*row));
    let detail = row.and_then(|run| run.exoscope.as_ref());
    let (Some(row), Some(detail), Some(window)) = (row, detail, window(batch)) else {
        return Err(Absent::UnknownNodes);
    };
    let nodes = detail.placement.as_ref().map_or(&[][..], |placement| &placement.nodes);
    energy::of_nodes(nodes, window, |node| {
        file.metric_series
            .iter()
            .find(|series| {
                series.node_id == node
                    && series.session == detail.session
                    && (series.instance_id.is_none() || series.instance_id == row.instance_id)
            })
            .map(|series| (series.t_s.as_slice(), series.columns.sys_power.as_slice()))
    })
}

fn energy_notices(file: &ResultFile, key: &CellKey, energies: &[Result<Energy, Absent>]) -> Vec<String> {
    // Without a series nobody asked for power, or no node could tell; that is one fact of the file, not one per cell.
    if file.metric_series.is_empty() {
        return Vec::new();
    }
    let reasons: Vec<String> =
        energies.iter().filter_map(|energy| energy.as_ref().err()).map(Absent::to_string).collect();
    let Some(reason) = reasons.first() else { return Vec::new() };
    vec![format!("{}: no client energy for {} of {} batches: {reason}", key.words(), reasons.len(), energies.len())]
}

fn warnings(metric: Metric, cell: &Cell, groups: &[Group], energies: &[Result<Energy, Absent>]) -> Vec<String> {
    let mut warnings = Vec::new();
    let key = &cell.key;
    match groups.iter().map(|group| group.values.len()).sum::<usize>() {
        1 => warnings.push("single shot: one value has no deviation".to_owned()),
        2 if groups.len() == 2 => warnings.push("two values: their deviation says little".to_owned()),
        _ => {}
    }
    match (metric, key.cache) {
        (Metric::PrefillTps, CacheState::Exact) => {
            warnings.push(
                "the whole prompt came from the prefix cache: exo repeats the rate of the request that filled it"
                    .into(),
            );
        }
        (Metric::PrefillTps, CacheState::Partial) => {
            warnings.push("a part of the prompt came from the prefix cache: the rate covers the rest alone".into());
        }
        _ => {}
    }
    let batch_metric =
        matches!(metric, Metric::AggregateExoMaxTimesN | Metric::AggregateSumOfRates | Metric::AggregateTokensOverWall);
    let short = cell.batches.iter().filter(|batch| batch.rows.len() < key.concurrency as usize).count();
    if batch_metric && short > 0 {
        warnings.push(format!(
            "{short} of {} batches have fewer valid requests than the {} asked for",
            cell.batches.len(),
            key.concurrency
        ));
    }
    if key.concurrency > EXO_REQUESTS_AT_ONCE
        && matches!(metric, Metric::GenerationTps | Metric::AggregateExoMaxTimesN | Metric::AggregateSumOfRates)
    {
        warnings.push(format!(
            "exo runs {EXO_REQUESTS_AT_ONCE} requests at once unless told otherwise: of {} some waited, and this rate does not see it",
            key.concurrency
        ));
    }
    if metric == Metric::EnergyServer {
        warnings.extend(too_short(server_power_samples(cell)));
    }
    if metric == Metric::EnergyServer && key.concurrency > 1 {
        warnings
            .push("each request's account covers the whole cluster while the others ran: do not add them up".into());
    }
    if matches!(metric, Metric::EnergyClient | Metric::PowerClient) {
        warnings.extend(energy_warnings(energies));
    }
    warnings
}

fn energy_warnings(energies: &[Result<Energy, Absent>]) -> Vec<String> {
    let known: Vec<&Energy> = energies.iter().flatten().collect();
    let mut warnings = Vec::new();
    warnings.extend(too_short(known.iter().map(|energy| energy.samples).min()));
    let gap = known.iter().map(|energy| energy.longest_gap_s).fold(0.0, f64::max);
    if gap > GAP_TO_WARN_S {
        warnings.push(format!("power samples are up to {} s apart", units::fixed(gap, 1)));
    }
    if known.len() < energies.len() {
        warnings.push(format!("{} of {} batches have no energy", energies.len() - known.len(), energies.len()));
    }
    warnings
}
