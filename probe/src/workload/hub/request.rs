//! One file of a model, asked of a hub: where it sends us on, what its answers mean.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use ureq::http::header::{AUTHORIZATION, CONTENT_LENGTH, LOCATION};
use ureq::http::{HeaderMap, Response, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::HubError;

/// Within it a hub that can be reached has been reached; longer would be a silent program.
const CONNECT: Duration = Duration::from_secs(10);
/// Without a byte for so long the connection is dead. Hubs answer within a second or two.
const SILENCE: Duration = Duration::from_secs(30);
/// For a whole file. The largest `tokenizer.json` seen has 33 MB, which takes as long at 1 Mbit/s.
const FILE: Duration = Duration::from_secs(300);
/// As many as Python's requests and curl's default allow at least; a hub needs one or two.
const REDIRECTS: usize = 10;
/// Several times the largest tokenizer; what is larger is none.
const LARGEST: u64 = 256 << 20;
/// Bytes between two looks at whether to go on.
const PIECE: usize = 64 << 10;

/// A hub and the model that is asked for.
pub(super) struct Hub<'a> {
    agent: Agent,
    /// Its address, without a slash at the end.
    pub(super) endpoint: String,
    model_id: &'a str,
    token: Option<String>,
    go_on: &'a dyn Fn() -> bool,
}

/// The answer to one file, its body not read yet.
pub(super) struct Answer {
    /// The commit that it belongs to; `None` where the hub does not say.
    pub(super) commit: Option<String>,
    /// Its bytes; `None` where the hub does not say.
    size: Option<u64>,
    response: Response<Body>,
}

impl<'a> Hub<'a> {
    pub(super) fn new(endpoint: &str, model_id: &'a str, token: Option<String>, go_on: &'a dyn Fn() -> bool) -> Self {
        let agent = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .timeout_global(Some(FILE))
            .http_status_as_error(false)
            // Followed here: the commit stands in the first answer, and the token is not for where that sends us.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("exoscope/", env!("CARGO_PKG_VERSION")))
            // The system's own store: behind a company's proxy no other one knows the certificate.
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .build()
            .new_agent();
        Self { agent, endpoint: endpoint.to_owned(), model_id, token, go_on }
    }

    /// Asks for a file of the model's main branch; `None` where the model has no such file.
    pub(super) fn get(&self, file: &str) -> Result<Option<Answer>, HubError> {
        let start = format!("{}/{}/resolve/main/{file}", self.endpoint, self.model_id);
        let mut at: Uri = start.parse().map_err(|error| self.unreachable(&error))?;
        let home = (at.scheme().cloned(), at.authority().cloned());
        let (mut commit, mut size) = (None, None);
        for _ in 0..=REDIRECTS {
            self.stopped(file)?;
            let mut request = self.agent.get(&at);
            if let Some(token) = self.token.as_ref().filter(|_| home == (at.scheme().cloned(), at.authority().cloned()))
            {
                request = request.header(AUTHORIZATION, format!("Bearer {token}"));
            }
            let response = request.call().map_err(|error| self.unreachable(&error))?;
            commit = commit.or_else(|| word(response.headers(), "x-repo-commit").filter(|commit| is_commit(commit)));
            size = size.or_else(|| word(response.headers(), "x-linked-size").and_then(|size| size.parse().ok()));
            match response.status().as_u16() {
                200 => {
                    let length = word(response.headers(), CONTENT_LENGTH.as_str()).and_then(|size| size.parse().ok());
                    return Ok(Some(Answer { commit, size: size.or(length), response }));
                }
                404 if word(response.headers(), "x-error-code").is_some_and(|code| code == "RepoNotFound") => {
                    let missing = format!("model {}", self.model_id);
                    return Err(HubError::Missing { endpoint: self.endpoint.clone(), missing });
                }
                404 => return Ok(None),
                301 | 302 | 303 | 307 | 308 => {
                    let to = word(response.headers(), LOCATION.as_str()).and_then(|to| onwards(&at, &to));
                    at = to.ok_or_else(|| self.unreachable(&"it redirects to nowhere"))?;
                }
                status @ (401 | 403) => {
                    let (endpoint, model_id) = (self.endpoint.clone(), self.model_id.to_owned());
                    return Err(HubError::Denied { endpoint, model_id, file: file.to_owned(), status });
                }
                status => {
                    return Err(HubError::Status { endpoint: self.endpoint.clone(), file: file.to_owned(), status });
                }
            }
        }
        Err(self.unreachable(&"it redirects without an end"))
    }

    /// Writes the body to a file, and sees that it came whole.
    pub(super) fn save(&self, answer: Answer, file: &str, path: &Path) -> Result<(), HubError> {
        let unwritable =
            |source| HubError::Unwritable { endpoint: self.endpoint.clone(), path: path.to_owned(), source };
        let mut kept = File::create(path).map_err(unwritable)?;
        let mut body = answer.response.into_body().into_with_config().limit(LARGEST).reader();
        let mut piece = vec![0; PIECE];
        let mut came = 0;
        loop {
            self.stopped(file)?;
            let length = body.read(&mut piece).map_err(|error| self.cut_off(file, error.to_string()))?;
            let Some(read) = piece.get(..length).filter(|read| !read.is_empty()) else { break };
            kept.write_all(read).map_err(unwritable)?;
            came += length as u64;
        }
        match answer.size {
            Some(size) if size != came => Err(self.cut_off(file, format!("{came} of {size} bytes came"))),
            _ => Ok(()),
        }
    }

    fn stopped(&self, file: &str) -> Result<(), HubError> {
        if (self.go_on)() { Ok(()) } else { Err(self.cut_off(file, "it was interrupted".to_owned())) }
    }

    fn cut_off(&self, file: &str, reason: String) -> HubError {
        HubError::CutOff { endpoint: self.endpoint.clone(), file: file.to_owned(), reason }
    }

    fn unreachable(&self, reason: &dyn std::fmt::Display) -> HubError {
        HubError::Unreachable { endpoint: self.endpoint.clone(), reason: reason.to_string() }
    }
}

fn word(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// Forty hex digits. Anything else is not taken for a folder's name.
pub(in crate::workload) fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where a `Location` leads from an address: a whole address, or one on the same host.
fn onwards(from: &Uri, to: &str) -> Option<Uri> {
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    // At its beginning: the address of another page may well stand in a query.
    if ["http://", "https://"].iter().any(|scheme| to.starts_with(scheme)) {
        to.parse().ok()
    } else if let Some(host) = to.strip_prefix("//") {
        format!("{scheme}://{host}").parse().ok()
    } else if to.starts_with('/') {
        format!("{scheme}://{authority}{to}").parse().ok()
    } else {
        let (folder, _) = from.path().rsplit_once('/')?;
        format!("{scheme}://{authority}{folder}/{to}").parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::onwards;

    #[test]
    fn a_redirect_leads_to_another_host_or_stays() {
        let from = "https://hub:1/a/b/resolve/main/c.json".parse().unwrap();
        for (to, expected) in [
            ("https://cdn.example/x?y=%2F", "https://cdn.example/x?y=%2F"),
            ("//cdn.example/x", "https://cdn.example/x"),
            ("/api/resolve-cache/c.json", "https://hub:1/api/resolve-cache/c.json"),
            ("/back?to=https://hub", "https://hub:1/back?to=https://hub"),
            ("d.json", "https://hub:1/a/b/resolve/main/d.json"),
        ] {
            assert_eq!(onwards(&from, to).unwrap().to_string(), expected);
        }
    }
}
