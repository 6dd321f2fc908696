//! `GET /instance/previews`: every way to place a model on the nodes, and the reason where there is none.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::catalogue::Model;
use super::cluster::World;
use super::node::RDMA_INTERFACE;
use super::shard::{Host, Instance, Jaccl, Ring, Shard, ShardAssignments, ShardMetadata, Sharding};

/// How nodes talk, in exo's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meta {
    Ring,
    Jaccl,
}

impl Meta {
    fn word(self) -> &'static str {
        match self {
            Self::Ring => "MlxRing",
            Self::Jaccl => "MlxJaccl",
        }
    }
}

fn word(sharding: Sharding) -> &'static str {
    match sharding {
        Sharding::Pipeline => "Pipeline",
        Sharding::Tensor => "Tensor",
    }
}

/// The previews of a model, in exo's order; with `only`, on those nodes alone. Each call mints new ids and ports.
pub(super) fn previews(world: &mut World, model: &Model, only: &[String]) -> Value {
    let nodes: Vec<(String, String)> = world
        .nodes
        .iter()
        .filter(|node| only.is_empty() || only.contains(&node.id))
        .map(|node| (node.id.clone(), node.ip()))
        .collect();
    let mut previews = Vec::new();
    // exo lists nothing on an empty topology.
    if nodes.is_empty() {
        return json!({"previews": previews});
    }
    for sharding in [Sharding::Pipeline, Sharding::Tensor] {
        for meta in [Meta::Ring, Meta::Jaccl] {
            let row = |instance: Value, memory: Value, error: Value| {
                json!({
                    "model_id": model.id, "sharding": word(sharding), "instance_meta": meta.word(),
                    "instance": instance, "memory_delta_by_node": memory, "error": error,
                })
            };
            match fitting(world, model, sharding, meta, &nodes) {
                Err(reason) => previews.push(row(Value::Null, Value::Null, reason.into())),
                Ok(counts) => {
                    for count in counts {
                        let instance = place(world, model, sharding, meta, &nodes[..count]);
                        let share = model.bytes / count as u64;
                        let memory: Map<String, Value> =
                            nodes[..count].iter().map(|(id, _)| (id.clone(), share.into())).collect();
                        previews.push(row(json!(instance), memory.into(), Value::Null));
                    }
                }
            }
        }
    }
    json!({"previews": previews})
}

/// The node counts on which a model fits, or exo's reason why there is none.
fn fitting(
    world: &World,
    model: &Model,
    sharding: Sharding,
    meta: Meta,
    nodes: &[(String, String)],
) -> Result<Vec<usize>, String> {
    if sharding == Sharding::Tensor && !model.supports_tensor {
        return Err(format!(
            "Requested Tensor sharding but this model does not support tensor parallelism: {}",
            model.id
        ));
    }
    // The nodes of a cluster are linked by Thunderbolt; one alone has nobody to be linked to.
    if meta == Meta::Jaccl && world.nodes.len() < 2 {
        return Err("Requested RDMA (MlxJaccl) but no RDMA-connected cycles available".to_owned());
    }
    let counts: Vec<usize> = (1..=nodes.len())
        .filter(|&count| nodes[..count].iter().all(|(id, _)| world.memory_free(id) >= model.bytes / count as u64))
        .collect();
    if counts.is_empty() { Err("No cycles found with sufficient memory".to_owned()) } else { Ok(counts) }
}

/// A model alone on the first node, where it fits.
pub(super) fn alone(world: &mut World, model: &Model) -> Option<Instance> {
    let node = world.nodes.first().map(|node| (node.id.clone(), node.ip()))?;
    let fits = world.memory_free(&node.0) >= model.bytes;
    fits.then(|| place(world, model, Sharding::Pipeline, Meta::Ring, &[node]))
}

fn place(world: &mut World, model: &Model, sharding: Sharding, meta: Meta, nodes: &[(String, String)]) -> Instance {
    // What exo builds for one node is a pipeline over a ring, whatever the preview's labels say.
    let (sharding, meta) = if nodes.len() == 1 { (Sharding::Pipeline, Meta::Ring) } else { (sharding, meta) };
    let count = nodes.len() as u64;
    let mut runner_to_shard = BTreeMap::new();
    let mut node_to_runner = BTreeMap::new();
    for (rank, (node, _)) in nodes.iter().enumerate() {
        let rank = rank as u64;
        let (start_layer, end_layer) = match sharding {
            Sharding::Pipeline => (model.layers * rank / count, model.layers * (rank + 1) / count),
            Sharding::Tensor => (0, model.layers),
        };
        let runner = world.mint();
        let shard = Shard {
            model_card: model.card(),
            device_rank: rank,
            world_size: count,
            immediate_exception: false,
            should_timeout: None,
            start_layer,
            end_layer,
            n_layers: model.layers,
        };
        runner_to_shard.insert(runner.clone(), ShardMetadata::new(sharding, shard));
        node_to_runner.insert(node.clone(), runner);
    }
    let instance_id = world.mint();
    let port = world.mint_port();
    let shard_assignments = ShardAssignments { model_id: model.id.clone(), runner_to_shard, node_to_runner };
    match meta {
        Meta::Ring => {
            // Each node's view of the ring: itself as 0.0.0.0, the others by address.
            let view = |own: &str| {
                let host = |(id, ip): &(String, String)| Host {
                    ip: if id == own { "0.0.0.0".to_owned() } else { ip.clone() },
                    port,
                };
                nodes.iter().map(host).collect()
            };
            let hosts_by_node = nodes.iter().map(|(id, _)| (id.clone(), view(id))).collect();
            Instance::Ring(Ring { instance_id, shard_assignments, hosts_by_node, ephemeral_port: port })
        }
        Meta::Jaccl => {
            let row =
                |one: usize| (0..nodes.len()).map(|other| (one != other).then(|| RDMA_INTERFACE.to_owned())).collect();
            let jaccl_devices = (0..nodes.len()).map(row).collect();
            let coordinator = |(rank, (id, _)): (usize, &(String, String))| {
                let ip = if rank == 0 { "0.0.0.0" } else { nodes[0].1.as_str() };
                (id.clone(), format!("{ip}:{port}"))
            };
            let jaccl_coordinators = nodes.iter().enumerate().map(coordinator).collect();
            Instance::Jaccl(Jaccl { instance_id, shard_assignments, jaccl_devices, jaccl_coordinators })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::catalogue::{FAST, HUGE, SLOW};
    use crate::simulate::{Cluster, Settings};

    fn rows(nodes: usize, model: &str) -> Vec<Value> {
        let cluster = Cluster::new(Settings { nodes, ..Settings::default() });
        let mut world = cluster.world();
        let model = world.model(model).unwrap().clone();
        previews(&mut world, &model, &[])["previews"].as_array().unwrap().clone()
    }

    fn described(row: &Value) -> String {
        let labels = format!("{} {}", row["sharding"].as_str().unwrap(), row["instance_meta"].as_str().unwrap());
        let Ok(instance) = serde_json::from_value::<Instance>(row["instance"].clone()) else {
            return format!("{labels}: {}", row["error"].as_str().unwrap());
        };
        let shard = instance.first_shard().unwrap();
        let rdma = if instance.rdma() { "jaccl" } else { "ring" };
        format!("{labels}: {} × {:?} {rdma}", instance.assignments().node_to_runner.len(), shard.sharding())
    }

    #[test]
    fn two_nodes_give_every_combination_and_one_node_keeps_the_wrong_labels() {
        let rows: Vec<String> = rows(2, SLOW).iter().map(described).collect();
        assert_eq!(
            rows,
            [
                "Pipeline MlxRing: 1 × Pipeline ring",
                "Pipeline MlxRing: 2 × Pipeline ring",
                "Pipeline MlxJaccl: 1 × Pipeline ring",
                "Pipeline MlxJaccl: 2 × Pipeline jaccl",
                "Tensor MlxRing: 1 × Pipeline ring",
                "Tensor MlxRing: 2 × Tensor ring",
                "Tensor MlxJaccl: 1 × Pipeline ring",
                "Tensor MlxJaccl: 2 × Tensor jaccl",
            ]
        );
    }

    #[test]
    fn what_cannot_be_says_why() {
        let one: Vec<String> = rows(1, FAST).iter().map(described).collect();
        assert_eq!(one[0], "Pipeline MlxRing: 1 × Pipeline ring");
        assert_eq!(one[1], "Pipeline MlxJaccl: Requested RDMA (MlxJaccl) but no RDMA-connected cycles available");
        assert!(one[2].contains("does not support tensor parallelism"));
        assert!(described(&rows(2, HUGE)[0]).ends_with("No cycles found with sufficient memory"));
        assert!(described(&rows(4, HUGE)[0]).contains("4 × Pipeline"));
    }

    #[test]
    fn a_pipeline_covers_every_layer_once() {
        let row = &rows(3, FAST)[2];
        let instance: Instance = serde_json::from_value(row["instance"].clone()).unwrap();
        let mut spans: Vec<_> = instance
            .assignments()
            .runner_to_shard
            .values()
            .map(|shard| (shard.shard().start_layer, shard.shard().end_layer))
            .collect();
        spans.sort_unstable();
        assert_eq!(spans, [(0, 10), (10, 21), (21, 32)]);
    }

    #[test]
    fn every_call_mints_new_ids() {
        let cluster = Cluster::new(Settings::default());
        let mut world = cluster.world();
        let model = world.model(FAST).unwrap().clone();
        assert_ne!(previews(&mut world, &model, &[]), previews(&mut world, &model, &[]));
    }
}
