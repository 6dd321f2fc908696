//! Polls the node metrics: one `GET /state/nodeSystem` per tick for all nodes, its own duration kept.
//!
//! exo serialises its whole state for each such request on its one event loop, so a poll per node, as exo's client does,
//! disturbs what is measured as many times. Polls that take long come more seldom: see [`PATIENCE`].
//!
//! Beside the ticks there is a poll right before each batch, right after it, and at the first token of a stream: power
//! that is read once a second says little of a phase whose edges fall between two readings.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use analyzer::record::{MetricSeries, SeriesColumns};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::cluster::Cluster;

/// A poll that took long is followed by a break of so many times its duration, so that polling never takes more than a
/// twentieth of the server's one event loop. A loaded exo was seen to need 40 to 100 ms for a poll.
pub const PATIENCE: u32 = 20;

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
    now: mpsc::UnboundedSender<oneshot::Sender<()>>,
    bell: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What is sampled for.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// The instance that is measured meanwhile.
    pub instance_id: &'a str,
    /// Session, from 0.
    pub session: u32,
    /// The nodes that hold it: they get a series even where they never report.
    pub nodes: &'a [String],
}

impl Sampler {
    /// Starts polling; the first reading is there when this returns, so that it stands before anything measured.
    pub async fn start(cluster: &Cluster, every: Duration, measured: Measured<'_>) -> Self {
        let cluster = cluster.regardless();
        let readings = Arc::new(Mutex::new(Vec::new()));
        let (now, wishes) = mpsc::unbounded_channel();
        let bell = Arc::new(Notify::new());
        let task = tokio::spawn(run(cluster.clone(), every, readings.clone(), wishes, bell.clone()));
        let sampler = Self {
            cluster,
            interval: every,
            instance_id: measured.instance_id.to_owned(),
            session: measured.session,
            known: measured.nodes.iter().cloned().collect(),
            readings,
            now,
            bell,
            task,
        };
        sampler.poll_now().await;
        sampler
    }

    /// Polls out of turn; over when the answer is there, or when none came.
    pub async fn poll_now(&self) {
        let (done, answered) = oneshot::channel();
        // The task lives as long as the sampler; were it gone, there would be no reading to wait for.
        if self.now.send(done).is_ok() {
            drop(answered.await);
        }
    }

    /// Rung, it polls out of turn without anybody waiting.
    #[must_use]
    pub fn bell(&self) -> Arc<Notify> {
        self.bell.clone()
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

/// Polls by the clock and on demand, until it is aborted or nobody is left to ask.
async fn run(
    cluster: Cluster,
    every: Duration,
    readings: Arc<Mutex<Vec<Reading>>>,
    mut wishes: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    bell: Arc<Notify>,
) {
    let mut due = Instant::now() + every;
    loop {
        let (in_turn, wish) = tokio::select! {
            () = sleep_until(due) => (true, None),
            () = bell.notified() => (false, None),
            wish = wishes.recv() => match wish {
                Some(wish) => (false, Some(wish)),
                None => return,
            },
        };
        let began = Instant::now();
        let reading = poll(&cluster).await;
        readings.lock().unwrap_or_else(PoisonError::into_inner).push(reading);
        if in_turn {
            due = next(due, began, began.elapsed(), every);
        }
        if let Some(wish) = wish {
            // Who asked may have left: nobody to answer then.
            let _answered: Result<(), ()> = wish.send(());
        }
    }
}

/// When the next poll is due: a whole number of intervals after the last one was, so that a late one does not move the
/// later ones, and not before the break that a long poll calls for.
fn next(due: Instant, began: Instant, took: Duration, every: Duration) -> Instant {
    let earliest = began + took.saturating_mul(PATIENCE).max(took);
    let next = due + every;
    let missing = earliest.saturating_duration_since(next).as_nanos();
    let skipped = missing.div_ceil(every.as_nanos().max(1));
    next + every.saturating_mul(u32::try_from(skipped).unwrap_or(u32::MAX))
}

async fn poll(cluster: &Cluster) -> Reading {
    let before = cluster.clock.now();
    let answer = cluster.get("/state/nodeSystem").await;
    let after = cluster.clock.now();
    // A failed poll is a gap in the series; what is wrong with the cluster, the requests will tell.
    Reading { t_s: after.seconds(), poll_s: after.since(before), nodes: answer.ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn long_polls_come_more_seldom_and_short_ones_in_time() {
        let due = Instant::now();
        let second = Duration::from_secs(1);
        let after = |milliseconds| (next(due, due, Duration::from_millis(milliseconds), second) - due).as_secs();
        assert_eq!((after(2), after(50), after(51), after(100), after(1000)), (1, 1, 2, 2, 20));
        // Begun late: the later ones keep their places.
        assert_eq!((next(due, due + second / 2, Duration::ZERO, second) - due).as_secs(), 1);
    }
}
