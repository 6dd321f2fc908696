//! The models the simulated cluster knows, and how exo lists them.

use serde_json::{Value, json};

use super::physics::Rates;
use super::shard::{Memory, ModelCard, SamplingDefaults};

/// A model of the simulated cluster.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    /// Its id, `org/name`.
    pub(super) id: String,
    /// Bytes of its weights.
    pub(super) bytes: u64,
    /// Its layers; a pipeline cuts between them.
    pub(super) layers: u64,
    /// Whether it can be cut by tensors.
    pub(super) supports_tensor: bool,
    /// Tokens of context.
    pub(super) context: u64,
    /// How fast it is, relative to the rates of the settings.
    pub(super) pace: f64,
    /// Whether its weights are on the nodes from the start.
    pub(super) downloaded: bool,
    /// Whether somebody added it.
    pub(super) custom: bool,
}

/// The id of the fast model: the one for demonstrations.
pub const FAST: &str = "simulated/simulated-8b";
/// The id of a model five times slower that can also be cut by tensors.
pub const SLOW: &str = "simulated/simulated-70b";
/// The id of a model that needs four nodes and is not downloaded: the one that cannot be placed on a small cluster.
pub const HUGE: &str = "simulated/simulated-400b";

/// Every simulated model says that it is quantized to this.
const QUANTIZATION: &str = "4bit";

impl Model {
    /// A model with the fast one's size and speed under another name.
    #[must_use]
    pub(super) fn fast(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            bytes: 4_500_000_000,
            layers: 32,
            supports_tensor: false,
            context: 131_072,
            pace: 1.0,
            downloaded: true,
            custom: id != FAST,
        }
    }

    /// The models that are always there.
    #[must_use]
    pub(super) fn built_in() -> Vec<Self> {
        let fast = Self::fast(FAST);
        let slow = Self {
            id: SLOW.to_owned(),
            bytes: 40_000_000_000,
            layers: 80,
            supports_tensor: true,
            pace: 0.2,
            ..fast.clone()
        };
        let huge = Self {
            id: HUGE.to_owned(),
            bytes: 220_000_000_000,
            layers: 94,
            supports_tensor: true,
            pace: 0.04,
            downloaded: false,
            ..fast.clone()
        };
        vec![fast, slow, huge]
    }

    /// Its rates, given those of the fast model.
    #[must_use]
    pub(super) fn rates(&self, fast: Rates) -> Rates {
        fast.times(self.pace)
    }

    /// The part of the id after the last `/`.
    #[must_use]
    pub(super) fn name(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or(&self.id)
    }

    pub(super) fn card(&self) -> ModelCard {
        ModelCard {
            model_id: self.id.clone(),
            storage_size: Memory { in_bytes: self.bytes },
            n_layers: self.layers,
            hidden_size: 2048,
            supports_tensor: self.supports_tensor,
            num_key_value_heads: Some(8),
            tasks: vec!["TextGeneration".to_owned()],
            components: None,
            family: String::new(),
            quantization: QUANTIZATION.to_owned(),
            base_model: String::new(),
            capabilities: Vec::new(),
            backends: vec!["MlxMetal".to_owned()],
            reasoning_dialect: "none".to_owned(),
            context_length: self.context,
            uses_cfg: false,
            trust_remote_code: false,
            is_custom: self.custom,
            vision: None,
            sampling_defaults: SamplingDefaults::default(),
        }
    }

    /// Its entry in `GET /models`; `created` is seconds since 1970.
    pub(super) fn listing(&self, created: i64) -> Value {
        json!({
            "id": self.id, "object": "model", "created": created, "owned_by": "exo", "hugging_face_id": self.id,
            "name": self.name(), "description": "", "context_length": self.context, "tags": [],
            // exo rounds to whole mebibytes.
            "storage_size_megabytes": (self.bytes as f64 / 1_048_576.0).round() as u64,
            "supports_tensor": self.supports_tensor, "tasks": ["TextGeneration"], "is_custom": self.custom,
            "family": "", "quantization": QUANTIZATION, "base_model": "", "capabilities": [],
            "reasoning_dialect": "none",
        })
    }
}
