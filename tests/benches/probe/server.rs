//! The server that both clients are held against, a process of its own: it notes when requests arrive, and streams.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Tokens of each stream, and the time between two.
pub(crate) const TOKENS: u32 = 4096;
const BETWEEN: Duration = Duration::from_millis(4);

/// A running server; ends with the value.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts the server in a process of its own, so that its work is in nobody's account.
pub(crate) fn start() -> Served {
    let mut child = Command::new(super::this_program()).arg("serve").stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("it says where it listens");
    Served { address: line.trim().parse().expect("an address"), child }
}

/// Seconds between the first and the last arrival since the last question.
pub(crate) fn spread(address: SocketAddr) -> f64 {
    tests::measured::get(address, "/spread").expect("it answers").as_f64().expect("a number")
}

type Arrivals = Arc<Mutex<Vec<Instant>>>;

pub(crate) fn run() {
    // One thread, as exo has one event loop.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        let arrivals = Arrivals::default();
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            drop(stream.set_nodelay(true));
            tokio::spawn(serve(stream, arrivals.clone()));
        }
    });
}

async fn serve(mut stream: TcpStream, arrivals: Arrivals) -> Option<()> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut piece = [0; 16384];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
        if let Some(place) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break place + 4;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    // Room for all of it at once: growing copies what is there, which would count as waiting for the last byte.
    bytes.reserve_exact((head + length).saturating_sub(bytes.len()));
    while bytes.len() < head + length {
        stream.read_buf(&mut bytes).await.ok().filter(|read| *read > 0)?;
    }
    // Whole: only now a server can do anything with it.
    let arrived = Instant::now();
    if text.starts_with("get /spread") {
        let times = std::mem::take(&mut *arrivals.lock().ok()?);
        let spread = times.iter().max()?.duration_since(*times.iter().min()?).as_secs_f64();
        return answer(&mut stream, &spread.to_string()).await;
    }
    arrivals.lock().ok()?.push(arrived);
    // What has arrived meanwhile is stamped before this one is answered: answering is not arriving.
    tokio::task::yield_now().await;
    if text.contains("text/event-stream") {
        return frames(&mut stream).await;
    }
    answer(&mut stream, "{}").await
}

async fn answer(stream: &mut TcpStream, body: &str) -> Option<()> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n", body.len());
    stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()).await.ok()
}

async fn frames(stream: &mut TcpStream) -> Option<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: keep-alive\n\n";
    stream.write_all(head.as_bytes()).await.ok()?;
    let frame = concat!(
        r#"data: {"id":"5b2f7f0e-6f3c-4d1a-9f57-2f0f8c1f7a11","object":"chat.completion","created":1780000000,"#,
        r#""model":"org/model-4bit","choices":[{"index":0,"delta":{"role":"assistant","content":" word"}}]}"#,
        "\n\n"
    );
    let mut ticks = tokio::time::interval(BETWEEN);
    for _ in 0..TOKENS {
        ticks.tick().await;
        stream.write_all(frame.as_bytes()).await.ok()?;
    }
    let stats = r#": generation_stats {"prompt_tps":1.0,"generation_tps":1.0,"prompt_tokens":1,"generation_tokens":1,"peak_memory_usage":{"in_bytes":1},"prefix_cache_hit":"none"}"#;
    stream.write_all(format!("{stats}\n\ndata: [DONE]\n\n").as_bytes()).await.ok()
}
