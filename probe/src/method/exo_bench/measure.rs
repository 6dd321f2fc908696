//! Measures one instance that is ready: warm-ups, then each group, repeat by repeat.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use analyzer::record::{FailureKind, IdleWindow};
use bytes::Bytes;

use super::done::{BatchKey, Done};
use super::offer::Placement;
use super::precision::{Precision, Rates};
use super::row::Group;
use super::trouble::BenchError;
use crate::capture::batch::{self, Around};
use crate::capture::cluster::Cluster;
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::capture::sampler::{Measured, Sampler};
use crate::capture::transport::{Outgoing, Verb};
use crate::endpoint::exo::chat::{self, Question};
use crate::endpoint::exo::models::Model;
use crate::endpoint::exo::query_value;
use crate::plan::{Pair, Plan};
use crate::workload::Prompt;

/// The prompts of a plan by their number of tokens.
pub type Prompts = BTreeMap<u64, Arc<Prompt>>;

/// One placement under measurement.
pub struct Bench<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The plan.
    pub plan: &'a Plan,
    /// The model.
    pub model: &'a Model,
    /// The prompts.
    pub prompts: &'a Prompts,
    /// The placement.
    pub placement: &'a Placement,
    /// Session, from 0.
    pub session: u32,
    /// Seconds that downloading took in this run.
    pub download_duration_s: Option<f64>,
    /// What an earlier start of the run measured already.
    pub done: &'a Done,
    /// Prompt sizes that the server was already heard to count otherwise.
    pub counted_otherwise: &'a mut BTreeSet<u64>,
}

impl Bench<'_> {
    /// Warm-ups and all groups, with the node metrics polled meanwhile where the plan says so.
    ///
    /// # Errors
    /// The run shall stop, or the cluster is gone.
    pub async fn run(&mut self, recorder: &mut Recorder) -> Result<(), BenchError> {
        let nodes = self.placement.instance.actual().map(|actual| actual.nodes).unwrap_or_default();
        let mut sampler = match self.plan.metrics_interval {
            Some(every) => {
                let instance_id = &self.placement.instance.id;
                let measured = Measured { instance_id, session: self.session, nodes: &nodes };
                Some(Sampler::start(self.cluster, every, measured).await)
            }
            None => None,
        };
        let measured = self.groups(recorder, &mut sampler).await;
        if let Some(sampler) = sampler {
            recorder.record(Event::Sampled { series: sampler.stop().await });
        }
        measured
    }

    async fn groups(&mut self, recorder: &mut Recorder, sampler: &mut Option<Sampler>) -> Result<(), BenchError> {
        let plan = self.plan;
        self.idle(recorder, "before").await?;
        if let Some(&first) = plan.pairs.first() {
            // exo's client warms up through the same function as it measures alone, streams included.
            for number in 1..=plan.warmup {
                self.batch(recorder, sampler.as_ref(), Turn { pair: first, concurrency: 1, repeat: 0, warmup: true })
                    .await?;
                recorder.record(Event::WarmedUp { number, of: plan.warmup });
            }
        }
        for &pair in &plan.pairs {
            for &concurrency in &plan.concurrency {
                if self.group(recorder, sampler, pair, concurrency).await? {
                    self.cluster.interrupt.pause(plan.pauses.after_group_s).await?;
                }
            }
        }
        self.idle(recorder, "after").await
    }

    /// Repeats one group, as often as asked or until its rates are known well enough. Whether anything was measured: what an
    /// earlier start of the run measured is not measured again.
    async fn group(
        &mut self,
        recorder: &mut Recorder,
        sampler: &mut Option<Sampler>,
        pair: Pair,
        concurrency: u32,
    ) -> Result<bool, BenchError> {
        let plan = self.plan;
        let mut precision = Precision::default();
        let mut measured = false;
        let mut repeat = 0;
        while repeat < plan.repeat
            || plan.target_precision.is_some_and(|target| repeat < target.max_repeats && !precision.reaches(target))
        {
            let key = BatchKey::new(self.session, self.placement, pair, concurrency, repeat);
            if let Some(rates) = self.done.rates(&key) {
                precision.add(rates);
                repeat += 1;
                continue;
            }
            self.cluster.interrupt.pause(plan.pauses.before_repeat_s).await?;
            recorder.record(Event::BatchStarted { pp: pair.pp, tg: pair.tg, concurrency, repeat });
            let rates =
                self.batch(recorder, sampler.as_ref(), Turn { pair, concurrency, repeat, warmup: false }).await?;
            precision.add(&rates);
            if let Some(sampler) = sampler {
                recorder.record(Event::Sampled { series: sampler.drain() });
            }
            recorder.record(Event::BatchEnded);
            measured = true;
            repeat += 1;
        }
        if let Some(target) = plan.target_precision
            && !precision.reaches(target)
        {
            recorder.notice(format!(
                "pp {} tg {} concurrency {concurrency}: after {repeat} repeats {}, not within the {} % of --target-precision",
                pair.pp,
                pair.tg,
                precision.words(),
                target.percent
            ));
        }
        Ok(measured)
    }

    /// Lets the loaded instance idle while power is read, where the plan says so.
    async fn idle(&self, recorder: &mut Recorder, when: &str) -> Result<(), BenchError> {
        let Some(time) = self.plan.idle_baseline else { return Ok(()) };
        let seconds = time.as_secs_f64();
        recorder.record(Event::Waiting { what: format!("{seconds} s of idling, the power baseline {when} measuring") });
        let from = self.cluster.clock.now();
        self.cluster.interrupt.pause(seconds).await?;
        let window = IdleWindow {
            instance_id: self.placement.instance.id.clone(),
            session: self.session,
            from_s: from.seconds(),
            to_s: self.cluster.clock.now().seconds(),
        };
        recorder.record(Event::Idled { window });
        Ok(())
    }

    /// Sends one batch and records what became of each request as it ends. Bodies are made before anything is sent,
    /// an answer is read after its last byte has come. Gives the rates of the requests that succeeded.
    async fn batch(
        &mut self,
        recorder: &mut Recorder,
        sampler: Option<&Sampler>,
        turn: Turn,
    ) -> Result<Vec<Rates>, BenchError> {
        let plan = self.plan;
        let Turn { pair, concurrency, repeat, warmup } = turn;
        let streamed = plan.streaming.at(concurrency);
        let Some(prompt) = self.prompts.get(&pair.pp) else { return Ok(Vec::new()) };
        let question = Question {
            model: self.model.id.clone(),
            content: prompt.content.clone(),
            max_tokens: pair.tg,
            use_prefix_cache: plan.use_prefix_cache,
            stream: streamed,
            sampling: plan.sampling,
        };
        let body = Bytes::from(question.body(concurrency > 1).to_string());
        let outgoing = |body: &Bytes| Outgoing {
            verb: Verb::Post,
            target: chat::PATH.into(),
            body: Some(body.clone()),
            stream: streamed,
        };
        let together = (0..concurrency).map(|_| outgoing(&body)).collect();
        let group = Group {
            model_id: &self.model.id,
            model_short_id: self.model.short_id(),
            placement: self.placement,
            actual: self.placement.instance.actual(),
            session: self.session,
            pp: prompt.tokens,
            tg: pair.tg,
            concurrency,
            repeat,
            warmup,
            streamed,
            use_prefix_cache: plan.use_prefix_cache,
            keep_preview: plan.keep_preview,
            download_duration_s: self.download_duration_s,
        };
        let mut completed = 0;
        let mut unreachable = None;
        let mut refused = 0;
        let mut rates = Vec::new();
        let mut suspicious = Vec::new();
        let cluster = self.cluster;
        let around = Around {
            before: async {
                if let Some(sampler) = sampler {
                    sampler.poll_now().await;
                }
            },
            // With several streams the first token of one says nothing of the phase of the others.
            first: sampler.filter(|_| streamed && concurrency == 1).map(Sampler::bell),
        };
        batch::send(cluster, together, plan.deadlines.idle, around, |start, sent| {
            if let Err(error) = &sent.result {
                refused += 1;
                unreachable = Some(error.clone());
            }
            let event = group.event(sent, start, cluster.clock.now(), completed);
            match &event {
                Event::Finished { run } => {
                    completed += 1;
                    rates.extend(run.stats.as_ref().map(Rates::of));
                    let counted = run.stats.as_ref().and_then(|stats| stats.prompt_tokens);
                    self.compare_counts(recorder, prompt.tokens, counted);
                }
                Event::Failed { failure } if warmup => recorder.notice(format!(
                    "a warm-up request failed ({}), so the first measured request may be slower than the rest",
                    failure.message
                )),
                _ => {}
            }
            match event {
                // A warm-up that went well is not kept: it is not a measurement.
                Event::Finished { .. } if warmup => {}
                // Why it failed is looked into when the others are through.
                Event::Failed { failure } if may_tell_of_an_end(failure.kind) => suspicious.push(failure),
                event => recorder.record(event),
            }
        })
        .await;
        let gone = !suspicious.is_empty() && self.instance_is_gone().await;
        for mut failure in suspicious {
            if gone {
                failure.kind = FailureKind::InstanceGone;
                failure.message = format!("the instance is gone; {}", failure.message);
            }
            recorder.record(Event::Failed { failure });
        }
        if let Some(sampler) = sampler {
            sampler.poll_now().await;
        }
        match unreachable {
            // Nothing listens any more: the rest of the plan would be a list of refusals.
            Some(error) if refused == concurrency => Err(crate::capture::cluster::ClusterError::from(error).into()),
            _ if self.cluster.interrupt.why().is_some() => Err(crate::capture::interrupt::Interrupted.into()),
            // The rest of the plan would be a list of refusals.
            _ if gone => Err(BenchError::Gone { instance: self.placement.instance.id.clone() }),
            _ => Ok(rates),
        }
    }

    /// Whether the cluster says for certain that the instance is not there any more.
    async fn instance_is_gone(&self) -> bool {
        let target = format!("/state/instances/{}", query_value(&self.placement.instance.id));
        matches!(self.cluster.find(&target).await, Ok(None))
    }

    /// exo's batch engine counts N, its sequential engine N + 1; anything else means that the server tokenises or
    /// renders otherwise, and the prompt has not the length it says.
    fn compare_counts(&mut self, recorder: &mut Recorder, ours: u64, server: Option<u64>) {
        let Some(server) = server else { return };
        if server != ours && server != ours + 1 && self.counted_otherwise.insert(ours) {
            recorder.notice(format!(
                "prompts made to have {ours} tokens have {server} by the server's count; its tokenizer or chat template differs from the one given with --tokenizer"
            ));
        }
    }
}

/// Whether a failure may mean that the instance went away: exo then ends streams and answers without a word, or refuses.
const fn may_tell_of_an_end(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::TruncatedStream
            | FailureKind::NoStats
            | FailureKind::NoToken
            | FailureKind::HttpStatus
            | FailureKind::ErrorFrame
            | FailureKind::Reset
    )
}

/// Which batch comes.
#[derive(Debug, Clone, Copy)]
struct Turn {
    pair: Pair,
    concurrency: u32,
    repeat: u32,
    warmup: bool,
}
