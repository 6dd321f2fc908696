//! Serves the app and the preloaded files, to this machine only.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Response, StatusCode, header};
use bytes::Bytes;
use serde_json::json;

/// A result file that the page loads by itself.
#[derive(Debug, Clone)]
pub struct Preloaded {
    /// The name that the page shows.
    pub name: String,
    /// Its bytes as they are; reading them is the page's task.
    pub bytes: Bytes,
}

/// What is served.
#[derive(Debug, Clone)]
pub struct Site {
    /// The folder of the built app.
    pub app: PathBuf,
    /// The files that the page loads by itself.
    pub preloaded: Vec<Preloaded>,
}

impl Site {
    /// The list of preloaded files as the page reads it: their names, and addresses relative to the page.
    #[must_use]
    pub fn list(&self) -> String {
        let files: Vec<_> = self
            .preloaded
            .iter()
            .enumerate()
            .map(|(number, file)| json!({"name": file.name, "url": format!("files/{number}")}))
            .collect();
        json!({ "files": files }).to_string()
    }
}

/// The router of a site.
pub fn router(site: Site) -> Router {
    Router::new().fallback(answer).with_state(Arc::new(site))
}

async fn answer(State(site): State<Arc<Site>>, request: Request) -> Response<Body> {
    // A page of another name that resolves to this address must not read the files (DNS rebinding).
    if !request.headers().get(header::HOST).is_some_and(is_this_machine) {
        return plain(StatusCode::FORBIDDEN, "only for this machine: use http://127.0.0.1");
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "there is nothing to change here");
    }
    let path = request.uri().path();
    if path == "/preloaded.json" {
        return body("application/json", Bytes::from(site.list()));
    }
    if let Some(number) = path.strip_prefix("/files/") {
        return match number.parse::<usize>().ok().and_then(|number| site.preloaded.get(number)) {
            Some(file) => body("application/octet-stream", file.bytes.clone()),
            None => plain(StatusCode::NOT_FOUND, "no such file"),
        };
    }
    match inside(&site.app, path) {
        Some(file) => match tokio::fs::read(&file).await {
            Ok(bytes) => body(media_type(&file), Bytes::from(bytes)),
            Err(_) => plain(StatusCode::NOT_FOUND, "no such file"),
        },
        None => plain(StatusCode::NOT_FOUND, "no such file"),
    }
}

/// The file of the app that a path means; none for a path that leads out of it.
fn inside(app: &Path, path: &str) -> Option<PathBuf> {
    let path = path.trim_start_matches('/');
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    path.components().all(|part| matches!(part, Component::Normal(_))).then(|| app.join(path))
}

fn is_this_machine(host: &HeaderValue) -> bool {
    let Ok(host) = host.to_str() else { return false };
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
    matches!(name.map_or(host, |(name, _)| name), "127.0.0.1" | "localhost")
}

/// WebAssembly is compiled while it arrives only under its own type.
fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

fn body(kind: &'static str, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // The app is rebuilt under the same names; what an old build cached would not fit the new one.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A page of another origin may not even embed what is served here.
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

fn plain(status: StatusCode, words: &'static str) -> Response<Body> {
    let mut response = body("text/plain; charset=utf-8", Bytes::from_static(words.as_bytes()));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_lead_out_of_the_app() {
        let app = Path::new("/app");
        assert_eq!(inside(app, "/"), Some(PathBuf::from("/app/index.html")));
        assert_eq!(inside(app, "/a/b.js"), Some(PathBuf::from("/app/a/b.js")));
        for out in ["/../secret", "/a/../../secret", "//etc/../x", "/./x/.."] {
            assert_eq!(inside(app, out), None, "{out}");
        }
    }

    #[test]
    fn other_host_names_are_refused() {
        let host = |name: &str| is_this_machine(&HeaderValue::from_str(name).unwrap());
        assert!(host("127.0.0.1:80") && host("localhost:8080") && host("localhost"));
        assert!(!host("evil.example:80") && !host("127.0.0.1.evil.example") && !host("localhost:x"));
    }
}
