//! The closing table of a run: the same numbers as `exoscope report` prints of its file.

use analyzer::frame::FrameError;
use analyzer::import::Loaded;
use analyzer::record::ResultFile;
use analyzer::summary;

use super::render::{self, Format, Look, RenderError};

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum ClosingError {
    /// A fault of the analyzer.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A fault of the rendering.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// The table of a file that was just measured.
///
/// # Errors
/// A fault of this program; the file is written all the same.
pub fn table(name: &str, file: ResultFile) -> Result<String, ClosingError> {
    let rows = file.runs.len();
    let format = format!("exoscope {}", analyzer::record::FORMAT_VERSION);
    let loaded = Loaded { name: name.to_owned(), format, file, notices: Vec::new(), document_rows: vec![rows] };
    let report = summary::reports(std::slice::from_ref(&loaded))?;
    Ok(render::reports(&report, Format::Table, Look::of(None))?)
}
