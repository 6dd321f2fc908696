//! The folder of real tokenizers that `tests/setup/real-tokenizers` fills.

use std::env;
use std::path::PathBuf;

/// The tokenizer folder of a model (`qwen3`, `llama3_2`, `gemma3`, `deepseek_v3`), or the sentence that says how to get
/// it: a test fails with it rather than pass without having tested.
pub fn folder(model: &str) -> Result<PathBuf, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("EXOSCOPE_CACHE").or_else(|| {
        let root = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        root.map(|root| root.join("exoscope"))
    });
    let folder = cache.ok_or("HOME is not set, so there is no cache to look for real tokenizers in")?;
    let folder = folder.join("tokenizers").join(model);
    if folder.join("tokenizer.json").is_file() {
        Ok(folder)
    } else {
        Err(format!("{} has no tokenizer.json; run tests/setup/real-tokenizers, which fetches it", folder.display()))
    }
}
