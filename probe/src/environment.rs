//! What the probe's own machine is.

use analyzer::record::{Host, Tool};

/// The machine that the probe runs on.
#[must_use]
pub fn host() -> Host {
    Host { os: std::env::consts::OS.into(), arch: std::env::consts::ARCH.into() }
}

/// This program.
#[must_use]
pub fn tool() -> Tool {
    Tool { name: "exoscope".into(), version: env!("CARGO_PKG_VERSION").into() }
}
