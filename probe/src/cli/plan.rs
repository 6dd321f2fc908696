//! `exoscope plan`.

use std::path::{Path, PathBuf};

use analyzer::comparison::Options;
use analyzer::comparison::planning::{self, Design, Known};

use super::compare::{read_calibration, refused};
use super::{CliError, Exit};
use crate::report::document;
use crate::report::render::{self, Look, OverviewFormat};
use crate::report::target;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The smallest change that a comparison of two such runs will show, before they are run. How much repeats and sessions vary
comes from a calibration, from a file of the same cells, or from --noise and --floor.

Examples:
  exoscope plan --sessions 3 --repeat 3 before.json
  exoscope plan --sessions 1 --repeat 10 --calibration calibration.json
  exoscope plan --sessions 5 --repeat 3 --noise 1 --floor 1.5 --seconds-per-request 12

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// A result file of the same cells: how they vary, and how long they take
    #[arg(value_name = "FILE")]
    file: Option<String>,
    /// Sessions per side
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    sessions: u32,
    /// Repeats of each cell per session
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: u32,
    /// How much sessions differ by themselves, from `exoscope calibrate`
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,
    /// Standard deviation between sessions, percent
    #[arg(long, value_name = "PERCENT")]
    floor: Option<f64>,
    /// Standard deviation of repeats within a session, percent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    noise: Option<f64>,
    /// How long one request takes, where no file tells
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    seconds_per_request: Option<f64>,
    /// The smallest change of rates and times that matters, percent
    #[arg(long, value_name = "PERCENT", default_value_t = Options::default().delta_percent)]
    delta: f64,
    /// The smallest change of energy that matters, percent
    #[arg(long, value_name = "PERCENT", default_value_t = Options::default().delta_energy_percent)]
    delta_energy: f64,
    /// How the plan is written
    #[arg(long, value_enum, default_value_t)]
    format: OverviewFormat,
    /// Write to this file instead of standard output; folders are made as needed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn within(text: &str, range: std::ops::RangeInclusive<f64>) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if range.contains(&number) {
        Ok(number)
    } else {
        Err(format!("it must be from {} to {}", range.start(), range.end()))
    }
}

fn percent(text: &str) -> Result<f64, String> {
    within(text, 0.0..=100.0)
}

fn seconds(text: &str) -> Result<f64, String> {
    within(text, 0.0..=1e6)
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let as_failure =
            |error: CliError| if error.exit == Exit::Incomparable { CliError::failed(error) } else { error };
        let inputs = self.file.iter().map(Path::new).chain(self.calibration.as_deref());
        target::spare("--output", self.output.as_deref(), inputs).map_err(CliError::usage)?;
        let file = self.file.as_deref().map(document::load).transpose().map_err(CliError::failed)?;
        let calibration = self.calibration.as_deref().map(read_calibration).transpose().map_err(as_failure)?;
        let options = Options {
            delta_percent: self.delta,
            delta_energy_percent: self.delta_energy,
            floor_percent: self.floor,
            ..Options::default()
        };
        let known = Known {
            calibration: calibration.as_ref(),
            file: file.as_ref(),
            floor_percent: self.floor,
            noise_percent: self.noise,
            seconds_per_request: self.seconds_per_request,
        };
        let design = Design { sessions: self.sessions, repeats: self.repeat };
        let plan = planning::plan(design, known, &options).map_err(refused).map_err(as_failure)?;
        let text = render::plan(&plan, self.format, Look::of(self.output.as_deref())).map_err(CliError::failed)?;
        document::write(self.output.as_deref(), &text).map_err(CliError::failed)?;
        Ok(Exit::Done)
    }
}
