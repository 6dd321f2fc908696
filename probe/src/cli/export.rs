//! `exoscope export`.

use std::path::{Path, PathBuf};

use analyzer::import::Loaded;

use super::{CliError, Exit};
use crate::export;
use crate::report::document;
use crate::report::progress::say;
use crate::report::render::{self, Look};
use crate::report::{shown, target};

/// The formats of other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line per request, every field flat, units in the names
    Csv,
    /// The report as tables in Markdown
    Markdown,
    /// The report with all numbers unrounded
    Json,
    /// A folder with runs.parquet, series.parquet and failures.parquet
    Parquet,
    /// Go's benchmark format, for benchstat: a line per value
    Gobench,
    /// The text exposition format of Prometheus, in base units
    Prometheus,
    /// JUnit's XML: a test case per request
    Junit,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exoscope export results.json --format csv --output requests.csv
  exoscope export before.json --format gobench --output before.txt && benchstat before.txt after.txt
  exoscope export week/*.json --format parquet --partitioned --output archive
  duckdb -c \"from read_parquet('archive/runs/**/*.parquet', hive_partitioning = true)\"

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// Result files; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    /// Where it goes: a file, for parquet a folder; without it text goes to standard output. Folders are made as needed
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// With parquet: add to an archive, one part per table, model, day and run
    #[arg(long)]
    partitioned: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        if self.partitioned && self.format != Format::Parquet {
            return Err(CliError::usage("--partitioned goes with --format parquet; the other formats are one file"));
        }
        let folder = self.folder()?;
        let tables = folder.iter().flat_map(|folder| export::TABLES.map(|name| folder.join(format!("{name}.parquet"))));
        for place in self.output.clone().into_iter().chain(tables) {
            target::spare("--output", Some(&place), &self.files).map_err(CliError::usage)?;
        }
        let mut loaded = Vec::new();
        let mut exit = Exit::Done;
        for name in &self.files {
            match document::load(name) {
                Ok(file) => loaded.push(file),
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
        if let Some(folder) = folder {
            let write = if self.partitioned { export::partitioned } else { export::in_folder };
            for path in write(&loaded, &folder).map_err(CliError::failed)? {
                document::write(None, &format!("{}\n", shown(&path))).map_err(CliError::failed)?;
            }
            return Ok(exit);
        }
        let text = self.text(&loaded)?;
        document::write(self.output.as_deref(), &text).map_err(CliError::failed)?;
        Ok(exit)
    }

    /// The folder that Parquet files go to; none for the other formats.
    fn folder(&self) -> Result<Option<PathBuf>, CliError> {
        if self.format != Format::Parquet {
            return Ok(None);
        }
        let Some(folder) = self.output.as_deref().filter(|path| *path != Path::new(document::STANDARD)) else {
            return Err(CliError::usage("--format parquet writes several files; name a folder with --output"));
        };
        if folder.extension().is_some_and(|ending| ending == "parquet") || folder.is_file() {
            let place = folder.display();
            return Err(CliError::usage(format!("--output {place}: parquet writes several files; name a folder")));
        }
        Ok(Some(folder.to_path_buf()))
    }

    fn text(&self, loaded: &[Loaded]) -> Result<String, CliError> {
        let reports = || analyzer::summary::reports(loaded).map_err(CliError::failed);
        let rendered = |format| {
            let look = Look::of(self.output.as_deref());
            render::reports(&reports()?, format, look).map_err(CliError::failed)
        };
        match self.format {
            Format::Csv => export::csv(loaded).map_err(CliError::failed),
            Format::Markdown => rendered(render::Format::Markdown),
            Format::Json => rendered(render::Format::Json),
            Format::Gobench => Ok(export::gobench(&reports()?)),
            Format::Prometheus => Ok(export::prometheus(&reports()?)),
            Format::Junit => Ok(export::junit(loaded)),
            Format::Parquet => Err(CliError::usage("--format parquet writes files; name a folder with --output")),
        }
    }
}
