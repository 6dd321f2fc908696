//! The strings of JSON in any text, with the keys above them: whole documents, lines, streams of events, also cut off.

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// What is no string: braces, numbers, plain words. `key` is that of the list it stands in.
    Gap { key: Option<String> },
    /// A key, in the object under `above`.
    Key { above: Option<String> },
    /// A value that is a string; `key` is its own, or that of the list it stands in. `within`: of the object above.
    Value { key: Option<String>, within: Option<String> },
}

struct Frame {
    /// The key that it stands under.
    under: Option<String>,
    list: bool,
    /// The last key read in it.
    key: Option<String>,
}

/// Cuts a text into its parts, which together are the text. Strings are with their quotes. `root` is the name of the whole.
pub(super) fn parts<'a>(text: &'a str, root: Option<&str>) -> Vec<(Part, &'a str)> {
    let mut found = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    let (mut start, mut at) = (0, 0);
    let bytes = text.as_bytes();
    let root = || root.map(str::to_owned);
    let here = |stack: &[Frame]| match stack.last() {
        Some(frame) if frame.list => frame.under.clone(),
        Some(frame) => frame.key.clone(),
        None => root(),
    };
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let in_list = stack.last().filter(|frame| frame.list).and_then(|frame| frame.under.clone());
                if start < at {
                    found.push((Part::Gap { key: in_list }, &text[start..at]));
                }
                let end = end_of(bytes, at);
                let raw = &text[at..end];
                let is_key = stack.last().is_some_and(|frame| !frame.list) && text[end..].trim_start().starts_with(':');
                if is_key {
                    found.push((Part::Key { above: stack.last().and_then(|frame| frame.under.clone()) }, raw));
                    if let Some(frame) = stack.last_mut() {
                        frame.key = Some(decoded(raw));
                    }
                } else {
                    let within = stack.last().and_then(|frame| frame.under.clone());
                    found.push((Part::Value { key: here(&stack), within }, raw));
                }
                (start, at) = (end, end);
                continue;
            }
            open @ (b'{' | b'[') => stack.push(Frame { under: here(&stack), list: open == b'[', key: None }),
            b'}' | b']' => {
                let in_list = stack.last().filter(|frame| frame.list).and_then(|frame| frame.under.clone());
                found.push((Part::Gap { key: in_list }, &text[start..at]));
                start = at;
                stack.pop();
            }
            // A new event: what the one before left open does not matter any more.
            b'\n' if text[at + 1..].starts_with("data:") || text[at + 1..].starts_with(':') => stack.clear(),
            _ => {}
        }
        at += 1;
    }
    let in_list = stack.last().filter(|frame| frame.list).and_then(|frame| frame.under.clone());
    found.push((Part::Gap { key: in_list }, &text[start..]));
    found
}

/// Behind the closing quote, or where the line or the text breaks off.
fn end_of(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\n' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    // A text that is cut within an escape, whose second half may be more than one byte.
    bytes.len()
}

/// What a string says; one that was cut off says what is there.
pub(super) fn decoded(raw: &str) -> String {
    serde_json::from_str(raw).unwrap_or_else(|_| raw.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_with_their_keys_and_all_parts_are_the_text() {
        let text = "data: {\"a\":{\"b\":[\"x\",1]},\"c\":\"y\\\"z\"}\n\ndata: {\"c\":\"cu\\";
        let found = parts(text, None);
        assert_eq!(found.iter().map(|(_, raw)| *raw).collect::<String>(), text);
        let values: Vec<_> = found
            .iter()
            .filter_map(|(part, raw)| match part {
                Part::Value { key, .. } => Some((key.as_deref().unwrap(), *raw)),
                _ => None,
            })
            .collect();
        assert_eq!(values, [("b", "\"x\""), ("c", "\"y\\\"z\""), ("c", "\"cu\\")]);
    }
}
