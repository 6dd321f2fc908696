//! Flat tables → Parquet: typed columns, nulls as nulls, packed with Snappy, which every reader knows.
//!
//! * `reading` the way back, for files that this program wrote itself.

mod reading;

use std::borrow::Borrow;
use std::sync::Arc;

use analyzer::tables::{Table, Values};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

pub(crate) use reading::Reading;

/// The bytes of a Parquet file with these tables of the same columns one behind the other, a row group each.
pub(super) fn write(tables: &[Table]) -> Result<Vec<u8>, ParquetError> {
    let nothing = Table::default();
    write_groups(tables.first().unwrap_or(&nothing), tables.iter().map(Ok), &[])
}

/// The same of tables that come one after the other, with pairs of words in the file's metadata. `columns` is a table of the
/// same columns.
pub(crate) fn write_groups<T: Borrow<Table>>(
    columns: &Table,
    tables: impl Iterator<Item = Result<T, ParquetError>>,
    metadata: &[(&str, &str)],
) -> Result<Vec<u8>, ParquetError> {
    let fields =
        columns.columns.iter().map(|column| field(column.name, &column.values)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("exoscope").with_fields(fields).build()?);
    let pair = |(key, value): &(&str, &str)| KeyValue::new((*key).to_owned(), (*value).to_owned());
    let pairs = (!metadata.is_empty()).then(|| metadata.iter().map(pair).collect());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("exoscope {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(pairs)
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    for table in tables {
        let table = table?;
        let table = table.borrow();
        // A row group without rows is none.
        if table.height() == 0 {
            continue;
        }
        let mut group = writer.next_row_group()?;
        for column in &table.columns {
            let Some(mut place) = group.next_column()? else {
                return Err(ParquetError::General("a table has more columns than the first".into()));
            };
            write_column(&mut place, &column.values)?;
            place.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}

fn field(name: &str, values: &Values) -> Result<TypePtr, ParquetError> {
    let primitive = |name: &str, physical, logical: Option<LogicalType>| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    match values {
        Values::Text(_) => primitive(name, Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Whole(_) => primitive(name, Physical::INT64, None),
        Values::Number(_) => primitive(name, Physical::DOUBLE, None),
        Values::Flag(_) => primitive(name, Physical::BOOLEAN, None),
        // An element is never null, but readers expect it to be allowed to be.
        Values::Numbers(_) => {
            // The three levels that the format prescribes for lists; the names are the prescribed ones, too.
            let element = primitive("element", Physical::DOUBLE, None)?;
            let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
            let list = Arc::new(list.with_fields(vec![element]).build()?);
            let outer = Type::group_type_builder(name).with_repetition(Repetition::OPTIONAL);
            outer.with_logical_type(Some(LogicalType::List)).with_fields(vec![list]).build().map(Arc::new)
        }
    }
}

fn write_column(place: &mut SerializedColumnWriter<'_>, values: &Values) -> Result<(), ParquetError> {
    // Present is level 1 and null is 0; only what is present is handed over as a value.
    fn split<T, V>(values: &[Option<T>], of: impl Fn(&T) -> V) -> (Vec<V>, Vec<i16>) {
        let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
        (values.iter().flatten().map(of).collect(), levels)
    }
    match values {
        Values::Text(values) => {
            let (values, levels) = split(values, |text| ByteArray::from(text.as_str()));
            place.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        Values::Whole(values) => {
            let (values, levels) = split(values, |value| *value);
            place.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Values::Number(values) => {
            let (values, levels) = split(values, |value| *value);
            place.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Values::Flag(values) => {
            let (values, levels) = split(values, |value| *value);
            place.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
        }
        Values::Numbers(values) => {
            let (values, definition, repetition) = levels_of(values);
            place.typed::<DoubleType>().write_batch(&values, Some(&definition), Some(&repetition))?;
        }
    }
    Ok(())
}

/// Lists → elements with Dremel's levels: 0 no list, 1 an empty one, 3 an element; the second of a list repeats at 1.
fn levels_of(lists: &[Option<Vec<f64>>]) -> (Vec<f64>, Vec<i16>, Vec<i16>) {
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        match list.as_deref() {
            None => definition.push(0),
            Some([]) => definition.push(1),
            Some(list) => {
                values.extend_from_slice(list);
                definition.extend(list.iter().map(|_| 3));
                repetition.push(0);
                repetition.extend(list.iter().skip(1).map(|_| 1));
                continue;
            }
        }
        repetition.push(0);
    }
    (values, definition, repetition)
}

#[cfg(test)]
mod tests {
    use super::levels_of;

    #[test]
    fn no_list_and_an_empty_list_are_two_things() {
        let lists = [Some(vec![1.0, 2.0, 3.0]), None, Some(Vec::new()), Some(vec![4.0])];
        let (values, definition, repetition) = levels_of(&lists);
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(definition, [3, 3, 3, 0, 1, 3]);
        assert_eq!(repetition, [0, 1, 1, 0, 0, 0]);
    }
}
