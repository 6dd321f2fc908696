//! `exoscope merge`.

use std::path::{Path, PathBuf};

use analyzer::merging::{self, Differences};

use super::{CliError, Exit};
use crate::capture::output::Output;
use crate::report::{document, shown};

/// Puts several result files of the same thing into one. The runs of each file become further sessions; each file's own
/// account of itself is kept. Files of different models or methods are refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exoscope merge monday.json tuesday.json --output week.json

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// Result files, in the order of their sessions; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Where the merged file goes. Never overwrites
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Merge files of different models or methods all the same
    #[arg(long)]
    force: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.output;
        if place == Path::new(document::STANDARD) {
            return Err(CliError::usage("--output -: name a file, a result file is not written to standard output"));
        }
        if place.exists() {
            return Err(CliError::failed(format!(
                "{} is there already and is not overwritten; name another file with --output",
                place.display()
            )));
        }
        let mut loaded = Vec::with_capacity(self.files.len());
        for name in &self.files {
            // All or nothing: a file that lacks a part would look whole.
            loaded.push(document::load(name).map_err(CliError::failed)?);
        }
        let differences = if self.force { Differences::Accept } else { Differences::Refuse };
        let count = loaded.len();
        let whole = merging::merge(loaded, differences).map_err(CliError::failed)?;
        Output::at("--output", &place).and_then(|output| output.write(&whole)).map_err(CliError::failed)?;
        let words =
            format!("{}: {} of {count} files\n", shown(&place), analyzer::units::count(whole.runs.len() as u64, "row"));
        document::write(None, &words).map_err(CliError::failed)?;
        Ok(Exit::Done)
    }
}
