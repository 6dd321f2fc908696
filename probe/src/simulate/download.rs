//! Downloads of weights onto nodes: pending, ongoing, completed.

use std::time::Duration;

use serde_json::{Value, json};

use super::catalogue::Model;
use super::cluster::{Cluster, World};
use super::shard::{Shard, ShardMetadata, Sharding};

/// How far a download is; what is not listed is pending.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Progress {
    /// This part of it is there, 0..1.
    Ongoing(f64),
    /// All of it is there.
    Completed,
}

/// How long a download takes, whatever its size, and in how many steps it shows. A simulated one has nothing to wait for.
const DOWNLOAD: Duration = Duration::from_secs(2);
const STEPS: u32 = 4;

impl World {
    /// Puts the models that are there from the start onto every node.
    pub(super) fn take_inventory(&mut self) {
        let there: Vec<String> =
            self.models.iter().filter(|model| model.downloaded).map(|model| model.id.clone()).collect();
        for node in self.node_ids() {
            for model in &there {
                self.downloads.insert((node.clone(), model.clone()), Progress::Completed);
            }
        }
    }

    /// Bytes of models on a node's disk.
    pub(super) fn disk_used(&self, node: &str) -> u64 {
        let here = self.downloads.keys().filter(|(on, _)| on == node);
        here.filter_map(|(_, model)| self.model(model)).map(|model| model.bytes).sum()
    }

    /// exo's list of a node: every known model, downloaded or not.
    pub(super) fn downloads_of(&self, node: &str) -> Value {
        self.models.iter().map(|model| self.download_json(node, model)).collect()
    }

    fn download_json(&self, node: &str, model: &Model) -> Value {
        let total = json!({"inBytes": model.bytes});
        let mut entry = json!({"nodeId": node, "shardMetadata": whole(model), "modelDirectory": directory(model)});
        let tag = match self.downloads.get(&(node.to_owned(), model.id.clone())) {
            None => {
                entry["downloaded"] = json!({"inBytes": 0});
                entry["total"] = total;
                "DownloadPending"
            }
            Some(Progress::Ongoing(part)) => {
                let downloaded = json!({"inBytes": (model.bytes as f64 * part) as u64});
                let left = DOWNLOAD.mul_f64(1.0 - part);
                entry["downloadProgress"] = json!({
                    "total": total, "downloaded": downloaded, "downloadedThisSession": downloaded,
                    "completedFiles": 0, "totalFiles": 1, "speed": model.bytes as f64 / DOWNLOAD.as_secs_f64(),
                    "etaMs": left.as_millis() as u64, "files": {},
                });
                "DownloadOngoing"
            }
            Some(Progress::Completed) => {
                entry["total"] = total;
                entry["readOnly"] = false.into();
                "DownloadCompleted"
            }
        };
        json!({tag: entry})
    }
}

/// The shard that stands for the whole model in a list of downloads.
fn whole(model: &Model) -> ShardMetadata {
    ShardMetadata::new(
        Sharding::Pipeline,
        Shard {
            model_card: model.card(),
            device_rank: 0,
            world_size: 1,
            immediate_exception: false,
            should_timeout: None,
            start_layer: 0,
            end_layer: model.layers,
            n_layers: model.layers,
        },
    )
}

fn directory(model: &Model) -> String {
    format!("/simulated/models/{}", model.id.replace('/', "--"))
}

/// Starts a download; one that is complete or on its way stays as it is.
pub(super) fn start(cluster: &Cluster, node: String, model: String) {
    let key = (node, model);
    {
        let mut world = cluster.world();
        let known = world.model(&key.1).is_some() && world.nodes.iter().any(|node| node.id == key.0);
        if !known || world.downloads.contains_key(&key) {
            return;
        }
        world.downloads.insert(key.clone(), Progress::Ongoing(0.0));
    }
    let cluster = cluster.clone();
    tokio::spawn(async move {
        for step in 1..=STEPS {
            tokio::time::sleep(DOWNLOAD / STEPS).await;
            let mut world = cluster.world();
            // Cancelled or deleted meanwhile: nothing to go on with.
            let Some(progress) = world.downloads.get_mut(&key) else { return };
            let part = f64::from(step) / f64::from(STEPS);
            *progress = if step == STEPS { Progress::Completed } else { Progress::Ongoing(part) };
            world.events += 1;
        }
    });
}

/// What a command may forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forget {
    /// A download on its way only.
    Ongoing,
    /// A complete one as well.
    Anything,
}

/// Makes a download pending again.
pub(super) fn forget(cluster: &Cluster, node: &str, model: &str, what: Forget) {
    let key = (node.to_owned(), model.to_owned());
    let mut world = cluster.world();
    if what == Forget::Anything || world.downloads.get(&key) != Some(&Progress::Completed) {
        world.downloads.remove(&key);
        world.events += 1;
    }
}
