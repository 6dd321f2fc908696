//! Tokenizers from a hub: a small server stands in for Hugging Face's, and the cache that Python shares is looked at.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what helps a test fails it")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use probe::workload::{Found, Tokenizer, obtain};

const ID: &str = "org/Model-4bit";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What a server says to one path.
#[derive(Clone)]
struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Bytes of the body after which the connection ends, whatever length was announced.
    cut_after: Option<usize>,
}

fn answer(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> Answer {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Answer { status, headers, body: body.to_vec(), cut_after: None }
}

/// A server that closes each connection after its answer. What it has no answer for is 404, as the hub says it of a file.
struct Server {
    address: SocketAddr,
    /// Path and authorization of each request.
    seen: Arc<Mutex<Vec<(String, Option<String>)>>>,
}

impl Server {
    fn start(answers: BTreeMap<String, Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<_>>>::default());
        let log = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let head: Vec<String> =
                    BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                let Some(path) = head.first().and_then(|line| line.split(' ').nth(1)) else { continue };
                let authorization = head.iter().find_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    name.eq_ignore_ascii_case("authorization").then(|| value.to_owned())
                });
                log.lock().unwrap().push((path.to_owned(), authorization));
                let nothing = answer(404, &[("x-error-code", "EntryNotFound")], b"Entry not found");
                let said = answers.get(path).unwrap_or(&nothing);
                let mut text = format!("HTTP/1.1 {} said\r\nconnection: close\r\n", said.status);
                for (name, value) in &said.headers {
                    text += &format!("{name}: {value}\r\n");
                }
                text += &format!("content-length: {}\r\n\r\n", said.body.len());
                let sent = &said.body[..said.cut_after.unwrap_or(said.body.len())];
                // A client that went away is what some of the tests are about.
                if stream.write_all(text.as_bytes()).and_then(|()| stream.write_all(sent)).is_err() {
                    continue;
                }
            }
        });
        Self { address, seen }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn paths(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }

    fn tokens(&self) -> Vec<Option<String>> {
        self.seen.lock().unwrap().iter().map(|(_, token)| token.clone()).collect()
    }
}

fn at(file: &str) -> String {
    format!("/{ID}/resolve/main/{file}")
}

/// A hub with the tiny tokenizer under `ID`.
fn hub() -> BTreeMap<String, Answer> {
    let file = |name: &str| {
        let body = fs::read(tests::fixture("tokenizers/tiny").join(name)).unwrap();
        (at(name), answer(200, &[("X-Repo-Commit", COMMIT)], &body))
    };
    ["tokenizer.json", "tokenizer_config.json"].map(file).into()
}

/// Asks for `ID` on a machine whose home is `home`. `~~` in a value stands for it.
fn ask(home: &Path, variables: &[(&str, &str)], go_on: &dyn Fn() -> bool) -> Result<Found, String> {
    let root = home.display().to_string();
    let environment = |name: &str| {
        let set = variables.iter().chain([&("HOME", "~~")]).find(|(known, _)| *known == name);
        set.map(|(_, value)| OsString::from(value.replace("~~", &root)))
    };
    obtain(ID, None, &environment, go_on).map_err(|error| error.to_string())
}

fn get(home: &Path, server: &Server, variables: &[(&str, &str)]) -> Result<Found, String> {
    let url = server.url();
    let all: Vec<(&str, &str)> = variables.iter().copied().chain([("HF_ENDPOINT", url.as_str())]).collect();
    ask(home, &all, &|| true).map_err(|error| error.replace(&url, "HUB").replace(&home.display().to_string(), "~"))
}

fn cache(home: &Path) -> PathBuf {
    home.join(".cache/huggingface/hub")
}

/// Every file and folder below a folder, sorted; nothing where it is not there.
fn tree(folder: &Path) -> Vec<String> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(root).unwrap().display().to_string());
            walk(&path, root, found);
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

/// The sentence of a failure, between what it begins and ends with each time.
fn reason(error: &str) -> &str {
    let before = "no tokenizer of org/Model-4bit on this machine (looked in ";
    let after = "; fetch it with: hf download org/Model-4bit --include \"*.json\" \"*.jinja\" \"tiktoken.model\" \
                 \"tokenizer.model\", or give its folder with --tokenizer DIR";
    let middle = error.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    middle.and_then(|middle| middle.split_once("), and ")).unwrap_or_else(|| panic!("{error}")).1
}

#[test]
fn what_is_on_no_disk_is_fetched_once_into_the_cache_that_python_reads() {
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(hub()));
    let found = get(home.path(), &server, &[]).unwrap();
    let folder = cache(home.path()).join("models--org--Model-4bit/snapshots").join(COMMIT);
    assert_eq!(found, Found { folder: folder.clone(), source: "huggingface hub".to_owned() });
    let asked = ["config.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"];
    assert_eq!(
        server.paths(),
        [&asked[..], &["tiktoken.model", "tokenizer.json"]].concat().into_iter().map(at).collect::<Vec<_>>()
    );
    assert_eq!(server.tokens(), [const { None }; 6]);

    let repository = cache(home.path()).join("models--org--Model-4bit");
    assert_eq!(fs::read_to_string(repository.join("refs/main")).unwrap(), COMMIT);
    assert_eq!(tree(&folder), ["tokenizer.json", "tokenizer_config.json"]);
    assert_eq!(
        tree(&cache(home.path())).len(),
        7,
        "the model's files and folders alone: {:?}",
        tree(&cache(home.path()))
    );
    assert_eq!(Tokenizer::load_for(&folder, ID).unwrap().identity("", "a ").revision.as_deref(), Some(COMMIT));

    let again = get(home.path(), &server, &[]).unwrap();
    assert_eq!(again, Found { folder, source: "huggingface cache".to_owned() });
    assert_eq!(server.paths().len(), 6, "nothing was asked again");
}

/// Large files lie elsewhere: the commit and the size stand in the hub's own answer, and the token is for the hub alone.
#[test]
fn a_redirect_is_followed_and_the_token_stays_with_the_hub() {
    let body = fs::read(tests::fixture("tokenizers/tiny/tokenizer.json")).unwrap();
    let elsewhere = Server::start([("/blob?signed=1".to_owned(), answer(200, &[], &body))].into());
    let mut answers = hub();
    answers.insert(at("tokenizer.json"), answer(307, &[("Location", "/moved/here")], b""));
    let (size, to) = (body.len().to_string(), format!("{}/blob?signed=1", elsewhere.url()));
    let headers = [("X-Repo-Commit", COMMIT), ("X-Linked-Size", &size), ("Location", &to)];
    answers.insert("/moved/here".to_owned(), answer(302, &headers, b"Found"));
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(answers));
    let found = get(home.path(), &server, &[("HF_TOKEN", "hf_secret")]).unwrap();
    assert_eq!(fs::read(found.folder.join("tokenizer.json")).unwrap(), body);
    assert_eq!(server.tokens(), [const { "Bearer hf_secret" }; 7].map(|token| Some(token.to_owned())));
    assert_eq!(elsewhere.tokens(), [None]);
}

#[test]
fn a_redirect_that_never_ends_is_told() {
    let answers = [(at("config.json"), answer(302, &[("Location", "config.json")], b""))].into();
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(answers));
    let error = get(home.path(), &server, &[]).unwrap_err();
    assert_eq!(reason(&error), "HUB did not answer: it redirects without an end");
}

#[test]
fn the_token_is_found_where_hugging_face_keeps_it_and_not_shown_unasked() {
    for (variables, expected) in [
        (vec![("HF_TOKEN", " hf_a\n"), ("HF_TOKEN_PATH", "~~/b")], Some("Bearer hf_a")),
        (vec![("HF_TOKEN_PATH", "~~/b")], Some("Bearer hf_b")),
        (vec![("HF_HOME", "~~/c")], Some("Bearer hf_c")),
        (vec![], Some("Bearer hf_d")),
        (vec![("HF_TOKEN", "hf_a"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")], None),
        (vec![("HF_TOKEN_PATH", "~~/none")], None),
    ] {
        let (home, server) = (tempfile::tempdir().unwrap(), Server::start(hub()));
        fs::create_dir_all(cache(home.path())).unwrap();
        fs::create_dir(home.path().join("c")).unwrap();
        for (path, token) in [("b", "hf_b\n"), ("c/token", "hf_c"), (".cache/huggingface/token", "hf_d")] {
            fs::write(home.path().join(path), token).unwrap();
        }
        get(home.path(), &server, &variables).unwrap();
        assert_eq!(server.tokens()[0].as_deref(), expected, "{variables:?}");
    }
}

#[test]
fn a_hub_that_gives_nothing_is_quoted_with_what_to_do() {
    let only = |said: Answer| BTreeMap::from([(at("config.json"), said)]);
    for (answers, expected) in [
        (
            only(answer(401, &[("X-Error-Code", "RepoNotFound")], b"Invalid username or password.")),
            "HUB answered 401 to config.json: the model is gated, private or not there; set HF_TOKEN to a token that may \
             read it, and accept its licence at HUB/org/Model-4bit",
        ),
        (
            only(answer(403, &[("X-Error-Code", "GatedRepo")], b"Access denied")),
            "HUB answered 403 to config.json: the model is gated, private or not there; set HF_TOKEN to a token that may \
             read it, and accept its licence at HUB/org/Model-4bit",
        ),
        (
            only(answer(404, &[("X-Error-Code", "RepoNotFound")], b"Repository not found")),
            "HUB has no model org/Model-4bit (404)",
        ),
        (
            only(answer(200, &[], b"{}")),
            "HUB has no org/Model-4bit/tokenizer.json, tiktoken.model or tokenizer.model (404)",
        ),
        (only(answer(503, &[], b"")), "HUB answered 503 to config.json; try again later"),
    ] {
        let (home, server) = (tempfile::tempdir().unwrap(), Server::start(answers));
        assert_eq!(reason(&get(home.path(), &server, &[]).unwrap_err()), expected);
        assert_eq!(tree(&cache(home.path())), [""; 0], "{expected}");
    }
}

#[test]
fn a_hub_that_is_not_there_is_told() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let home = tempfile::tempdir().unwrap();
    let error = ask(home.path(), &[("HF_ENDPOINT", &format!("http://{free}/"))], &|| true).unwrap_err();
    assert!(reason(&error).starts_with(&format!("http://{free} did not answer: ")), "{error}");
    assert!(error.contains("Connection refused"), "{error}");
    let error = ask(home.path(), &[("HF_ENDPOINT", "nonsense here")], &|| true).unwrap_err();
    assert!(reason(&error).starts_with("nonsense here did not answer: "), "{error}");
}

#[test]
fn nothing_is_asked_where_a_variable_says_offline() {
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(hub()));
    for (variable, value) in
        [("HF_HUB_OFFLINE", "1"), ("TRANSFORMERS_OFFLINE", "True"), ("HF_HUB_OFFLINE", "YES"), ("HF_HUB_OFFLINE", "on")]
    {
        let error = get(home.path(), &server, &[(variable, value)]).unwrap_err();
        assert_eq!(reason(&error), format!("none was fetched from the hub because {variable} is set"));
    }
    assert_eq!(server.paths().len(), 0);
    get(home.path(), &server, &[("HF_HUB_OFFLINE", "0"), ("TRANSFORMERS_OFFLINE", "")]).unwrap();
}

/// Whatever breaks off, nobody finds half a tokenizer later; and the next try gets it whole.
#[test]
fn a_download_that_breaks_off_leaves_nothing_behind() {
    let mut cut = hub();
    let file = cut.get_mut(&at("tokenizer.json")).unwrap();
    file.cut_after = Some(file.body.len() / 2);
    let mut shorter = hub();
    shorter.get_mut(&at("tokenizer.json")).unwrap().headers.push(("X-Linked-Size", "99999".to_owned()));
    let mut changed = hub();
    changed.get_mut(&at("tokenizer.json")).unwrap().headers = vec![("X-Repo-Commit", COMMIT.replace('0', "f"))];
    for (answers, expected) in
        [(cut, ""), (shorter, "12127 of 99999 bytes came"), (changed, "the model was changed meanwhile, try again")]
    {
        let (home, server) = (tempfile::tempdir().unwrap(), Server::start(answers));
        let error = get(home.path(), &server, &[]).unwrap_err();
        let said = reason(&error).strip_prefix("the download of tokenizer.json from HUB broke off: ");
        assert!(said.is_some_and(|said| said.starts_with(expected)), "{error}");
        assert_eq!(tree(&cache(home.path())), [""; 0]);
        get(home.path(), &Server::start(hub()), &[]).unwrap();
    }
}

#[test]
fn a_download_stops_when_it_shall_and_leaves_nothing_behind() {
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(hub()));
    let url = server.url();
    let error = ask(home.path(), &[("HF_ENDPOINT", &url)], &|| server.paths().len() < 2).unwrap_err();
    assert!(reason(&error).ends_with("broke off: it was interrupted; nothing of it was kept"), "{error}");
    assert_eq!(server.paths().len(), 2);
    assert_eq!(tree(&cache(home.path())), [""; 0]);
}

/// Python may have a model's `config.json` and its weights without the tokenizer.
#[test]
fn what_the_cache_has_of_a_model_stays_and_the_rest_is_added() {
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(hub()));
    let folder = cache(home.path()).join("models--org--Model-4bit/snapshots").join(COMMIT);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tokenizer_config.json"), "{\"kept\": true}").unwrap();
    assert_eq!(get(home.path(), &server, &[]).unwrap().folder, folder);
    assert_eq!(fs::read_to_string(folder.join("tokenizer_config.json")).unwrap(), "{\"kept\": true}");
    assert_eq!(tree(&folder), ["tokenizer.json", "tokenizer_config.json"]);
}

#[test]
fn a_hub_that_names_no_commit_is_good_enough_and_the_revision_stays_unknown() {
    let mut answers = hub();
    answers.values_mut().for_each(|answer| answer.headers = vec![("X-Repo-Commit", "../../etc".to_owned())]);
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(answers));
    let found = get(home.path(), &server, &[]).unwrap();
    assert_eq!(found.folder, cache(home.path()).join("models--org--Model-4bit/snapshots/main"));
    assert_eq!(Tokenizer::load_for(&found.folder, ID).unwrap().identity("", "a ").revision, None);
    assert_eq!(get(home.path(), &server, &[]).unwrap().source, "huggingface cache");
}

#[test]
fn a_sentencepiece_model_is_fetched_for_the_sentence_that_says_how_to_convert_it() {
    let answers = [(at("tokenizer.model"), answer(200, &[("X-Repo-Commit", COMMIT)], b"\x0a"))].into();
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(answers));
    let found = get(home.path(), &server, &[]).unwrap();
    let error = Tokenizer::load_for(&found.folder, ID).unwrap_err().to_string();
    assert!(
        error.contains("tokenizer.model, a sentencepiece model, which this build cannot read; convert it"),
        "{error}"
    );
}

/// The whole way: no tokenizer anywhere, a bench, a file that says where the prompts came from.
#[test]
fn a_bench_fetches_the_tokenizer_and_its_file_says_which() {
    let bench = tests::measured::Bench::new(probe::simulate::Settings {
        load_seconds: 0.0,
        models: vec![ID.to_owned()],
        ..probe::simulate::Settings::default()
    })
    .unwrap();
    let (home, server) = (tempfile::tempdir().unwrap(), Server::start(hub()));
    let run = |endpoint: &str| {
        let mut command = std::process::Command::new(tests::exoscope().unwrap());
        command.args(
            "bench --pause all=0 --progress off --pp 64 --tg 4 --max-nodes 1 --host 127.0.0.1 --model".split(' '),
        );
        command.args([ID, "--port", &bench.cluster.address.port().to_string(), "--json-out"]).arg(bench.results());
        command.env_clear().env("HOME", home.path()).env("HF_ENDPOINT", endpoint);
        command.output().unwrap()
    };
    let output = run("http://127.0.0.1:1");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("on this machine (looked in ") && stderr.contains("http://127.0.0.1:1 did not answer"),
        "{stderr}"
    );
    assert!(!bench.results().exists());

    let output = run(&server.url());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = tests::measured::read_json(&bench.results()).unwrap();
    let tokenizer = &file["exoscope"]["tokenizer"];
    assert_eq!(tokenizer["source"], "huggingface hub");
    assert_eq!(tokenizer["revision"], COMMIT);
    assert_eq!(tokenizer["name"], "models--org--Model-4bit");
}
