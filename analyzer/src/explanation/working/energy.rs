//! What follows from the power readings, worked through from the energy of a batch and of its phases.

use super::{Around, Worked, worked};
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
            worked("{0} / {1}", &[(what, joules, "J"), (of, count, "")], joules / count)
        };
        match metric {
            Metric::Energy => {
                let (prefill, decode) = (self.metric(Metric::EnergyPrefill)?, self.metric(Metric::EnergyDecode)?);
                let inputs = [("prefill, all nodes", prefill, "J"), ("decode, all nodes", decode, "J")];
                worked("{0} + {1}", &inputs, prefill + decode)
            }
            Metric::Power => {
                let inputs = [("energy", energy, "J"), ("seconds of the batch", seconds, "s")];
                worked("{0} / {1}", &inputs, energy / seconds)
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
                worked("{0} / {1} / {2}", &inputs, tokens / seconds / power)
            }
            Metric::EnergyNet | Metric::IdleShare => {
                let rest = (energy - self.metric(Metric::EnergyNet)?) / seconds;
                let inputs = [
                    ("energy", energy, "J"),
                    ("power at rest, all nodes", rest, "W"),
                    ("seconds of the batch", seconds, "s"),
                ];
                match metric {
                    Metric::EnergyNet => worked("{0} − {1} × {2}", &inputs, energy - rest * seconds),
                    _ => worked("100 × {1} × {2} / {0}", &inputs, 100.0 * rest * seconds / energy),
                }
            }
            _ => None,
        }
    }

    /// An energy per token above rest: what is at rest is the rest of the whole energy.
    fn above_rest(&self, net: Metric, (what, gross): (&str, Metric), (of, tokens): (&str, f64)) -> Option<Worked> {
        let joules = self.metric(gross)?;
        let value = self.metric(net)?;
        let inputs =
            [(what, joules, "J"), ("at rest meanwhile, all nodes", joules - value * tokens, "J"), (of, tokens, "")];
        worked("({0} − {1}) / {2}", &inputs, value)
    }
}
