//! The values of each metric, cell by cell, and what makes them weaker than they look.

use std::collections::BTreeMap;
use std::ops::Deref;

use super::energies::{self, Energies};
use super::overlays::Overlays;
use super::published;
use super::{AbsentMetric, CacheState, CellKey, NodeEnergy};
use super::{StandardError, deviations};
use crate::energy::{PowerRecord, SAMPLES_NEEDED};
use crate::frame::{self, Batch, Cell, FrameError};
use crate::import::Loaded;
use crate::metric::{Metric, is_positive, is_value};
use crate::record::ResultFile;
use crate::statistics::spread;
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
    /// Metrics that were measured and are not shown.
    pub(crate) absent: Vec<AbsentMetric>,
    /// The energy node by node.
    pub(crate) nodes: Vec<NodeEnergy>,
    /// Power readings behind the server's own account, of the request and node with the fewest.
    pub(crate) server_power_samples: Option<usize>,
    /// Whether the energy is that of the windows of several batches together, which alone are too short.
    pub(crate) is_accumulated: bool,
    /// What an instrument that was laid over the run covers; None without one.
    pub(crate) overlay_scope: Option<crate::record::PowerScope>,
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
    /// Largest standard uncertainty of a value by what it was read off, percent; None where it is not known.
    pub(crate) uncertainty_percent: Option<f64>,
    /// How sure each value is, where another tool published means with their deviations; else empty.
    pub(crate) errors: Vec<StandardError>,
}

/// The values of one batch. Requests of a batch disturb each other: they are one measurement.
///
/// There is one per batch and metric: a million rows make some million of them, so they are kept small.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Place of the batch among those of the cell.
    pub(crate) batch: u32,
    /// Number of the session among all instances of the file.
    pub(crate) session: u32,
    /// One value per request, or one for the batch.
    pub(crate) values: Values,
}

/// The values of a batch, read as a slice. Most batches have one.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// The only one.
    One([f64; 1]),
    /// None, or several.
    #[expect(
        clippy::box_collection,
        reason = "a slice in a box would take twice the room, in the many groups of one, too"
    )]
    Many(Box<Vec<f64>>),
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        match *values {
            [value] => Self::One([value]),
            _ => Self::Many(Box::new(values)),
        }
    }
}

impl Deref for Values {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::One(value) => value,
            Self::Many(values) => values,
        }
    }
}

impl Sample {
    /// All values in the order of measurement.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.groups.iter().flat_map(|group| group.values.iter().copied()).collect()
    }

    /// One value per batch in the order of measurement: what is independent.
    pub(crate) fn batch_means(&self) -> Vec<f64> {
        self.groups.iter().filter_map(|group| spread::mean(&group.values)).collect()
    }

    /// The batches' means, session by session in the order of first appearance.
    pub(crate) fn sessions(&self) -> Vec<Vec<f64>> {
        let mut sessions: Vec<Vec<f64>> = Vec::new();
        let mut places: BTreeMap<u32, usize> = BTreeMap::new();
        for group in &self.groups {
            let place = *places.entry(group.session).or_insert(sessions.len());
            if place == sessions.len() {
                sessions.push(Vec::new());
            }
            sessions[place].extend(spread::mean(&group.values));
        }
        sessions
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
    let power = PowerRecord::of(&loaded.file);
    let overlays = Overlays::of(&loaded.file);
    let found = frame::cells(loaded)?;
    Ok(found.into_iter().map(|cell| measure_cell(&loaded.file, &power, &overlays, cell)).collect())
}

fn measure_cell(file: &ResultFile, power: &PowerRecord<'_>, overlays: &Overlays, cell: Cell) -> MeasuredCell {
    let energies = energies::energies(file, power, &cell);
    let mut samples = Vec::new();
    for metric in Metric::ALL {
        let groups = cell.batches.iter().zip(0_u32..).filter_map(|(batch, place)| {
            let energy = match metric {
                Metric::EnergyOverlay => overlays.joules(batch),
                _ => energies.value(metric, &cell.key, place as usize),
            };
            let mut values = energy.map_or_else(|| values(metric, &cell, batch), |energy| vec![energy]);
            values.retain(|value| is_value(*value));
            (!values.is_empty()).then(|| Group { batch: place, session: batch.session, values: values.into() })
        });
        let groups: Vec<Group> = groups.collect();
        if !groups.is_empty() {
            let mut warnings = warnings(file, metric, &cell, &groups, &energies);
            if metric == Metric::EnergyOverlay {
                warnings.extend(overlays.warnings(&cell));
            }
            let uncertainty_percent = energies.uncertainty_percent().filter(|_| metric == Metric::Energy);
            let mut errors = deviations::errors(file, metric, &cell);
            errors.truncate(if errors.len() == groups.len() { groups.len() } else { 0 });
            samples.push(Sample { metric, groups, warnings, uncertainty_percent, errors });
        }
    }
    let mut absent = absent_energy(&energies);
    absent.extend(overlays.absent(&cell));
    let server_power_samples = server_power_samples(&cell);
    MeasuredCell {
        nodes: energies.nodes(file),
        cell,
        samples,
        absent,
        server_power_samples,
        is_accumulated: energies.are_accumulated(),
        overlay_scope: overlays.scope(),
    }
}

/// The energy that was read and is not shown.
fn absent_energy(energies: &Energies) -> Vec<AbsentMetric> {
    let why = energies.why().filter(|_| !energies.are_known());
    why.map(|why| AbsentMetric { metric: Metric::Energy, codes: energies.codes(), why }).into_iter().collect()
}

/// Power readings behind the server's account, of the request with the fewest.
fn server_power_samples(cell: &Cell) -> Option<usize> {
    let counts = cell.batches.iter().flat_map(|batch| batch.column(frame::SERVER_SAMPLES)).flatten();
    counts.copied().reduce(f64::min).map(|fewest| fewest as usize)
}

/// The sentence for an energy of too few power readings; none where there are enough.
fn too_short(fewest: Option<usize>) -> Option<String> {
    let fewest = fewest.filter(|fewest| *fewest < SAMPLES_NEEDED)?;
    Some(format!(
        "window too short: as few as {} inside, {SAMPLES_NEEDED} are needed to trust it; generate more tokens",
        units::count(fewest as u64, "power sample")
    ))
}

/// The values of one metric in one batch; none where it has none. Those of the power readings stand in `energies`.
fn values(metric: Metric, cell: &Cell, batch: &Batch) -> Vec<f64> {
    if let Some(published) = published::values(metric, batch) {
        return published;
    }
    let known = |name: &str| -> Vec<f64> { batch.column(name).iter().flatten().copied().collect() };
    // A rate or a time of 0 or below is no measurement: exo writes a decode rate of 0 for one token and for failed streams.
    let positive = |name: &str| -> Vec<f64> { known(name).into_iter().filter(|value| is_positive(*value)).collect() };
    let rates = || -> Vec<Option<f64>> {
        batch.column(frame::GENERATION_TPS).iter().map(|rate| rate.filter(|rate| is_positive(*rate))).collect()
    };
    let concurrency = cell.key.together();
    let one = |value: Option<f64>| -> Vec<f64> { value.into_iter().collect() };
    let wall_s =
        || throughput::wall_s(batch.column(frame::SENT), batch.column(frame::DONE), batch.column(frame::ELAPSED));
    match metric {
        Metric::PrefillTps => positive(frame::PROMPT_TPS),
        Metric::GenerationTps => positive(frame::GENERATION_TPS),
        Metric::Elapsed => positive(frame::ELAPSED),
        Metric::Ttft => positive(frame::TTFT),
        Metric::TtftGap => known(frame::TTFT_GAP),
        Metric::Tpot => positive(frame::TPOT),
        Metric::Itl => positive(frame::ITL),
        Metric::ItlP99 => positive(frame::ITL_P99),
        Metric::Overhead => known(frame::OVERHEAD),
        Metric::Connect => known(frame::CONNECT),
        _ if metric.is_of_batch() && concurrency <= 1 => Vec::new(),
        Metric::AggregateExoMaxTimesN => one(throughput::max_times_concurrency(&rates(), concurrency)),
        Metric::AggregateSumOfRates => one(throughput::sum_of_rates(&rates())),
        Metric::AggregateTokensOverWall => {
            one(throughput::tokens_over_wall(batch.column(frame::GENERATION_TOKENS), wall_s()))
        }
        Metric::RequestsPerSecond => one(throughput::requests_over_wall(batch.rows.len(), wall_s())),
        Metric::SendSpread => one(throughput::send_spread_s(batch.column(frame::SENT))),
        Metric::EnergyServer => known(frame::SERVER_ENERGY),
        Metric::EnergyServerPrefill => known(frame::SERVER_PREFILL_ENERGY),
        Metric::EnergyServerDecode => known(frame::SERVER_DECODE_ENERGY),
        Metric::PeakMemory => positive(frame::PEAK),
        Metric::Energy
        | Metric::EnergyNet
        | Metric::IdleShare
        | Metric::EnergyPrefill
        | Metric::EnergyDecode
        | Metric::JoulesPerPromptToken
        | Metric::JoulesPerGeneratedToken
        | Metric::JoulesPerGeneratedTokenBatch
        | Metric::JoulesPerPromptTokenNet
        | Metric::JoulesPerGeneratedTokenNet
        | Metric::JoulesPerGeneratedTokenBatchNet
        | Metric::Power
        | Metric::TokensPerSecondPerWatt
        | Metric::EnergyExoClient
        | Metric::EnergyOverlay => Vec::new(),
    }
}

fn warnings(file: &ResultFile, metric: Metric, cell: &Cell, groups: &[Group], energies: &Energies) -> Vec<String> {
    let mut warnings = Vec::new();
    let key = &cell.key;
    match groups.iter().map(|group| group.values.len()).sum::<usize>() {
        // An energy of several windows says itself what it is.
        1 if energies.are_accumulated() && metric.is_of_power_readings() => {}
        // A mean over many is no single shot, though its values are not in the file.
        1 if published::is_mean(file, metric, cell) => {}
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
    let short = cell.batches.iter().filter(|batch| batch.rows.len() < key.together() as usize).count();
    // Other tools keep a load of N going, or tell it as one figure: no batch of theirs is short of requests.
    if (metric.is_of_batch() || metric.is_of_power_readings()) && short > 0 && !published::is_foreign(cell) {
        warnings.push(format!(
            "{} {} fewer valid requests than the {} asked for",
            units::part(short as u64, cell.batches.len() as u64, "batch"),
            units::agree(short as u64, "has", "have"),
            key.together()
        ));
    }
    if key.together() > EXO_REQUESTS_AT_ONCE
        && !published::is_foreign(cell)
        && matches!(metric, Metric::GenerationTps | Metric::AggregateExoMaxTimesN | Metric::AggregateSumOfRates)
    {
        warnings.push(format!(
            "exo runs {EXO_REQUESTS_AT_ONCE} requests at once unless told otherwise: of {} some waited, and this rate does not see it",
            key.together()
        ));
    }
    let by_server = metric.is_of_server_energy();
    if by_server {
        warnings.extend(too_short(server_power_samples(cell)));
    }
    if by_server && key.together() > 1 {
        warnings
            .push("each request's account covers the whole cluster while the others ran: do not add them up".into());
    }
    if metric == Metric::ItlP99 {
        let fewest = cell.batches.iter().flat_map(|batch| batch.column(frame::GAPS)).flatten().copied();
        if let Some(gaps) = fewest.reduce(f64::min).filter(|gaps| *gaps < GAPS_OF_A_TAIL) {
            warnings.push(format!(
                "as few as {gaps} gaps: below {GAPS_OF_A_TAIL} the 99th percentile is close to the largest"
            ));
        }
    }
    warnings.extend(published::warnings(file, metric, cell));
    if metric.is_of_power_readings() {
        warnings.extend(energies.warnings(metric));
    }
    warnings
}

/// Below this many gaps no gap lies beyond the 99th percentile.
const GAPS_OF_A_TAIL: f64 = 100.0;
