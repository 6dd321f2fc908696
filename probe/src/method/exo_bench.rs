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
//! [`trouble`] is why it cannot go on.

pub mod lifecycle;
pub mod measure;
pub mod offer;
pub mod planning;
pub mod row;
pub mod trouble;

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use analyzer::record::{FORMAT_VERSION, Provenance, Target, TokenizerIdentity};
use serde_json::Map;

use crate::capture::cluster::{Cluster, ClusterError};
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::endpoint::exo::models::Model;
use crate::environment::{host, tool};
use crate::plan::Plan;
use crate::workload::{PromptSizer, Tokenizer, locate};
use measure::{Bench, Prompts};
use offer::Placement;
use trouble::BenchError;

/// How a bench came to its end, as far as it did.
#[derive(Debug, Default)]
pub struct Conclusion {
    /// The placements of a dry run, in words.
    pub listed: Option<Vec<String>>,
    /// Placements that could not be measured.
    pub placements_failed: usize,
}

/// Runs a plan. What was measured goes into the recorder as it comes.
///
/// # Errors
/// Whatever ends the run before its end; the recorder holds what was measured before.
pub async fn run(
    plan: &Plan,
    command: &[String],
    cluster: &Cluster,
    recorder: &mut Recorder,
) -> Result<Conclusion, BenchError> {
    let model = offer::resolve(cluster, plan).await?;
    let mut counted_otherwise = BTreeSet::new();

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
    if !plan.reuse_instance && !plan.delete_other_instances {
        // Before anything is changed: a download started on somebody else's busy cluster is a change.
        lifecycle::clear(cluster, recorder, plan, &BTreeSet::new()).await?;
    }

    recorder.record(Event::Started { provenance: Box::new(provenance(plan, command, cluster, &model, identity)) });
    plan.warnings.iter().for_each(|warning| recorder.notice(warning));
    if cluster.is_replayed() {
        recorder.notice("the server replays a recording: the numbers are those of the recorded run, served again");
    }

    if let Some(placement) = reused {
        if let Some(snapshot) = planning::snapshot(cluster).await? {
            recorder.record(Event::Cluster { cluster: Box::new(snapshot) });
        }
        recorder.record(planned(plan, std::slice::from_ref(&placement)));
        recorder.record(placement_started(&placement, 1));
        let mut bench = Bench {
            cluster,
            plan,
            model: &model,
            prompts: &prompts,
            placement: &placement,
            download_duration_s: None,
            counted_otherwise: &mut counted_otherwise,
        };
        bench.run(recorder).await?;
        recorder.record(Event::PlacementEnded);
        return Ok(Conclusion::default());
    }
    if plan.reuse_instance {
        recorder.notice(format!("--reuse-instance: no instance of {} is there, so one was made", model.id));
    }

    let placements = offer::settle(cluster, plan, &model).await?;
    recorder.record(planned(plan, &placements));
    let mut download_duration_s = None;
    if let Some(first) = placements.first() {
        download_duration_s = planning::prepare(cluster, recorder, plan, &model, first).await?;
    }
    if let Some(snapshot) = planning::snapshot(cluster).await? {
        recorder.record(Event::Cluster { cluster: Box::new(snapshot) });
    }

    let mut conclusion = Conclusion::default();
    let mut own = BTreeSet::new();
    for (number, placement) in (1..).zip(&placements) {
        lifecycle::clear(cluster, recorder, plan, &own).await?;
        own.insert(placement.instance.id.clone());
        recorder.record(placement_started(placement, number));
        let mut bench = Bench {
            cluster,
            plan,
            model: &model,
            prompts: &prompts,
            placement,
            download_duration_s,
            counted_otherwise: &mut counted_otherwise,
        };
        let outcome = match lifecycle::create(cluster, placement).await {
            // Refused for certain: there is nothing to remove, and nothing to wait for.
            Err(error) if is_refusal(&error) => Err(error),
            created => {
                let outcome = match created {
                    Ok(()) => one_placement(&mut bench, recorder).await,
                    Err(error) => Err(error),
                };
                // Also when it was not made for certain: a request that was cut off may have arrived.
                lifecycle::remove(cluster, recorder, &placement.instance).await;
                outcome
            }
        };
        recorder.record(Event::PlacementEnded);
        match outcome {
            Ok(()) => {}
            Err(error @ (BenchError::NotReady { .. } | BenchError::Cluster(_))) if goes_on(&error) => {
                conclusion.placements_failed += 1;
                recorder.notice(format!("placement {} was not measured: {error}", placement.words()));
            }
            Err(error) => return Err(error),
        }
        if number < placements.len() {
            cluster.interrupt.pause(plan.pauses.after_placement_s).await?;
        }
    }
    Ok(conclusion)
}

/// Whether the cluster understood and said no. A status of 500 or above tells nothing about what was done before.
const fn is_refusal(error: &BenchError) -> bool {
    matches!(error, BenchError::Cluster(ClusterError::Refused { status: 400..500, .. }))
}

/// A placement that the cluster refuses or cannot load says nothing about the next one; a cluster that is gone does.
const fn goes_on(error: &BenchError) -> bool {
    matches!(error, BenchError::NotReady { .. } | BenchError::Cluster(ClusterError::Refused { .. }))
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
    let identity = tokenizer.identity(&found.source, &plan.atom);
    let sizer = PromptSizer::new(tokenizer, &plan.atom)?;
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
        sessions: 1,
        simulated: cluster.is_simulated(),
        incomplete: None,
        notices: Vec::new(),
        unknown: Map::new(),
    }
}

fn planned(plan: &Plan, placements: &[Placement]) -> Event {
    let count = placements.len() as u64;
    Event::Planned {
        placements: placements.iter().map(Placement::words).collect(),
        requests: plan.requests_per_placement() * count,
        batches: plan.batches_per_placement() * count,
    }
}

fn placement_started(placement: &Placement, number: usize) -> Event {
    Event::PlacementStarted { placement: placement.words(), number, instance_id: placement.instance.id.clone() }
}
