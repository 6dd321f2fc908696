//! The model of the world: how fast, how hot, how hungry. Pure: time comes in as seconds, chance as a generator.
//!
//! The numbers are plausible, not measured: nothing that comes out of the simulator says anything about real hardware.

use rand::Rng;

use super::shard::Sharding;

/// How many requests an engine works on at once; further ones wait. exo's default, `EXO_MAX_CONCURRENT_REQUESTS`.
pub const CONCURRENT_REQUESTS: usize = 8;

/// The most prompt tokens that one prefill step takes, and so the distance between two progress reports. exo's value.
pub const PREFILL_STEP: u64 = 4096;

/// How the total decode rate grows with the number of running requests: `total = r1 · b^0.6`. Batching shares the reading
/// of the weights, so 8 requests make 3.5 times the tokens of one; each gets 0.44 of its rate alone.
const BATCH_EXPONENT: f64 = 0.6;

/// Context at which decoding is half as fast as on an empty one: reading the cache then costs as much as the weights.
const HALF_RATE_CONTEXT: f64 = 65_536.0;

/// Seconds that starting a prefill costs whatever its length. Makes short prompts look slower, as on real engines.
const PREFILL_START: f64 = 0.003;

/// Rates of one instance on an otherwise idle cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Prompt tokens per second; more than 0.
    pub prefill: f64,
    /// Generated tokens per second of one request alone on an empty context; more than 0.
    pub decode: f64,
}

impl Rates {
    /// Both rates times a factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { prefill: self.prefill * factor, decode: self.decode * factor }
    }

    /// The rates when the model is spread over nodes.
    ///
    /// Pipeline: chunks of a prompt overlap on the nodes (`n^0.7`), but a token visits all of them in turn and loses 8 %
    /// per hop. Tensor: both gain, decode less (`n^0.8`, `n^0.5`). Over RDMA nothing is lost on the way; over a ring of
    /// sockets a tensor placement, which talks twice per layer, keeps 60 %.
    #[must_use]
    pub fn spread(self, sharding: Sharding, rdma: bool, nodes: usize) -> Self {
        let n = nodes.max(1) as f64;
        let hops = n - 1.0;
        let (prefill, decode) = match (sharding, rdma) {
            (Sharding::Pipeline, false) => (n.powf(0.7), 0.92_f64.powf(hops)),
            (Sharding::Pipeline, true) => (n.powf(0.75), 0.97_f64.powf(hops)),
            (Sharding::Tensor, true) => (n.powf(0.8), n.powf(0.5)),
            (Sharding::Tensor, false) => {
                let kept = if nodes > 1 { 0.6 } else { 1.0 };
                (n.powf(0.8) * kept, n.powf(0.5) * kept)
            }
        };
        Self { prefill: self.prefill * prefill, decode: self.decode * decode }
    }

    /// Seconds to prefill `tokens` (uncached ones). While it lasts, the engine does nothing else.
    #[must_use]
    pub fn prefill_seconds(self, tokens: u64) -> f64 {
        PREFILL_START + tokens as f64 / self.prefill
    }

    /// Seconds of one decode step, which gives one token to each of `running` requests with `context` tokens on average.
    #[must_use]
    pub fn step_seconds(self, running: usize, context: f64) -> f64 {
        let batch = running.max(1) as f64;
        let alone = self.decode / (1.0 + context / HALF_RATE_CONTEXT);
        batch.powf(1.0 - BATCH_EXPONENT) / alone
    }
}

/// A factor around 1, log-normal with median 1: a duration cannot be negative, and a slow request is further out than a
/// fast one. `percent` is the standard deviation of its logarithm; 0 gives exactly 1.
pub fn noise(random: &mut impl Rng, percent: f64) -> f64 {
    (percent / 100.0 * standard_normal(random)).exp()
}

/// Box and Muller's transform: one draw of the standard normal from two uniform ones.
fn standard_normal(random: &mut impl Rng) -> f64 {
    // 1 − u is in (0, 1]: the logarithm of 0 is not drawn.
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// What a node is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Nothing.
    Idle,
    /// Generating, for this many requests.
    Decode(usize),
    /// Working on a prompt.
    Prefill,
}

impl Load {
    /// The GPU's use, 0..=1.
    #[must_use]
    pub fn gpu(self) -> f64 {
        match self {
            Self::Idle => 0.02,
            Self::Decode(running) => (0.78 + 0.02 * running as f64).min(0.94),
            Self::Prefill => 0.98,
        }
    }

    /// The node's power, W. Prefill is bound by arithmetic and draws most; decode waits for memory.
    #[must_use]
    pub fn power(self, idle: f64) -> f64 {
        match self {
            Self::Idle => idle,
            Self::Decode(running) => idle + 34.0 + 1.5 * running.min(CONCURRENT_REQUESTS) as f64,
            Self::Prefill => idle + 62.0,
        }
    }
}

/// Temperature of a node that dissipates nothing, °C.
const AMBIENT: f64 = 32.0;
/// °C above ambient per watt, settled.
const PER_WATT: f64 = 0.65;
/// Seconds in which 63 % of a change in temperature happens.
const THERMAL_SECONDS: f64 = 25.0;

/// A temperature that follows the power with a first-order lag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Temperature(f64);

impl Temperature {
    /// Settled at this power, W.
    #[must_use]
    pub fn settled(power: f64) -> Self {
        Self(AMBIENT + PER_WATT * power)
    }

    /// After `seconds` at this power, exactly, whatever the step.
    #[must_use]
    pub fn after(self, power: f64, seconds: f64) -> Self {
        let goal = Self::settled(power).0;
        Self(goal + (self.0 - goal) * (-seconds / THERMAL_SECONDS).exp())
    }

    /// °C.
    #[must_use]
    pub fn celsius(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    const RATES: Rates = Rates { prefill: 8000.0, decode: 250.0 };

    #[test]
    fn a_batch_makes_more_tokens_together_and_fewer_each() {
        let alone = 1.0 / RATES.step_seconds(1, 0.0);
        let each_of_eight = 1.0 / RATES.step_seconds(8, 0.0);
        assert!((alone - 250.0).abs() < 1e-9);
        assert!((8.0 * each_of_eight / alone - 8.0_f64.powf(0.6)).abs() < 1e-9);
        assert!(each_of_eight < alone && 8.0 * each_of_eight > alone);
    }

    #[test]
    fn a_long_context_halves_the_rate_at_its_constant() {
        assert!((RATES.step_seconds(1, HALF_RATE_CONTEXT) / RATES.step_seconds(1, 0.0) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_slower_cluster_takes_longer_in_both_phases() {
        let slow = RATES.times(0.8);
        assert!((slow.step_seconds(1, 0.0) * 0.8 - RATES.step_seconds(1, 0.0)).abs() < 1e-12);
        assert!(slow.prefill_seconds(4096) > RATES.prefill_seconds(4096));
    }

    #[test]
    fn one_node_is_the_same_however_it_is_called() {
        for sharding in [Sharding::Pipeline, Sharding::Tensor] {
            for rdma in [false, true] {
                assert_eq!(RATES.spread(sharding, rdma, 1), RATES, "{sharding:?} rdma {rdma}");
            }
        }
    }

    #[test]
    fn noise_has_median_one_and_the_spread_asked_for() {
        let mut random = StdRng::seed_from_u64(7);
        let mut logs: Vec<f64> = (0..20_000).map(|_| noise(&mut random, 5.0).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt();
        logs.sort_by(f64::total_cmp);
        assert!(logs[10_000].abs() < 0.002, "median of the logarithm {}", logs[10_000]);
        assert!((deviation - 0.05).abs() < 0.001, "deviation {deviation}");
        assert!((noise(&mut random, 0.0) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn prefill_draws_more_than_decode_draws_more_than_nothing() {
        assert!(Load::Prefill.power(8.0) > Load::Decode(8).power(8.0));
        assert!(Load::Decode(8).power(8.0) > Load::Decode(1).power(8.0));
        assert!(Load::Decode(1).power(8.0) > Load::Idle.power(8.0));
        assert!(Load::Prefill > Load::Decode(8) && Load::Decode(1) > Load::Idle);
    }

    #[test]
    fn temperature_settles_and_does_not_depend_on_the_step() {
        let cold = Temperature::settled(8.0);
        let once = cold.after(70.0, 10.0);
        let in_steps = (0..100).fold(cold, |temperature, _| temperature.after(70.0, 0.1));
        assert!((once.celsius() - in_steps.celsius()).abs() < 1e-9);
        assert!(once.celsius() > cold.celsius() && once.celsius() < Temperature::settled(70.0).celsius());
        assert!((cold.after(70.0, 1e4).celsius() - Temperature::settled(70.0).celsius()).abs() < 1e-9);
    }
}
