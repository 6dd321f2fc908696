//! Records → polars columns → cells and batches.
//!
//! Polars filters, groups, windows and joins; what is reckoned on the slices that come out stands elsewhere.
//!
//! * `columns` spells every column once.
//! * `lay_out` records → one row per request.
//! * `pairing` joins the cells of two files.
//! * `store` holds the values of all batches, each of which is a stretch of it.

pub(crate) mod columns;
mod lay_out;
mod pairing;
mod store;

pub(crate) use columns::{
    CLIENT_ENERGY, CONNECT, DONE, ELAPSED, GAPS, GENERATION_TOKENS, GENERATION_TPS, ITL, ITL_P99, MAX_TIMES_N,
    OUTPUT_TPS, OVERHEAD, PEAK, PROMPT_TOKENS, PROMPT_TPS, PUBLISHED_POWER, REQUESTS_PER_S, SENT, SERVER_DECODE_ENERGY,
    SERVER_ENERGY, SERVER_PREFILL_ENERGY, SERVER_SAMPLES, STANDS_FOR, TPOT, TTFT, TTFT_GAP,
};
pub(crate) use lay_out::cache_state;
pub(crate) use pairing::pair;

use std::sync::Arc;

use polars::prelude::*;

use crate::import::Loaded;
use crate::summary::{CacheState, CellKey};
use store::{Rows, Store};

use columns::{
    BATCH, BATCH_KEY, CACHE, CELL_KEY, CONCURRENCY, GROUP_KEY, INSTANCE_META, MODEL, NODES, PP, REPEAT, ROW, SESSION,
    SHARDING, STREAMED, TG,
};

/// The columns could not be built or grouped. A fault of this program, not of the file.
#[derive(Debug, thiserror::Error)]
#[error("the rows could not be grouped ({0}); please report this with the file")]
pub struct FrameError(#[from] PolarsError);

/// The requests that share a [`CellKey`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// What they share.
    pub(crate) key: CellKey,
    /// Their batches, in the order of first appearance.
    pub(crate) batches: Vec<Batch>,
    /// All batches of exo's console group: those of this cell and of cells that differ in the cache alone.
    pub(crate) console: Vec<Batch>,
}

/// Requests that were started together; at concurrency 1 a single one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Batch {
    /// Number of the session in the file.
    pub(crate) session: u32,
    /// Repeat, from 0.
    pub(crate) repeat_index: Option<u32>,
    /// Indices into `runs`.
    pub(crate) rows: Rows,
}

impl Batch {
    /// A column of the batch's requests, by the name in [`columns`].
    pub(crate) fn column(&self, name: &str) -> &[Option<f64>] {
        self.rows.store.column(name).and_then(|values| values.get(self.rows.places.clone())).unwrap_or(&[])
    }
}

/// The rows of a file as columns, one row per request, in the file's order.
pub(crate) fn requests(loaded: &Loaded) -> Result<DataFrame, FrameError> {
    lay_out::lay_out(loaded)
}

/// The cells of a file, in the order of first appearance.
pub(crate) fn cells(loaded: &Loaded) -> Result<Vec<Cell>, FrameError> {
    if loaded.file.runs.is_empty() {
        return Ok(Vec::new());
    }
    let frame = lay_out::lay_out(loaded)?;
    let batches = batch_frame(&frame)?;
    let all = batches_of(&batches, &frame)?;

    let group = |key: &[&str]| {
        batches
            .clone()
            .lazy()
            .group_by_stable(key.iter().map(|name| col(*name)).collect::<Vec<_>>())
            .agg([col(BATCH)])
            .collect()
    };
    let consoles = group(&GROUP_KEY)?;
    let consoles: Vec<Vec<u32>> =
        (0..consoles.height()).map(|row| indices(&consoles, BATCH, row)).collect::<Result<_, _>>()?;
    let mut console_of: Vec<Option<&Vec<u32>>> = vec![None; all.len()];
    for console in &consoles {
        for batch in console {
            if let Some(place) = console_of.get_mut(*batch as usize) {
                *place = Some(console);
            }
        }
    }
    let cells = group(&CELL_KEY)?;
    let pick = |places: &[u32]| places.iter().filter_map(|place| all.get(*place as usize).cloned()).collect();
    (0..cells.height())
        .map(|row| {
            let places = indices(&cells, BATCH, row)?;
            let console = places.first().and_then(|first| console_of.get(*first as usize).copied().flatten());
            Ok(Cell {
                key: key(&cells, row)?,
                batches: pick(&places),
                console: console.map_or_else(Vec::new, |console| pick(console)),
            })
        })
        .collect()
}

/// One row per batch, with its requests' rows as a list.
///
/// The cache state becomes the batch's: requests that were started together are one measurement, and where the cache served
/// some of them more than others, it served the batch in part.
fn batch_frame(frame: &DataFrame) -> Result<DataFrame, FrameError> {
    let batch_key: Vec<Expr> = BATCH_KEY.iter().map(|name| col(*name)).collect();
    let unlike = col(CACHE).min().over(batch_key.clone()).neq(col(CACHE).max().over(batch_key.clone()));
    let unknown = col(CACHE).max().over(batch_key.clone()).eq(lit(lay_out::cache_code(CacheState::Unknown)));
    let state = when(unknown)
        .then(lit(lay_out::cache_code(CacheState::Unknown)))
        .when(unlike)
        .then(lit(lay_out::cache_code(CacheState::Partial)))
        .otherwise(col(CACHE));
    let lists = [col(CACHE).first(), col(ROW)];
    let rows = frame.select(BATCH_KEY.into_iter().chain([CACHE, ROW]))?;
    let mut batches = rows.lazy().with_column(state.alias(CACHE)).group_by_stable(batch_key).agg(lists).collect()?;
    let numbers: Vec<u32> = (0..).take(batches.height()).collect();
    batches.with_column(Column::new(BATCH.into(), numbers))?;
    Ok(batches)
}

/// The batches with the values of their requests, which are laid one batch after the other once for all of them.
fn batches_of(batches: &DataFrame, frame: &DataFrame) -> Result<Vec<Batch>, FrameError> {
    let lists = batches.column(ROW)?.list()?;
    let mut order: Vec<usize> = Vec::with_capacity(frame.height());
    let mut ends = Vec::with_capacity(batches.height());
    for list in lists.amortized_iter() {
        if let Some(list) = list {
            order.extend(list.as_ref().u32()?.iter().flatten().map(|row| row as usize));
        }
        ends.push(order.len());
    }
    let store = Arc::new(Store::new(frame, order)?);
    let (sessions, repeats) = (batches.column(SESSION)?.u32()?, batches.column(REPEAT)?.u32()?);
    let mut start = 0;
    let all = ends.into_iter().zip(sessions.iter()).zip(repeats.iter()).map(|((end, session), repeat_index)| {
        let places = std::mem::replace(&mut start, end)..end;
        // The session column has no nulls: every row is numbered.
        Batch { session: session.unwrap_or(u32::MAX), repeat_index, rows: Rows { store: Arc::clone(&store), places } }
    });
    Ok(all.collect())
}

fn indices(frame: &DataFrame, name: &str, row: usize) -> Result<Vec<u32>, FrameError> {
    match frame.column(name)?.list()?.get_as_series(row) {
        Some(series) => Ok(series.u32()?.iter().flatten().collect()),
        None => Ok(Vec::new()),
    }
}

fn key(frame: &DataFrame, row: usize) -> Result<CellKey, FrameError> {
    let text = |name: &str| -> Result<Option<String>, FrameError> {
        Ok(frame.column(name)?.str()?.get(row).map(str::to_owned))
    };
    Ok(CellKey {
        model_id: text(MODEL)?,
        sharding: text(SHARDING)?,
        instance_meta: text(INSTANCE_META)?,
        nodes: frame.column(NODES)?.u32()?.get(row),
        pp_tokens: frame.column(PP)?.u64()?.get(row),
        tg: frame.column(TG)?.u64()?.get(row),
        concurrency: frame.column(CONCURRENCY)?.u32()?.get(row).unwrap_or(1),
        cache: lay_out::cache_state(frame.column(CACHE)?.u32()?.get(row)),
        streamed: frame.column(STREAMED)?.bool()?.get(row),
    })
}
