//! Two JSON documents that must say the same: numbers within a relative difference, all else exactly.

use serde_json::Value;

/// Where two documents differ, as `path: one ≠ other`; empty where they say the same. Numbers may differ by `relative` of
/// the larger one.
#[must_use]
pub fn differences(one: &Value, other: &Value, relative: f64) -> Vec<String> {
    let mut found = Vec::new();
    walk("$", one, other, relative, &mut found);
    found
}

fn walk(path: &str, one: &Value, other: &Value, relative: f64, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            let (Some(x), Some(y)) = (a.as_f64(), b.as_f64()) else {
                found.push(format!("{path}: {a} and {b} are beyond a double"));
                return;
            };
            if (x - y).abs() > relative * x.abs().max(y.abs()) {
                found.push(format!("{path}: {a} ≠ {b}"));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (place, (x, y)) in a.iter().zip(b).enumerate() {
                walk(&format!("{path}[{place}]"), x, y, relative, found);
            }
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() && a.keys().all(|key| b.contains_key(key)) => {
            for (key, x) in a {
                walk(&format!("{path}.{key}"), x, &b[key], relative, found);
            }
        }
        _ if one == other => {}
        _ => found.push(format!("{path}: {one} ≠ {other}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_may_differ_a_little_and_nothing_else() {
        assert!(differences(&json!({"a": [1.0, null]}), &json!({"a": [1.000_000_000_000_1, null]}), 1e-12).is_empty());
        for other in
            [json!({"a": [1.000_000_1, null]}), json!({"a": [1.0, 0]}), json!({"a": [1.0]}), json!({"b": [1.0, null]})]
        {
            assert!(!differences(&json!({"a": [1.0, null]}), &other, 1e-12).is_empty(), "{other}");
        }
    }
}
