//! The flat table of requests as CSV. An empty field is an absent value; several numbers of one field stand with `;` between.

use analyzer::import::Loaded;
use analyzer::tables::{self, Values};

use super::{ExportError, run_id};

/// The requests of all files under one head.
pub(super) fn requests(files: &[Loaded]) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (place, loaded) in files.iter().enumerate() {
        let table = tables::requests(loaded, &run_id(loaded)?)?;
        if place == 0 {
            writer.write_record(table.columns.iter().map(|column| column.name))?;
        }
        for row in 0..table.height() {
            for column in &table.columns {
                writer.write_field(field(&column.values, row))?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn field(values: &Values, row: usize) -> String {
    fn text<T: ToString>(values: &[Option<T>], row: usize) -> String {
        values.get(row).and_then(Option::as_ref).map(ToString::to_string).unwrap_or_default()
    }
    match values {
        Values::Text(values) => text(values, row),
        Values::Whole(values) => text(values, row),
        Values::Number(values) => text(values, row),
        Values::Flag(values) => text(values, row),
        Values::Numbers(values) => {
            let numbers = values.get(row).and_then(Option::as_ref);
            numbers.map(|all| all.iter().map(f64::to_string).collect::<Vec<_>>().join(";")).unwrap_or_default()
        }
    }
}
