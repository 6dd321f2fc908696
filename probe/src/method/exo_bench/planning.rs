//! Before the first placement: is the model on its nodes, is there room, and what does the cluster look like.

use std::time::Duration;

use analyzer::record::Cluster as Snapshot;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::offer::Placement;
use super::trouble::BenchError;
use crate::capture::cluster::Cluster;
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::endpoint::exo::download::{Download, of_model};
use crate::endpoint::exo::models::{self, Model};
use crate::endpoint::exo::{bytes, query_value};
use crate::plan::Plan;

/// exo's client looks every ten seconds; a download of hours needs no more.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Sees to it that the model is on every node of a placement. Gives the seconds that downloading took; none when it was
/// there already.
///
/// # Errors
/// No room, a download that failed, or a cluster that does not answer.
pub async fn prepare(
    cluster: &Cluster,
    recorder: &mut Recorder,
    plan: &Plan,
    model: &Model,
    placement: &Placement,
) -> Result<Option<f64>, BenchError> {
    // exo's client asks again here, for the size alone.
    let known = models::read(&cluster.get("/models").await?)?;
    let size = known.iter().find(|known| known.id == model.id).and_then(|model| model.size_megabytes);
    let Some(size) = size.map(|megabytes| megabytes << 20) else {
        recorder.notice(format!(
            "the cluster does not tell the size of {}, so its download was not looked after",
            model.id
        ));
        return Ok(None);
    };
    let mut missing = false;
    for shard in &placement.instance.shards {
        let state = look(cluster, &shard.node, model).await?;
        if state != Download::Completed {
            missing = true;
            room(cluster, plan, &shard.node, size).await?;
        }
    }
    let began = Instant::now();
    for shard in &placement.instance.shards {
        // Always, even where it is complete: exo's client does so, and the server knows to do nothing.
        let body = json!({"targetNodeId": shard.node, "shardMetadata": shard.verbatim});
        cluster.post("/download/start", &body).await?;
    }
    loop {
        let mut waiting = Vec::new();
        for shard in &placement.instance.shards {
            match look(cluster, &shard.node, model).await? {
                Download::Completed => {}
                Download::Failed(reason) => return Err(BenchError::Download { node: shard.node.clone(), reason }),
                Download::Ongoing(Some((done, all))) if all > 0 => {
                    waiting.push(format!("{:.0} % of {:.1} GB", done as f64 / all as f64 * 100.0, all as f64 / 1e9));
                }
                _ => waiting.push("not begun".into()),
            }
        }
        if waiting.is_empty() {
            break;
        }
        recorder.record(Event::Waiting { what: format!("download: {}", waiting.join(", ")) });
        cluster.interrupt.pause(LOOK_EVERY.as_secs_f64()).await?;
    }
    Ok(missing.then(|| began.elapsed().as_secs_f64()))
}

async fn look(cluster: &Cluster, node: &str, model: &Model) -> Result<Download, BenchError> {
    let list = cluster.find(&format!("/state/downloads/{}", query_value(node))).await?;
    Ok(list.map_or(Download::Unknown, |list| of_model(&list, &model.id)))
}

/// Whether a node has room. One that never tells its free space is not held up for it.
async fn room(cluster: &Cluster, plan: &Plan, node: &str, size: u64) -> Result<(), BenchError> {
    let deadline = Instant::now() + plan.deadlines.settle;
    let mut wait = Duration::from_secs(1);
    loop {
        let disk = cluster.find(&format!("/state/nodeDisk/{}", query_value(node))).await?;
        if let Some(available) = disk.as_ref().and_then(|disk| disk.get("available")).and_then(bytes) {
            if available >= size {
                return Ok(());
            }
            let gigabytes = |bytes: u64| bytes as f64 / 1e9;
            return Err(BenchError::Disk {
                node: node.to_owned(),
                available_gb: gigabytes(available),
                needed_gb: gigabytes(size),
            });
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        cluster.interrupt.pause(wait.min(left).as_secs_f64()).await?;
        wait *= 2;
    }
}

/// exo's snapshot of the cluster: four keys of its state, each only where it holds something.
///
/// # Errors
/// The cluster does not answer.
pub async fn snapshot(cluster: &Cluster) -> Result<Option<Snapshot>, BenchError> {
    let snapshot = Snapshot {
        node_identities: part(cluster, "nodeIdentities").await?,
        topology: part(cluster, "topology").await?,
        node_memory: part(cluster, "nodeMemory").await?,
        node_system: part(cluster, "nodeSystem").await?,
        unknown: Map::new(),
    };
    Ok((snapshot != Snapshot::default()).then_some(snapshot))
}

async fn part(cluster: &Cluster, key: &str) -> Result<Option<Map<String, Value>>, BenchError> {
    let value = cluster.find(&format!("/state/{key}")).await?;
    Ok(match value {
        Some(Value::Object(map)) if !map.is_empty() => Some(map),
        _ => None,
    })
}
