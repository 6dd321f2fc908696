//! `GET /state` and the paths into it.

use serde_json::{Map, Value, json};

use super::cluster::World;
use super::node::{Node, RDMA_INTERFACE};

/// The port that exo's nodes listen on.
const PORT: u16 = 52_415;

/// The whole state, under exo's keys and in exo's order.
pub(super) fn state(world: &World) -> Value {
    let seen = jiff::Timestamp::now().to_string();
    let per_node = |value: &dyn Fn(&Node) -> Value| -> Value {
        world.nodes.iter().map(|node| (node.id.clone(), value(node))).collect::<Map<_, _>>().into()
    };
    let instances: Map<String, Value> =
        world.instances.iter().map(|(id, placed)| (id.clone(), json!(placed.instance))).collect();
    let custom: Map<String, Value> =
        world.models.iter().filter(|model| model.custom).map(|model| (model.id.clone(), json!(model.card()))).collect();
    let metered = world.nodes.iter().filter(|node| node.is_metered());
    let readings: Map<String, Value> = metered.map(|node| (node.id.clone(), node.published.json())).collect();
    let linked = world.nodes.len() > 1;
    json!({
        "instances": instances,
        "runners": world.runners,
        "downloads": per_node(&|node| world.downloads_of(&node.id)),
        "tasks": {},
        "lastSeen": per_node(&|_| seen.clone().into()),
        "topology": topology(world),
        "lastEventAppliedIdx": world.events,
        "nodeIdentities": per_node(&Node::identity),
        "nodeMemory": per_node(&|node| node.memory(world.memory_used(&node.id))),
        "nodeDisk": per_node(&|node| node.disk(world.disk_used(&node.id))),
        "nodeSystem": readings,
        "nodeNetwork": per_node(&Node::network),
        "nodeThunderbolt": if linked { per_node(&Node::thunderbolt) } else { json!({}) },
        "nodeThunderboltBridge": {},
        "nodeRdmaCtl": if linked { per_node(&|_| json!({"enabled": true})) } else { json!({}) },
        "nodeBackends": per_node(&|_| json!(["MlxMetal"])),
        "thunderboltBridgeCycles": [],
        "instanceLinks": {},
        "prefillServerPorts": {},
        "customModelCards": custom,
    })
}

/// Every node linked to every other, by socket and by RDMA.
fn topology(world: &World) -> Value {
    let mut connections = Map::new();
    for source in &world.nodes {
        let mut sinks = Map::new();
        for sink in world.nodes.iter().filter(|sink| sink.id != source.id) {
            let ip = sink.ip();
            let address = format!("/ip4/{ip}/tcp/{PORT}");
            let socket = json!({"address": address, "address_type": "ip4", "ip_address": ip, "port": PORT});
            sinks.insert(
                sink.id.clone(),
                json!([
                    {"sinkMultiaddr": socket},
                    {"sourceRdmaIface": RDMA_INTERFACE, "sinkRdmaIface": RDMA_INTERFACE},
                ]),
            );
        }
        if !sinks.is_empty() {
            connections.insert(source.id.clone(), sinks.into());
        }
    }
    json!({"nodes": world.node_ids(), "connections": connections})
}

/// The part of the state at a path: keys of objects, indexes of lists, empty segments ignored.
///
/// # Errors
/// exo's sentence when there is nothing.
pub(super) fn at_path(state: &Value, path: &str) -> Result<Value, String> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let found = segments.iter().try_fold(state, |value, segment| match value {
        Value::Object(fields) => fields.get(*segment),
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        _ => None,
    });
    found.cloned().ok_or_else(|| format!("unable to find path '{}' in state json", segments.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_through_keys_and_indexes_and_say_where_they_end() {
        let state = json!({"topology": {"nodes": ["a", "b"]}});
        assert_eq!(at_path(&state, "topology//nodes/1/"), Ok(json!("b")));
        assert_eq!(
            at_path(&state, "topology/nodes/2"),
            Err("unable to find path 'topology.nodes.2' in state json".into())
        );
        assert_eq!(at_path(&state, "nope/zzz"), Err("unable to find path 'nope.zzz' in state json".into()));
    }
}
