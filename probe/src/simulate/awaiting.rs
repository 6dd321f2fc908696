//! `GET /instance/await`: a stream that says when an instance of a model is there.

use std::time::Duration;

use axum::response::Response;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use super::cluster::Cluster;
use super::completion::stream::{KEEP_ALIVE, comment, data, event_stream};
use super::frames;

/// How often is looked. exo is told by its events; nobody sees the difference in an answer that follows commands.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Answers at once and goes on until an instance of the model exists (its runner may still load), the deadline has passed,
/// or the client leaves. Without a deadline it waits for ever, as exo does.
pub(super) fn answer(cluster: &Cluster, model: String, deadline: Option<Instant>) -> Response {
    let (sender, body) = frames::channel();
    let cluster = cluster.clone();
    tokio::spawn(async move {
        let told = async {
            loop {
                // A send that fails is a client that has left, which the other branch sees, too.
                drop(sender.send(comment("keep-alive")).await);
                sleep(KEEP_ALIVE).await;
            }
        };
        let found = async {
            loop {
                let placed = cluster.world().least_loaded(&model).map(|placed| json!(placed.instance));
                if let Some(instance) = placed {
                    return instance;
                }
                sleep(LOOK_EVERY).await;
            }
        };
        let late = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let last = tokio::select! {
            // In this order: the comment comes first, and an instance that is there is found whatever the deadline.
            biased;
            never = told => never,
            instance = found => json!({"type": "ready", "instance": in_snake_case(&instance)}),
            () = late => json!({"type": "timeout", "message": format!("No instance found for model {model}")}),
            () = sender.closed() => return,
        };
        drop(sender.send(data(&last)).await);
    });
    event_stream(body)
}

/// exo writes its models without their camel-case names here. Tags begin with a capital and ids have none, so both stay.
fn in_snake_case(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (snake_case(key), in_snake_case(value)));
            fields.collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(in_snake_case).collect(),
        other => other.clone(),
    }
}

fn snake_case(key: &str) -> String {
    if key.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return key.to_owned();
    }
    key.chars().fold(String::new(), |mut name, letter| {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lose_their_humps_and_tags_and_ids_keep_theirs() {
        let value = json!({"MlxRingInstance": {"instanceId": "A-b", "nodes": [{"nLayers": 2}], "1f-3a": null}});
        let expected = json!({"MlxRingInstance": {"instance_id": "A-b", "nodes": [{"n_layers": 2}], "1f-3a": null}});
        assert_eq!(in_snake_case(&value), expected);
    }
}
