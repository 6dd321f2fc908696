//! A measured file as a flat table and back, for whoever keeps it: a row per value, with the cell, the metric and the session
//! that it is of. What is said of the file, and of each cell, stands as JSON in a row of its own before its values.

use std::collections::BTreeMap;

use polars::prelude::*;

use super::{BatchOf, MeasuredCell, MeasuredFile, Sample};
use crate::metric::Metric;
use crate::tables::{self, Table, Values};

/// What is said of the file: JSON, in the first row alone.
const FILE: &str = "file_json";
/// What is said of a cell: JSON, in the row before its values.
const CELL: &str = "cell_json";
/// The metric of a value, by its name in JSON.
const METRIC: &str = "metric";
/// The session of a value.
const SESSION: &str = "session";
/// The batch of a value, counted from 0 among those of the cell that have the metric.
const BATCH: &str = "batch";
/// The value, in the unit of its metric.
const VALUE: &str = "value";

/// Why a table is no measured file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlatError {
    /// Columns that cannot be queried: other names, kinds or lengths.
    #[error("the table has other columns ({0})")]
    Columns(#[from] PolarsError),
    /// JSON of something else.
    #[error("what is said of the file cannot be read ({0})")]
    Json(#[from] serde_json::Error),
    /// Rows that do not follow each other as they should.
    #[error("row {0} is out of place")]
    Row(usize),
}

/// The table of a file.
///
/// # Errors
/// [`FlatError::Json`] for numbers that JSON does not have.
pub fn table(file: &MeasuredFile) -> Result<Table, FlatError> {
    let mut rows = Rows::default();
    rows.push(Row { file: Some(serde_json::to_string(&file.without_cells())?), ..Row::default() });
    for cell in &file.cells {
        rows.push(Row { cell: Some(serde_json::to_string(&cell.without_samples())?), ..Row::default() });
        for sample in &cell.samples {
            for ((session, values), batch) in sample.groups().zip(0..) {
                for value in values {
                    rows.push(Row {
                        metric: Some(name(sample.metric)?),
                        session: Some(i64::from(session)),
                        batch: Some(batch),
                        value: Some(*value),
                        ..Row::default()
                    });
                }
            }
        }
    }
    Ok(rows.into_table())
}

/// An empty table: the names and kinds of the columns.
#[must_use]
pub fn columns() -> Table {
    Rows::default().into_table()
}

/// The file of a table, with the metrics that are `wanted`.
///
/// # Errors
/// [`FlatError`] for a table that [`table`] did not make.
pub fn file(table: Table, wanted: impl Fn(Metric) -> bool) -> Result<MeasuredFile, FlatError> {
    let all: Vec<(Metric, String)> =
        Metric::ALL.into_iter().map(|metric| Ok((metric, name(metric)?))).collect::<Result<_, FlatError>>()?;
    let mut query = frame(table)?.lazy();
    let unwanted: Vec<&str> =
        all.iter().filter(|(metric, _)| !wanted(*metric)).map(|(_, name)| name.as_str()).collect();
    if !unwanted.is_empty() {
        let names = Series::new("unwanted".into(), unwanted);
        query = query.filter(col(METRIC).is_null().or(col(METRIC).is_in(lit(names).implode(), false).not()));
    }
    let rows = query.collect()?;
    if rows.height() == 0 {
        return Err(FlatError::Row(0));
    }
    let (said, of_cell, metric) = (rows.column(FILE)?.str()?, rows.column(CELL)?.str()?, rows.column(METRIC)?.str()?);
    let (session, batch) = (rows.column(SESSION)?.i64()?, rows.column(BATCH)?.i64()?);
    let value = rows.column(VALUE)?.f64()?;
    let metrics: BTreeMap<&str, Metric> = all.iter().map(|(metric, name)| (name.as_str(), *metric)).collect();
    let mut file: MeasuredFile = serde_json::from_str(said.get(0).ok_or(FlatError::Row(0))?)?;
    let mut last: Option<i64> = None;
    for row in 1..rows.height() {
        if let Some(said) = of_cell.get(row) {
            file.cells.push(serde_json::from_str(said)?);
            continue;
        }
        let out_of_place = || FlatError::Row(row);
        let cell = file.cells.last_mut().ok_or_else(out_of_place)?;
        let metric = metric.get(row).and_then(|name| metrics.get(name)).ok_or_else(out_of_place)?;
        let session = session.get(row).and_then(|session| u32::try_from(session).ok()).ok_or_else(out_of_place)?;
        let value = value.get(row).ok_or_else(out_of_place)?;
        let batch = batch.get(row);
        if cell.samples.last().is_none_or(|sample| sample.metric != *metric) {
            cell.samples.push(Sample::of(*metric));
            last = None;
        }
        let sample = cell.samples.last_mut().ok_or_else(out_of_place)?;
        match sample.batches.last_mut().filter(|_| last.is_some() && last == batch) {
            Some(known) => known.values = known.values.checked_add(1).ok_or_else(out_of_place)?,
            None => sample.batches.push(BatchOf { session, values: 1 }),
        }
        sample.values.push(value);
        last = batch;
    }
    Ok(file)
}

/// A metric by its name in JSON.
fn name(metric: Metric) -> Result<String, FlatError> {
    let text = serde_json::to_string(&metric)?;
    Ok(text.trim_matches('"').to_owned())
}

fn frame(table: Table) -> PolarsResult<DataFrame> {
    let column = |column: tables::Column| {
        let name = PlSmallStr::from_static(column.name);
        match column.values {
            Values::Text(values) => Ok(Column::new(name, values)),
            Values::Whole(values) => Ok(Column::new(name, values)),
            Values::Number(values) => Ok(Column::new(name, values)),
            Values::Flag(values) => Ok(Column::new(name, values)),
            Values::Numbers(_) => polars_bail!(SchemaMismatch: "lists in {}", column.name),
        }
    };
    DataFrame::new(table.columns.into_iter().map(column).collect::<PolarsResult<Vec<_>>>()?)
}

#[derive(Default)]
struct Row {
    file: Option<String>,
    cell: Option<String>,
    metric: Option<String>,
    session: Option<i64>,
    batch: Option<i64>,
    value: Option<f64>,
}

#[derive(Default)]
struct Rows {
    file: Vec<Option<String>>,
    cell: Vec<Option<String>>,
    metric: Vec<Option<String>>,
    session: Vec<Option<i64>>,
    batch: Vec<Option<i64>>,
    value: Vec<Option<f64>>,
}

impl Rows {
    fn push(&mut self, row: Row) {
        self.file.push(row.file);
        self.cell.push(row.cell);
        self.metric.push(row.metric);
        self.session.push(row.session);
        self.batch.push(row.batch);
        self.value.push(row.value);
    }

    fn into_table(self) -> Table {
        let column = |name, values| tables::Column { name, values };
        Table {
            columns: vec![
                column(FILE, Values::Text(self.file)),
                column(CELL, Values::Text(self.cell)),
                column(METRIC, Values::Text(self.metric)),
                column(SESSION, Values::Whole(self.session)),
                column(BATCH, Values::Whole(self.batch)),
                column(VALUE, Values::Number(self.value)),
            ],
        }
    }
}

impl MeasuredFile {
    fn without_cells(&self) -> Self {
        Self {
            name: self.name.clone(),
            definitions: self.definitions.clone(),
            fingerprint: self.fingerprint.clone(),
            started_at: self.started_at.clone(),
            facts: self.facts.clone(),
            notices: self.notices.clone(),
            cells: Vec::new(),
            ..*self
        }
    }
}

impl MeasuredCell {
    fn without_samples(&self) -> Self {
        Self {
            key: self.key.clone(),
            sessions: self.sessions.clone(),
            samples: Vec::new(),
            published: self.published.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(name: &str) -> MeasuredFile {
        let path = format!("{}/../fixtures/results/{name}.json", env!("CARGO_MANIFEST_DIR"));
        MeasuredFile::of(&crate::import::load(name, &std::fs::read(path).unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn a_file_comes_back_to_the_last_bit() {
        for name in ["exoscope_sessions_base", "exoscope_energy", "exoscope_failures", "f3", "f1_bare_list"] {
            let whole = measured(name);
            assert!(!whole.cells.is_empty());
            assert_eq!(file(table(&whole).unwrap(), |_| true).unwrap(), whole, "{name}");
        }
    }

    #[test]
    fn what_is_not_wanted_stays_in_the_table() {
        let whole = measured("exoscope_sessions_base");
        let found = file(table(&whole).unwrap(), |metric| metric == Metric::Ttft).unwrap();
        assert_eq!(found.cells.len(), whole.cells.len());
        for (found, whole) in found.cells.iter().zip(&whole.cells) {
            assert_eq!(
                found.samples.iter().collect::<Vec<_>>(),
                whole.sample(Metric::Ttft).into_iter().collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn another_table_is_refused() {
        assert!(matches!(file(columns(), |_| true), Err(FlatError::Row(0))));
        assert!(file(Table::default(), |_| true).is_err());
        let mut broken = table(&measured("f3")).unwrap();
        broken.columns[1].values = Values::Text(vec![None; broken.columns[0].values.len()]);
        assert!(matches!(file(broken, |_| true), Err(FlatError::Row(1))));
    }
}
