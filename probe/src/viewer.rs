//! Serves the built web app on this machine, with result files preloaded.
//!
//! - [`app`] finds the built app.
//! - [`server`] serves it, to this machine only.
//! - [`check`] asks it for what a browser will ask for.

pub mod app;
pub mod check;
pub mod server;
