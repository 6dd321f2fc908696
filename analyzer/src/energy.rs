//! Energy of a window of time from power readings, how sure it is, and why there is none.
//!
//! * `publications` polls → what the sensor published, and when.
//! * `health` what can be told of a node's readings alone: missing, frozen, zero.
//! * `phases` the spans of a batch in which power is of one kind.
//! * `integral` one node in one window, phase by phase, with its uncertainty.
//! * `reading` all nodes of a placement, and what is wrong with the sum.
//! * `validity` what can be wrong, as a closed list of words.
//! * `accumulate` windows that are too short alone, put together.
//! * `idle` what a node draws at rest.
//! * `power` the record of a file: which channel speaks for which batch.
//! * `exo_client` exo's own figure, to be laid beside ours.
//!
//! [`read`] is the way in for a window; it withholds nothing, [`Reading::is_valid`] says whether to show it.

mod accumulate;
mod exo_client;
mod health;
mod idle;
mod integral;
mod phases;
mod power;
mod publications;
mod reading;
mod validity;

pub use accumulate::{Accumulated, accumulate};
pub use exo_client::exo_client_joules;
pub use health::health;
pub use idle::{IDLE_SAMPLES_NEEDED, idle_power_w};
pub use integral::{NodeReading, Part, integrate};
pub use phases::{Phases, Split, Window, first_token_s};
pub use power::{PowerRecord, Recorded, Served};
pub use publications::{Channel, Publication, SENSOR_PERIOD_S};
pub use reading::{GAP_S, Joules, Reading, SAMPLES_NEEDED, STALLED_S, UNCERTAIN_SHARE, read};
pub use validity::Validity;
