//! `exoscope redact`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{CliError, Exit};
use crate::redact::redact;
use crate::replay::Unpacked;
use crate::report::progress::say;
use crate::report::{document, reading, shown};

/// Replaces what names a machine, a person or a text in a result file or a recording, and leaves every number.
///
/// Host names, addresses, node ids, friendly names, hardware ids and user names in paths get the same replacement
/// everywhere. Previews of answers become null. Any other text under a key that is not known to name no one becomes text-1,
/// text-2 …; in recordings its letters and digits become x, as those of prompts and answers do. Of a command line the flags
/// stay and the values that say how was measured. Model names and instance ids stay. In notices, names are found only where
/// they also stand in a known place: look the file over before you share it. Exit code 3: the recording was cut off.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exoscope redact bench/results.json
  exoscope redact run.jsonl.gz --output share.jsonl.gz")]
pub(super) struct Arguments {
    /// The result file or the recording; it stays as it is
    file: PathBuf,
    /// Where the redacted one goes; by default FILE with .redacted before its ending. Never overwrites
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let place = self.output.unwrap_or_else(|| beside(&self.file));
        if place == Path::new(document::STANDARD) {
            return Err(CliError::usage("--output -: name a file, a redacted file is not written to standard output"));
        }
        let unpacked = Unpacked::read(&self.file).map_err(|error| CliError::failed(words(&self.file, &error)))?;
        let redacted = redact(&self.file, &unpacked).map_err(CliError::failed)?;
        write(&place, &redacted.bytes, unpacked.gzipped).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => CliError::failed(format!(
                "{} is there already and is not overwritten; name another file with --output",
                place.display()
            )),
            _ => CliError::failed(format!(
                "{} cannot be written: {error}; name another file with --output",
                place.display()
            )),
        })?;
        let counts: Vec<String> = redacted.counts.iter().map(|(kind, count)| format!("{kind}: {count}")).collect();
        let counts = if counts.is_empty() { "nothing to replace".into() } else { counts.join(", ") };
        document::write(None, &format!("{}: {counts}\n", shown(&place))).map_err(CliError::failed)?;
        for note in &redacted.notes {
            say(&format!("note: {}: {note}", self.file.display()));
        }
        // What was lost is no part of what is shared; a script should know.
        Ok(if redacted.lost > 0 { Exit::Partial } else { Exit::Done })
    }
}

/// The reader speaks of recordings; here it may be a result file too.
fn words(file: &Path, error: &crate::replay::LoadError) -> String {
    match error {
        crate::replay::LoadError::Read { source, .. } => {
            let name = file.display().to_string();
            format!("{name}: cannot be read: {}; give a result file or a recording", reading::why(&name, source))
        }
        other => other.to_string(),
    }
}

/// `run.jsonl.gz` → `run.redacted.jsonl.gz`.
fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let at = plain.rfind('.').filter(|at| *at > 0).unwrap_or(plain.len());
    file.with_file_name(format!("{}.redacted{}", &name[..at], &name[at..]))
}

/// Whole or not at all, and never over another file.
fn write(place: &Path, bytes: &[u8], zipped: bool) -> std::io::Result<()> {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new().prefix(".exoscope-").tempfile_in(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        beside.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    if zipped {
        let mut packed = GzEncoder::new(&mut beside, Compression::default());
        packed.write_all(bytes)?;
        packed.finish()?;
    } else {
        beside.write_all(bytes)?;
    }
    beside.as_file().sync_all()?;
    beside.persist_noclobber(place).map_err(|error| error.error)?;
    Ok(())
}
