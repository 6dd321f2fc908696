//! Makes prompts and answers unreadable at their length: every letter and digit is an `x`, spaces and marks stay, so that
//! frames, lines and lengths are as they were.

use super::edit::Edit;

/// Keys of the interfaces under which people's texts and models' answers stand.
const TEXTS: [&str; 19] = [
    "content",
    "text",
    "prompt",
    "system",
    "input",
    "thinking",
    "reasoning",
    "reasoning_content",
    "response",
    "output_text",
    "refusal",
    "arguments",
    "token",
    "suffix",
    "instructions",
    "query",
    "output",
    "delta",
    "images",
];

/// Keys of lists that are a text in numbers: bytes of tokens, ids of tokens.
const NUMBERS: [&str; 5] = ["bytes", "context", "token_ids", "tokens", "input_ids"];

/// Whether a string under this key is a text; `within`: the key of the object it stands in.
pub(super) fn is_text(key: Option<&str>, within: Option<&str>) -> bool {
    key.is_some_and(|key| TEXTS.contains(&key)) || within == Some("arguments")
}

/// Whether the numbers of a list under this key are a text.
pub(super) fn is_numbers(key: Option<&str>) -> bool {
    key.is_some_and(|key| NUMBERS.contains(&key))
}

/// Whether the numbers of a list under this key are a text in any file: elsewhere "tokens" and "bytes" are counts.
pub(super) fn is_ids(key: Option<&str>) -> bool {
    key.is_some_and(|key| key.ends_with("token_ids") || key.ends_with("input_ids"))
}

/// Words of streams of events and of JSON outside its strings.
const WORDS: [&str; 10] = ["true", "false", "null", "data", "event", "id", "retry", "DONE", "e", "E"];

/// Masks what stands outside of strings: an answer that is no JSON is a text of somebody. The first word of a comment and the
/// name of an event are the interface's own.
pub(super) fn gap(edit: &mut Edit, raw: &str) {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut rest = raw;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| is_letter(letter) != is_letter(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let before = raw[..raw.len() - rest.len()].trim_end_matches(' ');
        let line = before.rsplit('\n').next().unwrap_or(before);
        let is_own = matches!(line, ":" | "event:") && word.is_ascii();
        if !is_letter(first) || is_own || WORDS.contains(&word) || is_number(word) {
            edit.keep(word);
        } else {
            edit.replace(
                word.len(),
                &word.chars().map(|letter| if letter == '_' { '_' } else { 'x' }).collect::<String>(),
            );
        }
        rest = after;
    }
}

fn is_number(word: &str) -> bool {
    word.trim_matches(['e', 'E']).split(['e', 'E']).all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Masks a string of JSON, quotes included, escapes as escapes.
pub(super) fn literal(edit: &mut Edit, raw: &str) {
    let mut rest = raw;
    while let Some(first) = rest.chars().next() {
        let length = match (first, rest.as_bytes().get(1)) {
            ('\\', Some(b'u')) if rest.is_char_boundary(6.min(rest.len())) => 6.min(rest.len()),
            ('\\', Some(second)) if second.is_ascii() => 2,
            _ => first.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        match (first, length) {
            ('\\', 6) => edit.replace(6, escape(piece)),
            ('\\', 2) => edit.keep(piece),
            // An escape that was cut off: the marker stays, what it would have said does not.
            ('\\', _) => edit.replace(length, &piece.replace(|c: char| c.is_ascii_hexdigit(), "0")),
            _ if hides(first) => edit.replace(length, "x"),
            _ => edit.keep(piece),
        }
        rest = after;
    }
}

fn escape(piece: &str) -> &str {
    let code = u32::from_str_radix(&piece[2..], 16).ok();
    // Halves of a pair are no characters, and hide something.
    if code.and_then(char::from_u32).is_some_and(|c| !hides(c)) { piece } else { "\\u0078" }
}

fn hides(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii()
}

/// Masks numbers: each digit is a 1, so that they stay numbers of their length.
pub(super) fn numbers(edit: &mut Edit, raw: &str) {
    edit.replace(raw.len(), &raw.replace(|c: char| c.is_ascii_digit(), "1"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_and_lengths_stay() {
        for (raw, masked) in [
            (r#""My dog, 7!\n""#, r#""xx xxx, x!\n""#),
            (r#""\u00e9\u0020\ud83d\ude00""#, r#""\u0078\u0020\u0078\u0078""#),
            ("\"né 犬\"", "\"xx x\""),
            ("\"cut \\u00", "\"xxx \\u00"),
        ] {
            let mut edit = Edit::default();
            literal(&mut edit, raw);
            assert_eq!(edit.text, masked);
        }
    }
}
