//! `exoscope bench --resume`: the plan is read out of the journal, and what it holds is not measured again.

use std::path::Path;

use analyzer::record::Start;

use super::conclusion::Place;
use super::{Arguments, Run, perform};
use crate::capture::clock::Clock;
use crate::capture::interrupt::Interrupt;
use crate::capture::journal::Journal;
use crate::capture::output::Output;
use crate::capture::recorder::Recorder;
use crate::cli::recover::without_ending;
use crate::cli::{CliError, Exit, bench_arguments};
use crate::method::exo_bench::Begin;
use crate::plan::Address;
use crate::report::{progress, target};

pub(super) fn run(given: Arguments, path: &Path, command: Vec<String>) -> Result<Exit, CliError> {
    if !(given.model.is_empty() && given.pp.is_empty() && given.tg.is_empty()) {
        return Err(CliError::usage(
            "--resume takes the plan from the journal; give no --model, --pp or --tg beside it",
        ));
    }
    let shown = path.display().to_string();
    let result = without_ending(path).ok_or_else(|| {
        CliError::usage(format!("--resume {shown}: its name does not end in .journal, as those of journals do"))
    })?;
    if !path.exists() && result.exists() {
        return Err(CliError::failed(format!(
            "{shown} is not there, but {} is: a run that came to its end has no journal any more",
            result.display()
        )));
    }
    target::spare("the result file", Some(&result), [path]).map_err(CliError::usage)?;
    if path.exists() && !path.is_file() {
        return Err(CliError::failed(format!("{shown} is no ordinary file, so it is no journal")));
    }
    let (journal, fold) = Journal::reopen(path).map_err(CliError::failed)?;
    let Some(earlier) = fold.provenance().cloned() else {
        return Err(CliError::failed(format!(
            "{shown}: the run was cut off before it started, so there is nothing to go on with; remove it and start anew"
        )));
    };
    if fold.has_ended() && fold.is_whole() {
        return Err(CliError::failed(format!("{shown}: the run came to its end, so there is nothing to go on with")));
    }
    let read = |reason: String| {
        CliError::failed(format!(
            "{shown}: its command line cannot be read any more ({reason}); `exoscope recover {shown}` makes a result file of it"
        ))
    };
    let mut arguments = bench_arguments(&earlier.command).map_err(read)?;
    // The address may have come from the environment, which is another now.
    let address = Address::read(&earlier.target.address).ok_or_else(|| read("no address".into()))?;
    (arguments.host, arguments.port) = (address.host, address.port);
    arguments.delete_other_instances |= given.delete_other_instances;
    let plan = arguments.asked().check().map_err(CliError::usage)?;
    let output = Output::at("--json-out", &result).map_err(CliError::failed)?;

    let started_at = earlier.started_at.parse().map_err(|error: jiff::Error| read(error.to_string()))?;
    let clock = Clock::resume(started_at);
    let now = clock.now();
    let interrupt = Interrupt::default();
    let own = fold.instances().clone();
    let recorder = Recorder::new(Some(journal), progress::listener(given.progress), interrupt.clone()).resume(fold);
    let start = Start { at: clock.utc(now), at_s: now.seconds(), command };
    let begin = Begin::Resumed { earlier: &earlier, start, own };
    perform(&Run { plan: &plan, begin, clock, interrupt, place: Place::File(output) }, recorder, None)
}
