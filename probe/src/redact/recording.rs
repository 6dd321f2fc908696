//! A recording without names and texts: the same requests, frames, lengths of text and times.

use std::borrow::Cow;

use serde_json::Value;

use super::edit::Edit;
use super::harmless::is_harmless;
use super::learn::{Learner, is_identity};
use super::literals::{Part, decoded, parts};
use super::names::Names;
use super::secrets::{GONE, query, scrubbed};
use super::{RedactError, Redacted, mask};
use crate::capture::recording::recorded::{Header, Recorded};
use crate::replay::Unpacked;

/// Whether the first line is one of a recording.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let value: Option<Value> = first.and_then(|line| serde_json::from_slice(line).ok());
    value.is_some_and(|value| value.get("exoscope_recording").is_some() || value.get("seq").is_some())
}

/// Redacts the lines of a recording that has been read without an error; a line that was cut off is left out.
pub(super) fn redact(unpacked: &Unpacked) -> Result<Redacted, RedactError> {
    let (mut headers, mut lines, mut lost) = (Vec::new(), Vec::new(), 0);
    for line in unpacked.bytes.split(|byte| *byte == b'\n') {
        if let Ok(header) = serde_json::from_slice::<Header>(line) {
            headers.push(header);
        } else if let Ok(recorded) = serde_json::from_slice::<Recorded>(line) {
            lines.push(recorded);
        } else if !line.trim_ascii().is_empty() {
            lost += 1;
        }
    }
    let mut learner = Learner::default();
    for line in &lines {
        learn(&mut learner, line)?;
    }
    let names = learner.names();
    let mut masked = 0;
    let mut bytes = Vec::new();
    for header in headers {
        serde_json::to_writer(&mut bytes, &header)?;
        bytes.push(b'\n');
    }
    for line in lines {
        serde_json::to_writer(&mut bytes, &rewritten(&names, line, &mut masked)?)?;
        bytes.push(b'\n');
    }
    let mut counts = names.counts();
    if masked > 0 {
        counts.insert("texts of prompts and answers", masked);
    }
    let mut notes = Vec::new();
    if unpacked.torn {
        notes.push("the packed file ends in the middle: what came behind its end is not there".to_owned());
    }
    if lost > 0 {
        let lines = analyzer::units::count(lost as u64, "line");
        notes.push(format!("{lines} cut off in the middle, left out"));
    }
    Ok(Redacted { bytes, counts, notes, lost: lost + usize::from(unpacked.torn && lost == 0) })
}

/// The last word of a path: `/state/nodeMemory` answers with what `/state` has under that key.
fn root(target: &str) -> Option<&str> {
    target.split('?').next()?.strip_prefix("/state/")
}

/// A body as text; bytes that are none become letters, which the mask hides, at their length.
fn text(body: Cow<'_, [u8]>) -> String {
    let mut bytes = body.into_owned();
    while let Err(error) = std::str::from_utf8(&bytes) {
        let from = error.valid_up_to();
        let to = error.error_len().map_or(bytes.len(), |length| from + length);
        bytes[from..to].fill(b'x');
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn learn(learner: &mut Learner, line: &Recorded) -> Result<(), RedactError> {
    learner.looks(&line.target);
    for (name, value) in line.req_headers.iter().chain(&line.resp_headers) {
        if name.eq_ignore_ascii_case("host") {
            learner.host(value);
        }
        learner.looks(value);
    }
    learner.text(&unmasked(&text(line.asked()?)), None);
    learner.text(&unmasked(&text(line.answered()?)), root(&line.target));
    Ok(())
}

/// A text without those of people and models: what they say is no name to learn.
fn unmasked(text: &str) -> String {
    rewrite(&Names::default(), text, None, &mut 0).text
}

fn rewrite(names: &Names, text: &str, root: Option<&str>, masked: &mut usize) -> Edit {
    let mut edit = Edit::default();
    for (part, raw) in parts(text, root) {
        match &part {
            Part::Value { key, within } if mask::is_text(key.as_deref(), within.as_deref()) => {
                *masked += usize::from(raw.len() > 2);
                mask::literal(&mut edit, raw);
            }
            Part::Gap { key } if mask::is_numbers(key.as_deref()) => mask::numbers(&mut edit, raw),
            Part::Gap { .. } => mask::gap(&mut edit, raw),
            Part::Value { key, within } if !may_stay(names, key.as_deref(), within.as_deref(), &decoded(raw)) => {
                *masked += usize::from(raw.len() > 2);
                mask::literal(&mut edit, raw);
            }
            part => {
                let mut kept = Edit::default();
                let new = scrubbed(&decoded(raw)).map(|new| Value::String(new).to_string());
                names.rewrite(&mut kept, part, new.as_deref().unwrap_or(raw));
                edit.replace(raw.len(), &kept.text);
            }
        }
    }
    edit
}

/// Whether a string stays, names apart: an unknown key may hold anything.
fn may_stay(names: &Names, key: Option<&str>, within: Option<&str>, text: &str) -> bool {
    // Lists of models, as the servers give them.
    let is_model = key == Some("name") && matches!(within, Some("data" | "models"));
    is_model || is_identity(key) || is_identity(within) || is_harmless(key, within, text) || names.knows(text)
}

/// Headers that say nothing of anybody. Those of secrets and those that are not known are replaced.
const HEADERS: [&str; 18] = [
    "accept",
    "accept-encoding",
    "access-control-allow-credentials",
    "access-control-allow-origin",
    "cache-control",
    "connection",
    "content-encoding",
    "content-type",
    "date",
    "keep-alive",
    "server",
    "transfer-encoding",
    "user-agent",
    "vary",
    "x-accel-buffering",
    "x-exoscope-simulated",
    "expect",
    "te",
];

fn rewritten(names: &Names, line: Recorded, masked: &mut usize) -> Result<Recorded, RedactError> {
    let replaced = |text: &str| names.replaced(text).unwrap_or_else(|| text.to_owned());
    let asked = rewrite(names, &text(line.asked()?), None, masked);
    let answered = rewrite(names, &text(line.answered()?), root(&line.target), masked);
    let headers = |headers: &[(String, String)], length: usize| {
        let value = |name: &str, value: &str| match name {
            name if name.eq_ignore_ascii_case("content-length") => length.to_string(),
            name if name.eq_ignore_ascii_case("host") => host(names, value),
            name if HEADERS.iter().any(|one| name.eq_ignore_ascii_case(one)) => replaced(value),
            _ => GONE.to_owned(),
        };
        headers.iter().map(|(name, words)| (name.clone(), value(name, words))).collect()
    };
    let (mut old, mut new) = (0, 0);
    let chunk = |&(at, length): &(f64, usize)| {
        old += length;
        let to = answered.moved(old);
        let length = to - new;
        new = to;
        (at, length)
    };
    let mut redacted = Recorded {
        target: replaced(&asked_for(&line.target)),
        req_headers: headers(&line.req_headers, asked.text.len()),
        resp_headers: headers(&line.resp_headers, answered.text.len()),
        resp_chunks: line.resp_chunks.iter().map(chunk).collect(),
        req_body_base64: None,
        resp_body_base64: None,
        ..line
    };
    redacted.set_asked(asked.text.into_bytes());
    redacted.set_answered(answered.text.into_bytes());
    Ok(redacted)
}

/// A target without what its query may say.
fn asked_for(target: &str) -> String {
    let (path, behind) = target.split_at(target.find('?').unwrap_or(target.len()));
    format!("{path}{}", query(behind))
}

/// The host of a request, also where its name is an ordinary word.
fn host(names: &Names, value: &str) -> String {
    let mut edit = Edit::default();
    let part = Part::Value { key: Some("host".into()), within: None };
    names.rewrite(&mut edit, &part, &Value::from(value).to_string());
    super::literals::decoded(&edit.text)
}
