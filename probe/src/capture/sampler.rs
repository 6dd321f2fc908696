//! Polls the node metrics: one `GET /state/nodeSystem` per tick for all nodes, its own duration kept.
//!
//! exo serialises its whole state for each such request on its one event loop, so a poll per node, as exo's client does,
//! disturbs what is measured as many times.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use analyzer::record::{MetricSeries, SeriesColumns};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::cluster::Cluster;

/// One answer, or that none came.
#[derive(Debug, Clone)]
struct Reading {
    t_s: f64,
    poll_s: f64,
    /// The map of nodes; none where the poll failed.
    nodes: Option<Value>,
}

/// A running sampler; polling stops with it.
#[derive(Debug)]
pub struct Sampler {
    cluster: Cluster,
    interval: Duration,
    instance_id: String,
    session: u32,
    known: BTreeSet<String>,
    readings: Arc<Mutex<Vec<Reading>>>,
    task: JoinHandle<()>,
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Sampler {
    /// Starts polling; the first reading is there when this returns, so that it stands before anything measured.
    pub async fn start(cluster: &Cluster, every: Duration, instance_id: &str, nodes: &[String]) -> Self {
        let cluster = cluster.regardless();
        let readings = Arc::new(Mutex::new(vec![poll(&cluster).await]));
        let task = tokio::spawn({
            let (cluster, readings) = (cluster.clone(), readings.clone());
            async move {
                let mut ticks = interval(every);
                // A late poll does not move the later ones, and is not made up for.
                ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
                ticks.tick().await;
                loop {
                    ticks.tick().await;
                    let reading = poll(&cluster).await;
                    readings.lock().unwrap_or_else(PoisonError::into_inner).push(reading);
                }
            }
        });
        let known = nodes.iter().cloned().collect();
        Self { cluster, interval: every, instance_id: instance_id.to_owned(), session: 0, known, readings, task }
    }

    /// The readings since the last call, one entry per node.
    pub fn drain(&mut self) -> Vec<MetricSeries> {
        let readings = std::mem::take(&mut *self.readings.lock().unwrap_or_else(PoisonError::into_inner));
        if readings.is_empty() {
            return Vec::new();
        }
        for nodes in readings.iter().filter_map(|reading| reading.nodes.as_ref()?.as_object()) {
            self.known.extend(nodes.keys().cloned());
        }
        self.known.iter().map(|node| self.series(node, &readings)).collect()
    }

    /// Takes one last reading, which stands behind all that was measured, and stops.
    pub async fn stop(mut self) -> Vec<MetricSeries> {
        self.task.abort();
        let last = poll(&self.cluster).await;
        self.readings.lock().unwrap_or_else(PoisonError::into_inner).push(last);
        self.drain()
    }

    fn series(&self, node: &str, readings: &[Reading]) -> MetricSeries {
        let column = |key: &str| -> Vec<Option<f64>> {
            readings.iter().map(|reading| reading.nodes.as_ref()?.get(node)?.get(key)?.as_f64()).collect()
        };
        MetricSeries {
            node_id: node.to_owned(),
            source: "exo nodeSystem".into(),
            instance_id: Some(self.instance_id.clone()),
            session: self.session,
            interval_s: self.interval.as_secs_f64(),
            t_s: readings.iter().map(|reading| reading.t_s).collect(),
            poll_s: readings.iter().map(|reading| reading.poll_s).collect(),
            columns: SeriesColumns {
                sys_power: column("sysPower"),
                temp: column("temp"),
                gpu_usage: column("gpuUsage"),
                pcpu_usage: column("pcpuUsage"),
                ecpu_usage: column("ecpuUsage"),
            },
            health: None,
        }
    }
}

async fn poll(cluster: &Cluster) -> Reading {
    let before = cluster.clock.now();
    let answer = cluster.get("/state/nodeSystem").await;
    let after = cluster.clock.now();
    // A failed poll is a gap in the series; what is wrong with the cluster, the requests will tell.
    Reading { t_s: after.seconds(), poll_s: after.since(before), nodes: answer.ok() }
}
