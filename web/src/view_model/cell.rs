//! What cells are called on screen: short, and never two of one table the same.

use analyzer::summary::{CacheState, CellKey, Varied};

/// The names of the cells of one table: lengths, concurrency and placement always; model, prefix cache and streaming where
/// they tell cells apart, or where the cache changes what the rate means.
#[must_use]
pub fn names(keys: &[&CellKey]) -> Vec<String> {
    let differs = |same: fn(&CellKey, &CellKey) -> bool| keys.iter().any(|key| !same(keys[0], key));
    let varied = Varied::of(keys.iter().copied());
    let by_cache = differs(|one, other| one.cache == other.cache);
    let by_streaming = differs(|one, other| one.streamed == other.streamed);
    let name = |key: &&CellKey| {
        let mut parts = vec![key.words(), key.placement()];
        parts.extend(Some(varied.subject(key)).filter(|subject| !subject.is_empty()));
        let changes_the_rate = matches!(key.cache, CacheState::Partial | CacheState::Exact);
        if by_cache || changes_the_rate {
            parts.push(format!("prefix cache {}", key.cache.word()));
        }
        if by_streaming {
            parts.extend(key.streamed.map(|streamed| if streamed { "streamed" } else { "plain" }.to_owned()));
        }
        parts.join(" · ")
    };
    keys.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn key(cache: CacheState, streamed: Option<bool>, model: &str) -> CellKey {
        CellKey {
            model_id: Some(model.into()),
            sharding: Some("pipeline".into()),
            instance_meta: Some("ring".into()),
            nodes: Some(2),
            pp_tokens: Some(64),
            tg: Some(8),
            concurrency: Some(1),
            cache,
            streamed,
            engine: Some("exo".into()),
            quantization: None,
            settings: BTreeMap::new(),
        }
    }

    #[test]
    fn what_is_the_same_everywhere_is_not_said() {
        let (one, two) = (key(CacheState::Cold, Some(true), "m"), key(CacheState::Cold, Some(true), "m"));
        assert_eq!(names(&[&one, &two])[0], "pp 64 tg 8 c 1 · pipeline / ring / 2 nodes");
        assert!(names(&[]).is_empty());
    }

    #[test]
    fn what_tells_cells_apart_is_said() {
        let cold = key(CacheState::Cold, Some(true), "m");
        for (other, word) in [
            (key(CacheState::Unknown, Some(true), "m"), "prefix cache –"),
            (key(CacheState::Cold, Some(false), "m"), "plain"),
            (key(CacheState::Cold, Some(true), "n"), "n"),
        ] {
            let names = names(&[&cold, &other]);
            assert_ne!(names[0], names[1]);
            assert!(names[1].ends_with(word), "{}", names[1]);
        }
    }

    #[test]
    fn a_cache_that_was_hit_is_always_said() {
        let exact = key(CacheState::Exact, None, "m");
        assert!(names(&[&exact])[0].ends_with("prefix cache exact"));
    }
}
