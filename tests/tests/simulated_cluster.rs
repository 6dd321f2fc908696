//! What the simulated cluster reports is what a client sees from outside, and what makes it slower makes it slower.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests: a failure shall say where")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use probe::simulate::{self, FAST, HUGE, Running, Settings};
use serde_json::{Value, json};
use tests::client::{Answer, events, send};

/// A cluster with a ready instance of the fast model on one node, and the instance's id.
async fn ready(settings: Settings) -> (Running, String) {
    let running = simulate::start(Settings { load_seconds: 0.05, ..settings }).unwrap();
    let address = running.address;
    let target = format!("/instance/previews?model_id={FAST}");
    let previews = send(address, "GET", &target, "").await.unwrap().json().unwrap();
    let instance = &previews["previews"][0]["instance"];
    send(address, "POST", "/instance", &json!({"instance": instance}).to_string()).await.unwrap();
    let id = instance["MlxRingInstance"]["instanceId"].as_str().unwrap().to_owned();
    while send(address, "GET", &format!("/instance/{id}"), "").await.unwrap().status == 404 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Waits for the runner: requests queue until it is ready.
    bench(address, 8, 1, false).await;
    (running, id)
}

async fn bench(address: SocketAddr, words: usize, tokens: u64, stream: bool) -> Answer {
    let body = json!({
        "model": FAST, "messages": [{"role": "user", "content": "a ".repeat(words)}], "max_tokens": tokens,
        "logprobs": false, "use_prefix_cache": false, "stream": stream,
    });
    send(address, "POST", "/bench/chat/completions", &body.to_string()).await.unwrap()
}

fn stats(answer: &Answer) -> (f64, f64, f64, f64) {
    let stats = answer.json().unwrap()["generation_stats"].clone();
    let number = |key: &str| stats[key].as_f64().unwrap_or_else(|| panic!("{key} is not a number in {stats}"));
    (number("prompt_tps"), number("generation_tps"), number("prompt_tokens"), number("generation_tokens"))
}

#[tokio::test]
async fn the_reported_times_add_up_to_what_the_client_measures() {
    let (running, _) = ready(Settings::default()).await;
    let answer = bench(running.address, 2000, 100, false).await;
    let (prompt_tps, generation_tps, prompt, generated) = stats(&answer);
    let inside = (prompt - 1.0) / prompt_tps + (generated - 1.0) / generation_tps;
    let outside = answer.elapsed.as_secs_f64();
    // The first token's own step, the request's way and the counting of its prompt lie outside the reported phases.
    assert!(outside > inside, "{outside} s outside, {inside} s inside");
    assert!(outside < inside + 0.25, "{outside} s outside, {inside} s inside");
    let power = &answer.json().unwrap()["power_usage"];
    assert_eq!(power["nodes"].as_array().unwrap().len(), 2, "an idle node counts, too");
    let elapsed = power["elapsed_seconds"].as_f64().unwrap();
    assert!(elapsed <= outside && elapsed >= inside, "{elapsed} s by the power meter, {outside} s outside");
    let total = power["total_energy_joules"].as_f64().unwrap();
    let phases = ["prefill_energy_joules", "generation_energy_joules"].map(|key| power[key].as_f64().unwrap());
    assert!((phases[0] + phases[1] - total).abs() < 1e-6 * total, "{phases:?} are not {total} J");
}

#[tokio::test]
async fn a_stream_gives_one_frame_per_token_and_its_rate_is_the_reported_one() {
    let (running, _) = ready(Settings::default()).await;
    let answer = bench(running.address, 100, 60, true).await;
    let events = events(&answer.body);
    let tokens = events.iter().filter(|(name, _)| name == "data").count();
    assert_eq!(tokens, 60);
    let (_, stats) = events.iter().find(|(name, _)| name == "generation_stats").unwrap();
    let frames: Vec<Duration> =
        answer.chunks.iter().filter(|(_, chunk)| chunk.starts_with(b"data: {")).map(|(at, _)| *at).collect();
    let span = (*frames.last().unwrap() - frames[0]).as_secs_f64();
    let reported = 59.0 / stats["generation_tps"].as_f64().unwrap();
    assert!((span - reported).abs() < 0.1, "{span} s on the wire, {reported} s reported");
    assert!(answer.chunks[0].1.starts_with(b": keep-alive"), "the first bytes say nothing about the first token");
}

#[tokio::test]
async fn a_slower_cluster_is_slower_by_the_factor_asked_for() {
    let mut rates = Vec::new();
    for speed in [1.0, 0.5] {
        let (running, _) = ready(Settings { speed, noise_percent: 0.0, ..Settings::default() }).await;
        let (prompt_tps, generation_tps, _, _) = stats(&bench(running.address, 3000, 80, false).await);
        rates.push((prompt_tps, generation_tps));
    }
    let ratios = (rates[1].0 / rates[0].0, rates[1].1 / rates[0].1);
    assert!((ratios.0 - 0.5).abs() < 0.05 && (ratios.1 - 0.5).abs() < 0.05, "{ratios:?} of {rates:?}");
}

#[tokio::test]
async fn a_runner_that_fails_shows_in_the_ways_exo_shows_it() {
    let (running, _) = ready(Settings::default()).await;
    let fail = |stream: bool| {
        let content = "EXO RUNNER MUST FAIL";
        json!({"model": FAST, "messages": [{"role": "user", "content": content}], "stream": stream}).to_string()
    };
    let target = "/bench/chat/completions";
    let plain = send(running.address, "POST", target, &fail(false)).await.unwrap();
    assert_eq!((plain.status, plain.body.as_str()), (500, "Internal Server Error"));
    let streamed = send(running.address, "POST", target, &fail(true)).await.unwrap();
    let events = events(&streamed.body);
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((streamed.status, names), (200, vec!["keep-alive", "data", "[DONE]"]));
    assert_eq!(events[1].1["error"]["type"], "InternalServerError");
    assert_eq!(bench(running.address, 8, 4, false).await.status, 200, "the runner comes back by itself");
}

#[tokio::test]
async fn an_instance_is_refused_with_an_unknown_key_or_without_room() {
    let running = simulate::start(Settings { nodes: 4, ..Settings::default() }).unwrap();
    let target = format!("/instance/previews?model_id={HUGE}");
    let previews = send(running.address, "GET", &target, "").await.unwrap().json().unwrap();
    let mut instance = previews["previews"][0]["instance"].clone();
    instance["MlxRingInstance"]["shardAssignments"]["surprise"] = 1.into();
    let body = json!({"instance": instance}).to_string();
    let refused = send(running.address, "POST", "/instance", &body).await.unwrap();
    assert_eq!(refused.status, 422);
    assert_eq!(refused.json().unwrap()["detail"][0]["type"], "extra_forbidden");

    let instance = &previews["previews"][0]["instance"];
    let small = simulate::start(Settings { nodes: 1, ..Settings::default() }).unwrap();
    let refused = send(small.address, "POST", "/instance", &json!({"instance": instance}).to_string()).await.unwrap();
    assert_eq!(refused.status, 400);
    let message = refused.json().unwrap()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("Insufficient memory to create instance. Required: 204.9GB, Available: 58.0GB"),
        "{message}"
    );
}

#[tokio::test]
async fn a_dropped_cluster_is_gone_even_under_a_request() {
    let (running, _) = ready(Settings::default()).await;
    let address = running.address;
    let request = tokio::spawn(async move {
        let body = json!({"model": FAST, "messages": [{"role": "user", "content": "a"}], "max_tokens": 1_000_000});
        send(address, "POST", "/bench/chat/completions", &body.to_string()).await
    });
    let busy = |state: &Value| state.as_object().unwrap().values().any(|status| status.get("RunnerRunning").is_some());
    while !busy(&send(address, "GET", "/state/runners", "").await.unwrap().json().unwrap()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(running);
    assert!(request.await.unwrap().is_err(), "the open request breaks off");
    assert!(send(address, "GET", "/state", "").await.is_err(), "nobody listens any more");
}

/// `signal` as `kill` names it.
#[cfg(unix)]
fn ends_cleanly_on(signal: &str) {
    let program = tests::exoscope().unwrap();
    let mut child = Command::new(program)
        .args(["simulate", "--port", "0", "--nodes", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let port = line.strip_prefix("listening on http://127.0.0.1:").and_then(|rest| rest.trim().parse::<u16>().ok());
    assert!(port.is_some(), "the line was {line:?}");
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    stdout.read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((status.code(), out.as_str(), err.as_str()), (Some(0), "", ""), "after {signal}");
}

#[cfg(unix)]
#[test]
fn the_program_says_where_it_listens_and_ends_on_a_signal_without_a_word() {
    ends_cleanly_on("INT");
    ends_cleanly_on("TERM");
}
