//! Every input that fuzzing found to take another way through the importers: read again, none panics, and what is read can be
//! reported and written. `just fuzz` finds more and packs them.

use std::io::Read as _;
use std::path::Path;

use analyzer::import::load;

/// The inputs that were found near a format: `fuzz/corpus/FORMAT.tar.gz`.
#[allow(clippy::disallowed_methods)]
fn found() -> Vec<(String, Vec<Vec<u8>>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let packed = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    packed
        .filter(|path| path.extension().is_some_and(|ending| ending == "gz"))
        .map(|path| {
            let unpacked = flate2::read::GzDecoder::new(std::fs::File::open(&path).unwrap());
            let mut archive = tar::Archive::new(unpacked);
            let inputs = archive.entries().unwrap().map(|entry| {
                let mut bytes = Vec::new();
                entry.unwrap().read_to_end(&mut bytes).unwrap();
                bytes
            });
            (path.file_name().unwrap().to_string_lossy().into_owned(), inputs.collect())
        })
        .collect()
}

#[test]
#[allow(clippy::disallowed_methods)]
fn nothing_that_fuzzing_found_panics() {
    let all = found();
    let targets = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets")).unwrap().count();
    assert_eq!(all.len(), targets, "each target has what was found for it");
    for (name, inputs) in all {
        assert!(inputs.len() > 100, "{name} holds {}", inputs.len());
        for bytes in inputs {
            if let Ok(loaded) = load("found", &bytes) {
                analyzer::summary::report(&loaded).unwrap();
                analyzer::record::to_json(&loaded.file).unwrap();
            }
        }
    }
}
