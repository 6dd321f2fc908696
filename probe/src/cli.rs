//! The command line: verbs, help texts and exit codes. Words for people, no logic.

mod bench;
mod calibrate;
mod compare;
mod explain;
mod export;
mod history;
mod listening;
mod merge;
mod plan;
mod recover;
mod redact;
mod replay;
mod report;
mod simulate;
mod validate;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// How the program ended. The same table stands in `exoscope --help` and in the README.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done; for a bench, everything planned was measured.
    Done,
    /// 1: nothing measured, or what was asked for cannot be done (no placement, no cluster, unreadable file).
    Failed,
    /// 1: a comparison found what `--fail-on` names.
    Regressed,
    /// 2: the command line is wrong.
    Usage,
    /// 2: nothing could be compared.
    Incomparable,
    /// 3: measured in part: some requests or placements failed.
    Partial,
    /// 130: interrupted by Ctrl-C; what was measured is written.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed | Exit::Regressed => 1,
            Exit::Usage | Exit::Incomparable => 2,
            Exit::Partial => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// An error on its way to the user: one sentence in lower case that says what, where and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct CliError {
    /// The sentence.
    pub sentence: String,
    /// The exit code that goes with it.
    pub exit: Exit,
}

impl CliError {
    /// What was asked for cannot be done.
    pub fn failed(error: impl std::fmt::Display) -> Self {
        Self { sentence: error.to_string(), exit: Exit::Failed }
    }

    /// Nothing could be compared.
    pub fn incomparable(error: impl std::fmt::Display) -> Self {
        Self { sentence: error.to_string(), exit: Exit::Incomparable }
    }

    /// The command line is wrong.
    pub fn usage(error: impl std::fmt::Display) -> Self {
        Self { sentence: error.to_string(), exit: Exit::Usage }
    }
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done; for bench, everything planned was measured; for compare and history, nothing regressed
  1    nothing measured, or it cannot be done (no cluster, no placement, unreadable file);
       for compare and history, something regressed (see --fail-on)
  2    the command line is wrong; for compare and history, nothing could be compared
  3    measured in part: some requests or placements failed
  130  interrupted; what was measured is written";

/// Measures how fast, how steady and how hungry LLM inference is, and tells the truth about it.
#[derive(Debug, Parser)]
#[command(name = "exoscope", version, about, after_help = EXIT_CODES, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure a model on an exo cluster, by exo's own bench methodology
    Bench(Box<bench::Arguments>),
    /// Print the numbers of result files
    Report(report::Arguments),
    /// Compare result files: what changed, by how much, how sure
    Compare(compare::Arguments),
    /// Say what a metric is, and work it through with the numbers of a file
    Explain(explain::Arguments),
    /// Learn from runs of the same thing how much runs differ by themselves
    Calibrate(calibrate::Arguments),
    /// Say what a design will resolve, and how long it takes, before it is run
    Plan(plan::Arguments),
    /// Compare the newest of an archive of result files with what came before
    History(history::Arguments),
    /// Say what files are, why they were recognised, and what is wrong with them
    Validate(validate::Arguments),
    /// Write result files in the formats of other tools: CSV, Parquet, benchstat, Prometheus, JUnit
    Export(export::Arguments),
    /// Put result files of the same thing into one
    Merge(merge::Arguments),
    /// Open result files in the viewer, served on this machine only
    View(view::Arguments),
    /// Write a result file from the journal of a run that was cut off
    Recover(recover::Arguments),
    /// Run a simulated exo cluster
    Simulate(simulate::Arguments),
    /// Serve a recording as a server, with its own timing
    Replay(replay::Arguments),
    /// Take names and texts out of a result file or a recording
    Redact(redact::Arguments),
}

/// The arguments of a bench out of a whole command line, program name first; else the reason in one line.
fn bench_arguments(command: &[String]) -> Result<bench::Arguments, String> {
    let parsed = Arguments::try_parse_from(command).map_err(|error| {
        let words = error.to_string();
        let first = words.lines().next().unwrap_or_default();
        first.strip_prefix("error: ").unwrap_or(first).to_owned()
    })?;
    match parsed.verb {
        Verb::Bench(arguments) => Ok(*arguments),
        _ => Err("it is no bench".into()),
    }
}

/// The sentence for words of a command line that are no text, each named as far as it can be.
fn not_text(arguments: &[OsString]) -> String {
    let words: Vec<String> = arguments
        .iter()
        .filter(|word| word.to_str().is_none())
        .map(|word| format!("{:?}", word.to_string_lossy()))
        .collect();
    format!(
        "not UTF-8: {} (\u{fffd} stands for the bytes that are none); rename the file, or hand it over as - < FILE",
        words.join(", ")
    )
}

/// Runs the program on a command line, program name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let parsed = match Arguments::try_parse_from(&arguments) {
        Ok(parsed) => parsed,
        Err(error) if error.kind() == clap::error::ErrorKind::InvalidUtf8 => {
            crate::report::progress::say(&format!("exoscope: {}", not_text(&arguments)));
            return Exit::Usage;
        }
        Err(error) => {
            // Help and version come as errors too; clap knows the stream each belongs to.
            // A reader that closes early (`exoscope --help | head`) has read what it wanted.
            drop(error.print());
            return if error.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    let command = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let result = match parsed.verb {
        Verb::Bench(arguments) => arguments.run(command),
        Verb::Report(arguments) => arguments.run(),
        Verb::Compare(arguments) => arguments.run(),
        Verb::Explain(arguments) => arguments.run(),
        Verb::Calibrate(arguments) => arguments.run(),
        Verb::Plan(arguments) => arguments.run(),
        Verb::History(arguments) => arguments.run(),
        Verb::Validate(arguments) => arguments.run(),
        Verb::Export(arguments) => arguments.run(),
        Verb::Merge(arguments) => arguments.run(),
        Verb::View(arguments) => arguments.run(),
        Verb::Recover(arguments) => arguments.run(),
        Verb::Simulate(arguments) => arguments.run(),
        Verb::Replay(arguments) => arguments.run(),
        Verb::Redact(arguments) => arguments.run(),
    };
    result.unwrap_or_else(|error| {
        crate::report::progress::say(&format!("exoscope: {}", error.sentence));
        error.exit
    })
}
