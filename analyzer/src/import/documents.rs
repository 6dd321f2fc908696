//! Text → JSON documents, with the keys that stand twice in one object.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::ImportError;

const CUT_OFF: &str = "the file ends in the middle: it was cut off while it was written or copied";
const NO_RESULT: &str = "a result file starts with { or [";
const COMMENT: &str = "JSON has no comments and no comma behind the last entry: take what the tool itself wrote";
const BROKEN: &str = "look at that place: something was changed or left out there";
const HALF_A_PAIR: &str =
    "a \\ud800 to \\udfff there is half of a character whose other half is missing; put both, or \\ufffd";
const TOO_DEEP: &str = "no result file is nested that deeply";

/// The documents of a text, and each key that stood twice in an object with how often.
pub(super) struct Documents {
    pub(super) values: Vec<Value>,
    pub(super) repeated: BTreeMap<String, usize>,
}

/// Reads all documents of a text. exo's nightly script appends one run after the other to the same file, with nothing
/// between them; JSON Lines are the same with line ends.
pub(super) fn read(name: &str, text: &str) -> Result<Documents, ImportError> {
    let mut documents = Documents { values: Vec::new(), repeated: BTreeMap::new() };
    for (place, tree) in serde_json::Deserializer::from_str(text).into_iter::<Tree>().enumerate() {
        let tree = tree.map_err(|error| not_json(name, text, place, &error))?;
        documents.values.push(tree.value);
        for (key, count) in tree.repeated {
            *documents.repeated.entry(key).or_default() += count;
        }
    }
    Ok(documents)
}

/// Whether it breaks off for its depth: such a text is nothing else either, and need not be looked at again.
pub(super) fn is_too_deep(error: &ImportError) -> bool {
    matches!(error, ImportError::NotJson { hint, .. } if *hint == TOO_DEEP)
}

fn not_json(name: &str, text: &str, place: usize, error: &serde_json::Error) -> ImportError {
    let (line, column) = (error.line(), error.column());
    let words = error.to_string();
    // serde_json appends the place, which the sentence names already.
    let reason = words.split(" at line ").next().unwrap_or(&words).to_owned();
    let hint = if error.is_eof() {
        CUT_OFF
    } else if reason.contains("recursion limit") {
        TOO_DEEP
    } else if has_comment(text, line) {
        COMMENT
    } else if reason.contains("surrogate") || reason.contains("end of hex escape") {
        HALF_A_PAIR
    } else if place == 0 && line == 1 && column <= 2 {
        NO_RESULT
    } else {
        BROKEN
    };
    ImportError::NotJson { name: name.into(), line, column, reason, hint }
}

/// Whether the line, or the one before it, has a comment as the documentation of tools writes it.
fn has_comment(text: &str, line: usize) -> bool {
    let lines = text.lines().skip(line.saturating_sub(2)).take(2);
    lines.into_iter().any(|line| line.trim_start().starts_with("//") || line.contains(" // ") || line.contains("/*"))
}

/// A value that remembers the keys that stood twice. `serde_json` keeps the last of them and says nothing.
struct Tree {
    value: Value,
    /// Empty, and so without memory of its own, in all but broken files.
    repeated: BTreeMap<String, usize>,
}

impl Tree {
    const fn of(value: Value) -> Self {
        Self { value, repeated: BTreeMap::new() }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Grow)
    }
}

struct Grow;

fn note(into: &mut BTreeMap<String, usize>, key: String, count: usize) {
    *into.entry(key).or_default() += count;
}

fn take(into: &mut BTreeMap<String, usize>, tree: Tree) -> Value {
    for (key, count) in tree.repeated {
        note(into, key, count);
    }
    tree.value
}

impl<'de> Visitor<'de> for Grow {
    type Value = Tree;

    fn expecting(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        words.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::of(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::of(Value::Bool(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::of(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::of(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::of(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::of(Value::String(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::of(Value::String(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let (mut list, mut repeated) = (Vec::new(), BTreeMap::new());
        while let Some(entry) = entries.next_element::<Tree>()? {
            list.push(take(&mut repeated, entry));
        }
        Ok(Tree { value: Value::Array(list), repeated })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let (mut map, mut repeated) = (Map::new(), BTreeMap::new());
        while let Some((key, entry)) = entries.next_entry::<String, Tree>()? {
            let value = take(&mut repeated, entry);
            if map.contains_key(&key) {
                note(&mut repeated, key.clone(), 1);
            }
            map.insert(key, value);
        }
        Ok(Tree { value: Value::Object(map), repeated })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_what_serde_json_makes_of_it() {
        let text = r#"{"a": [1, -2, 3.5, 1e300, 18446744073709551615, true, null, "é"], "b": {"c": {}}} [1]"#;
        let expected: Vec<Value> =
            serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap();
        let found = read("x", text).unwrap();
        assert_eq!(found.values, expected);
        assert!(found.repeated.is_empty());
    }

    #[test]
    fn a_key_that_stands_twice_is_told() {
        let found = read("x", r#"[{"a": 1, "b": {"a": 1, "a": 2}, "a": 3}]"#).unwrap();
        assert_eq!(found.values[0][0]["a"], 3, "the last one counts, as in Python");
        assert_eq!(found.repeated, BTreeMap::from([("a".to_owned(), 2)]));
    }
}
