//! Which strings of a file are names: by the key they stand under, or by how they look.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::literals::{Part, decoded, parts};
use super::names::{Kind, Names};

const NODES: [&str; 7] = ["node_id", "nodeId", "targetNodeId", "target_node_id", "nodes", "node_ids", "masterNodeId"];
/// Maps from a node to something.
const NODE_MAPS: [&str; 20] = [
    "nodeIdentities",
    "nodeMemory",
    "nodeSystem",
    "nodeDisk",
    "nodeNetwork",
    "nodeThunderbolt",
    "nodeThunderboltBridge",
    "nodeRdmaCtl",
    "nodeBackends",
    "lastSeen",
    "downloads",
    "connections",
    "system_metrics",
    "memory_delta_by_node",
    "nodeToRunner",
    "node_to_runner",
    "hostsByNode",
    "hosts_by_node",
    "jacclCoordinators",
    "jaccl_coordinators",
];
const FRIENDLY: [&str; 6] = ["friendlyName", "friendly_name", "computerName", "computer_name", "nodeName", "node_name"];
const HOSTS: [&str; 8] = ["hostname", "host_name", "hostName", "host", "address", "server", "url", "base_url"];
const USERS: [&str; 3] = ["user", "username", "userName"];
const SERIALS: [&str; 6] = ["hardwareUuid", "hardware_uuid", "domainUuid", "domain_uuid", "udid", "macAddress"];
/// What names no one, and names that are also said of something else are compared with.
const PLAIN: [&str; 12] = [
    "modelId",
    "model_id",
    "model_short_id",
    "chipId",
    "osVersion",
    "engine",
    "source",
    "name",
    "os",
    "arch",
    "instance",
    "shard",
];
/// Words of the format and of our sentences, which a name may happen to be.
const WORDS: [&str; 22] = [
    "bench",
    "cluster",
    "data",
    "exoscope",
    "failures",
    "full",
    "home",
    "instance",
    "linux",
    "macos",
    "metric",
    "model",
    "models",
    "node",
    "results",
    "root",
    "runs",
    "server",
    "simulated",
    "stats",
    "system",
    "user",
];
/// Endings of names that only a local network knows.
const LOCAL: [&str; 7] = [".local", ".lan", ".home", ".internal", ".localdomain", ".home.arpa", ".ts.net"];
/// Where a user's name follows in a path.
const HOMES: [&str; 4] = ["/Users/", "/home/", "/Volumes/", "\\Users\\"];

/// Whether an identity stands under this key, or as a key of the map under it.
pub(super) fn is_identity(key: Option<&str>) -> bool {
    let lists: [&[&str]; 6] = [&NODES, &NODE_MAPS, &FRIENDLY, &HOSTS, &USERS, &SERIALS];
    key.is_some_and(|key| key == "command" || is_serial(key) || lists.iter().any(|list| list.contains(&key)))
}

fn is_serial(key: &str) -> bool {
    SERIALS.contains(&key) || key.to_ascii_lowercase().contains("serial")
}

/// What was learnt so far.
#[derive(Debug, Default)]
pub(super) struct Learner {
    learnt: BTreeMap<String, Kind>,
    plain: BTreeSet<String>,
    alike: BTreeMap<String, String>,
    /// "user@host" with a host of one word, which is one only where that is a host elsewhere: "Qwen@main" is none.
    logins: BTreeSet<(String, String)>,
}

impl Learner {
    /// Learns from a text with JSON in it; `root` is the name of the whole.
    pub(super) fn text(&mut self, text: &str, root: Option<&str>) {
        let mut before = String::new();
        for (part, raw) in parts(text, root) {
            let text = match &part {
                Part::Gap { .. } => {
                    self.looks(raw);
                    continue;
                }
                _ => decoded(raw),
            };
            match &part {
                Part::Key { above }
                    if above.as_deref().is_some_and(|above| NODE_MAPS.contains(&above)) || is_node_id(&text) =>
                {
                    self.learn(&text, Kind::Node);
                }
                Part::Value { key: Some(key), .. } => {
                    self.value(key, &text, &before);
                    before.clone_from(&text);
                }
                _ => {}
            }
            self.looks(&text);
        }
    }

    fn value(&mut self, key: &str, text: &str, before: &str) {
        match key {
            key if NODES.contains(&key) => self.learn(text, Kind::Node),
            key if FRIENDLY.contains(&key) => self.learn(text, Kind::Friendly),
            key if USERS.contains(&key) => self.learn(text, Kind::User),
            key if is_serial(key) => self.learn(text, Kind::Serial),
            key if HOSTS.contains(&key) => self.host(text),
            "command" if before == "--host" => self.host(text),
            "command" => {
                if let Some(host) = text.strip_prefix("--host=") {
                    self.host(host);
                }
            }
            key if PLAIN.contains(&key) => drop(self.plain.insert(text.to_owned())),
            _ => {}
        }
    }

    /// A host out of `host`, `host:port` or a URL.
    pub(super) fn host(&mut self, text: &str) {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let rest = rest.split(['/', '?']).next().unwrap_or(rest);
        let rest = rest.rsplit('@').next().unwrap_or(rest);
        let host = match rest.strip_prefix('[') {
            Some(address) => address.split(']').next().unwrap_or(address),
            None if rest.matches(':').count() == 1 => rest.split(':').next().unwrap_or(rest),
            None => rest,
        };
        match host.parse() {
            Ok(address) => self.address(address, host),
            Err(_) if host.contains(char::is_whitespace) => {}
            Err(_) => self.named_host(host),
        }
    }

    fn named_host(&mut self, host: &str) {
        self.learn(host, Kind::Host);
        if let Some((label, _)) = host.split_once('.').filter(|(label, _)| !label.is_empty()) {
            self.learn(label, Kind::Host);
            self.alike.insert(label.to_owned(), host.to_owned());
        }
    }

    fn address(&mut self, address: IpAddr, spelt: &str) {
        // "Any address" is none.
        if !address.is_unspecified() {
            self.learn(spelt, if address.is_ipv4() { Kind::Address4 } else { Kind::Address6 });
        }
    }

    /// Addresses, hosts, users and hardware that show by themselves.
    pub(super) fn looks(&mut self, text: &str) {
        for token in text.split(|c: char| !(c.is_ascii_digit() || c == '.')) {
            let token = token.trim_matches('.');
            if let Ok(address) = token.parse::<Ipv4Addr>() {
                self.address(address.into(), token);
            }
        }
        for token in text.split(|c: char| !(c.is_ascii_hexdigit() || c == ':' || c == '.')) {
            if token.matches(':').count() >= 2
                && let Ok(address) = token.parse::<Ipv6Addr>()
            {
                self.address(address.into(), token);
            }
        }
        for (at, _) in text.match_indices("://") {
            let rest = &text[at + 3..];
            let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'<>),;".contains(c)).unwrap_or(rest.len());
            self.host(&rest[..end]);
        }
        for token in text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '.' || c == '_')) {
            let token = token.trim_matches('.');
            if LOCAL.iter().any(|ending| token.len() > ending.len() && token.ends_with(ending)) {
                self.named_host(token);
            }
        }
        for token in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|token| is_peer(token)) {
            self.learn(token, Kind::Node);
        }
        for token in text.split(|c: char| !(c.is_ascii_alphanumeric() || "._%+-@".contains(c))) {
            let token = token.trim_matches(['.', '-']);
            match token.split_once('@').filter(|(user, host)| !user.is_empty() && !host.contains('@')) {
                Some((_, host)) if is_domain(host) => self.learn(token, Kind::User),
                Some((user, host)) if !host.is_empty() => {
                    self.logins.insert((user.to_owned(), host.to_owned()));
                }
                _ => {}
            }
        }
        // "user:password@host", whose user and password go by themselves.
        for token in text.split(|c: char| c.is_whitespace() || "\"'`<>()[]{},;|".contains(c)) {
            if let Some((_, host)) =
                token.rsplit_once('@').filter(|(user, _)| user.contains(':') && !user.contains("//"))
            {
                self.host(host);
            }
        }
        for token in text.split(|c: char| !(c.is_ascii_hexdigit() || c == ':' || c == '-')) {
            if is_hardware_address(token.trim_matches([':', '-'])) {
                self.learn(token.trim_matches([':', '-']), Kind::Serial);
            }
        }
        for before in HOMES {
            for (at, _) in text.match_indices(before) {
                let rest = &text[at + before.len()..];
                let end = rest.find(|c: char| "/\\\"':,;)".contains(c)).unwrap_or(rest.len());
                // A sentence goes on behind a path; a volume's name may have spaces.
                let name =
                    if before == "/Volumes/" { &rest[..end] } else { rest[..end].split(' ').next().unwrap_or("") };
                self.learn(name, Kind::User);
            }
        }
    }

    fn learn(&mut self, name: &str, kind: Kind) {
        if !name.is_empty() {
            self.learnt.entry(name.to_owned()).or_insert(kind);
        }
    }

    /// The names, each with its replacement.
    pub(super) fn names(mut self) -> Names {
        for (user, host) in std::mem::take(&mut self.logins) {
            if matches!(self.learnt.get(&host), Some(Kind::Host | Kind::Friendly)) {
                self.learn(&user, Kind::User);
            }
        }
        let learnt = &self.learnt;
        self.alike
            .retain(|label, host| learnt.get(label) == Some(&Kind::Host) && learnt.get(host) == Some(&Kind::Host));
        let says = |plain: &String, name: &str| {
            plain.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == name) || plain == name
        };
        let is_ordinary = |name: &String| {
            name.len() < 4
                || WORDS.contains(&name.to_ascii_lowercase().as_str())
                || name.bytes().all(|byte| byte.is_ascii_digit())
                || self.plain.iter().any(|plain| says(plain, name))
        };
        let ordinary =
            learnt.keys().filter(|name| name.parse::<IpAddr>().is_err() && is_ordinary(name)).cloned().collect();
        Names::new(learnt, &ordinary, &self.alike)
    }
}

/// A peer id of libp2p, which is a hash of a key: of Ed25519 ("12D3KooW" and 44 more), secp256k1 or RSA. No word is that long
/// and begins like this; a log may cut one short.
fn is_peer(text: &str) -> bool {
    let begins = |start: &str, least: usize| text.starts_with(start) && text.len() >= least;
    (begins("12D3KooW", 12) || begins("16Uiu2HA", 40) || (begins("Qm", 46) && text.len() == 46))
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Labels between dots, the last of which is a word: "example.com", "studio.local", and no version ("0.28.1").
fn is_domain(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    labels.len() > 1
        && labels.iter().all(|label| !label.is_empty())
        && labels.last().is_some_and(|last| last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Six pairs of hex digits: "a4:83:e7:12:34:56". With "-" between them, digits alone may be a date and a time.
fn is_hardware_address(text: &str) -> bool {
    let pairs = |between: char| {
        let mut pairs = 0;
        let alike = text.split(between).all(|pair| {
            pairs += 1;
            pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        alike && pairs == 6
    };
    pairs(':') || (pairs('-') && text.bytes().any(|byte| byte.is_ascii_alphabetic()))
}

/// exo's node ids: of libp2p, or 30 to 32 hex digits (leading zeros are left out).
fn is_node_id(text: &str) -> bool {
    is_peer(text) || ((30..=32).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
