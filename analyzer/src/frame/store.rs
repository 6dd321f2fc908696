//! The values of all batches of a file, laid one batch after the other: a batch is a stretch of it.
//!
//! A column of its own per batch would take more memory than the values: at concurrency 1 every request is a batch.

use std::ops::{Deref, Range};
use std::sync::Arc;

use super::lay_out::{VALUES, value};
use crate::record::Run;

/// The rows and the values of all batches.
#[derive(Debug, PartialEq)]
pub(super) struct Store {
    rows: Vec<usize>,
    columns: Vec<(&'static str, Arc<[Option<f64>]>)>,
}

impl Store {
    /// Takes the numbers of the rows in their order.
    pub(super) fn new(runs: &[Run], rows: Vec<usize>) -> Self {
        let mut nothing: Option<Arc<[Option<f64>]>> = None;
        let columns = VALUES.map(|(name, of)| {
            let values: Arc<[Option<f64>]> = rows.iter().map(|row| value(runs.get(*row)?, of)).collect();
            if values.iter().any(Option::is_some) {
                return (name, values);
            }
            // Most files lack some columns altogether: they share one.
            (name, Arc::clone(nothing.get_or_insert(values)))
        });
        Self { rows, columns: columns.into() }
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
    pub(super) places: Range<u32>,
}

impl Rows {
    pub(super) const fn stretch(&self) -> Range<usize> {
        self.places.start as usize..self.places.end as usize
    }
}

impl Deref for Rows {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        self.store.rows.get(self.stretch()).unwrap_or(&[])
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a usize;
    type IntoIter = std::slice::Iter<'a, usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
