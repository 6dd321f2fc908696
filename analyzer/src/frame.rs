//! Records → polars columns → cells and batches.
//!
//! Polars filters, groups, windows and joins; what is reckoned on the slices that come out stands elsewhere.
//!
//! * `columns` spells every column once.
//! * `lay_out` records → one row per request.
//! * `pairing` joins the cells of two files.

pub(crate) mod columns;
mod lay_out;
mod pairing;

pub(crate) use columns::{
    CONNECT, DONE, ELAPSED, GAPS, GENERATION_TOKENS, GENERATION_TPS, ITL, ITL_P99, OVERHEAD, PEAK, PROMPT_TOKENS,
    PROMPT_TPS, SENT, SERVER_DECODE_ENERGY, SERVER_ENERGY, SERVER_PREFILL_ENERGY, SERVER_SAMPLES, TPOT, TTFT, TTFT_GAP,
};
pub(crate) use lay_out::cache_state;
pub(crate) use pairing::pair;

use std::collections::BTreeMap;

use polars::prelude::*;

use crate::import::Loaded;
use crate::summary::{CacheState, CellKey};
use columns::{
    BATCH, BATCH_KEY, CACHE, CELL_KEY, CONCURRENCY, GROUP_KEY, INSTANCE_META, MODEL, NODES, PP, REPEAT, ROW, SESSION,
    SHARDING, STREAMED, TG, VALUES,
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
    pub(crate) rows: Vec<usize>,
    columns: Vec<(&'static str, Vec<Option<f64>>)>,
}

impl Batch {
    /// A column of the batch's requests, by the name in [`columns`].
    pub(crate) fn column(&self, name: &str) -> &[Option<f64>] {
        self.columns.iter().find(|(column, _)| *column == name).map_or(&[], |(_, values)| values)
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
    let batches = batch_frame(frame)?;
    let all: Vec<Batch> = (0..batches.height()).map(|row| batch(&batches, row)).collect::<Result<_, _>>()?;

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
    let console_of: BTreeMap<u32, &Vec<u32>> =
        consoles.iter().flat_map(|console| console.iter().map(move |batch| (*batch, console))).collect();
    let cells = group(&CELL_KEY)?;
    let pick = |places: &[u32]| places.iter().filter_map(|place| all.get(*place as usize).cloned()).collect();
    (0..cells.height())
        .map(|row| {
            let places = indices(&cells, BATCH, row)?;
            let console = places.first().and_then(|first| console_of.get(first));
            Ok(Cell {
                key: key(&cells, row)?,
                batches: pick(&places),
                console: console.map_or_else(Vec::new, |console| pick(console)),
            })
        })
        .collect()
}

/// One row per batch, with its requests' values as lists.
///
/// The cache state becomes the batch's: requests that were started together are one measurement, and where the cache served
/// some of them more than others, it served the batch in part.
fn batch_frame(frame: DataFrame) -> Result<DataFrame, FrameError> {
    let batch_key: Vec<Expr> = BATCH_KEY.iter().map(|name| col(*name)).collect();
    let unlike = col(CACHE).min().over(batch_key.clone()).neq(col(CACHE).max().over(batch_key.clone()));
    let unknown = col(CACHE).max().over(batch_key.clone()).eq(lit(lay_out::cache_code(CacheState::Unknown)));
    let state = when(unknown)
        .then(lit(lay_out::cache_code(CacheState::Unknown)))
        .when(unlike)
        .then(lit(lay_out::cache_code(CacheState::Partial)))
        .otherwise(col(CACHE));
    let mut lists = vec![col(CACHE).first(), col(ROW)];
    lists.extend(VALUES.iter().map(|name| col(*name)));
    let mut batches = frame.lazy().with_column(state.alias(CACHE)).group_by_stable(batch_key).agg(lists).collect()?;
    let numbers: Vec<u32> = (0..).take(batches.height()).collect();
    batches.with_column(Column::new(BATCH.into(), numbers))?;
    Ok(batches)
}

fn batch(frame: &DataFrame, row: usize) -> Result<Batch, FrameError> {
    let mut columns = Vec::with_capacity(VALUES.len());
    for name in VALUES {
        let list = frame.column(name)?.list()?.get_as_series(row);
        let values = match list {
            Some(series) => series.f64()?.iter().collect(),
            None => Vec::new(),
        };
        columns.push((name, values));
    }
    Ok(Batch {
        // The session column has no nulls: every row is numbered.
        session: frame.column(SESSION)?.u32()?.get(row).unwrap_or(u32::MAX),
        repeat_index: frame.column(REPEAT)?.u32()?.get(row),
        rows: indices(frame, ROW, row)?.into_iter().map(|index| index as usize).collect(),
        columns,
    })
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
