//! Every body of the simulated cluster has the structure recorded from a real exo server: keys, JSON types, casing, what is
//! null and what is absent.
//!
//! The recordings are not part of the repository; their shapes are (`fixtures/wire/exo_shapes.json`). Where the recordings
//! are at hand, the shapes are derived anew and a stale file fails; `EXOSCOPE_BLESS=1` writes it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests: a failure shall say where")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use probe::simulate::{self, FAST, HUGE, SIMULATED, SLOW, Settings};
use serde_json::{Map, Value, json};
use tests::client::{Answer, events, send};
use tests::shape::{Definitions, Shape, inner_key};

const COMMITTED: &str = "wire/exo_shapes.json";

/// What is known of a server's answers. A request that is answered with an error or a stream has another shape than one
/// that is not, so the key says it: `GET /state/runners/{} 200`.
#[derive(Debug, Default)]
struct Catalogue {
    answers: BTreeMap<String, Recorded>,
    types: Definitions,
}

/// What is known of the answers to one kind of request.
#[derive(Debug, Clone, PartialEq)]
struct Recorded {
    content_type: String,
    body: Shape,
    /// For streams: the kinds of events, repetitions left out.
    order: BTreeSet<String>,
}

impl Catalogue {
    /// Reads an answer. `key` is the key of the state whose value the body is, for maps by id and named types.
    fn add(&mut self, name: String, content_type: &str, body: &str, key: &str) {
        let mut order = BTreeSet::new();
        let value = if content_type.starts_with("text/event-stream") {
            let events = events(body);
            let mut names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
            names.dedup();
            order.insert(names.join(" → "));
            let named = |wanted: &str| -> Vec<Value> {
                events.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.clone()).collect()
            };
            let data = named("data");
            // The last frame is told apart: it alone says how many tokens there were and why it ends.
            json!({
                "comments": {"prefill_progress": named("prefill_progress"), "generation_stats": named("generation_stats")},
                "first": data.first(), "last": data.last(), "data": data,
            })
        } else {
            serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()))
        };
        let body = Shape::of(&value, key, &mut self.types);
        let recorded = self.answers.entry(name).or_insert_with(|| Recorded {
            content_type: content_type.to_owned(),
            body: Shape::default(),
            order: BTreeSet::new(),
        });
        recorded.body = std::mem::take(&mut recorded.body).merged(body);
        recorded.order.extend(order);
    }

    /// A whole state, and with it what a path into it would have answered.
    fn add_state(&mut self, state: &Value) {
        for (key, value) in state.as_object().unwrap() {
            self.add(name("GET", &format!("/state/{key}"), 200, ""), JSON, &value.to_string(), key);
            let below = value.as_object().filter(|_| PATHS_BELOW.contains(&key.as_str()));
            for value in below.into_iter().flat_map(Map::values) {
                let name = name("GET", &format!("/state/{key}/{{}}"), 200, "");
                self.add(name, JSON, &value.to_string(), inner_key(key));
            }
        }
        self.add(name("GET", "/state", 200, ""), JSON, &state.to_string(), "");
    }
}

const JSON: &str = "application/json";

/// The keys of the state below which clients ask for one id.
const PATHS_BELOW: [&str; 5] = ["downloads", "instances", "nodeDisk", "nodeSystem", "runners"];

impl Recorded {
    fn to_json(&self) -> Value {
        json!({"content_type": self.content_type, "order": self.order, "body": self.body.to_json()})
    }

    fn from_json(value: &Value) -> Self {
        let order = value["order"].as_array().unwrap().iter().map(|order| order.as_str().unwrap().to_owned()).collect();
        let content_type = value["content_type"].as_str().unwrap().to_owned();
        Self { content_type, order, body: Shape::from_json(&value["body"]) }
    }
}

/// The request as the catalogue names it: ids become `{}`, the query goes.
fn name(method: &str, target: &str, status: u16, variant: &str) -> String {
    let path = target.split('?').next().unwrap_or(target);
    let segments: Vec<&str> = path
        .split('/')
        .map(|segment| {
            let digits = segment.chars().filter(|letter| letter.is_ascii_hexdigit()).count();
            let id = digits >= 24 && segment.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-');
            if id { "{}" } else { segment }
        })
        .collect();
    let variant = if variant.is_empty() { String::new() } else { format!(" {variant}") };
    format!("{method} {} {status}{variant}", segments.join("/"))
}

/// The key under which a body would stand in the state: `runners` for `/state/runners`, `runner` for what lies below it.
fn key_of<'a>(method: &str, target: &'a str, status: u16) -> &'a str {
    if method != "GET" || status != 200 {
        return "";
    }
    if target.starts_with("/instance/") && !target.starts_with("/instance/previews") {
        return "instance";
    }
    match target.strip_prefix("/state/").map(|rest| rest.split_once('/').ok_or(rest)) {
        None => "",
        Some(Err(key)) => key,
        Some(Ok((key, _))) => inner_key(key),
    }
}

fn variant(content_type: &str) -> &'static str {
    if content_type.starts_with("text/event-stream") { "streamed" } else { "" }
}

/// The captures that were taken by hand: which request each file answers.
const CAPTURES: [(&str, &str, &str, &[&str]); 26] = [
    ("GET", "/node_id", "", &["exo/01-node_id"]),
    ("GET", "/state", "", &["exo/02-state-empty", "exo/52-state-with-instance", "exo2node/state"]),
    ("GET", "/models", "", &["exo/03-models", "exo/04-models-downloaded", "exo/43-models-downloaded"]),
    ("GET", "/v1/models", "", &["exo/05-v1-models"]),
    (
        "GET",
        "/instance/previews",
        "",
        &[
            "exo/06-previews",
            "exo/44-previews-qwen3",
            "exo/45-previews-llama",
            "exo/07-previews-unknown",
            "exo/08-previews-nomodel",
            "exo2node/previews-llama",
            "exo2node/previews-qwen3",
        ],
    ),
    (
        "POST",
        "/bench/chat/completions",
        "",
        &[
            "exo/11-bench-no-instance",
            "exo/12-bench-no-instance-stream",
            "exo/13-bench-unknown-model",
            "exo/86-bench-empty-messages",
            "exo/60-bench-nonstream",
            "exo/64-bench-nonstream-tg1",
            "exo/65-bench-long-nocache",
            "exo/67-bench-long-cache-1",
            "exo/68-bench-long-cache-2-exact",
            "exo/69-bench-long-cache-3-extended",
            "exo/62-bench-stream",
            "exo/63-bench-stream-tg1",
            "exo/70-bench-long2-cache-stream-1",
            "exo/71-bench-long2-cache-stream-2",
        ],
    ),
    ("POST", "/bench/chat/completions", "bad JSON", &["exo/15-bench-bad-json"]),
    ("POST", "/bench/chat/completions", "missing field", &["exo/16-bench-missing-messages"]),
    ("POST", "/bench/chat/completions", "wrong type", &["exo/85-bench-bad-maxtokens"]),
    (
        "POST",
        "/bench/chat/completions",
        "instance deleted",
        &["exo/98-stream-then-delete", "exo/99-nonstream-then-delete"],
    ),
    ("GET", "/instance/{}", "", &["exo/18-instance-get-unknown", "exo/49-instance-get"]),
    (
        "DELETE",
        "/instance/{}",
        "",
        &["exo/19-instance-delete-unknown", "exo/101-delete-9750b3ae-3af5-4d1d-9307-8453a5fbb1b7"],
    ),
    (
        "POST",
        "/instance",
        "",
        &["exo/20-instance-create-bad", "exo/21-instance-create-nobody", "exo/47-instance-create"],
    ),
    ("GET", "/state/nodeIdentities", "", &["exo/22-state-nodeIdentities", "exo2node/nodeIdentities"]),
    ("GET", "/state/topology", "", &["exo/23-state-topology", "exo2node/topology"]),
    ("GET", "/state/nodeMemory", "", &["exo/24-state-nodeMemory"]),
    ("GET", "/state/nodeSystem", "", &["exo/25-state-nodeSystem"]),
    ("GET", "/state/nodeSystem/{}", "", &["exo/26-state-nodeSystem-node"]),
    ("GET", "/state/nodeDisk/{}", "", &["exo/27-state-nodeDisk-node"]),
    ("GET", "/state/downloads/{}", "", &["exo/28-state-downloads-node"]),
    ("GET", "/state/nope/zzz", "", &["exo/29-state-unknown-path"]),
    ("GET", "/state/instances", "", &["exo/93-state-instances"]),
    ("GET", "/state/instances/{}", "", &["exo/30-state-instances-unknown", "exo/50-state-instance"]),
    ("GET", "/state/runners", "", &["exo/102-state-runners-after"]),
    ("GET", "/state/runners/{}", "", &["exo/51-state-runner"]),
    ("GET", "/nope", "", &["exo/31-404"]),
];

/// Further captures, in an array of their own only because arrays have one length.
const MORE_CAPTURES: [(&str, &str, &str, &[&str]); 4] = [
    ("OPTIONS", "/nope", "", &["exo/105-options-cors"]),
    ("GET", "/v1/feature-flags", "", &["exo/37-feature-flags"]),
    (
        "POST",
        "/models/add",
        "",
        &["exo/38-models-add-offline", "exo/41-models-add-local", "exo/42-models-add-local-llama"],
    ),
    ("POST", "/download/start", "", &["exo/46-download-start"]),
];

/// Derives the shapes from the recordings.
fn derived(captures: &Path) -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (method, target, detail, files) in CAPTURES.iter().chain(&MORE_CAPTURES) {
        for file in *files {
            let path = captures.join(format!("{file}.resp.http"));
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let mut lines = head.split("\r\n");
            let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
            let content_type = lines.find_map(|line| line.strip_prefix("content-type: ")).unwrap();
            let variant = [variant(content_type), detail].join(" ");
            if *target == "/state" {
                catalogue.add_state(&serde_json::from_str(body).unwrap());
            } else {
                catalogue.add(
                    name(method, target, status, variant.trim()),
                    content_type,
                    body,
                    key_of(method, target, status),
                );
            }
            if file.ends_with("60-bench-nonstream") {
                let name = name(method, target, status, "");
                catalogue.add(name.clone(), content_type, &with_power(body), "");
                catalogue.add(
                    name + " instance deleted",
                    content_type,
                    &with_power(body).replace("\"length\"", "null"),
                    "",
                );
            }
        }
    }
    let full = std::fs::read_to_string(captures.join("exo/state_full.json")).unwrap();
    catalogue.add_state(&with_hardware(&full));
    let transitions = std::fs::read_to_string(captures.join("exo/48-runner-transitions.jsonl")).unwrap();
    for line in transitions.lines().filter(|line| !line.is_empty()) {
        let seen: Value = serde_json::from_str(line).unwrap();
        let status = u16::try_from(seen["code"].as_u64().unwrap()).unwrap();
        let (method, target) = ("GET", "/state/runners/{}");
        catalogue.add(
            name(method, target, status, ""),
            JSON,
            &seen["body"].to_string(),
            key_of(method, target, status),
        );
    }
    for run in ["r1_nonstream", "r2_nonstream_cache", "r3_stream", "r4_stream_cache", "r5_dryrun", "r6_reuse"] {
        let file = std::fs::File::open(captures.join(format!("exo-wire/exo_bench_wire.{run}.jsonl.gz"))).unwrap();
        let mut lines = String::new();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut lines).unwrap();
        for line in lines.lines() {
            let exchange: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| exchange[key].as_str().unwrap();
            let (method, target) = (text("method"), text("target"));
            let headers: Vec<(String, String)> = serde_json::from_value(exchange["resp_headers"].clone()).unwrap();
            let content_type = &headers.iter().find(|(name, _)| name == "content-type").unwrap().1;
            let status = u16::try_from(exchange["status"].as_u64().unwrap()).unwrap();
            let name = name(method, target, status, variant(content_type));
            let key = key_of(method, target, status);
            catalogue.add(name, content_type, text("resp_body"), key);
        }
    }
    catalogue
}

/// The recordings come from machines without power sensors: their `nodes` are empty. What stands in it is known from
/// exo's own models; the phases are null when no token came.
fn with_power(body: &str) -> String {
    let mut body: Value = serde_json::from_str(body).unwrap();
    let node = |phase: Value| {
        json!({
            "node_id": "n", "samples": 2, "avg_sys_power": 1.5, "prefill_avg_sys_power": phase,
            "generation_avg_sys_power": phase, "prefill_energy_joules": phase, "generation_energy_joules": phase,
        })
    };
    body["power_usage"]["nodes"] = json!([node(1.5.into()), node(Value::Null)]);
    body.to_string()
}

/// A state with everything in it, made by exo's own models: RDMA, ongoing downloads and sensors need hardware. What it
/// leaves empty, and a runner at work, is known from those models, too.
fn with_hardware(full: &str) -> Value {
    let mut full: Value = serde_json::from_str(full).unwrap();
    full["nodeRdmaCtl"] = json!({"n": {"enabled": true}});
    full["nodeThunderbolt"] =
        json!({"n": {"interfaces": [{"rdmaInterface": "i", "domainUuid": "u", "linkSpeed": "s"}]}});
    full["runners"]["r-e"] = json!({"RunnerRunning": {}});
    full
}

fn committed() -> Catalogue {
    let text = std::fs::read_to_string(tests::fixture(COMMITTED)).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let entries = |key: &str| file[key].as_object().unwrap().clone().into_iter();
    Catalogue {
        answers: entries("answers").map(|(name, recorded)| (name, Recorded::from_json(&recorded))).collect(),
        types: entries("types").map(|(name, shape)| (name, Shape::from_json(&shape))).collect(),
    }
}

/// One line per kind of request: a change of exo's shows as the lines it touches.
fn written(catalogue: &Catalogue) -> String {
    let line = |(name, value): (&String, Value)| format!("  {}: {value}", json!(name));
    let block = |lines: Vec<String>| format!("{{\n{}\n}}", lines.join(",\n"));
    let types = catalogue.types.iter().map(|(name, shape)| line((name, shape.to_json()))).collect();
    let answers = catalogue.answers.iter().map(|(name, recorded)| line((name, recorded.to_json()))).collect();
    format!("{{\n\"types\": {},\n\"answers\": {}\n}}\n", block(types), block(answers))
}

#[test]
fn the_committed_shapes_are_those_of_the_recordings() {
    let Some(captures) = tests::shared("captures") else { return };
    let derived = written(&derived(&captures));
    if std::env::var_os("EXOSCOPE_BLESS").is_some() {
        std::fs::write(tests::fixture(COMMITTED), &derived).unwrap();
    }
    let committed = std::fs::read_to_string(tests::fixture(COMMITTED)).unwrap();
    let stale: Vec<&str> = derived.lines().filter(|line| !committed.contains(line)).collect();
    assert!(
        derived == committed,
        "{COMMITTED} is stale: run this test with EXOSCOPE_BLESS=1; new are\n{}",
        stale.join("\n")
    );
}

/// Asks the simulator and keeps the shapes of its answers.
struct Asker {
    address: SocketAddr,
    catalogue: Catalogue,
}

impl Asker {
    async fn ask(&mut self, method: &str, target: &str, body: &str, detail: &str) -> Answer {
        let answer = send(self.address, method, target, body).await.unwrap();
        self.keep(method, target, detail, &answer);
        answer
    }

    fn keep(&mut self, method: &str, target: &str, detail: &str, answer: &Answer) {
        assert_eq!(answer.header(SIMULATED), Some("true"), "{method} {target} must say that it is simulated");
        let content_type = answer.header("content-type").unwrap();
        let variant = [variant(content_type), detail].join(" ");
        let name = name(method, target, answer.status, variant.trim());
        let key = key_of(method, target, answer.status);
        self.catalogue.add(name, content_type, &answer.body, key);
    }

    async fn get(&mut self, target: &str) -> Answer {
        self.ask("GET", target, "", "").await
    }

    async fn bench(&mut self, words: usize, tokens: u64, flags: &Value, detail: &str) -> Answer {
        let body = completion(words, tokens, flags);
        self.ask("POST", "/bench/chat/completions", &body, detail).await
    }

    /// Polls a runner until it is ready. The statuses in the order in which they were seen; short ones may be missed.
    async fn life(&mut self, runner: &str) -> Vec<String> {
        let mut life: Vec<String> = Vec::new();
        while life.last().is_none_or(|status| status != "RunnerReady") {
            let answer = self.get(runner).await;
            if answer.status == 200 {
                let status = answer.json().unwrap().as_object().unwrap().keys().next().unwrap().clone();
                assert!(status != "RunnerFailed" && life.len() < 100, "the runner never became ready: {life:?}");
                if life.last() != Some(&status) {
                    life.push(status);
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        life
    }

    /// Polls a path until its body says something.
    async fn wait(&mut self, target: &str, status: u16, words: &str) -> Answer {
        let started = Instant::now();
        loop {
            let answer = self.get(target).await;
            if answer.status == status && answer.body.contains(words) {
                return answer;
            }
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{target} never said {status} {words}: {}",
                answer.body
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn completion(words: usize, tokens: u64, flags: &Value) -> String {
    let mut body = json!({
        "model": FAST, "messages": [{"role": "user", "content": "a ".repeat(words)}], "max_tokens": tokens,
        "logprobs": false,
    });
    for (key, value) in flags.as_object().unwrap() {
        body[key] = value.clone();
    }
    body.to_string()
}

/// Has every kind of request answered, over the whole life of an instance.
async fn simulated() -> Catalogue {
    let settings = Settings { prefill_tps: 100_000.0, decode_tps: 2000.0, load_seconds: 0.6, ..Settings::default() };
    let running = simulate::start(settings).unwrap();
    let mut asker = Asker { address: running.address, catalogue: Catalogue::default() };

    let node = asker.get("/node_id").await.json().unwrap().as_str().unwrap().to_owned();
    for target in
        ["/models", "/models?status=downloaded", "/v1/models", "/v1/feature-flags", "/nope", "/state/nope/zzz"]
    {
        asker.get(target).await;
    }
    asker.ask("OPTIONS", "/nope", "", "").await;
    asker.ask("POST", "/models/add", r#"{"model_id":"no-slash"}"#, "").await;
    asker.ask("POST", "/models/add", r#"{"model_id":"somebody/else"}"#, "").await;
    asker.get("/state").await;
    for key in [
        "nodeIdentities",
        "topology",
        "nodeMemory",
        "nodeSystem",
        "nodeDisk",
        "nodeBackends",
        "nodeNetwork",
        "nodeThunderbolt",
        "nodeRdmaCtl",
        "nodeThunderboltBridge",
        "lastSeen",
        "lastEventAppliedIdx",
        "tasks",
        "downloads",
        "instances",
        "runners",
        "instanceLinks",
        "prefillServerPorts",
        "thunderboltBridgeCycles",
        "customModelCards",
    ] {
        asker.get(&format!("/state/{key}")).await;
    }
    asker.get(&format!("/state/nodeSystem/{node}")).await;
    asker.get("/state/nodeSystem/00000000000000000000000000000000").await;
    asker.get(&format!("/state/nodeDisk/{node}")).await;
    asker.get(&format!("/state/downloads/{node}")).await;

    asker.get("/instance/previews").await;
    asker.get("/instance/previews?model_id=nobody%2Fnone").await;
    asker.get(&format!("/instance/previews?model_id={}", HUGE.replace('/', "%2F"))).await;
    asker.get(&format!("/instance/previews?model_id={}", SLOW.replace('/', "%2F"))).await;
    let previews = asker.get(&format!("/instance/previews?model_id={FAST}&node_ids={node}")).await.json().unwrap();
    let instance = &previews["previews"][0]["instance"];
    let shard_assignments = &instance["MlxRingInstance"]["shardAssignments"];
    let (runner, shard) = shard_assignments["runnerToShard"].as_object().unwrap().iter().next().unwrap();

    let start = json!({"targetNodeId": node, "shardMetadata": shard}).to_string();
    asker.ask("POST", "/download/start", &start, "").await;
    let mut pending = shard.clone();
    pending["PipelineShardMetadata"]["modelCard"]["modelId"] = HUGE.into();
    let start = json!({"targetNodeId": node, "shardMetadata": pending}).to_string();
    asker.ask("POST", "/download/start", &start, "").await;
    asker.wait(&format!("/state/downloads/{node}"), 200, "DownloadOngoing").await;

    let id = instance["MlxRingInstance"]["instanceId"].as_str().unwrap().to_owned();
    asker.bench(3, 4, &json!({}), "").await;
    asker.bench(3, 4, &json!({"stream": true}), "").await;
    asker.ask("POST", "/bench/chat/completions", "{\"model\":", "bad JSON").await;
    asker.ask("POST", "/bench/chat/completions", r#"{"model":"a/b"}"#, "missing field").await;
    asker.bench(3, 4, &json!({"max_tokens": "x"}), "wrong type").await;
    asker.get(&format!("/instance/{id}")).await;
    asker.ask("DELETE", &format!("/instance/{id}"), "", "").await;
    asker.get(&format!("/state/instances/{id}")).await;
    asker.get(&format!("/state/runners/{runner}")).await;
    asker.ask("POST", "/instance", "{}", "").await;
    asker.ask("POST", "/instance", r#"{"instance":{"MlxRingInstance":{}}}"#, "").await;

    asker.ask("POST", "/instance", &json!({"instance": instance}).to_string(), "").await;
    let runner = format!("/state/runners/{runner}");
    let life = asker.life(&runner).await;
    let order = ["RunnerIdle", "RunnerLoading", "RunnerLoaded", "RunnerWarmingUp", "RunnerReady"];
    let stages: Vec<_> = life.iter().map(|status| order.iter().position(|known| known == status)).collect();
    assert!(stages.is_sorted() && stages.iter().all(Option::is_some), "a runner's life was {life:?}");
    asker.get(&format!("/instance/{id}")).await;
    asker.get(&format!("/state/instances/{id}")).await;
    asker.get("/state/instances").await;
    asker.get("/state").await;

    let empty = json!({"model": FAST, "messages": []}).to_string();
    asker.ask("POST", "/bench/chat/completions", &empty, "").await;
    for stream in [false, true] {
        asker.bench(60, 8, &json!({"stream": stream}), "").await;
        asker.bench(60, 1, &json!({"stream": stream}), "").await;
        let words = if stream { 400 } else { 200 };
        for hit in ["none", "exact", "partial"] {
            let more = if hit == "partial" { 50 } else { 0 };
            let flags = json!({"stream": stream, "use_prefix_cache": true});
            let answer = asker.bench(words + more, 8, &flags, "").await;
            let expected = if hit == "none" && stream { "partial" } else { hit };
            let said = format!("\"prefix_cache_hit\":\"{expected}\"");
            assert!(answer.body.contains(&said), "{said} is not in {}", answer.body);
        }
    }

    // Two requests that would go on for a minute; the instance is deleted under them.
    let long = |stream: bool| completion(60, 100_000, &json!({"stream": stream}));
    let (plain, streamed) = (long(false), long(true));
    let bench = "/bench/chat/completions";
    let address = asker.address;
    let delete = async {
        asker.wait(&runner, 200, "RunnerRunning").await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        asker.ask("DELETE", &format!("/instance/{id}"), "", "").await;
        asker
    };
    let (plain, streamed, mut asker) =
        tokio::join!(send(address, "POST", bench, &plain), send(address, "POST", bench, &streamed), delete);
    let (plain, streamed) = (plain.unwrap(), streamed.unwrap());
    asker.keep("POST", bench, "instance deleted", &plain);
    asker.keep("POST", bench, "instance deleted", &streamed);
    assert_eq!(plain.json().unwrap()["generation_stats"], Value::Null);
    asker.wait(&format!("/instance/{id}"), 404, "Instance not found").await;
    asker.wait("/state/runners", 200, "RunnerShuttingDown").await;
    asker.catalogue
}

#[tokio::test(flavor = "multi_thread")]
async fn every_simulated_body_has_the_recorded_structure() {
    let recorded = committed();
    let simulated = simulated().await;
    let mut problems = Vec::new();
    for (name, simulated) in &simulated.answers {
        let Some(recorded) = recorded.answers.get(name) else {
            problems.push(format!("{name}: answered, never recorded"));
            continue;
        };
        if recorded.content_type != simulated.content_type {
            problems.push(format!("{name}: {}, recorded {}", simulated.content_type, recorded.content_type));
        }
        for order in simulated.order.difference(&recorded.order) {
            problems.push(format!("{name}: the order {order}, recorded {:?}", recorded.order));
        }
        problems.extend(recorded.body.differences(&simulated.body, name));
    }
    for (name, shape) in &simulated.types {
        problems.extend(recorded.types[name].differences(shape, name));
    }
    for name in recorded.answers.keys().filter(|name| !simulated.answers.contains_key(*name)) {
        problems.push(format!("{name}: recorded, never answered"));
    }
    assert!(problems.is_empty(), "{} differences:\n{}", problems.len(), problems.join("\n"));
}
