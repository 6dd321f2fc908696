//! A row per request that gave no valid answer, warm-ups included.

use super::{Table, origin};
use crate::import::Loaded;
use crate::record::Failure;

/// The failures of a file. `run` names the run: the same word for the same content.
#[must_use]
pub fn failures(loaded: &Loaded, run: &str) -> Table {
    let failures = &loaded.file.failures;
    let whole = |of: fn(&Failure) -> Option<u64>| failures.iter().map(of);
    let text = |of: fn(&Failure) -> Option<String>| failures.iter().map(of);
    let mut table = Table::default();
    origin(&mut table, loaded, run, failures.len());
    table.text("model_id", text(|failure| failure.model_id.clone()));
    table.text("placement_sharding", text(|failure| failure.placement_sharding.clone()));
    table.text("placement_instance_meta", text(|failure| failure.placement_instance_meta.clone()));
    table.whole("placement_nodes", whole(|failure| failure.placement_nodes.map(u64::from)));
    table.text("instance_id", text(|failure| failure.instance_id.clone()));
    table.whole("pp_tokens", whole(|failure| failure.pp_tokens));
    table.whole("tg_tokens", whole(|failure| failure.tg));
    table.whole("concurrency", whole(|failure| failure.concurrency.map(u64::from)));
    table.whole("session", whole(|failure| Some(failure.session.into())));
    table.whole("repeat_index", whole(|failure| Some(failure.repeat_index.into())));
    table.whole("request_index", whole(|failure| Some(failure.request_index.into())));
    table.flag("warmup", failures.iter().map(|failure| Some(failure.warmup)));
    table.flag("streamed", failures.iter().map(|failure| Some(failure.streamed)));
    table.flag("use_prefix_cache", failures.iter().map(|failure| Some(failure.use_prefix_cache)));
    table.text("kind", failures.iter().map(kind));
    table.whole("http_status", whole(|failure| failure.status.map(Into::into)));
    table.text("message", text(|failure| Some(failure.message.clone())));
    table.number("sent_s", failures.iter().map(|failure| failure.sent_s));
    table.number("ended_s", failures.iter().map(|failure| failure.ended_s));
    table.whole("frames", whole(|failure| failure.frames));
    table
}

/// The kind as the file spells it: "http_status".
fn kind(failure: &Failure) -> Option<String> {
    serde_json::to_value(failure.kind).ok()?.as_str().map(str::to_owned)
}
