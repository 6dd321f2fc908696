//! What the cluster offers to build, and what an instance says of itself.

use analyzer::record::ActualPlacement;
use serde_json::Value;

use super::{ShapeError, tagged};

/// One entry of `GET /instance/previews`.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The sharding that was asked for, "Pipeline" or "Tensor"; on one node a pipeline is built either way.
    pub sharding: String,
    /// The transport that was asked for, "MlxRing" or "MlxJaccl"; on one node a ring is built either way.
    pub instance_meta: String,
    /// The instance to post back as it is, or why there is none.
    pub offer: Result<Instance, String>,
}

/// Reads the answer to `GET /instance/previews`.
///
/// # Errors
/// There is no list of previews, or an instance in it cannot be read.
pub fn read(answer: &Value) -> Result<Vec<Preview>, ShapeError> {
    let wrong = |reason: &str| ShapeError::new("GET /instance/previews", reason);
    let list =
        answer.get("previews").and_then(Value::as_array).ok_or_else(|| wrong("there is no list \"previews\""))?;
    list.iter()
        .map(|entry| {
            let label = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
            let offer = match (entry.get("error"), entry.get("instance")) {
                (Some(Value::String(error)), _) => Err(error.clone()),
                (_, None | Some(Value::Null)) => Err("no instance and no reason given".into()),
                (_, Some(instance)) => Ok(Instance::read(instance.clone())?),
            };
            Ok(Preview {
                sharding: label("sharding").ok_or_else(|| wrong("a preview has no sharding"))?,
                instance_meta: label("instance_meta").ok_or_else(|| wrong("a preview has no instance_meta"))?,
                offer,
            })
        })
        .collect()
}

/// An instance: a model laid out over nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The instance exactly as the server gave it. exo refuses one with a key more or less.
    pub verbatim: Value,
    /// Its id.
    pub id: String,
    /// The model id.
    pub model_id: String,
    /// Each node that holds a shard, in rank order.
    pub shards: Vec<Shard>,
}

/// The share of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct Shard {
    /// The node.
    pub node: String,
    /// The runner on it.
    pub runner: String,
    /// The shard as the server gave it, tag included.
    pub verbatim: Value,
    /// Its place in the order of ranks; none where the server does not say.
    pub rank: Option<u64>,
}

impl Instance {
    /// Reads an instance with its tag.
    ///
    /// # Errors
    /// A key that is needed is not there.
    pub fn read(verbatim: Value) -> Result<Self, ShapeError> {
        let wrong = |reason: &str| ShapeError::new("an instance", reason);
        let (_, content) = tagged(&verbatim).ok_or_else(|| wrong("it is no object with one key"))?;
        let text = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let id = text(content, "/instanceId").ok_or_else(|| wrong("it has no instanceId"))?;
        let model_id = text(content, "/shardAssignments/modelId").ok_or_else(|| wrong("it has no modelId"))?;
        let of_runner = content.pointer("/shardAssignments/runnerToShard");
        let runners = content
            .pointer("/shardAssignments/nodeToRunner")
            .and_then(Value::as_object)
            .ok_or_else(|| wrong("it has no nodeToRunner"))?;
        let mut shards = Vec::new();
        for (node, runner) in runners {
            let runner = runner.as_str().ok_or_else(|| wrong("a runner's id is no text"))?;
            let shard =
                of_runner.and_then(|shards| shards.get(runner)).ok_or_else(|| wrong("a runner has no shard"))?;
            let rank = tagged(shard).and_then(|(_, shard)| shard.get("deviceRank")).and_then(Value::as_u64);
            shards.push(Shard { node: node.clone(), runner: runner.into(), verbatim: shard.clone(), rank });
        }
        // The server's own order for equal or unknown ranks.
        shards.sort_by_key(|shard| shard.rank);
        Ok(Self { id, model_id, shards, verbatim })
    }

    /// Nodes that hold shards.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        u32::try_from(self.shards.len()).unwrap_or(u32::MAX)
    }

    /// What was really built, whatever the labels say.
    #[must_use]
    pub fn actual(&self) -> Option<ActualPlacement> {
        let (tag, _) = tagged(&self.verbatim)?;
        let shard = self.shards.first().and_then(|shard| tagged(&shard.verbatim)).map(|(tag, _)| tag.to_owned());
        let nodes = self.shards.iter().map(|shard| shard.node.clone()).collect();
        Some(ActualPlacement { instance: tag.into(), shard, nodes })
    }
}

/// Reads `instances` of the cluster's state: id → instance, in the state's order.
///
/// # Errors
/// It is no map of instances.
pub fn read_instances(instances: &Value) -> Result<Vec<Instance>, ShapeError> {
    let map = instances.as_object().ok_or_else(|| ShapeError::new("instances of the state", "it is no map"))?;
    map.values().cloned().map(Instance::read).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn instance() -> Value {
        json!({"MlxRingInstance": {"instanceId": "i", "shardAssignments": {"modelId": "lab/m",
            "runnerToShard": {"ra": {"TensorShardMetadata": {"deviceRank": 1}}, "rb": {"TensorShardMetadata": {"deviceRank": 0}}},
            "nodeToRunner": {"a": "ra", "b": "rb"}}, "ephemeralPort": 1}})
    }

    #[test]
    fn nodes_stand_in_rank_order_and_tags_tell_what_was_built() {
        let instance = Instance::read(instance()).unwrap();
        let actual = instance.actual().unwrap();
        assert_eq!(actual.nodes, ["b", "a"]);
        assert_eq!(
            (actual.instance.as_str(), actual.shard.as_deref()),
            ("MlxRingInstance", Some("TensorShardMetadata"))
        );
        assert_eq!(instance.nodes(), 2);
    }

    #[test]
    fn a_preview_is_an_instance_or_a_reason() {
        let previews = read(&json!({"previews": [
            {"sharding": "Tensor", "instance_meta": "MlxRing", "instance": instance(), "error": null},
            {"sharding": "Tensor", "instance_meta": "MlxJaccl", "instance": null, "error": "no RDMA"},
        ]}))
        .unwrap();
        assert_eq!(previews[0].offer.as_ref().map(|instance| instance.verbatim.clone()), Ok(self::instance()));
        assert_eq!(previews[1].offer, Err("no RDMA".into()));
        assert!(read(&json!({"previews": [{"sharding": "Tensor"}]})).is_err());
    }
}
