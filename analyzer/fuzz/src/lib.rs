//! What every target does with its bytes: read them, and where they are read, write them again and lay them over themselves.
//!
//! A target per format; each starts from the files of its own corpus, so that the search stays near its format.

/// Reads the bytes under a name.
pub fn hold(name: &str, bytes: &[u8]) {
    match analyzer::import::load(name, bytes) {
        Ok(loaded) => {
            assert_eq!(loaded.document_rows.iter().sum::<usize>(), loaded.file.runs.len());
            analyzer::record::to_json(&loaded.file).expect("what was read can be written");
            drop(analyzer::import::overlay::overlay(&loaded.file, name, bytes));
        }
        Err(error) => assert!(error.to_string().starts_with(name)),
    }
}

/// Lays the bytes over a run of one request.
pub fn lay_over(bytes: &[u8]) {
    const LOG: &[u8] = include_bytes!("../corpus/exo_log/exo_loop.log");
    let mut run = analyzer::import::load("run", LOG).expect("the corpus is read");
    if let Ok((overlay, _)) = analyzer::import::overlay::overlay(&run.file, "power", bytes) {
        run.file.overlays.push(overlay);
        analyzer::summary::report(&run).expect("what was laid over can be reported");
    }
}
