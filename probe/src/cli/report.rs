//! `exoscope report`.

use std::path::PathBuf;

use super::{CliError, Exit};
use crate::report::document;
use crate::report::progress::say;
use crate::report::render::{self, Format, Look};
use crate::report::target;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exoscope report results.json
  exoscope report monday.json tuesday.json --format csv --output week.csv
  exoscope report --format json - < results.json
  exoscope report results.json --power meter.csv

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// Result files of exo_bench (any version), of exoscope bench or of other tools; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Power readings to lay over each run by time: macmon (JSON Lines), powermetrics (-f plist) or a meter's CSV (time,
    /// watts); give it once per instrument
    #[arg(long, value_name = "FILE")]
    power: Vec<String>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file instead of standard output; folders are made as needed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let inputs = self.files.iter().chain(&self.power);
        target::spare("--output", self.output.as_deref(), inputs).map_err(CliError::usage)?;
        let mut loaded = Vec::new();
        let mut exit = Exit::Done;
        for name in &self.files {
            match document::load(name) {
                Ok(mut file) => {
                    document::lay_over(&mut file, &self.power).map_err(CliError::failed)?;
                    loaded.push(file);
                }
                Err(error) => {
                    // One bad file does not hide the others.
                    say(&format!("exoscope: {error}"));
                    exit = Exit::Failed;
                }
            }
        }
        if loaded.is_empty() {
            return Ok(exit);
        }
        let reports = analyzer::summary::reports(&loaded).map_err(CliError::failed)?;
        let look = Look::of(self.output.as_deref());
        let text = render::reports(&reports, self.format, look).map_err(CliError::failed)?;
        document::write(self.output.as_deref(), &text).map_err(CliError::failed)?;
        Ok(exit)
    }
}
