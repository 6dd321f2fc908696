//! Energy of the nodes of a placement in one window, with what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use super::integral::{self, GUESSED_SHARE, NodeReading};
use super::phases::{Phases, Split, Window};
use super::publications::Channel;
use super::validity::Validity;

/// Below this many publications inside, the shape of the load is not seen: at one a second a window of 3 s has three.
pub const SAMPLES_NEEDED: usize = 5;

/// An energy is shown where its standard uncertainty is at most this share of it; an error of a tenth hides most changes.
pub const UNCERTAIN_SHARE: f64 = 0.1;

/// Publications further apart than this are a gap, s: three of the sensor's periods.
pub const GAP_S: f64 = 3.0;

/// A sensor that shows the same values for longer than this while polled has stalled, s: five of its periods.
pub const STALLED_S: f64 = 5.0;

/// Joules and how sure they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joules {
    /// The energy, J.
    pub value: f64,
    /// Its standard uncertainty, J.
    pub uncertainty: f64,
}

impl Joules {
    /// Of a value and its variance.
    pub(super) fn of(value: f64, variance_j2: f64) -> Self {
        Self { value, uncertainty: variance_j2.sqrt() }
    }

    /// The uncertainty as a share of the value; infinite for 0 J.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.value > 0.0 { self.uncertainty / self.value } else { f64::INFINITY }
    }
}

/// What the power readings of a placement say of one window. It withholds nothing: the codes say whether to believe it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The window and its phases.
    pub phases: Phases,
    /// All nodes added up; None where one has no answer.
    pub energy: Option<Joules>,
    /// Of the prefill, waiting included; None where phases overlap or a node has no publication in it.
    pub prefill: Option<Joules>,
    /// Of the decoding; None as for the prefill.
    pub decode: Option<Joules>,
    /// Publications inside, of the node with the fewest.
    pub samples: usize,
    /// Longest time between two publications of a node, s.
    pub longest_gap_s: f64,
    /// What is wrong.
    pub codes: BTreeSet<Validity>,
    /// For each code that is a node's fault, the first node that has it.
    pub culprits: BTreeMap<Validity, String>,
    /// Node by node, in the placement's order; those without an answer are left out.
    pub nodes: Vec<NodeReading>,
}

impl Reading {
    /// Whether the energy is good enough to be shown.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.energy.is_some() && !self.codes.iter().any(|code| code.withholds())
    }

    /// A reading of nothing, for this reason.
    #[must_use]
    pub fn none(window: Window, code: Validity) -> Self {
        Self {
            phases: Phases::new(window, Split::Unknown),
            energy: None,
            prefill: None,
            decode: None,
            samples: 0,
            longest_gap_s: 0.0,
            codes: BTreeSet::from([code]),
            culprits: BTreeMap::new(),
            nodes: Vec::new(),
        }
    }
}

/// Reads the window of a batch off the channels of the nodes that hold the model. A node without a channel is missing.
#[must_use]
pub fn read(nodes: &[(&str, Option<&Channel>)], phases: Phases) -> Reading {
    let mut reading = Reading::none(phases.window, Validity::UnknownNodes);
    reading.phases = phases;
    if nodes.is_empty() || phases.window.seconds() <= 0.0 {
        return reading;
    }
    reading.codes.clear();
    if phases.split == Split::Overlapping {
        reading.codes.insert(Validity::OverlappingPhases);
    }
    for (node, channel) in nodes {
        let channel = channel.filter(|channel| !channel.publications.is_empty());
        let code = match channel {
            None => Some(Validity::NodeMissing),
            Some(channel) => {
                let found = integral::integrate(node, channel, &phases);
                let code = if found.is_none() { Some(Validity::WindowNotBracketed) } else { fault(channel, &phases) };
                reading.nodes.extend(found);
                code
            }
        };
        if let Some(code) = code {
            reading.codes.insert(code);
            reading.culprits.entry(code).or_insert_with(|| (*node).to_owned());
        }
    }
    sum(&mut reading, nodes.len());
    reading
}

/// What is wrong with a channel itself inside the window.
fn fault(channel: &Channel, phases: &Phases) -> Option<Validity> {
    let Window { from_s, to_s } = phases.window;
    let shown = |one: &&super::Publication| one.seen_s <= to_s && one.last_seen_s >= from_s;
    let mut inside = channel.publications.iter().filter(shown);
    inside.find_map(|one| {
        if one.power_w <= 0.0 {
            return Some(Validity::ChannelZero);
        }
        (one.last_seen_s.min(to_s) - one.seen_s.max(from_s) > STALLED_S).then_some(Validity::CounterStalled)
    })
}

fn sum(reading: &mut Reading, nodes: usize) {
    let seconds = reading.phases.window.seconds();
    let found = &reading.nodes;
    reading.samples = found.iter().map(|node| node.samples).min().unwrap_or(0);
    reading.longest_gap_s = found.iter().map(|node| node.longest_gap_s).fold(0.0, f64::max);
    if reading.longest_gap_s > GAP_S {
        reading.codes.insert(Validity::Gap);
    }
    if found.len() < nodes {
        return;
    }
    let total = Joules::of(found.iter().map(|node| node.joules).sum(), found.iter().map(|node| node.variance_j2).sum());
    reading.energy = Some(total);
    let unseen = |node: &NodeReading| {
        node.parts.iter().any(|part| part.joules.is_none() && part.seconds >= GUESSED_SHARE * seconds)
    };
    if reading.samples < SAMPLES_NEEDED || found.iter().any(unseen) {
        reading.codes.insert(Validity::TooFewSamples);
    }
    if total.share() > UNCERTAIN_SHARE {
        reading.codes.insert(Validity::Uncertain);
    }
    if let Split::At(_) = reading.phases.split {
        let part = |place: usize| {
            let parts: Option<Vec<(f64, f64)>> = found
                .iter()
                .map(|node| node.parts.get(place).and_then(|part| Some((part.joules?, part.variance_j2))))
                .collect();
            parts.map(|parts| Joules::of(parts.iter().map(|part| part.0).sum(), parts.iter().map(|part| part.1).sum()))
        };
        (reading.prefill, reading.decode) = (part(0), part(1));
    }
}
