//! exo's own bench, from the first question to the last answer.
//!
//! The order of the requests is that of exo's official client, which the recorded sessions prove:
//!
//! 1. [`offer`]: which model is meant, and which placements fit.
//! 2. [`planning`]: the model on its nodes, and a snapshot of the cluster.
//! 3. [`prompts`] of every length asked for, made before anything is changed.
//! 4. Per [`session`] and placement: [`lifecycle`] makes the instance and waits for it, [`measure`] sends warm-ups and groups, and
//!    [`lifecycle`] removes it again on every road out.
//! 5. [`row`] makes a row or a failure of each request.
//!
//! [`done`] is what an earlier start of the run measured, [`precision`] how well the rates of a group are known.
//! [`trouble`] is why it cannot go on.

pub mod done;
pub mod lifecycle;
pub mod measure;
pub mod offer;
pub mod planning;
pub mod precision;
pub mod prompts;
pub mod row;
pub mod session;
pub mod trouble;

use std::collections::BTreeSet;

use analyzer::record::{FORMAT_VERSION, Provenance, Start, Target, TokenizerIdentity};
use serde_json::{Map, Value};

use crate::capture::cluster::Cluster;
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::endpoint::exo::models::Model;
use crate::environment::{host, tool};
use crate::plan::Plan;
use done::Done;
use offer::Placement;
use prompts::Prepared;
use session::Run;
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
    recorder.record(Event::Waiting { what: "the tokenizer, and for prompts of the lengths asked for".into() });
    let Prepared { identity, prompts, notices } = prompts::prepared(plan, &model, cluster).await?;
    let done = match begin {
        Begin::New { .. } => Done::default(),
        Begin::Resumed { earlier, start, own } => {
            same_run(earlier, plan, &model, &identity)?;
            let before = recorder.file().cluster.as_ref().and_then(|cluster| cluster.node_identities.clone());
            let other_ids = same_nodes(cluster, before).await?;
            recorder.record(Event::Resumed { start: start.clone() });
            other_ids.into_iter().for_each(|words| recorder.notice(words));
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
        plan.warnings.iter().chain(&notices).for_each(|warning| recorder.notice(warning));
    }
    if cluster.is_replayed() {
        recorder.notice(
            "the server replays a recording: what the server says of itself is of the recorded run, and what the clock here \
             says depends on the speed of the replay; an answer that was recorded once is served each time it is asked for, \
             so that repeats show no spread of a machine",
        );
    }
    let mut run = Run::new(cluster, plan, &model, &prompts, &done);
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

/// A run goes on only on the machines it was begun on: their names and chips. Their ids may be new, for exo gives new ones
/// at each of its own starts; that is worth a sentence, which this gives.
async fn same_nodes(cluster: &Cluster, before: Option<Map<String, Value>>) -> Result<Option<String>, BenchError> {
    let now = planning::snapshot(cluster).await?.and_then(|snapshot| snapshot.node_identities);
    let (Some(before), Some(now)) = (before, now) else { return Ok(None) };
    let machines = |nodes: &Map<String, Value>| {
        let word = |node: &Value, key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut machines: Vec<[String; 3]> =
            nodes.values().map(|node| ["friendlyName", "modelId", "chipId"].map(|key| word(node, key))).collect();
        machines.sort();
        machines
    };
    if machines(&before) != machines(&now) {
        return Err(BenchError::OtherRun { what: "the cluster, by the names and chips of its nodes," });
    }
    let same = before.keys().collect::<BTreeSet<_>>() == now.keys().collect::<BTreeSet<_>>();
    let words = "the nodes have other ids than at the start of the run: exo was started again meanwhile, or this is another cluster of like machines";
    Ok((!same).then(|| words.to_owned()))
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
