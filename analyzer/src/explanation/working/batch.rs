//! The rates of requests that were started together, worked through.

use super::{Around, Worked, worked};
use crate::frame;
use crate::metric::Metric;
use crate::throughput;

impl Around<'_> {
    pub(super) fn aggregate(&self, metric: Metric) -> Option<Worked> {
        let rates: Vec<Option<f64>> =
            self.all(frame::GENERATION_TPS).iter().map(|rate| rate.filter(|rate| *rate > 0.0)).collect();
        let (sent, done) = (self.all(frame::SENT), self.all(frame::DONE));
        match metric {
            Metric::AggregateExoMaxTimesN => {
                let (largest, asked) = (throughput::largest(&rates)?, f64::from(self.cell.key().together()));
                let inputs = [("largest decode rate", largest, "tok/s"), ("requests asked for", asked, "")];
                worked("{0} × {1}", &inputs, |of| of[0] * of[1])
            }
            Metric::AggregateSumOfRates => {
                let rates: Vec<f64> = rates.into_iter().collect::<Option<_>>()?;
                let inputs: Vec<(&str, f64, &str)> = rates.iter().map(|rate| ("decode rate", *rate, "tok/s")).collect();
                let formula = (0..rates.len()).map(|place| format!("{{{place}}}")).collect::<Vec<_>>().join(" + ");
                worked(&formula, &inputs, |of| of.iter().sum())
            }
            Metric::SendSpread => {
                let sent: Vec<f64> = sent.iter().copied().collect::<Option<_>>()?;
                let (first, last) = (sent.iter().copied().reduce(f64::min)?, sent.iter().copied().reduce(f64::max)?);
                worked("{0} − {1}", &[("last sent", last, "s"), ("first sent", first, "s")], |of| of[0] - of[1])
            }
            _ => {
                let wall = throughput::wall_s(sent, done, self.all(frame::ELAPSED))?;
                let (what, count) = match metric {
                    Metric::RequestsPerSecond => ("valid requests", sent.len() as f64),
                    _ => ("generated tokens", self.generated_tokens()?),
                };
                worked("{0} / {1}", &[(what, count, ""), ("wall time", wall, "s")], |of| of[0] / of[1])
            }
        }
    }

    /// All generated tokens of the batch.
    pub(super) fn generated_tokens(&self) -> Option<f64> {
        self.all(frame::GENERATION_TOKENS).iter().copied().sum()
    }
}
