//! Records → polars columns → cells and batches.
//!
//! Polars lays out, groups and joins; what is reckoned on the slices that come out stands elsewhere.
//!
//! * `batching` rows → batches.
//! * `columns` spells every column once.
//! * `lay_out` records → one row per request.
//! * `pairing` joins the cells of two files.
//! * `store` holds the values of all batches, each of which is a stretch of it.

mod batching;
pub(crate) mod columns;
mod lay_out;
mod pairing;
mod store;

pub(crate) use columns::{
    CLIENT_ENERGY, CONNECT, DONE, ELAPSED, GAPS, GENERATION_TOKENS, GENERATION_TPS, ITL, ITL_P99, MAX_TIMES_N,
    OUTPUT_TPS, OVERHEAD, PEAK, PROMPT_TOKENS, PROMPT_TPS, PUBLISHED_POWER, REQUESTS_PER_S, SENT, SERVER_DECODE_ENERGY,
    SERVER_ENERGY, SERVER_PREFILL_ENERGY, SERVER_SAMPLES, STANDS_FOR, TPOT, TTFT, TTFT_GAP,
};
pub(crate) use lay_out::{cache_state, concurrency, engine, has_possible_first_token, quantization, streamed};
pub(crate) use pairing::pair;

use std::sync::Arc;

use polars::prelude::*;

use crate::import::Loaded;
use crate::summary::CellKey;
use store::{Rows, Store};

use batching::{Batched, Batches};
use columns::{BATCH, CACHE, KIND};

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
    /// All batches of exo's console group, where cells that differ in the cache alone have some of them; else none, for they
    /// are those above.
    pub(crate) console: Vec<Batch>,
}

impl Cell {
    /// The batches of exo's console group.
    pub(crate) fn console(&self) -> &[Batch] {
        if self.console.is_empty() { &self.batches } else { &self.console }
    }
}

/// Requests that were started together; at concurrency 1 a single one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Batch {
    /// Number of the session in the file.
    pub(crate) session: u32,
    /// The session as the file numbers it, which counts an instance that had to be made anew as the same one.
    pub(crate) told: u32,
    /// Repeat, from 0.
    pub(crate) repeat_index: Option<u32>,
    /// Indices into `runs`.
    pub(crate) rows: Rows,
}

impl Batch {
    /// A column of the batch's requests, by the name in [`columns`].
    pub(crate) fn column(&self, name: &str) -> &[Option<f64>] {
        self.rows.store.column(name).and_then(|values| values.get(self.rows.stretch())).unwrap_or(&[])
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
    let Batches { kinds, rows, batches } = batching::batches(loaded);
    let store = Arc::new(Store::new(&loaded.file.runs, rows));
    let frame = DataFrame::new(vec![
        Column::new(BATCH.into(), (0..).take(batches.len()).collect::<Vec<u32>>()),
        Column::new(KIND.into(), batches.iter().map(|batch| batch.kind).collect::<Vec<u32>>()),
        Column::new(CACHE.into(), batches.iter().map(|batch| batch.cache).collect::<Vec<u32>>()),
    ])?;
    let group = |key: &[&str]| {
        let key: Vec<Expr> = key.iter().map(|name| col(*name)).collect();
        frame.clone().lazy().group_by_stable(key).agg([col(BATCH)]).collect()
    };
    let consoles = group(&[KIND])?;
    let consoles: Vec<Vec<u32>> =
        (0..consoles.height()).map(|row| indices(&consoles, BATCH, row)).collect::<Result<_, _>>()?;
    let mut console_of: Vec<Option<&Vec<u32>>> = vec![None; batches.len()];
    for console in &consoles {
        for batch in console {
            if let Some(place) = console_of.get_mut(*batch as usize) {
                *place = Some(console);
            }
        }
    }
    let cells = group(&[KIND, CACHE])?;
    let batch = |batched: &Batched| Batch {
        session: batched.session,
        told: batched.told,
        repeat_index: batched.repeat_index,
        rows: Rows { store: Arc::clone(&store), places: batched.places.clone() },
    };
    let pick = |places: &[u32]| places.iter().filter_map(|place| batches.get(*place as usize)).map(batch).collect();
    (0..cells.height())
        .map(|row| {
            let places = indices(&cells, BATCH, row)?;
            let console = places.first().and_then(|first| console_of.get(*first as usize).copied().flatten());
            Ok(Cell {
                key: key(&cells, &kinds, row)?,
                batches: pick(&places),
                console: console
                    .filter(|console| console.len() > places.len())
                    .map_or_else(Vec::new, |console| pick(console)),
            })
        })
        .collect()
}

fn indices(frame: &DataFrame, name: &str, row: usize) -> Result<Vec<u32>, FrameError> {
    match frame.column(name)?.list()?.get_as_series(row) {
        Some(series) => Ok(series.u32()?.iter().flatten().collect()),
        None => Ok(Vec::new()),
    }
}

fn key(cells: &DataFrame, kinds: &[CellKey], row: usize) -> Result<CellKey, FrameError> {
    let kind = cells.column(KIND)?.u32()?.get(row).and_then(|kind| kinds.get(kind as usize));
    let kind = kind.ok_or_else(|| polars_err!(OutOfBounds: "a cell of a kind that no row has"))?;
    Ok(CellKey { cache: lay_out::cache_state(cells.column(CACHE)?.u32()?.get(row)), ..kind.clone() })
}
