//! Sends requests and stamps what arrives; keeps what was seen, also through a crash.
//!
//! - [`clock`] is the only clock.
//! - [`interrupt`] is the wish to stop, from the user or from a full disk.
//! - [`transport`] is the only place that knows the HTTP library: one connection per request, opened beforehand.
//! - [`exchange`] is one request and its stamped bytes.
//! - [`socket`] lets a last byte go past that library.
//! - [`held_back`] keeps the last byte of a request until the start; [`barrier`] lets prepared requests start together; [`batch`] sends them.
//! - [`cluster`] asks an exo cluster the small questions: models, placements, states.
//! - [`sampler`] polls the node metrics.
//! - [`event`] is the only road from the runner to terminal, journal and file; [`recorder`] is where they go in.
//! - [`journal`] appends them to a file that survives a crash; [`fold`] makes a result file of them.
//! - [`recording`] keeps the raw exchanges, for `exoscope replay`.
//! - [`output`] claims the output before anything is measured and writes it whole or not at all.

pub mod barrier;
pub mod batch;
pub mod clock;
pub mod cluster;
pub mod event;
pub mod exchange;
pub mod fold;
pub mod held_back;
pub mod interrupt;
pub mod journal;
pub mod output;
pub mod recorder;
pub mod recording;
pub mod sampler;
pub mod socket;
pub mod transport;
