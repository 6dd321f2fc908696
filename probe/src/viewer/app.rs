//! Where the built web app is.

use std::path::{Path, PathBuf};

/// The folder that Trunk builds into, in the clone that this program was built from.
const BUILT_WITH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/dist");

/// No built app anywhere.
#[derive(Debug, thiserror::Error)]
#[error(
    "the viewer is not built: no index.html in {looked}; run `just viewer` in a clone, or name its folder with --dist"
)]
pub struct NoApp {
    /// The folders that were looked at.
    looked: String,
}

/// Finds the folder of the built app: the one given, `viewer` beside the program, or the clone's own.
/// A folder that was named is the only one looked at.
///
/// # Errors
/// None holds an `index.html`.
pub fn find(given: Option<&Path>, program: Option<&Path>) -> Result<PathBuf, NoApp> {
    let candidates = match given {
        Some(given) => vec![given.to_path_buf()],
        None => {
            let beside = program.and_then(Path::parent).map(|folder| folder.join("viewer"));
            beside.into_iter().chain([PathBuf::from(BUILT_WITH)]).collect()
        }
    };
    let found = candidates.iter().find(|folder| folder.join("index.html").is_file()).cloned();
    found.ok_or_else(|| NoApp {
        looked: candidates.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_named_is_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let error = find(Some(folder.path()), None).unwrap_err().to_string();
        assert!(error.contains(&folder.path().display().to_string()) && error.contains("just viewer"), "{error}");
        std::fs::write(folder.path().join("index.html"), "").unwrap();
        assert_eq!(find(Some(folder.path()), Some(Path::new("/elsewhere/exoscope"))).unwrap(), folder.path());
    }

    #[test]
    fn an_installed_program_has_its_viewer_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let viewer = folder.path().join("viewer");
        std::fs::create_dir(&viewer).unwrap();
        std::fs::write(viewer.join("index.html"), "").unwrap();
        assert_eq!(find(None, Some(&folder.path().join("exoscope"))).unwrap(), viewer);
    }
}
