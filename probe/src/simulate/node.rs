//! One simulated machine: who it is, what it is doing, how warm it got.

use std::collections::BTreeMap;

use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::physics::{self, Load, Temperature};

/// Memory of a simulated node.
pub(super) const RAM: u64 = 64 << 30;
/// Memory that the system keeps for itself.
const SYSTEM_RAM: u64 = 6 << 30;
/// Disk of a simulated node.
const DISK: u64 = 1_000_000_000_000;
/// What other files take of it.
const DISK_USED: u64 = 300_000_000_000;
/// What is left of a disk that is to be full: less than any model.
const DISK_LEFT: u64 = 1_000_000_000;
/// Power of the first node doing nothing, W; each further one draws a little more, so that nodes can be told apart.
const IDLE_POWER: f64 = 8.0;

/// How a node's sensors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sensors {
    /// They are read once a second.
    Working,
    /// They were read once; macmon is dead, and exo goes on telling what it said last.
    Frozen,
    /// There are none, as on Linux.
    Missing,
}

/// What macmon would read from a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    /// 0..=1.
    gpu: f64,
    /// °C.
    celsius: f64,
    /// W.
    pub(super) watts: f64,
    /// 0..=1.
    performance_cores: f64,
    /// 0..=1.
    efficiency_cores: f64,
}

impl Reading {
    pub(super) fn json(self) -> Value {
        json!({
            "gpuUsage": self.gpu, "temp": self.celsius, "sysPower": self.watts,
            "pcpuUsage": self.performance_cores, "ecpuUsage": self.efficiency_cores,
        })
    }
}

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: String,
    number: usize,
    idle_power: f64,
    /// Instance → what it does here.
    loads: BTreeMap<String, Load>,
    temperature: Temperature,
    /// True energy since the start, J: what it drew, whatever the sensors say.
    joules: f64,
    started: Instant,
    since: Instant,
    sensors: Sensors,
    /// Bytes of its disk that other files take.
    other_files: u64,
    /// The reading of the last full second: what `/state` shows until the next.
    pub(super) published: Reading,
}

impl Node {
    /// The node with this number, from 1.
    pub(super) fn new(number: usize, sensors: Sensors, ids: &mut StdRng) -> Self {
        let idle_power = IDLE_POWER + 0.5 * (number - 1) as f64;
        let temperature = Temperature::settled(idle_power);
        let reading = Reading {
            gpu: Load::Idle.gpu(),
            celsius: temperature.celsius(),
            watts: idle_power,
            performance_cores: 0.02,
            efficiency_cores: 0.1,
        };
        // As recorded: 128 random bits in hexadecimal, leading zeros stripped.
        let id = format!("{:x}", ids.random::<u128>());
        let now = Instant::now();
        Self {
            id,
            number,
            idle_power,
            loads: BTreeMap::new(),
            temperature,
            joules: 0.0,
            started: now,
            since: now,
            sensors,
            other_files: DISK_USED,
            published: reading,
        }
    }

    /// Whether it has sensors at all.
    pub(super) fn is_metered(&self) -> bool {
        self.sensors != Sensors::Missing
    }

    /// Fills its disk up, but for what `models` take, so that deleting one of them makes room.
    pub(super) fn fill_disk(&mut self, models: u64) {
        self.other_files = DISK.saturating_sub(models + DISK_LEFT);
    }

    /// True energy since the start, J, and the seconds since then.
    pub(super) fn energy(&mut self, now: Instant) -> (f64, f64) {
        self.settle(now);
        (self.joules, now.saturating_duration_since(self.started).as_secs_f64())
    }

    /// Its address in the simulated network.
    pub(super) fn ip(&self) -> String {
        // A range that is set aside for documentation (RFC 5737): it routes nowhere.
        format!("192.0.2.{}", self.number)
    }

    /// What it does: the heaviest of what its instances do.
    fn load(&self) -> Load {
        self.loads.values().copied().max().unwrap_or(Load::Idle)
    }

    /// An instance begins to do something else here; `None` when it is gone.
    pub(super) fn set_load(&mut self, instance: &str, load: Option<Load>, now: Instant) {
        self.settle(now);
        match load {
            Some(load) => drop(self.loads.insert(instance.to_owned(), load)),
            None => drop(self.loads.remove(instance)),
        }
    }

    /// Brings temperature and energy up to now. Needed before the load changes: they follow the load that was.
    fn settle(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.since).as_secs_f64();
        let watts = self.load().power(self.idle_power);
        self.temperature = self.temperature.after(watts, seconds);
        self.joules += watts * seconds;
        self.since = now;
    }

    /// Publishes the values of this instant, as macmon does once a second.
    pub(super) fn publish(&mut self, now: Instant, random: &mut StdRng, noise_percent: f64) {
        self.settle(now);
        if self.sensors != Sensors::Working {
            return;
        }
        let load = self.load();
        let mut wobble = || physics::noise(random, noise_percent);
        self.published = Reading {
            gpu: (load.gpu() * wobble()).min(1.0),
            celsius: self.temperature.celsius(),
            watts: load.power(self.idle_power) * wobble(),
            performance_cores: (0.02 * wobble() + 0.1 * load.gpu()).min(1.0),
            efficiency_cores: (0.1 * wobble()).min(1.0),
        };
    }

    /// Who it is. The words say in every answer that nothing here was measured on a real machine.
    pub(super) fn identity(&self) -> Value {
        json!({
            "modelId": "Simulated Mac", "chipId": "Simulated M4", "friendlyName": format!("simulated-{}", self.number),
            "osVersion": "Simulated", "osBuildVersion": "Simulated",
        })
    }

    /// Its memory, `used` bytes of it by models.
    pub(super) fn memory(&self, used: u64) -> Value {
        json!({
            "ramTotal": {"inBytes": RAM}, "ramAvailable": {"inBytes": free_ram(used)},
            "swapTotal": {"inBytes": 0}, "swapAvailable": {"inBytes": 0},
        })
    }

    /// Bytes free on its disk, of which models take `used`.
    pub(super) fn disk_free(&self, used: u64) -> u64 {
        DISK.saturating_sub(self.other_files + used)
    }

    /// Its disk, `used` bytes of it by models.
    pub(super) fn disk(&self, used: u64) -> Value {
        json!({"total": {"inBytes": DISK}, "available": {"inBytes": self.disk_free(used)}})
    }

    /// Its network.
    pub(super) fn network(&self) -> Value {
        json!({"interfaces": [{"name": "en0", "ipAddress": self.ip(), "interfaceType": "ethernet"}]})
    }

    /// Its Thunderbolt port, named so that nobody takes it for a real one.
    pub(super) fn thunderbolt(&self) -> Value {
        let domain = format!("00000000-0000-4000-8000-{:012}", self.number);
        json!({"interfaces": [{"rdmaInterface": RDMA_INTERFACE, "domainUuid": domain, "linkSpeed": "Simulated"}]})
    }
}

/// The name of the RDMA interface on every node.
pub(super) const RDMA_INTERFACE: &str = "rdma_en3";

/// Bytes free on a node whose models take `used`.
pub(super) fn free_ram(used: u64) -> u64 {
    (RAM - SYSTEM_RAM).saturating_sub(used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_reading_shows_the_load_of_its_instant_and_the_heat_of_what_was() {
        let mut random = StdRng::seed_from_u64(1);
        let mut node = Node::new(1, Sensors::Working, &mut random);
        let cold = node.published;
        node.set_load("i", Some(Load::Prefill), Instant::now());
        assert_eq!(node.published, cold, "a reading changes only when it is published");
        tokio::time::advance(Duration::from_secs(10)).await;
        node.publish(Instant::now(), &mut random, 0.0);
        let hot = node.published;
        assert!((hot.watts - Load::Prefill.power(IDLE_POWER)).abs() < 1e-9);
        assert!(hot.celsius > cold.celsius + 5.0 && hot.gpu > 0.9);
        node.set_load("i", None, Instant::now());
        node.publish(Instant::now(), &mut random, 0.0);
        assert!((node.published.watts - IDLE_POWER).abs() < 1e-9);
        assert!((node.published.celsius - hot.celsius).abs() < 1e-9);
    }

    #[tokio::test(start_paused = true)]
    async fn energy_is_that_of_the_load_whatever_the_sensors_say() {
        let mut random = StdRng::seed_from_u64(1);
        for sensors in [Sensors::Working, Sensors::Frozen, Sensors::Missing] {
            let mut node = Node::new(1, sensors, &mut random);
            let idle = node.published;
            tokio::time::advance(Duration::from_secs(2)).await;
            node.set_load("i", Some(Load::Prefill), Instant::now());
            tokio::time::advance(Duration::from_secs(3)).await;
            node.publish(Instant::now(), &mut random, 0.0);
            let (joules, seconds) = node.energy(Instant::now());
            let truth = 2.0 * IDLE_POWER + 3.0 * Load::Prefill.power(IDLE_POWER);
            assert!((joules - truth).abs() < 1e-6 && (seconds - 5.0).abs() < 1e-9, "{joules} J in {seconds} s");
            assert_eq!(node.published == idle, sensors != Sensors::Working);
        }
    }
}
