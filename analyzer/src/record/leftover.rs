//! Keys that a type does not name, kept while it is read.
//!
//! serde's own way, a flattened map, reads every value into a tree of its own first and all fields from there: four times
//! the work and the memory for files whose rows have no such key. Here a field goes straight to its place, and only a key
//! that the type does not name becomes a value in the map.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value};

/// Keys that a type does not name. Most rows have none, and none takes no room.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Leftover(Option<Box<Map<String, Value>>>);

impl Leftover {
    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_ref()?.get(key)
    }

    /// The keys in the file's order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.iter().flat_map(|keys| keys.keys())
    }
}

impl From<Map<String, Value>> for Leftover {
    fn from(keys: Map<String, Value>) -> Self {
        Self((!keys.is_empty()).then(|| Box::new(keys)))
    }
}

impl Serialize for Leftover {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(keys) => keys.serialize(serializer),
            None => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

/// As of the map.
impl JsonSchema for Leftover {
    fn inline_schema() -> bool {
        Map::<String, Value>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Map::<String, Value>::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        Map::<String, Value>::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Map::<String, Value>::json_schema(generator)
    }
}

/// A deserializer of a struct that puts other keys aside.
pub(super) struct Sifting<'a, D> {
    inner: D,
    others: &'a mut Map<String, Value>,
}

impl<'a, D> Sifting<'a, D> {
    pub(super) const fn new(inner: D, others: &'a mut Map<String, Value>) -> Self {
        Self { inner, others }
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Sifting<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(D::Error::custom("only a struct has keys to put aside"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        // As a map, which a list is not, though serde would take a list for a struct.
        self.inner.deserialize_map(Sieve { visitor, fields, others: self.others })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Sieve<'a, V> {
    visitor: V,
    fields: &'static [&'static str],
    others: &'a mut Map<String, Value>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Sieve<'_, V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Sifted { map, fields: self.fields, others: self.others })
    }
}

struct Sifted<'a, A> {
    map: A,
    fields: &'static [&'static str],
    others: &'a mut Map<String, Value>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Sifted<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key_seed(KeySeed(self.fields))? {
                None => return Ok(None),
                Some(Key::Field(name)) => return seed.deserialize(name.into_deserializer()).map(Some),
                Some(Key::Other(name)) => {
                    let value = self.map.next_value()?;
                    // As for a field: of two values none is the right one.
                    if self.others.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
                    }
                    self.others.insert(name, value);
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

enum Key {
    Field(&'static str),
    Other(String),
}

struct KeySeed(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
        let field = self.0.iter().find(|field| **field == key);
        Ok(field.map_or_else(|| Key::Other(key.to_owned()), |field| Key::Field(field)))
    }
}

/// Reads and writes types whose derived implementations are their own, because of `remote = "Self"`, and whose field
/// `unknown` keeps the other keys.
macro_rules! keeps_unknown_keys {
    ($($name:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut unknown = serde_json::Map::new();
                let mut read = Self::deserialize($crate::record::leftover::Sifting::new(deserializer, &mut unknown))?;
                read.unknown = unknown.into();
                Ok(read)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }
    )+};
}
pub(super) use keeps_unknown_keys;

#[cfg(test)]
mod tests {
    use crate::record::{GenerationStats, Run};

    #[test]
    fn other_keys_come_back_as_they_were_and_in_their_order() {
        let text = r#"{"z":[1,{"a":null}],"elapsed_s":1.5,"output_text_preview":null,"stats":{"prompt_tps":1.0,"new":"x",
            "generation_tps":2.0,"prompt_tokens":3,"generation_tokens":4,"peak_memory_usage":{"inBytes":5}},"b":true}"#;
        let run: Run = serde_json::from_str(text).unwrap();
        assert_eq!(run.unknown.keys().collect::<Vec<_>>(), ["z", "b"]);
        assert_eq!(run.stats.as_ref().unwrap().unknown.get("new").unwrap(), "x");
        let again: Run = serde_json::from_value(serde_json::to_value(&run).unwrap()).unwrap();
        assert_eq!(again, run);
    }

    #[test]
    fn what_is_no_object_or_has_a_key_twice_is_refused() {
        // The same key is a field of the one and another key of the other.
        for text in ["[1.5]", "1", r#"{"prompt_tps":1.0,"prompt_tps":1.0}"#] {
            assert!(serde_json::from_str::<Run>(text).is_err(), "{text}");
            assert!(serde_json::from_str::<GenerationStats>(text).is_err(), "{text}");
        }
    }
}
