//! The cluster's state, shared by the requests, the engines and the sensors.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::Settings;
use super::catalogue::Model;
use super::engine::Job;
use super::fault::{Fault, Tally};
use super::node::{Node, Sensors, free_ram};
use super::physics::Load;
use super::shard::Instance;

/// How often a node's sensors are read: macmon's interval in exo.
const SENSOR_INTERVAL: Duration = Duration::from_secs(1);

/// A simulated exo cluster. Clones share it.
#[derive(Debug, Clone)]
pub struct Cluster(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: Settings,
    world: Mutex<World>,
}

/// An instance that is there.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) instance: Instance,
    /// The way to its engine.
    pub(super) jobs: mpsc::UnboundedSender<Job>,
    /// The task that loads it and then works.
    pub(super) task: AbortHandle,
    /// Requests in it: a further one goes to the instance with the fewest.
    pub(super) open: Arc<()>,
}

/// What is, at this instant.
#[derive(Debug)]
pub(super) struct World {
    pub(super) nodes: Vec<Node>,
    pub(super) models: Vec<Model>,
    pub(super) instances: BTreeMap<String, Placed>,
    /// Runner → status. Never cleaned, as exo never does.
    pub(super) runners: Map<String, Value>,
    /// (node, model) → the download's state; absent is pending.
    pub(super) downloads: BTreeMap<(String, String), super::download::Progress>,
    /// Command → how to end its stream.
    pub(super) streams: BTreeMap<String, oneshot::Sender<()>>,
    /// What faults are counted by.
    pub(super) tally: Tally,
    /// Events so far: grows with every change.
    pub(super) events: i64,
    ids: StdRng,
    sensors: StdRng,
    engines: u64,
}

impl Cluster {
    /// A cluster of idle nodes without instances.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        // Ids are new at each start, as exo's are, so the seed alone would not do: only what is measured repeats.
        let started = jiff::Timestamp::now().as_nanosecond() as u64;
        let mut ids = StdRng::seed_from_u64(settings.seed ^ started.rotate_left(32));
        let faults = &settings.faults;
        let nodes: Vec<Node> =
            (1..=settings.nodes).map(|number| Node::new(number, sensors_of(number, faults), &mut ids)).collect();
        let mut models = Model::built_in();
        for id in &settings.models {
            if !models.iter().any(|model| &model.id == id) {
                models.push(Model::fast(id));
            }
        }
        let mut world = World {
            nodes,
            models,
            instances: BTreeMap::new(),
            runners: Map::new(),
            downloads: BTreeMap::new(),
            streams: BTreeMap::new(),
            tally: Tally::default(),
            events: -1,
            ids,
            sensors: StdRng::seed_from_u64(settings.seed.wrapping_add(1)),
            engines: 0,
        };
        world.take_inventory(faults);
        if faults.contains(&Fault::DiskFull) {
            world.fill_disks();
        }
        Self(Arc::new(Shared { settings, world: Mutex::new(world) }))
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The state. Held for the length of a statement or two, never across an await.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.0.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to live: what is there from the start, and the sensors, which are read once a second until the returned
    /// task is aborted or the runtime ends.
    pub(super) fn begin(&self) -> tokio::task::JoinHandle<()> {
        if self.settings().faults.contains(&Fault::OtherInstance) {
            super::instance::place_other(self);
        }
        tokio::spawn(self.clone().run_sensors())
    }

    async fn run_sensors(self) {
        let mut ticks = interval(SENSOR_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            let mut world = self.world();
            let World { nodes, sensors, .. } = &mut *world;
            for node in nodes {
                node.publish(Instant::now(), sensors, self.settings().noise_percent);
            }
            world.events += 1;
        }
    }
}

impl World {
    /// A new id, UUIDv4 as exo's.
    pub(super) fn mint(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.ids.random()).into_uuid().hyphenated().to_string()
    }

    /// A port of the ephemeral range.
    pub(super) fn mint_port(&mut self) -> u16 {
        self.ids.random_range(49_153..=65_535)
    }

    /// Chance for the next engine: depends on the seed and on how many engines there were, on nothing else.
    pub(super) fn engine_chance(&mut self, seed: u64) -> StdRng {
        self.engines += 1;
        StdRng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(self.engines))
    }

    pub(super) fn model(&self, id: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.id == id)
    }

    fn fill_disks(&mut self) {
        let used: Vec<u64> = self.nodes.iter().map(|node| self.disk_used(&node.id)).collect();
        for (node, used) in self.nodes.iter_mut().zip(used) {
            node.fill_disk(used);
        }
    }

    /// Bytes free on a node's disk; 0 for a node that is not there.
    pub(super) fn disk_free(&self, id: &str) -> u64 {
        let node = self.nodes.iter().find(|node| node.id == id);
        node.map_or(0, |node| node.disk_free(self.disk_used(id)))
    }

    /// Bytes of models in a node's memory.
    pub(super) fn memory_used(&self, node: &str) -> u64 {
        let shares = self.instances.values().map(|placed| {
            let nodes = &placed.instance.assignments().node_to_runner;
            let bytes = placed.instance.first_shard().map_or(0, |shard| shard.shard().model_card.storage_size.in_bytes);
            if nodes.contains_key(node) { bytes / nodes.len().max(1) as u64 } else { 0 }
        });
        shares.sum()
    }

    /// Bytes free on a node.
    pub(super) fn memory_free(&self, node: &str) -> u64 {
        free_ram(self.memory_used(node))
    }

    /// An instance's engine does something else on all its nodes; `None` when it is gone.
    pub(super) fn set_load(&mut self, instance: &str, on: &[String], load: Option<Load>) {
        let now = Instant::now();
        for node in self.nodes.iter_mut().filter(|node| on.contains(&node.id)) {
            node.set_load(instance, load, now);
        }
    }

    /// The instance of a model with the fewest open requests.
    pub(super) fn least_loaded(&self, model: &str) -> Option<&Placed> {
        let of_model = self.instances.values().filter(|placed| placed.instance.assignments().model_id == model);
        of_model.min_by_key(|placed| Arc::strong_count(&placed.open))
    }

    /// The ids of the nodes that have sensors, in order.
    pub(super) fn metered(&self) -> Vec<String> {
        self.nodes.iter().filter(|node| node.is_metered()).map(|node| node.id.clone()).collect()
    }

    /// Their published power, W, in the same order.
    pub(super) fn power(&self) -> Vec<f64> {
        self.nodes.iter().filter(|node| node.is_metered()).map(|node| node.published.watts).collect()
    }

    /// The nodes' ids, in order.
    pub(super) fn node_ids(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.id.clone()).collect()
    }
}

/// How the sensors of the node with this number are, from 1.
fn sensors_of(number: usize, faults: &[Fault]) -> Sensors {
    if faults.iter().any(|fault| matches!(*fault, Fault::NoMacmon) || *fault == Fault::NoPower(number)) {
        return Sensors::Missing;
    }
    if faults.contains(&Fault::FrozenPower(number)) { Sensors::Frozen } else { Sensors::Working }
}

/// A fresh id outside the world's lock.
pub(super) fn command_id(cluster: &Cluster) -> String {
    let mut world = cluster.world();
    world.events += 1;
    world.mint()
}
