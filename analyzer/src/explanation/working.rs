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
    formula: String,
    /// Name, value, unit.
    inputs: Vec<(String, f64, String)>,
    reckon: Box<dyn Fn(&[f64]) -> f64>,
    pub(super) result: f64,
}

/// More digits than these are noise of the reckoning.
const MORE_DIGITS: usize = 12;

impl Worked {
    /// The inputs and the working in words, with the fewest digits from which a reader reckons the result that is shown.
    pub(super) fn shown(&self, result: f64, unit: &str) -> (Vec<Input>, String) {
        let wanted = super::said(result, unit);
        let with = |more: usize| -> Vec<(Input, f64)> {
            let each = |(name, value, unit): &(String, f64, String)| {
                let (words, says) = super::with_digits(*value, unit, more);
                (Input { words, ..Input::new(name, *value, unit) }, says)
            };
            self.inputs.iter().map(each).collect()
        };
        let gives = |inputs: &[(Input, f64)]| {
            let says: Vec<f64> = inputs.iter().map(|(_, says)| *says).collect();
            super::said((self.reckon)(&says), unit) == wanted
        };
        let inputs = (0..MORE_DIGITS).map(with).find(|inputs| gives(inputs)).unwrap_or_else(|| with(MORE_DIGITS));
        let inputs: Vec<Input> = inputs.into_iter().map(|(input, _)| input).collect();
        let put = |text: String, (place, input): (usize, &Input)| text.replace(&format!("{{{place}}}"), &input.words);
        let working = inputs.iter().enumerate().fold(self.formula.clone(), put);
        (inputs, working)
    }
}

/// Puts the inputs (name, value, unit) into a formula, whose `{0}`, `{1}` … are their words; `reckon` is the formula.
fn worked(formula: &str, inputs: &[(&str, f64, &str)], reckon: impl Fn(&[f64]) -> f64 + 'static) -> Option<Worked> {
    let values: Vec<f64> = inputs.iter().map(|(_, value, _)| *value).collect();
    let result = reckon(&values);
    let inputs = inputs.iter().map(|(name, value, unit)| ((*name).to_owned(), *value, (*unit).to_owned())).collect();
    Some(Worked { formula: formula.to_owned(), inputs, reckon: Box::new(reckon), result })
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

/// What was done for a number that is worked out of readings, too many for a line; None for one that the file holds.
pub(super) fn told(
    file: &ResultFile,
    cell: &MeasuredCell,
    metric: Metric,
    place: usize,
) -> Option<(Vec<Input>, String)> {
    Around { file, cell, place }.integral(metric)
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
        worked("({0} − 1) / {1}", &inputs, |of| (of[0] - 1.0) / of[1])
    }

    fn latency(&self, metric: Metric) -> Option<Worked> {
        let batch = self.cell.cell.batches.get(self.place)?;
        let run = self.file.runs.get(*batch.rows.first()?)?;
        let timing = run.exoscope.as_ref().map(|detail| &detail.timing);
        let of = |name: &str| self.first(name);
        match metric {
            Metric::Ttft => {
                let (first, sent) = (timing?.first_token_s?, timing?.sent_s);
                worked("{0} − {1}", &[("first token", first, "s"), ("sent", sent, "s")], |of| of[0] - of[1])
            }
            Metric::TtftGap => {
                let (ttft, tokens, rate) = (of(frame::TTFT)?, of(frame::PROMPT_TOKENS)?, of(frame::PROMPT_TPS)?);
                let inputs = [
                    ("time to first token", ttft, "s"),
                    ("prompt tokens", tokens, ""),
                    ("prefill rate", rate, "tok/s"),
                ];
                worked("{0} − ({1} − 1) / {2}", &inputs, |of| of[0] - (of[1] - 1.0) / of[2])
            }
            Metric::Tpot => {
                let (first, last) = (timing?.first_token_s?, timing?.last_token_s?);
                let tokens = of(frame::GENERATION_TOKENS)?;
                let inputs = [("last token", last, "s"), ("first token", first, "s"), ("generated tokens", tokens, "")];
                worked("({0} − {1}) / ({2} − 1)", &inputs, |of| (of[0] - of[1]) / (of[2] - 1.0))
            }
            Metric::Itl => {
                let offsets = timing?.token_offsets_s.as_deref()?;
                let (first, last, frames) = (*offsets.first()?, *offsets.last()?, offsets.len() as f64);
                let inputs =
                    [("last frame since sending", last, "s"), ("first frame", first, "s"), ("frames", frames, "")];
                worked("({0} − {1}) / ({2} − 1)", &inputs, |of| (of[0] - of[1]) / (of[2] - 1.0))
            }
            Metric::ItlP99 => {
                let offsets = timing?.token_offsets_s.as_deref()?;
                let mut gaps: Vec<f64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
                gaps.sort_by(f64::total_cmp);
                // Counted from 0, linear between its neighbours.
                let rank = 0.99 * (gaps.len().checked_sub(1)? as f64);
                let (below, above) = (*gaps.get(rank as usize)?, *gaps.get(rank as usize + 1)?);
                let inputs = [
                    ("the shorter of the gaps around rank 0.99 × (gaps − 1)", below, "s"),
                    ("the longer", above, "s"),
                    ("gaps between frames", gaps.len() as f64, ""),
                    ("of them shorter or before", rank.floor(), ""),
                ];
                let formula = "{0} + ({1} − {0}) × (0.99 × ({2} − 1) − {3})";
                worked(formula, &inputs, |of| of[0] + (of[1] - of[0]) * (0.99 * (of[2] - 1.0) - of[3]))
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
                worked("{0} − ({1} − 1) / {2} − ({3} − 1) / {4}", &inputs, |of| {
                    of[0] - (of[1] - 1.0) / of[2] - (of[3] - 1.0) / of[4]
                })
            }
        }
    }
}
