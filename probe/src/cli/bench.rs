//! `exoscope bench`.
//!
//! - `conclusion` writes the result and decides the exit code.
//! - `resume` goes on with a run that was cut off.
//! - `suite` carries out several plans in one go.

mod conclusion;
mod resume;
mod suite;

use std::path::{Path, PathBuf};

use analyzer::record::Sampling;

use super::{CliError, Exit};
use crate::capture::clock::Clock;
use crate::capture::cluster::Cluster;
use crate::capture::event::Event;
use crate::capture::interrupt::Interrupt;
use crate::capture::recorder::Recorder;
use crate::capture::recording::Claim;
use crate::method::exo_bench::{self, Begin};
use crate::plan::{Asked, InstanceMeta, Plan, Selection, Sharding, Streaming};
use crate::report::progress::say;
use crate::report::{document, progress, target};
use conclusion::{Place, conclude, reason};

/// Measures a model on an exo cluster as exo's own bench does, and keeps what that client hides.
// The short form of the help: one line or two per flag, so that all of them are seen at a glance.
#[derive(Debug, Clone, clap::Args)]
#[command(
    disable_help_flag = true,
    infer_long_args = true,
    args_override_self = true,
    after_help = "\
Prompts have exactly the length asked for, the prefix cache is not used, the end of sequence is
banned by the server, warm-ups are thrown away, and concurrent requests start together. The instance
that is measured is made for it and removed afterwards, also on Ctrl-C.

Examples:
  exoscope bench --model Qwen3-30B-A3B-4bit --pp 512,4096 --tg 128 --repeat 3 --warmup 1
  exoscope bench --model Llama-3.2-1B-Instruct-4bit --pp 1024 --tg 64 --concurrency 1,4,8
  exoscope bench --model Qwen3-30B-A3B-4bit --pp 512 --tg 128 --dry-run
  exoscope bench --model Qwen3-30B-A3B-4bit --pp 4096 --tg 512 --sessions 5 --idle-baseline 30
  exoscope bench --resume bench/results.json.journal

The tokenizer is read from --tokenizer, else from exo's model folders, else from the Hugging Face
cache, else from the hub (HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are heeded).

Exit codes are listed by `exoscope --help`."
)]
pub(super) struct Arguments {
    /// Print help
    #[arg(short, long, action = clap::ArgAction::HelpShort)]
    help: Option<bool>,

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
    #[arg(long, required_unless_present_any = ["suite", "resume"], default_value = "", hide_default_value = true,
          help_heading = "What is measured")]
    model: String,
    /// Prompt lengths, tokens; by comma, by space, or mixed
    #[arg(long, required_unless_present_any = ["suite", "resume"], num_args = 1.., action = clap::ArgAction::Set, allow_negative_numbers = true,
          value_name = "N", help_heading = "What is measured")]
    pp: Vec<String>,
    /// Tokens to generate; lists of equal length go in pairs, else each with each
    #[arg(long, required_unless_present_any = ["suite", "resume"], num_args = 1.., action = clap::ArgAction::Set, allow_negative_numbers = true,
          value_name = "N", help_heading = "What is measured")]
    tg: Vec<String>,
    /// Several models and plans in one go: a TOML file whose [defaults] and [[benchmark]] tables hold these flags
    #[arg(long, value_name = "FILE", help_heading = "What is measured")]
    suite: Option<PathBuf>,
    /// Go on with a run that was cut off, from the journal beside its result file; nothing else is given
    #[arg(long, value_name = "JOURNAL", help_heading = "What is measured")]
    resume: Option<PathBuf>,
    /// Each prompt length with each generation length, also where the lists are of equal length
    #[arg(long, help_heading = "What is measured")]
    all_combinations: bool,
    /// Requests started together
    #[arg(long, num_args = 1.., action = clap::ArgAction::Set, default_values_t = [String::from("1")], value_name = "N", help_heading = "What is measured")]
    concurrency: Vec<String>,
    /// Measured repeats of each group
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, help_heading = "What is measured")]
    repeat: i64,
    /// Repeat each group until the 95 % interval of its prefill and decode rates is within this percent of the mean
    #[arg(long, allow_negative_numbers = true, value_name = "PERCENT", help_heading = "What is measured")]
    target_precision: Option<f64>,
    /// The most repeats of a group with --target-precision; by default ten times --repeat, and 30 or more
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "What is measured")]
    max_repeats: Option<i64>,
    /// Replace the instance and measure the whole plan again, so often; the spread between sessions then shows
    #[arg(
        long,
        default_value_t = 1,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "What is measured"
    )]
    sessions: i64,
    /// Requests to throw away before measuring, per placement
    #[arg(long, allow_negative_numbers = true, default_value_t = 0, help_heading = "What is measured")]
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

    /// Temperature to ask for; without it the model's own default applies, as with exo's client
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Sampling, off by default")]
    method_temperature: Option<f64>,
    /// Nucleus to ask for, 0 to 1
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Sampling, off by default")]
    method_top_p: Option<f64>,
    /// Number of candidates to ask for, 0 for all
    #[arg(long, allow_negative_numbers = true, value_name = "K", help_heading = "Sampling, off by default")]
    method_top_k: Option<u64>,
    /// Smallest share of the likeliest token's probability to ask for, 0 to 1
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Sampling, off by default")]
    method_min_p: Option<f64>,
    /// Seed to ask for
    #[arg(long, allow_negative_numbers = true, value_name = "N", help_heading = "Sampling, off by default")]
    method_seed: Option<u64>,

    /// Fewest nodes of a placement
    #[arg(long, allow_negative_numbers = true, default_value_t = 1, help_heading = "Placements")]
    min_nodes: u32,
    /// Most nodes of a placement
    #[arg(long, allow_negative_numbers = true, default_value_t = 4, help_heading = "Placements")]
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

    /// Let the cluster learn a model that it does not know by its id, org/name
    #[arg(long, help_heading = "Downloads")]
    force_download: bool,
    /// Where a node's disk is full, delete other models' files there, the smallest first, until the model fits
    #[arg(long, help_heading = "Downloads")]
    danger_delete_downloads: bool,
    /// Seconds without a further byte until a download counts as stalled; 0 waits for ever
    #[arg(
        long,
        allow_negative_numbers = true,
        default_value_t = 600.0,
        value_name = "SECONDS",
        help_heading = "Downloads"
    )]
    stall_timeout: f64,

    /// Folder of the model's tokenizer (tokenizer.json, tokenizer_config.json, chat_template.jinja)
    #[arg(long, value_name = "PATH", help_heading = "Prompts")]
    tokenizer: Option<PathBuf>,
    /// The text that prompts are made of; without it "a ", and another one where that cannot make a length
    #[arg(long, help_heading = "Prompts")]
    atom: Option<String>,
    /// Keep no text of the answers (exo's bench keeps the first 200 characters)
    #[arg(long, help_heading = "Prompts")]
    no_preview: bool,

    /// Do not poll power, temperature and load of the nodes
    #[arg(long, help_heading = "Node metrics")]
    no_system_metrics: bool,
    /// Seconds between polls; each costs the cluster some time of its one event loop
    #[arg(
        long,
        allow_negative_numbers = true,
        default_value_t = 1.0,
        value_name = "SECONDS",
        help_heading = "Node metrics"
    )]
    metrics_interval: f64,

    /// Record so many seconds of the loaded, idle instance before and after measuring it: the baseline of net energy; 30 or
    /// more are good
    #[arg(
        long,
        allow_negative_numbers = true,
        default_value_t = 0.0,
        value_name = "SECONDS",
        help_heading = "Node metrics"
    )]
    idle_baseline: f64,

    /// Seconds without a sign of an answer until a request has failed; keep-alive comments are no sign
    #[arg(
        long,
        allow_negative_numbers = true,
        default_value_t = 7200.0,
        value_name = "SECONDS",
        help_heading = "Waiting"
    )]
    timeout: f64,
    /// Seconds to wait for the cluster to offer a placement that fits; 0 asks once
    #[arg(
        long,
        allow_negative_numbers = true,
        default_value_t = 60.0,
        value_name = "SECONDS",
        help_heading = "Waiting"
    )]
    settle_timeout: f64,
    /// Seconds to wait for the instance to load
    #[arg(
        long,
        allow_negative_numbers = true,
        default_value_t = 24_000.0,
        value_name = "SECONDS",
        help_heading = "Waiting"
    )]
    ready_timeout: f64,
    /// A pause between steps, may be repeated: cleanup (2 s), ready (1), repeat (3), group (2), placement (5), all
    #[arg(long, value_name = "NAME=SECONDS", help_heading = "Waiting")]
    pause: Vec<String>,

    /// Where the result file goes; folders are made, and a journal grows beside it while the run lasts. With --suite the
    /// folder of the result files, each named after its benchmark
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
        match (self.suite.clone(), self.resume.clone()) {
            (None, None) => self.measure(command),
            (Some(file), None) => suite::run(self, &file, &command),
            (None, Some(journal)) => resume::run(self, &journal, command),
            (Some(_), Some(_)) => Err(CliError::usage(
                "--suite and --resume do not go together: a suite writes a journal per benchmark, resume the one that was cut off",
            )),
        }
    }

    /// One plan, begun for the first time.
    fn measure(self, command: Vec<String>) -> Result<Exit, CliError> {
        let (json_out, to_stdout, mode) = (self.json_out.clone(), self.stdout, self.progress);
        let record = self.record.clone();
        if record.as_deref().is_some_and(|record| target::is_same(record, &json_out)) {
            return Err(CliError::usage("--record and --json-out name the same file; the one would replace the other"));
        }
        let plan = self.asked().check().map_err(CliError::usage)?;
        if json_out == Path::new(document::STANDARD) {
            return Err(CliError::usage("--json-out -: write to standard output with --stdout"));
        }
        let record = record.as_deref().map(Claim::new).transpose().map_err(CliError::failed)?;
        let (place, journal) = Place::claim(&plan, &json_out, to_stdout)?;
        let interrupt = Interrupt::default();
        let recorder = Recorder::new(journal, progress::listener(mode), interrupt.clone());
        let begin = Begin::New { command: &command };
        let run = Run { plan: &plan, begin, clock: Clock::start(), interrupt, place };
        perform(&run, recorder, record)
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
            target_precision: self.target_precision,
            max_repeats: self.max_repeats,
            sessions: self.sessions,
            sampling: Sampling {
                temperature: self.method_temperature,
                top_p: self.method_top_p,
                top_k: self.method_top_k,
                min_p: self.method_min_p,
                seed: self.method_seed,
            },
            idle_baseline_s: self.idle_baseline,
            stall_s: self.stall_timeout,
            force_download: self.force_download,
            delete_downloads: self.danger_delete_downloads,
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

/// A plan with all that it needs to be carried out.
struct Run<'a> {
    plan: &'a Plan,
    begin: Begin<'a>,
    clock: Clock,
    interrupt: Interrupt,
    place: Place,
}

/// Carries a plan out and brings it to its conclusion.
fn perform(run: &Run<'_>, mut recorder: Recorder, record: Option<Claim>) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| CliError::failed(format!("the system gives no threads: {error}")))?;
    let outcome = runtime.block_on(async {
        run.interrupt
            .listen()
            .map_err(|error| CliError::failed(format!("the system does not let Ctrl-C be heard: {error}")))?;
        let recording = record
            .map(|claim| claim.start(&run.clock))
            .transpose()
            .map_err(|error| CliError::failed(format!("the system gives no threads: {error}")))?;
        let cluster = Cluster::new(run.plan.target.clone(), run.clock, run.interrupt.clone());
        let cluster = cluster.recorded(recording.clone());
        let outcome = exo_bench::run(run.plan, &run.begin, &cluster, &mut recorder).await;
        if let Some(lost) = recording.and_then(|recording| recording.close()) {
            // Before its start a run has no place for notices.
            if recorder.started() { recorder.notice(lost) } else { say(&format!("note: {lost}")) }
        }
        let cut_short = outcome.as_ref().err().map(|error| reason(error, &run.interrupt));
        if recorder.started() {
            recorder.record(Event::Ended { at: run.clock.utc(run.clock.now()), cut_short });
        }
        Ok(outcome)
    });
    // A tokenizer that is being fetched when the user leaves is not waited for.
    runtime.shutdown_background();
    let outcome = outcome?;
    conclude(outcome, recorder, &run.place)
}
