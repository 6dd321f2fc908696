//! Serves the built web app on this machine, with result files preloaded.
//!
//! - [`app`] finds the built app.
//! - [`server`] serves it, to this machine only.

pub mod app;
pub mod server;
