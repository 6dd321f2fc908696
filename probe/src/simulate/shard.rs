//! exo's placement types: instance, shard, model card. Strict as exo's are: an unknown key is refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a model is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharding {
    /// By layers: each node holds some of them.
    Pipeline,
    /// By tensors: each node holds a part of every layer.
    Tensor,
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Memory {
    pub(super) in_bytes: u64,
}

/// Sampling values that a card may carry; the simulator's carry none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SamplingDefaults {
    temperature: Option<f64>,
    top_p: Option<f64>,
    top_k: Option<i64>,
    min_p: Option<f64>,
    repetition_penalty: Option<f64>,
    presence_penalty: Option<f64>,
    frequency_penalty: Option<f64>,
    thinking: Option<Map<String, Value>>,
    non_thinking: Option<Map<String, Value>>,
}

/// What exo knows about a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ModelCard {
    pub(super) model_id: String,
    pub(super) storage_size: Memory,
    pub(super) n_layers: u64,
    pub(super) hidden_size: u64,
    pub(super) supports_tensor: bool,
    pub(super) num_key_value_heads: Option<u64>,
    pub(super) tasks: Vec<String>,
    pub(super) components: Option<Vec<Value>>,
    pub(super) family: String,
    pub(super) quantization: String,
    pub(super) base_model: String,
    pub(super) capabilities: Vec<String>,
    pub(super) backends: Vec<String>,
    pub(super) reasoning_dialect: String,
    pub(super) context_length: u64,
    pub(super) uses_cfg: bool,
    pub(super) trust_remote_code: bool,
    pub(super) is_custom: bool,
    pub(super) vision: Option<Map<String, Value>>,
    pub(super) sampling_defaults: SamplingDefaults,
}

/// One node's part of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Shard {
    pub(super) model_card: ModelCard,
    pub(super) device_rank: u64,
    pub(super) world_size: u64,
    pub(super) immediate_exception: bool,
    pub(super) should_timeout: Option<f64>,
    pub(super) start_layer: u64,
    pub(super) end_layer: u64,
    pub(super) n_layers: u64,
}

/// A shard with the way of its cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum ShardMetadata {
    #[serde(rename = "PipelineShardMetadata")]
    Pipeline(Shard),
    #[serde(rename = "TensorShardMetadata")]
    Tensor(Shard),
}

impl ShardMetadata {
    pub(super) fn new(sharding: Sharding, shard: Shard) -> Self {
        match sharding {
            Sharding::Pipeline => Self::Pipeline(shard),
            Sharding::Tensor => Self::Tensor(shard),
        }
    }

    pub(super) fn sharding(&self) -> Sharding {
        match self {
            Self::Pipeline(_) => Sharding::Pipeline,
            Self::Tensor(_) => Sharding::Tensor,
        }
    }

    pub(super) fn shard(&self) -> &Shard {
        match self {
            Self::Pipeline(shard) | Self::Tensor(shard) => shard,
        }
    }
}

/// Which runner holds which shard, and on which node it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ShardAssignments {
    pub(super) model_id: String,
    pub(super) runner_to_shard: BTreeMap<String, ShardMetadata>,
    pub(super) node_to_runner: BTreeMap<String, String>,
}

/// Where a node of a ring is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    pub(super) ip: String,
    pub(super) port: u16,
}

/// An instance over a ring of sockets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Ring {
    pub(super) instance_id: String,
    pub(super) shard_assignments: ShardAssignments,
    pub(super) hosts_by_node: BTreeMap<String, Vec<Host>>,
    pub(super) ephemeral_port: u16,
}

/// An instance over RDMA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Jaccl {
    pub(super) instance_id: String,
    pub(super) shard_assignments: ShardAssignments,
    pub(super) jaccl_devices: Vec<Vec<Option<String>>>,
    pub(super) jaccl_coordinators: BTreeMap<String, String>,
}

/// An instance: a model on its nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Instance {
    #[serde(rename = "MlxRingInstance")]
    Ring(Ring),
    #[serde(rename = "MlxJacclInstance")]
    Jaccl(Jaccl),
}

impl Instance {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Ring(ring) => &ring.instance_id,
            Self::Jaccl(jaccl) => &jaccl.instance_id,
        }
    }

    pub(super) fn assignments(&self) -> &ShardAssignments {
        match self {
            Self::Ring(ring) => &ring.shard_assignments,
            Self::Jaccl(jaccl) => &jaccl.shard_assignments,
        }
    }

    /// The first shard: all shards of an instance have one model and one way of cutting.
    pub(super) fn first_shard(&self) -> Option<&ShardMetadata> {
        self.assignments().runner_to_shard.values().next()
    }

    pub(super) fn rdma(&self) -> bool {
        matches!(self, Self::Jaccl(_))
    }
}
