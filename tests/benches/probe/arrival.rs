//! How far apart the requests of a batch reach the server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use probe::capture::batch::{self, Around};
use probe::capture::clock::Clock;
use probe::capture::cluster::Cluster;
use probe::capture::interrupt::Interrupt;
use probe::capture::transport::{Outgoing, Verb};
use probe::endpoint::exo::chat::{self, Question};
use probe::plan::Address;

use super::{Line, median, peer, server};

/// At most so much of the peer's median.
const TARGET: f64 = 0.1;

pub(crate) fn measure(quick: bool) -> Vec<Line> {
    let rounds = if quick { 5 } else { 25 };
    let sizes: &[(usize, usize)] = &[(8, 4096), (8, 32_768), (64, 4096), (64, 32_768)];
    sizes.iter().map(|&(requests, tokens)| one(requests, tokens, rounds)).collect()
}

fn one(requests: usize, tokens: usize, rounds: usize) -> Line {
    let served = server::start();
    let address = served.address;
    let (host, port) = (address.ip().to_string(), address.port());
    let words = ["arrive".to_owned(), host.clone(), port.to_string(), requests.to_string(), tokens.to_string()];
    let mut child = peer(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 starts");
    let mut ask = child.stdin.take().expect("piped");
    let mut told = BufReader::new(child.stdout.take().expect("piped")).lines();

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let cluster = Cluster::new(Address { host, port }, Clock::start(), Interrupt::default());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // Turn by turn, so that a busy machine is busy for both. The first round of each warms up.
    for round in 0..=rounds {
        runtime.block_on(send(&cluster, requests, tokens));
        let spread_ours = server::spread(address);
        ask.write_all(b"go\n").expect("the peer listens");
        told.next().expect("the peer answers").expect("with a line");
        let spread_theirs = server::spread(address);
        if round > 0 {
            ours.push(spread_ours * 1e3);
            theirs.push(spread_theirs * 1e3);
        }
    }
    drop(ask);
    drop(child.wait());
    Line {
        what: format!("arrival spread, {requests} requests of {tokens} tokens"),
        ours: median(ours),
        peer: median(theirs),
        unit: "ms",
        at_most: Some(TARGET),
    }
}

async fn send(cluster: &Cluster, requests: usize, tokens: usize) {
    let question = Question {
        model: "peer".into(),
        content: "a ".repeat(tokens),
        max_tokens: 1,
        use_prefix_cache: false,
        stream: false,
        sampling: None,
    };
    let body = Bytes::from(question.body(true).to_string());
    let one = || Outgoing { verb: Verb::Post, target: chat::PATH.into(), body: Some(body.clone()), stream: false };
    let together = (0..requests).map(|_| one()).collect();
    let around = Around { before: async {}, first: None };
    let mut answered = 0;
    batch::send(cluster, together, Duration::from_secs(60), around, |_, sent| {
        answered += usize::from(sent.result.is_ok_and(|exchange| exchange.status == Some(200)));
    })
    .await;
    assert_eq!(answered, requests, "every request was answered");
}
