//! `exoscope history`.

use std::path::{Path, PathBuf};

use analyzer::comparison::history;
use analyzer::units;

use super::compare::{Judging, refused};
use super::{CliError, Exit};
use crate::archive::{self, Archive, Remembering};
use crate::report::document;
use crate::report::progress::say;
use crate::report::reading;
use crate::report::render::{self, Look, OverviewFormat};
use crate::report::shown;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each change of level before the newest file is told, with its size and the file from which on: that answers whether an update
made things slower. Levels are sought from six files on, and three are one.

The newest file alone is judged: against all files of the seven days before it, and against those since the last change of
level, so that the exit code tells of today's file and not of a change that was there before. A
file's time is the start of its run; where it does not tell, as exo's own files, the date of the file. Files of another
class than the newest are left out. Where the newest has one session, the base's tell how much sessions differ.

What was measured is kept in .exoscope-history.parquet beside the files, so that a file is read again only when it changed.
The file may be deleted at any time; it never changes an answer.

Examples:
  exoscope history results/
  exoscope history 'results/qwen-*.json' --metric generation_tps --format json

Exit codes: 0 nothing regressed, 1 regressed, 2 could not compare. --fail-on says what counts.")]
pub(super) struct Arguments {
    /// Folders of result files, patterns with * and ? in the last part, or files
    #[arg(required = true, value_name = "DIR|GLOB")]
    archive: Vec<String>,
    #[command(flatten)]
    judging: Judging,
    /// How the history is written
    #[arg(long, value_enum, default_value_t)]
    format: OverviewFormat,
    /// Read every file, and keep nothing for the next run
    #[arg(long)]
    no_cache: bool,
    /// Read every file, and keep what was measured for the next run
    #[arg(long, conflicts_with = "no_cache")]
    rebuild_cache: bool,
    /// Say how many files came from the cache
    #[arg(long, short)]
    verbose: bool,
    /// Write to this file instead of standard output; folders are made as needed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let options = self.judging.options()?;
        let unreadable = |(folder, error): (PathBuf, std::io::Error)| {
            let name = folder.display().to_string();
            CliError::incomparable(format!("{name}: cannot be read: {}", reading::why(&name, &error)))
        };
        let mut archive = Archive::new(self.remembering(), &options);
        let (mut left_out, mut outputs) = (Vec::new(), Vec::new());
        let paths = archive::paths(&self.archive).map_err(unreadable)?;
        let is_empty_pattern = paths.is_empty() && self.archive.iter().all(|name| reading::is_pattern(name));
        for path in paths {
            self.judging.spare(self.output.as_deref(), [path.as_path()])?;
            // An archive holds other files, too; what was left out is said.
            if let Err(left) = archive.add(&path) {
                if left.is_output {
                    outputs.push(shown(&path));
                    continue;
                }
                say(&format!("exoscope: {}; left out", left.reason));
                left_out.extend(left.is_broken.then_some(path));
            }
        }
        if !outputs.is_empty() {
            // It stays there, and so it is said in passing, not complained about at every run.
            say(&format!("exoscope: passed over as no result files: {}", outputs.join(", ")));
        }
        let remembered = archive.remembered();
        let (files, notes) = archive.finish();
        notes.iter().for_each(|note| say(&format!("exoscope: {note}")));
        if self.verbose {
            say(&format!("exoscope: {remembered} of {} from the cache", units::count(files.len() as u64, "file")));
        }
        if files.is_empty() {
            let whole = self.archive.join(", ");
            let nothing = if is_empty_pattern { "no file fits this pattern" } else { "no result file in it" };
            return Err(CliError::incomparable(format!("{whole}: {nothing}")));
        }
        let mut found = history::history(files, &options).map_err(refused)?;
        let newest = found.files.last().map(|file| PathBuf::from(&file.name));
        let unread = newest.as_deref().and_then(|newest| left_out.iter().find(|path| is_newer_result(path, newest)));
        if let Some(path) = unread {
            let words = format!("{} is newer than what was judged and cannot be read", shown(path));
            found.notices.insert(0, words);
        }
        let ahead = found.files.last().filter(|file| file.at_s > jiff::Timestamp::now().as_second() as f64 + DAY_S);
        if let Some(file) = ahead {
            let words = format!(
                "{} is dated in the future ({}): what was measured since is not the newest",
                file.name, file.at
            );
            found.notices.insert(0, words);
        }
        let text =
            render::history(&found, self.format, Look::of(self.output.as_deref())).map_err(CliError::incomparable)?;
        document::write(self.output.as_deref(), &text).map_err(CliError::incomparable)?;
        let segments = found.against_segments.iter().map(|segment| &segment.comparison);
        let exit = self.judging.exit(found.against_week.iter().chain(segments));
        match unread {
            // A gate that judges yesterday's run in place of a broken one of today guards nothing.
            Some(path) if exit == Exit::Done => {
                say(&format!("exoscope: {} is newer than what was judged and cannot be read", path.display()));
                Ok(Exit::Incomparable)
            }
            _ => Ok(exit),
        }
    }

    const fn remembering(&self) -> Remembering {
        match (self.no_cache, self.rebuild_cache) {
            (true, _) => Remembering::Off,
            (false, true) => Remembering::Anew,
            (false, false) => Remembering::On,
        }
    }
}

/// Clocks of machines differ, and their zones are sometimes mistaken: a day ahead is none of these, s.
const DAY_S: f64 = 86_400.0;

/// Whether a file that could not be read should have been judged: by its name it is a result file, and it was written after
/// the newest that could.
fn is_newer_result(path: &Path, newest: &Path) -> bool {
    let written = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let is_result =
        path.extension().is_some_and(|ending| ["json", "jsonl", "gz", "log"].iter().any(|one| ending == *one));
    is_result && written(path).zip(written(newest)).is_some_and(|(this, newest)| this > newest)
}
