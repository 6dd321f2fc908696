//! A row per valid request: what stands in the file, and what the frame reckons of each request.

use polars::prelude::{DataFrame, PolarsError};

use super::{Column, Table, Values, origin};
use crate::frame::{self, FrameError, columns as names};
use crate::import::Loaded;
use crate::metric::is_value;
use crate::record::{GenerationStats, Run, RunDetail, Timing};

/// The requests of a file. `run` names the run: the same word for the same content.
///
/// # Errors
/// [`FrameError`] is a fault of this program: every file that was loaded can be laid out.
pub fn requests(loaded: &Loaded, run: &str) -> Result<Table, FrameError> {
    let runs = &loaded.file.runs;
    let frame = frame::requests(loaded)?;
    let mut table = Table::default();
    origin(&mut table, loaded, run, runs.len());
    let provenance = loaded.file.exoscope.as_ref();
    let target = provenance.map(|provenance| &provenance.target);
    let whole = frame::engine(&loaded.file);
    let engine = |run: &Run| run.figures.as_ref().and_then(|figures| figures.engine.clone());
    table.text("engine", runs.iter().map(|run| engine(run).or_else(|| whole.map(str::to_owned))));
    let version = target.and_then(|target| target.engine_version.clone());
    table.text("engine_version", runs.iter().map(|run| version.clone().or_else(|| told(loaded, run, &VERSIONS))));
    let whole = frame::quantization(&loaded.file);
    let quantization = |run: &Run| run.figures.as_ref().and_then(|figures| figures.quantization.clone());
    table.text("quantization", runs.iter().map(|run| quantization(run).or_else(|| whole.map(str::to_owned))));
    let settings = |run: &Run| {
        let settings = &run.figures.as_ref().filter(|figures| !figures.settings.is_empty())?.settings;
        Some(settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";"))
    };
    table.text("settings", runs.iter().map(settings));

    table.copy(&frame, names::MODEL, "model_id")?;
    table.copy(&frame, names::SHARDING, "sharding")?;
    table.copy(&frame, names::INSTANCE_META, "instance_meta")?;
    table.copy(&frame, names::NODES, "nodes")?;
    table.text("node_ids", runs.iter().map(|run| Some(detail(run)?.placement.as_ref()?.nodes.join(";"))));
    table.text("instance_id", runs.iter().map(|run| run.instance_id.as_deref().map(str::to_owned)));
    table.copy(&frame, names::PP, "pp_tokens")?;
    table.copy(&frame, names::TG, "tg_tokens")?;
    table.copy(&frame, names::CONCURRENCY, "concurrency")?;
    table.copy(&frame, names::STREAMED, "streamed")?;
    table.text("cache", cache(&frame)?.into_iter());
    table.flag("use_prefix_cache", runs.iter().map(|run| detail(run).map(|detail| detail.use_prefix_cache)));
    table.copy(&frame, names::SESSION, "session")?;
    table.copy(&frame, names::REPEAT, "repeat_index")?;
    table.whole("request_index", runs.iter().map(|run| detail(run).map(|detail| detail.request_index.into())));
    table.whole("concurrent_index", runs.iter().map(|run| run.concurrent_index.map(Into::into)));

    table.copy(&frame, names::PROMPT_TPS, "prefill_tokens_per_s")?;
    table.copy(&frame, names::GENERATION_TPS, "decode_tokens_per_s")?;
    table.copy(&frame, names::ELAPSED, "elapsed_s")?;
    table.copy(&frame, names::TTFT, "ttft_s")?;
    table.copy(&frame, names::TTFT_GAP, "ttft_gap_s")?;
    table.copy(&frame, names::TPOT, "tpot_s")?;
    table.copy(&frame, names::ITL, "itl_mean_s")?;
    table.copy(&frame, names::ITL_P99, "itl_p99_s")?;
    table.copy(&frame, names::OVERHEAD, "overhead_s")?;
    table.copy(&frame, names::CONNECT, "connect_s")?;
    let counted = |of: fn(&GenerationStats) -> Option<u64>| runs.iter().map(move |run| run.stats.as_ref().and_then(of));
    table.whole("prompt_tokens_server", counted(|stats| stats.prompt_tokens));
    table.whole("prompt_tokens_client", runs.iter().map(|run| detail(run)?.tokens.prompt_client));
    table.whole("generated_tokens_server", counted(|stats| stats.generation_tokens));
    table.whole("generated_token_frames", runs.iter().map(|run| detail(run)?.tokens.generation_frames));
    table.whole("peak_memory_bytes", counted(|stats| Some(stats.peak_memory_usage?.bytes())));
    table.copy(&frame, names::SERVER_ENERGY, "server_energy_j")?;
    table.copy(&frame, names::SERVER_PREFILL_ENERGY, "server_prefill_energy_j")?;
    table.copy(&frame, names::SERVER_DECODE_ENERGY, "server_decode_energy_j")?;
    // Of the node with the fewest.
    let samples = |run: &Run| run.power_usage.as_ref()?.nodes.iter().filter_map(|node| node.samples).min();
    table.whole("server_power_samples", runs.iter().map(samples));
    table.number("download_s", runs.iter().map(|run| run.download_duration_s));

    // Instants, all on the run's own clock: seconds since `started_at`.
    let instant = |of: fn(&Timing) -> Option<f64>| runs.iter().map(move |run| of(&detail(run)?.timing));
    table.number("at_intended_s", instant(|timing| timing.intended_s));
    table.number("at_sent_s", instant(|timing| Some(timing.sent_s)));
    table.number("at_headers_s", instant(|timing| timing.headers_s));
    table.number("at_first_byte_s", instant(|timing| timing.first_byte_s));
    table.number("at_first_token_s", instant(|timing| timing.first_token_s));
    table.number("at_last_token_s", instant(|timing| timing.last_token_s));
    table.number("at_done_s", instant(|timing| Some(timing.done_s)));
    let whole = |offsets: &Vec<f64>| offsets.iter().all(|offset| is_value(*offset));
    let offsets = runs.iter().map(|run| detail(run)?.timing.token_offsets_s.clone().filter(whole)).collect();
    table.columns.push(Column { name: "token_offsets_s", values: Values::Numbers(offsets) });

    table.text("placement_sharding", runs.iter().map(|run| run.placement_sharding.as_deref().map(str::to_owned)));
    table.text(
        "placement_instance_meta",
        runs.iter().map(|run| run.placement_instance_meta.as_deref().map(str::to_owned)),
    );
    table.text("output_text_preview", runs.iter().map(|run| run.output_text_preview.as_deref().map(str::to_owned)));
    Ok(table)
}

/// What other tools call the version of the engine.
const VERSIONS: [&str; 2] = ["engine_version", "build_commit"];

/// What a file of another tool says of a row, or of all its rows, under one of these names.
fn told(loaded: &Loaded, run: &Run, names: &[&str]) -> Option<String> {
    let of_row = run.figures.as_ref().map(|figures| &figures.published);
    let of_all = loaded.file.source.as_ref().map(|source| &source.about);
    names.iter().find_map(|name| {
        let row = of_row.and_then(|published| Some(published.get(*name)?.as_str()?.to_owned()));
        let of_cell = || run.figures.as_ref()?.settings.get(*name).cloned();
        row.or_else(of_cell).or_else(|| of_all?.get(*name).cloned())
    })
}

fn detail(run: &Run) -> Option<&RunDetail> {
    run.exoscope.as_deref()
}

fn cache(frame: &DataFrame) -> Result<Vec<Option<String>>, FrameError> {
    let codes = frame.column(names::CACHE)?.u32()?;
    // What the file does not tell is none, not a word for it.
    let known = |code: Option<u32>| Some(frame::cache_state(code).word()).filter(|word| *word != crate::units::ABSENT);
    Ok(codes.iter().map(|code| known(code).map(str::to_owned)).collect())
}

impl Table {
    /// Takes a column of the frame over, under the name it has outside.
    fn copy(&mut self, frame: &DataFrame, from: &str, name: &'static str) -> Result<(), PolarsError> {
        let column = frame.column(from)?;
        if let Ok(values) = column.f64() {
            self.number(name, values.iter());
        } else if let Ok(values) = column.u64() {
            self.whole(name, values.iter());
        } else if let Ok(values) = column.u32() {
            self.whole(name, values.iter().map(|value| value.map(Into::into)));
        } else if let Ok(values) = column.bool() {
            self.flag(name, values.iter());
        } else {
            self.text(name, column.str()?.iter().map(|value| value.map(str::to_owned)));
        }
        Ok(())
    }
}
