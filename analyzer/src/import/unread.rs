//! What stands in a file where a number should, and is none: it is left out, and told.

use std::collections::BTreeMap;

use serde_json::Value;

use super::foreign::{number, whole};

/// The names of what was left out, each with how often and the first of it.
#[derive(Debug, Default)]
pub(super) struct Unread(BTreeMap<String, (usize, String)>);

impl Unread {
    /// Notes what stands under a name.
    pub(super) fn note(&mut self, name: &str, what: &str) {
        let words = || what.chars().take(40).collect();
        self.0.entry(name.to_owned()).or_insert_with(|| (0, words())).0 += 1;
    }

    /// Notes each of these keys that holds something else than a finite number. Null and an empty text are absent.
    pub(super) fn numbers(&mut self, row: &Value, keys: &[&str]) {
        self.those(row, keys, |key| number(row, key).is_none());
    }

    /// The same of counts, which are whole and from 0.
    pub(super) fn counts(&mut self, row: &Value, keys: &[&str]) {
        self.those(row, keys, |key| whole(row, key).is_none());
    }

    fn those(&mut self, row: &Value, keys: &[&str], is_unread: impl Fn(&str) -> bool) {
        for key in keys {
            let words = match row.get(*key) {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) if text.trim().is_empty() => continue,
                Some(Value::String(text)) => text.clone(),
                Some(Value::Array(_)) => "a list".to_owned(),
                Some(Value::Object(_)) => "an object".to_owned(),
                Some(other) => other.to_string(),
            };
            if is_unread(key) {
                self.note(key, &words);
            }
        }
    }

    /// Notes each of these names of a line (`gen_tps=27.5`) whose value is no finite number, or below `least`.
    pub(super) fn words(&mut self, line: &str, names: &[&str], read: impl Fn(&str, &str) -> Option<f64>, least: f64) {
        for name in names {
            let Some((_, rest)) = line.split_once(&format!(" {name}")).or_else(|| Some(("", line.strip_prefix(name)?)))
            else {
                continue;
            };
            if read(line, name).is_none_or(|value| value < least) {
                self.note(name.trim_end_matches('='), rest.split_whitespace().next().unwrap_or(""));
            }
        }
    }

    /// A sentence for each name.
    pub(super) fn notices(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, (count, first))| {
            let places = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
            format!("{name} is no number that it can be, {places} (as {first:?}), and is left out there")
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_there_and_no_number_is_told_and_what_is_absent_is_not() {
        let mut unread = Unread::default();
        let row = json!({"a": "802,0", "b": null, "c": "", "d": 1.5, "e": -1, "f": [1], "g": "7"});
        unread.numbers(&row, &["a", "b", "c", "d", "e", "f", "g", "h"]);
        unread.counts(&row, &["e", "g"]);
        unread.counts(&row, &["e"]);
        let found: Vec<String> = unread.notices().collect();
        assert_eq!(
            found,
            [
                "a is no number that it can be, once (as \"802,0\"), and is left out there",
                "e is no number that it can be, 2 times (as \"-1\"), and is left out there",
                "f is no number that it can be, once (as \"a list\"), and is left out there",
            ]
        );
    }
}
