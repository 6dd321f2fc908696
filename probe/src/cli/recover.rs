//! `exoscope recover`.

use std::path::{Path, PathBuf};

use analyzer::units::count;

use super::{CliError, Exit};
use crate::capture::journal;
use crate::capture::output::Output;
use crate::report::shown;

/// Makes a result file of the journal that a cut-off run left. The file says that it is incomplete and holds every request
/// that finished; the journal stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exoscope recover bench/results.json.journal
  exoscope recover results.json.journal --output rescued.json

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// The journal: the result file's name with .journal behind it
    journal: PathBuf,
    /// Where the result file goes; by default the journal's name without .journal
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let name = self.journal.display().to_string();
        let place = self.output.or_else(|| without_ending(&self.journal)).ok_or_else(|| {
            CliError::usage(format!("{name} does not end in .journal; say where the result file goes with --output"))
        })?;
        if place == Path::new(crate::report::document::STANDARD) {
            return Err(CliError::usage("--output -: name a file, a result file is not written to standard output"));
        }
        let read = journal::read(&self.journal).map_err(CliError::failed)?;
        let (rows, failed) = (read.fold.rows(), read.fold.failed());
        let file = read.fold.finish("recovered from the journal of a run that was cut off").ok_or_else(|| {
            CliError::failed(format!("{name}: the run was cut off before it started, so there is nothing to recover"))
        })?;
        if place.exists() {
            return Err(CliError::failed(format!(
                "{} is there already and is not overwritten; name another file with --output",
                place.display()
            )));
        }
        Output::at("--output", &place).and_then(|output| output.write(&file)).map_err(CliError::failed)?;
        let torn = if read.torn { "; the last line was cut off in the middle and is left out" } else { "" };
        let (rows, failed) = (count(rows as u64, "row"), count(failed as u64, "failure"));
        let words = format!("{}: {rows} and {failed} recovered{torn}\n", shown(&place));
        crate::report::document::write(None, &words).map_err(CliError::failed)?;
        Ok(Exit::Done)
    }
}

/// `results.json.journal` → `results.json`.
pub(super) fn without_ending(journal: &Path) -> Option<PathBuf> {
    // The name need not be text; only its ending is.
    (journal.extension()? == "journal").then(|| journal.with_extension(""))
}
