//! `exoscope compare`.

use std::path::{Path, PathBuf};

use analyzer::comparison::calibration::Calibration;
use analyzer::comparison::measured::MeasuredFile;
use analyzer::comparison::{self, CompareError, Comparison, MetricComparison, Options, Verdict};
use analyzer::metric::Metric;

use super::{CliError, Exit};
use crate::report::document;
use crate::report::render::{self, ComparisonFormat, Look};
use crate::report::{reading, target};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A change counts as improved or regressed when chance is ruled out (95 %, adjusted for the number of verdicts) and it is at
least --delta, a factor: 3 % are +3.0 % and back, which is −2.9 %. It counts as the same when the whole 95 % interval lies
within --delta. Otherwise no difference was found, and the words say which change this pair of sides would have shown.

Several files per side are several sessions: how much sessions differ by themselves is then measured. Where a side has one
session it comes from --calibration, else from --floor, else from the other side's five sessions or more, else it is assumed
and said to be.

Examples:
  exoscope compare before.json after.json
  exoscope compare monday.json tuesday.json --to friday.json saturday.json
  exoscope compare before.json after.json --calibration calibration.json --metric generation_tps
  exoscope compare before.json after.json --format github --output \"$GITHUB_STEP_SUMMARY\"

Exit codes: 0 nothing regressed, 1 regressed, 2 could not compare. --fail-on says what counts.")]
pub(super) struct Arguments {
    /// The result files to compare with, and behind them the one to judge unless --to names it; - reads standard input
    #[arg(required = true, value_name = "BASE")]
    files: Vec<String>,
    /// The result files to judge; - reads standard input
    #[arg(long, value_name = "NEW", num_args = 1..)]
    to: Vec<String>,
    /// Power readings to lay over the base's files by time, as in `report --power`
    #[arg(long, value_name = "FILE")]
    power_base: Vec<String>,
    /// Power readings to lay over the new files by time
    #[arg(long, value_name = "FILE")]
    power_new: Vec<String>,
    #[command(flatten)]
    judging: Judging,
    /// How the comparison is written
    #[arg(long, value_enum, default_value_t)]
    format: ComparisonFormat,
    /// Write to this file instead of standard output; folders are made as needed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What counts as a change and what as a failure, for every verb that compares.
#[derive(Debug, clap::Args)]
pub(super) struct Judging {
    /// The smallest change of rates and times that matters, percent upwards and as large a factor downwards
    #[arg(long, value_name = "PERCENT", default_value_t = Options::default().delta_percent)]
    delta: f64,
    /// The smallest change of energy that matters, percent
    #[arg(long, value_name = "PERCENT", default_value_t = Options::default().delta_energy_percent)]
    delta_energy: f64,
    /// Compare this metric only, by its name in JSON (generation_tps) or in tables (generation); can be given several times
    #[arg(long, value_name = "NAME", value_parser = metric)]
    metric: Vec<Metric>,
    /// How much sessions differ by themselves, from `exoscope calibrate`
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,
    /// How much sessions differ by themselves, as a standard deviation in percent, where a side has one session and no
    /// calibration tells
    #[arg(long, value_name = "PERCENT")]
    floor: Option<f64>,
    /// Add what exo's and asiai's own rules would have said
    #[arg(long)]
    legacy: bool,
    /// What ends with exit code 1
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    fail_on: FailOn,
    /// The same as --fail-on regressed, of earlier versions
    #[arg(long, hide = true, conflicts_with = "fail_on")]
    fail_on_regression: bool,
}

/// What ends a comparison with exit code 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(super) enum FailOn {
    /// Anything that regressed
    #[default]
    Regressed,
    /// Anything that regressed, or in which no difference was found, since that is no proof that there is none, or that the
    /// new side lacks
    Undecided,
    /// Nothing: exit code 0 whatever was found
    Never,
}

/// A metric by any of its names.
fn metric(name: &str) -> Result<Metric, String> {
    super::explain::spelt(name).ok_or_else(|| {
        let names: Vec<String> = Metric::ALL
            .iter()
            .filter_map(|metric| Some(serde_json::to_value(metric).ok()?.as_str()?.to_owned()))
            .collect();
        format!("there is no such metric; there are {}", names.join(", "))
    })
}

impl Judging {
    /// The options of the comparison.
    pub(super) fn options(&self) -> Result<Options, CliError> {
        Ok(Options {
            delta_percent: self.delta,
            delta_energy_percent: self.delta_energy,
            floor_percent: self.floor,
            calibration: self.calibration.as_deref().map(read_calibration).transpose()?,
            metrics: self.metric.clone(),
            legacy: self.legacy,
        })
    }

    /// Keeps what is read, the calibration with it, from being written over.
    pub(super) fn spare<'a>(
        &'a self,
        output: Option<&Path>,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), CliError> {
        let inputs = inputs.into_iter().chain(self.calibration.as_deref());
        target::spare("--output", output, inputs).map_err(CliError::usage)
    }

    /// The exit code for some comparisons that belong together.
    pub(super) fn exit<'a>(&self, compared: impl IntoIterator<Item = &'a Comparison>) -> Exit {
        if self.fail_on == FailOn::Never {
            return Exit::Done;
        }
        let compared: Vec<&Comparison> = compared.into_iter().collect();
        let rows = || compared.iter().flat_map(|compared| &compared.cells).flat_map(|cell| &cell.metrics);
        let whole = compared.iter().flat_map(|compared| &compared.geomean).filter_map(|row| row.verdict);
        let verdicts: Vec<Verdict> = rows()
            .filter_map(|row| row.verdict)
            .chain(whole)
            .filter(|verdict| *verdict != Verdict::NotComparable)
            .collect();
        // What the base has and the new side lacks, or has of another kind.
        let is_lost = |row: &MetricComparison| row.base.is_some() && row.verdict == Some(Verdict::NotComparable);
        // A gate that passes because the new run measured nothing guards nothing.
        if verdicts.is_empty() {
            return Exit::Incomparable;
        }
        let fails = |verdict: &Verdict| match self.fail_on {
            FailOn::Never => false,
            FailOn::Regressed => *verdict == Verdict::Regressed,
            FailOn::Undecided => matches!(verdict, Verdict::Regressed | Verdict::Undecided),
        };
        if verdicts.iter().any(fails) || (self.fail_on == FailOn::Undecided && rows().any(is_lost)) {
            return Exit::Regressed;
        }
        // A rate that is comparable nowhere is a gate without a guard.
        let gone = |metric: Metric| {
            let of_metric = || rows().filter(|row| row.metric == metric && row.base.is_some());
            of_metric().next().is_some() && of_metric().all(is_lost)
        };
        if [Metric::PrefillTps, Metric::GenerationTps].into_iter().any(gone) { Exit::Incomparable } else { Exit::Done }
    }
}

/// Reads a calibration file.
pub(super) fn read_calibration(path: &Path) -> Result<Calibration, CliError> {
    let name = path.display().to_string();
    let bytes = reading::bytes(path)
        .map_err(|error| CliError::incomparable(format!("{name}: cannot be read: {}", reading::why(&name, &error))))?;
    let calibration: Calibration = serde_json::from_slice(&bytes).map_err(|error| {
        CliError::incomparable(format!("{name}: no calibration ({error}); `exoscope calibrate` writes one"))
    })?;
    match calibration.objection() {
        Some(objection) => Err(CliError::incomparable(format!("{name}: {objection}"))),
        None => Ok(calibration),
    }
}

/// Refuses to read standard input twice.
pub(super) fn check_names<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<(), CliError> {
    if names.into_iter().filter(|name| *name == document::STANDARD).count() > 1 {
        return Err(CliError::usage("only one of the files can be read from standard input"));
    }
    Ok(())
}

/// Reads a result file, lays power readings over it, and keeps what a comparison takes from it: its rows go before the next
/// file is read.
pub(super) fn measure(name: &str, power: &[String]) -> Result<MeasuredFile, CliError> {
    let mut loaded = document::load(name).map_err(CliError::incomparable)?;
    document::lay_over(&mut loaded, power).map_err(CliError::incomparable)?;
    MeasuredFile::of(&loaded).map_err(CliError::incomparable)
}

/// The sentence of a comparison that was not made.
pub(super) fn refused(error: CompareError) -> CliError {
    match error {
        CompareError::Delta(_) | CompareError::Floor(_) => CliError::usage(error),
        _ => CliError::incomparable(error),
    }
}

impl Arguments {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let (base, new) = match (self.to.as_slice(), self.files.as_slice()) {
            ([], [base, new]) => (std::slice::from_ref(base), std::slice::from_ref(new)),
            ([], files) => {
                return Err(CliError::usage(format!(
                    "{} without --to: name two files, or several of each side as BASE… --to NEW…",
                    analyzer::units::count(files.len() as u64, "file")
                )));
            }
            (to, files) => (files, to),
        };
        let inputs = self.files.iter().chain(&self.to).chain(&self.power_base).chain(&self.power_new).map(Path::new);
        self.judging.spare(self.output.as_deref(), inputs)?;
        let options = self.judging.options()?;
        check_names(base.iter().chain(new))?;
        let side = |names: &[String], power: &[String]| -> Result<Vec<MeasuredFile>, CliError> {
            names.iter().map(|name| measure(name, power)).collect()
        };
        let (base, new) = (side(base, &self.power_base)?, side(new, &self.power_new)?);
        comparison::check_apart(&base, &new).map_err(refused)?;
        let compared = comparison::compare_sides(&base, &new, &options).map_err(refused)?;
        let look = Look::of(self.output.as_deref());
        let text = render::comparison(&compared, self.format, look).map_err(CliError::incomparable)?;
        document::write(self.output.as_deref(), &text).map_err(CliError::incomparable)?;
        Ok(self.judging.exit([&compared]))
    }
}
