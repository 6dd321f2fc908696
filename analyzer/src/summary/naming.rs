//! What tells the cells of one table apart, beyond their lengths: named where they differ, and left out where not.

use std::collections::BTreeSet;

use super::CellKey;
use crate::units::ABSENT;

/// In which of their names the cells of a table differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Varied {
    models: bool,
    placements: bool,
    engines: bool,
    quantizations: bool,
    settings: BTreeSet<String>,
}

impl Varied {
    /// Of the keys of a table.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a CellKey>) -> Self {
        let mut keys = keys.into_iter();
        let Some(first) = keys.next() else { return Self::default() };
        let placement = first.placement();
        keys.fold(Self::default(), |mut varied, key| {
            varied.models |= key.model_id != first.model_id;
            varied.placements |= key.placement() != placement;
            varied.engines |= key.engine != first.engine;
            varied.quantizations |= key.quantization != first.quantization;
            let names = key.settings.keys().chain(first.settings.keys());
            varied.settings.extend(names.filter(|name| key.settings.get(*name) != first.settings.get(*name)).cloned());
            varied
        })
    }

    /// The cell's model, engine, quantization and settings as far as they tell it apart: "m [ollama, n_depth 512]"; empty where
    /// they do not.
    #[must_use]
    pub fn subject(&self, key: &CellKey) -> String {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| ABSENT.to_owned());
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.engines.then(|| word(&key.engine)));
        parts.extend(self.quantizations.then(|| word(&key.quantization)));
        parts.extend(self.settings.iter().filter_map(|name| Some(format!("{name} {}", key.settings.get(name)?))));
        let model = if self.models { word(&key.model_id) } else { String::new() };
        match (model.is_empty(), parts.is_empty()) {
            (_, true) => model,
            (true, false) => parts.join(", "),
            (false, false) => format!("{model} [{}]", parts.join(", ")),
        }
    }

    /// The cell's placement where placements tell cells apart; else empty.
    #[must_use]
    pub fn placement(&self, key: &CellKey) -> String {
        if self.placements { key.placement() } else { String::new() }
    }
}
