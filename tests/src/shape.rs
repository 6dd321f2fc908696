//! The shape of a JSON value: its keys and types without its values, so that bodies of two servers can be held together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Keys whose objects are maps from ids to values, with the key under which the value is then known.
const MAPS: [(&str, &str); 25] = [
    ("connections", "sinks"),
    ("customModelCards", "modelCard"),
    ("downloads", "downloadList"),
    ("files", ""),
    ("hostsByNode", ""),
    ("instanceLinks", ""),
    ("instances", "instance"),
    ("jacclCoordinators", ""),
    ("lastSeen", ""),
    ("memory_delta_by_node", ""),
    ("nodeBackends", ""),
    ("nodeDisk", ""),
    ("nodeIdentities", ""),
    ("nodeMemory", ""),
    ("nodeNetwork", ""),
    ("nodeRdmaCtl", ""),
    ("nodeSystem", ""),
    ("nodeThunderbolt", ""),
    ("nodeThunderboltBridge", ""),
    ("nodeToRunner", ""),
    ("prefillServerPorts", ""),
    ("runnerToShard", "shardMetadata"),
    ("runners", "runner"),
    ("sinks", ""),
    ("tasks", ""),
];

/// Keys whose objects are of a type that exo has in many places: what was seen in one of them may stand in all.
const TYPES: [(&str, &str); 6] = [
    ("download", "DownloadProgress"),
    ("instance", "Instance"),
    ("modelCard", "ModelCard"),
    ("model_card", "ModelCard"),
    ("runner", "RunnerStatus"),
    ("shardMetadata", "ShardMetadata"),
];

fn looked_up(table: &[(&'static str, &'static str)], key: &str) -> Option<&'static str> {
    table.iter().find(|(listed, _)| *listed == key).map(|(_, found)| *found)
}

/// The key under which the values of a map, or the elements of a list, are known.
#[must_use]
pub fn inner_key(key: &str) -> &'static str {
    if key == "downloadList" { "download" } else { looked_up(&MAPS, key).unwrap_or("") }
}

/// The types that shapes refer to by name.
pub type Definitions = BTreeMap<String, Shape>;

/// What stood at one place, of all the values that were seen there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// `null`, `boolean`, `integer`, `float`, `string`. Python writes a float with a point, so the two can be told apart.
    scalars: BTreeSet<String>,
    /// Key → its shape, and whether every object had it.
    object: Option<BTreeMap<String, (Shape, bool)>>,
    /// Tag → shape: objects with one capitalised key, exo's unions.
    tagged: BTreeMap<String, Shape>,
    /// Names of types that are defined elsewhere.
    named: BTreeSet<String>,
    /// The union of the elements of all lists.
    list: Option<Box<Shape>>,
    /// The union of the values of all maps.
    map: Option<Box<Shape>>,
}

impl Shape {
    /// The shape of a value that stands under a key (or, at the top, is what that key's value would be). What is of a
    /// named type goes to the definitions.
    #[must_use]
    pub fn of(value: &Value, key: &str, definitions: &mut Definitions) -> Self {
        let mut shape = Self::default();
        let scalar = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "float",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(items) => {
                let inner = inner_key(key);
                shape.list = Some(Box::new(Self::union(items.iter().map(|item| Self::of(item, inner, definitions)))));
                return shape;
            }
            Value::Object(fields) => {
                let read = Self::of_object(fields, key, definitions);
                let Some(name) = looked_up(&TYPES, key) else { return read };
                let known = definitions.remove(name).unwrap_or_default();
                definitions.insert(name.to_owned(), known.merged(read));
                shape.named.insert(name.to_owned());
                return shape;
            }
        };
        shape.scalars.insert(scalar.to_owned());
        shape
    }

    fn of_object(fields: &Map<String, Value>, key: &str, definitions: &mut Definitions) -> Self {
        let mut shape = Self::default();
        if let Some(inner) = looked_up(&MAPS, key) {
            shape.map = Some(Box::new(Self::union(fields.values().map(|value| Self::of(value, inner, definitions)))));
            return shape;
        }
        let mut only = fields.iter();
        if let (Some((tag, value)), None) = (only.next(), only.next())
            && tag.starts_with(|letter: char| letter.is_ascii_uppercase())
        {
            shape.tagged.insert(tag.clone(), Self::of(value, "", definitions));
            return shape;
        }
        let mut field = |(key, value): (&String, &Value)| (key.clone(), (Self::of(value, key, definitions), true));
        shape.object = Some(fields.iter().map(&mut field).collect());
        shape
    }

    fn union(shapes: impl Iterator<Item = Self>) -> Self {
        shapes.fold(Self::default(), Self::merged)
    }

    /// What stood here or there.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        let both = |one: Option<Box<Self>>, two: Option<Box<Self>>| match (one, two) {
            (Some(one), Some(two)) => Some(Box::new(one.merged(*two))),
            (one, two) => one.or(two),
        };
        self.scalars.extend(other.scalars);
        self.named.extend(other.named);
        self.list = both(self.list, other.list);
        self.map = both(self.map, other.map);
        for (tag, shape) in other.tagged {
            let mine = self.tagged.remove(&tag).unwrap_or_default();
            self.tagged.insert(tag, mine.merged(shape));
        }
        self.object = match (self.object, other.object) {
            (Some(mut mine), Some(mut theirs)) => {
                let keys: BTreeSet<String> = mine.keys().chain(theirs.keys()).cloned().collect();
                let merge = |key: String| {
                    let value = match (mine.remove(&key), theirs.remove(&key)) {
                        (Some((one, a)), Some((two, b))) => (one.merged(two), a && b),
                        (Some((shape, _)), None) | (None, Some((shape, _))) => (shape, false),
                        (None, None) => (Self::default(), false),
                    };
                    (key, value)
                };
                Some(keys.into_iter().map(merge).collect())
            }
            (mine, theirs) => mine.or(theirs),
        };
        self
    }

    /// In words, where the other shape has what this one never had, or lacks what this one always had.
    #[must_use]
    pub fn differences(&self, other: &Self, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        for scalar in other.scalars.difference(&self.scalars) {
            found.push(format!("{path} is {scalar}, recorded as {}", self.kinds()));
        }
        for name in other.named.difference(&self.named) {
            found.push(format!("{path} is of type {name}, recorded as {}", self.kinds()));
        }
        for (mine, theirs, kind) in [(&self.list, &other.list, "[]"), (&self.map, &other.map, "{}")] {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) => found.extend(mine.differences(theirs, &format!("{path}{kind}"))),
                (None, Some(_)) => found.push(format!("{path} is {kind}, recorded as {}", self.kinds())),
                (_, None) => (),
            }
        }
        for (tag, theirs) in &other.tagged {
            match self.tagged.get(tag) {
                Some(mine) => found.extend(mine.differences(theirs, &format!("{path}<{tag}>"))),
                None => found.push(format!("{path} has the tag {tag}, recorded as {}", self.kinds())),
            }
        }
        match (&self.object, &other.object) {
            (Some(mine), Some(theirs)) => {
                for (key, (theirs, _)) in theirs {
                    match mine.get(key) {
                        Some((mine, _)) => found.extend(mine.differences(theirs, &format!("{path}.{key}"))),
                        None => found.push(format!("{path}.{key} was never recorded")),
                    }
                }
                for (key, (_, always)) in mine {
                    if *always && !theirs.get(key).is_some_and(|(_, always)| *always) {
                        found.push(format!("{path}.{key} is absent, always there in the recordings"));
                    }
                }
            }
            (None, Some(_)) => found.push(format!("{path} is an object, recorded as {}", self.kinds())),
            (_, None) => (),
        }
        found
    }

    fn kinds(&self) -> String {
        let mut kinds: Vec<&str> = self.scalars.iter().map(String::as_str).collect();
        kinds.extend(self.named.iter().map(String::as_str));
        kinds.extend(self.object.as_ref().map(|_| "an object"));
        kinds.extend(self.list.as_ref().map(|_| "[]"));
        kinds.extend(self.map.as_ref().map(|_| "{}"));
        kinds.extend(self.tagged.keys().map(String::as_str));
        if kinds.is_empty() { "nothing (an empty list or map)".to_owned() } else { kinds.join(" or ") }
    }

    /// As JSON: scalars are names; a key that some objects lacked ends in `?`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut kinds: Vec<Value> = self.scalars.iter().map(|scalar| scalar.as_str().into()).collect();
        kinds.extend(self.named.iter().map(|name| json!({"type": name})));
        if let Some(fields) = &self.object {
            let field = |(key, (shape, always)): (&String, &(Self, bool))| {
                (if *always { key.clone() } else { format!("{key}?") }, shape.to_json())
            };
            kinds.push(json!({"object": fields.iter().map(field).collect::<Map<_, _>>()}));
        }
        if !self.tagged.is_empty() {
            let tags: Map<String, Value> =
                self.tagged.iter().map(|(tag, shape)| (tag.clone(), shape.to_json())).collect();
            kinds.push(json!({"tagged": tags}));
        }
        kinds.extend(self.list.as_ref().map(|shape| json!({"list": shape.to_json()})));
        kinds.extend(self.map.as_ref().map(|shape| json!({"map": shape.to_json()})));
        match <[Value; 1]>::try_from(kinds) {
            Ok([one]) => one,
            Err(kinds) => Value::Array(kinds),
        }
    }

    /// Reads what [`Self::to_json`] wrote.
    #[must_use]
    pub fn from_json(value: &Value) -> Self {
        let mut shape = Self::default();
        match value {
            Value::String(scalar) => drop(shape.scalars.insert(scalar.clone())),
            Value::Array(kinds) => return Self::union(kinds.iter().map(Self::from_json)),
            Value::Object(kind) => {
                let nested = |name| kind.get(name).map(|shape| Box::new(Self::from_json(shape)));
                shape.list = nested("list");
                shape.map = nested("map");
                shape.named = kind.get("type").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
                let fields = |name| kind.get(name).and_then(Value::as_object);
                shape.tagged = fields("tagged")
                    .into_iter()
                    .flatten()
                    .map(|(tag, shape)| (tag.clone(), Self::from_json(shape)))
                    .collect();
                shape.object = fields("object").map(|fields| {
                    let field = |(key, shape): (&String, &Value)| match key.strip_suffix('?') {
                        Some(key) => (key.to_owned(), (Self::from_json(shape), false)),
                        None => (key.clone(), (Self::from_json(shape), true)),
                    };
                    fields.iter().map(field).collect()
                });
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => (),
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(value: &Value) -> Shape {
        Shape::of(value, "", &mut Definitions::new())
    }

    fn differences(recorded: &Value, other: &Value) -> Vec<String> {
        shape(recorded).differences(&shape(other), "$")
    }

    #[test]
    fn keys_types_nulls_and_casing_are_told_apart() {
        let recorded = json!({"inBytes": 1, "rate": 1.5, "note": null});
        assert!(differences(&recorded, &json!({"inBytes": 7, "rate": 0.0, "note": null})).is_empty());
        assert_eq!(
            differences(&recorded, &json!({"in_bytes": 1, "rate": 1.5, "note": null})),
            ["$.in_bytes was never recorded", "$.inBytes is absent, always there in the recordings"]
        );
        assert_eq!(
            differences(&recorded, &json!({"inBytes": 1.0, "rate": 2, "note": ""})),
            [
                "$.inBytes is float, recorded as integer",
                "$.note is string, recorded as null",
                "$.rate is integer, recorded as float"
            ]
        );
    }

    #[test]
    fn lists_are_unions_maps_have_representatives_and_tags_are_alternatives() {
        let recorded =
            json!({"nodeDisk": {"r": {"Full": {}}, "q": {"Free": {"n": 1}}}, "list": [1, {"a": 1}, {"b": 1}]});
        let same = json!({"nodeDisk": {"x": {"Free": {"n": 2}}}, "list": [{"a": 1}]});
        assert!(differences(&recorded, &same).is_empty());
        assert_eq!(
            differences(&recorded, &json!({"nodeDisk": {"x": {"Gone": {}}}, "list": ["x"]})),
            [
                "$.list[] is string, recorded as integer or an object",
                "$.nodeDisk{} has the tag Gone, recorded as Free or Full"
            ]
        );
    }

    #[test]
    fn a_type_is_one_wherever_it_stands() {
        let mut definitions = Definitions::new();
        let one = Shape::of(&json!({"runners": {"r": {"RunnerReady": {}}}}), "", &mut definitions);
        let other = Shape::of(&json!({"runners": {"q": {"RunnerIdle": {}}}}), "", &mut definitions);
        assert_eq!(one, other);
        assert_eq!(definitions["RunnerStatus"].tagged.len(), 2);
    }

    #[test]
    fn a_shape_survives_its_json() {
        let list = json!([1, 2.0, {"a": [[]]}, {"b": {}}]);
        let shape = shape(&json!({"runners": {"r": {"Ready": {"port": null}}}, "list": list, "n": []}));
        assert_eq!(Shape::from_json(&shape.to_json()), shape);
    }
}
