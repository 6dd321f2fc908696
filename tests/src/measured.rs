//! `exoscope bench` as a process, held against a simulated cluster.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A simulated cluster that loads a model in no time, and a folder for what a bench writes.
pub struct Bench {
    /// The cluster.
    pub cluster: probe::simulate::Running,
    /// The folder; gone with the value.
    pub folder: tempfile::TempDir,
}

impl Bench {
    /// Starts a cluster with these settings.
    ///
    /// # Errors
    /// When no port or folder can be had.
    pub fn new(settings: probe::simulate::Settings) -> std::io::Result<Self> {
        Ok(Self { cluster: probe::simulate::start(settings)?, folder: tempfile::tempdir()? })
    }

    /// Where the result file of [`Self::command`] stands.
    #[must_use]
    pub fn results(&self) -> PathBuf {
        self.folder.path().join("results.json")
    }

    /// Where its journal stands while it runs.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.folder.path().join("results.json.journal")
    }

    /// A bench against the cluster, without pauses and without progress.
    ///
    /// # Errors
    /// When the program is not built.
    pub fn command(&self, arguments: &str) -> Result<Command, String> {
        let mut command = bench_at(self.cluster.address)?;
        command.args(arguments.split_whitespace()).arg("--json-out").arg(self.results());
        Ok(command)
    }

    /// The ids of the instances that the cluster has now.
    ///
    /// # Errors
    /// When the cluster does not answer as it should.
    pub fn instances(&self) -> Result<Vec<String>, String> {
        let state = get(self.cluster.address, "/state")?;
        let instances = state["instances"].as_object().ok_or("/state has no instances")?;
        Ok(instances.keys().cloned().collect())
    }
}

/// A bench against an address, with the tiny tokenizer.
///
/// # Errors
/// When the program is not built.
pub fn bench_at(address: SocketAddr) -> Result<Command, String> {
    let mut command = Command::new(crate::exoscope()?);
    command
        .args(["bench", "--host", &address.ip().to_string(), "--port", &address.port().to_string()])
        .args(["--pause", "all=0", "--progress", "off", "--tokenizer"])
        .arg(crate::fixture("tokenizers/tiny"))
        // Else the machine of whoever runs the tests decides.
        .env_remove("EXO_HOST")
        .env_remove("EXO_PORT");
    Ok(command)
}

/// Reads a JSON file.
///
/// # Errors
/// When it is not there or not JSON.
pub fn read_json(path: &Path) -> Result<Value, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// `GET` a JSON body.
///
/// # Errors
/// When the server does not answer with JSON.
pub fn get(address: SocketAddr, target: &str) -> Result<Value, String> {
    request(address, "GET", target, "")
}

/// Sends one request and reads the JSON of the answer, whatever its status.
///
/// # Errors
/// When the server does not answer with JSON.
pub fn request(address: SocketAddr, method: &str, target: &str, body: &str) -> Result<Value, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(crate::client::send(address, method, target, body))?.json()
}

/// How late this machine wakes a thread up, watched beside a test that holds times against each other: a busy machine wakes
/// everybody late.
#[derive(Debug)]
pub struct Lateness {
    worst: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

impl Lateness {
    /// Watches until the value goes.
    #[must_use]
    pub fn watch() -> Self {
        let lateness = Self { worst: Arc::default(), over: Arc::default() };
        let (worst, over) = (lateness.worst.clone(), lateness.over.clone());
        std::thread::spawn(move || {
            let step = Duration::from_millis(2);
            while !over.load(Ordering::Relaxed) {
                let before = Instant::now();
                std::thread::sleep(step);
                let late = before.elapsed().saturating_sub(step).as_nanos();
                worst.fetch_max(u64::try_from(late).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        });
        lateness
    }

    /// The latest that a thread was woken so far.
    #[must_use]
    pub fn worst(&self) -> Duration {
        Duration::from_nanos(self.worst.load(Ordering::Relaxed))
    }
}

impl Drop for Lateness {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
