//! The energies of a cell: what the power readings say of each of its batches, and a sentence where they say too little.

use super::{CellKey, NodeEnergy};
use crate::energy::{self, Joules, Phases, PowerRecord, Reading, SAMPLES_NEEDED, Served, Split, Validity, Window};
use crate::frame::{self, Batch, Cell};
use crate::metric::Metric;
use crate::record::{NodeId, ResultFile};
use crate::throughput;
use crate::units;

/// What the power readings give for one cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Energies {
    /// Per batch: the account where it may be shown. For windows put together the first batch holds the only one.
    accounts: Vec<Option<Account>>,
    /// Per batch: exo's client figure, J.
    exo_client: Vec<Option<f64>>,
    /// Per batch: what was read.
    readings: Vec<Reading>,
    /// Windows behind an accumulated account; 0 where the accounts are the batches' own.
    accumulated: usize,
    /// Power at rest of each node in each batch, W; in the order of the readings' nodes.
    idle_nodes: Vec<Vec<Option<f64>>>,
    /// Tokens to generate.
    tg: Option<u64>,
    /// Mean decode rate of a request, tok/s.
    rate: Option<f64>,
}

/// An energy that may be shown, with what it is set against.
#[derive(Debug, Clone, Copy)]
struct Account {
    energy: Joules,
    prefill: Option<Joules>,
    decode: Option<Joules>,
    seconds: f64,
    /// Seconds of prefill and decode; None where the phases overlap or several windows were put together.
    phase_seconds: Option<[f64; 2]>,
    idle_power_w: Option<f64>,
    /// Mean prompt tokens of a request.
    prompt_tokens: Option<f64>,
    /// All generated tokens of the batch.
    generated_tokens: Option<f64>,
}

/// Reads the windows of all batches of a cell.
pub(super) fn energies(file: &ResultFile, power: &PowerRecord<'_>, cell: &Cell) -> Energies {
    let rates: Vec<f64> =
        cell.batches.iter().flat_map(|batch| batch.column(frame::GENERATION_TPS).iter().flatten().copied()).collect();
    let rate = crate::statistics::spread::mean(&rates).filter(|rate| *rate > 0.0);
    let mut found = Energies { tg: cell.key.tg, rate, ..Energies::default() };
    // Without a series nobody asked for power, or no node could tell; that is one fact of the file, not one per cell.
    if file.metric_series.is_empty() {
        return found;
    }
    for batch in &cell.batches {
        let (nodes, served) = served(file, batch);
        let mut reading = match (phases(file, cell.key.together(), batch), nodes.is_empty()) {
            (Some(phases), false) => read(power, nodes, served, phases),
            (phases, _) => {
                let window = phases.map_or(Window { from_s: 0.0, to_s: 0.0 }, |phases| phases.window);
                Reading::none(window, Validity::UnknownNodes)
            }
        };
        // People know their machines by name; ids change at each start of exo.
        for node in reading.culprits.values_mut() {
            if let Some(name) = super::facts::node_name(file, node) {
                *node = name;
            }
        }
        let window = reading.phases.window;
        found.exo_client.push(exo_client(power, nodes, served, window));
        let account = reading.energy.filter(|_| reading.is_valid()).map(|energy| Account {
            energy,
            prefill: reading.prefill,
            decode: reading.decode,
            seconds: window.seconds(),
            phase_seconds: match reading.phases.spans().as_slice() {
                [prefill, decode] => Some([prefill.seconds(), decode.seconds()]),
                _ => None,
            },
            idle_power_w: power.idle_power_w(nodes, served),
            prompt_tokens: mean(batch.column(frame::PROMPT_TOKENS)),
            generated_tokens: batch.column(frame::GENERATION_TOKENS).iter().copied().sum(),
        });
        found.accounts.push(account);
        let idle = |node: &energy::NodeReading| power.idle_power_w(std::slice::from_ref(&node.node), served);
        found.idle_nodes.push(reading.nodes.iter().map(idle).collect());
        found.readings.push(reading);
    }
    if found.accounts.iter().all(Option::is_none) {
        accumulate(file, power, cell, &mut found);
    }
    found
}

/// One account of all windows together, where none holds enough alone and nothing else is wrong with them.
fn accumulate(file: &ResultFile, power: &PowerRecord<'_>, cell: &Cell, found: &mut Energies) {
    let usable = |reading: &Reading| {
        reading.energy.is_some() && reading.codes.iter().all(|code| code.is_of_length() || !code.withholds())
    };
    let (Some(batch), true) = (cell.batches.first(), found.readings.iter().all(usable)) else { return };
    let Some(all) = energy::accumulate(&found.readings.iter().collect::<Vec<_>>()) else { return };
    let (nodes, served) = served(file, batch);
    let tokens = |name: &str| {
        let sums: Vec<Option<f64>> =
            cell.batches.iter().map(|batch| batch.column(name).iter().copied().sum()).collect();
        mean(&sums)
    };
    found.accumulated = all.windows;
    found.accounts[0] = Some(Account {
        energy: all.energy,
        prefill: all.prefill,
        decode: all.decode,
        seconds: all.seconds,
        phase_seconds: None,
        idle_power_w: power.idle_power_w(nodes, served),
        // One request a window at concurrency 1, and above it there is no prefill of its own.
        prompt_tokens: tokens(frame::PROMPT_TOKENS),
        generated_tokens: tokens(frame::GENERATION_TOKENS),
    });
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    crate::statistics::spread::mean(&values)
}

/// The nodes that held the model for a batch, and the instance.
fn served<'a>(file: &'a ResultFile, batch: &Batch) -> (&'a [NodeId], Served<'a>) {
    let run = batch.rows.first().and_then(|row| file.runs.get(*row));
    let detail = run.and_then(|run| run.exoscope.as_ref());
    let nodes = detail.and_then(|detail| detail.placement.as_ref()).map_or(&[][..], |placement| &placement.nodes);
    let session = detail.map_or(0, |detail| detail.session);
    (nodes, Served { instance_id: run.and_then(|run| run.instance_id.as_deref()), session })
}

/// From the first request sent to the last answer done; split at the first token of a lone request.
fn phases(file: &ResultFile, concurrency: u32, batch: &Batch) -> Option<Phases> {
    let (from_s, to_s) = throughput::stamped_window(batch.column(frame::SENT), batch.column(frame::DONE))?;
    let window = Window { from_s, to_s };
    if concurrency > 1 {
        return Some(Phases::new(window, Split::Overlapping));
    }
    let seen = batch.rows.first().and_then(|row| file.runs.get(*row)?.exoscope.as_ref()?.timing.first_token_s);
    let first = |name: &str| batch.column(name).first().copied().flatten();
    let split = energy::first_token_s(seen, to_s, first(frame::GENERATION_TOKENS), first(frame::GENERATION_TPS));
    Some(Phases::new(window, split.map_or(Split::Unknown, Split::At)))
}

fn read(power: &PowerRecord<'_>, nodes: &[NodeId], served: Served<'_>, phases: Phases) -> Reading {
    let channels: Vec<(&str, Option<&energy::Channel>)> = nodes
        .iter()
        .map(|node| (node.as_str(), power.channel(node, served, phases.window).map(|found| &found.channel)))
        .collect();
    energy::read(&channels, phases)
}

/// exo adds up the nodes it has samples of; None where it has none of any.
fn exo_client(power: &PowerRecord<'_>, nodes: &[NodeId], served: Served<'_>, window: Window) -> Option<f64> {
    nodes
        .iter()
        .filter_map(|node| {
            let series = power.channel(node, served, window)?.series;
            energy::exo_client_joules(&series.t_s, &series.columns.powers_w(), window)
        })
        .reduce(|sum, joules| sum + joules)
        // A source that reports 0 W is none.
        .filter(|joules| *joules > 0.0)
}

impl Energies {
    /// The value of an energy metric in one batch.
    pub(super) fn value(&self, metric: Metric, key: &CellKey, batch: usize) -> Option<f64> {
        if metric == Metric::EnergyExoClient {
            return self.exo_client.get(batch).copied().flatten();
        }
        let account = self.accounts.get(batch).copied().flatten()?;
        let gross = account.energy.value;
        let sure =
            |part: Option<Joules>| part.filter(|part| part.share() <= energy::UNCERTAIN_SHARE).map(|part| part.value);
        let per =
            |joules: f64, tokens: Option<f64>| tokens.filter(|tokens| *tokens > 0.0).map(|tokens| joules / tokens);
        match metric {
            Metric::Energy => Some(gross),
            Metric::Power => Some(gross / account.seconds),
            Metric::TokensPerSecondPerWatt => {
                account.generated_tokens.filter(|tokens| *tokens > 0.0).map(|tokens| tokens / gross)
            }
            Metric::EnergyNet => account.idle_power_w.map(|idle| gross - idle * account.seconds),
            Metric::IdleShare => account.idle_power_w.map(|idle| 100.0 * idle * account.seconds / gross),
            Metric::EnergyPrefill => sure(account.prefill),
            Metric::EnergyDecode => sure(account.decode),
            Metric::JoulesPerPromptToken if key.cache == super::CacheState::Cold => {
                per(sure(account.prefill)?, account.prompt_tokens)
            }
            Metric::JoulesPerGeneratedToken => per(sure(account.decode)?, account.generated_tokens),
            Metric::JoulesPerGeneratedTokenBatch if key.together() > 1 => per(gross, account.generated_tokens),
            Metric::JoulesPerPromptTokenNet if key.cache == super::CacheState::Cold => {
                per(sure(account.prefill)? - account.idle_power_w? * account.phase_seconds?[0], account.prompt_tokens)
            }
            Metric::JoulesPerGeneratedTokenNet => {
                per(sure(account.decode)? - account.idle_power_w? * account.phase_seconds?[1], account.generated_tokens)
            }
            Metric::JoulesPerGeneratedTokenBatchNet if key.together() > 1 => {
                per(gross - account.idle_power_w? * account.seconds, account.generated_tokens)
            }
            _ => None,
        }
    }

    /// Mean energy of each node over the batches whose energy is shown; none where only windows together tell one.
    pub(super) fn nodes(&self, file: &ResultFile) -> Vec<NodeEnergy> {
        let shown: Vec<&Reading> = self.readings.iter().filter(|reading| reading.is_valid()).collect();
        let of = |name: &str, pick: &dyn Fn(&energy::NodeReading) -> Option<f64>| {
            let values: Vec<Option<f64>> = shown
                .iter()
                .map(|reading| reading.nodes.iter().find(|node| node.node == name).and_then(pick))
                .collect();
            mean(&values)
        };
        let phase = |place: usize| {
            move |node: &energy::NodeReading| {
                // A single part is the whole window and no phase.
                node.parts.get(place).filter(|_| node.parts.len() > 1).and_then(|part| part.joules)
            }
        };
        let net = |name: &str| {
            let all = self.readings.iter().zip(&self.idle_nodes).filter(|(reading, _)| reading.is_valid());
            let values: Vec<Option<f64>> = all
                .map(|(reading, idle)| {
                    let place = reading.nodes.iter().position(|node| node.node == name)?;
                    let rest = idle.get(place).copied().flatten()?;
                    Some(reading.nodes[place].joules - rest * reading.phases.window.seconds())
                })
                .collect();
            mean(&values)
        };
        let names = shown.first().map_or(&[][..], |reading| &reading.nodes);
        names
            .iter()
            .filter_map(|node| {
                Some(NodeEnergy {
                    label: super::facts::node_name(file, &node.node).unwrap_or_else(|| node.node.clone()),
                    joules: of(&node.node, &|node| Some(node.joules))?,
                    prefill_joules: of(&node.node, &phase(0)),
                    decode_joules: of(&node.node, &phase(1)),
                    net_joules: net(&node.node),
                    node_id: node.node.clone(),
                })
            })
            .collect()
    }

    /// Largest uncertainty of the cell's energies, percent; None where there is none.
    pub(super) fn uncertainty_percent(&self) -> Option<f64> {
        self.accounts.iter().flatten().map(|account| 100.0 * account.energy.share()).reduce(f64::max)
    }

    /// Whether any batch has an energy that may be shown.
    pub(super) fn are_known(&self) -> bool {
        self.accounts.iter().any(Option::is_some)
    }

    /// Whether the one energy is that of several windows.
    pub(super) const fn are_accumulated(&self) -> bool {
        self.accumulated > 0
    }

    /// The codes of all batches, each once, the gravest first.
    pub(super) fn codes(&self) -> Vec<Validity> {
        let codes: std::collections::BTreeSet<Validity> =
            self.readings.iter().flat_map(|reading| reading.codes.iter().copied()).collect();
        codes.into_iter().collect()
    }

    /// What weakens the energies that are shown, a sentence each.
    pub(super) fn warnings(&self, metric: Metric) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.accumulated > 0 {
            let alone = "none is long enough alone, so this says nothing of how they vary";
            warnings.push(format!("accumulated over {}: {alone}", units::count(self.accumulated as u64, "window")));
        } else {
            let absent = self.accounts.iter().filter(|account| account.is_none()).count();
            if absent > 0 {
                let batches = units::part(absent as u64, self.accounts.len() as u64, "batch");
                let have = units::agree(absent as u64, "has", "have");
                let why = self.why().map_or_else(String::new, |why| format!(": {why}"));
                warnings.push(format!("{batches} {have} no energy{why}"));
            }
        }
        if metric == Metric::Energy {
            warnings.extend(
                self.uncertainty_percent().map(|percent| {
                    format!("± {} by timing and accuracy of the power readings", units::percent(percent))
                }),
            );
        }
        let shown = self.readings.iter().zip(&self.accounts).filter(|(_, account)| account.is_some());
        let gap = shown.map(|(reading, _)| reading.longest_gap_s).fold(0.0, f64::max);
        if gap > energy::GAP_S {
            warnings.push(format!("power readings are up to {} s apart", units::fixed(gap, 1)));
        }
        warnings
    }

    /// Why a batch has no energy, for the first that has none, and what would help.
    pub(super) fn why(&self) -> Option<String> {
        let reading = self.readings.iter().zip(&self.accounts).find_map(|(reading, account)| {
            account.is_none().then_some(reading).filter(|reading| !reading.is_valid())
        })?;
        let code = reading.codes.iter().find(|code| code.withholds())?;
        let node = reading.culprits.get(code).map_or(units::ABSENT, String::as_str);
        Some(match code {
            Validity::UnknownNodes => "the file does not tell which nodes held the model, or when".to_owned(),
            Validity::NodeMissing => format!("node {node} has no power readings; see that macmon runs there"),
            Validity::WindowNotBracketed => {
                format!("the power readings of node {node} end before the batch does or begin after it began")
            }
            Validity::ChannelZero => format!("node {node} reported 0 W, which no running machine draws"),
            Validity::CounterStalled => format!(
                "the readings of node {node} stood still for more than {} s of it; restart macmon there",
                energy::STALLED_S
            ),
            _ => self.too_short(reading),
        })
    }
}

/// The sentence for a window that is too short for its readings, with the length that would do.
pub(super) fn sentence(reading: &Reading) -> String {
    let seconds = reading.phases.window.seconds();
    if reading.samples < SAMPLES_NEEDED {
        let samples = units::count(reading.samples as u64, "power sample");
        return format!(
            "window too short: {samples} inside {} s, {SAMPLES_NEEDED} are needed",
            units::fixed(seconds, 1)
        );
    }
    let share = reading.energy.map_or(f64::INFINITY, Joules::share);
    if share > energy::UNCERTAIN_SHARE {
        return format!(
            "window too short: the power readings tell its energy to ± {}, {} is allowed",
            units::percent(100.0 * share),
            units::percent(100.0 * energy::UNCERTAIN_SHARE)
        );
    }
    "no power sample fell into one of its phases, which is too long to be guessed; a longer prompt would do".to_owned()
}

impl Energies {
    /// The sentence with what would help.
    fn too_short(&self, reading: &Reading) -> String {
        let sentence = sentence(reading);
        let seconds = reading.phases.window.seconds();
        let Some(needed) = needed_s(reading).filter(|needed| *needed > seconds) else { return sentence };
        let longer = match (self.tg, self.rate) {
            // To the next ten: the estimate is no better.
            // Beyond a hundred times the length the estimate says no more than that.
            _ if needed / seconds > 100.0 => format!("one of {} s and more would do", units::fixed(needed, 0)),
            (Some(tg), Some(rate)) => {
                let tokens = ((tg as f64 + (needed - seconds) * rate) / 10.0).ceil() * 10.0;
                format!("about --tg {} would do", units::fixed(tokens, 0))
            }
            _ => format!("one {} times as long would do", units::fixed(needed / seconds, 1)),
        };
        format!("{sentence}; {longer}, or a larger --repeat to accumulate")
    }
}

/// Seconds that a window like this one needs: five publications and a period for the edges, and as long as its edges must
/// weigh little.
fn needed_s(reading: &Reading) -> Option<f64> {
    let for_samples = (SAMPLES_NEEDED as f64 + 1.0) * energy::SENSOR_PERIOD_S;
    let energy = reading.energy?;
    let power = energy.value / reading.phases.window.seconds();
    let for_edges = energy.uncertainty / (energy::UNCERTAIN_SHARE * power);
    Some(for_samples.max(for_edges)).filter(|seconds| seconds.is_finite())
}
