//! Whether a file is still the one that was measured, without reading it.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use analyzer::tables::{Column, Table, Values};

/// The coarsest clock of a usual file system is FAT's: it counts in steps of two seconds.
const COARSEST: Duration = Duration::from_secs(2);

/// What a file is known again by, beside its name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Stamp {
    /// Bytes.
    size: i64,
    /// Nanoseconds since 1970 of the last change of its content, as it is told.
    modified_ns: i64,
    /// Nanoseconds since 1970 of the last change of anything, which nobody can set; none where the system has no such date.
    changed_ns: Option<i64>,
}

const NAME: &str = "file";
const SIZE: &str = "size_bytes";
const MODIFIED: &str = "modified_ns";
const CHANGED: &str = "changed_ns";

impl Stamp {
    /// The stamp of a file; None where the system does not tell.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self {
            size: i64::try_from(found.len()).ok()?,
            modified_ns: i64::try_from(modified.as_nanos()).ok()?,
            changed_ns: changed_ns(&found),
        })
    }

    /// Whether the file was last written to long enough ago: a second change within the same step of the clock would not
    /// show.
    pub(super) fn is_settled(&self) -> bool {
        let modified = u64::try_from(self.modified_ns).ok().map(|ns| UNIX_EPOCH + Duration::from_nanos(ns));
        modified.is_some_and(|modified| modified + COARSEST < SystemTime::now())
    }

    /// The columns of names and stamps, with one of each in the first of so many rows.
    pub(super) fn columns(name: &str, stamp: &Self, rows: usize) -> Vec<Column> {
        fn first<T: Clone>(value: Option<T>, rows: usize) -> Vec<Option<T>> {
            let mut values = vec![None; rows];
            if let Some(first) = values.first_mut() {
                *first = value;
            }
            values
        }
        vec![
            Column { name: NAME, values: Values::Text(first(Some(name.to_owned()), rows)) },
            Column { name: SIZE, values: Values::Whole(first(Some(stamp.size), rows)) },
            Column { name: MODIFIED, values: Values::Whole(first(Some(stamp.modified_ns), rows)) },
            Column { name: CHANGED, values: Values::Whole(first(stamp.changed_ns, rows)) },
        ]
    }

    /// Name and stamp back from the columns; None where they are not there.
    pub(super) fn from_columns(table: &Table) -> Option<(String, Self)> {
        let column = |name: &str| table.columns.iter().find(|column| column.name == name).map(|found| &found.values);
        let whole = |name: &str| match column(name)? {
            Values::Whole(values) => values.first().copied().flatten(),
            _ => None,
        };
        let Values::Text(names) = column(NAME)? else { return None };
        let name = names.first().cloned().flatten()?;
        Some((name, Self { size: whole(SIZE)?, modified_ns: whole(MODIFIED)?, changed_ns: whole(CHANGED) }))
    }
}

#[cfg(unix)]
fn changed_ns(found: &fs::Metadata) -> Option<i64> {
    use std::os::unix::fs::MetadataExt as _;
    found.ctime().checked_mul(1_000_000_000)?.checked_add(found.ctime_nsec())
}

#[cfg(not(unix))]
const fn changed_ns(_: &fs::Metadata) -> Option<i64> {
    None
}
