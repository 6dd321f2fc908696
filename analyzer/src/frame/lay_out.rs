//! Records → one row of the frame per request.

use std::collections::BTreeMap;

use polars::prelude::*;

use super::FrameError;
use super::columns::{
    CACHE, CLIENT_ENERGY, CONCURRENCY, CONNECT, DONE, ELAPSED, GAPS, GENERATION_TOKENS, GENERATION_TPS, INSTANCE_META,
    ITL, ITL_P99, MAX_TIMES_N, MODEL, NODES, OCCURRENCE, OUTPUT_TPS, OVERHEAD, PEAK, PP, PROMPT_TOKENS, PROMPT_TPS,
    PUBLISHED_POWER, REPEAT, REQUESTS_PER_S, ROW, SENT, SERVER_DECODE_ENERGY, SERVER_ENERGY, SERVER_PREFILL_ENERGY,
    SERVER_SAMPLES, SESSION, SHARDING, STANDS_FOR, STREAMED, TG, TPOT, TTFT, TTFT_GAP,
};
use crate::import::Loaded;
use crate::latency;
use crate::record::{Figures, GenerationStats, MemorySize, PowerUsage, Run, RunDetail};
use crate::summary::CacheState;

/// Lays the rows of a file out as columns.
pub(super) fn lay_out(loaded: &Loaded) -> Result<DataFrame, FrameError> {
    let runs = &loaded.file.runs;
    let sessions = sessions(loaded);
    let numbers: Vec<u32> = (0..).take(runs.len()).collect();
    let stats = |of: fn(&GenerationStats) -> Option<f64>| -> Vec<Option<f64>> {
        runs.iter().map(|run| run.stats.as_ref().and_then(of)).collect()
    };
    let each = |of: fn(&Run) -> Option<f64>| -> Vec<Option<f64>> { runs.iter().map(of).collect() };
    let texts = |of: fn(&Run) -> Option<String>| -> Vec<Option<String>> { runs.iter().map(of).collect() };
    Ok(DataFrame::new(vec![
        Column::new(ROW.into(), numbers),
        Column::new(MODEL.into(), texts(|run| run.model_id.clone())),
        Column::new(SHARDING.into(), texts(sharding)),
        Column::new(INSTANCE_META.into(), texts(instance_meta)),
        Column::new(NODES.into(), runs.iter().map(nodes).collect::<Vec<Option<u32>>>()),
        Column::new(PP.into(), runs.iter().map(|run| run.pp_tokens).collect::<Vec<Option<u64>>>()),
        Column::new(TG.into(), runs.iter().map(|run| run.tg).collect::<Vec<Option<u64>>>()),
        Column::new(CONCURRENCY.into(), runs.iter().map(concurrency).collect::<Vec<u32>>()),
        Column::new(CACHE.into(), runs.iter().map(|run| cache_code(cache(run))).collect::<Vec<u32>>()),
        Column::new(STREAMED.into(), runs.iter().map(streamed).collect::<Vec<Option<bool>>>()),
        Column::new(REPEAT.into(), runs.iter().map(|run| run.repeat_index).collect::<Vec<Option<u32>>>()),
        Column::new(OCCURRENCE.into(), occurrences(runs, &sessions)),
        Column::new(SESSION.into(), sessions),
        Column::new(PROMPT_TPS.into(), stats(|stats| stats.prompt_tps)),
        Column::new(GENERATION_TPS.into(), stats(|stats| stats.generation_tps)),
        Column::new(PROMPT_TOKENS.into(), stats(|stats| stats.prompt_tokens.map(|count| count as f64))),
        Column::new(GENERATION_TOKENS.into(), stats(|stats| stats.generation_tokens.map(|count| count as f64))),
        Column::new(PEAK.into(), stats(|stats| stats.peak_memory_usage.map(|size| size.bytes() as f64))),
        Column::new(ELAPSED.into(), each(|run| run.elapsed_s)),
        Column::new(TTFT.into(), each(time_to_first_token)),
        Column::new(SENT.into(), each(sent)),
        Column::new(DONE.into(), each(done)),
        Column::new(SERVER_ENERGY.into(), each(|run| server_account(run)?.total_energy_joules)),
        Column::new(SERVER_SAMPLES.into(), each(server_samples)),
        Column::new(TTFT_GAP.into(), each(gap_to_server)),
        Column::new(TPOT.into(), each(time_per_token)),
        Column::new(ITL.into(), each(mean_gap)),
        Column::new(ITL_P99.into(), each(|run| late_gap(run).map(|(gap, _)| gap).or_else(|| figures(run)?.itl_p99_s))),
        Column::new(GAPS.into(), each(|run| late_gap(run).map(|(_, gaps)| gaps as f64))),
        Column::new(OVERHEAD.into(), each(overhead)),
        Column::new(CONNECT.into(), each(|run| run.exoscope.as_ref()?.timing.connect_s)),
        Column::new(SERVER_PREFILL_ENERGY.into(), each(prefill_energy)),
        Column::new(SERVER_DECODE_ENERGY.into(), each(decode_energy)),
        Column::new(STANDS_FOR.into(), each(|run| Some(figures(run)?.stands_for.unwrap_or(1) as f64))),
        Column::new(OUTPUT_TPS.into(), each(|run| figures(run)?.output_tps)),
        Column::new(REQUESTS_PER_S.into(), each(|run| figures(run)?.requests_per_s)),
        Column::new(MAX_TIMES_N.into(), each(|run| figures(run)?.exo_max_times_n_tps)),
        Column::new(CLIENT_ENERGY.into(), each(|run| figures(run)?.client_energy_j)),
        Column::new(PUBLISHED_POWER.into(), each(|run| figures(run)?.power_w)),
    ])?)
}

/// Numbers the sessions: a document of the file, a session of it, and an instance, for the instance is replaced between
/// sessions even where the file does not count them.
fn sessions(loaded: &Loaded) -> Vec<u32> {
    let mut documents =
        loaded.document_rows.iter().enumerate().flat_map(|(place, rows)| std::iter::repeat_n(place, *rows));
    let mut known: BTreeMap<(Option<usize>, Option<u32>, Option<&str>), u32> = BTreeMap::new();
    loaded
        .file
        .runs
        .iter()
        .map(|run| {
            let session = run.exoscope.as_ref().map(|detail| detail.session);
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry((documents.next(), session, run.instance_id.as_deref())).or_insert(next)
        })
        .collect()
}

/// Counts earlier rows with the same batch key and the same place in the batch. Two batches tie where `--pp 512,512` names
/// a length twice; their rows are told apart by that each place occurs once in a batch.
fn occurrences(runs: &[Run], sessions: &[u32]) -> Vec<u32> {
    type Place<'a> = (u32, Option<&'a str>, Option<u64>, Option<u64>, u32, Option<u32>, Option<u32>);
    let mut seen: BTreeMap<Place<'_>, u32> = BTreeMap::new();
    runs.iter()
        .zip(sessions)
        .map(|(run, session)| {
            let place = run.concurrent_index.or_else(|| run.exoscope.as_ref().map(|detail| detail.request_index));
            let key =
                (*session, run.model_id.as_deref(), run.pp_tokens, run.tg, concurrency(run), run.repeat_index, place);
            let count = seen.entry(key).or_insert(0);
            *count += 1;
            *count - 1
        })
        .collect()
}

/// exo's bench knew no concurrency before 2026-03-09: every request was alone.
fn concurrency(run: &Run) -> u32 {
    run.concurrency.unwrap_or(1)
}

/// What was built where it was looked at, else the label. Labels and tags say the same in different words
/// ("PipelineShardMetadata" and "Pipeline", "MlxRingInstance" and "MlxRing"), which must fall into one cell.
fn sharding(run: &Run) -> Option<String> {
    let actual = actual(run).and_then(|placement| placement.shard.as_deref());
    word(actual.or(run.placement_sharding.as_deref())?)
}

fn instance_meta(run: &Run) -> Option<String> {
    let actual = actual(run).map(|placement| placement.instance.as_str());
    word(actual.or(run.placement_instance_meta.as_deref())?)
}

fn word(label: &str) -> Option<String> {
    let label = label.strip_suffix("ShardMetadata").or_else(|| label.strip_suffix("Instance")).unwrap_or(label);
    let label = label.strip_prefix("Mlx").unwrap_or(label).to_lowercase();
    (!label.is_empty() && label != "reused").then_some(label)
}

fn nodes(run: &Run) -> Option<u32> {
    let seen = actual(run).and_then(|placement| u32::try_from(placement.nodes.len()).ok());
    // exo writes 0 for a reused instance: it did not look.
    seen.or(run.placement_nodes).filter(|nodes| *nodes > 0)
}

fn actual(run: &Run) -> Option<&crate::record::ActualPlacement> {
    run.exoscope.as_ref()?.placement.as_ref()
}

fn cache(run: &Run) -> CacheState {
    match run.stats.as_ref().and_then(|stats| stats.prefix_cache_hit.as_deref()) {
        Some("none") => CacheState::Cold,
        Some("partial") => CacheState::Partial,
        Some("exact") => CacheState::Exact,
        // A request that forbids the cache is cold, even where the server does not repeat it.
        _ if run.exoscope.as_ref().is_some_and(|detail| !detail.use_prefix_cache) => CacheState::Cold,
        _ => CacheState::Unknown,
    }
}

/// exo's files do not say whether an answer was streamed, but they show it: streams spell the peak memory `in_bytes` and
/// carry no power account; the client's own fallback for a stream without statistics writes a peak of 0.
fn streamed(run: &Run) -> Option<bool> {
    if let Some(detail) = &run.exoscope {
        return Some(detail.streamed);
    }
    if let Some(figures) = figures(run) {
        return figures.streamed;
    }
    if run.power_usage.is_some() {
        return Some(false);
    }
    match run.stats.as_ref()?.peak_memory_usage? {
        MemorySize::Snake { .. } => Some(true),
        MemorySize::Camel { in_bytes: 0 } => None,
        MemorySize::Camel { .. } => Some(false),
    }
}

fn streamed_detail(run: &Run) -> Option<&RunDetail> {
    run.exoscope.as_deref().filter(|detail| detail.streamed)
}

fn figures(run: &Run) -> Option<&Figures> {
    run.figures.as_deref()
}

fn sent(run: &Run) -> Option<f64> {
    let seen = run.exoscope.as_ref().map(|detail| detail.timing.sent_s);
    seen.or_else(|| figures(run)?.sent_s)
}

fn done(run: &Run) -> Option<f64> {
    let seen = run.exoscope.as_ref().map(|detail| detail.timing.done_s);
    seen.or_else(|| figures(run)?.done_s)
}

fn prefill_energy(run: &Run) -> Option<f64> {
    server_account(run).map_or_else(|| figures(run)?.server_prefill_energy_j, |power| power.prefill_energy_joules)
}

fn decode_energy(run: &Run) -> Option<f64> {
    server_account(run).map_or_else(|| figures(run)?.server_decode_energy_j, |power| power.generation_energy_joules)
}

fn time_to_first_token(run: &Run) -> Option<f64> {
    if let Some(figures) = figures(run) {
        return figures.ttft_s;
    }
    let detail = streamed_detail(run)?;
    Some(detail.timing.first_token_s? - detail.timing.sent_s)
}

/// The server's prefill and decode times, s. Of a cold request only: where the cache served a part, the rate covers the rest
/// and the tokens do not.
///
/// The rates of other tools are their clients' own or an engine's without requests: no phases of a server follow from them.
fn server_phases(run: &Run) -> Option<(f64, f64)> {
    if run.figures.is_some() {
        return None;
    }
    let stats = run.stats.as_ref().filter(|_| cache(run) == CacheState::Cold)?;
    let count = |tokens: Option<u64>| tokens.map(|tokens| tokens as f64);
    let prefill = latency::server_phase_s(count(stats.prompt_tokens), stats.prompt_tps)?;
    Some((prefill, latency::server_phase_s(count(stats.generation_tokens), stats.generation_tps)?))
}

fn gap_to_server(run: &Run) -> Option<f64> {
    Some(time_to_first_token(run)? - server_phases(run)?.0)
}

fn overhead(run: &Run) -> Option<f64> {
    let (prefill, decode) = server_phases(run)?;
    Some(run.elapsed_s? - prefill - decode)
}

fn time_per_token(run: &Run) -> Option<f64> {
    if let Some(figures) = figures(run) {
        return figures.tpot_s;
    }
    let timing = &streamed_detail(run)?.timing;
    let tokens = run.stats.as_ref()?.generation_tokens?;
    latency::time_per_token_s(timing.first_token_s?, timing.last_token_s?, tokens)
}

fn mean_gap(run: &Run) -> Option<f64> {
    if let Some(figures) = figures(run) {
        return figures.itl_s;
    }
    let detail = streamed_detail(run)?;
    let timing = &detail.timing;
    let ends = || Some((timing.first_token_s?, timing.last_token_s?, detail.tokens.generation_frames?));
    latency::mean_gap_s(timing.token_offsets_s.as_deref(), ends())
}

fn late_gap(run: &Run) -> Option<(f64, usize)> {
    latency::late_gap_s(streamed_detail(run)?.timing.token_offsets_s.as_deref()?)
}

/// The server adds up the nodes that report power; with none of them its 0 J is no energy.
fn server_account(run: &Run) -> Option<&PowerUsage> {
    run.power_usage.as_deref().filter(|power| !power.nodes.is_empty())
}

/// Power readings of the node with the fewest; none where the server does not count them.
fn server_samples(run: &Run) -> Option<f64> {
    let power = run.power_usage.as_ref()?;
    power.nodes.iter().filter_map(|node| node.samples).min().map(|samples| samples as f64)
}

/// Cache states as numbers, in the order of [`CacheState`].
pub(super) const fn cache_code(state: CacheState) -> u32 {
    match state {
        CacheState::Cold => 0,
        CacheState::Partial => 1,
        CacheState::Exact => 2,
        CacheState::Unknown => 3,
    }
}

pub(crate) const fn cache_state(code: Option<u32>) -> CacheState {
    match code {
        Some(0) => CacheState::Cold,
        Some(1) => CacheState::Partial,
        Some(2) => CacheState::Exact,
        _ => CacheState::Unknown,
    }
}
