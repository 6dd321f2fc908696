//! The Hugging Face hub: fetches the small files of a tokenizer into the cache that Python keeps, too.
//!
//! [`request`] gets one file, [`cache`] puts a whole set where Hugging Face's own library looks for it. The variables are
//! those that it reads (HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, …), with the meanings they have there.

mod cache;
mod request;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::cache::Staging;
use self::request::Hub;
pub(super) use self::request::is_commit;
use super::files::{CONFIGURATION, RANKS, SENTENCEPIECE, SPECIAL_TOKENS, TEMPLATE, TOKENIZER};
use super::locate::{self, Found, LocateError, locate};

/// The hub that is asked where HF_ENDPOINT names no other.
const HUB: &str = "https://huggingface.co";
/// What is fetched of a model, as far as it has it. `config.json` is not read here; Python wants it beside the others.
const FILES: [&str; 6] = ["config.json", CONFIGURATION, SPECIAL_TOKENS, TEMPLATE, RANKS, TOKENIZER];
/// Variables that forbid the network, by what Hugging Face's libraries take for true.
const OFFLINE: [&str; 2] = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"];

/// Why a tokenizer was not fetched; each goes on the sentence "no tokenizer of … on this machine, and …".
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// A variable forbids it.
    #[error("none was fetched from the hub because {variable} is set")]
    Offline {
        /// Its name.
        variable: &'static str,
    },
    /// There is no place for what would be fetched.
    #[error("none was fetched from the hub because neither HF_HOME nor HOME says where to keep it")]
    NoCache,
    /// The id is none that a hub can know.
    #[error("none was fetched because a hub has no such ids")]
    NotAnId,
    /// The model wants a token, or another one; the hub says so of models that do not exist, too.
    #[error(
        "{endpoint} answered {status} to {file}: the model is gated, private or not there; set HF_TOKEN to a token that \
         may read it, and accept its licence at {endpoint}/{model_id}"
    )]
    Denied {
        /// The hub.
        endpoint: String,
        /// The id.
        model_id: String,
        /// The file that was asked for.
        file: String,
        /// 401 or 403.
        status: u16,
    },
    /// The hub knows the model's name not, or nothing in it that would be a vocabulary.
    #[error("{endpoint} has no {missing} (404)")]
    Missing {
        /// The hub.
        endpoint: String,
        /// What it has not.
        missing: String,
    },
    /// Any other answer.
    #[error("{endpoint} answered {status} to {file}; try again later")]
    Status {
        /// The hub.
        endpoint: String,
        /// The file that was asked for.
        file: String,
        /// The status.
        status: u16,
    },
    /// No answer.
    #[error("{endpoint} did not answer: {reason}")]
    Unreachable {
        /// The hub.
        endpoint: String,
        /// The library's reason.
        reason: String,
    },
    /// An answer that ended too early, or was stopped.
    #[error("the download of {file} from {endpoint} broke off: {reason}; nothing of it was kept")]
    CutOff {
        /// The hub.
        endpoint: String,
        /// The file.
        file: String,
        /// What happened.
        reason: String,
    },
    /// What came cannot be kept.
    #[error("what {endpoint} sent cannot be kept in {}: {source}", path.display())]
    Unwritable {
        /// The hub.
        endpoint: String,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Why there is no tokenizer, neither here nor on the hub.
#[derive(Debug, thiserror::Error)]
pub enum ObtainError {
    /// Looking for it already failed in a way that the hub does not help.
    #[error(transparent)]
    Locate(LocateError),
    /// It is not on this machine, and was not fetched.
    #[error(
        "no tokenizer of {model_id} on this machine (looked in {searched}), and {reason}; fetch it with: hf download \
         {model_id} --include \"*.json\" \"*.jinja\" \"tiktoken.model\" \"tokenizer.model\", or give its folder with \
         --tokenizer DIR"
    )]
    NotFetched {
        /// The id.
        model_id: String,
        /// The folders, separated by commas.
        searched: String,
        /// Why it was not fetched.
        reason: Box<HubError>,
    },
}

/// Finds the tokenizer of a model on this machine, as [`locate`] does, and fetches it where it is not there.
pub fn obtain(
    model_id: &str,
    given: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<OsString>,
    go_on: &dyn Fn() -> bool,
) -> Result<Found, ObtainError> {
    match locate(model_id, given, environment) {
        Err(LocateError::NotFound { model_id, searched }) => fetch(&model_id, environment, go_on)
            .map_err(|reason| ObtainError::NotFetched { model_id, searched, reason: Box::new(reason) }),
        found => found.map_err(ObtainError::Locate),
    }
}

/// Fetches a model's tokenizer into the Hugging Face cache. All of it or nothing: what broke off leaves no folder that
/// somebody could take for a tokenizer. `go_on` is asked between pieces; false breaks the download off.
pub fn fetch(
    model_id: &str,
    environment: &dyn Fn(&str) -> Option<OsString>,
    go_on: &dyn Fn() -> bool,
) -> Result<Found, HubError> {
    if let Some(variable) = OFFLINE.into_iter().find(|name| is_true(environment, name)) {
        return Err(HubError::Offline { variable });
    }
    if !is_an_id(model_id) {
        return Err(HubError::NotAnId);
    }
    let cache = locate::hub_cache(environment).ok_or(HubError::NoCache)?;
    let endpoint = text(environment, "HF_ENDPOINT").unwrap_or_else(|| HUB.to_owned());
    let hub = Hub::new(endpoint.trim_end_matches('/'), model_id, token(environment), go_on);
    let staging = Staging::new(&cache, &hub.endpoint)?;

    let mut commit = None;
    let mut fetch = |file: &str| -> Result<bool, HubError> {
        let Some(answer) = hub.get(file)? else { return Ok(false) };
        match (&commit, &answer.commit) {
            (Some(before), Some(now)) if before != now => {
                let reason = "the model was changed meanwhile, try again".to_owned();
                return Err(HubError::CutOff { endpoint: hub.endpoint.clone(), file: file.to_owned(), reason });
            }
            _ => commit = commit.take().or_else(|| answer.commit.clone()),
        }
        hub.save(answer, file, &staging.path(file))?;
        Ok(true)
    };
    let mut vocabulary = false;
    for file in FILES {
        vocabulary |= fetch(file)? && [TOKENIZER, RANKS].contains(&file);
    }
    // For the sentence that says how to convert it.
    if !vocabulary && !fetch(SENTENCEPIECE)? {
        let missing = format!("{model_id}/{TOKENIZER}, {RANKS} or {SENTENCEPIECE}");
        return Err(HubError::Missing { endpoint: hub.endpoint, missing });
    }
    let folder = staging.keep(model_id, commit.as_deref())?;
    Ok(Found { folder, source: "huggingface hub".to_owned() })
}

/// Letters, digits and `._-` in one or two parts: nothing else can be an id, and nothing else shall reach a path.
fn is_an_id(model_id: &str) -> bool {
    let is_a_name = |part: &str| {
        let plain = part.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
        plain && !part.is_empty() && !part.starts_with('.') && !part.contains("--")
    };
    model_id.split('/').count() <= 2 && model_id.split('/').all(is_a_name)
}

/// The token to show, by Hugging Face's order. HF_HUB_DISABLE_IMPLICIT_TOKEN means none at all, as it does there.
fn token(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<String> {
    if is_true(environment, "HF_HUB_DISABLE_IMPLICIT_TOKEN") {
        return None;
    }
    let named = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"].into_iter().find_map(|name| text(environment, name));
    named.or_else(|| {
        let path = locate::set(environment, "HF_TOKEN_PATH").map(PathBuf::from);
        let path = path.or_else(|| locate::hub_home(environment).map(|home| home.join("token")))?;
        // Most people have no such file, and a model that needs none is fetched without it.
        let token = fs::read_to_string(locate::at_home(path, environment)).ok()?;
        Some(token.trim().to_owned()).filter(|token| !token.is_empty())
    })
}

fn text(environment: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<String> {
    let value = locate::set(environment, name)?.into_string().ok()?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn is_true(environment: &dyn Fn(&str) -> Option<OsString>, name: &str) -> bool {
    text(environment, name).is_some_and(|value| ["1", "true", "yes", "on"].contains(&value.to_lowercase().as_str()))
}
