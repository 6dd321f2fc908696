//! A record that was read and written again is the same record, foreign keys included.

use analyzer::record::{self, MemorySize};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
#[allow(clippy::disallowed_methods)]
fn every_fixture_comes_back_with_all_its_keys() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/results");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        // Bare lists and several documents are lifted by `import`; here the one document of the format itself counts.
        let Ok(document @ Value::Object(_)) = serde_json::from_slice(&bytes) else { continue };
        let file = record::parse(document.clone()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let written: Value = serde_json::from_str(&record::to_json(&file).unwrap()).unwrap();
        assert_kept(&document, &written, &path.display().to_string());
        assert_eq!(record::parse(written).unwrap(), file);
        seen += 1;
    }
    assert!(seen > 10, "the fixtures are there");
}

/// Everything in `before` stands in `after`. What was absent may have become null, never the other way round.
fn assert_kept(before: &Value, after: &Value, path: &str) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in before {
                let kept = after.get(key).unwrap_or_else(|| panic!("{path}.{key} is gone"));
                assert_kept(value, kept, &format!("{path}.{key}"));
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len(), "{path}");
            for (place, (before, after)) in before.iter().zip(after).enumerate() {
                assert_kept(before, after, &format!("{path}[{place}]"));
            }
        }
        (Value::Number(a), Value::Number(b)) => assert_eq!(a.as_f64(), b.as_f64(), "{path}"),
        _ => assert_eq!(before, after, "{path}"),
    }
}

proptest! {
    #[test]
    fn numbers_come_back_to_the_last_bit(
        elapsed in 1e-9..1e9_f64, rate in proptest::option::of(-1e12..1e12_f64), bytes in any::<u64>(), snake in any::<bool>(),
        words in "\\PC{0,40}", pp in proptest::option::of(any::<u64>())
    ) {
        let memory = if snake { json!({"in_bytes": bytes}) } else { json!({"inBytes": bytes}) };
        let row = json!({"elapsed_s": elapsed, "output_text_preview": words, "pp_tokens": pp, "of someone else": {"deep": [1, null]},
            "stats": {"prompt_tps": rate, "generation_tps": rate, "prompt_tokens": 1, "generation_tokens": 2, "peak_memory_usage": memory}});
        let file = record::parse(json!({"runs": [row], "site": words})).unwrap();
        let again = record::parse(serde_json::from_str(&record::to_json(&file).unwrap()).unwrap()).unwrap();
        prop_assert_eq!(&again, &file);
        prop_assert_eq!(again.runs[0].elapsed_s.map(f64::to_bits), Some(elapsed.to_bits()));
        let size = again.runs[0].stats.as_ref().unwrap().peak_memory_usage.unwrap();
        prop_assert_eq!(size.bytes(), bytes);
        prop_assert_eq!(matches!(size, MemorySize::Snake { .. }), snake);
    }
}
