//! Where a model's tokenizer lies on this machine: given, among exo's own models, or in the Hugging Face cache.
//!
//! Nothing is downloaded here: see [`super::hub`]. exo's folders come before the cache because on a node they hold the very files that the
//! server itself uses.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::files;

/// A folder with a tokenizer, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The folder, to be loaded.
    pub folder: PathBuf,
    /// "--tokenizer", "exo models" or "huggingface cache".
    pub source: String,
}

/// Why no tokenizer was found.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// What `--tokenizer` names is not there.
    #[error("--tokenizer {} is not there; give the folder that holds tokenizer.json", path.display())]
    NotThere {
        /// The path that was given.
        path: PathBuf,
    },
    /// An id that cannot be a folder's name.
    #[error(
        "{model_id:?} is not a model id, so its tokenizer cannot be looked for; give its folder with --tokenizer DIR"
    )]
    NotAnId {
        /// The id.
        model_id: String,
    },
    /// No folder of the model on this machine.
    #[error(
        "no tokenizer of {model_id} on this machine (looked in {searched}); fetch it with: hf download {model_id} \
         --include \"*.json\" \"*.jinja\" \"tiktoken.model\" \"tokenizer.model\", or give its folder with --tokenizer DIR"
    )]
    NotFound {
        /// The id.
        model_id: String,
        /// The folders, separated by commas.
        searched: String,
    },
}

/// Finds the tokenizer of a model.
///
/// `given` (the value of `--tokenizer`, a folder or the `tokenizer.json` in it) always wins. `environment` looks a
/// variable up. Of several folders the first with a vocabulary that can be read is taken; one that holds it in another
/// format only when there is no such folder, so that loading it can say what to convert.
pub fn locate(
    model_id: &str,
    given: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Found, LocateError> {
    if let Some(path) = given {
        let folder = if path.is_file() { path.parent() } else { Some(path) };
        let folder = folder.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        return match folder.filter(|folder| folder.is_dir()) {
            Some(folder) => Ok(Found { folder: folder.to_owned(), source: "--tokenizer".to_owned() }),
            None => Err(LocateError::NotThere { path: path.to_owned() }),
        };
    }
    if matches!(model_id, "" | "." | "..") || model_id.contains(['\\', '\0']) {
        return Err(LocateError::NotAnId { model_id: model_id.to_owned() });
    }

    let name = model_id.replace('/', "--");
    let exo = exo_model_folders(environment).into_iter().map(|folder| (folder.join(&name), "exo models"));
    let cached = hub_cache(environment).map(|cache| (cache.join(format!("models--{name}")), "huggingface cache"));
    let candidates: Vec<(PathBuf, &str)> = exo.chain(cached).collect();
    let folders: Vec<(PathBuf, &str)> = candidates
        .iter()
        .filter_map(|(folder, source)| match *source {
            "huggingface cache" => snapshot_of(folder).map(|snapshot| (snapshot, *source)),
            _ => Some((folder.clone(), *source)),
        })
        .collect();
    let usable = folders.iter().find(|(folder, _)| files::is_usable(folder));
    match usable.or_else(|| folders.iter().find(|(folder, _)| folder.join(files::SENTENCEPIECE).is_file())) {
        Some((folder, source)) => Ok(Found { folder: folder.clone(), source: (*source).to_owned() }),
        None => {
            let searched: Vec<String> = candidates.iter().map(|(folder, _)| folder.display().to_string()).collect();
            let searched =
                if searched.is_empty() { "no folder: HOME is not set".to_owned() } else { searched.join(", ") };
            Err(LocateError::NotFound { model_id: model_id.to_owned(), searched })
        }
    }
}

/// The folders that exo keeps models in, in the order in which exo looks through them.
fn exo_model_folders(environment: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let home = environment("HOME").map(PathBuf::from);
    let listed = |name: &str| -> Vec<PathBuf> {
        let value = set(environment, name);
        value.iter().flat_map(std::env::split_paths).filter(|path| !path.as_os_str().is_empty()).collect()
    };
    let default = || {
        let home = home.as_deref();
        if let Some(exo_home) = set(environment, "EXO_HOME") {
            return home.map(|home| home.join(exo_home).join("models"));
        }
        if cfg!(target_os = "linux") {
            let data = set(environment, "XDG_DATA_HOME").map(PathBuf::from);
            return data.or_else(|| home.map(|home| home.join(".local/share"))).map(|data| data.join("exo/models"));
        }
        home.map(|home| home.join(".exo/models"))
    };
    let mut folders = listed("EXO_MODELS_READ_ONLY_DIRS");
    folders.extend(set(environment, "EXO_DEFAULT_MODELS_DIR").map(PathBuf::from).or_else(default));
    folders.extend(listed("EXO_MODELS_DIRS"));
    folders.into_iter().map(|folder| at_home(folder, environment)).collect()
}

/// The root of the Hugging Face cache, by the variables that its own library reads.
pub(super) fn hub_cache(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| set(environment, name).map(PathBuf::from);
    let cache = path("HF_HUB_CACHE").or_else(|| path("HUGGINGFACE_HUB_CACHE"));
    cache.map(|cache| at_home(cache, environment)).or_else(|| hub_home(environment).map(|home| home.join("hub")))
}

/// The folder of all that Hugging Face's libraries keep: the cache, the token.
pub(super) fn hub_home(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| set(environment, name).map(PathBuf::from);
    let home = path("HF_HOME")
        .or_else(|| path("XDG_CACHE_HOME").map(|root| root.join("huggingface")))
        .or_else(|| path("HOME").map(|home| home.join(".cache/huggingface")))?;
    Some(at_home(home, environment))
}

/// The snapshot that a cached repository's main branch points to; without such a pointer, the only one there is.
fn snapshot_of(repository: &Path) -> Option<PathBuf> {
    let snapshots = repository.join("snapshots");
    if let Ok(revision) = fs::read_to_string(repository.join("refs/main")) {
        let revision = revision.trim();
        // The pointer is a commit's name. Anything else would be a path to who knows where.
        let named = !revision.is_empty() && revision.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return named.then(|| snapshots.join(revision));
    }
    let entries: Vec<PathBuf> = fs::read_dir(snapshots).ok()?.flatten().map(|entry| entry.path()).collect();
    match entries.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// A variable that is set to something: an empty one counts as not set, as it does for exo and Hugging Face.
pub(super) fn set(environment: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<OsString> {
    environment(name).filter(|value| !value.is_empty())
}

/// `~/…` under the home folder, for values that no shell has expanded.
pub(super) fn at_home(path: PathBuf, environment: &dyn Fn(&str) -> Option<OsString>) -> PathBuf {
    match (path.strip_prefix("~"), environment("HOME")) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;

    use super::{Found, LocateError, locate};

    const ID: &str = "org/Model-4bit";

    /// A machine of its own: a home folder, and variables in which `~~` stands for it.
    fn search(home: &Path, variables: &[(&str, &str)]) -> Result<Found, LocateError> {
        let root = home.display().to_string();
        let environment = |name: &str| match name {
            "HOME" => Some(home.as_os_str().to_owned()),
            _ => {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value.replace("~~", &root)))
            }
        };
        locate(ID, None, &environment)
    }

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }

    /// Where the folder is, the variables, and whether it is found there.
    #[test]
    fn each_place_is_looked_in() {
        let linux = cfg!(target_os = "linux");
        let exo = if linux { ".local/share/exo/models" } else { ".exo/models" };
        for (place, variables, source) in [
            (exo, vec![], "exo models"),
            ("a", vec![("EXO_MODELS_READ_ONLY_DIRS", "~~/none:~~/a")], "exo models"),
            ("b", vec![("EXO_DEFAULT_MODELS_DIR", "~/b")], "exo models"),
            ("c", vec![("EXO_MODELS_DIRS", "~~/none:~~/c")], "exo models"),
            ("d/models", vec![("EXO_HOME", "d"), ("XDG_DATA_HOME", "~~/none")], "exo models"),
            (if linux { "e/exo/models" } else { exo }, vec![("XDG_DATA_HOME", "~~/e")], "exo models"),
        ] {
            let home = tempfile::tempdir().unwrap();
            let folder = home.path().join(place).join("org--Model-4bit");
            touch(&folder.join("tokenizer.json"));
            let found = search(home.path(), &variables).unwrap();
            assert_eq!(found, Found { folder, source: source.to_owned() });
        }
        for (place, variables) in [
            (".cache/huggingface/hub", vec![]),
            ("a", vec![("HF_HUB_CACHE", "~~/a"), ("HF_HOME", "~~/none")]),
            ("b/hub", vec![("HF_HOME", "~~/b"), ("HF_HUB_CACHE", "")]),
            ("c/huggingface/hub", vec![("XDG_CACHE_HOME", "~~/c")]),
        ] {
            let home = tempfile::tempdir().unwrap();
            let repository = home.path().join(place).join("models--org--Model-4bit");
            let folder = repository.join("snapshots/0f3a");
            touch(&folder.join("tokenizer.json"));
            touch(&repository.join("snapshots/older/tokenizer.json"));
            fs::create_dir_all(repository.join("refs")).unwrap();
            fs::write(repository.join("refs/main"), "0f3a\n").unwrap();
            let found = search(home.path(), &variables).unwrap();
            assert_eq!(found, Found { folder, source: "huggingface cache".to_owned() });
        }
    }

    #[test]
    fn the_files_that_the_server_itself_uses_come_before_the_cache() {
        let home = tempfile::tempdir().unwrap();
        touch(&home.path().join("exo/org--Model-4bit/tokenizer.json"));
        touch(&home.path().join(".cache/huggingface/hub/models--org--Model-4bit/snapshots/1/tokenizer.json"));
        let variables = [("EXO_MODELS_DIRS", "~~/exo")];
        assert_eq!(search(home.path(), &variables).unwrap().source, "exo models");
        // A folder with weights alone does not hide the other one.
        fs::rename(
            home.path().join("exo/org--Model-4bit/tokenizer.json"),
            home.path().join("exo/org--Model-4bit/tokenizer.model"),
        )
        .unwrap();
        assert_eq!(search(home.path(), &variables).unwrap().source, "huggingface cache");
        fs::remove_dir_all(home.path().join(".cache")).unwrap();
        assert_eq!(search(home.path(), &variables).unwrap().source, "exo models");
    }

    #[test]
    fn a_pointer_out_of_the_cache_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let repository = home.path().join(".cache/huggingface/hub/models--org--Model-4bit");
        touch(&home.path().join("secret/tokenizer.json"));
        fs::create_dir_all(repository.join("refs")).unwrap();
        fs::write(repository.join("refs/main"), "../../../../../secret").unwrap();
        assert!(search(home.path(), &[]).is_err());
    }

    #[test]
    fn nothing_found_names_every_place_and_the_command_that_helps() {
        let home = tempfile::tempdir().unwrap();
        let error = search(home.path(), &[("EXO_DEFAULT_MODELS_DIR", "/models"), ("HF_HOME", "/hf")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no tokenizer of org/Model-4bit on this machine (looked in /models/org--Model-4bit, \
             /hf/hub/models--org--Model-4bit); fetch it with: hf download org/Model-4bit --include \"*.json\" \"*.jinja\" \
             \"tiktoken.model\" \"tokenizer.model\", or give its folder with --tokenizer DIR"
        );
    }

    #[test]
    fn what_is_given_wins_as_a_folder_or_as_the_file_in_it() {
        let home = tempfile::tempdir().unwrap();
        touch(&home.path().join("given/tokenizer.json"));
        for given in ["given", "given/tokenizer.json"] {
            let found = locate(ID, Some(&home.path().join(given)), &|_| None).unwrap();
            assert_eq!(found, Found { folder: home.path().join("given"), source: "--tokenizer".to_owned() });
        }
        let error = locate(ID, Some(Path::new("/not/there")), &|_| None).unwrap_err();
        assert_eq!(error.to_string(), "--tokenizer /not/there is not there; give the folder that holds tokenizer.json");
    }

    #[test]
    fn an_id_that_leads_out_of_the_folder_is_refused() {
        for id in ["", ".", "..", "a\\b"] {
            assert!(matches!(locate(id, None, &|_| None), Err(LocateError::NotAnId { .. })), "{id}");
        }
    }
}
