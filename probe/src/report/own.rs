//! Files of this program that are no result files, and what to do with them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _};

use flate2::read::MultiGzDecoder;
use serde::de::IgnoredAny;

/// Which file of this program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// The journal of a run that goes on or was cut off.
    Journal,
    /// A recording of requests and answers.
    Recording,
}

impl fmt::Display for Own {
    fn fmt(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        words.write_str(match self {
            Self::Journal => {
                "it is the journal of a run, which is no result file; `exoscope recover` makes one of it, \
                 `exoscope bench --resume` goes on with the run"
            }
            Self::Recording => {
                "it is a recording of requests and answers, which is no result file; `exoscope replay` serves it, so that a \
                 bench can measure it, and `exoscope redact` takes names out of it"
            }
        })
    }
}

/// The longest first line that is looked at: a journal's holds the whole account of a run.
const LOOKED_AT: u64 = 16 << 20;

/// What the beginning of a file says that it is; none for files of others, and for result files.
#[must_use]
pub fn kind(bytes: &[u8]) -> Option<Own> {
    let mut unpacked = Vec::new();
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let mut lines = BufReader::new(MultiGzDecoder::new(bytes).take(LOOKED_AT));
        lines.read_until(b'\n', &mut unpacked).ok()?;
    }
    let whole = if unpacked.is_empty() { bytes } else { unpacked.as_slice() };
    let line = whole.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    if line.len() as u64 > LOOKED_AT {
        return None;
    }
    // The keys alone: the values of a file that lies may take more memory than there is.
    let first: BTreeMap<String, IgnoredAny> = serde_json::from_slice(line).ok()?;
    let has = |key: &str| first.contains_key(key);
    if has("exoscope_recording") || (has("seq") && has("target")) {
        Some(Own::Recording)
    } else if has("event") && has("provenance") {
        Some(Own::Journal)
    } else {
        None
    }
}
