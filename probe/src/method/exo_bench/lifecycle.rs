//! The life of the instance that is measured: made, waited for, removed on every road out.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::offer::Placement;
use super::trouble::BenchError;
use crate::capture::cluster::{Cluster, ClusterError};
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::endpoint::exo::placement::{Instance, read_instances};
use crate::endpoint::exo::query_value;
use crate::endpoint::exo::runner::Runner;
use crate::plan::Plan;

/// exo's client asks ten times a second while an instance loads.
const READY_EVERY: Duration = Duration::from_millis(100);
/// … and every 0.4 s whether it is gone,
const GONE_EVERY: Duration = Duration::from_millis(400);
/// … but gives up after 3 s and loses the run with it. Freeing the memory of a large model takes longer.
const GONE_WITHIN: Duration = Duration::from_secs(30);

/// The instances that are there now.
///
/// # Errors
/// The cluster does not answer as it should.
pub async fn present(cluster: &Cluster) -> Result<Vec<Instance>, BenchError> {
    let state = cluster.get("/state").await?;
    Ok(state.get("instances").map_or_else(|| Ok(Vec::new()), read_instances)?)
}

/// Makes room: the instances of others are deleted where that was asked for, and a reason to stop where not.
///
/// # Errors
/// There are some and they shall stay, or the cluster does not answer.
pub async fn clear(cluster: &Cluster, recorder: &mut Recorder, plan: &Plan) -> Result<(), BenchError> {
    let others = present(cluster).await?;
    if others.is_empty() {
        return Ok(());
    }
    if !plan.delete_other_instances {
        let list: Vec<String> = others.iter().map(|other| format!("{} ({})", other.id, other.model_id)).collect();
        return Err(BenchError::OtherInstances { list: list.join(", ") });
    }
    for other in &others {
        recorder.notice(format!("the instance {} of {} was deleted before measuring", other.id, other.model_id));
        cluster.delete(&format!("/instance/{}", query_value(&other.id))).await?;
    }
    cluster.interrupt.pause(plan.pauses.after_cleanup_s).await?;
    Ok(())
}

/// Asks for an instance exactly as it was offered.
///
/// # Errors
/// The cluster says no: too little memory, most likely.
pub async fn create(cluster: &Cluster, placement: &Placement) -> Result<(), BenchError> {
    cluster.post("/instance", &json!({"instance": placement.instance.verbatim})).await?;
    Ok(())
}

/// Waits until every runner of the instance can answer.
///
/// # Errors
/// A runner failed, the instance vanished, or the deadline passed.
pub async fn wait_ready(
    cluster: &Cluster,
    recorder: &mut Recorder,
    plan: &Plan,
    instance: &Instance,
) -> Result<(), BenchError> {
    let deadline = Instant::now() + plan.deadlines.ready;
    let not_ready = |reason: String| BenchError::NotReady { instance: instance.id.clone(), reason };
    let mut seen = false;
    let mut told = String::new();
    loop {
        let there = cluster.find(&format!("/state/instances/{}", query_value(&instance.id))).await?.is_some();
        if seen && !there {
            return Err(not_ready("the cluster dropped it while it was loading".into()));
        }
        seen |= there;
        let mut waiting = Vec::new();
        if !seen {
            waiting.push("the cluster to accept the instance".to_owned());
        }
        for shard in &instance.shards {
            // A runner is not there yet for many seconds; that is normal.
            let status = cluster.find(&format!("/state/runners/{}", query_value(&shard.runner))).await?;
            match status.as_ref().map(Runner::read).transpose()? {
                Some(Runner::Able) => {}
                Some(Runner::Failed(words)) => return Err(not_ready(format!("its runner failed: {words}"))),
                Some(Runner::Loading(Some((done, all)))) => waiting.push(format!("layers, {done} of {all} loaded")),
                Some(Runner::Loading(None)) => waiting.push("layers to load".into()),
                Some(Runner::Other(word)) => waiting.push(format!("its runner, now {word}")),
                None => waiting.push("its runner to start".into()),
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let what = waiting.join("; ");
        if what != told {
            told.clone_from(&what);
            recorder.record(Event::Waiting { what: what.clone() });
        }
        if Instant::now() >= deadline {
            let waited = plan.deadlines.ready.as_secs_f64();
            return Err(not_ready(format!("after {waited} s (--ready-timeout) it still waits for {what}")));
        }
        cluster.interrupt.pause(READY_EVERY.as_secs_f64()).await?;
    }
}

/// Removes the instance and waits until it is gone, also when the run shall stop; a second wish to stop leaves at once.
///
/// Whatever does not work is a notice: what was measured stays measured.
pub async fn remove(cluster: &Cluster, recorder: &mut Recorder, instance: &Instance) {
    let patient = cluster.regardless();
    let outcome = tokio::select! {
        outcome = remove_and_wait(&patient, instance) => outcome,
        () = cluster.interrupt.insisted() => Err("the run was interrupted twice".to_owned()),
    };
    if let Err(reason) = outcome {
        recorder.notice(format!(
            "the instance {} may still be on the cluster: {reason}; look with GET /state/instances, remove it with DELETE /instance/{}",
            instance.id, instance.id
        ));
    }
}

async fn remove_and_wait(cluster: &Cluster, instance: &Instance) -> Result<(), String> {
    let target = format!("/instance/{}", query_value(&instance.id));
    let words = |error: ClusterError| error.to_string();
    cluster.delete(&target).await.map_err(words)?;
    let deadline = Instant::now() + GONE_WITHIN;
    while cluster.find(&target).await.map_err(words)?.is_some() {
        if Instant::now() >= deadline {
            return Err(format!("it was deleted but is still there after {} s", GONE_WITHIN.as_secs()));
        }
        tokio::time::sleep(GONE_EVERY).await;
    }
    Ok(())
}
