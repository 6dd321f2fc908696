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

/// The id of the small, fast model: the one for demonstrations.
pub const SMALL: &str = "simulated/small-1B-4bit";
/// The id of a model five times slower that can also be cut by tensors.
pub const LARGE: &str = "simulated/large-8B-4bit";
/// The id of a model that needs four nodes and is not downloaded: the one that cannot be placed on a small cluster.
pub const HUGE: &str = "simulated/huge-400B-4bit";

impl Model {
    /// A model with the small one's size and speed under another name.
    #[must_use]
    pub(super) fn small(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            bytes: 700_000_000,
            layers: 16,
            supports_tensor: false,
            context: 131_072,
            pace: 1.0,
            downloaded: true,
            custom: id != SMALL,
        }
    }

    /// The models that are always there.
    #[must_use]
    pub(super) fn built_in() -> Vec<Self> {
        let small = Self::small(SMALL);
        let large = Self {
            id: LARGE.to_owned(),
            bytes: 4_500_000_000,
            layers: 32,
            supports_tensor: true,
            pace: 0.2,
            ..small.clone()
        };
        let huge = Self {
            id: HUGE.to_owned(),
            bytes: 220_000_000_000,
            layers: 94,
            supports_tensor: true,
            pace: 0.04,
            downloaded: false,
            ..small.clone()
        };
        vec![small, large, huge]
    }

    /// Its rates, given those of the small model.
    #[must_use]
    pub(super) fn rates(&self, small: Rates) -> Rates {
        small.times(self.pace)
    }

    /// The part of the id after the last `/`.
    #[must_use]
    pub(super) fn name(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or(&self.id)
    }

    fn quantization(&self) -> &'static str {
        if self.name().ends_with("4bit") { "4bit" } else { "" }
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
            quantization: self.quantization().to_owned(),
            base_model: String::new(),
            capabilities: vec!["text".to_owned()],
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
            "family": "", "quantization": self.quantization(), "base_model": "", "capabilities": ["text"],
            "reasoning_dialect": "none",
        })
    }
}
