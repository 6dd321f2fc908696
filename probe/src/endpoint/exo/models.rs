//! The models that a cluster knows, and how a name finds one.

use serde_json::Value;

use super::ShapeError;

/// One model of `GET /models`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The id in full, `org/name`.
    pub id: String,
    /// The part after the last slash, as the server names it.
    pub name: String,
    /// Size of its files in steps of 2^20 bytes; none where the server gives none or 0.
    pub size_megabytes: Option<u64>,
    /// "4bit", …; none where the server does not say.
    pub quantization: Option<String>,
}

impl Model {
    /// The part of the id after the last slash, which exo's rows call `model_short_id`.
    #[must_use]
    pub fn short_id(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or(&self.id)
    }
}

/// Reads the answer to `GET /models`.
///
/// # Errors
/// The answer has no list of models with ids.
pub fn read(answer: &Value) -> Result<Vec<Model>, ShapeError> {
    let wrong = |reason: &str| ShapeError::new("GET /models", reason);
    let list = answer.get("data").and_then(Value::as_array).ok_or_else(|| wrong("there is no list \"data\""))?;
    list.iter()
        .map(|entry| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            let id = text("hugging_face_id").or_else(|| text("id")).ok_or_else(|| wrong("a model has no id"))?;
            let name = text("name").or_else(|| id.rsplit('/').next()).ok_or_else(|| wrong("a model has no name"))?;
            Ok(Model {
                id: id.into(),
                name: name.into(),
                size_megabytes: entry.get("storage_size_megabytes").and_then(Value::as_u64).filter(|&size| size > 0),
                quantization: text("quantization").map(str::to_owned),
            })
        })
        .collect()
}

/// Finds a model as exo's client does: by short name in any case first, then by the id exactly.
#[must_use]
pub fn find<'a>(models: &'a [Model], asked: &str) -> Option<&'a Model> {
    let asked_lower = asked.to_lowercase();
    models
        .iter()
        .find(|model| model.name.to_lowercase() == asked_lower)
        .or_else(|| models.iter().find(|model| model.id == asked))
}

/// Up to three names that are near to what was asked, nearest first; a typo apart or holding it as a part.
#[must_use]
pub fn near<'a>(models: &'a [Model], asked: &str) -> Vec<&'a str> {
    let asked = asked.rsplit('/').next().unwrap_or(asked).to_lowercase();
    let mut ranked: Vec<(usize, &str)> = models
        .iter()
        .filter_map(|model| {
            let name = model.name.to_lowercase();
            let distance = edits(&asked, &name);
            let part = asked.len() >= 3 && (name.contains(&asked) || asked.contains(&name));
            // A third of the letters wrong is still recognisably the same name.
            (part || distance * 3 <= asked.chars().count().max(3)).then_some((distance, model.name.as_str()))
        })
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Insertions, deletions and replacements that turn one text into the other (Levenshtein).
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, &other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn models() -> Vec<Model> {
        let entry = |id: &str, size: u64| json!({"id": id, "hugging_face_id": id, "name": id.rsplit('/').next(), "storage_size_megabytes": size, "quantization": ""});
        read(
            &json!({"data": [entry("lab/tiny-qwen3", 19), entry("lab/Demo-8B-4bit", 0), entry("lab/Demo-8B-8bit", 1)]}),
        )
        .unwrap()
    }

    #[test]
    fn a_short_name_in_any_case_or_the_exact_id_finds_a_model() {
        let models = models();
        assert_eq!(find(&models, "TINY-qwen3").map(|model| model.id.as_str()), Some("lab/tiny-qwen3"));
        assert_eq!(find(&models, "lab/tiny-qwen3").map(Model::short_id), Some("tiny-qwen3"));
        assert_eq!(find(&models, "LAB/tiny-qwen3"), None);
    }

    #[test]
    fn an_unknown_name_is_answered_with_near_ones() {
        let models = models();
        assert_eq!(near(&models, "lab/tiny-qwen2"), ["tiny-qwen3"]);
        assert_eq!(near(&models, "demo-8b"), ["Demo-8B-4bit", "Demo-8B-8bit"]);
        assert!(near(&models, "something-else-entirely").is_empty());
    }

    #[test]
    fn absent_sizes_and_quantizations_are_none() {
        assert_eq!(models()[1].size_megabytes, None);
        assert_eq!(models()[0].quantization, None);
        assert!(read(&json!({"error": 1})).is_err());
    }
}
