//! The life of an instance: posted, placed, loaded, warmed up, working, gone.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::catalogue::{Model, SLOW};
use super::cluster::{Cluster, Placed, World};
use super::engine::{Engine, Job};
use super::fault::{Fault, InstanceFault};
use super::physics::{Load, Rates};
use super::placement;
use super::refusal::Complaint;
use super::shard::Instance;

/// Between a command's answer and its effect: exo answers first and elects, plans and spreads the event then.
const COMMAND_DELAY: Duration = Duration::from_millis(40);

/// The shares of the loading time: no runner yet, idle, loading layer by layer, loaded, warming up. As recorded, most of
/// it goes into the weights and the warm-up.
const SHARES: [f64; 5] = [0.1, 0.05, 0.5, 0.05, 0.3];

/// Reads a posted instance as strictly as exo does.
pub(super) fn parse(body: &Value) -> Result<Instance, Complaint> {
    let Some(instance) = body.get("instance") else {
        return Err(Complaint::missing(["body", "instance"], body));
    };
    serde_json::from_value(instance.clone()).map_err(|problem| {
        let message = problem.to_string();
        let field = message.split('`').nth(1).unwrap_or("");
        let (fault, message) = if message.starts_with("unknown") {
            ("extra_forbidden", "Extra inputs are not permitted")
        } else if message.starts_with("missing field") {
            ("missing", "Field required")
        } else {
            ("value_error", message.as_str())
        };
        let place = ["body", "instance", "function-wrap[_validate()]", field];
        Complaint::new(fault, &place.map(Value::from), message, instance)
    })
}

/// Why there is no room for an instance: what it needs and what is free in the whole cluster.
pub(super) fn lack_of_memory(world: &World, instance: &Instance) -> Option<String> {
    let required = instance.first_shard().map_or(0, |shard| shard.shard().model_card.storage_size.in_bytes);
    let available: u64 = world.nodes.iter().map(|node| world.memory_free(&node.id)).sum();
    let gigabytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    (required > available).then(|| {
        format!(
            "Insufficient memory to create instance. Required: {:.1}GB, Available: {:.1}GB",
            gigabytes(required),
            gigabytes(available)
        )
    })
}

/// Creates a posted instance a moment later.
pub(super) fn create(cluster: &Cluster, instance: Instance) {
    let fault = cluster.world().tally.instance(&cluster.settings().faults);
    if fault == Some(InstanceFault::NeverAppears) {
        return;
    }
    let cluster = cluster.clone();
    tokio::spawn(async move {
        sleep(COMMAND_DELAY).await;
        appear(&cluster, instance, fault);
    });
}

/// Places an instance of a model that is not the fast one on the first node: somebody else's.
pub(super) fn place_other(cluster: &Cluster) {
    let mut world = cluster.world();
    let instance = world.model(SLOW).cloned().and_then(|model| placement::alone(&mut world, &model));
    drop(world);
    if let Some(instance) = instance {
        appear(cluster, instance, None);
    }
}

fn appear(cluster: &Cluster, instance: Instance, fault: Option<InstanceFault>) {
    let (jobs, queue) = mpsc::unbounded_channel();
    // Under the lock: the task cannot look for its instance before it is there.
    let mut world = cluster.world();
    let task = tokio::spawn(live(cluster.clone(), instance.clone(), queue, fault));
    let id = instance.id().to_owned();
    world.events += 1;
    world.instances.insert(id, Placed { instance, jobs, task: task.abort_handle(), open: Arc::new(()) });
}

/// Removes an instance a moment later, or so much later as a fault says.
pub(super) fn delete(cluster: &Cluster, id: String) {
    let slow = cluster.settings().faults.iter().find_map(|fault| match *fault {
        Fault::DeleteSlow(seconds) => Some(seconds),
        _ => None,
    });
    let cluster = cluster.clone();
    tokio::spawn(async move {
        sleep(slow.unwrap_or(COMMAND_DELAY)).await;
        vanish(&cluster, &id);
    });
}

/// Removes an instance now. Its runners stay in the state for ever, shutting down.
pub(super) fn vanish(cluster: &Cluster, id: &str) {
    let mut world = cluster.world();
    let Some(placed) = world.instances.remove(id) else { return };
    placed.task.abort();
    let assignments = placed.instance.assignments();
    for runner in assignments.runner_to_shard.keys() {
        if let Some(status) = world.runners.get_mut(runner) {
            *status = json!({"RunnerShuttingDown": {}});
        }
    }
    let nodes: Vec<String> = assignments.node_to_runner.keys().cloned().collect();
    world.set_load(id, &nodes, None);
    world.events += 1;
}

/// Loads the instance, then works until it is aborted.
async fn live(cluster: Cluster, instance: Instance, queue: mpsc::UnboundedReceiver<Job>, fault: Option<InstanceFault>) {
    let layers = instance.first_shard().map_or(1, |shard| shard.shard().n_layers.max(1));
    let [absent, idle, loading, loaded, warming] =
        SHARES.map(|share| Duration::from_secs_f64(cluster.settings().load_seconds * share));
    let show = |status: Value| set_runners(&cluster, &instance, &status);
    sleep(absent).await;
    show(json!({"RunnerIdle": {}}));
    sleep(idle).await;
    for layer in 0..=layers {
        show(json!({"RunnerLoading": {"layersLoaded": layer, "totalLayers": layers}}));
        match fault.filter(|_| layer == layers / 2) {
            Some(InstanceFault::RunnerFails) => return show(failed()),
            // The queue stays open: requests wait for ever, as on a runner that hangs.
            Some(InstanceFault::NeverReady) => return std::future::pending().await,
            Some(InstanceFault::NeverAppears) | None => (),
        }
        sleep(loading.div_f64(layers as f64 + 1.0)).await;
    }
    show(json!({"RunnerLoaded": {}}));
    sleep(loaded).await;
    show(json!({"RunnerWarmingUp": {}}));
    sleep(warming).await;
    show(ready());
    let engine = engine(&cluster, &instance);
    let nodes: Vec<String> = instance.assignments().node_to_runner.keys().cloned().collect();
    engine
        .run(queue, |load| {
            show(if load == Load::Idle { ready() } else { json!({"RunnerRunning": {}}) });
            cluster.world().set_load(instance.id(), &nodes, Some(load));
        })
        .await;
}

fn ready() -> Value {
    json!({"RunnerReady": {"prefillServerPort": null}})
}

/// A diagnosis as exo makes it of what a runner wrote to its standard error.
fn failed() -> Value {
    let diagnosis = json!({"RunnerMetalGpuTimeout": {
        "message": "the simulated GPU did not answer in time", "evidence": ["simulated: command buffer timed out"],
    }});
    json!({"RunnerFailed": {"errorMessage": "the simulated runner ran out of memory", "diagnostics": [diagnosis]}})
}

fn set_runners(cluster: &Cluster, instance: &Instance, status: &Value) {
    let mut world = cluster.world();
    // A deleted instance's task may get here once more before its abort reaches it; its runners are shutting down then.
    if !world.instances.contains_key(instance.id()) {
        return;
    }
    for runner in instance.assignments().runner_to_shard.keys() {
        if world.runners.get(runner) != Some(status) {
            world.runners.insert(runner.clone(), status.clone());
            world.events += 1;
        }
    }
}

fn engine(cluster: &Cluster, instance: &Instance) -> Engine {
    let settings = cluster.settings();
    let nodes = instance.assignments().node_to_runner.len();
    let base = Rates { prefill: settings.prefill_tps, decode: settings.decode_tps }.times(settings.speed);
    let mut world = cluster.world();
    let rates = world.model(&instance.assignments().model_id).map_or(base, |model: &Model| model.rates(base));
    let shard = instance.first_shard();
    let rates = shard.map_or(rates, |shard| rates.spread(shard.sharding(), instance.rdma(), nodes));
    let bytes = shard.map_or(0, |shard| shard.shard().model_card.storage_size.in_bytes);
    Engine {
        rates,
        noise_percent: settings.noise_percent,
        random: world.engine_chance(settings.seed),
        counter: Arc::clone(&settings.counter),
        weights: bytes / nodes.max(1) as u64,
    }
}
