//! Measures one instance that is ready: warm-ups, then each group, repeat by repeat.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use super::offer::Placement;
use super::row::Group;
use super::trouble::BenchError;
use crate::capture::batch;
use crate::capture::cluster::Cluster;
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::capture::sampler::Sampler;
use crate::capture::transport::{Outgoing, Verb};
use crate::endpoint::exo::chat::{self, Question};
use crate::endpoint::exo::models::Model;
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
    /// Seconds that downloading took in this run.
    pub download_duration_s: Option<f64>,
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
            // exo's client polls nothing while it uses an instance that was there.
            Some(every) if !self.plan.reuse_instance => {
                Some(Sampler::start(self.cluster, every, &self.placement.instance.id, &nodes).await)
            }
            _ => None,
        };
        let measured = self.groups(recorder, &mut sampler).await;
        if let Some(sampler) = sampler {
            recorder.record(Event::Sampled { series: sampler.stop().await });
        }
        measured
    }

    async fn groups(&mut self, recorder: &mut Recorder, sampler: &mut Option<Sampler>) -> Result<(), BenchError> {
        let plan = self.plan;
        let interrupt = &self.cluster.interrupt;
        if let Some(&first) = plan.pairs.first() {
            // exo's client warms up through the same function as it measures alone, streams included.
            for number in 1..=plan.warmup {
                self.batch(recorder, first, 1, 0, true).await?;
                recorder.record(Event::WarmedUp { number, of: plan.warmup });
            }
        }
        for &pair in &plan.pairs {
            for &concurrency in &plan.concurrency {
                for repeat in 0..plan.repeat {
                    interrupt.pause(plan.pauses.before_repeat_s).await?;
                    let started = Event::BatchStarted { pp: pair.pp, tg: pair.tg, concurrency, repeat };
                    recorder.record(started);
                    self.batch(recorder, pair, concurrency, repeat, false).await?;
                    if let Some(sampler) = sampler {
                        recorder.record(Event::Sampled { series: sampler.drain() });
                    }
                    recorder.record(Event::BatchEnded);
                }
                interrupt.pause(plan.pauses.after_group_s).await?;
            }
        }
        Ok(())
    }

    /// Sends one batch and records what became of each request as it ends. Bodies are made before anything is sent,
    /// an answer is read after its last byte has come.
    async fn batch(
        &mut self,
        recorder: &mut Recorder,
        pair: Pair,
        concurrency: u32,
        repeat: u32,
        warmup: bool,
    ) -> Result<(), BenchError> {
        let plan = self.plan;
        let streamed = plan.streaming.at(concurrency);
        let Some(prompt) = self.prompts.get(&pair.pp) else { return Ok(()) };
        let question = Question {
            model: self.model.id.clone(),
            content: prompt.content.clone(),
            max_tokens: pair.tg,
            use_prefix_cache: plan.use_prefix_cache,
            stream: streamed,
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
        let cluster = self.cluster;
        batch::send(cluster, together, plan.deadlines.idle, |start, sent| {
            if let Err(error) = &sent.result {
                refused += 1;
                unreachable = Some(error.clone());
            }
            let event = group.event(sent, start, cluster.clock.now(), completed);
            match &event {
                Event::Finished { run } => {
                    completed += 1;
                    let counted = run.stats.as_ref().and_then(|stats| stats.prompt_tokens);
                    self.compare_counts(recorder, prompt.tokens, counted);
                }
                Event::Failed { failure } if warmup => recorder.notice(format!(
                    "a warm-up request failed ({}), so the first measured request may be slower than the rest",
                    failure.message
                )),
                _ => {}
            }
            // A warm-up that went well is not kept: it is not a measurement.
            if !(warmup && matches!(event, Event::Finished { .. })) {
                recorder.record(event);
            }
        })
        .await;
        match unreachable {
            // Nothing listens any more: the rest of the plan would be a list of refusals.
            Some(error) if refused == concurrency => Err(crate::capture::cluster::ClusterError::from(error).into()),
            _ if self.cluster.interrupt.why().is_some() => Err(crate::capture::interrupt::Interrupted.into()),
            _ => Ok(()),
        }
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
