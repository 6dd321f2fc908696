//! The values of all batches of a file, laid one batch after the other: a batch is a stretch of it.
//!
//! A column of its own per batch would take more memory than the values: at concurrency 1 every request is a batch.

use std::ops::{Deref, Range};
use std::sync::Arc;

use polars::prelude::*;

use super::FrameError;
use super::columns::VALUES;

/// The rows and the values of all batches.
#[derive(Debug, PartialEq)]
pub(super) struct Store {
    rows: Vec<usize>,
    columns: Vec<(&'static str, Arc<[Option<f64>]>)>,
}

impl Store {
    /// Puts the columns of numbers into an order of rows.
    pub(super) fn new(frame: &DataFrame, rows: Vec<usize>) -> Result<Self, FrameError> {
        let mut columns = Vec::with_capacity(VALUES.len());
        let mut nothing: Option<Arc<[Option<f64>]>> = None;
        for name in VALUES {
            let column = frame.column(name)?.f64()?;
            let values = if column.null_count() == column.len() {
                // Most files lack some columns altogether: they share one.
                Arc::clone(nothing.get_or_insert_with(|| vec![None; rows.len()].into()))
            } else {
                let values: Vec<Option<f64>> = column.iter().collect();
                rows.iter().map(|row| values.get(*row).copied().flatten()).collect()
            };
            columns.push((name, values));
        }
        Ok(Self { rows, columns })
    }

    /// A column by its name.
    pub(super) fn column(&self, name: &str) -> Option<&[Option<f64>]> {
        self.columns.iter().find(|(column, _)| *column == name).map(|(_, values)| &**values)
    }
}

/// The rows of a batch: indices into `runs`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    pub(super) store: Arc<Store>,
    pub(super) places: Range<usize>,
}

impl Deref for Rows {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        self.store.rows.get(self.places.clone()).unwrap_or(&[])
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a usize;
    type IntoIter = std::slice::Iter<'a, usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
