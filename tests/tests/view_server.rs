//! `exoscope view` as a process: what it serves, to whom, and how it ends. The app is a stand-in of three files.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tests::client::send;

/// A built app, as far as the server can tell.
fn app(folder: &Path) -> PathBuf {
    let app = folder.join("app");
    std::fs::create_dir(&app).unwrap();
    std::fs::write(app.join("index.html"), "<!doctype html><title>stand-in</title>").unwrap();
    std::fs::write(app.join("page.js"), "export {}").unwrap();
    std::fs::write(app.join("worker_bg.wasm"), b"\0asm\x01\0\0\0").unwrap();
    std::fs::write(folder.join("secret.txt"), "not of the app").unwrap();
    app
}

fn view(app: &Path) -> Command {
    let mut command = Command::new(tests::exoscope().unwrap());
    command.arg("view").arg("--no-open").arg("--dist").arg(app).env_remove("EXOSCOPE_VIEWER");
    command
}

/// A viewer that serves until it is dropped.
struct Serving {
    child: Child,
    address: SocketAddr,
}

impl Serving {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("serving on http://").and_then(|rest| rest.strip_suffix("/\n"));
        let address = address.unwrap_or_else(|| panic!("the first line names the address: {line:?}")).parse().unwrap();
        Self { child, address }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

/// Sends lines as they are and reads the answer to its end: a client that the other tests' would not be.
fn raw(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn failed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let words = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(words.lines().count(), 1, "one sentence: {words}");
    assert!(output.stdout.is_empty(), "no address of a viewer that is not there: {output:?}");
    words
}

#[tokio::test]
async fn the_app_comes_with_types_that_a_browser_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(view(&app(folder.path())));
    assert!(serving.address.ip().is_loopback());
    for (target, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/worker_bg.wasm", "application/wasm"),
        ("/preloaded.json", "application/json"),
    ] {
        let answer = send(serving.address, "GET", target, "").await.unwrap();
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{target}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{target}");
    }
    assert_eq!(send(serving.address, "GET", "/absent.js", "").await.unwrap().status, 404);
    assert_eq!(send(serving.address, "POST", "/", "{}").await.unwrap().status, 405);
}

#[tokio::test]
async fn preloaded_files_are_listed_in_order_and_come_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("später \"x\".json");
    std::fs::write(&broken, "{\"runs\": [").unwrap();
    let result = tests::fixture("results/exoscope_simulated_base.json");
    let mut command = view(&app(folder.path()));
    command.arg(&result).arg(&broken);
    let serving = Serving::start(command);
    let list = send(serving.address, "GET", "/preloaded.json", "").await.unwrap().json().unwrap();
    let expected = serde_json::json!({"files": [
        {"name": "exoscope_simulated_base.json", "url": "files/0"},
        {"name": "später \"x\".json", "url": "files/1"},
    ]});
    assert_eq!(list, expected);
    let first = send(serving.address, "GET", "/files/0", "").await.unwrap();
    assert_eq!(first.body.as_bytes(), std::fs::read(&result).unwrap());
    // A broken file is the page's to explain, beside the good ones.
    assert_eq!(send(serving.address, "GET", "/files/1", "").await.unwrap().body, "{\"runs\": [");
    assert_eq!(send(serving.address, "GET", "/files/2", "").await.unwrap().status, 404);
    assert_eq!(send(serving.address, "GET", "/files/-1", "").await.unwrap().status, 404);
}

#[test]
fn a_page_of_another_name_gets_nothing_and_no_path_leads_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = view(&app(folder.path()));
    command.arg(tests::fixture("results/f3c.json"));
    let serving = Serving::start(command);
    let port = serving.address.port();
    let ask = |target: &str, host: &str| {
        raw(serving.address, &format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"))
    };
    assert!(ask("/files/0", &format!("localhost:{port}")).starts_with("HTTP/1.1 200 "));
    for host in [format!("rebound.example:{port}"), "192.168.0.7".into(), String::new()] {
        let answer = ask("/files/0", &host);
        assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains("runs"), "{host}: {answer}");
    }
    for target in ["/../secret.txt", "/%2e%2e/secret.txt", "/page.js/../../secret.txt", "//secret.txt/../../secret.txt"]
    {
        let answer = ask(target, "127.0.0.1");
        assert!(!answer.contains("not of the app") && !answer.starts_with("HTTP/1.1 2"), "{target}: {answer}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_as_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut serving = Serving::start(view(&app(folder.path())));
    let kill = Command::new("kill").args(["-INT", &serving.child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_check_ends_by_itself_and_names_the_address() {
    let folder = tempfile::tempdir().unwrap();
    let result = tests::fixture("results/f3c.json");
    let output = view(&app(folder.path())).arg("--check").arg(result).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.starts_with("served on http://127.0.0.1:") && out.ends_with("/\n"), "{out}");
}

#[test]
fn a_check_finds_an_app_that_is_not_whole() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path());
    std::fs::write(app.join("worker_bg.wasm"), "<html>not found</html>").unwrap();
    let words = failed(&view(&app).arg("--check").output().unwrap());
    assert!(words.contains("/worker_bg.wasm is not WebAssembly") && words.contains("just viewer"), "{words}");
    std::fs::remove_file(app.join("worker_bg.wasm")).unwrap();
    let words = failed(&view(&app).arg("--check").output().unwrap());
    assert!(words.contains("there is no WebAssembly in it") && words.contains("just viewer"), "{words}");
}

#[test]
fn what_cannot_be_served_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path());
    let words = failed(&view(&app).arg("no/such/results.json").output().unwrap());
    assert!(words.contains("no/such/results.json: cannot be read: "), "{words}");
    let words = failed(&view(&folder.path().join("empty")).output().unwrap());
    assert!(words.contains("the viewer is not built") && words.contains("just viewer"), "{words}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let words = failed(&view(&app).args(["--port", &port]).output().unwrap());
    assert!(words.contains(&port) && words.contains("--port 0"), "{words}");
}
