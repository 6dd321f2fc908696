//! The energy of each batch by another instrument that was laid over the run.

use crate::energy::{self, Channel, Phases, Split, Window};
use crate::frame::{self, Batch};
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
        let channel = |overlay: &Overlay| (overlay.series.node_id.clone(), Channel::of(&overlay.series));
        Self { channels: widest.map(channel).collect(), scope }
    }

    /// What the instruments cover.
    pub(super) const fn scope(&self) -> Option<PowerScope> {
        self.scope
    }

    /// Energy of a batch, J; None where the readings do not tell it.
    pub(super) fn joules(&self, batch: &Batch) -> Option<f64> {
        self.scope?;
        let (from_s, to_s) = throughput::stamped_window(batch.column(frame::SENT), batch.column(frame::DONE))?;
        let channels: Vec<(&str, Option<&Channel>)> =
            self.channels.iter().map(|(name, channel)| (name.as_str(), Some(channel))).collect();
        let reading = energy::read(&channels, Phases::new(Window { from_s, to_s }, Split::Overlapping));
        reading.energy.filter(|_| reading.is_valid()).map(|energy| energy.value)
    }

    /// What the number covers.
    pub(super) fn warning(&self) -> Option<String> {
        let names: Vec<&str> = self.channels.iter().map(|(name, _)| name.as_str()).collect();
        self.scope.map(|_| format!("covers {}, idling included", names.join(" and ")))
    }
}
