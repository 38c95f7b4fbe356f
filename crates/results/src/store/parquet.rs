//! Tables as Parquet: one optional column for each of a frame, zstd, units and meanings in the metadata.
//!
//! | kind | Parquet | DuckDB | Polars | pandas |
//! |---|---|---|---|---|
//! | text | BYTE_ARRAY, string | VARCHAR | String | object |
//! | whole | INT64, unsigned | UBIGINT | UInt64 | uint64, or float64 with gaps |
//! | number | DOUBLE | DOUBLE | Float64 | float64 |
//! | flag | BOOLEAN | BOOLEAN | Boolean | bool |

use std::cell::Cell;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use ::parquet::data_type::ByteArray;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use serde::{Deserialize, Serialize};

use crate::{Datum, Frame, FrameColumn, Kind, Values};

/// Lines of a row group: enough to compress well, few enough to be read in parts.
const GROUP: usize = 1 << 20;

/// The most lines of a table, and values of all its columns, that are read: a few bytes of Parquet may stand for any
/// number of them. The links of 262,144 hosts with five seeds are a tenth of it.
const MOST_LINES: u64 = 1 << 26;
const MOST_VALUES: u64 = 1 << 28;

/// The key under which units and meanings stand in a file.
const COLUMNS: &str = "netloom.columns";

/// What Parquet has no place for.
#[derive(Serialize, Deserialize)]
struct Described {
    name: String,
    unit: String,
    meaning: String,
}

/// A table as the bytes of a Parquet file; equal tables give equal bytes.
pub fn to_parquet(frame: &Frame) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = TableWriter::new(&mut bytes, frame).expect("memory takes everything");
    writer.push(frame).expect("memory takes everything");
    writer.finish().expect("memory takes everything");
    bytes
}

/// A table being written, part by part: of large ones only a row group is in memory. How it is cut into
/// parts does not change the bytes.
pub struct TableWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    /// What is not written yet, less than a row group.
    pending: Frame,
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table with the columns of this one.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(sink: W, like: &Frame) -> io::Result<TableWriter<W>> {
        let described: Vec<Described> = like
            .columns
            .iter()
            .map(|column| Described {
                name: column.name.clone(),
                unit: column.unit.clone(),
                meaning: column.meaning.clone(),
            })
            .collect();
        let described = serde_json::to_string(&described).expect("plain data is JSON");
        let level = ZstdLevel::try_new(3).expect("a level of zstd");
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(format!("netloom {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![KeyValue::new(COLUMNS.to_owned(), described)]))
            .build();
        let schema = schema(like).map_err(io::Error::other)?;
        let writer = SerializedFileWriter::new(sink, schema, Arc::new(properties));
        Ok(TableWriter {
            writer: writer.map_err(io::Error::other)?,
            pending: like.without_lines(),
        })
    }

    /// Adds the lines of a table with the same columns.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn push(&mut self, frame: &Frame) -> io::Result<()> {
        self.pending.append(frame);
        let mut start = 0;
        while self.pending.len() - start >= GROUP {
            self.group(start..start + GROUP).map_err(io::Error::other)?;
            start += GROUP;
        }
        if start > 0 {
            let mut rest = self.pending.without_lines();
            for line in start..self.pending.len() {
                rest.push(self.pending.line(line));
            }
            self.pending = rest;
        }
        Ok(())
    }

    fn group(&mut self, lines: Range<usize>) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in &self.pending.columns {
            let mut column_writer = group.next_column()?.expect("a writer for every column");
            write(column_writer.untyped(), &column.values, lines.clone())?;
            column_writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the table.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.pending.is_empty() {
            self.group(0..self.pending.len())
                .map_err(io::Error::other)?;
        }
        self.writer.close().map_err(io::Error::other)?;
        Ok(())
    }
}

fn schema(frame: &Frame) -> Result<TypePtr, ParquetError> {
    let field = |column: &FrameColumn| {
        let (physical, logical) = match column.values.kind() {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Whole => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    };
    let fields: Result<Vec<TypePtr>, ParquetError> = frame.columns.iter().map(field).collect();
    let root = Type::group_type_builder("netloom").with_fields(fields?);
    Ok(Arc::new(root.build()?))
}

fn write(
    writer: &mut ColumnWriter<'_>,
    values: &Values,
    lines: Range<usize>,
) -> Result<(), ParquetError> {
    match (writer, values) {
        (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(words)) => {
            let words_as_bytes: Vec<ByteArray> = words
                .words
                .iter()
                .map(|word| ByteArray::from(word.as_str()))
                .collect();
            let (there, levels) = present(&words.lines[lines], |&word| {
                words_as_bytes[word as usize].clone()
            });
            writer.write_batch(&there, Some(&levels), None)?;
        }
        (ColumnWriter::Int64ColumnWriter(writer), Values::Whole(values)) => {
            let (there, levels) = present(&values[lines], |&n| n.cast_signed());
            writer.write_batch(&there, Some(&levels), None)?;
        }
        (ColumnWriter::DoubleColumnWriter(writer), Values::Number(values)) => {
            let (there, levels) = present(&values[lines], |&x| x);
            writer.write_batch(&there, Some(&levels), None)?;
        }
        (ColumnWriter::BoolColumnWriter(writer), Values::Flag(values)) => {
            let (there, levels) = present(&values[lines], |&is_so| is_so);
            writer.write_batch(&there, Some(&levels), None)?;
        }
        _ => unreachable!("the schema follows from the frame"),
    }
    Ok(())
}

/// The values that are there, and for every line whether it has one.
fn present<T, U>(values: &[Option<T>], convert: impl Fn(&T) -> U) -> (Vec<U>, Vec<i16>) {
    let levels = values.iter().map(|value| i16::from(value.is_some()));
    let there = values.iter().flatten().map(convert);
    (there.collect(), levels.collect())
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be a damaged file's, and told as such: a hook has nothing to say of it.
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Reads a table that [`to_parquet`] wrote.
///
/// # Errors
/// If the bytes are no Parquet, or hold columns that no table of ours has.
pub fn from_parquet(bytes: Vec<u8>) -> Result<Frame, String> {
    // The library asserts what a damaged page does not keep; a folder may be anybody's, so that is one more mistake
    // of the file. Nothing is shared with what was interrupted.
    IS_GUARDED.set(true);
    let read = std::panic::catch_unwind(|| try_from_parquet(bytes));
    IS_GUARDED.set(false);
    match read {
        Ok(frame) => frame.map_err(|error| error.to_string()),
        Err(_) => Err("a page of it is damaged".to_owned()),
    }
}

fn try_from_parquet(bytes: Vec<u8>) -> Result<Frame, ParquetError> {
    let n_bytes = bytes.len() as u64;
    let reader = SerializedFileReader::new(parquet_bytes(bytes))?;
    let metadata = reader.metadata().file_metadata();
    let described: Vec<Described> = metadata
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == COLUMNS))
        .and_then(|pair| serde_json::from_str(pair.value.as_deref()?).ok())
        .unwrap_or_default();
    let mut columns = Vec::new();
    for field in metadata.schema().get_fields() {
        if !field.is_primitive() || !field.is_optional() {
            let message = format!("column {:?} holds no plain values", field.name());
            return Err(ParquetError::General(message));
        }
        let kind = match field.get_physical_type() {
            Physical::BYTE_ARRAY => Kind::Text,
            Physical::INT64 => Kind::Whole,
            Physical::DOUBLE => Kind::Number,
            Physical::BOOLEAN => Kind::Flag,
            other => {
                let message = format!("column {:?} is of type {other}", field.name());
                return Err(ParquetError::General(message));
            }
        };
        let found = described.iter().find(|one| one.name == field.name());
        columns.push(FrameColumn {
            name: field.name().to_owned(),
            unit: found.map(|one| one.unit.clone()).unwrap_or_default(),
            meaning: found.map(|one| one.meaning.clone()).unwrap_or_default(),
            values: Values::new(kind),
        });
    }
    let mut n_lines = 0u64;
    for group in reader.metadata().row_groups() {
        if !group
            .columns()
            .iter()
            .all(|column| is_inside(column, n_bytes))
        {
            let message = "a column lies outside of the file".to_owned();
            return Err(ParquetError::General(message));
        }
        let n = u64::try_from(group.num_rows());
        let n = n.map_err(|_| ParquetError::General("a part of less than no lines".to_owned()))?;
        n_lines = n_lines.saturating_add(n);
    }
    let n_values = n_lines.saturating_mul(columns.len() as u64);
    if n_lines > MOST_LINES || n_values > MOST_VALUES {
        let message = format!(
            "it has {n_lines} lines of {} columns; at most {MOST_LINES} lines and {MOST_VALUES} values are read",
            columns.len()
        );
        return Err(ParquetError::General(message));
    }
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let n = usize::try_from(group.metadata().num_rows())?;
        for (at, column) in columns.iter_mut().enumerate() {
            read(group.get_column_reader(at)?, n, &mut column.values)?;
        }
    }
    Ok(Frame::from_columns(columns))
}

/// Whether the pages of a column lie in a file of so many bytes; the reader takes that for granted.
fn is_inside(column: &ColumnChunkMetaData, n_bytes: u64) -> bool {
    let first = column.data_page_offset();
    let first = column
        .dictionary_page_offset()
        .map_or(first, |at| at.min(first));
    let end = first.checked_add(column.compressed_size());
    let is_known = matches!(
        column.compression(),
        Compression::ZSTD(_) | Compression::UNCOMPRESSED
    );
    let end = end.and_then(|end| u64::try_from(end).ok());
    is_known
        && first >= 0
        && column.compressed_size() >= 0
        && column.uncompressed_size() >= 0
        && end.is_some_and(|end| end <= n_bytes)
}

fn parquet_bytes(bytes: Vec<u8>) -> impl parquet::file::reader::ChunkReader {
    bytes::Bytes::from(bytes)
}

/// Reads the lines of one column, where each either has a value or has none.
macro_rules! lines {
    ($reader:expr, $n:expr, $values:expr, $convert:expr) => {{
        let (mut levels, mut there) = (Vec::new(), Vec::new());
        while levels.len() < $n {
            let (read, _, _) =
                $reader.read_records($n - levels.len(), Some(&mut levels), None, &mut there)?;
            if read == 0 {
                return Err(ParquetError::General("a column ends early".to_owned()));
            }
        }
        let mut there = there.into_iter();
        for level in levels {
            let value = if level > 0 { there.next() } else { None };
            if level > 0 && value.is_none() {
                return Err(ParquetError::General("a column ends early".to_owned()));
            }
            $values.push(value.map_or(Ok(Datum::Nothing), $convert)?);
        }
    }};
}

fn read(reader: ColumnReader, n: usize, values: &mut Values) -> Result<(), ParquetError> {
    match reader {
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            lines!(reader, n, values, |bytes: ByteArray| {
                let text = bytes.as_utf8()?;
                Ok::<_, ParquetError>(Datum::Text(text.to_owned()))
            });
        }
        ColumnReader::Int64ColumnReader(mut reader) => {
            lines!(reader, n, values, |n: i64| Ok::<_, ParquetError>(
                Datum::Whole(n.cast_unsigned())
            ));
        }
        ColumnReader::DoubleColumnReader(mut reader) => {
            lines!(reader, n, values, |x: f64| Ok::<_, ParquetError>(
                Datum::Number(x)
            ));
        }
        ColumnReader::BoolColumnReader(mut reader) => {
            lines!(reader, n, values, |is_so: bool| Ok::<_, ParquetError>(
                Datum::Flag(is_so)
            ));
        }
        _ => {
            let message = "a column is not of the type that its schema says".to_owned();
            return Err(ParquetError::General(message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Column, LinkLine, Table};
    use proptest::prelude::*;

    use super::*;

    type Line = (Option<String>, Option<u64>, Option<f64>, Option<bool>);

    /// A frame with a column of every kind.
    fn frame(lines: Vec<Line>) -> Frame {
        let columns = [
            ("word", "", Kind::Text),
            ("n", "flits", Kind::Whole),
            ("x", "ns", Kind::Number),
            ("is_so", "", Kind::Flag),
        ]
        .map(|(name, unit, kind)| {
            let meaning = "What it means.";
            FrameColumn::new(
                &Column {
                    name,
                    unit,
                    meaning,
                },
                kind,
            )
        });
        let mut frame = Frame::from_columns(columns.to_vec());
        for (word, n, x, is_so) in lines {
            frame.push([
                word.map_or(Datum::Nothing, Datum::Text),
                n.map_or(Datum::Nothing, Datum::Whole),
                x.map_or(Datum::Nothing, Datum::Number),
                is_so.map_or(Datum::Nothing, Datum::Flag),
            ]);
        }
        frame
    }

    proptest! {
        #[test]
        fn a_table_reads_back(lines in prop::collection::vec(
            (
                prop::option::of("[a-zµ\" ,]{0,6}"),
                prop::option::of(any::<u64>()),
                prop::option::of(any::<f64>().prop_filter("a number", |x| !x.is_nan())),
                prop::option::of(any::<bool>()),
            ),
            0..300,
        )) {
            let frame = frame(lines);
            let bytes = to_parquet(&frame);
            prop_assert_eq!(&to_parquet(&frame), &bytes, "the same bytes again");
            prop_assert_eq!(from_parquet(bytes).unwrap(), frame);
        }
    }

    #[test]
    fn a_table_may_be_larger_than_a_row_group() {
        let line = |n: u64| {
            (
                Some(format!("h{}", n % 7)),
                Some(n),
                None,
                Some(n.is_multiple_of(2)),
            )
        };
        let frame = frame((0..GROUP as u64 + 5).map(line).collect());
        let again = from_parquet(to_parquet(&frame)).unwrap();
        assert_eq!(again.len(), GROUP + 5);
        assert_eq!(
            again.column("n").unwrap().number(GROUP + 4),
            Some((GROUP + 4) as f64)
        );
        assert_eq!(again, frame);
        // In parts it is the same file.
        let mut bytes = Vec::new();
        let mut writer = TableWriter::new(&mut bytes, &frame).unwrap();
        let mut part = frame.without_lines();
        for line in 0..frame.len() {
            part.push(frame.line(line));
            if line % 400_000 == 7 || line + 1 == frame.len() {
                writer.push(&part).unwrap();
                part = frame.without_lines();
            }
        }
        writer.finish().unwrap();
        assert!(bytes == to_parquet(&frame));
    }

    #[test]
    fn an_empty_table_keeps_its_columns_units_and_meanings() {
        let frame = Frame::of::<LinkLine>();
        let again = from_parquet(to_parquet(&frame)).unwrap();
        assert_eq!(again.columns.len(), LinkLine::COLUMNS.len());
        assert_eq!(again, frame);
    }

    #[test]
    fn what_is_no_parquet_is_refused() {
        assert!(from_parquet(b"PAR1 not at all".to_vec()).is_err());
    }
}
