//! `exoscope validate`: what a file is, why it was recognised, and what is wrong with it.

use std::path::PathBuf;

use analyzer::import::Loaded;
use serde_json::{Value, json};

use super::{CliError, Exit};
use crate::report::{document, tame, target};

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Format {
    /// Lines for people
    #[default]
    Text,
    /// A list with an object per file
    Json,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Warnings do not make a file invalid: it is read, and a reader should know them.

Examples:
  exoscope validate results.json bench.log.gz llama-bench.jsonl
  exoscope validate --format json results/*.json

Exit code 0: every file is valid; 1: one is not. The others are listed by `exoscope --help`.")]
pub(super) struct Arguments {
    /// Result files of any tool that is known; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// How the findings are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file instead of standard output; folders are made as needed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        target::spare("--output", self.output.as_deref(), &self.files).map_err(CliError::usage)?;
        let findings: Vec<Value> = self
            .files
            .iter()
            .map(|name| match document::load(name) {
                Ok(loaded) => found(name, &loaded),
                Err(error) => json!({"file": name, "valid": false, "problem": error.to_string()}),
            })
            .collect();
        let text = match self.format {
            Format::Json => {
                let text = serde_json::to_string_pretty(&findings).map_err(CliError::failed)?;
                format!("{text}\n")
            }
            Format::Text => findings.iter().map(words).collect(),
        };
        document::write(self.output.as_deref(), &text).map_err(CliError::failed)?;
        let valid = findings.iter().all(|finding| finding["valid"] == true);
        Ok(if valid { Exit::Done } else { Exit::Failed })
    }
}

fn found(name: &str, loaded: &Loaded) -> Value {
    json!({
        "file": name, "valid": true, "format": loaded.format, "reason": loaded.reason, "class": loaded.class,
        "rows": loaded.file.runs.len(), "failures": loaded.file.failures.len(), "warnings": loaded.notices,
    })
}

fn words(finding: &Value) -> String {
    let text = |key: &str| tame(finding[key].as_str().unwrap_or_default());
    if finding["valid"] != true {
        return format!("invalid  {}\n", text("problem"));
    }
    let class = text("class").replace('_', " ");
    let (rows, failures) = (&finding["rows"], &finding["failures"]);
    let (file, format, reason) = (text("file"), text("format"), text("reason"));
    let mut lines =
        format!("valid    {file}: {format}, recognised by {reason}; class {class}; rows {rows}, failures {failures}\n");
    for warning in finding["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        lines.push_str(&format!("         warning: {}\n", tame(warning)));
    }
    lines
}
