//! `exoscope simulate`.

use std::path::PathBuf;
use std::sync::Arc;

use super::listening::listen;
use super::{CliError, Exit};
use crate::simulate::{self, Cluster, Fault, PromptCounter, Settings, fault_help};
use crate::workload::Tokenizer;

const MODELS: &str = "\
Models:
  simulated-8b     the one the rates are of; pipelines only
  simulated-70b    five times slower; pipelines and tensors
  simulated-400b   needs four nodes and a download";

const WHEN: &str = "\
WHEN says which are struck, counted from 1: 2, 2-3 or every=3; without it, all are. Counted are the \
requests to the bench endpoint, warm-ups included; for faults of instances and downloads, those. With \
a fault marked *, simulated-8b is on no node at first.

GET /simulated/energy tells what each node really drew since the start.
Ctrl-C or SIGTERM ends it.";

fn after_help() -> String {
    format!("{MODELS}\n\nFaults:\n{}\n{WHEN}", fault_help())
}

/// A simulated cluster for demonstrations and tests. Its answers say that they are simulated; result files made with it
/// are marked so.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(super) struct Arguments {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 52415)]
    port: u16,
    /// Number of nodes
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=32))]
    nodes: u8,
    /// Seed of the chance in what is measured; ids are new at each start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Factor on all rates: 0.8 is a cluster 20 % slower
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    speed: f64,
    /// Prompt tokens per second of simulated-8b on one node
    #[arg(long, default_value_t = 8000.0, value_parser = positive)]
    prefill_tps: f64,
    /// Generated tokens per second of one request to simulated-8b on one node
    #[arg(long, default_value_t = 250.0, value_parser = positive)]
    decode_tps: f64,
    /// Spread of every duration, percent
    #[arg(long, default_value_t = 1.0, value_parser = not_negative)]
    noise_percent: f64,
    /// Seconds from a created instance to a ready one
    #[arg(long, default_value_t = 1.0, value_parser = seconds)]
    load_seconds: f64,
    /// Seconds that a download of any size takes
    #[arg(long, default_value_t = 2.0, value_parser = seconds)]
    download_seconds: f64,
    /// Folder of the tokenizer that counts prompts; without it, the tiny one that comes with the program
    #[arg(long, value_name = "DIR")]
    tokenizer: Option<PathBuf>,
    /// A further model, org/name, as fast as simulated-8b; may be repeated
    #[arg(long, value_name = "ORG/NAME")]
    model: Vec<String>,
    /// Something that goes wrong, from the list below; may be repeated
    #[arg(long, value_name = "NAME[:WHEN]")]
    fault: Vec<Fault>,
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "not a number".to_owned())
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|number| if number > 0.0 { Ok(number) } else { Err("must be more than 0".to_owned()) })
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text).and_then(|number| if number >= 0.0 { Ok(number) } else { Err("must not be below 0".to_owned()) })
}

fn seconds(text: &str) -> Result<f64, String> {
    let longest = simulate::LONGEST;
    not_negative(text).and_then(|number| {
        if number <= longest { Ok(number) } else { Err(format!("must not be more than a year, {longest} s")) }
    })
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let defaults = Settings::default();
        let counter: Arc<dyn PromptCounter> = match &self.tokenizer {
            Some(folder) => Arc::new(Tokenizer::load(folder).map_err(CliError::failed)?),
            None => defaults.counter,
        };
        let nodes = usize::from(self.nodes);
        for fault in &self.fault {
            if let Fault::NoPower(node) | Fault::FrozenPower(node) = *fault
                && node > nodes
            {
                return Err(CliError::usage(format!(
                    "--fault: there is no node {node} among {nodes}; name a lower one, or raise --nodes"
                )));
            }
        }
        let settings = Settings {
            nodes,
            seed: self.seed,
            speed: self.speed,
            prefill_tps: self.prefill_tps,
            decode_tps: self.decode_tps,
            noise_percent: self.noise_percent,
            load_seconds: self.load_seconds,
            download_seconds: self.download_seconds,
            models: self.model,
            counter,
            faults: self.fault,
        };
        let runtime = tokio::runtime::Runtime::new().map_err(CliError::failed)?;
        let served = runtime.block_on(serve(&self.host, self.port, settings));
        // Answers on their way end with the program: nobody waits for a simulated model.
        runtime.shutdown_background();
        served
    }
}

async fn serve(host: &str, port: u16, settings: Settings) -> Result<Exit, CliError> {
    let (listener, stop) = listen(host, port).await?;
    simulate::serve(listener, Cluster::new(settings), stop).await.map_err(CliError::failed)?;
    Ok(Exit::Done)
}
