//! What was measured and how, in reading order. Keys are stable: a comparison lists the facts that differ.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Fact;
use crate::energy;
use crate::frame;
use crate::import::{Loaded, instant};
use crate::record::{
    ActualPlacement, Failure, Figures, Method, Overlay, Pauses, Provenance, ResultFile, Run, Sampling, Source, Start,
    TargetPrecision, TokenizerIdentity,
};
use crate::units;

/// The facts of a file, in reading order.
pub(crate) fn facts(loaded: &Loaded) -> Vec<Fact> {
    let file = &loaded.file;
    let mut facts = Facts(Vec::new());
    let provenance = file.exoscope.as_ref();
    target(&mut facts, file, provenance);
    cluster(&mut facts, file, loaded.document_rows.len() > 1);
    if let Some(tokenizer) = provenance.and_then(|provenance| provenance.tokenizer.as_ref()) {
        tokenizer_facts(&mut facts, tokenizer);
    }
    if let Some(provenance) = provenance {
        method(&mut facts, &provenance.method);
        facts.add("sessions", "Sessions", provenance.sessions.to_string());
        facts.add("starts", "Starts", starts(file, provenance));
        let of_parts = |of: fn(&Provenance) -> Option<String>| each_part(file, provenance, of);
        let host = |provenance: &Provenance| Some(format!("{} {}", provenance.host.os, provenance.host.arch));
        let tool = |provenance: &Provenance| Some(format!("{} {}", provenance.tool.name, provenance.tool.version));
        facts.add("tool", "Tool", of_parts(tool));
        facts.add("host", "Probe's host", of_parts(host));
        facts.add("address", "Address", of_parts(|provenance| Some(provenance.target.address.clone())));
        facts.add("started", "Started", of_parts(|provenance| Some(provenance.started_at.clone())));
        facts.add("ended", "Ended", of_parts(|provenance| provenance.ended_at.clone()));
        facts.add("command", "Command", of_parts(|provenance| Some(command(&provenance.command))));
    }
    if let Some(source) = &file.source {
        source_facts(&mut facts, loaded, source);
    }
    let overlay = |overlay: &Overlay| format!("{}, {}", overlay.series.node_id, overlay.instrument);
    facts.add("overlays", "Power overlays", file.overlays.iter().map(overlay).collect::<Vec<_>>().join("; "));
    facts.0
}

/// What each part of a merged file says of itself, once each; what the file says where it is of one run.
fn each_part(file: &ResultFile, whole: &Provenance, of: fn(&Provenance) -> Option<String>) -> String {
    let parts: Vec<&Provenance> = file.merged.iter().filter_map(|part| part.exoscope.as_ref()).collect();
    let parts = if parts.is_empty() { vec![whole] } else { parts };
    distinct(parts.into_iter().map(of))
}

/// Where another tool's file was read from, and what it says of itself.
fn source_facts(facts: &mut Facts, loaded: &Loaded, source: &Source) {
    facts.add("source", "Read from", source.format.clone());
    facts.add("recognised", "Recognised by", source.reason.clone());
    facts.add("class", "Class", loaded.class.words().to_owned());
    let sources: Vec<&Source> = loaded.file.merged.iter().filter_map(|part| part.source.as_ref()).collect();
    let sources = if sources.is_empty() { vec![source] } else { sources };
    // Files that were converted before have it as the original has.
    let spelt: Vec<Option<String>> =
        sources.iter().map(|source| source.started_at.as_deref().map(instant::spelt)).collect();
    facts.add("started", "Started", distinct(spelt.iter().map(Option::as_deref)));
    for (name, value) in &source.about {
        facts.add(&format!("source.{name}"), name, value.clone());
    }
    let sums = distinct(sources.iter().map(|source| Some(source.sha256.as_str())));
    facts.add("sha256", "SHA-256 of the original", sums);
}

struct Facts(Vec<Fact>);

impl Facts {
    fn add(&mut self, key: &str, name: &str, value: String) {
        if !value.is_empty() {
            self.0.push(Fact { key: key.to_owned(), name: name.to_owned(), value });
        }
    }

    fn add_known(&mut self, key: &str, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.add(key, name, value);
        }
    }
}

fn target(facts: &mut Facts, file: &ResultFile, provenance: Option<&Provenance>) {
    let told = |of: fn(&Figures) -> Option<&str>, failed: fn(&Failure) -> Option<&str>| {
        or_failed(file, distinct(file.runs.iter().map(|run| run.figures.as_deref().and_then(of))), failed)
    };
    let or_told =
        |whole: Option<&str>, told: String| if told.is_empty() { whole.unwrap_or_default().to_owned() } else { told };
    let engines = told(|figures| figures.engine.as_deref(), |failure| failure.engine.as_deref());
    facts.add("engine", "Engine", or_told(frame::engine(file), engines));
    facts.add_known("engine_version", "Engine version", provenance.and_then(|p| p.target.engine_version.clone()));
    let models = distinct(file.runs.iter().map(|run| run.model_id.as_deref().or(run.model_short_id.as_deref())));
    let mut models = or_failed(file, models, |failure| failure.model_id.as_deref());
    if models.is_empty() {
        models = provenance.map_or_else(String::new, |p| p.target.model_id.clone());
    }
    facts.add("model", "Model", models);
    let quantizations = told(|figures| figures.quantization.as_deref(), |failure| failure.quantization.as_deref());
    facts.add("quantization", "Quantization", or_told(frame::quantization(file), quantizations));
    let placements = distinct(file.runs.iter().map(|run| {
        let (sharding, meta) = (run.placement_sharding.as_deref()?, run.placement_instance_meta.as_deref()?);
        let actual = run.exoscope.as_ref().and_then(|detail| detail.placement.as_ref());
        Some(match (actual, run.placement_nodes) {
            (Some(actual), _) if sharding == "reused" => {
                let shard = actual.shard.as_deref().unwrap_or(units::ABSENT);
                format!("reused: {shard} / {} / {}", actual.instance, units::count(actual.nodes.len() as u64, "node"))
            }
            (actual, Some(nodes @ 1..)) => {
                let really = actual.map(really).filter(|really| *really != (sharding, meta));
                let really = really.map(|(sharding, meta)| format!(" (really {sharding} / {meta})"));
                let nodes = units::count(u64::from(nodes), "node");
                format!("{sharding} / {meta} / {nodes}{}", really.unwrap_or_default())
            }
            _ => "an instance that was there already (not looked at)".to_owned(),
        })
    }));
    let failed = || {
        distinct(file.failures.iter().map(|failure| {
            let (sharding, meta) =
                (failure.placement_sharding.as_deref()?, failure.placement_instance_meta.as_deref()?);
            let nodes = units::count(u64::from(failure.placement_nodes.filter(|nodes| *nodes > 0)?), "node");
            Some(format!("{sharding} / {meta} / {nodes}"))
        }))
    };
    let placements = if file.runs.is_empty() { failed() } else { placements };
    facts.add("placements", "Placement", placements);
    // The same placement on other machines is another measurement.
    let holders = distinct(file.runs.iter().map(|run| {
        let nodes = &run.exoscope.as_ref()?.placement.as_ref()?.nodes;
        let name = |id: &String| node_name(file, id).unwrap_or_else(|| id.clone());
        Some(nodes.iter().map(name).collect::<Vec<_>>().join(" + "))
    }));
    facts.add("holders", "Model held by", holders);
    let downloads = file.runs.iter().filter_map(|run| run.download_duration_s).reduce(f64::max);
    facts.add_known("download", "Download", downloads.map(|seconds| format!("{} s", units::fixed(seconds, 1))));
    prompt_cache(facts, file, provenance);
}

/// What the rows tell; in a file of failures alone what those tell, for both were asked for alike.
fn or_failed(file: &ResultFile, of_rows: String, of: fn(&Failure) -> Option<&str>) -> String {
    if file.runs.is_empty() { distinct(file.failures.iter().map(of)) } else { of_rows }
}

/// What was built, in the words of the labels.
fn really(actual: &ActualPlacement) -> (&str, &str) {
    let shard = actual.shard.as_deref().unwrap_or(units::ABSENT);
    let instance = actual.instance.as_str();
    (shard.strip_suffix("ShardMetadata").unwrap_or(shard), instance.strip_suffix("Instance").unwrap_or(instance))
}

fn prompt_cache(facts: &mut Facts, file: &ResultFile, provenance: Option<&Provenance>) {
    let allowed = provenance.map(|p| if p.method.use_prefix_cache { "allowed" } else { "not allowed" }.to_owned());
    let hit = |run: &Run| run.stats.as_ref().and_then(|stats| stats.prefix_cache_hit.clone());
    let hits = distinct(file.runs.iter().map(hit));
    // What is said of some rows is not said of all: unknown is not none. Without their number, which is no setting and would
    // be a difference between two runs of the same.
    let untold = file.runs.iter().any(|run| hit(run).is_none());
    let rest = if untold { "; unknown for the other requests" } else { "" };
    let hits = (!hits.is_empty()).then(|| format!("hits: {hits}{rest}"));
    let words: Vec<String> = [allowed, hits].into_iter().flatten().collect();
    facts.add("prompt_cache", "Prefix cache", words.join(", "));
}

fn cluster(facts: &mut Facts, file: &ResultFile, is_of_several: bool) {
    let Some(identities) = file.cluster.as_ref().and_then(|cluster| cluster.node_identities.as_ref()) else {
        return;
    };
    // Node ids change at each start of exo, so nodes are told by name and sorted by it.
    let mut nodes: Vec<String> = identities.iter().map(|(id, node)| node_words(file, id, node)).collect();
    nodes.sort();
    if is_of_several {
        // The same machine has another id in each document.
        nodes.dedup();
    }
    facts.add("nodes", "Nodes", nodes.join("; "));
    let systems = distinct(identities.values().map(|node| {
        let version = known(node, "osVersion")?;
        Some(known(node, "osBuildVersion").map_or_else(|| version.to_owned(), |build| format!("{version} ({build})")))
    }));
    facts.add("systems", "System", systems);
}

fn node_words(file: &ResultFile, id: &str, node: &Value) -> String {
    let name = known(node, "friendlyName").unwrap_or(id);
    let parts: Vec<String> =
        [known(node, "modelId").map(str::to_owned), known(node, "chipId").map(str::to_owned), memory(file, id)]
            .into_iter()
            .flatten()
            .collect();
    if parts.is_empty() { name.to_owned() } else { format!("{name} ({})", parts.join(", ")) }
}

fn memory(file: &ResultFile, id: &str) -> Option<String> {
    let memory: &Map<String, Value> = file.cluster.as_ref()?.node_memory.as_ref()?;
    let total = memory.get(id)?.get("ramTotal")?;
    let bytes = total.get("inBytes").or_else(|| total.get("in_bytes"))?.as_f64()?;
    let scale = units::Scale::of("B", [bytes]);
    Some(format!("{} {}", scale.text(Some(bytes)), scale.label()))
}

/// A node's friendly name; None where exo does not know it.
pub(crate) fn node_name(file: &ResultFile, id: &str) -> Option<String> {
    let node = file.cluster.as_ref()?.node_identities.as_ref()?.get(id)?;
    known(node, "friendlyName").map(str::to_owned)
}

/// exo writes "Unknown", "Unknown Chip", "Unknown Model" where it does not know: absent, not a name.
fn known<'a>(node: &'a Value, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Value::as_str).filter(|text| !text.is_empty() && !text.starts_with("Unknown"))
}

fn tokenizer_facts(facts: &mut Facts, tokenizer: &TokenizerIdentity) {
    let hash = |hex: &str| hex.chars().take(12).collect::<String>();
    facts.add(
        "tokenizer",
        "Tokenizer",
        format!("{} (sha256 {}, {})", tokenizer.name, hash(&tokenizer.sha256), tokenizer.source),
    );
    facts.add_known("tokenizer_revision", "Its revision", tokenizer.revision.as_deref().map(hash));
    facts.add(
        "chat_template",
        "Chat template",
        format!(
            "{} (sha256 {}), {} tokens on an empty message",
            tokenizer.template_source,
            hash(&tokenizer.template_sha256),
            tokenizer.template_overhead_tokens
        ),
    );
    facts.add("atom", "Prompt made of", format!("{:?}", tokenizer.atom));
}

fn method(facts: &mut Facts, method: &Method) {
    facts.add("method", "Method", format!("{}, definitions {}", method.name, method.definition_version));
    facts.add("pp", "Prompt tokens", numbers(&method.pp));
    facts.add("tg", "Tokens to generate", numbers(&method.tg));
    facts.add("pairing", "Lengths paired as", method.pairing.clone());
    facts.add("concurrency", "Concurrency", numbers(&method.concurrency));
    facts.add("repeat", "Repeats", method.repeat.to_string());
    facts.add("warmup", "Warm-ups", method.warmup.to_string());
    let streaming = match (method.stream, method.stream_all) {
        (_, true) => "all",
        (true, false) => "at concurrency 1",
        (false, false) => "none",
    };
    facts.add("streaming", "Streamed answers", streaming.to_owned());
    let instance = if method.reuse_instance { "one that was there already" } else { "placed for the run" };
    facts.add("instance", "Instance", instance.to_owned());
    let interval = method.metrics_interval_s.map_or_else(|| "off".to_owned(), |seconds| format!("each {seconds} s"));
    facts.add("metrics", "Node metrics", interval);
    facts.add_known("idle_baseline", "Power at rest", method.idle_baseline_s.map(baseline));
    facts.add_known("sampling", "Sampling", method.sampling.as_ref().map(sampling));
    facts.add_known("target_precision", "Repeated until", method.target_precision.map(precision));
    facts.add("pauses", "Pauses", pauses(&method.pauses));
}

fn baseline(seconds: f64) -> String {
    format!("recorded for {seconds} s before and after each placement")
}

fn precision(target: TargetPrecision) -> String {
    let most = units::count(u64::from(target.max_repeats), "repeat");
    format!("the mean is known to ± {}, at most {most}", units::percent(target.percent))
}

fn sampling(sampling: &Sampling) -> String {
    let part = |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
    let parts = [
        part("temperature", sampling.temperature.map(|value| value.to_string())),
        part("top-p", sampling.top_p.map(|value| value.to_string())),
        part("top-k", sampling.top_k.map(|value| value.to_string())),
        part("min-p", sampling.min_p.map(|value| value.to_string())),
        part("seed", sampling.seed.map(|value| value.to_string())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// When a run that was resumed was started, and how many rows come from each start.
fn starts(file: &ResultFile, provenance: &Provenance) -> String {
    let rows = |place: usize| {
        let of = |run: &&Run| run.exoscope.as_ref().and_then(|detail| detail.start) == Some(place as u32);
        file.runs.iter().filter(of).count() as u64
    };
    let words = |(place, start): (usize, &Start)| format!("{} ({})", start.at, units::count(rows(place), "row"));
    provenance.starts.iter().enumerate().map(words).collect::<Vec<_>>().join("; ")
}

/// The placement that an instance was, by exo's labels.
fn placement_words(file: &ResultFile, instance_id: &str) -> Option<String> {
    let run = file.runs.iter().find(|run| run.instance_id.as_deref() == Some(instance_id))?;
    let (sharding, meta) = (run.placement_sharding.as_deref()?, run.placement_instance_meta.as_deref()?);
    Some(format!("{sharding} / {meta} / {}", units::count(u64::from(run.placement_nodes?), "node")))
}

/// What is wrong with the readings of each node and placement, a sentence each.
///
/// Judged here and not by the file's own `health`, so that files of before it was written are judged too.
pub(super) fn channel_notices(file: &ResultFile) -> Vec<String> {
    let mut notices = Vec::new();
    let first = file.metric_series.first();
    let sessions = file.metric_series.iter().any(|other| first.is_some_and(|first| first.session != other.session));
    let placements =
        distinct(file.metric_series.iter().map(|series| placement_words(file, series.instance_id.as_deref()?)));
    let instances = placements.contains("; ");
    for series in &file.metric_series {
        let name = node_name(file, &series.node_id).unwrap_or_else(|| series.node_id.clone());
        let session = if sessions { format!(" in session {}", series.session) } else { String::new() };
        let placement = series.instance_id.as_deref().filter(|_| instances).and_then(|id| placement_words(file, id));
        let place = placement.map_or_else(|| session.clone(), |words| format!(" on {words}{session}"));
        let health = energy::health(series);
        let polls = units::count(health.polls, "poll");
        if health.polls > 0 && health.missing == health.polls {
            notices.push(format!("power of node {name}{place} is missing in all of {polls}"));
        } else if health.missing > 0 {
            notices.push(format!("power of node {name}{place} is missing in {} of {polls}", health.missing));
        }
        if health.frozen_s > energy::STALLED_S {
            notices.push(format!("power of node {name}{place} froze for {} s", units::fixed(health.frozen_s, 0)));
        }
        if health.zero > 0 {
            notices.push(format!("power of node {name}{place} was 0 W in {} of {polls}", health.zero));
        }
    }
    notices
}

fn pauses(pauses: &Pauses) -> String {
    if *pauses == Pauses::default() {
        return "exo's".to_owned();
    }
    format!(
        "cleanup {} s, ready {} s, repeat {} s, group {} s, placement {} s",
        pauses.after_cleanup_s,
        pauses.after_ready_s,
        pauses.before_repeat_s,
        pauses.after_group_s,
        pauses.after_placement_s
    )
}

fn numbers<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn command(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        if word.is_empty() || word.contains(|letter: char| letter.is_whitespace() || "'\"$`\\".contains(letter)) {
            format!("'{}'", word.replace('\'', "'\\''"))
        } else {
            word.clone()
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn distinct<T: Ord + AsRef<str>>(values: impl Iterator<Item = Option<T>>) -> String {
    let mut seen = BTreeSet::new();
    let mut first_seen = String::new();
    for value in values.flatten() {
        if !seen.contains(&value) {
            first_seen.push_str(if seen.is_empty() { "" } else { "; " });
            first_seen.push_str(value.as_ref());
            seen.insert(value);
        }
    }
    first_seen
}
