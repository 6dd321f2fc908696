//! `exoscope calibrate`.

use std::path::PathBuf;

use analyzer::comparison::calibration;
use analyzer::comparison::measured::MeasuredFile;

use super::compare::{check_names, measure, read_calibration, refused};
use super::{CliError, Exit};
use crate::report::document;
use crate::report::render::{self, Look};
use crate::report::{shown, target};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Measure the same thing several times, with the instance replaced each time (`exoscope bench --sessions 5`, or several
files), and let the differences that are none be known. `exoscope compare --calibration` uses them where a side has one
session.

Examples:
  exoscope calibrate monday.json tuesday.json wednesday.json thursday.json friday.json
  exoscope calibrate sessions.json --output calibration.json

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// Result files of the same thing, five sessions or more together; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Where the calibration is written, over an older one too; folders are made as needed; - is standard output
    #[arg(long, short, value_name = "FILE", default_value = "calibration.json")]
    output: PathBuf,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let as_failure =
            |error: CliError| if error.exit == Exit::Incomparable { CliError::failed(error) } else { error };
        target::spare("--output", Some(&self.output), &self.files).map_err(CliError::usage)?;
        check_names(&self.files)?;
        if self.output.is_file() && read_calibration(&self.output).is_err() {
            return Err(CliError::failed(format!(
                "{} is there already, is no calibration and is not overwritten; name another file with --output",
                shown(&self.output)
            )));
        }
        let files: Vec<MeasuredFile> =
            self.files.iter().map(|name| measure(name, &[])).collect::<Result<_, _>>().map_err(as_failure)?;
        if let Some(reason) = calibration::unlike(&files) {
            return Err(CliError::failed(reason));
        }
        let found = calibration::calibrate(&files).map_err(refused).map_err(as_failure)?;
        let text = render::json(&found).map_err(CliError::failed)?;
        document::write(Some(&self.output), &text).map_err(CliError::failed)?;
        if self.output.as_os_str() != document::STANDARD {
            let mut table = render::calibration(&found, Look::of(None));
            table.push_str(&format!("\nWritten to {}\n", shown(&self.output)));
            document::write(None, &table).map_err(CliError::failed)?;
        }
        Ok(Exit::Done)
    }
}
