//! The life of a runner, as `/state/runners/{id}` tells it.

use serde_json::Value;

use super::{ShapeError, tagged};

/// Where a runner is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runner {
    /// It can answer, or does: a busy one is not "ready" in exo's words.
    Able,
    /// Loading: layers done, of how many, where told.
    Loading(Option<(u64, u64)>),
    /// On its way up or down, in the server's word.
    Other(String),
    /// Failed, with what it left behind.
    Failed(String),
}

impl Runner {
    /// Reads one status.
    ///
    /// # Errors
    /// It is no object with one key.
    pub fn read(status: &Value) -> Result<Self, ShapeError> {
        let (tag, content) =
            tagged(status).ok_or_else(|| ShapeError::new("a runner", "it is no object with one key"))?;
        let number = |key: &str| content.get(key).and_then(Value::as_u64);
        Ok(match tag {
            "RunnerReady" | "RunnerRunning" => Self::Able,
            "RunnerLoading" => Self::Loading(number("layersLoaded").zip(number("totalLayers"))),
            "RunnerFailed" => {
                let message = content.get("errorMessage").and_then(Value::as_str);
                let diagnostics = content.get("diagnostics").and_then(Value::as_array).into_iter().flatten();
                let words: Vec<String> = message
                    .map(str::to_owned)
                    .into_iter()
                    .chain(diagnostics.map(|entry| {
                        // exo tags each with its kind; what a person wants is the message in it.
                        let message = tagged(entry).and_then(|(_, content)| content.get("message")).unwrap_or(entry);
                        message.as_str().map_or_else(|| entry.to_string(), str::to_owned)
                    }))
                    .collect();
                Self::Failed(if words.is_empty() { "no reason given".into() } else { words.join("; ") })
            }
            other => Self::Other(other.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_busy_runner_is_able_and_a_failed_one_says_why() {
        assert_eq!(Runner::read(&json!({"RunnerReady": {"prefillServerPort": null}})), Ok(Runner::Able));
        assert_eq!(Runner::read(&json!({"RunnerRunning": {}})), Ok(Runner::Able));
        let loading = json!({"RunnerLoading": {"layersLoaded": 1, "totalLayers": 2}});
        assert_eq!(Runner::read(&loading), Ok(Runner::Loading(Some((1, 2)))));
        let tagged = json!({"RunnerMetalGpuTimeout": {"message": "the GPU hung", "evidence": ["…"]}});
        let failed = json!({"RunnerFailed": {"errorMessage": "out of memory", "diagnostics": ["rank 1", tagged]}});
        assert_eq!(Runner::read(&failed), Ok(Runner::Failed("out of memory; rank 1; the GPU hung".into())));
        assert_eq!(Runner::read(&json!({"RunnerIdle": {}})), Ok(Runner::Other("RunnerIdle".into())));
    }
}
