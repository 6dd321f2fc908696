//! The end of a bench: the result file is written, what is missing is said, the exit code decided.

use std::path::Path;

use analyzer::record::{ResultFile, to_json};

use crate::capture::interrupt::{Interrupt, Why};
use crate::capture::journal::Journal;
use crate::capture::output::Output;
use crate::capture::recorder::Recorder;
use crate::cli::{CliError, Exit};
use crate::method::exo_bench::Conclusion;
use crate::method::exo_bench::trouble::BenchError;
use crate::plan::Plan;
use crate::report::progress::say;
use crate::report::{closing, document};

/// Where the result goes.
#[derive(Debug)]
pub(super) enum Place {
    /// A dry run measures nothing.
    Nowhere,
    /// Standard output; the journal is among the temporary files.
    Stdout,
    /// A file, with the journal beside it.
    File(Output),
}

impl Place {
    /// Claims the place before anything is asked of the cluster.
    pub(super) fn claim(plan: &Plan, json_out: &Path, to_stdout: bool) -> Result<(Self, Option<Journal>), CliError> {
        if plan.dry_run {
            return Ok((Self::Nowhere, None));
        }
        if to_stdout {
            let name = std::env::temp_dir().join(format!("exoscope-{}.json", std::process::id()));
            let (_, journal) = Output::claim(&name).map_err(CliError::failed)?;
            return Ok((Self::Stdout, Some(journal)));
        }
        let (output, journal) = Output::claim(json_out).map_err(CliError::failed)?;
        Ok((Self::File(output), Some(journal)))
    }
}

/// The reason of an end before the end, as the file keeps it.
pub(super) fn reason(error: &BenchError, interrupt: &Interrupt) -> String {
    match (error.is_interrupt(), interrupt.why()) {
        (true, Some(Why::Journal)) => "the journal could not be written any more".into(),
        (true, _) => "interrupted by the user".into(),
        (false, _) => error.to_string(),
    }
}

/// Writes what was measured, says what was not, and decides the exit code.
pub(super) fn conclude(
    outcome: Result<Conclusion, BenchError>,
    recorder: Recorder,
    place: &Place,
) -> Result<Exit, CliError> {
    if let Ok(Conclusion { listed: Some(placements), .. }) = &outcome {
        let lines: String = placements.iter().map(|placement| format!("{placement}\n")).collect();
        document::write(None, &lines).map_err(CliError::failed)?;
    }
    // A resume that was refused, or never reached the cluster, adds nothing to what the journal holds.
    let idle = !recorder.started() && !recorder.file().runs.is_empty();
    let outcome = match outcome {
        Err(error) if idle => {
            let exit = if error.is_interrupt() { Exit::Interrupted } else { Exit::Failed };
            return Err(CliError { sentence: format!("{error}; the journal is as it was"), exit });
        }
        outcome => outcome,
    };
    let (fold, journal, lost) = recorder.close();
    let (rows, failed) = (fold.rows(), fold.failed());
    let mut kept = String::new();
    let mut unwritten = None;
    let mut first_failure = None;
    if rows + failed == 0 {
        // Nothing was measured: an empty file would only overwrite an earlier one.
        remove(journal.as_ref());
    } else if let Some(file) = fold.finish("it did not come to its end") {
        let failures: Vec<_> = file.failures.iter().filter(|failure| !failure.warmup).collect();
        first_failure = failures.first().map(|failure| failure.message.clone());
        match write(place, file.clone()) {
            Ok(words) => {
                kept = words;
                // A run that was cut off can go on; one that came to its end has nothing left to do.
                match journal.as_ref().filter(|_| outcome.is_err() && lost.is_none() && !matches!(place, Place::Stdout))
                {
                    Some(journal) => kept.push_str(&format!(
                        "; `exoscope bench --resume {}` goes on where it stopped",
                        journal.path().display()
                    )),
                    None => remove(journal.as_ref()),
                }
                close(place, file);
            }
            Err(error) => {
                let journal = journal.as_ref().map(|journal| journal.path().display().to_string());
                let journal = journal.unwrap_or_else(|| "–".into());
                unwritten = Some(format!(
                    "{error}; what was measured is in {journal}: `exoscope recover {journal} --output FILE` makes a result file of it"
                ));
            }
        }
    }
    if let Some(sentence) = unwritten {
        let because = lost.map(|error| format!("the journal cannot be written ({error}), so the run was stopped; "));
        return Err(CliError::failed(format!("{}{sentence}", because.unwrap_or_default())));
    }
    let with = |exit, sentence: String| Err(CliError { sentence: format!("{sentence}{kept}"), exit });
    match (outcome, lost) {
        (_, Some(error)) => {
            let exit = if rows > 0 { Exit::Partial } else { Exit::Failed };
            with(exit, format!("the journal cannot be written ({error}), so the run was stopped"))
        }
        (Err(error), None) if error.is_interrupt() => with(
            Exit::Interrupted,
            format!("interrupted after {}", analyzer::units::count(rows as u64, "measured request")),
        ),
        (Err(error), None) if error.is_usage() => with(Exit::Usage, error.to_string()),
        (Err(error), None) => with(if rows > 0 { Exit::Partial } else { Exit::Failed }, error.to_string()),
        (Ok(Conclusion { listed: Some(_), .. }), None) => Ok(Exit::Done),
        (Ok(conclusion), None) => {
            let missing = conclusion.placements_failed;
            match (rows, failed + missing) {
                (_, 0) => Ok(Exit::Done),
                (0, _) if failed == 0 => with(Exit::Failed, "no placement could be measured; the notes say why".into()),
                (0, _) => {
                    let why =
                        first_failure.map_or_else(|| "the notes say why".into(), |words| format!("the first: {words}"));
                    with(Exit::Failed, format!("no request gave a valid answer, {failed} failed ({why})"))
                }
                (_, _) => {
                    let requests = analyzer::units::count(failed as u64, "request");
                    let placements = analyzer::units::count(missing as u64, "placement");
                    with(Exit::Partial, format!("measured in part: {requests} and {placements} failed"))
                }
            }
        }
    }
}

/// Writes the file to its place; gives the words that say where.
fn write(place: &Place, file: ResultFile) -> Result<String, String> {
    match place {
        Place::Nowhere => Ok(String::new()),
        Place::Stdout => {
            let text = to_json(&file).map_err(|error| error.to_string())? + "\n";
            // A reader that is gone has not read it: the journal must stay.
            document::write_standard(&text).map_err(|error| format!("standard output cannot be written: {error}"))?;
            Ok(String::new())
        }
        Place::File(output) => {
            output.write(&file).map_err(|error| error.to_string())?;
            Ok(format!("; the result file is {}", output.path().display()))
        }
    }
}

/// Prints the closing table. The result file is whole by now, so what goes wrong here is only said.
fn close(place: &Place, file: ResultFile) {
    let Place::File(output) = place else { return };
    let path = output.path().display().to_string();
    let table = closing::table(&path, file).map_err(|error| error.to_string());
    let shown = table.and_then(|table| document::write(None, &table).map_err(|error| error.to_string()));
    if let Err(error) = shown {
        say(&format!("note: the result file {path} is whole, but its table cannot be shown: {error}"));
    }
}

/// The journal goes when the file is whole, or when nothing was measured. Gone already is as good.
fn remove(journal: Option<&Journal>) {
    let Some(path) = journal.map(Journal::path) else { return };
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        say(&format!("note: the journal {} is of no use any more but cannot be removed: {error}", path.display()));
    }
}
