//! What each name is replaced by: the same word everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::LazyLock;

use super::edit::Edit;
use super::learn::is_identity;
use super::literals::{Part, decoded};

/// What a name is the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Node,
    Host,
    Friendly,
    Address4,
    Address6,
    User,
    Serial,
}

impl Kind {
    const fn words(self) -> &'static str {
        match self {
            Self::Node => "node ids",
            Self::Host => "host names",
            Self::Friendly => "friendly names",
            Self::Address4 | Self::Address6 => "addresses",
            Self::User => "user names",
            Self::Serial => "hardware ids",
        }
    }

    /// Zeros in front keep the order of the names, which is the order of tables and sums.
    fn replacement(self, number: usize, width: usize) -> String {
        match self {
            Self::Node => format!("node-{number:0width$}"),
            Self::Host => format!("host-{number:0width$}"),
            Self::Friendly => format!("name-{number:0width$}"),
            Self::User => format!("user-{number:0width$}"),
            Self::Serial => format!("id-{number:0width$}"),
            // Set aside for documentation: RFC 5737 and RFC 3849.
            Self::Address4 if number <= 254 => format!("192.0.2.{number}"),
            Self::Address4 => format!("198.18.{}.{}", number / 256, number % 256),
            Self::Address6 => format!("2001:db8::{number:x}"),
        }
    }
}

/// The names of one file.
#[derive(Debug, Default)]
pub(super) struct Names {
    exact: BTreeMap<String, String>,
    /// By their first byte, the longest first: name, replacement, and whether a word may not go on behind "_" either.
    words: BTreeMap<u8, Vec<(String, String, bool)>>,
    counts: BTreeMap<&'static str, usize>,
}

impl Names {
    /// `ordinary` names are also words of the format or of a sentence: they are replaced only where an identity stands.
    /// `alike` are names of the same thing: `a.local` and `a`.
    pub(super) fn new(
        learnt: &BTreeMap<String, Kind>,
        ordinary: &BTreeSet<String>,
        alike: &BTreeMap<String, String>,
    ) -> Self {
        let mut names = Self::default();
        let mut by_kind: BTreeMap<Kind, Vec<&String>> = BTreeMap::new();
        for (name, kind) in learnt.iter().filter(|(name, _)| !alike.contains_key(*name)) {
            by_kind.entry(*kind).or_default().push(name);
        }
        for (kind, list) in by_kind {
            *names.counts.entry(kind.words()).or_insert(0) += list.len();
            let width = list.len().to_string().len();
            let replacements: Vec<String> = (1..=list.len()).map(|number| kind.replacement(number, width)).collect();
            // What an earlier redaction put in place stays, whatever order such words have among each other.
            let kept: BTreeSet<&String> =
                list.iter().copied().filter(|name| replacements.contains(name) || is_own_word(name)).collect();
            let mut free = replacements.iter().filter(|word| !kept.contains(word));
            for name in list {
                let word = if kept.contains(name) { Some(name) } else { free.next() };
                names.exact.extend(word.map(|word| (name.clone(), word.clone())));
            }
        }
        for (short, long) in alike {
            if let Some(same) = names.exact.get(long).cloned() {
                names.exact.insert(short.clone(), same);
            }
        }
        let mut literal = |name: String, new: String, joined: bool| {
            if let Some(first) = name.bytes().next() {
                names.words.entry(first).or_default().push((name, new, joined));
            }
        };
        for (name, new) in &names.exact {
            match learnt.get(name) {
                // The first part of a host's name is a word of its own: "huggingface" of "huggingface.co" is no part of
                // "huggingface_hub".
                kind if !ordinary.contains(name) => literal(name.clone(), new.clone(), kind == Some(&Kind::Host)),
                Some(Kind::User) => {
                    for before in ["/Users/", "/home/", "/Volumes/", "\\Users\\"] {
                        literal(format!("{before}{name}"), format!("{before}{new}"), false);
                    }
                }
                Some(Kind::Host) => literal(format!("//{name}"), format!("//{new}"), true),
                _ => {}
            }
        }
        names.words.values_mut().for_each(|list| list.sort_by_key(|(name, ..)| std::cmp::Reverse(name.len())));
        names
    }

    /// How many different names of each kind there are.
    pub(super) fn counts(&self) -> BTreeMap<&'static str, usize> {
        self.counts.clone()
    }

    /// Whether a text is a name.
    pub(super) fn knows(&self, text: &str) -> bool {
        self.exact.contains_key(text)
    }

    /// A text with its names replaced; none where it has none.
    pub(super) fn replaced(&self, text: &str) -> Option<String> {
        let bytes = text.as_bytes();
        let (mut new, mut kept, mut at) = (String::new(), 0, 0);
        while at < bytes.len() {
            let fits = |(name, _, joined): &&(String, String, bool)| {
                let end = at + name.len();
                bytes[at..].starts_with(name.as_bytes())
                    && apart(name.bytes().next(), at.checked_sub(1).map(|before| bytes[before]), *joined)
                    && apart(name.bytes().last(), bytes.get(end).copied(), *joined)
            };
            match self.words.get(&bytes[at]).and_then(|list| list.iter().find(fits)) {
                Some((name, other, _)) => {
                    new.push_str(&text[kept..at]);
                    new.push_str(other);
                    at += name.len();
                    kept = at;
                }
                None => at += 1,
            }
        }
        (kept > 0).then(|| new + &text[kept..])
    }

    /// Puts a part of a JSON text into the new one.
    pub(super) fn rewrite(&self, edit: &mut Edit, part: &Part, raw: &str) {
        let identity = match part {
            Part::Gap { .. } => {
                return match self.replaced(raw) {
                    Some(new) => edit.replace(raw.len(), &new),
                    None => edit.keep(raw),
                };
            }
            Part::Key { above } => is_identity(above.as_deref()),
            Part::Value { key, within } => is_identity(key.as_deref()) || is_identity(within.as_deref()),
        };
        let text = decoded(raw);
        // A node may be called as a field is; the field keeps its name.
        if matches!(part, Part::Key { .. }) && !identity && is_field(&text) {
            return edit.keep(raw);
        }
        let whole = if identity { host_and_port(&text, &self.exact) } else { None };
        match whole.or_else(|| self.replaced(&text)) {
            // A string in its quotes cannot fail to be written.
            Some(new) => edit.replace(raw.len(), &serde_json::Value::String(new).to_string()),
            None => edit.keep(raw),
        }
    }
}

/// Whether the format of result files has a field of this name.
fn is_field(key: &str) -> bool {
    static FIELDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let mut fields = BTreeSet::new();
        collect(&analyzer::record::schema(), &mut fields);
        fields
    });
    FIELDS.contains(key)
}

/// The names of all properties of a JSON Schema.
fn collect(schema: &serde_json::Value, fields: &mut BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(serde_json::Value::as_object) {
        fields.extend(properties.keys().cloned());
    }
    let inner = schema.as_object().into_iter().flat_map(|object| object.values());
    inner.chain(schema.as_array().into_iter().flatten()).for_each(|inner| collect(inner, fields));
}

/// Whether a name is one that an earlier redaction put in place, whatever its number.
fn is_own_word(name: &str) -> bool {
    match name.parse() {
        Ok(IpAddr::V4(address)) => matches!(address.octets(), [192, 0, 2, _] | [198, 18, ..]),
        Ok(IpAddr::V6(address)) => matches!(address.segments(), [0x2001, 0xdb8, ..]),
        Err(_) => is_replacement(name),
    }
}

/// Whether a string is what names are replaced by, or an address that is none.
pub(super) fn is_replacement(text: &str) -> bool {
    let number = |rest: &str| {
        let (number, port) = rest.split_once(':').unwrap_or((rest, "0"));
        number.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
    };
    ["node-", "host-", "name-", "user-", "id-"].iter().any(|word| text.strip_prefix(word).is_some_and(number))
        || text.parse::<std::net::IpAddr>().is_ok()
}

/// A name that is the whole string, or all of it but a port.
fn host_and_port(text: &str, exact: &BTreeMap<String, String>) -> Option<String> {
    let with_port = || {
        let (host, port) = text.rsplit_once(':')?;
        port.parse::<u16>().ok()?;
        Some(format!("{}:{port}", exact.get(host)?))
    };
    exact.get(text).cloned().or_else(with_port)
}

/// Whether a name's edge is one in the text too: no letter or digit goes on behind a letter or digit, nor "_" where it joins.
fn apart(edge: Option<u8>, beside: Option<u8>, joined: bool) -> bool {
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    !(edge.is_some_and(goes_on) && beside.is_some_and(|byte| goes_on(byte) || (joined && byte == b'_')))
}
