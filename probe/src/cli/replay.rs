//! `exoscope replay`.

use std::path::PathBuf;

use super::listening::listen;
use super::simulate::positive;
use super::{CliError, Exit};
use crate::replay::{Pace, Source, serve};
use crate::report::progress::say;

const FILES: &str = "\
Files:
  what `exoscope bench --record FILE` kept; sessions of the same shape; both may be gzipped
  timelines: {\"kind\": \"ollama\" or \"chat\", \"timeline\": [[milliseconds, text], …]}

Examples:
  exoscope replay run.jsonl.gz
  exoscope replay run.jsonl.gz --speed 4 --port 0

Answers say that they are replayed (x-exoscope-replay: true), and result files made with them say so.
Ctrl-C or SIGTERM ends it.";

/// Serves a recording as a server with its own timing: a cluster to take home, to attach to a bug report, to test with.
///
/// Each request gets the answer that was recorded for it, in the order of the recording. A run longer than the recorded
/// one gets the last answer again.
#[derive(Debug, clap::Args)]
#[command(after_help = FILES)]
pub(super) struct Arguments {
    /// The recording
    file: PathBuf,
    /// How many times faster than recorded: 1 is as recorded, 0.5 half as fast
    #[arg(long, default_value_t = 1.0, value_parser = positive, value_name = "FACTOR")]
    speed: f64,
    /// Answer at once, whatever was recorded
    #[arg(long, conflicts_with = "speed")]
    instant: bool,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 52415)]
    port: u16,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let source = Source::load(&self.file).map_err(CliError::failed)?;
        if matches!(&source, Source::Session(session) if session.is_torn()) {
            say(&format!("note: {} was cut off while it was written; what is whole is served", self.file.display()));
        }
        let pace = if self.instant { Pace::Instant } else { Pace::Recorded { speed: self.speed } };
        let runtime = tokio::runtime::Runtime::new().map_err(CliError::failed)?;
        let served = runtime.block_on(served(&self.host, self.port, source, pace));
        // Answers on their way end with the program.
        runtime.shutdown_background();
        served
    }
}

async fn served(host: &str, port: u16, source: Source, pace: Pace) -> Result<Exit, CliError> {
    let (listener, stop) = listen(host, port).await?;
    serve(listener, source, pace, stop).await.map_err(CliError::failed)?;
    Ok(Exit::Done)
}
