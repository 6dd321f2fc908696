//! Rows of zeros, which exo's client writes for a stream that failed: failures, and no requests of 0 tok/s.

use super::Loaded;
use crate::frame;
use crate::record::{Failure, FailureKind, ResultFile, Run};
use crate::units;

/// What such a failure says; the client dropped the server's own words.
const MESSAGE: &str = "a row of zeros, as exo's client writes for a stream that failed";

/// Counts the rows of zeros as failures. Gives a sentence where there are any.
///
/// Exoscope's own rows are never of zeros, and other tools' have no such rates.
pub(super) fn sift(loaded: &mut Loaded) -> Option<String> {
    let file = &mut loaded.file;
    if file.exoscope.is_some() || file.source.is_some() || !file.runs.iter().any(is_of_zeros) {
        return None;
    }
    let all = file.runs.len();
    let mut rows = std::mem::take(&mut file.runs).into_iter();
    for count in &mut loaded.document_rows {
        let of_document: Vec<Run> = rows.by_ref().take(*count).collect();
        *count = keep(file, of_document);
    }
    keep(file, rows.collect());
    let failed = (all - file.runs.len()) as u64;
    Some(format!(
        "{} {}, and in no number",
        units::part(failed, all as u64, "row"),
        units::agree(
            failed,
            "holds zeros, as exo's client writes for a stream that failed: counted as a failure",
            "hold zeros, as exo's client writes for a stream that failed: counted as failures"
        )
    ))
}

/// Puts the rows where they belong; gives how many are kept.
fn keep(file: &mut ResultFile, rows: Vec<Run>) -> usize {
    let before = file.runs.len();
    for row in rows {
        if is_of_zeros(&row) { file.failures.push(failure(&row)) } else { file.runs.push(row) }
    }
    file.runs.len() - before
}

/// A request of one token has a decode rate of 0, and a prefill rate above.
fn is_of_zeros(run: &Run) -> bool {
    let stats = run.stats.as_ref();
    stats.is_some_and(|stats| stats.prompt_tps == Some(0.0) && stats.generation_tps == Some(0.0))
}

fn failure(run: &Run) -> Failure {
    Failure {
        kind: FailureKind::NoToken,
        message: MESSAGE.to_owned(),
        status: None,
        warmup: false,
        model_id: run.model_id.as_deref().map(str::to_owned),
        placement_sharding: run.placement_sharding.as_deref().map(str::to_owned),
        placement_instance_meta: run.placement_instance_meta.as_deref().map(str::to_owned),
        placement_nodes: run.placement_nodes,
        instance_id: run.instance_id.as_deref().map(str::to_owned),
        pp_tokens: run.pp_tokens,
        tg: run.tg,
        concurrency: run.concurrency,
        repeat_index: run.repeat_index.unwrap_or(0),
        request_index: run.concurrent_index.unwrap_or(0),
        session: 0,
        start: None,
        use_prefix_cache: false,
        streamed: frame::streamed(run).unwrap_or(false),
        sent_s: None,
        ended_s: None,
        frames: None,
        engine: None,
        quantization: None,
        settings: std::collections::BTreeMap::new(),
    }
}
