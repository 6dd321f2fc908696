//! The engine of one instance: prefills one request at a time, decodes up to eight together, queues the rest.
//!
//! Deadlines are absolute, so that a timer that fires late does not slow the simulated engine down; the numbers it reports
//! come from the instants at which things really happened, as a real engine's do.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::counter::PromptCounter;
use super::physics::{self, CONCURRENT_REQUESTS, Load, PREFILL_STEP, Rates};
use super::prefix::{Hit, PrefixCache};

/// A request for the engine.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) content: String,
    pub(super) prompt_tokens: u64,
    pub(super) max_tokens: u64,
    pub(super) use_prefix_cache: bool,
    /// Where its events go. A closed one cancels the request.
    pub(super) events: mpsc::UnboundedSender<Event>,
}

/// What happens to a request. The stream ending without a last token means that the instance went away.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    /// Uncached prompt tokens worked out, of how many.
    Prefill { processed: u64, total: u64 },
    /// One token; the last one comes with the statistics.
    Token { text: &'static str, last: Option<Stats> },
    /// The runner crashed.
    Crashed,
}

/// exo's `generation_stats`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stats {
    /// (uncached tokens − 1) / seconds of prefill; copied from an earlier request on an exact hit.
    pub(super) prompt_tps: f64,
    /// (tokens − 1) / seconds from the first to the last; 0 for a single token, as exo says it.
    pub(super) generation_tps: f64,
    pub(super) prompt_tokens: u64,
    pub(super) generation_tokens: u64,
    pub(super) peak_memory: u64,
    pub(super) hit: Hit,
}

/// The words of every answer: exo samples with a fixed seed, so equal requests get equal text. Some are not ASCII, and
/// bytes are therefore not characters.
const WORDS: [&str; 12] =
    ["The", " cluster", " answers", " in", " simulated", " words", ",", " naïve", " über", " 模拟", " ✓", "."];

/// A prompt with these words makes a real exo runner fail on purpose; here too.
const CRASH: &str = "EXO RUNNER MUST FAIL";

/// Bytes of key-value cache per token.
const CACHE_BYTES: u64 = 65_536;

/// exo converts gigabytes to bytes by 2^30 where MLX divided by 10^9.
const PEAK_INFLATION: f64 = 1.073_741_824;

/// An engine that is not running yet.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) rates: Rates,
    pub(super) noise_percent: f64,
    pub(super) random: StdRng,
    pub(super) counter: Arc<dyn PromptCounter>,
    /// Bytes of weights on the first node: exo reports the memory of rank 0 only.
    pub(super) weights: u64,
}

struct Running {
    job: Job,
    generated: u64,
    first: Option<Instant>,
    /// How much slower than the model's rate this request decodes.
    factor: f64,
    prompt_tps: f64,
    hit: Hit,
}

impl Engine {
    /// Works until the queue is closed. `on_load` hears what the engine does whenever that changes.
    pub(super) async fn run(mut self, mut jobs: mpsc::UnboundedReceiver<Job>, on_load: impl Fn(Load)) {
        let mut cache = PrefixCache::default();
        let mut waiting: VecDeque<Job> = VecDeque::new();
        let mut running: Vec<Running> = Vec::new();
        let mut due = Instant::now();
        let mut peak = 0;
        loop {
            if running.is_empty() && waiting.is_empty() {
                on_load(Load::Idle);
                let Some(job) = jobs.recv().await else { return };
                waiting.push_back(job);
                due = Instant::now();
            }
            while let Ok(job) = jobs.try_recv() {
                waiting.push_back(job);
            }
            while running.len() < CONCURRENT_REQUESTS
                && let Some(job) = waiting.pop_front()
            {
                if job.events.is_closed() {
                    continue;
                }
                on_load(Load::Prefill);
                if job.content.contains(CRASH) {
                    for victim in running.drain(..).map(|request| request.job).chain([job]) {
                        // A closed channel is a client that has gone.
                        drop(victim.events.send(Event::Crashed));
                    }
                    continue;
                }
                running.push(self.prefill(job, &mut cache, &mut due).await);
            }
            running.retain(|request| !request.job.events.is_closed());
            if running.is_empty() {
                continue;
            }
            on_load(Load::Decode(running.len()));
            let context: u64 = running.iter().map(|request| request.job.prompt_tokens + request.generated).sum();
            peak = peak.max(self.weights + context * CACHE_BYTES);
            let mean_context = context as f64 / running.len() as f64;
            let factor = running.iter().map(|request| request.factor).sum::<f64>() / running.len() as f64;
            due += Duration::from_secs_f64(self.rates.step_seconds(running.len(), mean_context) * factor);
            sleep_until(due).await;
            let now = Instant::now();
            running.retain_mut(|request| request.step(now, peak));
        }
    }

    /// Works out the prompt in steps, blocking the engine.
    async fn prefill(&mut self, job: Job, cache: &mut PrefixCache, due: &mut Instant) -> Running {
        let hit = if job.use_prefix_cache {
            cache.look_up(&job.content, job.prompt_tokens, self.counter.as_ref())
        } else {
            Hit::None
        };
        let uncached = job.prompt_tokens.saturating_sub(hit.cached());
        let total = uncached.saturating_sub(1);
        let report = |processed| drop(job.events.send(Event::Prefill { processed, total }));
        let began = Instant::now();
        report(0);
        let seconds = self.rates.prefill_seconds(total) * physics::noise(&mut self.random, self.noise_percent);
        let start = *due;
        // exo reports each full step, then all but the last token, then all.
        for processed in (PREFILL_STEP..total.saturating_sub(1)).step_by(PREFILL_STEP as usize) {
            sleep_until(start + Duration::from_secs_f64(seconds * processed as f64 / total as f64)).await;
            report(processed);
        }
        *due = start + Duration::from_secs_f64(seconds);
        sleep_until(*due).await;
        if total > 1 {
            report(total - 1);
        }
        report(total);
        let wall = began.elapsed().as_secs_f64();
        let prompt_tps = match hit {
            Hit::Exact { prompt_tps, .. } => prompt_tps,
            // exo divides by the wall time, too, and answers 0 where none passed.
            Hit::None | Hit::Partial { .. } => {
                if wall > 0.0 {
                    total as f64 / wall
                } else {
                    0.0
                }
            }
        };
        if job.use_prefix_cache {
            cache.remember(&job.content, prompt_tps);
        }
        let factor = physics::noise(&mut self.random, self.noise_percent);
        Running { job, generated: 0, first: None, factor, prompt_tps, hit }
    }
}

impl Running {
    /// One token at `now`. Whether the request goes on.
    fn step(&mut self, now: Instant, peak: u64) -> bool {
        let text = WORDS[(self.generated % WORDS.len() as u64) as usize];
        let first = *self.first.get_or_insert(now);
        self.generated += 1;
        let finished = self.generated >= self.job.max_tokens;
        let last = finished.then(|| {
            let span = now.saturating_duration_since(first).as_secs_f64();
            let steps = (self.generated - 1) as f64;
            Stats {
                prompt_tps: self.prompt_tps,
                generation_tps: if span > 0.0 { steps / span } else { 0.0 },
                prompt_tokens: self.job.prompt_tokens,
                generation_tokens: self.generated,
                peak_memory: (peak as f64 * PEAK_INFLATION).round() as u64,
                hit: self.hit,
            }
        });
        self.job.events.send(Event::Token { text, last }).is_ok() && !finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::counter::WordCounter;
    use rand::SeedableRng as _;

    const RATES: Rates = Rates { prefill: 1000.0, decode: 100.0 };

    fn engine() -> mpsc::UnboundedSender<Job> {
        let random = StdRng::seed_from_u64(1);
        let engine =
            Engine { rates: RATES, noise_percent: 0.0, random, counter: Arc::new(WordCounter), weights: 1_000_000 };
        let (jobs, queue) = mpsc::unbounded_channel();
        tokio::spawn(engine.run(queue, |_| ()));
        jobs
    }

    fn submit(
        jobs: &mpsc::UnboundedSender<Job>,
        tokens: u64,
        max_tokens: u64,
        cache: bool,
    ) -> mpsc::UnboundedReceiver<Event> {
        let (events, heard) = mpsc::unbounded_channel();
        let content = "a ".repeat(usize::try_from(tokens - 9).unwrap());
        jobs.send(Job { content, prompt_tokens: tokens, max_tokens, use_prefix_cache: cache, events }).unwrap();
        heard
    }

    /// Seconds until the first token and the last, and the statistics.
    async fn finish(mut heard: mpsc::UnboundedReceiver<Event>, start: Instant) -> (f64, f64, Stats) {
        let mut first = None;
        while let Some(event) = heard.recv().await {
            if let Event::Token { last, .. } = event {
                let now = start.elapsed().as_secs_f64();
                let first = *first.get_or_insert(now);
                if let Some(stats) = last {
                    return (first, now, stats);
                }
            }
        }
        panic!("the stream ended without a last token");
    }

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_takes_its_prefill_and_its_steps() {
        let jobs = engine();
        let start = Instant::now();
        let (first, last, stats) = finish(submit(&jobs, 1001, 11, false), start).await;
        // 1000 tokens at 1000/s and the start of 3 ms; a step of a 1000-token context is 10 ms · (1 + 1000/65536).
        near(first, 1.003 + 0.010_15, 0.002);
        near(last - first, 10.0 * 0.010_15, 0.002);
        near(stats.prompt_tps, 1000.0 / 1.003, 2.0);
        near(stats.generation_tps, 10.0 / (last - first), 1e-9);
        assert_eq!((stats.prompt_tokens, stats.generation_tokens, stats.hit), (1001, 11, Hit::None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_token_has_no_rate() {
        let jobs = engine();
        let (_, _, stats) = finish(submit(&jobs, 20, 1, false), Instant::now()).await;
        assert!(stats.generation_tps.abs() < f64::EPSILON);
    }

    #[tokio::test(start_paused = true)]
    async fn prefill_of_one_request_blocks_the_other() {
        let jobs = engine();
        let start = Instant::now();
        let one = submit(&jobs, 1001, 50, false);
        let two = submit(&jobs, 1001, 50, false);
        let (one, two) = tokio::join!(finish(one, start), finish(two, start));
        // Both are prefilled before the first step of either.
        near(one.0, 2.0 * 1.003, 0.02);
        near(two.0, one.0, 1e-9);
        near(one.2.generation_tps * 2.0, 100.0 * 2.0_f64.powf(0.6), 5.0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_ninth_request_waits_for_a_place() {
        let jobs = engine();
        let start = Instant::now();
        let mut eight = Vec::new();
        for _ in 0..8 {
            eight.push(submit(&jobs, 10, 20, false));
        }
        let ninth = submit(&jobs, 10, 20, false);
        let mut last_of_eight = 0.0_f64;
        for heard in eight {
            last_of_eight = last_of_eight.max(finish(heard, start).await.1);
        }
        let (first_of_ninth, _, _) = finish(ninth, start).await;
        assert!(first_of_ninth > last_of_eight, "{first_of_ninth} s is before {last_of_eight} s");
    }

    #[tokio::test(start_paused = true)]
    async fn an_exact_hit_copies_the_rate_of_the_run_that_filled_the_entry() {
        let jobs = engine();
        let start = Instant::now();
        let cold = finish(submit(&jobs, 1001, 5, true), start).await.2;
        let before = start.elapsed().as_secs_f64();
        let (first, _, warm) = finish(submit(&jobs, 1001, 5, true), start).await;
        assert_eq!(warm.prompt_tps.to_bits(), cold.prompt_tps.to_bits());
        assert_eq!(warm.hit, Hit::Exact { cached: 999, prompt_tps: cold.prompt_tps });
        assert!(first - before < 0.05, "an exact hit must not work the prompt out again");
        let (_, _, partial) = finish(submit(&jobs, 2001, 5, true), start).await;
        assert_eq!(partial.hit.word(), "partial");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_leaves_frees_its_place() {
        let jobs = engine();
        let start = Instant::now();
        let mut gone = submit(&jobs, 10, 1_000_000, false);
        while !matches!(gone.recv().await, Some(Event::Token { .. })) {}
        drop(gone);
        let (_, last, stats) = finish(submit(&jobs, 10, 10, false), start).await;
        near(stats.generation_tps, 100.0, 2.0);
        assert!(last < 1.0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_crash_takes_the_whole_batch_and_the_runner_comes_back() {
        let jobs = engine();
        let mut batch = submit(&jobs, 10, 1000, false);
        let (events, mut heard) = mpsc::unbounded_channel();
        while !matches!(batch.recv().await, Some(Event::Token { .. })) {}
        let content = CRASH.to_owned();
        jobs.send(Job { content, prompt_tokens: 12, max_tokens: 5, use_prefix_cache: false, events }).unwrap();
        assert_eq!(heard.recv().await, Some(Event::Crashed));
        let mut last = None;
        while let Some(event) = batch.recv().await {
            last = Some(event);
        }
        assert_eq!(last, Some(Event::Crashed));
        finish(submit(&jobs, 10, 5, false), Instant::now()).await;
    }
}
