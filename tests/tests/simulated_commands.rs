//! What a client can tell the simulated cluster to do beside measuring: cancel, wait, fetch and delete models.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests: a failure shall say where")]

use std::net::SocketAddr;

use probe::simulate::{self, FAST, HUGE, Running, SLOW, Settings};
use serde_json::{Value, json};
use tests::client::{Answer, events, send};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const BENCH: &str = "/bench/chat/completions";

fn question(tokens: u64, stream: bool) -> String {
    let message = json!({"role": "user", "content": "a"});
    json!({"model": FAST, "messages": [message], "max_tokens": tokens, "stream": stream}).to_string()
}

fn start(faults: &str) -> Running {
    let faults = faults.split_whitespace().map(|fault| fault.parse().unwrap()).collect();
    let quick = Settings { load_seconds: 0.0, download_seconds: 1000.0, ..Settings::default() };
    simulate::start(Settings { faults, ..quick }).unwrap()
}

async fn get(address: SocketAddr, target: &str) -> Value {
    send(address, "GET", target, "").await.unwrap().json().unwrap()
}

/// Posts the first instance that is offered for the fast model; its shard.
async fn place(address: SocketAddr) -> Value {
    let previews = get(address, &format!("/instance/previews?model_id={FAST}")).await;
    let instance = &previews["previews"][0]["instance"];
    send(address, "POST", "/instance", &json!({"instance": instance}).to_string()).await.unwrap();
    let shards = instance["MlxRingInstance"]["shardAssignments"]["runnerToShard"].as_object().unwrap();
    shards.values().next().unwrap().clone()
}

fn names(answer: &Answer) -> Vec<String> {
    events(&answer.body).into_iter().map(|(name, _)| name).collect()
}

#[tokio::test]
async fn waiting_for_an_instance_ends_when_it_exists_or_with_the_time() {
    let running = start("never-ready");
    let address = running.address;
    let late = send(address, "GET", "/instance/await?model_id=nobody%2Fnone&timeout_seconds=0", "").await.unwrap();
    assert_eq!(names(&late), ["keep-alive", "data"]);
    let expected = json!({"type": "timeout", "message": "No instance found for model nobody/none"});
    assert_eq!(events(&late.body)[1].1, expected);

    let target = format!("/instance/await?model_id={FAST}&timeout_seconds=60");
    let (there, _) = tokio::join!(send(address, "GET", &target, ""), place(address));
    let there = there.unwrap();
    assert_eq!(there.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let said = &events(&there.body)[1].1;
    assert_eq!(said["type"], "ready", "it exists, though its runner never gets ready");
    assert_eq!(said["instance"]["MlxRingInstance"]["shard_assignments"]["model_id"], FAST, "in snake case");
    let wrong = send(address, "GET", &format!("{target}0000"), "").await.unwrap();
    assert_eq!(wrong.status, 422);
}

#[tokio::test]
async fn a_cancelled_stream_ends_without_done_and_only_once() {
    let running = start("");
    let address = running.address;
    place(address).await;
    while send(address, "POST", BENCH, &question(1, false)).await.unwrap().status == 404 {
        tokio::task::yield_now().await;
    }
    // By hand: the id must be read while the stream goes on.
    let mut connection = TcpStream::connect(address).await.unwrap();
    let body = question(1_000_000, true);
    let head = format!("POST {BENCH} HTTP/1.1\r\nhost: simulated\r\ncontent-length: {}\r\n\r\n", body.len());
    connection.write_all((head + &body).as_bytes()).await.unwrap();
    let mut answer = String::new();
    while !answer.contains("\"id\":\"") || !answer.ends_with("\r\n") {
        let mut buffer = [0; 4096];
        let read = connection.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the stream ended by itself: {answer}");
        answer += std::str::from_utf8(&buffer[..read]).unwrap();
    }
    let command = answer.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let target = format!("/v1/cancel/{command}");
    let first = send(address, "POST", &target, "").await.unwrap();
    assert_eq!(first.json().unwrap(), json!({"message": "Command cancelled.", "command_id": command}));
    let again = send(address, "POST", &target, "").await.unwrap();
    assert_eq!(again.status, 404);
    assert_eq!(again.json().unwrap()["error"]["message"], "Command not found or already completed");
    // The last chunk of HTTP comes, [DONE] does not.
    while !answer.ends_with("\r\n0\r\n\r\n") {
        let mut buffer = [0; 4096];
        let read = connection.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the connection broke: {answer}");
        answer += &String::from_utf8_lossy(&buffer[..read]);
    }
    assert!(!answer.contains("[DONE]"));
}

/// The state of a model's files on a node: its tag and what stands in it.
async fn download(address: SocketAddr, node: &str, model: &str) -> (String, Value) {
    let list = get(address, &format!("/state/downloads/{node}")).await;
    let tagged = list.as_array().unwrap().iter().map(|entry| entry.as_object().unwrap().iter().next().unwrap());
    let about = |entry: &Value| entry["shardMetadata"]["PipelineShardMetadata"]["modelCard"]["modelId"] == model;
    let (tag, entry) = tagged.into_iter().find(|(_, entry)| about(entry)).unwrap();
    (tag.clone(), entry.clone())
}

async fn start_download(address: SocketAddr, node: &str, model: &str, shard: &Value) {
    let mut shard = shard.clone();
    shard["PipelineShardMetadata"]["modelCard"]["modelId"] = model.into();
    let body = json!({"targetNodeId": node, "shardMetadata": shard}).to_string();
    send(address, "POST", "/download/start", &body).await.unwrap();
}

async fn free(address: SocketAddr, node: &str) -> u64 {
    get(address, &format!("/state/nodeDisk/{node}")).await["available"]["inBytes"].as_u64().unwrap()
}

#[tokio::test]
async fn a_download_tells_rate_and_time_left_that_go_together() {
    let running = start("");
    let address = running.address;
    let node = get(address, "/node_id").await.as_str().unwrap().to_owned();
    let shard = place(address).await;
    start_download(address, &node, HUGE, &shard).await;
    let (tag, entry) = download(address, &node, HUGE).await;
    let progress = &entry["downloadProgress"];
    let bytes = |key: &str| progress[key]["inBytes"].as_f64().unwrap();
    let left = (bytes("total") - bytes("downloaded")) / progress["speed"].as_f64().unwrap();
    assert_eq!(tag, "DownloadOngoing");
    assert!((left - progress["etaMs"].as_f64().unwrap() / 1e3).abs() < 1.0, "{left} s left of {progress}");

    let stalled = start("download-stalls download-slow:0");
    let address = stalled.address;
    let node = get(address, "/node_id").await.as_str().unwrap().to_owned();
    start_download(address, &node, HUGE, &shard).await;
    let (tag, entry) = download(address, &node, HUGE).await;
    let progress = &entry["downloadProgress"];
    assert_eq!(
        (tag.as_str(), progress["speed"].as_f64(), progress["etaMs"].as_u64()),
        ("DownloadOngoing", Some(0.0), Some(0))
    );
    assert_eq!(progress["downloaded"]["inBytes"].as_u64().unwrap() * 2, progress["total"]["inBytes"].as_u64().unwrap());
}

#[tokio::test]
async fn a_full_disk_has_room_once_another_model_is_deleted() {
    let running = start("disk-full download-slow:0");
    let address = running.address;
    let node = get(address, "/node_id").await.as_str().unwrap().to_owned();
    let shard = place(address).await;
    start_download(address, &node, FAST, &shard).await;
    let (tag, entry) = download(address, &node, FAST).await;
    assert_eq!(tag, "DownloadFailed");
    assert!(entry["errorMessage"].as_str().unwrap().contains("no room"), "{entry}");

    let before = free(address, &node).await;
    for spelled in [SLOW.to_owned(), SLOW.replace('/', "%2F")] {
        let deleted = send(address, "DELETE", &format!("/download/{node}/{spelled}"), "").await.unwrap();
        assert!(deleted.json().unwrap()["commandId"].is_string(), "{spelled}");
    }
    assert_eq!(free(address, &node).await - before, 40_000_000_000);
    assert_eq!(download(address, &node, SLOW).await.0, "DownloadPending");
    start_download(address, &node, FAST, &shard).await;
    assert_eq!(download(address, &node, FAST).await.0, "DownloadCompleted");
}

#[tokio::test]
async fn the_true_energy_is_the_same_over_http_and_in_process() {
    let running = start("no-macmon");
    let before = running.energy();
    let told = get(running.address, "/simulated/energy").await;
    let after = running.energy();
    assert_eq!(told.as_object().unwrap().len(), 2);
    for (node, energy) in told.as_object().unwrap() {
        let (joules, seconds) = (energy["joules"].as_f64().unwrap(), energy["t_s"].as_f64().unwrap());
        assert!(before[node].joules <= joules && joules <= after[node].joules, "{node}: {energy}");
        assert!(before[node].seconds <= seconds && seconds <= after[node].seconds, "{node}: {energy}");
        // Idle nodes draw 8 W and a little more.
        assert!((7.9..9.0).contains(&(joules / seconds)), "{node}: {energy}");
    }
}
