//! The energy of each batch by another instrument that was laid over the run.

use super::{AbsentMetric, energies};
use crate::energy::{self, Channel, Phases, Reading, Split, Validity, Window};
use crate::frame::{self, Batch, Cell};
use crate::metric::Metric;
use crate::record::{Overlay, PowerScope, ResultFile};
use crate::throughput;

/// The instruments of the widest scope that is there; those of one scope are added up, one meter a machine.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlays {
    channels: Vec<(String, Channel)>,
    scope: Option<PowerScope>,
}

impl Overlays {
    /// Reads each series once, however many batches ask for it.
    pub(super) fn of(file: &ResultFile) -> Self {
        let scope = file.overlays.iter().map(|overlay| overlay.scope).max();
        let widest = file.overlays.iter().filter(|overlay| Some(overlay.scope) == scope);
        let channel = |overlay: &Overlay| (overlay.series.node_id.clone(), Channel::stamped(&overlay.series));
        Self { channels: widest.map(channel).collect(), scope }
    }

    /// What the instruments cover.
    pub(super) const fn scope(&self) -> Option<PowerScope> {
        self.scope
    }

    /// Energy of a batch, J; None where the readings do not tell it.
    pub(super) fn joules(&self, batch: &Batch) -> Option<f64> {
        let reading = self.read(batch)?;
        reading.energy.filter(|_| reading.is_valid()).map(|energy| energy.value)
    }

    fn read(&self, batch: &Batch) -> Option<Reading> {
        self.scope?;
        let (from_s, to_s) = throughput::stamped_window(batch.column(frame::SENT), batch.column(frame::DONE))?;
        let channels: Vec<(&str, Option<&Channel>)> =
            self.channels.iter().map(|(name, channel)| (name.as_str(), Some(channel))).collect();
        Some(energy::read(&channels, Phases::new(Window { from_s, to_s }, Split::Overlapping)))
    }

    /// That readings were laid over the run and tell no energy of this cell, and why. None where they tell one.
    pub(super) fn absent(&self, cell: &Cell) -> Option<AbsentMetric> {
        self.scope?;
        if cell.batches.iter().any(|batch| self.joules(batch).is_some()) {
            return None;
        }
        let reading = cell.batches.iter().find_map(|batch| self.read(batch));
        let codes = reading.as_ref().map_or_else(
            || vec![Validity::UnknownNodes],
            |reading| reading.codes.iter().copied().filter(|code| code.withholds()).collect(),
        );
        Some(AbsentMetric { metric: Metric::EnergyOverlay, codes, why: self.why(reading.as_ref()) })
    }

    fn why(&self, reading: Option<&Reading>) -> String {
        let Some(reading) = reading else {
            return "the file does not tell when these requests ran, so no power reading can be laid over them"
                .to_owned();
        };
        let Some(code) = reading.codes.iter().find(|code| code.withholds()) else {
            return "the power readings laid over the run do not tell it".to_owned();
        };
        let name = reading.culprits.get(code).map_or(crate::units::ABSENT, String::as_str);
        match code {
            Validity::UnknownNodes => "the requests took no time".to_owned(),
            Validity::NodeMissing => format!("{name} has no reading in the time of the run"),
            Validity::WindowNotBracketed => {
                format!("the readings of {name} begin after the requests did, or end before they were done")
            }
            Validity::ChannelZero => format!("{name} reads 0 W, which no running machine draws"),
            _ => energies::sentence(reading),
        }
    }

    /// What the number covers, and how many batches have none.
    pub(super) fn warnings(&self, cell: &Cell) -> Vec<String> {
        let names: Vec<&str> = self.channels.iter().map(|(name, _)| name.as_str()).collect();
        let mut warnings = vec![format!("covers {}, idling included", names.join(" and "))];
        let without: Vec<&Batch> = cell.batches.iter().filter(|batch| self.joules(batch).is_none()).collect();
        if let Some(first) = without.first() {
            warnings.push(format!(
                "{} {} no energy by it: {}",
                crate::units::part(without.len() as u64, cell.batches.len() as u64, "batch"),
                crate::units::agree(without.len() as u64, "has", "have"),
                self.why(self.read(first).as_ref())
            ));
        }
        warnings
    }
}
