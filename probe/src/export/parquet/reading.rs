//! Parquet files of this program → flat tables again, a row group at a time.

use analyzer::tables::{Column, Table, Values};
use bytes::Bytes;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader as _, SerializedFileReader};

/// An open file.
pub(crate) struct Reading(SerializedFileReader<Bytes>);

impl Reading {
    /// Opens the bytes of a file.
    pub(crate) fn of(bytes: Vec<u8>) -> Result<Self> {
        SerializedFileReader::new(Bytes::from(bytes)).map(Self)
    }

    /// A pair of the file's metadata.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        let pairs = self.0.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// Row groups.
    pub(crate) fn groups(&self) -> usize {
        self.0.num_row_groups()
    }

    /// The rows of a group, of the columns of a table of the same names and kinds; others are not looked at.
    pub(crate) fn group(&self, group: usize, columns: &Table) -> Result<Table> {
        let group = self.0.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| other("a group has no number of rows"))?;
        let names: Vec<&str> = group.metadata().columns().iter().map(|column| column.column_descr().name()).collect();
        let read = |column: &Column| -> Result<Column> {
            let place = names.iter().position(|name| *name == column.name).ok_or_else(|| other(column.name))?;
            let values = match (&column.values, group.get_column_reader(place)?) {
                (Values::Text(_), ColumnReader::ByteArrayColumnReader(reader)) => {
                    let text = |bytes: ByteArray| bytes.as_utf8().map(str::to_owned);
                    Values::Text(with_nulls(reader, rows, text)?)
                }
                (Values::Whole(_), ColumnReader::Int64ColumnReader(reader)) => {
                    Values::Whole(with_nulls(reader, rows, Ok)?)
                }
                (Values::Number(_), ColumnReader::DoubleColumnReader(reader)) => {
                    Values::Number(with_nulls(reader, rows, Ok)?)
                }
                (Values::Flag(_), ColumnReader::BoolColumnReader(reader)) => {
                    Values::Flag(with_nulls(reader, rows, Ok)?)
                }
                _ => return Err(other(column.name)),
            };
            Ok(Column { name: column.name, values })
        };
        Ok(Table { columns: columns.columns.iter().map(read).collect::<Result<_>>()? })
    }
}

fn other(what: &str) -> ParquetError {
    ParquetError::General(format!("the file has other columns: {what}"))
}

/// All values of a column that may be null and is no list.
fn with_nulls<D: DataType, V>(
    mut reader: ColumnReaderImpl<D>,
    rows: usize,
    of: impl Fn(D::T) -> Result<V>,
) -> Result<Vec<Option<V>>> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while levels.len() < rows {
        let (read, _, _) = reader.read_records(rows - levels.len(), Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(other("fewer rows than it says"));
        }
    }
    let mut values = values.into_iter();
    let next = |level: i16| if level > 0 { values.next().map(&of).transpose() } else { Ok(None) };
    levels.into_iter().map(next).collect()
}
