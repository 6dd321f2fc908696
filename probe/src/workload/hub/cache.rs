//! The cache's layout, as Hugging Face's own library keeps and reads it.
//!
//! ```text
//! models--org--name/snapshots/<commit>/tokenizer.json …   plain files, where the library puts links to blobs
//! models--org--name/refs/main                             the commit; written last
//! ```

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::HubError;
use crate::workload::files::{RANKS, TOKENIZER};

/// The folder's name where a hub does not say which commit it gave.
const UNNAMED: &str = "main";

/// Files that are not all there yet: beside the models, on the same file system, and gone with the value.
pub(super) struct Staging {
    cache: PathBuf,
    endpoint: String,
    folder: TempDir,
}

impl Staging {
    /// Makes a folder in the cache, and the cache where there is none.
    pub(super) fn new(cache: &Path, endpoint: &str) -> Result<Self, HubError> {
        let made = fs::create_dir_all(cache).and_then(|()| {
            let folder = tempfile::Builder::new().prefix(".exoscope-").tempdir_in(cache)?;
            // Within it, because a temporary folder is for its maker alone, and this one will be kept.
            fs::create_dir(folder.path().join("snapshot"))?;
            Ok(folder)
        });
        let unwritable =
            |source| HubError::Unwritable { endpoint: endpoint.to_owned(), path: cache.to_owned(), source };
        Ok(Self { cache: cache.to_owned(), endpoint: endpoint.to_owned(), folder: made.map_err(unwritable)? })
    }

    /// Where to put a file.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.snapshot().join(file)
    }

    /// Moves everything to where it is looked for, and gives the folder.
    pub(super) fn keep(self, model_id: &str, commit: Option<&str>) -> Result<PathBuf, HubError> {
        let commit = commit.unwrap_or(UNNAMED);
        let repository = self.cache.join(format!("models--{}", model_id.replace('/', "--")));
        let snapshot = repository.join("snapshots").join(commit);
        self.publish(&repository, &snapshot, commit).map_err(|source| HubError::Unwritable {
            endpoint: self.endpoint.clone(),
            path: repository.clone(),
            source,
        })?;
        Ok(snapshot)
    }

    fn snapshot(&self) -> PathBuf {
        self.folder.path().join("snapshot")
    }

    fn publish(&self, repository: &Path, snapshot: &Path, commit: &str) -> io::Result<()> {
        fs::create_dir_all(repository.join("snapshots"))?;
        // In one step where that commit is new; else into what others, or another of us, have of it.
        if fs::rename(self.snapshot(), snapshot).is_err() {
            fs::create_dir_all(snapshot)?;
            for file in self.files()? {
                let place = snapshot.join(&file);
                // Under a commit's name the files are the same, and Python's own links are better left alone.
                if commit == UNNAMED || !place.exists() {
                    fs::rename(self.snapshot().join(&file), place)?;
                }
            }
        }
        fs::create_dir_all(repository.join("refs"))?;
        let reference = self.folder.path().join("main");
        fs::write(&reference, commit)?;
        fs::rename(reference, repository.join("refs/main"))
    }

    /// The vocabulary last: a folder without one is never taken for a tokenizer.
    fn files(&self) -> io::Result<Vec<OsString>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(self.snapshot())? {
            files.push(entry?.file_name());
        }
        files.sort_by_key(|file| file == RANKS || file == TOKENIZER);
        Ok(files)
    }
}
