//! Before the first placement: is the model on its nodes, is there room, and what does the cluster look like.

use std::collections::BTreeSet;
use std::time::Duration;

use analyzer::record::Cluster as Snapshot;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::offer::Placement;
use super::trouble::BenchError;
use crate::capture::cluster::Cluster;
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::endpoint::exo::download::{Download, Progress, Stored, deletable, of_model};
use crate::endpoint::exo::models::{self, Model};
use crate::endpoint::exo::placement::Shard;
use crate::endpoint::exo::{bytes, path_value, query_value};
use crate::plan::Plan;

/// exo's client looks every ten seconds. Nothing is measured meanwhile, so that looking more often disturbs nothing, and a
/// download of a second does not cost ten.
const LOOK_EVERY: [Duration; 3] = [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(2)];

/// What is on the nodes already, so that a later placement does not ask again.
#[derive(Debug, Default)]
pub struct Stock {
    complete: BTreeSet<String>,
    /// Seconds that downloading took in this run; none when nothing had to be.
    pub download_duration_s: Option<f64>,
}

/// Sees to it that the model is on every node of a placement.
///
/// # Errors
/// No room, a download that failed or stalled, or a cluster that does not answer.
pub async fn prepare(
    cluster: &Cluster,
    recorder: &mut Recorder,
    plan: &Plan,
    model: &Model,
    placement: &Placement,
    stock: &mut Stock,
) -> Result<(), BenchError> {
    let shards: Vec<&Shard> =
        placement.instance.shards.iter().filter(|shard| !stock.complete.contains(&shard.node)).collect();
    if shards.is_empty() {
        return Ok(());
    }
    // exo's client asks again here, for the size alone.
    let known = models::read(&cluster.get("/models").await?)?;
    let size = known.iter().find(|known| known.id == model.id).and_then(|model| model.size_megabytes);
    let Some(size) = size.map(|megabytes| megabytes << 20) else {
        recorder.notice(format!(
            "the cluster does not tell the size of {}, so its download was not looked after",
            model.id
        ));
        stock.complete.extend(shards.iter().map(|shard| shard.node.clone()));
        return Ok(());
    };
    let mut missing = false;
    for shard in &shards {
        let list = list(cluster, &shard.node).await?;
        if of_model(&list, &model.id) != Download::Completed {
            missing = true;
            make_room(cluster, recorder, plan, model, &shard.node, &list, size).await?;
        }
    }
    let began = Instant::now();
    for shard in &shards {
        // Always, even where it is complete: exo's client does so, and the server knows to do nothing.
        let body = json!({"targetNodeId": shard.node, "shardMetadata": shard.verbatim});
        cluster.post("/download/start", &body).await?;
    }
    wait(cluster, recorder, plan, model, &shards).await?;
    if missing {
        let took = began.elapsed().as_secs_f64();
        stock.download_duration_s = Some(stock.download_duration_s.map_or(took, |before| before + took));
    }
    stock.complete.extend(shards.iter().map(|shard| shard.node.clone()));
    Ok(())
}

/// Waits until the model is whole on all of the nodes.
async fn wait(
    cluster: &Cluster,
    recorder: &mut Recorder,
    plan: &Plan,
    model: &Model,
    shards: &[&Shard],
) -> Result<(), BenchError> {
    let mut there = None;
    let mut grew = Instant::now();
    for look in 0.. {
        let mut waiting: Vec<(&str, Progress)> = Vec::new();
        for shard in shards {
            match of_model(&list(cluster, &shard.node).await?, &model.id) {
                Download::Completed => {}
                Download::Failed(reason) => return Err(BenchError::Download { node: shard.node.clone(), reason }),
                Download::Ongoing(progress) => waiting.push((&shard.node, progress)),
                Download::Pending | Download::Unknown => waiting.push((&shard.node, Progress::default())),
            }
        }
        let Some((node, _)) = waiting.first() else { return Ok(()) };
        let sum: u64 = waiting.iter().filter_map(|(_, progress)| progress.downloaded).sum();
        // A node that is through takes its bytes out of the sum, which is a change too.
        if there != Some((sum, waiting.len())) {
            there = Some((sum, waiting.len()));
            grew = Instant::now();
        }
        if let Some(stall) = plan.deadlines.stall
            && grew.elapsed() >= stall
        {
            return Err(BenchError::Download {
                node: (*node).to_owned(),
                reason: format!("no further byte came for {} s (--stall-timeout)", stall.as_secs_f64()),
            });
        }
        let words: Vec<String> = waiting.iter().map(|(_, progress)| progress.words()).collect();
        recorder.record(Event::Waiting { what: format!("the download: {}", words.join("; ")) });
        let every = LOOK_EVERY.get(look).copied().unwrap_or(LOOK_EVERY[LOOK_EVERY.len() - 1]);
        cluster.interrupt.pause(every.min(plan.deadlines.stall.unwrap_or(every)).as_secs_f64()).await?;
    }
    Ok(())
}

/// A node's list of downloads; null where there is none.
async fn list(cluster: &Cluster, node: &str) -> Result<Value, BenchError> {
    Ok(cluster.find(&format!("/state/downloads/{}", query_value(node))).await?.unwrap_or(Value::Null))
}

/// Sees to it that a node has room, where the plan says so by deleting models. One that never tells its free space is not
/// held up for it.
async fn make_room(
    cluster: &Cluster,
    recorder: &mut Recorder,
    plan: &Plan,
    model: &Model,
    node: &str,
    list: &Value,
    size: u64,
) -> Result<(), BenchError> {
    let Some(available) = available(cluster, plan, node).await? else { return Ok(()) };
    // What is there of the model already needs no further room.
    let there = match of_model(list, &model.id) {
        Download::Ongoing(progress) => progress.downloaded,
        _ => None,
    };
    let needed = size.saturating_sub(there.unwrap_or(0));
    if available >= needed {
        return Ok(());
    }
    let mut freed = 0;
    let stored = deletable(list).into_iter().filter(|stored| stored.model_id != model.id);
    let victims: Vec<Stored> = stored
        .take_while(|stored| {
            let still = available + freed < needed;
            freed += stored.bytes;
            still
        })
        .collect();
    let enough = available + victims.iter().map(|stored| stored.bytes).sum::<u64>() >= needed;
    // exo's client deletes first and finds out then that it was not enough.
    if !(plan.delete_downloads && enough) {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        return Err(BenchError::Disk {
            node: node.to_owned(),
            available_gb: gigabytes(available),
            needed_gb: gigabytes(needed),
            way_out: match (plan.delete_downloads, enough) {
                (true, _) => "; deleting every model there that may be deleted would not be enough".into(),
                (false, true) => {
                    let names: Vec<&str> = victims.iter().map(|stored| stored.model_id.as_str()).collect();
                    format!("; make room there, or let --danger-delete-downloads delete {}", names.join(", "))
                }
                (false, false) => "; make room there first".into(),
            },
        });
    }
    for victim in victims {
        // The id stands in the path as it is, its slash too.
        cluster.delete(&format!("/download/{}/{}", query_value(node), path_value(&victim.model_id))).await?;
        recorder.notice(format!(
            "{} ({:.1} GB) was deleted from node {node} to make room (--danger-delete-downloads)",
            victim.model_id,
            victim.bytes as f64 / 1e9
        ));
    }
    Ok(())
}

/// Free bytes of a node; none where it does not tell within the time to settle.
async fn available(cluster: &Cluster, plan: &Plan, node: &str) -> Result<Option<u64>, BenchError> {
    let deadline = Instant::now() + plan.deadlines.settle;
    let mut wait = Duration::from_secs(1);
    loop {
        let disk = cluster.find(&format!("/state/nodeDisk/{}", query_value(node))).await?;
        if let Some(available) = disk.as_ref().and_then(|disk| disk.get("available")).and_then(bytes) {
            return Ok(Some(available));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
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
