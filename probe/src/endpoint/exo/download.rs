//! The state of a model's files on a node, as `/state/downloads/{node}` tells it.

use serde_json::Value;

use super::{bytes, tagged};

/// How far a model is on one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Download {
    /// Nothing is known of it there.
    Unknown,
    /// Not there and not on its way.
    Pending,
    /// On its way: bytes there, bytes in all, where told.
    Ongoing(Option<(u64, u64)>),
    /// There.
    Completed,
    /// Failed, in the server's words.
    Failed(String),
}

/// Finds one model in a node's list. A node may list a model more than once; the furthest state counts, but a failure
/// only where nothing is better.
#[must_use]
pub fn of_model(list: &Value, model_id: &str) -> Download {
    let mut best = Download::Unknown;
    for (tag, content) in list.as_array().into_iter().flatten().filter_map(tagged) {
        let about =
            content.get("shardMetadata").and_then(tagged).and_then(|(_, shard)| shard.pointer("/modelCard/modelId"));
        if about.and_then(Value::as_str) != Some(model_id) {
            continue;
        }
        let found = match tag {
            "DownloadCompleted" => return Download::Completed,
            "DownloadOngoing" => {
                let progress = content.get("downloadProgress");
                let size = |key: &str| progress.and_then(|progress| progress.get(key)).and_then(bytes);
                Download::Ongoing(size("downloaded").zip(size("total")))
            }
            "DownloadFailed" => {
                let words = content.get("errorMessage").and_then(Value::as_str);
                Download::Failed(words.map_or_else(|| "no reason given".into(), str::to_owned))
            }
            _ => Download::Pending,
        };
        if rank(&found) > rank(&best) {
            best = found;
        }
    }
    best
}

const fn rank(download: &Download) -> u8 {
    match download {
        Download::Unknown => 0,
        Download::Pending => 1,
        Download::Failed(_) => 2,
        Download::Ongoing(_) => 3,
        Download::Completed => 4,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(tag: &str, model: &str, more: &Value) -> Value {
        let mut content = json!({"shardMetadata": {"PipelineShardMetadata": {"modelCard": {"modelId": model}}}});
        content.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ tag: content })
    }

    #[test]
    fn the_furthest_state_of_the_asked_model_counts() {
        let list = json!([
            entry("DownloadCompleted", "other", &json!({})),
            entry("DownloadFailed", "m", &json!({"errorMessage": "gone"})),
            entry(
                "DownloadOngoing",
                "m",
                &json!({"downloadProgress": {"downloaded": {"inBytes": 1}, "total": {"inBytes": 4}}})
            ),
        ]);
        assert_eq!(of_model(&list, "m"), Download::Ongoing(Some((1, 4))));
        assert_eq!(of_model(&list, "other"), Download::Completed);
        assert_eq!(of_model(&list, "none"), Download::Unknown);
        assert_eq!(of_model(&json!(null), "m"), Download::Unknown);
    }
}
