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
    /// On its way.
    Ongoing(Progress),
    /// There.
    Completed,
    /// Failed, in the server's words.
    Failed(String),
}

/// How far a download is; each is none where the server does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that are there.
    pub downloaded: Option<u64>,
    /// Bytes in all.
    pub total: Option<u64>,
    /// Bytes per second, cut to whole ones.
    pub speed: Option<u64>,
    /// Milliseconds that are left by the server's reckoning.
    pub left_ms: Option<u64>,
}

impl Progress {
    /// In words: "42 % of 17.2 GB, 110 MB/s, 1 min 30 s left".
    #[must_use]
    pub fn words(self) -> String {
        let mut words = match (self.downloaded, self.total.filter(|&total| total > 0)) {
            (Some(done), Some(all)) => {
                format!("{:.0} % of {:.1} GB", done as f64 / all as f64 * 100.0, all as f64 / 1e9)
            }
            _ => "not begun".to_owned(),
        };
        if let Some(speed) = self.speed.filter(|&speed| speed > 0) {
            words.push_str(&format!(", {:.0} MB/s", speed as f64 / 1e6));
        }
        if let Some(seconds) = self.left_ms.map(|left| left / 1000).filter(|&seconds| seconds > 0) {
            let left = match seconds {
                ..60 => format!("{seconds} s"),
                60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
                _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
            };
            words.push_str(&format!(", {left} left"));
        }
        words
    }
}

/// A model that is whole on a node and may be deleted there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its id in full.
    pub model_id: String,
    /// Bytes.
    pub bytes: u64,
}

/// The models of a node's list that are complete, not read-only, and of a known size, the smallest first.
#[must_use]
pub fn deletable(list: &Value) -> Vec<Stored> {
    let mut stored: Vec<Stored> = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(tagged)
        .filter(|(tag, content)| *tag == "DownloadCompleted" && content.get("readOnly") != Some(&Value::Bool(true)))
        .filter_map(|(_, content)| {
            Some(Stored { model_id: model_of(content)?.to_owned(), bytes: content.get("total").and_then(bytes)? })
        })
        .collect();
    stored.sort_by(|one, other| (one.bytes, &one.model_id).cmp(&(other.bytes, &other.model_id)));
    stored.dedup_by(|one, other| one.model_id == other.model_id);
    stored
}

fn model_of(content: &Value) -> Option<&str> {
    let (_, shard) = content.get("shardMetadata").and_then(tagged)?;
    shard.pointer("/modelCard/modelId")?.as_str()
}

/// Finds one model in a node's list. A node may list a model more than once; the furthest state counts, but a failure
/// only where nothing is better.
#[must_use]
pub fn of_model(list: &Value, model_id: &str) -> Download {
    let mut best = Download::Unknown;
    for (tag, content) in list.as_array().into_iter().flatten().filter_map(tagged) {
        if model_of(content) != Some(model_id) {
            continue;
        }
        let found = match tag {
            "DownloadCompleted" => return Download::Completed,
            "DownloadOngoing" => {
                let progress = content.get("downloadProgress");
                let of = |key: &str| progress.and_then(|progress| progress.get(key));
                let number = |key: &str| of(key).and_then(Value::as_f64).filter(|number| *number >= 0.0);
                Download::Ongoing(Progress {
                    downloaded: of("downloaded").and_then(bytes),
                    total: of("total").and_then(bytes),
                    speed: number("speed").map(|speed| speed as u64),
                    left_ms: number("etaMs").map(|left| left as u64),
                })
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
                &json!({"downloadProgress": {
                    "downloaded": {"inBytes": 1}, "total": {"inBytes": 4}, "speed": 0.5, "etaMs": 6000,
                }})
            ),
        ]);
        let progress = Progress { downloaded: Some(1), total: Some(4), speed: Some(0), left_ms: Some(6000) };
        assert_eq!(of_model(&list, "m"), Download::Ongoing(progress));
        assert_eq!(progress.words(), "25 % of 0.0 GB, 6 s left");
        assert_eq!(Progress::default().words(), "not begun");
        assert_eq!(of_model(&list, "other"), Download::Completed);
        assert_eq!(of_model(&list, "none"), Download::Unknown);
        assert_eq!(of_model(&json!(null), "m"), Download::Unknown);
    }

    #[test]
    fn what_may_be_deleted_is_whole_and_writable_the_smallest_first() {
        let whole = |model: &str, bytes: u64, read_only: bool| {
            entry("DownloadCompleted", model, &json!({"total": {"inBytes": bytes}, "readOnly": read_only}))
        };
        let list = json!([
            whole("big", 9, false),
            whole("small", 2, false),
            whole("kept", 1, true),
            entry("DownloadOngoing", "half", &json!({})),
        ]);
        let names: Vec<String> = deletable(&list).into_iter().map(|stored| stored.model_id).collect();
        assert_eq!(names, ["small", "big"]);
    }
}
