//! The `tojson` filter of transformers: Python's `json.dumps` to the letter, since each character may be a token.

use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// How `json.dumps` was asked to write.
struct Style {
    ascii: bool,
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
    sort_keys: bool,
}

/// `tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False)`, positional or by name.
pub(super) fn to_json(value: &Value, positional: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let argument = |index: usize, name: &str| -> Result<Option<Value>, Error> {
        let given = match positional.get(index) {
            Some(value) => Some(value.clone()),
            None => named.get::<Option<Value>>(name)?,
        };
        Ok(given.filter(|value| !value.is_none() && !value.is_undefined()))
    };
    let ascii = argument(0, "ensure_ascii")?.is_some_and(|value| value.is_true());
    let indent = argument(1, "indent")?.map(|value| indent_of(&value)).transpose()?;
    let separators = argument(2, "separators")?.map(|value| separators_of(&value)).transpose()?;
    let sort_keys = argument(3, "sort_keys")?.is_some_and(|value| value.is_true());
    named.assert_all_used()?;
    // Python drops the space after the comma once lines are broken.
    let default = if indent.is_some() { (",", ": ") } else { (", ", ": ") };
    let (item_separator, key_separator) = separators.unwrap_or((default.0.to_owned(), default.1.to_owned()));

    let mut text = String::new();
    write(&mut text, value, &Style { ascii, indent, item_separator, key_separator, sort_keys }, 0)?;
    Ok(text)
}

fn indent_of(value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        // A negative indent breaks lines without indenting, as 0 does; True is 1.
        None if value.kind() == ValueKind::Bool => Ok(" ".repeat(usize::from(value.is_true()))),
        None => match value.as_i64() {
            Some(width) => Ok(" ".repeat(usize::try_from(width.clamp(0, 64)).unwrap_or(64))),
            None => Err(invalid("tojson: indent is neither a number nor a string")),
        },
    }
}

fn separators_of(value: &Value) -> Result<(String, String), Error> {
    let pair: Vec<Value> = value.try_iter()?.collect();
    match pair.as_slice() {
        [item, key] => Ok((item.to_string(), key.to_string())),
        _ => Err(invalid("tojson: separators is not a pair")),
    }
}

fn write(text: &mut String, value: &Value, style: &Style, depth: usize) -> Result<(), Error> {
    match value.kind() {
        ValueKind::None => text.push_str("null"),
        ValueKind::Bool => text.push_str(if value.is_true() { "true" } else { "false" }),
        ValueKind::Number => text.push_str(&number(value)?),
        ValueKind::String => quote(text, &value.to_string(), style.ascii),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<Value> = value.try_iter()?.collect();
            container(text, ['[', ']'], &items, style, depth, |text, item| write(text, item, style, depth + 1))?;
        }
        ValueKind::Map => {
            let mut pairs = Vec::new();
            for key in value.try_iter()? {
                let member = value.get_item(&key)?;
                pairs.push((key_text(&key)?, member));
            }
            if style.sort_keys {
                // By code point, which for UTF-8 is the order of the bytes.
                pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
            }
            container(text, ['{', '}'], &pairs, style, depth, |text, (key, member)| {
                quote(text, key, style.ascii);
                text.push_str(&style.key_separator);
                write(text, member, style, depth + 1)
            })?;
        }
        kind => return Err(invalid(format!("tojson: a value of kind {kind} is not JSON serializable"))),
    }
    Ok(())
}

fn container<Item>(
    text: &mut String,
    [open, close]: [char; 2],
    items: &[Item],
    style: &Style,
    depth: usize,
    mut write_item: impl FnMut(&mut String, &Item) -> Result<(), Error>,
) -> Result<(), Error> {
    text.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push_str(&style.item_separator);
        }
        break_line(text, style, depth + 1);
        write_item(text, item)?;
    }
    if !items.is_empty() {
        break_line(text, style, depth);
    }
    text.push(close);
    Ok(())
}

fn break_line(text: &mut String, style: &Style, depth: usize) {
    if let Some(indent) = &style.indent {
        text.push('\n');
        text.push_str(&indent.repeat(depth));
    }
}

fn key_text(key: &Value) -> Result<String, Error> {
    match key.kind() {
        ValueKind::String => Ok(key.to_string()),
        ValueKind::None => Ok("null".to_owned()),
        ValueKind::Bool => Ok(if key.is_true() { "true" } else { "false" }.to_owned()),
        ValueKind::Number => number(key),
        kind => Err(invalid(format!("tojson: a key of kind {kind} is not JSON serializable"))),
    }
}

fn number(value: &Value) -> Result<String, Error> {
    if value.is_integer() {
        return Ok(value.to_string());
    }
    f64::try_from(value.clone()).map(float)
}

/// Python's `repr` of a float: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        // Python writes at least two digits and always a sign.
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

fn quote(text: &mut String, content: &str, ascii: bool) {
    text.push('"');
    for character in content.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            // With ensure_ascii DEL stays as it is, everything above it goes, as UTF-16 units.
            _ if character < ' ' || (ascii && character > '\u{7f}') => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}

fn invalid(detail: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, detail)
}
