//! Asks a served viewer for what a browser will ask for, so that a script knows that it works.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::server::Site;
use crate::capture::clock::Clock;
use crate::capture::exchange::End;
use crate::capture::interrupt::Interrupt;
use crate::capture::transport::{Outgoing, TransportError, Verb, prepare};
use crate::plan::Address;

/// The server is this process: what it has not begun to answer after so long, it never will.
const IDLE: Duration = Duration::from_secs(10);

/// The first bytes of every WebAssembly module.
const WEBASSEMBLY: &[u8] = b"\0asm";

/// What a browser would not have got.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// No answer, or not a whole one.
    #[error("the viewer does not give {target}: {reason}")]
    Answer {
        /// What was asked for.
        target: String,
        /// Why it did not come.
        reason: String,
    },
    /// An answer that is something else.
    #[error("the viewer's {target} is not {wanted}; build it again with `just viewer`")]
    Content {
        /// What was asked for.
        target: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// The app's folder holds no WebAssembly, or cannot be looked into.
    #[error("the viewer in {folder} is not whole: {reason}; build it again with `just viewer`")]
    App {
        /// The folder.
        folder: String,
        /// Why.
        reason: String,
    },
}

/// Asks for the page, for each WebAssembly module of the app, and for the preloaded files.
///
/// # Errors
/// [`CheckError`] names the first of them that does not come as it should.
pub async fn check(address: &Address, site: &Site) -> Result<(), CheckError> {
    require(address, "/", "a page", |bytes| !bytes.is_empty()).await?;
    let unusable = |reason: String| CheckError::App { folder: site.app.display().to_string(), reason };
    let modules = modules(&site.app).map_err(|error| unusable(error.to_string()))?;
    if modules.is_empty() {
        return Err(unusable("there is no WebAssembly in it".to_owned()));
    }
    for module in modules {
        require(address, &format!("/{module}"), "WebAssembly", |bytes| bytes.starts_with(WEBASSEMBLY)).await?;
    }
    require(address, "/preloaded.json", "the list of files", |bytes| site.list().as_bytes() == bytes).await?;
    for (number, file) in site.preloaded.iter().enumerate() {
        require(address, &format!("/files/{number}"), "the file that was named", |bytes| file.bytes == bytes).await?;
    }
    Ok(())
}

/// The names of the app's WebAssembly modules, in order. Trunk puts them all beside `index.html`.
fn modules(app: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(app)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "wasm") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

async fn require(
    address: &Address,
    target: &str,
    wanted: &'static str,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Result<(), CheckError> {
    let refused = |reason: String| CheckError::Answer { target: target.to_owned(), reason };
    let outgoing = Outgoing { verb: Verb::Get, target: target.to_owned(), body: None, stream: false };
    // Its own words speak of a cluster.
    let ready = prepare(address, outgoing).await.map_err(|error| match error {
        TransportError::Lost => refused(TransportError::Lost.to_string()),
        TransportError::Connect { reason, .. } | TransportError::Target { reason, .. } => refused(reason),
    })?;
    let answer = ready.exchange(&Clock::start(), IDLE, &Interrupt::default(), None).await;
    match (&answer.end, answer.status) {
        (End::Whole, Some(200)) if is_wanted(&answer.body()) => Ok(()),
        (End::Whole, Some(200)) => Err(CheckError::Content { target: target.to_owned(), wanted }),
        (End::Whole, Some(status)) => Err(refused(format!("HTTP {status}"))),
        (End::Broken(words), _) => Err(refused(words.clone())),
        (End::Silent(_) | End::Interrupted | End::Whole, _) => {
            Err(refused(format!("no answer within {} s", IDLE.as_secs())))
        }
    }
}
