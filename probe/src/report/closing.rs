//! The closing table of a run: the same numbers as `exoscope report` prints of its file, the first ones only.

use analyzer::frame::FrameError;
use analyzer::import::Loaded;
use analyzer::record::ResultFile;
use analyzer::summary;

use super::render::{self, Look};

/// The table of a file that was just measured.
///
/// # Errors
/// A fault of the analyzer; the file is written all the same.
pub fn table(name: &str, file: ResultFile) -> Result<String, FrameError> {
    let rows = file.runs.len();
    let format = format!("exoscope {}", analyzer::record::FORMAT_VERSION);
    let loaded = Loaded {
        name: name.to_owned(),
        format,
        file,
        notices: Vec::new(),
        document_rows: vec![rows],
        reason: "just written".to_owned(),
        class: analyzer::record::Comparability::Endpoint,
    };
    Ok(render::closing(&summary::report(&loaded)?, Look::of(None)))
}
