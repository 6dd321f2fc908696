//! The paths of exo's API that a bench touches.

use axum::Router;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use axum::{Json, body::Bytes};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::catalogue::Model;
use super::cluster::{Cluster, command_id};
use super::completion::{complete, seconds};
use super::fault::Fault;
use super::placement::previews;
use super::refusal::{self, Complaint};
use super::shard::ShardMetadata;
use super::{awaiting, download, energy, instance, state};

/// Every answer carries this header with the value `true`, so that no client takes the numbers for real.
pub const SIMULATED: &str = "x-exoscope-simulated";

/// The API over a cluster.
pub(super) fn router(cluster: Cluster) -> Router {
    Router::new()
        .route("/node_id", get(node_id))
        .route("/state", get(whole_state))
        .route("/state/{*path}", get(state_path))
        .route("/models", get(models))
        .route("/v1/models", get(models))
        .route("/models/add", post(add_model))
        .route("/v1/feature-flags", get(|| async { Json(json!({"disaggregation": false})) }))
        .route("/instance/previews", get(instance_previews))
        .route("/instance", post(create_instance))
        .route("/instance/await", get(await_instance))
        .route("/instance/{id}", get(get_instance).delete(delete_instance))
        .route("/download/start", post(start_download))
        .route("/download/cancel", post(cancel_download))
        .route("/download/{node}/{*model}", delete(delete_download))
        .route("/bench/chat/completions", post(bench))
        .route("/v1/cancel/{command}", post(cancel))
        // exo has no such path: the truth is known to a simulation alone.
        .route(
            "/simulated/energy",
            get(|State(cluster)| async move { Json(energy::to_json(&energy::energy(&cluster))) }),
        )
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(middleware::from_fn(mark))
        .with_state(cluster)
}

async fn mark(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(HeaderName::from_static(SIMULATED), HeaderValue::from_static("true"));
    response
}

/// exo's dashboard is mounted at `/` and takes what no route took: it looks for a file on GET and HEAD, and knows no other
/// method.
async fn unknown(method: Method) -> Response {
    if method == Method::GET || method == Method::HEAD { refusal::not_found() } else { refusal::method_not_allowed() }
}

async fn node_id(State(cluster): State<Cluster>) -> Json<Option<String>> {
    Json(cluster.world().nodes.first().map(|node| node.id.clone()))
}

async fn whole_state(State(cluster): State<Cluster>) -> Json<Value> {
    take_time(&cluster).await;
    let world = cluster.world();
    Json(state::state(&world))
}

/// An answer about the state takes as long as a fault says.
async fn take_time(cluster: &Cluster) {
    let slow = cluster.settings().faults.iter().find_map(|fault| match *fault {
        Fault::SlowPoll(time) => Some(time),
        _ => None,
    });
    if let Some(time) = slow {
        tokio::time::sleep(time).await;
    }
}

async fn state_path(State(cluster): State<Cluster>, Path(path): Path<String>) -> Response {
    take_time(&cluster).await;
    if path.starts_with("runners") && cluster.world().tally.poll_fails(&cluster.settings().faults) {
        return refusal::internal();
    }
    let state = state::state(&cluster.world());
    match state::at_path(&state, &path) {
        Ok(value) => Json(value).into_response(),
        Err(message) => refusal::error(StatusCode::NOT_FOUND, &message),
    }
}

async fn models(State(cluster): State<Cluster>, RawQuery(query): RawQuery) -> Json<Value> {
    let only_downloaded = values(query.as_deref(), "status").iter().any(|status| status == "downloaded");
    let world = cluster.world();
    let listed = world.models.iter().filter(|model| {
        let there = world
            .downloads
            .iter()
            .any(|((_, id), progress)| id == &model.id && *progress == download::Progress::Completed);
        !only_downloaded || there
    });
    let data: Vec<Value> = listed.map(|model| model.listing(seconds())).collect();
    Json(json!({"object": "list", "data": data}))
}

async fn add_model(State(cluster): State<Cluster>, bytes: Bytes) -> Response {
    let body = match refusal::json_body(&bytes) {
        Ok(body) => body,
        Err(complaint) => return complaint.response(),
    };
    let Some(id) = body.get("model_id").and_then(Value::as_str) else {
        return Complaint::missing(["body", "model_id"], &body).response();
    };
    if id.split('/').filter(|part| !part.is_empty()).count() != 2 {
        let message = format!("Failed to fetch model: {id} is not org/name");
        return refusal::error(StatusCode::BAD_REQUEST, &message);
    }
    let mut world = cluster.world();
    if let Some(model) = world.model(id) {
        return Json(model.listing(seconds())).into_response();
    }
    let model = Model { downloaded: false, ..Model::fast(id) };
    let listing = model.listing(seconds());
    world.models.push(model);
    world.events += 1;
    Json(listing).into_response()
}

async fn instance_previews(State(cluster): State<Cluster>, RawQuery(query): RawQuery) -> Response {
    let Some(id) = values(query.as_deref(), "model_id").into_iter().next() else {
        return Complaint::missing(["query", "model_id"], &Value::Null).response();
    };
    let mut world = cluster.world();
    let Some(model) = world.model(&id).cloned() else {
        let message = format!("Failed to load model card: the simulated cluster has no model {id}");
        return refusal::error(StatusCode::BAD_REQUEST, &message);
    };
    Json(previews(&mut world, &model, &values(query.as_deref(), "node_ids"))).into_response()
}

async fn create_instance(State(cluster): State<Cluster>, bytes: Bytes) -> Response {
    let instance = match refusal::json_body(&bytes).and_then(|body| instance::parse(&body)) {
        Ok(instance) => instance,
        Err(complaint) => return complaint.response(),
    };
    if let Some(message) = instance::lack_of_memory(&cluster.world(), &instance) {
        return refusal::error(StatusCode::BAD_REQUEST, &message);
    }
    let card = instance.first_shard().map(|shard| shard.shard().model_card.clone());
    let command = command_id(&cluster);
    instance::create(&cluster, instance);
    Json(json!({"message": "Command received.", "command_id": command, "model_card": card})).into_response()
}

async fn await_instance(State(cluster): State<Cluster>, RawQuery(query): RawQuery) -> Response {
    let Some(model) = values(query.as_deref(), "model_id").into_iter().next() else {
        return Complaint::missing(["query", "model_id"], &Value::Null).response();
    };
    let wait = match values(query.as_deref(), "timeout_seconds").first().map(|text| text.parse::<f64>()) {
        None => None,
        Some(Ok(seconds)) if (0.0..=LONGEST_AWAIT).contains(&seconds) => Some(Duration::from_secs_f64(seconds)),
        Some(_) => {
            let message = format!("Input should be a number from 0 to {LONGEST_AWAIT}");
            return Complaint::new("value_error", &["query".into(), "timeout_seconds".into()], &message, &Value::Null)
                .response();
        }
    };
    awaiting::answer(&cluster, model, wait.map(|wait| Instant::now() + wait))
}

/// The most seconds that exo lets a client wait for an instance.
const LONGEST_AWAIT: f64 = 300.0;

async fn get_instance(State(cluster): State<Cluster>, Path(id): Path<String>) -> Response {
    match cluster.world().instances.get(&id) {
        Some(placed) => Json(json!(placed.instance)).into_response(),
        None => refusal::error(StatusCode::NOT_FOUND, "Instance not found"),
    }
}

async fn delete_instance(State(cluster): State<Cluster>, Path(id): Path<String>) -> Response {
    if !cluster.world().instances.contains_key(&id) {
        return refusal::error(StatusCode::NOT_FOUND, "Instance not found");
    }
    if cluster.world().tally.deletion_is_refused(&cluster.settings().faults) {
        return refusal::internal();
    }
    let command = command_id(&cluster);
    instance::delete(&cluster, id.clone());
    Json(json!({"message": "Command received.", "command_id": command, "instance_id": id})).into_response()
}

async fn start_download(State(cluster): State<Cluster>, bytes: Bytes) -> Response {
    let body = match refusal::json_body(&bytes) {
        Ok(body) => body,
        Err(complaint) => return complaint.response(),
    };
    let (node, shard) =
        (body["targetNodeId"].as_str(), serde_json::from_value::<ShardMetadata>(body["shardMetadata"].clone()));
    let (Some(node), Ok(shard)) = (node, shard) else {
        let field = if body["targetNodeId"].is_string() { "shardMetadata" } else { "targetNodeId" };
        return Complaint::missing(["body", field], &body).response();
    };
    download::start(&cluster, node, &shard.shard().model_card.model_id);
    Json(json!({"commandId": command_id(&cluster)})).into_response()
}

async fn cancel_download(State(cluster): State<Cluster>, bytes: Bytes) -> Response {
    let body = match refusal::json_body(&bytes) {
        Ok(body) => body,
        Err(complaint) => return complaint.response(),
    };
    let (Some(node), Some(model)) = (body["targetNodeId"].as_str(), body["modelId"].as_str()) else {
        let field = if body["targetNodeId"].is_string() { "modelId" } else { "targetNodeId" };
        return Complaint::missing(["body", field], &body).response();
    };
    download::forget(&cluster, node, model, download::Forget::Ongoing);
    Json(json!({"commandId": command_id(&cluster)})).into_response()
}

async fn delete_download(State(cluster): State<Cluster>, Path((node, model)): Path<(String, String)>) -> Response {
    download::forget(&cluster, &node, &model, download::Forget::Anything);
    Json(json!({"commandId": command_id(&cluster)})).into_response()
}

async fn bench(State(cluster): State<Cluster>, bytes: Bytes) -> Response {
    complete(cluster, bytes).await
}

async fn cancel(State(cluster): State<Cluster>, Path(command): Path<String>) -> Response {
    let stream = cluster.world().streams.remove(&command);
    match stream.map(|stream| stream.send(())) {
        Some(Ok(())) => Json(json!({"message": "Command cancelled.", "command_id": command})).into_response(),
        Some(Err(())) | None => refusal::error(StatusCode::NOT_FOUND, "Command not found or already completed"),
    }
}

/// All values of one query parameter, decoded.
fn values(query: Option<&str>, name: &str) -> Vec<String> {
    let pairs = query.unwrap_or("").split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| decoded(value)).collect()
}

/// Undoes URL encoding; a `%` that is none stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, hex) {
            (b'%', Some(value)) => {
                out.push(value);
                at += 3;
            }
            (b'+', _) => {
                out.push(b' ');
                at += 1;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_values_are_decoded_and_may_repeat() {
        let query = Some("model_id=lab%2Ftiny+x&node_ids=a&node_ids=b%");
        assert_eq!(values(query, "model_id"), ["lab/tiny x"]);
        assert_eq!(values(query, "node_ids"), ["a", "b%"]);
        assert!(values(None, "node_ids").is_empty());
    }
}
