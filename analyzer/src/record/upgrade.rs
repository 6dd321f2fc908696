//! Reading, writing and lifting the format: one function per version step.

use serde_json::Value;

use super::{FORMAT_VERSION, ResultFile};

/// Why a document is not a result file that this build can read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Written by a later build.
    #[error(
        "format {found} is newer than this build reads ({known}); update Exoscope, or write the file again with the older probe"
    )]
    Newer {
        /// Version in the file.
        found: u64,
        /// Newest version that this build reads.
        known: u32,
    },
    /// The version is no positive whole number.
    #[error("exoscope.format_version is {found}, not a whole number from 1; the file was changed by hand or cut off")]
    BadVersion {
        /// What stands there.
        found: String,
    },
    /// A key holds something else than the format says.
    #[error(
        "{path}: {reason}; the file was changed by hand or by a tool that writes another shape, so take the original"
    )]
    Shape {
        /// Where, as a path of keys.
        path: String,
        /// What was wrong.
        reason: String,
    },
}

/// Reads one document of the shape `{"runs": […], …}`, of any version up to [`FORMAT_VERSION`], or exo's own without a
/// version.
///
/// # Errors
/// [`RecordError`] says which key is wrong, or that the file is newer than this build.
pub fn parse(document: Value) -> Result<ResultFile, RecordError> {
    if let Some(found) = document.get("exoscope").and_then(|exoscope| exoscope.get("format_version")) {
        match found.as_u64() {
            Some(version) if version > u64::from(FORMAT_VERSION) => {
                return Err(RecordError::Newer { found: version, known: FORMAT_VERSION });
            }
            Some(1..) => {}
            _ => return Err(RecordError::BadVersion { found: found.to_string() }),
        }
    }
    // Version 1 is the first; a later one lifts the document here, one step after the other.
    let mut document = document;
    let runs = rows(&mut document)?;
    let file: ResultFile = serde_json::from_value(document)
        .map_err(|error| RecordError::Shape { path: "the document".into(), reason: error.to_string() })?;
    Ok(ResultFile { runs, ..file })
}

/// Takes the rows out one by one, so that a wrong one is named by its place.
fn rows(document: &mut Value) -> Result<Vec<super::Run>, RecordError> {
    let foreign = document.get("source").is_some();
    let Some(runs) = document.get_mut("runs") else {
        return Err(RecordError::Shape { path: "the document".into(), reason: "there is no \"runs\"".into() });
    };
    let Some(runs) = runs.as_array_mut() else {
        return Err(RecordError::Shape { path: "runs".into(), reason: "is not a list".into() });
    };
    let read = |(place, row): (usize, Value)| {
        let shape = |reason: String| RecordError::Shape { path: format!("runs[{place}]"), reason };
        // exo always writes it; only what other tools measured can be without.
        if !foreign && row.is_object() && row.get("elapsed_s").is_none_or(Value::is_null) {
            return Err(shape("missing field `elapsed_s`".to_owned()));
        }
        serde_json::from_value(row).map_err(|error| shape(error.to_string()))
    };
    std::mem::take(runs).into_iter().enumerate().map(read).collect()
}

/// Writes a file as exo does: two spaces, UTF-8 as it is, no newline at the end.
///
/// # Errors
/// Only when a number is not finite, which no observation is.
pub fn to_json(file: &ResultFile) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(file)
}

/// The JSON Schema of the format, generated from these types.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(ResultFile).to_value()
}
