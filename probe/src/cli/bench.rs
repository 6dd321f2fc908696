//! `exoscope bench`.

use super::{CliError, Exit};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl Arguments {
    pub(super) fn run(self, _command: Vec<String>) -> Result<Exit, CliError> {
        Err(CliError::failed("not there yet"))
    }
}
