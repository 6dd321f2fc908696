//! exo's own bench, from the first question to the last answer.
//!
//! The order of the requests is that of exo's official client, which the recorded sessions prove:
//!
//! 1. [`offer`]: which model is meant, and which placements fit.
//! 2. [`planning`]: the model on its nodes, and a snapshot of the cluster.
//! 3. Per placement: [`lifecycle`] makes the instance and waits for it, [`measure`] sends warm-ups and groups, and
//!    [`lifecycle`] removes it again on every road out.
//! 4. [`row`] makes a row or a failure of each request.
//!
//! [`done`] is what an earlier start of the run measured, [`precision`] how well the rates of a group are known.
//! [`trouble`] is why it cannot go on.

pub mod done;
pub mod lifecycle;
pub mod measure;
pub mod offer;
pub mod planning;
pub mod precision;
pub mod row;
pub mod trouble;

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use analyzer::record::{FORMAT_VERSION, Provenance, Start, Target, TokenizerIdentity};
use serde_json::Map;

use crate::capture::cluster::{Cluster, ClusterError};
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::endpoint::exo::models::Model;
use crate::environment::{host, tool};
use crate::plan::Plan;
use crate::workload::{PromptSizer, Tokenizer, locate};
use done::{BatchKey, Done};
use measure::{Bench, Prompts};
use offer::Placement;
use planning::Stock;
use trouble::BenchError;

/// How a bench came to its end, as far as it did.
#[derive(Debug, Default)]
pub struct Conclusion {
    /// The placements of a dry run, in words.
    pub listed: Option<Vec<String>>,
    /// Placements that could not be measured.
    pub placements_failed: usize,
}

/// Runs a plan. What was measured goes into the recorder as it comes; what an earlier start measured is `done`.
///
/// # Errors
/// Whatever ends the run before its end; the recorder holds what was measured before.
pub async fn run(
    plan: &Plan,
    begin: &Begin<'_>,
    cluster: &Cluster,
    recorder: &mut Recorder,
) -> Result<Conclusion, BenchError> {
    let model = offer::resolve(cluster, plan).await?;
    let reused = if plan.reuse_instance { existing(cluster, &model).await? } else { None };
    if plan.dry_run && reused.is_none() {
        let placements = offer::settle(cluster, plan, &model).await?;
        return Ok(Conclusion {
            listed: Some(placements.iter().map(Placement::words).collect()),
            placements_failed: 0,
        });
    }
    if plan.dry_run {
        // exo's client really measures here; whoever says "dry" does not want that.
        return Ok(Conclusion { listed: reused.map(|reused| vec![reused.words()]), placements_failed: 0 });
    }
    // Before anything is changed: what cannot be made is said now.
    let (identity, prompts) = prompts(plan, &model)?;
    let done = match begin {
        Begin::New { .. } => Done::default(),
        Begin::Resumed { earlier, start, own } => {
            same_run(earlier, plan, &model, &identity)?;
            recorder.record(Event::Resumed { start: start.clone() });
            for left in lifecycle::present(cluster).await?.iter().filter(|left| own.contains(&left.id)) {
                lifecycle::remove(cluster, recorder, left).await;
            }
            Done::of(recorder.file())
        }
    };
    if !plan.reuse_instance && !plan.delete_other_instances {
        // Before anything is changed: a download started on somebody else's busy cluster is a change.
        lifecycle::clear(cluster, recorder, plan, &BTreeSet::new()).await?;
    }
    if let Begin::New { command } = begin {
        let provenance = provenance(plan, command, cluster, &model, identity);
        recorder.record(Event::Started { provenance: Box::new(provenance) });
        plan.warnings.iter().for_each(|warning| recorder.notice(warning));
    }
    let mut run = Run {
        cluster,
        plan,
        model: &model,
        prompts: &prompts,
        done: &done,
        stock: Stock::default(),
        own: BTreeSet::new(),
        counted_otherwise: BTreeSet::new(),
        failed: 0,
        placed: 0,
    };
    if let Some(placement) = reused {
        run.reused(recorder, &placement).await?;
        return Ok(Conclusion::default());
    }
    if plan.reuse_instance {
        recorder.notice(format!("--reuse-instance: no instance of {} is there, so one was made", model.id));
    }
    for session in 0..plan.sessions {
        run.session(recorder, session).await?;
    }
    Ok(Conclusion { listed: None, placements_failed: run.failed })
}

/// How a run begins.
#[derive(Debug)]
pub enum Begin<'a> {
    /// For the first time.
    New {
        /// The command line as given, program name first.
        command: &'a [String],
    },
    /// Again, after it was cut off.
    Resumed {
        /// Who, how and of what it was.
        earlier: &'a Provenance,
        /// The new start.
        start: Start,
        /// The instances that the earlier starts made: one of them may still be there.
        own: BTreeSet<String>,
    },
}

/// A run under way.
struct Run<'a> {
    cluster: &'a Cluster,
    plan: &'a Plan,
    model: &'a Model,
    prompts: &'a Prompts,
    done: &'a Done,
    stock: Stock,
    /// Instances that this run made: one that is slow to go is nobody else's.
    own: BTreeSet<String>,
    counted_otherwise: BTreeSet<u64>,
    failed: usize,
    placed: usize,
}

impl Run<'_> {
    /// Measures an instance that was there; it is left as it is.
    async fn reused(&mut self, recorder: &mut Recorder, placement: &Placement) -> Result<(), BenchError> {
        self.snapshot(recorder).await?;
        recorder.record(planned(self.plan, std::slice::from_ref(placement)));
        recorder.record(placement_started(placement, 1));
        self.bench(placement, 0).run(recorder).await?;
        recorder.record(Event::PlacementEnded);
        Ok(())
    }

    /// The whole plan once, on instances of its own.
    async fn session(&mut self, recorder: &mut Recorder, session: u32) -> Result<(), BenchError> {
        let plan = self.plan;
        // Asked again for each session: every offer has new ids, and an instance's id is used once.
        let placements = offer::settle(self.cluster, plan, self.model).await?;
        if session == 0 {
            recorder.record(planned(plan, &placements));
            if let Some(first) = placements.first() {
                planning::prepare(self.cluster, recorder, plan, self.model, first, &mut self.stock).await?;
            }
            self.snapshot(recorder).await?;
        }
        for placement in &placements {
            if self.is_done(placement, session) {
                continue;
            }
            if self.placed > 0 {
                self.cluster.interrupt.pause(plan.pauses.after_placement_s).await?;
            }
            self.placed += 1;
            self.placement(recorder, placement, session).await?;
        }
        Ok(())
    }

    /// Whether an earlier start measured all of a placement.
    fn is_done(&self, placement: &Placement, session: u32) -> bool {
        self.plan.target_precision.is_none()
            && self.plan.pairs.iter().all(|&pair| {
                self.plan.concurrency.iter().all(|&concurrency| {
                    (0..self.plan.repeat).all(|repeat| {
                        let key = BatchKey::new(session, placement, pair, concurrency, repeat);
                        self.done.rates(&key).is_some()
                    })
                })
            })
    }

    /// Makes the instance, measures it, removes it.
    async fn placement(
        &mut self,
        recorder: &mut Recorder,
        placement: &Placement,
        session: u32,
    ) -> Result<(), BenchError> {
        let (cluster, plan) = (self.cluster, self.plan);
        let prepared = planning::prepare(cluster, recorder, plan, self.model, placement, &mut self.stock).await;
        if let Err(error @ (BenchError::Download { .. } | BenchError::Disk { .. })) = prepared {
            self.give_up(recorder, placement, &error);
            return Ok(());
        }
        prepared?;
        lifecycle::clear(cluster, recorder, plan, &self.own).await?;
        self.own.insert(placement.instance.id.clone());
        recorder.record(placement_started(placement, self.placed));
        let outcome = match lifecycle::create(cluster, placement).await {
            // Refused for certain: there is nothing to remove, and nothing to wait for.
            Err(error) if is_refusal(&error) => Err(error),
            created => {
                let outcome = match created {
                    Ok(()) => one_placement(&mut self.bench(placement, session), recorder).await,
                    Err(error) => Err(error),
                };
                // Also when it was not made for certain: a request that was cut off may have arrived.
                lifecycle::remove(cluster, recorder, &placement.instance).await;
                outcome
            }
        };
        recorder.record(Event::PlacementEnded);
        match outcome {
            Ok(()) => Ok(()),
            Err(error) if goes_on(&error) => {
                self.give_up(recorder, placement, &error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn give_up(&mut self, recorder: &mut Recorder, placement: &Placement, error: &BenchError) {
        self.failed += 1;
        let how_far = if matches!(error, BenchError::Gone { .. }) { "not measured to its end" } else { "not measured" };
        recorder.notice(format!("placement {} was {how_far}: {error}", placement.words()));
    }

    async fn snapshot(&self, recorder: &mut Recorder) -> Result<(), BenchError> {
        if let Some(snapshot) = planning::snapshot(self.cluster).await? {
            recorder.record(Event::Cluster { cluster: Box::new(snapshot) });
        }
        Ok(())
    }

    fn bench<'b>(&'b mut self, placement: &'b Placement, session: u32) -> Bench<'b> {
        Bench {
            cluster: self.cluster,
            plan: self.plan,
            model: self.model,
            prompts: self.prompts,
            placement,
            session,
            download_duration_s: self.stock.download_duration_s,
            done: self.done,
            counted_otherwise: &mut self.counted_otherwise,
        }
    }
}

/// A run goes on only where everything that changes a number is as it was.
fn same_run(earlier: &Provenance, plan: &Plan, model: &Model, tokenizer: &TokenizerIdentity) -> Result<(), BenchError> {
    let differs = |what: &'static str| Err(BenchError::OtherRun { what });
    let hashes = |identity: &TokenizerIdentity| (identity.sha256.clone(), identity.template_sha256.clone());
    if earlier.method != plan.method() {
        return differs("the plan");
    }
    if earlier.target.model_id != model.id {
        return differs("the model");
    }
    if earlier.tokenizer.as_ref().map(hashes) != Some(hashes(tokenizer)) {
        return differs("the tokenizer or its chat template");
    }
    Ok(())
}

/// Whether the cluster understood and said no. A status of 500 or above tells nothing about what was done before.
const fn is_refusal(error: &BenchError) -> bool {
    matches!(error, BenchError::Cluster(ClusterError::Refused { status: 400..500, .. }))
}

/// A placement that the cluster refuses or cannot load says nothing about the next one; a cluster that is gone does.
const fn goes_on(error: &BenchError) -> bool {
    matches!(
        error,
        BenchError::NotReady { .. } | BenchError::Gone { .. } | BenchError::Cluster(ClusterError::Refused { .. })
    )
}

async fn one_placement(bench: &mut Bench<'_>, recorder: &mut Recorder) -> Result<(), BenchError> {
    let (cluster, plan) = (bench.cluster, bench.plan);
    lifecycle::wait_ready(cluster, recorder, plan, &bench.placement.instance).await?;
    cluster.interrupt.pause(plan.pauses.after_ready_s).await?;
    bench.run(recorder).await
}

/// An instance of the model that is there, as exo's client takes it: the first.
async fn existing(cluster: &Cluster, model: &Model) -> Result<Option<Placement>, BenchError> {
    let instances = lifecycle::present(cluster).await?;
    Ok(instances.into_iter().find(|instance| instance.model_id == model.id).map(|instance| Placement {
        sharding: "reused".into(),
        instance_meta: "reused".into(),
        nodes: 0,
        instance,
    }))
}

/// Every prompt of the plan, made before the cluster is touched: what cannot be made is said then.
fn prompts(plan: &Plan, model: &Model) -> Result<(TokenizerIdentity, Prompts), BenchError> {
    let found = locate(&model.id, plan.tokenizer.as_deref(), &|name| std::env::var_os(name))?;
    let tokenizer = Arc::new(Tokenizer::load(&found.folder)?);
    let identity = tokenizer.identity(&found.source, plan.first_atom());
    let sizer = PromptSizer::new(tokenizer, plan.first_atom())?;
    let mut prompts = Prompts::new();
    for pair in &plan.pairs {
        if let Entry::Vacant(place) = prompts.entry(pair.pp) {
            place.insert(Arc::new(sizer.build(pair.pp)?));
        }
    }
    Ok((identity, prompts))
}

fn provenance(
    plan: &Plan,
    command: &[String],
    cluster: &Cluster,
    model: &Model,
    tokenizer: TokenizerIdentity,
) -> Provenance {
    Provenance {
        format_version: FORMAT_VERSION,
        tool: tool(),
        command: command.to_vec(),
        method: plan.method(),
        started_at: cluster.clock.started_at(),
        ended_at: None,
        host: host(),
        target: Target {
            engine: "exo".into(),
            // exo's interface does not tell its version.
            engine_version: None,
            address: cluster.address.to_string(),
            model_id: model.id.clone(),
            quantization: model.quantization.clone(),
        },
        tokenizer: Some(tokenizer),
        sessions: plan.sessions,
        simulated: cluster.is_simulated(),
        incomplete: None,
        notices: Vec::new(),
        starts: Vec::new(),
        unknown: Map::new(),
    }
}

fn planned(plan: &Plan, placements: &[Placement]) -> Event {
    let count = placements.len() as u64 * u64::from(plan.sessions);
    Event::Planned {
        placements: placements.iter().map(Placement::words).collect(),
        requests: plan.requests_per_placement() * count,
        batches: plan.batches_per_placement() * count,
    }
}

fn placement_started(placement: &Placement, number: usize) -> Event {
    Event::PlacementStarted { placement: placement.words(), number, instance_id: placement.instance.id.clone() }
}
