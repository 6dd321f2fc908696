//! Downloads of weights onto nodes: pending, ongoing, completed or failed.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::catalogue::{FAST, Model};
use super::cluster::{Cluster, World};
use super::fault::{DownloadFault, Fault};
use super::shard::{Shard, ShardMetadata, Sharding};

/// How far a download is; what is not listed is pending.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Progress {
    /// It is on its way.
    Ongoing(Ongoing),
    /// All of it is there.
    Completed,
    /// It failed, for this reason. What had come is thrown away.
    Failed(&'static str),
}

/// A download on its way: how far it is follows from the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ongoing {
    since: Instant,
    /// How long all of it takes.
    whole: Duration,
    /// Whether it stops half-way.
    stalls: bool,
}

/// The part after which a download fails or stalls, where it shall.
const HALF: f64 = 0.5;

impl Ongoing {
    /// The part that is there, 0..=1.
    fn part(self) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64();
        let whole = self.whole.as_secs_f64();
        // A download of no time is there at once.
        let part = if whole > 0.0 { (seconds / whole).min(1.0) } else { 1.0 };
        if self.stalls { part.min(HALF) } else { part }
    }

    /// Bytes per second at this moment, and the milliseconds left at that rate. One that stands still has neither a rate
    /// nor an end; exo's keys are numbers all the same.
    fn pace(self, bytes: u64) -> (f64, u64) {
        let part = self.part();
        let whole = self.whole.as_secs_f64();
        if whole <= 0.0 || (self.stalls && part >= HALF) {
            return (0.0, 0);
        }
        (bytes as f64 / whole, (whole * (1.0 - part) * 1e3) as u64)
    }
}

impl World {
    /// Puts the models that are there from the start onto every node. With a fault that is met on the way to one, all but
    /// the fast model are.
    pub(super) fn take_inventory(&mut self, faults: &[Fault]) {
        let fetched = faults.iter().any(|fault| fault.needs_download());
        let there = self.models.iter().filter(|model| model.downloaded && !(fetched && model.id == FAST));
        let there: Vec<String> = there.map(|model| model.id.clone()).collect();
        for node in self.node_ids() {
            for model in &there {
                self.downloads.insert((node.clone(), model.clone()), Progress::Completed);
            }
        }
    }

    /// Bytes of models on a node's disk.
    pub(super) fn disk_used(&self, node: &str) -> u64 {
        let here = self.downloads.iter().filter(|((on, _), _)| on == node);
        let bytes = here.filter_map(|((_, model), progress)| {
            let bytes = self.model(model)?.bytes;
            Some(match progress {
                Progress::Ongoing(ongoing) => (bytes as f64 * ongoing.part()) as u64,
                Progress::Completed => bytes,
                Progress::Failed(_) => 0,
            })
        });
        bytes.sum()
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
            Some(Progress::Ongoing(ongoing)) => {
                let downloaded = json!({"inBytes": (model.bytes as f64 * ongoing.part()) as u64});
                let (speed, left) = ongoing.pace(model.bytes);
                entry["downloadProgress"] = json!({
                    "total": total, "downloaded": downloaded, "downloadedThisSession": downloaded,
                    "completedFiles": 0, "totalFiles": 1, "speed": speed, "etaMs": left, "files": {},
                });
                "DownloadOngoing"
            }
            Some(Progress::Completed) => {
                entry["total"] = total;
                entry["readOnly"] = false.into();
                "DownloadCompleted"
            }
            Some(Progress::Failed(reason)) => {
                entry["errorMessage"] = (*reason).into();
                "DownloadFailed"
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

/// Starts a download; one that is complete or on its way stays as it is, one that failed begins again.
pub(super) fn start(cluster: &Cluster, node: &str, model: &str) {
    let key = (node.to_owned(), model.to_owned());
    let mut world = cluster.world();
    let Some(bytes) = world.model(model).map(|model| model.bytes) else { return };
    if !world.nodes.iter().any(|known| known.id == node) {
        return;
    }
    if matches!(world.downloads.get(&key), Some(Progress::Ongoing(_) | Progress::Completed)) {
        return;
    }
    world.events += 1;
    if world.disk_free(node) < bytes {
        world.downloads.insert(key, Progress::Failed("the simulated disk has no room for the model"));
        return;
    }
    let settings = cluster.settings();
    let fault = world.tally.download(&settings.faults);
    let slow = settings.faults.iter().find_map(|fault| match *fault {
        Fault::DownloadSlow(seconds) => Some(seconds),
        _ => None,
    });
    let whole = slow.unwrap_or_else(|| Duration::from_secs_f64(settings.download_seconds));
    let ongoing = Ongoing { since: Instant::now(), whole, stalls: fault == Some(DownloadFault::Stalls) };
    let (after, end) = match fault {
        None => (whole, Progress::Completed),
        Some(DownloadFault::Fails) => (whole.mul_f64(HALF), Progress::Failed("the simulated download broke off")),
        Some(DownloadFault::Stalls) => {
            world.downloads.insert(key, Progress::Ongoing(ongoing));
            return;
        }
    };
    if after.is_zero() {
        world.downloads.insert(key, end);
        return;
    }
    world.downloads.insert(key.clone(), Progress::Ongoing(ongoing));
    drop(world);
    let cluster = cluster.clone();
    tokio::spawn(async move {
        tokio::time::sleep_until(ongoing.since + after).await;
        let mut world = cluster.world();
        // Cancelled or deleted meanwhile, perhaps begun anew: that is another download.
        if world.downloads.get(&key) == Some(&Progress::Ongoing(ongoing)) {
            world.downloads.insert(key, end);
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
