//! Records → one row of the frame per request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use polars::prelude::*;

use super::FrameError;
use super::columns::{
    CACHE, CLIENT_ENERGY, CONCURRENCY, CONNECT, DONE, ELAPSED, GAPS, GENERATION_TOKENS, GENERATION_TPS, INSTANCE_META,
    ITL, ITL_P99, MAX_TIMES_N, MODEL, NODES, OUTPUT_TPS, OVERHEAD, PEAK, PP, PROMPT_TOKENS, PROMPT_TPS,
    PUBLISHED_POWER, REPEAT, REQUESTS_PER_S, SENT, SERVER_DECODE_ENERGY, SERVER_ENERGY, SERVER_PREFILL_ENERGY,
    SERVER_SAMPLES, SESSION, SHARDING, STANDS_FOR, STREAMED, TG, TPOT, TTFT, TTFT_GAP,
};
use crate::import::Loaded;
use crate::latency;
use crate::metric::is_value;
use crate::record::{Figures, MemorySize, PowerUsage, ResultFile, Run, RunDetail, SeriesColumns};
use crate::summary::CacheState;

/// The columns of numbers, each with what it holds of a request.
pub(super) const VALUES: [(&str, fn(&Run) -> Option<f64>); 26] = [
    (PROMPT_TPS, |run| run.stats.as_ref().and_then(|stats| stats.prompt_tps)),
    (GENERATION_TPS, |run| run.stats.as_ref().and_then(|stats| stats.generation_tps)),
    (PROMPT_TOKENS, |run| run.stats.as_ref().and_then(|stats| stats.prompt_tokens.map(|count| count as f64))),
    (GENERATION_TOKENS, |run| run.stats.as_ref().and_then(|stats| stats.generation_tokens.map(|count| count as f64))),
    (PEAK, |run| run.stats.as_ref().and_then(|stats| stats.peak_memory_usage.map(|size| size.bytes() as f64))),
    (ELAPSED, |run| run.elapsed_s),
    (TTFT, time_to_first_token),
    (SENT, sent),
    (DONE, done),
    (SERVER_ENERGY, |run| energy(server_account(run)?.total_energy_joules)),
    (SERVER_SAMPLES, server_samples),
    (TTFT_GAP, gap_to_server),
    (TPOT, time_per_token),
    (ITL, mean_gap),
    (ITL_P99, |run| late_gap(run).map(|(gap, _)| gap).or_else(|| figures(run)?.itl_p99_s)),
    (GAPS, |run| late_gap(run).map(|(_, gaps)| gaps as f64)),
    (OVERHEAD, overhead),
    (CONNECT, |run| run.exoscope.as_ref()?.timing.connect_s),
    (SERVER_PREFILL_ENERGY, prefill_energy),
    (SERVER_DECODE_ENERGY, decode_energy),
    (STANDS_FOR, |run| Some(figures(run)?.stands_for.unwrap_or(1) as f64)),
    (OUTPUT_TPS, |run| figures(run)?.output_tps),
    (REQUESTS_PER_S, |run| figures(run)?.requests_per_s),
    (MAX_TIMES_N, |run| figures(run)?.exo_max_times_n_tps),
    (CLIENT_ENERGY, |run| energy(figures(run)?.client_energy_j)),
    (PUBLISHED_POWER, |run| figures(run)?.power_w.filter(|watts| SeriesColumns::is_power(*watts))),
];

/// A number of a request; none where it can be no value.
pub(super) fn value(run: &Run, of: fn(&Run) -> Option<f64>) -> Option<f64> {
    of(run).filter(|value| is_value(*value))
}

/// All columns of the rows of a file.
pub(super) fn lay_out(loaded: &Loaded) -> Result<DataFrame, FrameError> {
    let runs = &loaded.file.runs;
    let text = |name: &str, of: fn(&Run) -> Option<Cow<'_, str>>| {
        StringChunked::from_iter_options(name.into(), runs.iter().map(of)).into_column()
    };
    let mut columns = vec![
        text(MODEL, |run| run.model_id.as_deref().map(Cow::Borrowed)),
        text(SHARDING, |run| word(sharding(run)?).map(Cow::Owned)),
        text(INSTANCE_META, |run| word(instance_meta(run)?).map(Cow::Owned)),
        Column::new(NODES.into(), runs.iter().map(nodes).collect::<Vec<Option<u32>>>()),
        Column::new(PP.into(), runs.iter().map(|run| run.pp_tokens).collect::<Vec<Option<u64>>>()),
        Column::new(TG.into(), runs.iter().map(|run| run.tg).collect::<Vec<Option<u64>>>()),
        Column::new(CONCURRENCY.into(), runs.iter().map(concurrency).collect::<Vec<Option<u32>>>()),
        Column::new(CACHE.into(), runs.iter().map(|run| cache_code(cache(run))).collect::<Vec<u32>>()),
        Column::new(STREAMED.into(), runs.iter().map(streamed).collect::<Vec<Option<bool>>>()),
        Column::new(REPEAT.into(), runs.iter().map(|run| run.repeat_index).collect::<Vec<Option<u32>>>()),
        Column::new(SESSION.into(), sessions(loaded)),
    ];
    columns.extend(VALUES.iter().map(|(name, of)| {
        let values = Float64Chunked::from_iter_options((*name).into(), runs.iter().map(|run| value(run, *of)));
        values.into_column()
    }));
    Ok(DataFrame::new(columns)?)
}

/// Numbers the sessions: a document of the file, a session of it, and an instance, for the instance is replaced between
/// sessions even where the file does not count them.
pub(super) fn sessions(loaded: &Loaded) -> Vec<u32> {
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

/// exo's bench knew no concurrency before 2026-03-09: every request was alone. Other tools may not tell.
pub(crate) fn concurrency(run: &Run) -> Option<u32> {
    run.concurrency.or_else(|| run.figures.is_none().then_some(1))
}

/// The engine of a file's rows, where they do not tell themselves. A shape with neither provenance nor source was written by
/// exo's bench.
pub(crate) fn engine(file: &ResultFile) -> Option<&str> {
    match (&file.exoscope, &file.source) {
        (Some(provenance), _) => Some(&provenance.target.engine),
        (None, Some(source)) => source.engine.as_deref(),
        (None, None) => Some("exo"),
    }
}

/// The quantization of a file's rows, where they do not tell themselves.
pub(crate) fn quantization(file: &ResultFile) -> Option<&str> {
    let about = || file.source.as_ref().map(|source| &source.about);
    let told = || about().and_then(|about| about.get("model_quantization").or_else(|| about.get("quantization")));
    file.exoscope.as_ref().map_or_else(|| told().map(String::as_str), |own| own.target.quantization.as_deref())
}

/// What was built where it was looked at, else the label.
pub(super) fn sharding(run: &Run) -> Option<&str> {
    let actual = actual(run).and_then(|placement| placement.shard.as_deref());
    actual.or(run.placement_sharding.as_deref())
}

pub(super) fn instance_meta(run: &Run) -> Option<&str> {
    let actual = actual(run).map(|placement| placement.instance.as_str());
    actual.or(run.placement_instance_meta.as_deref())
}

/// Labels and tags say the same in different words ("PipelineShardMetadata" and "Pipeline", "MlxRingInstance" and "MlxRing"),
/// which must fall into one cell.
pub(super) fn word(label: &str) -> Option<String> {
    let label = label.strip_suffix("ShardMetadata").or_else(|| label.strip_suffix("Instance")).unwrap_or(label);
    let label = label.strip_prefix("Mlx").unwrap_or(label).to_lowercase();
    (!label.is_empty() && label != "reused").then_some(label)
}

pub(super) fn nodes(run: &Run) -> Option<u32> {
    let seen = actual(run).and_then(|placement| u32::try_from(placement.nodes.len()).ok());
    // exo writes 0 for a reused instance: it did not look.
    seen.or(run.placement_nodes).filter(|nodes| *nodes > 0)
}

fn actual(run: &Run) -> Option<&crate::record::ActualPlacement> {
    run.exoscope.as_ref()?.placement.as_ref()
}

pub(super) fn cache(run: &Run) -> CacheState {
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
pub(crate) fn streamed(run: &Run) -> Option<bool> {
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

/// The same where its tokens can have come as they are told.
fn streamed_tokens(run: &Run) -> Option<&RunDetail> {
    streamed_detail(run).filter(|_| has_possible_tokens(run))
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

/// No machine gives energy back.
fn energy(joules: Option<f64>) -> Option<f64> {
    joules.filter(|joules| *joules >= 0.0)
}

fn prefill_energy(run: &Run) -> Option<f64> {
    let told = server_account(run).map(|power| power.prefill_energy_joules);
    energy(told.unwrap_or_else(|| figures(run)?.server_prefill_energy_j))
}

fn decode_energy(run: &Run) -> Option<f64> {
    let told = server_account(run).map(|power| power.generation_energy_joules);
    energy(told.unwrap_or_else(|| figures(run)?.server_decode_energy_j))
}

fn time_to_first_token(run: &Run) -> Option<f64> {
    if let Some(figures) = figures(run) {
        return figures.ttft_s;
    }
    if !has_possible_first_token(run) {
        return None;
    }
    let timing = &streamed_detail(run)?.timing;
    Some(timing.first_token_s? - timing.sent_s)
}

/// A part of a request that takes this many times as long as all of it cannot be.
const PART_OF_WHOLE: f64 = 2.0;

/// Whether the first token came between sending and the end of the answer, and within the time that the request took.
pub(crate) fn has_possible_first_token(run: &Run) -> bool {
    let Some((timing, first)) =
        run.exoscope.as_ref().and_then(|detail| Some((&detail.timing, detail.timing.first_token_s?)))
    else {
        return true;
    };
    let after = first - timing.sent_s;
    (timing.sent_s..=timing.done_s).contains(&first) && whole_s(run).is_none_or(|all| after <= PART_OF_WHOLE * all)
}

/// How long the request took, where that can be.
fn whole_s(run: &Run) -> Option<f64> {
    run.elapsed_s.filter(|seconds| *seconds > 0.0)
}

/// Whether the instants between the tokens can be those of a request that took as long.
fn has_possible_tokens(run: &Run) -> bool {
    let span = run.exoscope.as_ref().and_then(|detail| {
        let timing = &detail.timing;
        let of_offsets = || Some(timing.token_offsets_s.as_ref()?.last()? - timing.token_offsets_s.as_ref()?.first()?);
        of_offsets().or_else(|| Some(timing.last_token_s? - timing.first_token_s?))
    });
    span.zip(whole_s(run)).is_none_or(|(span, all)| span <= PART_OF_WHOLE * all)
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
    let timing = &streamed_tokens(run)?.timing;
    let tokens = run.stats.as_ref()?.generation_tokens?;
    latency::time_per_token_s(timing.first_token_s?, timing.last_token_s?, tokens)
}

fn mean_gap(run: &Run) -> Option<f64> {
    if let Some(figures) = figures(run) {
        return figures.itl_s;
    }
    let detail = streamed_tokens(run)?;
    let timing = &detail.timing;
    let ends = || Some((timing.first_token_s?, timing.last_token_s?, detail.tokens.generation_frames?));
    latency::mean_gap_s(timing.token_offsets_s.as_deref(), ends())
}

fn late_gap(run: &Run) -> Option<(f64, usize)> {
    latency::late_gap_s(streamed_tokens(run)?.timing.token_offsets_s.as_deref()?)
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
