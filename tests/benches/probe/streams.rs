//! The CPU per streamed token and the memory of 64 streams of 4096 tokens.

use std::time::Duration;

use bytes::Bytes;
use cpu_time::ProcessTime;
use probe::capture::batch::{self, Around};
use probe::capture::clock::Clock;
use probe::capture::cluster::Cluster;
use probe::capture::interrupt::Interrupt;
use probe::capture::transport::{Outgoing, Verb};
use probe::endpoint::Outcome;
use probe::endpoint::exo::chat;
use probe::plan::Address;

use super::{Line, peer, server};

const STREAMS: usize = 64;

pub(crate) fn measure(quick: bool) -> Vec<Line> {
    let streams = if quick { 8 } else { STREAMS };
    let served = server::start();
    let (host, port) = (served.address.ip().to_string(), served.address.port());
    let output = peer(&["stream".into(), host.clone(), port.to_string(), streams.to_string()]).output();
    let output = output.expect("python3 starts");
    let theirs: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the peer prints JSON");
    let theirs = |key: &str| theirs[key].as_f64().expect("a number");

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let cluster = Cluster::new(Address { host, port }, Clock::start(), Interrupt::default());
    let before = ProcessTime::now();
    let tokens = runtime.block_on(read(&cluster, streams));
    let cpu_s = before.elapsed().as_secs_f64();
    let expected = streams as f64 * f64::from(server::TOKENS);
    assert!(
        (tokens as f64 - expected).abs() < 0.5 && (theirs("tokens") - expected).abs() < 0.5,
        "every token was seen"
    );
    let mut lines = vec![Line {
        what: format!("CPU per streamed token, {streams} streams"),
        ours: cpu_s / tokens as f64 * 1e6,
        peer: theirs("cpu_s") / theirs("tokens") * 1e6,
        unit: "µs",
        at_most: None,
    }];
    lines.extend(peak_mib().map(|ours| Line {
        what: format!("peak memory, {streams} streams"),
        ours,
        peer: theirs("peak_kib") / 1024.0,
        unit: "MiB",
        at_most: None,
    }));
    lines
}

async fn read(cluster: &Cluster, streams: usize) -> usize {
    let one = || Outgoing {
        verb: Verb::Post,
        target: chat::PATH.into(),
        body: Some(Bytes::from_static(b"{}")),
        stream: true,
    };
    let together = (0..streams).map(|_| one()).collect();
    let around = Around { before: async {}, first: None };
    let mut tokens = 0;
    batch::send(cluster, together, Duration::from_secs(60), around, |_, sent| {
        if let Ok(exchange) = sent.result
            && let Outcome::Completed(answer) = exchange.read_chat(true)
        {
            tokens += answer.token_stamps.map_or(0, |stamps| stamps.len());
        }
    })
    .await;
    tokens
}

/// The most memory this process has had, where the system tells (Linux).
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}
