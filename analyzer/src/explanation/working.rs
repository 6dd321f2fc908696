//! One metric of one batch, step by step from what the file holds.
//!
//! * `batch` the rates of requests that were started together.
//! * `energy` what follows from the power readings.

mod batch;
mod energy;

use super::Input;
use crate::frame;
use crate::metric::Metric;
use crate::record::ResultFile;
use crate::summary::MeasuredCell;

/// A formula with its numbers.
pub(super) struct Worked {
    pub(super) inputs: Vec<Input>,
    pub(super) working: String,
    pub(super) result: f64,
}

/// Puts the inputs (name, value, unit) into a formula, whose `{0}`, `{1}` … are their words.
fn worked(formula: &str, inputs: &[(&str, f64, &str)], result: f64) -> Option<Worked> {
    let inputs: Vec<Input> = inputs.iter().map(|(name, value, unit)| Input::new(name, *value, unit)).collect();
    let put = |text: String, (place, input): (usize, &Input)| text.replace(&format!("{{{place}}}"), &input.words());
    let working = inputs.iter().enumerate().fold(formula.to_owned(), put);
    Some(Worked { inputs, working, result })
}

/// A batch with what stands around it.
struct Around<'a> {
    file: &'a ResultFile,
    cell: &'a MeasuredCell,
    place: usize,
}

/// Works a metric out for a batch of a cell; None where the file's own figure is all there is.
pub(super) fn work_out(file: &ResultFile, cell: &MeasuredCell, metric: Metric, place: usize) -> Option<Worked> {
    let around = Around { file, cell, place };
    match metric {
        Metric::PrefillTps => around.server_rate("prompt tokens", frame::PROMPT_TOKENS, frame::PROMPT_TPS),
        Metric::GenerationTps => {
            around.server_rate("generated tokens", frame::GENERATION_TOKENS, frame::GENERATION_TPS)
        }
        Metric::Ttft | Metric::TtftGap | Metric::Tpot | Metric::Itl | Metric::ItlP99 | Metric::Overhead => {
            around.latency(metric)
        }
        _ if metric.is_of_power_readings() => around.energy(metric),
        _ if metric.is_of_batch() => around.aggregate(metric),
        // Elapsed time, connecting, the energies of exo's own client and server, and peak memory are told, not reckoned.
        _ => None,
    }
}

impl Around<'_> {
    /// A column's value of the first request.
    fn first(&self, name: &str) -> Option<f64> {
        self.all(name).first().copied().flatten()
    }

    /// A column's values of all requests.
    fn all(&self, name: &str) -> &[Option<f64>] {
        self.cell.cell.batches.get(self.place).map_or(&[], |batch| batch.column(name))
    }

    /// The value of another metric of the same batch.
    fn metric(&self, metric: Metric) -> Option<f64> {
        let group = self.cell.sample(metric)?.groups.iter().find(|group| group.batch as usize == self.place)?;
        group.values.first().copied()
    }

    /// What the server counted and timed itself: it tells the rate, and the time follows.
    fn server_rate(&self, what: &str, tokens: &str, rate: &str) -> Option<Worked> {
        let (tokens, rate) = (self.first(tokens)?, self.first(rate)?);
        let seconds = (tokens - 1.0) / rate;
        let inputs = [(what, tokens, ""), ("seconds that the server's rate implies", seconds, "s")];
        worked("({0} − 1) / {1}", &inputs, (tokens - 1.0) / seconds)
    }

    fn latency(&self, metric: Metric) -> Option<Worked> {
        let batch = self.cell.cell.batches.get(self.place)?;
        let run = self.file.runs.get(*batch.rows.first()?)?;
        let timing = run.exoscope.as_ref().map(|detail| &detail.timing);
        let of = |name: &str| self.first(name);
        match metric {
            Metric::Ttft => {
                let (first, sent) = (timing?.first_token_s?, timing?.sent_s);
                worked("{0} − {1}", &[("first token", first, "s"), ("sent", sent, "s")], first - sent)
            }
            Metric::TtftGap => {
                let (ttft, tokens, rate) = (of(frame::TTFT)?, of(frame::PROMPT_TOKENS)?, of(frame::PROMPT_TPS)?);
                let inputs = [
                    ("time to first token", ttft, "s"),
                    ("prompt tokens", tokens, ""),
                    ("prefill rate", rate, "tok/s"),
                ];
                worked("{0} − ({1} − 1) / {2}", &inputs, ttft - (tokens - 1.0) / rate)
            }
            Metric::Tpot => {
                let (first, last) = (timing?.first_token_s?, timing?.last_token_s?);
                let tokens = of(frame::GENERATION_TOKENS)?;
                let inputs = [("last token", last, "s"), ("first token", first, "s"), ("generated tokens", tokens, "")];
                worked("({0} − {1}) / ({2} − 1)", &inputs, (last - first) / (tokens - 1.0))
            }
            Metric::Itl => {
                let offsets = timing?.token_offsets_s.as_deref()?;
                let (first, last, frames) = (*offsets.first()?, *offsets.last()?, offsets.len() as f64);
                let inputs =
                    [("last frame since sending", last, "s"), ("first frame", first, "s"), ("frames", frames, "")];
                worked("({0} − {1}) / ({2} − 1)", &inputs, (last - first) / (frames - 1.0))
            }
            Metric::ItlP99 => {
                let (value, gaps) = crate::latency::late_gap_s(timing?.token_offsets_s.as_deref()?)?;
                let formula = "the gap of rank 0.99 × ({0} − 1), counted from 0, linear between its neighbours";
                worked(formula, &[("gaps between frames", gaps as f64, "")], value)
            }
            _ => {
                let (elapsed, prompt, prefill) =
                    (of(frame::ELAPSED)?, of(frame::PROMPT_TOKENS)?, of(frame::PROMPT_TPS)?);
                let (tokens, decode) = (of(frame::GENERATION_TOKENS)?, of(frame::GENERATION_TPS)?);
                let inputs = [
                    ("elapsed", elapsed, "s"),
                    ("prompt tokens", prompt, ""),
                    ("prefill rate", prefill, "tok/s"),
                    ("generated tokens", tokens, ""),
                    ("decode rate", decode, "tok/s"),
                ];
                let result = elapsed - (prompt - 1.0) / prefill - (tokens - 1.0) / decode;
                worked("{0} − ({1} − 1) / {2} − ({3} − 1) / {4}", &inputs, result)
            }
        }
    }
}
