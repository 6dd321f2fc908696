//! A recorded session, served: the same answers in the same order, whatever the client's own timing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests: a failure shall say where")]

use std::time::Duration;

use probe::replay::{LoadError, Pace, Session, is_polling, start};
use serde_json::json;
use tests::client::send;

fn lifecycle() -> Session {
    Session::load(tests::fixture("wire/lifecycle.jsonl")).unwrap()
}

#[tokio::test]
async fn an_instance_stays_until_its_delete_however_often_it_is_polled() {
    let running = start(lifecycle(), Pace::Instant).unwrap();
    let address = running.address;
    let ask = |method, target| async move {
        let answer = send(address, method, target, "").await.unwrap();
        (answer.status, answer.body)
    };
    let gone = (404, "gone".to_owned());
    let there = (200, "yes".to_owned());
    assert_eq!(ask("GET", "/instance/i").await.0, 404, "not there before it was posted");
    ask("POST", "/instance").await;
    assert_eq!(ask("GET", "/instance/i").await, (404, "no".to_owned()));
    for _ in 0..20 {
        assert_eq!(ask("GET", "/instance/i").await, there);
    }
    ask("POST", "/bench/chat/completions").await;
    for _ in 0..20 {
        assert_eq!(ask("GET", "/instance/i").await, there, "its segment has no poll: the last one before stays");
    }
    ask("DELETE", "/instance/i").await;
    assert_eq!(ask("GET", "/instance/i").await, there);
    assert_eq!(ask("GET", "/instance/i").await, gone);
    assert_eq!(ask("GET", "/instance/i").await, gone);
}

#[tokio::test]
async fn what_was_never_recorded_is_refused_in_exos_shape_and_readings_are_empty() {
    let running = start(lifecycle(), Pace::Instant).unwrap();
    let readings = send(running.address, "GET", "/state/nodeSystem", "").await.unwrap();
    assert_eq!((readings.status, readings.body.as_str()), (200, "{}"));
    let unknown = send(running.address, "GET", "/state/nodeDisk/n", "").await.unwrap();
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.json().unwrap()["error"]["type"], "Not Found");
}

#[tokio::test]
async fn the_received_requests_are_kept_in_order_with_their_bodies() {
    let running = start(lifecycle(), Pace::Instant).unwrap();
    send(running.address, "POST", "/instance", r#"{"instance":{"a":1}}"#).await.unwrap();
    send(running.address, "GET", "/models?status=downloaded", "").await.unwrap();
    send(running.address, "POST", "/instance", "not json").await.unwrap();
    let received = running.received();
    let seen: Vec<_> = received
        .iter()
        .map(|request| (request.method.as_str(), request.target.as_str(), request.body.clone()))
        .collect();
    assert_eq!(
        seen,
        [
            ("POST", "/instance", Some(json!({"instance": {"a": 1}}))),
            ("GET", "/models?status=downloaded", None),
            ("POST", "/instance", Some(json!("not json"))),
        ]
    );
    // The recorded request has the same value, though the recorded client put spaces into its JSON.
    assert_eq!(lifecycle().requests()[2].body, received[0].body);
}

#[tokio::test]
async fn a_recorded_stream_comes_in_its_chunks_at_its_distances() {
    let running = start(lifecycle(), Pace::Recorded { speed: 0.5 }).unwrap();
    let answer = send(running.address, "POST", "/bench/chat/completions", "{}").await.unwrap();
    assert_eq!(answer.body, ": keep-alive\n\ndata: {\"a\":\"é\"}\n\ndata: [DONE]\n\n");
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    // Recorded at 10, 60 and 110 ms; at half the speed they are 100 ms apart. Late is the machine's, early would be ours.
    let times: Vec<Duration> = answer.chunks.iter().map(|(at, _)| *at).collect();
    assert_eq!(times.len(), 3, "{times:?}");
    for (chunk, at) in times.iter().enumerate() {
        assert!(*at >= Duration::from_millis(20 + 100 * chunk as u64), "chunk {chunk} came early: {times:?}");
    }
    let instant = start(lifecycle(), Pace::Instant).unwrap();
    let again = send(instant.address, "POST", "/bench/chat/completions", "{}").await.unwrap();
    assert_eq!(again.body, answer.body);
}

#[test]
fn a_broken_recording_says_which_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.jsonl");
    std::fs::write(&path, "{\"seq\": 0}\n").unwrap();
    let error = Session::load(&path).unwrap_err();
    assert!(matches!(error, LoadError::Line { line: 1, .. }));
    assert!(error.to_string().contains("broken.jsonl: line 1 is not a recorded exchange: missing field"), "{error}");
    std::fs::write(&path, "\n").unwrap();
    assert!(matches!(Session::load(&path), Err(LoadError::Empty { .. })));
    assert!(matches!(Session::load(folder.path().join("absent.jsonl.gz")), Err(LoadError::Read { .. })));
}

/// Sends each recorded request as the official client did and gets each recorded answer, byte for byte.
#[tokio::test]
async fn every_recorded_session_of_the_official_client_replays_itself() {
    for run in ["r1_nonstream", "r2_nonstream_cache", "r3_stream", "r4_stream_cache", "r5_dryrun", "r6_reuse"] {
        let Some(path) = tests::shared(&format!("captures/exo-wire/exo_bench_wire.{run}.jsonl.gz")) else { return };
        let session = Session::load(path).unwrap();
        let running = start(session.clone(), Pace::Recorded { speed: 1e6 }).unwrap();
        for exchange in session.exchanges() {
            let (method, target) = (exchange.method.as_str(), exchange.target.as_str());
            let answer = send(running.address, method, target, &exchange.req_body).await.unwrap();
            let place = format!("{run} {} {method} {target}", exchange.seq);
            assert_eq!(Some(answer.status), exchange.status, "{place}");
            assert_eq!(answer.body, exchange.resp_body, "{place}");
        }
        let received = running.received();
        assert_eq!(received, session.requests(), "{run}");
        let steps = received.iter().filter(|request| !is_polling(&request.target, &request.method)).count();
        assert!(steps < 30 && steps > 1, "{run} has {steps} steps");
    }
}
