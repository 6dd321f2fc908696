//! `exoscope bench`.

use std::path::{Path, PathBuf};

use analyzer::record::{ResultFile, to_json};

use super::{CliError, Exit};
use crate::capture::clock::Clock;
use crate::capture::cluster::Cluster;
use crate::capture::event::Event;
use crate::capture::interrupt::{Interrupt, Why};
use crate::capture::journal::Journal;
use crate::capture::output::Output;
use crate::capture::recorder::Recorder;
use crate::capture::recording::Claim;
use crate::method::exo_bench::{self, Conclusion, trouble::BenchError};
use crate::plan::{Asked, InstanceMeta, Plan, Selection, Sharding, Streaming};
use crate::report::progress::say;
use crate::report::{closing, document, progress};

/// Measures a model on an exo cluster as exo's own bench does, and keeps what that client hides.
///
/// Prompts have exactly the length asked for, the prefix cache is not used, the end of sequence is banned by the server,
/// warm-ups are thrown away, and concurrent requests start together. The instance that is measured is made for it and
/// removed afterwards, also on Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exoscope bench --host mac-studio.local --model Qwen3-30B-A3B-4bit --pp 512,4096 --tg 128 --repeat 3 --warmup 1
  exoscope bench --model Llama-3.2-1B-Instruct-4bit --pp 1024 --tg 64 --concurrency 1,4,8 --json-out after.json
  exoscope bench --model Qwen3-30B-A3B-4bit --pp 512 --tg 128 --dry-run

The tokenizer is read from --tokenizer, else from exo's model folders, else from the Hugging Face cache.

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// Name or address of a node of the cluster
    #[arg(long, env = "EXO_HOST", default_value = "localhost", help_heading = "Cluster")]
    host: String,
    /// Port of exo's interface
    #[arg(long, env = "EXO_PORT", default_value_t = 52415, help_heading = "Cluster")]
    port: u16,
    /// Delete the instances of others first, as exo's client always does; without it, a sentence lists them and the bench
    /// stops
    #[arg(long, help_heading = "Cluster")]
    delete_other_instances: bool,
    /// Measure an instance of the model that is there already; it is left as it is
    #[arg(long, help_heading = "Cluster")]
    reuse_instance: bool,

    /// Model: short name in any case, or the full id
    #[arg(long, help_heading = "What is measured")]
    model: String,
    /// Prompt lengths, tokens; by comma, by space, or mixed
    #[arg(long, required = true, num_args = 1.., value_name = "N", help_heading = "What is measured")]
    pp: Vec<String>,
    /// Tokens to generate; lists of equal length go in pairs, else each with each
    #[arg(long, required = true, num_args = 1.., value_name = "N", help_heading = "What is measured")]
    tg: Vec<String>,
    /// Each prompt length with each generation length, also where the lists are of equal length
    #[arg(long, help_heading = "What is measured")]
    all_combinations: bool,
    /// Requests started together
    #[arg(long, num_args = 1.., default_values_t = [String::from("1")], value_name = "N", help_heading = "What is measured")]
    concurrency: Vec<String>,
    /// Measured repeats of each group
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, help_heading = "What is measured")]
    repeat: i64,
    /// Requests to throw away before measuring, per placement
    #[arg(long, default_value_t = 0, help_heading = "What is measured")]
    warmup: u32,
    /// Ask for streams at concurrency 1: shows when each token came, but exo then gives no energy account
    #[arg(long, help_heading = "What is measured")]
    stream: bool,
    /// Stream concurrent requests too, which exo's client never does
    #[arg(long, help_heading = "What is measured")]
    stream_all: bool,
    /// Let the server use its prefix cache; prefill rates are then not those of a cold prompt
    #[arg(long, help_heading = "What is measured")]
    use_prefix_cache: bool,

    /// Fewest nodes of a placement
    #[arg(long, default_value_t = 1, help_heading = "Placements")]
    min_nodes: u32,
    /// Most nodes of a placement
    #[arg(long, default_value_t = 4, help_heading = "Placements")]
    max_nodes: u32,
    /// How the model is split
    #[arg(long, value_enum, default_value_t = Sharding::Both, help_heading = "Placements")]
    sharding: Sharding,
    /// How nodes talk
    #[arg(long, value_enum, default_value_t = InstanceMeta::Both, help_heading = "Placements")]
    instance_meta: InstanceMeta,
    /// Leave out pipelines over jaccl, where both selectors are "both"
    #[arg(long, help_heading = "Placements")]
    skip_pipeline_jaccl: bool,
    /// Leave out tensor sharding over the ring, where both selectors are "both"
    #[arg(long, help_heading = "Placements")]
    skip_tensor_ring: bool,
    /// Only list the placements that would be measured; nothing is changed or measured
    #[arg(long, help_heading = "Placements")]
    dry_run: bool,

    /// Folder of the model's tokenizer (tokenizer.json, tokenizer_config.json, chat_template.jinja)
    #[arg(long, value_name = "PATH", help_heading = "Prompts")]
    tokenizer: Option<PathBuf>,
    /// The text that prompts are made of
    #[arg(long, default_value = "a ", help_heading = "Prompts")]
    atom: String,
    /// Keep no text of the answers (exo's bench keeps the first 200 characters)
    #[arg(long, help_heading = "Prompts")]
    no_preview: bool,

    /// Do not poll power, temperature and load of the nodes
    #[arg(long, help_heading = "Node metrics")]
    no_system_metrics: bool,
    /// Seconds between polls; each costs the cluster some time of its one event loop
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", help_heading = "Node metrics")]
    metrics_interval: f64,

    /// Seconds without a sign of an answer until a request has failed; keep-alive comments are no sign
    #[arg(long, default_value_t = 7200.0, value_name = "SECONDS", help_heading = "Waiting")]
    timeout: f64,
    /// Seconds to wait for the cluster to offer a placement that fits; 0 asks once
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", help_heading = "Waiting")]
    settle_timeout: f64,
    /// Seconds to wait for the instance to load
    #[arg(long, default_value_t = 24_000.0, value_name = "SECONDS", help_heading = "Waiting")]
    ready_timeout: f64,
    /// A pause between steps: cleanup (2 s), ready (1), repeat (3), group (2), placement (5), or all; may be repeated
    #[arg(long, value_name = "NAME=SECONDS", help_heading = "Waiting")]
    pause: Vec<String>,

    /// Where the result file goes; folders are made, and a journal grows beside it while the run lasts
    #[arg(long, default_value = "bench/results.json", value_name = "FILE", help_heading = "Output")]
    json_out: PathBuf,
    /// Write the result file to standard output instead
    #[arg(long, help_heading = "Output")]
    stdout: bool,
    /// Keep every request and answer with its times, for `exoscope replay`; gzipped where FILE ends in .gz. Holds the
    /// prompts: share with care, or pass it through `exoscope redact`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    record: Option<PathBuf>,
    /// How progress is shown on stderr
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    progress: progress::Mode,
}

impl Arguments {
    pub(super) fn run(self, command: Vec<String>) -> Result<Exit, CliError> {
        let (json_out, to_stdout, mode) = (self.json_out.clone(), self.stdout, self.progress);
        let record = self.record.clone();
        if record.as_deref().is_some_and(|record| same_place(record, &json_out)) {
            return Err(CliError::usage("--record and --json-out name the same file; the one would replace the other"));
        }
        let plan = self.asked().check().map_err(CliError::usage)?;
        if json_out == Path::new(document::STANDARD) {
            return Err(CliError::usage("--json-out -: write to standard output with --stdout"));
        }
        let record = record.as_deref().map(Claim::new).transpose().map_err(CliError::failed)?;
        let (place, journal) = Place::claim(&plan, &json_out, to_stdout)?;
        let interrupt = Interrupt::default();
        let mut recorder = Recorder::new(journal, progress::listener(mode), interrupt.clone());
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| CliError::failed(format!("the system gives no threads: {error}")))?;
        let outcome = runtime.block_on(async {
            interrupt
                .listen()
                .map_err(|error| CliError::failed(format!("the system does not let Ctrl-C be heard: {error}")))?;
            let clock = Clock::start();
            let recording = record
                .map(|claim| claim.start(&clock))
                .transpose()
                .map_err(|error| CliError::failed(format!("the system gives no threads: {error}")))?;
            let cluster = Cluster::new(plan.target.clone(), clock, interrupt.clone()).recorded(recording.clone());
            let outcome = exo_bench::run(&plan, &command, &cluster, &mut recorder).await;
            if let Some(lost) = recording.and_then(|recording| recording.close()) {
                // Before its start a run has no place for notices.
                if recorder.started() { recorder.notice(lost) } else { say(&format!("note: {lost}")) }
            }
            let cut_short = outcome.as_ref().err().map(|error| reason(error, &interrupt));
            if recorder.started() {
                recorder.record(Event::Ended { at: clock.utc(clock.now()), cut_short });
            }
            Ok(outcome)
        })?;
        conclude(outcome, recorder, &place)
    }

    fn asked(self) -> Asked {
        Asked {
            host: self.host,
            port: self.port,
            model: self.model,
            pp: self.pp,
            tg: self.tg,
            concurrency: self.concurrency,
            repeat: self.repeat,
            warmup: self.warmup,
            all_combinations: self.all_combinations,
            streaming: match (self.stream, self.stream_all) {
                (_, true) => Streaming::All,
                (true, false) => Streaming::Sequential,
                (false, false) => Streaming::Off,
            },
            use_prefix_cache: self.use_prefix_cache,
            selection: Selection {
                sharding: self.sharding,
                instance_meta: self.instance_meta,
                min_nodes: self.min_nodes,
                max_nodes: self.max_nodes,
                skip_pipeline_jaccl: self.skip_pipeline_jaccl,
                skip_tensor_ring: self.skip_tensor_ring,
            },
            settle_s: self.settle_timeout,
            idle_s: self.timeout,
            ready_s: self.ready_timeout,
            pauses: self.pause,
            metrics_interval_s: (!self.no_system_metrics).then_some(self.metrics_interval),
            dry_run: self.dry_run,
            reuse_instance: self.reuse_instance,
            delete_other_instances: self.delete_other_instances,
            keep_preview: !self.no_preview,
            tokenizer: self.tokenizer,
            atom: self.atom,
        }
    }
}

/// Whether two names are of one place, as far as names tell.
fn same_place(one: &Path, other: &Path) -> bool {
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    full(one) == full(other)
}

/// Where the result goes.
#[derive(Debug)]
enum Place {
    /// A dry run measures nothing.
    Nowhere,
    /// Standard output; the journal is among the temporary files.
    Stdout,
    /// A file, with the journal beside it.
    File(Output),
}

impl Place {
    /// Claims the place before anything is asked of the cluster.
    fn claim(plan: &Plan, json_out: &Path, to_stdout: bool) -> Result<(Self, Option<Journal>), CliError> {
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
fn reason(error: &BenchError, interrupt: &Interrupt) -> String {
    match (error.is_interrupt(), interrupt.why()) {
        (true, Some(Why::Journal)) => "the journal could not be written any more".into(),
        (true, _) => "interrupted by the user".into(),
        (false, _) => error.to_string(),
    }
}

/// Writes what was measured, says what was not, and decides the exit code.
fn conclude(outcome: Result<Conclusion, BenchError>, recorder: Recorder, place: &Place) -> Result<Exit, CliError> {
    if let Ok(Conclusion { listed: Some(placements), .. }) = &outcome {
        let lines: String = placements.iter().map(|placement| format!("{placement}\n")).collect();
        document::write(None, &lines).map_err(CliError::failed)?;
    }
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
                remove(journal.as_ref());
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
        (Err(error), None) if error.is_interrupt() => {
            with(Exit::Interrupted, format!("interrupted after {rows} requests"))
        }
        (Err(error), None) if error.is_usage() => with(Exit::Usage, error.to_string()),
        (Err(error), None) => with(if rows > 0 { Exit::Partial } else { Exit::Failed }, error.to_string()),
        (Ok(Conclusion { listed: Some(_), .. }), None) => Ok(Exit::Done),
        (Ok(conclusion), None) => {
            let missing = conclusion.placements_failed;
            match (rows, failed + missing) {
                (_, 0) => Ok(Exit::Done),
                (0, _) => {
                    let why =
                        first_failure.map_or_else(|| "the notes say why".into(), |words| format!("the first: {words}"));
                    with(Exit::Failed, format!("no request gave a valid answer, {failed} failed ({why})"))
                }
                (_, _) => {
                    with(Exit::Partial, format!("measured in part: {failed} requests and {missing} placements failed"))
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
