//! `exoscope compare`.

use std::path::PathBuf;

use analyzer::comparison::{self, CompareError, Options, Verdict};

use super::{CliError, Exit};
use crate::report::document;
use crate::report::render::{self, Format, Look};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A change counts as improved or regressed when chance is ruled out (95 %, adjusted for the number of verdicts) and it is at
least --delta. It counts as the same when the whole 95 % interval lies within --delta. Otherwise it is undecided.

Examples:
  exoscope compare before.json after.json
  exoscope compare before.json after.json --delta 5 --fail-on-regression

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// The result file to compare with; - reads standard input
    #[arg(value_name = "BASE")]
    base: String,
    /// The result file to judge; - reads standard input
    #[arg(value_name = "NEW")]
    new: String,
    /// Power readings to lay over the base by time, as in `report --power`
    #[arg(long, value_name = "FILE")]
    power_base: Vec<String>,
    /// Power readings to lay over the new file by time
    #[arg(long, value_name = "FILE")]
    power_new: Vec<String>,
    /// How the comparison is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file instead of standard output; folders are made as needed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The smallest change of rates and times that matters, percent
    #[arg(long, value_name = "PERCENT", default_value_t = Options::default().delta_percent)]
    delta: f64,
    /// The smallest change of energy that matters, percent
    #[arg(long, value_name = "PERCENT", default_value_t = Options::default().delta_energy_percent)]
    delta_energy: f64,
    /// Exit with code 4 when anything regressed, and with 1 when nothing could be compared
    #[arg(long)]
    fail_on_regression: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        if self.base == document::STANDARD && self.new == document::STANDARD {
            return Err(CliError::usage("only one of the two files can be read from standard input"));
        }
        let mut base = document::load(&self.base).map_err(CliError::failed)?;
        let mut new = document::load(&self.new).map_err(CliError::failed)?;
        document::lay_over(&mut base, &self.power_base).map_err(CliError::failed)?;
        document::lay_over(&mut new, &self.power_new).map_err(CliError::failed)?;
        let options = Options { delta_percent: self.delta, delta_energy_percent: self.delta_energy };
        let compared = comparison::compare(&base, &new, &options).map_err(|error| match error {
            CompareError::Delta(_) => CliError::usage(error),
            _ => CliError::failed(error),
        })?;
        let look = Look::of(self.output.as_deref());
        let text = render::comparison(&compared, self.format, look).map_err(CliError::failed)?;
        document::write(self.output.as_deref(), &text).map_err(CliError::failed)?;
        if !self.fail_on_regression {
            return Ok(Exit::Done);
        }
        let judged = compared.cells.iter().flat_map(|cell| &cell.metrics).filter_map(|metric| metric.verdict);
        let mut judged = judged.filter(|verdict| *verdict != Verdict::NotComparable).peekable();
        if judged.peek().is_none() {
            // A gate that passes because the new run measured nothing guards nothing.
            return Err(CliError::failed(
                "--fail-on-regression: nothing of the two files could be compared, so no regression can be ruled out",
            ));
        }
        Ok(if compared.verdict == Verdict::Regressed { Exit::Regressed } else { Exit::Done })
    }
}
