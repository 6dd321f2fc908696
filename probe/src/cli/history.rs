//! `exoscope history`.

use std::fs;
use std::path::{Path, PathBuf};

use analyzer::comparison::history::{self, Dated};
use analyzer::import::Loaded;

use super::compare::{Judging, refused};
use super::{CliError, Exit};
use crate::report::document;
use crate::report::progress::say;
use crate::report::render::{self, Look, OverviewFormat};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The newest file is compared with all files of the seven days before it, and with those since the last change of level. A
file's time is the start of its run; where it does not tell, as exo's own files, the date of the file.

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
    /// Write to this file instead of standard output; folders are made as needed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let options = self.judging.options()?;
        let mut files = Vec::new();
        for path in self.paths()? {
            match dated(&path) {
                Ok(file) => {
                    self.judging.spare(self.output.as_deref(), [path.as_path()])?;
                    files.push(file);
                }
                // An archive holds other files, too; what was left out is said.
                Err(reason) => say(&format!("exoscope: {reason}; left out")),
            }
        }
        if files.is_empty() {
            return Err(CliError::incomparable(format!("{}: no result file in it", self.archive.join(", "))));
        }
        let found = history::history(files, &options).map_err(refused)?;
        let text =
            render::history(&found, self.format, Look::of(self.output.as_deref())).map_err(CliError::incomparable)?;
        document::write(self.output.as_deref(), &text).map_err(CliError::incomparable)?;
        let segments = found.against_segments.iter().map(|segment| &segment.comparison);
        Ok(self.judging.exit(found.against_week.iter().chain(segments)))
    }

    /// The files, each once, in the order of their names.
    fn paths(&self) -> Result<Vec<PathBuf>, CliError> {
        let mut paths = Vec::new();
        for name in &self.archive {
            let path = Path::new(name);
            if path.is_dir() {
                paths.extend(matching(path, "*.json")?);
            } else if path.exists() {
                paths.push(path.to_path_buf());
            } else {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                paths.extend(matching(folder.unwrap_or_else(|| Path::new(".")), &pattern)?);
            }
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }
}

/// The files of a folder whose name matches.
fn matching(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, CliError> {
    let read = |error: std::io::Error| CliError::incomparable(format!("{}: cannot be read: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_file() && matches(pattern.as_bytes(), name.as_bytes()) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Whether a name fits a pattern: * is any run of bytes, ? any one of them.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // The last * and how much of the name it holds so far: when the rest does not fit, it takes one more.
    let (mut at, mut of_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while of_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, of_name));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || *wanted == name[of_name] => {
                at += 1;
                of_name += 1;
            }
            _ => match &mut star {
                Some((place, held)) => {
                    *held += 1;
                    (at, of_name) = (*place + 1, *held);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// Reads a file with its time.
fn dated(path: &Path) -> Result<Dated, String> {
    let loaded = document::load(&path.to_string_lossy()).map_err(|error| error.to_string())?;
    let (at, words) = match started(&loaded) {
        Some(at) => (at, at.to_string()),
        None => {
            let modified = fs::metadata(path).and_then(|found| found.modified());
            let at = modified.ok().and_then(|time| jiff::Timestamp::try_from(time).ok());
            let at = at.ok_or_else(|| {
                format!("{}: neither the file nor its date tells when it was measured", path.display())
            })?;
            (at, format!("{at} (date of the file)"))
        }
    };
    Ok(Dated { loaded, at_s: at.as_nanosecond() as f64 / 1e9, at: words })
}

fn started(loaded: &Loaded) -> Option<jiff::Timestamp> {
    loaded.file.exoscope.as_ref()?.started_at.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_fit() {
        for (pattern, name, fits) in [
            ("*.json", "a.json", true),
            ("*.json", "a.jsonl", false),
            ("a*b*c", "aXbYbZc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
    }
}
