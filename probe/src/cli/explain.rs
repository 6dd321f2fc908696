//! `exoscope explain`.

use std::path::PathBuf;

use analyzer::explanation;
use analyzer::import::{self, Loaded};
use analyzer::metric::Metric;

use super::{CliError, Exit};
use crate::report::document;
use crate::report::render::{self, Format, Look};
use crate::report::target;

/// A made-up run of a request alone and a batch of four, for those who have no file yet.
const EXAMPLE: &[u8] = include_bytes!("../../../fixtures/explain/example.json");

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  exoscope explain
  exoscope explain generation_tps
  exoscope explain energy results.json
  exoscope explain --format json

Exit codes are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// The metric, as JSON and CSV spell it (generation_tps) or as tables do (generation); without it all are listed
    #[arg(value_name = "METRIC")]
    metric: Option<String>,
    /// The result file whose numbers work the formula through; without it those of a built-in, made-up run
    #[arg(value_name = "FILE")]
    file: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file instead of standard output; folders are made as needed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let metric = self.metric.as_deref().map(metric).transpose()?;
        target::spare("--output", self.output.as_deref(), &self.file).map_err(CliError::usage)?;
        let loaded = self.loaded()?;
        let look = Look::of(self.output.as_deref());
        let text = match metric {
            Some(metric) => {
                let explained = explanation::explain(metric, &loaded).map_err(CliError::failed)?;
                render::explanation(&explained, self.format, look)
            }
            None => {
                let all = explanation::explain_all(&loaded).map_err(CliError::failed)?;
                render::explanations(&all, self.format, look)
            }
        };
        document::write(self.output.as_deref(), &text.map_err(CliError::failed)?).map_err(CliError::failed)?;
        Ok(Exit::Done)
    }

    fn loaded(&self) -> Result<Loaded, CliError> {
        match &self.file {
            Some(file) => document::load(file).map_err(CliError::failed),
            None => import::load("built-in example, made up", EXAMPLE).map_err(CliError::failed),
        }
    }
}

/// The metric of a word: its name in JSON, with - or _, or its name in tables.
pub(super) fn spelt(word: &str) -> Option<Metric> {
    let sought = word.to_lowercase().replace('-', "_");
    Metric::ALL.into_iter().find(|metric| {
        render::metric_id(*metric).is_ok_and(|id| id == sought)
            || metric.definition().name.to_lowercase() == word.to_lowercase()
    })
}

fn metric(word: &str) -> Result<Metric, CliError> {
    let sought = word.to_lowercase().replace('-', "_");
    spelt(word).ok_or_else(|| {
        let spelt = |metric: &Metric| render::metric_id(*metric);
        let near: Vec<String> = Metric::ALL.iter().filter_map(|metric| spelt(metric).ok()).collect();
        let near: Vec<String> = near.into_iter().filter(|id| is_near(id, &sought)).collect();
        let hint = if near.is_empty() {
            "`exoscope explain` lists them".to_owned()
        } else {
            format!("near it: {}", near.join(", "))
        };
        CliError::usage(format!("no metric is called {word}; {hint}"))
    })
}

/// Whether they share a word.
fn is_near(id: &str, sought: &str) -> bool {
    sought.split(['_', ' ']).any(|word| word.len() > 2 && id.split('_').any(|part| part == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_found_by_any_of_its_names() {
        for word in ["generation_tps", "generation-tps", "Generation"] {
            assert_eq!(metric(word).ok(), Some(Metric::GenerationTps), "{word}");
        }
        assert_eq!(metric("time to first token").ok(), Some(Metric::Ttft));
    }

    #[test]
    fn a_word_that_is_no_metric_names_those_near_it() {
        let error = metric("decode-tps").unwrap_err();
        assert_eq!(error.exit, Exit::Usage);
        assert_eq!(
            error.sentence,
            "no metric is called decode-tps; near it: prefill_tps, generation_tps, energy_decode, energy_server_decode"
        );
        assert!(metric("results.json").unwrap_err().sentence.ends_with("`exoscope explain` lists them"));
    }

    #[test]
    fn the_built_in_example_can_be_read() {
        assert!(import::load("example", EXAMPLE).is_ok());
    }
}
