//! The flat table of requests as CSV, those that failed with them. An empty field is an absent value; several numbers of one
//! field stand with `;` between. No text is a formula to a spreadsheet or a command to a terminal: see
//! [`crate::report::csv_field`].

use analyzer::import::Loaded;
use analyzer::tables::{self, Table, Values};

use super::{ExportError, run_id};
use crate::report::csv_field;

/// What only a failure has: the name here, and that of its table. Behind the columns of the requests.
const OF_FAILURES: [(&str, &str); 5] = [
    ("warmup", "warmup"),
    ("failure_kind", "kind"),
    ("http_status", "http_status"),
    ("failure_message", "message"),
    ("at_ended_s", "ended_s"),
];

/// Columns of the requests that failures have under another name.
const ALIASES: [(&str, &str); 4] = [
    ("at_sent_s", "sent_s"),
    ("sharding", "placement_sharding"),
    ("instance_meta", "placement_instance_meta"),
    ("nodes", "placement_nodes"),
];

/// The requests of all files under one head; a file's failures stand behind its valid requests.
pub(super) fn requests(files: &[Loaded]) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (place, loaded) in files.iter().enumerate() {
        let run = run_id(loaded)?;
        let (valid, failed) = (tables::requests(loaded, &run)?, tables::failures(loaded, &run));
        let names: Vec<&str> = valid.columns.iter().map(|column| column.name).collect();
        if place == 0 {
            let more = OF_FAILURES.iter().map(|(name, _)| *name);
            writer.write_record(["status"].into_iter().chain(names.iter().copied()).chain(more))?;
        }
        let alike = |name: &str| ALIASES.iter().find(|(ours, _)| *ours == name).map(|(_, theirs)| *theirs);
        let of_failures: Vec<Option<&Values>> =
            names.iter().map(|name| failed.column(name).or_else(|| failed.column(alike(name)?))).collect();
        let all: Vec<Option<&Values>> = valid.columns.iter().map(|column| Some(&column.values)).collect();
        lines(&mut writer, "ok", valid.height(), &all, [None; OF_FAILURES.len()])?;
        let more = OF_FAILURES.map(|(_, name)| failed.column(name));
        lines(&mut writer, "failed", Table::height(&failed), &of_failures, more)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn lines(
    writer: &mut csv::Writer<Vec<u8>>,
    status: &str,
    height: usize,
    columns: &[Option<&Values>],
    more: [Option<&Values>; OF_FAILURES.len()],
) -> Result<(), csv::Error> {
    for row in 0..height {
        writer.write_field(status)?;
        for values in columns.iter().chain(&more) {
            writer.write_field(values.map(|values| field(values, row)).unwrap_or_default())?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

fn field(values: &Values, row: usize) -> String {
    fn text<T: ToString>(values: &[Option<T>], row: usize) -> String {
        values.get(row).and_then(Option::as_ref).map(ToString::to_string).unwrap_or_default()
    }
    match values {
        Values::Text(values) => csv_field(&text(values, row)),
        Values::Whole(values) => text(values, row),
        Values::Number(values) => text(values, row),
        Values::Flag(values) => text(values, row),
        Values::Numbers(values) => {
            let numbers = values.get(row).and_then(Option::as_ref);
            numbers.map(|all| all.iter().map(f64::to_string).collect::<Vec<_>>().join(";")).unwrap_or_default()
        }
    }
}
