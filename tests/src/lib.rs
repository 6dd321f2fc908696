//! What the workspace's tests share: where the repository, the built binary and the shared captures are.

pub mod client;
pub mod same;
pub mod shape;
pub mod trials;

pub mod measured;

use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A file of the repository's `fixtures`.
#[must_use]
pub fn fixture(path: &str) -> PathBuf {
    root().join("fixtures").join(path)
}

/// A file of the captures of real servers, which are not part of the repository; `None`, with a line on stderr that says
/// so, where they are not there. `EXOSCOPE_SHARED` names their folder; the default is `shared` beside the repository.
#[must_use]
pub fn shared(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("EXOSCOPE_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let found = folder.join(path);
    if found.exists() {
        return Some(found);
    }
    eprintln!("skipped: {} is not here; set EXOSCOPE_SHARED to the folder of the captures", found.display());
    None
}

/// The folder of real tokenizers that the set-up fetches, one folder per name.
///
/// # Errors
/// A sentence that says how to get them.
pub fn real_tokenizer(name: &str) -> Result<PathBuf, String> {
    let cache = cache().ok_or("neither EXOSCOPE_CACHE nor HOME is set")?;
    let folder = cache.join("tokenizers").join(name);
    if folder.join("tokenizer.json").exists() {
        return Ok(folder);
    }
    Err(format!("the tokenizer {} is not there; run tests/setup/real-tokenizers, which fetches it", folder.display()))
}

/// A Python that can import a module: `EXOSCOPE_PEER_PYTHON`, else that of the set-up, else the system's; `None`, with a
/// line on stderr that says how to get it, where none can.
#[must_use]
pub fn peer_python(module: &str) -> Option<PathBuf> {
    let named = std::env::var_os("EXOSCOPE_PEER_PYTHON").map(PathBuf::from);
    let set_up = cache().map(|cache| cache.join("peers/bin/python"));
    let can = |python: &PathBuf| {
        let import = std::process::Command::new(python).args(["-c", &format!("import {module}")]).output();
        import.is_ok_and(|output| output.status.success())
    };
    let found = [named, set_up, Some("python3".into())].into_iter().flatten().find(can);
    if found.is_none() {
        eprintln!("skipped: no Python here has {module}; `just setup test` makes one that does");
    }
    found
}

/// Where the set-up keeps what clones share.
fn cache() -> Option<PathBuf> {
    std::env::var_os("EXOSCOPE_CACHE").map(PathBuf::from).or_else(|| {
        let user = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        user.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
            .map(|at| at.join("exoscope"))
    })
}

/// The built program: `EXOSCOPE_BIN`, else beside the running test.
///
/// # Errors
/// A sentence that says how to build it.
pub fn exoscope() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("EXOSCOPE_BIN") {
        return Ok(PathBuf::from(named));
    }
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = test.parent().and_then(Path::parent).map(|folder| folder.join("exoscope"));
    beside
        .filter(|path| path.exists())
        .ok_or_else(|| "the program is not built; run `cargo build --workspace` or name it in EXOSCOPE_BIN".into())
}
