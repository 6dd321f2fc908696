//! What follows from the power readings, worked through from the energy of a batch and of its phases.

use super::{Around, Worked, worked};
use crate::explanation::Input;
use crate::frame;
use crate::metric::Metric;
use crate::throughput;

impl Around<'_> {
    /// None for the energies of the phases themselves: they are integrals over many readings.
    pub(super) fn energy(&self, metric: Metric) -> Option<Worked> {
        let (from, to) = throughput::stamped_window(self.all(frame::SENT), self.all(frame::DONE))?;
        let seconds = to - from;
        let energy = self.metric(Metric::Energy)?;
        let per = |what: &str, joules: f64, of: &str, count: f64| {
            worked("{0} / {1}", &[(what, joules, "J"), (of, count, "")], |of| of[0] / of[1])
        };
        match metric {
            Metric::Energy => {
                let (prefill, decode) = (self.metric(Metric::EnergyPrefill)?, self.metric(Metric::EnergyDecode)?);
                let inputs = [("prefill, all nodes", prefill, "J"), ("decode, all nodes", decode, "J")];
                worked("{0} + {1}", &inputs, |of| of[0] + of[1])
            }
            Metric::Power => {
                let inputs = [("energy", energy, "J"), ("seconds of the batch", seconds, "s")];
                worked("{0} / {1}", &inputs, |of| of[0] / of[1])
            }
            Metric::JoulesPerPromptToken => {
                let prefill = self.metric(Metric::EnergyPrefill)?;
                per("prefill energy", prefill, "prompt tokens", self.first(frame::PROMPT_TOKENS)?)
            }
            Metric::JoulesPerGeneratedToken => {
                let decode = self.metric(Metric::EnergyDecode)?;
                per("decode energy", decode, "generated tokens", self.generated_tokens()?)
            }
            Metric::JoulesPerGeneratedTokenBatch => {
                per("energy of the batch", energy, "generated tokens", self.generated_tokens()?)
            }
            Metric::JoulesPerPromptTokenNet => {
                let tokens = self.first(frame::PROMPT_TOKENS)?;
                self.above_rest(metric, ("prefill energy", Metric::EnergyPrefill), ("prompt tokens", tokens))
            }
            Metric::JoulesPerGeneratedTokenNet => {
                let tokens = self.generated_tokens()?;
                self.above_rest(metric, ("decode energy", Metric::EnergyDecode), ("generated tokens", tokens))
            }
            Metric::JoulesPerGeneratedTokenBatchNet => {
                let tokens = self.generated_tokens()?;
                self.above_rest(metric, ("energy of the batch", Metric::Energy), ("generated tokens", tokens))
            }
            Metric::TokensPerSecondPerWatt => {
                let (tokens, power) = (self.generated_tokens()?, self.metric(Metric::Power)?);
                let inputs = [
                    ("generated tokens", tokens, ""),
                    ("seconds of the batch", seconds, "s"),
                    ("mean power, all nodes", power, "W"),
                ];
                worked("{0} / {1} / {2}", &inputs, |of| of[0] / of[1] / of[2])
            }
            Metric::EnergyNet | Metric::IdleShare => {
                let rest = (energy - self.metric(Metric::EnergyNet)?) / seconds;
                let inputs = [
                    ("energy", energy, "J"),
                    ("power at rest, all nodes", rest, "W"),
                    ("seconds of the batch", seconds, "s"),
                ];
                match metric {
                    Metric::EnergyNet => worked("{0} − {1} × {2}", &inputs, |of| of[0] - of[1] * of[2]),
                    _ => worked("100 × {1} × {2} / {0}", &inputs, |of| 100.0 * of[1] * of[2] / of[0]),
                }
            }
            _ => None,
        }
    }

    /// Which readings an energy was integrated over. The file holds the readings, not their sum.
    pub(super) fn integral(&self, metric: Metric) -> Option<(Vec<Input>, String)> {
        if metric == Metric::EnergyOverlay {
            let (from, to) = throughput::stamped_window(self.all(frame::SENT), self.all(frame::DONE))?;
            let instants = self.file.overlays.iter().flat_map(|overlay| &overlay.series.t_s);
            let readings = instants.filter(|t| (from..=to).contains(*t)).count();
            let inputs = vec![
                Input::new("readings of other instruments in the window", readings as f64, ""),
                Input::new("from, on the run's clock", from, "s"),
                Input::new("to", to, "s"),
            ];
            let [count, from, to] = [0, 1, 2].map(|place: usize| inputs[place].words.clone());
            return Some((inputs, format!("integrated over {count} readings laid over the run, {from} to {to}")));
        }
        if !(metric.is_of_power_readings() || metric == Metric::EnergyExoClient) {
            return None;
        }
        let batch = self.cell.cell.batches.get(self.place)?;
        let run = self.file.runs.get(*batch.rows.first()?)?;
        let detail = run.exoscope.as_ref()?;
        let (mut from, mut to) = throughput::stamped_window(self.all(frame::SENT), self.all(frame::DONE))?;
        let tokens = self.first(frame::GENERATION_TOKENS);
        let first =
            crate::energy::first_token_s(detail.timing.first_token_s, to, tokens, self.first(frame::GENERATION_TPS));
        match metric {
            Metric::EnergyPrefill => to = first?,
            Metric::EnergyDecode => from = first?,
            _ => {}
        }
        let nodes = &detail.placement.as_ref()?.nodes;
        let of_batch = self.file.metric_series.iter().filter(|series| {
            series.session == detail.session
                && nodes.contains(&series.node_id)
                && series.instance_id.as_deref().is_none_or(|id| run.instance_id.as_deref() == Some(id))
        });
        let powers = of_batch.flat_map(|series| series.t_s.iter().zip(series.columns.powers_w().into_owned()));
        let readings = powers.filter(|(t, power)| (from..=to).contains(*t) && power.is_some()).count();
        let how = match metric {
            Metric::EnergyExoClient => "trapezoids from the first to the last of {0} power readings",
            _ => "trapezoids over what {0} power readings show, held to the edges of the window",
        };
        let inputs = vec![
            Input::new("power readings in the window", readings as f64, ""),
            Input::new("nodes, added up", nodes.len() as f64, ""),
            Input::new("from, on the run's clock", from, "s"),
            Input::new("to", to, "s"),
        ];
        let put = |text: String, (place, input): (usize, &Input)| text.replace(&format!("{{{place}}}"), &input.words);
        let windows = self.cell.cell.batches.len();
        let more = if self.is_accumulated(metric) {
            format!(", and so on over {windows} windows, their mean")
        } else {
            String::new()
        };
        let formula = format!("{how}, {{2}} to {{3}}{more}");
        let working = inputs.iter().enumerate().fold(formula, put);
        Some((inputs, working))
    }

    /// Whether the one value of several batches is that of their windows together.
    fn is_accumulated(&self, metric: Metric) -> bool {
        metric.is_of_power_readings() && self.cell.is_accumulated
    }

    /// An energy per token above rest: what is at rest is the rest of the whole energy.
    fn above_rest(&self, net: Metric, (what, gross): (&str, Metric), (of, tokens): (&str, f64)) -> Option<Worked> {
        let joules = self.metric(gross)?;
        let value = self.metric(net)?;
        let inputs =
            [(what, joules, "J"), ("at rest meanwhile, all nodes", joules - value * tokens, "J"), (of, tokens, "")];
        worked("({0} − {1}) / {2}", &inputs, |of| (of[0] - of[1]) / of[2])
    }
}
