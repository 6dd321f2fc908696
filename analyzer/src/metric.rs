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
    /// Client's time to first token less the server's prefill.
    TtftGap,
    /// Time per output token of a streamed request.
    Tpot,
    /// Mean gap between the token frames of a stream.
    Itl,
    /// Late gaps between the token frames of a stream.
    ItlP99,
    /// What of the E2E latency the server does not account for.
    Overhead,
    /// Opening the connection of a request.
    Connect,
    /// Aggregate decode rate of a batch, exo's console figure.
    AggregateExoMaxTimesN,
    /// Aggregate decode rate of a batch, sum of the requests' rates.
    AggregateSumOfRates,
    /// Aggregate rate of a batch, all tokens over its wall time.
    AggregateTokensOverWall,
    /// Requests of a batch over its wall time.
    RequestsPerSecond,
    /// How far apart the requests of a batch were sent.
    SendSpread,
    /// Energy of a batch, ours.
    Energy,
    /// Energy of a batch above idle.
    EnergyNet,
    /// Share of a batch's energy that the nodes would have drawn anyway.
    IdleShare,
    /// Energy of a lone request before its first token.
    EnergyPrefill,
    /// Energy of a lone request from its first token on.
    EnergyDecode,
    /// Prefill energy per prompt token.
    JoulesPerPromptToken,
    /// Decode energy per generated token.
    JoulesPerGeneratedToken,
    /// Energy of a batch per generated token.
    JoulesPerGeneratedTokenBatch,
    /// Prefill energy above rest per prompt token.
    JoulesPerPromptTokenNet,
    /// Decode energy above rest per generated token of a lone request.
    JoulesPerGeneratedTokenNet,
    /// Energy of a batch above rest per generated token.
    JoulesPerGeneratedTokenBatchNet,
    /// Mean power of a batch, ours.
    Power,
    /// Generated tokens per second and watt of a batch.
    TokensPerSecondPerWatt,
    /// Energy of a batch by exo's client.
    EnergyExoClient,
    /// Energy of a batch by an instrument that was laid over the run.
    EnergyOverlay,
    /// Energy of a request by the server's account.
    EnergyServer,
    /// Energy of a request before its first token, by the server's account.
    EnergyServerPrefill,
    /// Energy of a request from its first token on, by the server's account.
    EnergyServerDecode,
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

/// Beyond it no metric has a value: thirty thousand million years in seconds, a hundred thousand times the world's tokens.
/// What stands in a file beyond it is no measurement, and sums and squares of it would leave what numbers can hold.
const LARGEST: f64 = 1e18;

/// Whether a number can be the value of any metric.
pub(crate) const fn is_value(number: f64) -> bool {
    number.abs() < LARGEST
}

/// Whether it can be a rate, a time or a size that was measured: above 0, and not so little that dividing by it would leave
/// what numbers can hold.
pub(crate) const fn is_positive(number: f64) -> bool {
    is_value(number) && number > 1.0 / LARGEST
}

impl Metric {
    /// Every metric, in the order in which tables list them.
    pub const ALL: [Self; 34] = [
        Self::PrefillTps,
        Self::GenerationTps,
        Self::Elapsed,
        Self::Ttft,
        Self::TtftGap,
        Self::Tpot,
        Self::Itl,
        Self::ItlP99,
        Self::Overhead,
        Self::Connect,
        Self::AggregateExoMaxTimesN,
        Self::AggregateSumOfRates,
        Self::AggregateTokensOverWall,
        Self::RequestsPerSecond,
        Self::SendSpread,
        Self::Energy,
        Self::EnergyNet,
        Self::IdleShare,
        Self::EnergyPrefill,
        Self::EnergyDecode,
        Self::JoulesPerPromptToken,
        Self::JoulesPerGeneratedToken,
        Self::JoulesPerGeneratedTokenBatch,
        Self::JoulesPerPromptTokenNet,
        Self::JoulesPerGeneratedTokenNet,
        Self::JoulesPerGeneratedTokenBatchNet,
        Self::Power,
        Self::TokensPerSecondPerWatt,
        Self::EnergyExoClient,
        Self::EnergyOverlay,
        Self::EnergyServer,
        Self::EnergyServerPrefill,
        Self::EnergyServerDecode,
        Self::PeakMemory,
    ];

    /// Whether it is an energy or made of one: its readings are once a second, so a smaller change does not matter.
    #[must_use]
    pub const fn is_energy(self) -> bool {
        matches!(
            self,
            Self::Energy
                | Self::EnergyNet
                | Self::IdleShare
                | Self::EnergyPrefill
                | Self::EnergyDecode
                | Self::JoulesPerPromptToken
                | Self::JoulesPerGeneratedToken
                | Self::JoulesPerGeneratedTokenBatch
                | Self::JoulesPerPromptTokenNet
                | Self::JoulesPerGeneratedTokenNet
                | Self::JoulesPerGeneratedTokenBatchNet
                | Self::Power
                | Self::TokensPerSecondPerWatt
                | Self::EnergyExoClient
                | Self::EnergyOverlay
                | Self::EnergyServer
                | Self::EnergyServerPrefill
                | Self::EnergyServerDecode
        )
    }

    /// Whether it is our reading of the nodes' power, which may be absent, uncertain or accumulated.
    #[must_use]
    pub const fn is_of_power_readings(self) -> bool {
        self.is_energy() && !self.is_of_server_energy() && !matches!(self, Self::EnergyExoClient | Self::EnergyOverlay)
    }

    /// Whether it is one value of requests that were started together, and has none at concurrency 1.
    #[must_use]
    pub const fn is_of_batch(self) -> bool {
        matches!(
            self,
            Self::AggregateExoMaxTimesN
                | Self::AggregateSumOfRates
                | Self::AggregateTokensOverWall
                | Self::RequestsPerSecond
                | Self::SendSpread
                | Self::JoulesPerGeneratedTokenBatch
                | Self::JoulesPerGeneratedTokenBatchNet
        )
    }

    /// Whether it is the server's own account of energy.
    #[must_use]
    pub const fn is_of_server_energy(self) -> bool {
        matches!(self, Self::EnergyServer | Self::EnergyServerPrefill | Self::EnergyServerDecode)
    }

    /// The words and the formula of the metric.
    ///
    /// Four are primary. Prefill and decode rate are the engine's own view of its two phases; the time to first token is
    /// the same prefill by an independent clock; energy is the one cost. The others are shown without a verdict:
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
                formula: "(generated tokens − 1) / (last token − first token), by the server's clock; none for one \
                          token",
                source: "exo generation_stats.generation_tps",
                version: 1,
                primary: true,
            },
            Self::Elapsed => Definition {
                metric: self,
                name: "elapsed",
                unit: "s",
                better: Better::Lower,
                formula: "from sending to the whole answer by the client's clock; above concurrency 1 from the common \
                          start",
                source: "exo elapsed_s",
                version: 1,
                primary: false,
            },
            Self::Ttft => Definition {
                metric: self,
                name: "time to first token",
                unit: "s",
                better: Better::Lower,
                formula: "first frame with a token − request handed to the socket, by the client's clock; streamed \
                          answers only",
                source: "exoscope",
                version: 1,
                primary: true,
            },
            Self::TtftGap => Definition {
                metric: self,
                name: "time to first token, gap to the server",
                unit: "s",
                better: Better::Lower,
                formula: "time to first token by the client's clock − (prompt tokens − 1) / prefill rate by the \
                          server's; cold streamed requests; shown as it is, also below 0",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::Tpot => Definition {
                metric: self,
                name: "time per output token",
                unit: "s",
                better: Better::Lower,
                formula: "(last token − first token) / (tokens − 1), by the client's clock, tokens as the server \
                          counts them",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::Itl => Definition {
                metric: self,
                name: "inter-token latency",
                unit: "s",
                better: Better::Lower,
                formula: "mean gap between the frames with a token, by the client's clock; a frame may carry several \
                          tokens",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::ItlP99 => Definition {
                metric: self,
                name: "inter-token latency, p99",
                unit: "s",
                better: Better::Lower,
                formula: "99th percentile of the gaps between the frames of one request (linear between order \
                          statistics), by the client's clock",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::Overhead => Definition {
                metric: self,
                name: "overhead",
                unit: "s",
                better: Better::Lower,
                formula: "elapsed − (prompt tokens − 1) / prefill rate − (generated tokens − 1) / decode rate: the gap \
                          between client's and server's clock, waiting included; cold requests; shown as it is, also \
                          below 0",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::Connect => Definition {
                metric: self,
                name: "connect",
                unit: "s",
                better: Better::Lower,
                formula: "from asking for the connection to having it, before the request is sent; in no other time",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::AggregateExoMaxTimesN => Definition {
                metric: self,
                name: "aggregate, exo max × N",
                unit: "tok/s",
                better: Better::Higher,
                formula: "largest decode rate of the batch × requests asked for; overstates when they differ, wait or \
                          fail",
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
            Self::RequestsPerSecond => Definition {
                metric: self,
                name: "requests / wall",
                unit: "req/s",
                better: Better::Higher,
                formula: "valid requests of the batch / (last answer done − first request sent), client's clock; above \
                          concurrency 1",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::SendSpread => Definition {
                metric: self,
                name: "send spread",
                unit: "s",
                better: Better::Lower,
                formula: "last request of the batch handed to its socket − first; above concurrency 1",
                source: "exoscope",
                version: 1,
                primary: false,
            },
            Self::Energy => Definition {
                metric: self,
                name: "energy",
                unit: "J",
                better: Better::Lower,
                formula: "per node of the placement and phase (prefill, decode; one phase above concurrency 1): \
                          publications of the sensor made inside, trapezoid between, held to the edges, never across \
                          two phases; nodes added up; whole machine, idle included. The first token is as seen on the \
                          stream, else done − (generated tokens − 1) / the server's decode rate. Absent below 5 \
                          publications or above 10 % uncertainty",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: true,
            },
            Self::EnergyNet => Definition {
                metric: self,
                name: "energy, net",
                unit: "J",
                better: Better::Lower,
                formula: "energy − power at rest of the same nodes × seconds of the batch; at rest: mean of the \
                          publications in the idle windows of the same instance and session",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::IdleShare => Definition {
                metric: self,
                name: "idle share",
                unit: "%",
                better: Better::Lower,
                formula: "power at rest × seconds of the batch / energy",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::EnergyPrefill => Definition {
                metric: self,
                name: "energy, prefill",
                unit: "J",
                better: Better::Lower,
                formula: "energy from the request sent to its first token, waiting included; concurrency 1",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::EnergyDecode => Definition {
                metric: self,
                name: "energy, decode",
                unit: "J",
                better: Better::Lower,
                formula: "energy from the first token to the answer done; concurrency 1",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::JoulesPerPromptToken => Definition {
                metric: self,
                name: "J per prompt token",
                unit: "J/tok",
                better: Better::Lower,
                formula: "prefill energy / prompt tokens as the server counts them; cold requests at concurrency 1",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::JoulesPerGeneratedToken => Definition {
                metric: self,
                name: "J per generated token",
                unit: "J/tok",
                better: Better::Lower,
                formula: "decode energy / generated tokens as the server counts them; concurrency 1",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::JoulesPerGeneratedTokenBatch => Definition {
                metric: self,
                name: "J per generated token, batch",
                unit: "J/tok",
                better: Better::Lower,
                formula: "energy of the whole batch, prefill included / all its generated tokens; above concurrency 1, \
                          where phases overlap",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::JoulesPerPromptTokenNet => Definition {
                metric: self,
                name: "J per prompt token, net",
                unit: "J/tok",
                better: Better::Lower,
                formula: "(prefill energy − power at rest × its seconds) / prompt tokens; as J per prompt token, with an idle baseline",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::JoulesPerGeneratedTokenNet => Definition {
                metric: self,
                name: "J per generated token, net",
                unit: "J/tok",
                better: Better::Lower,
                formula: "(decode energy − power at rest × its seconds) / generated tokens; as J per generated token, with an idle baseline",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::JoulesPerGeneratedTokenBatchNet => Definition {
                metric: self,
                name: "J per generated token, batch, net",
                unit: "J/tok",
                better: Better::Lower,
                formula: "(energy of the whole batch − power at rest × its seconds) / all its generated tokens; above concurrency 1, with an idle baseline",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::Power => Definition {
                metric: self,
                name: "mean power",
                unit: "W",
                better: Better::Lower,
                formula: "energy of the batch / its seconds",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::TokensPerSecondPerWatt => Definition {
                metric: self,
                name: "tokens per second and watt",
                unit: "tok/s/W",
                better: Better::Higher,
                formula: "(all generated tokens of the batch / its seconds) / its mean power, which is generated tokens / \
                          energy; prefill included. The power is the whole machine's (macmon sys_power, DC side), idle \
                          included, of every node of the placement: not the GPU or SoC rails that asiai divides by",
                source: "exoscope, from exo nodeSystem.sysPower",
                version: 1,
                primary: false,
            },
            Self::EnergyExoClient => Definition {
                metric: self,
                name: "energy, exo's client",
                unit: "J",
                better: Better::Lower,
                formula: "per node: trapezoid between the first and the last poll inside the batch alone; one poll: \
                          its power × seconds; none: absent (exo prints 0). Blind at the edges: too low by about one \
                          poll's interval of power",
                source: "exo bench energy",
                version: 1,
                primary: false,
            },
            Self::EnergyOverlay => Definition {
                metric: self,
                name: "energy, overlay",
                unit: "J",
                better: Better::Lower,
                formula: "power of the instruments of the widest scope, integrated from first sent to last done of the \
                          batch; the note names the scope, and different scopes are different quantities",
                source: "readings laid over the run by time",
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
            Self::EnergyServerPrefill => Definition {
                metric: self,
                name: "energy, server, prefill",
                unit: "J",
                better: Better::Lower,
                formula: "the server's own account up to the first token, waiting in the queue included",
                source: "exo power_usage.prefill_energy_joules (since 2026-05-28)",
                version: 1,
                primary: false,
            },
            Self::EnergyServerDecode => Definition {
                metric: self,
                name: "energy, server, decode",
                unit: "J",
                better: Better::Lower,
                formula: "the server's own account from the first token on",
                source: "exo power_usage.generation_energy_joules (since 2026-05-28)",
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
