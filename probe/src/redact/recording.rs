//! A recording without names and texts: the same requests, frames, lengths of text and times.

use std::borrow::Cow;

use serde_json::Value;

use super::edit::Edit;
use super::learn::Learner;
use super::literals::{Part, parts};
use super::names::Names;
use super::{RedactError, Redacted, mask};
use crate::capture::recording::recorded::{Header, Recorded};

/// Whether the first line is one of a recording.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let value: Option<Value> = first.and_then(|line| serde_json::from_slice(line).ok());
    value.is_some_and(|value| value.get("exoscope_recording").is_some() || value.get("seq").is_some())
}

/// Redacts the lines of a recording that has been read without an error; a line that was cut off is left out.
pub(super) fn redact(bytes: &[u8]) -> Result<Redacted, RedactError> {
    let (mut headers, mut lines) = (Vec::new(), Vec::new());
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(header) = serde_json::from_slice::<Header>(line) {
            headers.push(header);
        } else if let Ok(recorded) = serde_json::from_slice::<Recorded>(line) {
            lines.push(recorded);
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
    Ok(Redacted { bytes, counts })
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
            part => names.rewrite(&mut edit, part, raw),
        }
    }
    edit
}

fn rewritten(names: &Names, line: Recorded, masked: &mut usize) -> Result<Recorded, RedactError> {
    let replaced = |text: &str| names.replaced(text).unwrap_or_else(|| text.to_owned());
    let asked = rewrite(names, &text(line.asked()?), None, masked);
    let answered = rewrite(names, &text(line.answered()?), root(&line.target), masked);
    let headers = |headers: &[(String, String)], length: usize| {
        let value = |name: &str, value: &str| match name {
            name if name.eq_ignore_ascii_case("content-length") => length.to_string(),
            // Secrets, and none of the timing.
            name if ["authorization", "cookie", "set-cookie", "x-api-key"]
                .iter()
                .any(|one| name.eq_ignore_ascii_case(one)) =>
            {
                "redacted".to_owned()
            }
            name if name.eq_ignore_ascii_case("host") => host(names, value),
            _ => replaced(value),
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
        target: replaced(&line.target),
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

/// The host of a request, also where its name is an ordinary word.
fn host(names: &Names, value: &str) -> String {
    let mut edit = Edit::default();
    let part = Part::Value { key: Some("host".into()), within: None };
    names.rewrite(&mut edit, &part, &Value::from(value).to_string());
    super::literals::decoded(&edit.text)
}
