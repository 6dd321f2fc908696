//! The catalogue of metrics: every table, chart, tooltip and export takes its words from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A metric that is reckoned per cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Prefill rate of a request.
    PrefillTps,
    /// Decode rate of a request.
    GenerationTps,
    /// E2E latency of a request.
    Elapsed,
    /// Time to first token of a streamed request.
    Ttft,
    /// Aggregate decode rate of a batch, exo's console figure.
    AggregateExoMaxTimesN,
    /// Aggregate decode rate of a batch, sum of the requests' rates.
    AggregateSumOfRates,
    /// Aggregate rate of a batch, all tokens over its wall time.
    AggregateTokensOverWall,
    /// Energy of a batch by the client's samples.
    EnergyClient,
    /// Mean power of a batch by the client's samples.
    PowerClient,
    /// Energy of a request by the server's account.
    EnergyServer,
    /// Peak memory.
    PeakMemory,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// What a metric is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// The metric.
    pub metric: Metric,
    /// Short name for a table head.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// The formula in words, with the clock and who takes the time.
    pub formula: &'static str,
    /// Who defined it.
    pub source: &'static str,
    /// Version of the definition.
    pub version: u32,
    /// Whether a comparison gives it a verdict (the others are shown only).
    pub primary: bool,
}

impl Metric {
    /// Every metric, in the order in which tables list them.
    pub const ALL: [Self; 11] = [
        Self::PrefillTps,
        Self::GenerationTps,
        Self::Elapsed,
        Self::Ttft,
        Self::AggregateExoMaxTimesN,
        Self::AggregateSumOfRates,
        Self::AggregateTokensOverWall,
        Self::EnergyClient,
        Self::PowerClient,
        Self::EnergyServer,
        Self::PeakMemory,
    ];

    /// The words and the formula of the metric.
    ///
    /// Four are primary. Prefill and decode rate are the engine's own view of its two phases; the time to first token is
    /// the same prefill by an independent clock; client energy is the one cost. The others are shown without a verdict:
    /// elapsed time and the tokens over wall time are made of the two phases and the wait (a verdict on each would count one
    /// change three times), exo's max times N and the sum of rates repeat the decode rate, power without its time says
    /// nothing of cost, the server's energy covers nodes that do not serve the model, and peak memory is the same on every
    /// repeat, so that it has no noise to test against.
    #[must_use]
    pub const fn definition(self) -> Definition {
        match self {
            Self::PrefillTps => Definition {
                metric: self,
                name: "prefill",
                unit: "tok/s",
                better: Better::Higher,
                formula: "(uncached prompt tokens − 1) / time of prefill, by the server's clock",
                source: "exo generation_stats.prompt_tps",
                version: 1,
                primary: true,
            },
            Self::GenerationTps => Definition {
                metric: self,
                name: "generation",
                unit: "tok/s",
                better: Better::Higher,
                formula: "(generated tokens − 1) / (last token − first token), by the server's clock; none for one token",
                source: "exo generation_stats.generation_tps",
                version: 1,
                primary: true,
            },
            Self::Elapsed => Definition {
                metric: self,
                name: "elapsed",
                unit: "s",
                better: Better::Lower,
                formula: "from sending to the whole answer by the client's clock; above concurrency 1 from the common start",
                source: "exo elapsed_s",
                version: 1,
                primary: false,
            },
            Self::Ttft => Definition {
                metric: self,
                name: "time to first token",
                unit: "s",
                better: Better::Lower,
                formula: "first frame with a token − request handed to the socket, by the client's clock; streamed answers only",
                source: "exoscope",
                version: 1,
                primary: true,
            },
            Self::AggregateExoMaxTimesN => Definition {
                metric: self,
                name: "aggregate, exo max × N",
                unit: "tok/s",
                better: Better::Higher,
                formula: "largest decode rate of the batch × requests asked for; overstates when they differ, wait or fail",
                source: "exo console agg_gen_tps (since 2026-04-05)",
                version: 1,
                primary: false,
            },
            Self::AggregateSumOfRates => Definition {
                metric: self,
                name: "aggregate, sum of rates",
                unit: "tok/s",
                better: Better::Higher,
                formula: "sum of the decode rates of the batch's valid requests; blind to waiting and prefill",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::AggregateTokensOverWall => Definition {
                metric: self,
                name: "aggregate, tokens / wall",
                unit: "tok/s",
                better: Better::Higher,
                formula: "all generated tokens of the batch / (last answer done − first request sent), client's clock; \
                          without stamps the longest elapsed time is the wall",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::EnergyClient => Definition {
                metric: self,
                name: "energy, client",
                unit: "J",
                better: Better::Lower,
                formula: "trapezoid over the power samples of each node of the placement, interpolated at the batch's edges, \
                          nodes added up; whole machine, idle included",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: true,
            },
            Self::PowerClient => Definition {
                metric: self,
                name: "mean power, client",
                unit: "W",
                better: Better::Lower,
                formula: "client energy of the batch / its seconds",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::EnergyServer => Definition {
                metric: self,
                name: "energy, server",
                unit: "J",
                better: Better::Lower,
                formula: "the server's own account of one request, over every node of the cluster that reports power",
                source: "exo power_usage.total_energy_joules (since 2026-05-28)",
                version: 1,
                primary: false,
            },
            Self::PeakMemory => Definition {
                metric: self,
                name: "peak memory",
                unit: "B",
                better: Better::Lower,
                formula: "peak of rank 0 as exo reports it: 7.37 % above the true bytes, and never reset between requests",
                source: "exo generation_stats.peak_memory_usage",
                version: 1,
                primary: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_every_metric_once_in_the_order_of_the_enum() {
        assert!(Metric::ALL.is_sorted());
        assert_eq!(Metric::ALL.iter().collect::<std::collections::BTreeSet<_>>().len(), Metric::ALL.len());
        assert_eq!(Metric::ALL[Metric::ALL.len() - 1], Metric::PeakMemory, "add new metrics to ALL");
    }

    #[test]
    fn no_two_metrics_share_a_name() {
        let names: std::collections::BTreeSet<_> = Metric::ALL.iter().map(|metric| metric.definition().name).collect();
        assert_eq!(names.len(), Metric::ALL.len());
    }
}
