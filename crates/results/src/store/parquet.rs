//! Tables as Parquet: one optional column for each column of a frame, zstd, units and meanings in
//! the metadata.
//!
//! | kind | Parquet | DuckDB | Polars | pandas |
//! |---|---|---|---|---|
//! | text | BYTE_ARRAY, string | VARCHAR | String | object |
//! | whole | INT64, unsigned | UBIGINT | UInt64 | uint64, or float64 with gaps |
//! | number | DOUBLE | DOUBLE | Float64 | float64 |
//! | flag | BOOLEAN | BOOLEAN | Boolean | bool |

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use ::parquet::data_type::ByteArray;
use bytes::Bytes;
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

use super::pages::decoded_bytes;
use crate::{Frame, FrameColumn, Kind, Nullable, Values, Words};

/// Lines of a row group: large enough to compress well, small enough to be read in parts.
const GROUP: usize = 1 << 20;

/// Limits on the size of a table, since a few bytes of Parquet may decompress to any amount.
struct Limits {
    lines: u64,
    /// Memory for all values, without validity bits; a text counts as its index.
    bytes: u64,
    /// Decompressed size of all pages.
    pages: u64,
    /// Memory for distinct texts.
    texts: usize,
}

/// For scale: the links of 262,144 hosts with five seeds are 8 million lines and 1.6 GB.
const LIMITS: Limits = Limits {
    lines: 1 << 26,
    bytes: 2 << 30,
    pages: 1 << 30,
    texts: 512 << 20,
};

/// Memory for a text in addition to its bytes, which are stored twice: once in the index.
const PER_TEXT: usize = 128;

/// Lines of a column that are read at a time.
const BATCH: usize = 1 << 16;

/// Key of the units and meanings in the metadata of a file.
const COLUMNS: &str = "netloom.columns";

/// The part of a column's description that Parquet does not store.
#[derive(Serialize, Deserialize)]
struct Described {
    name: String,
    unit: String,
    meaning: String,
}

/// Converts a table to the bytes of a Parquet file; equal tables have equal bytes.
pub fn to_parquet(frame: &Frame) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = TableWriter::new(&mut bytes, frame).expect("writing to memory cannot fail");
    writer.push(frame).expect("writing to memory cannot fail");
    writer.finish().expect("writing to memory cannot fail");
    bytes
}

/// Writes a table in parts, with at most a row group in memory. The size of the parts does not
/// affect the bytes.
pub struct TableWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    /// Lines that are not written yet, less than a row group.
    pending: Frame,
}

impl<W: Write + Send> TableWriter<W> {
    /// Creates a writer for a table with the columns of `like`.
    ///
    /// # Errors
    /// If the file cannot be written.
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
    /// If the file cannot be written.
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

    /// Finishes the table.
    ///
    /// # Errors
    /// If the file cannot be written.
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
            let (there, levels) = present(&words.lines, lines, |word| {
                words_as_bytes[word as usize].clone()
            });
            writer.write_batch(&there, Some(&levels), None)?;
        }
        (ColumnWriter::Int64ColumnWriter(writer), Values::Whole(values)) => {
            let (there, levels) = present(values, lines, u64::cast_signed);
            writer.write_batch(&there, Some(&levels), None)?;
        }
        (ColumnWriter::DoubleColumnWriter(writer), Values::Number(values)) => {
            let (there, levels) = present(values, lines, |x| x);
            writer.write_batch(&there, Some(&levels), None)?;
        }
        (ColumnWriter::BoolColumnWriter(writer), Values::Flag(values)) => {
            let (there, levels) = present(values, lines, |is_so| is_so);
            writer.write_batch(&there, Some(&levels), None)?;
        }
        _ => unreachable!("the schema follows from the frame"),
    }
    Ok(())
}

/// Returns the values that exist, and for every line whether it has a value.
fn present<T: Copy + Default, U>(
    values: &Nullable<T>,
    lines: Range<usize>,
    convert: impl Fn(T) -> U,
) -> (Vec<U>, Vec<i16>) {
    let values = || lines.clone().map(|line| values.get(line));
    let levels = values().map(|value| i16::from(value.is_some()));
    let there = values().flatten().map(convert);
    (there.collect(), levels.collect())
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is caught and reported as a damaged file, so that a panic hook
/// can skip it.
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Reads a table written by [`to_parquet`], arranged as `like`. If it has other columns, its lines
/// are not read. An earlier version may lack numbers, which then have no values.
///
/// # Errors
/// If the bytes are not Parquet, contain columns that netloom does not write, or exceed the limits.
pub fn from_parquet(bytes: Vec<u8>, like: Option<&Frame>) -> Result<Frame, String> {
    // The library panics on some damaged pages. A folder may come from an untrusted source, so a
    // panic is reported as an error of the file. The interrupted code shares no state.
    IS_GUARDED.set(true);
    let read = std::panic::catch_unwind(|| try_from_parquet(bytes.into(), like, &LIMITS));
    IS_GUARDED.set(false);
    match read {
        Ok(frame) => frame.map_err(|error| match error {
            ParquetError::General(message) => message,
            error => error.to_string(),
        }),
        Err(_) => Err("a page of it is damaged".to_owned()),
    }
}

fn wrong(message: impl Into<String>) -> ParquetError {
    ParquetError::General(message.into())
}

fn try_from_parquet(
    bytes: Bytes,
    like: Option<&Frame>,
    limits: &Limits,
) -> Result<Frame, ParquetError> {
    let reader = SerializedFileReader::new(bytes.clone())?;
    let metadata = reader.metadata().file_metadata();
    let described: Vec<Described> = metadata
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == COLUMNS))
        .and_then(|pair| serde_json::from_str(pair.value.as_deref()?).ok())
        .unwrap_or_default();
    let mut columns = Vec::new();
    for field in metadata.schema().get_fields() {
        let name = field.name();
        if !field.is_primitive() || !field.is_optional() {
            return Err(wrong(format!("expected plain values in column {name:?}")));
        }
        let kind = match field.get_physical_type() {
            Physical::BYTE_ARRAY => Kind::Text,
            Physical::INT64 => Kind::Whole,
            Physical::DOUBLE => Kind::Number,
            Physical::BOOLEAN => Kind::Flag,
            other => {
                return Err(wrong(format!(
                    "unsupported type {other} of column {name:?}"
                )));
            }
        };
        let found = described.iter().find(|one| one.name == name);
        columns.push(FrameColumn {
            name: name.to_owned(),
            unit: found.map(|one| one.unit.clone()).unwrap_or_default(),
            meaning: found.map(|one| one.meaning.clone()).unwrap_or_default(),
            values: Values::new(kind),
        });
    }
    let mut frame = Frame::from_columns(columns);
    if let Some(like) = like {
        let other = |error| {
            wrong(format!(
                "{error}; it was changed or written by another version"
            ))
        };
        frame.can_be(like).map_err(other)?;
    }
    can_be_read(&reader, &bytes, &frame.columns, limits)?;
    let mut room = limits.texts;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let n = usize::try_from(group.metadata().num_rows())?;
        for (at, column) in frame.columns.iter_mut().enumerate() {
            read(
                group.get_column_reader(at)?,
                n,
                &mut column.values,
                &mut room,
            )?;
        }
    }
    let frame = Frame::from_columns(frame.columns);
    Ok(match like {
        Some(like) => frame.arranged_as(like),
        None => frame,
    })
}

/// Checks the size of a table against the limits by its footer and page headers, without
/// decompressing anything.
fn can_be_read(
    reader: &SerializedFileReader<Bytes>,
    bytes: &[u8],
    columns: &[FrameColumn],
    limits: &Limits,
) -> Result<(), ParquetError> {
    let (mut n_lines, mut n_bytes) = (0u64, 0u64);
    for group in reader.metadata().row_groups() {
        let n = u64::try_from(group.num_rows());
        n_lines = n_lines.saturating_add(n.map_err(|_| wrong("a negative number of lines"))?);
        for column in group.columns() {
            let pages =
                pages_of(column, bytes).ok_or_else(|| wrong("a column lies outside the file"))?;
            let decoded = decoded_bytes(pages, column.column_type());
            let in_column =
                |why| wrong(format!("column {:?}: {why}", column.column_path().string()));
            n_bytes += decoded.map_err(in_column)?;
        }
    }
    let per_line: usize = columns
        .iter()
        .map(|column| match column.values.kind() {
            Kind::Text => size_of::<u32>(),
            Kind::Whole => size_of::<u64>(),
            Kind::Number => size_of::<f64>(),
            Kind::Flag => size_of::<bool>(),
        })
        .sum();
    let in_memory = n_lines.saturating_mul(per_line as u64);
    if n_lines > limits.lines || in_memory > limits.bytes {
        return Err(wrong(format!(
            "expected at most {} lines and {} bytes, found {n_lines} lines of {} columns, \
             {in_memory} bytes",
            limits.lines,
            limits.bytes,
            columns.len()
        )));
    }
    if n_bytes > limits.pages {
        let most = limits.pages;
        return Err(wrong(format!(
            "expected pages of at most {most} bytes, found {n_bytes} bytes"
        )));
    }
    Ok(())
}

/// Returns the pages of a column if they lie in the file and are compressed with zstd, which the
/// reader assumes.
fn pages_of<'a>(column: &ColumnChunkMetaData, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let is_known = matches!(
        column.compression(),
        Compression::ZSTD(_) | Compression::UNCOMPRESSED
    );
    let data = usize::try_from(column.data_page_offset()).ok()?;
    let first = match column.dictionary_page_offset() {
        Some(at) => usize::try_from(at).ok()?,
        None => data,
    };
    let end = first.checked_add(usize::try_from(column.compressed_size()).ok()?)?;
    (is_known && first <= data && column.uncompressed_size() >= 0)
        .then(|| bytes.get(first..end))
        .flatten()
}

/// Reads the lines of one column, where each either has a value or has none.
macro_rules! lines {
    ($reader:expr, $n:expr, $add:expr) => {{
        let mut left = $n;
        while left > 0 {
            let (mut levels, mut there) = (Vec::new(), Vec::new());
            let wanted = left.min(BATCH);
            while levels.len() < wanted {
                let missing = wanted - levels.len();
                let (read, _, _) =
                    $reader.read_records(missing, Some(&mut levels), None, &mut there)?;
                if read == 0 {
                    return Err(wrong("a column ends early"));
                }
            }
            let n_there = levels.iter().filter(|&&level| level > 0).count();
            if n_there != there.len() {
                return Err(wrong("a column ends early"));
            }
            $add(&levels, there)?;
            left -= wanted;
        }
    }};
}

/// Distributes values to their lines.
fn spread<T: Copy, U: Copy + Default>(
    into: &mut Nullable<U>,
    convert: fn(T) -> U,
) -> impl FnMut(&[i16], Vec<T>) -> Result<(), ParquetError> {
    move |levels, there| {
        let mut there = there.into_iter();
        let line = |&level: &i16| if level > 0 { there.next() } else { None };
        into.extend(levels.iter().map(line).map(|value| value.map(convert)));
        Ok(())
    }
}

fn read(
    reader: ColumnReader,
    n: usize,
    values: &mut Values,
    room: &mut usize,
) -> Result<(), ParquetError> {
    match (reader, values) {
        (ColumnReader::ByteArrayColumnReader(mut reader), Values::Text(words)) => {
            lines!(reader, n, |levels: &[i16], there: Vec<ByteArray>| {
                texts(words, levels, &there, room)
            });
        }
        (ColumnReader::Int64ColumnReader(mut reader), Values::Whole(values)) => {
            lines!(reader, n, spread(values, i64::cast_unsigned));
        }
        (ColumnReader::DoubleColumnReader(mut reader), Values::Number(values)) => {
            lines!(reader, n, spread(values, |x: f64| x));
        }
        (ColumnReader::BoolColumnReader(mut reader), Values::Flag(values)) => {
            lines!(reader, n, spread(values, |is_so: bool| is_so));
        }
        _ => return Err(wrong("a column does not have the type of its schema")),
    }
    Ok(())
}

/// Adds texts. A text of a dictionary always has the same address, so each is hashed once per
/// batch, no matter how long it is or how often it occurs.
fn texts(
    words: &mut Words,
    levels: &[i16],
    there: &[ByteArray],
    room: &mut usize,
) -> Result<(), ParquetError> {
    let mut known: HashMap<(*const u8, usize), u32> = HashMap::new();
    let mut there = there.iter();
    for &level in levels {
        let Some(bytes) = (if level > 0 { there.next() } else { None }) else {
            words.push(None);
            continue;
        };
        let place = (bytes.data().as_ptr(), bytes.len());
        let at = match known.get(&place) {
            Some(&at) => at,
            None => {
                let before = words.words.len();
                let at = words.number_of(bytes.as_utf8()?);
                if words.words.len() > before {
                    let takes = 2 * bytes.len() + PER_TEXT;
                    *room = room.checked_sub(takes).ok_or_else(|| {
                        let n = words.words.len();
                        wrong(format!("too many distinct texts: more than {n}"))
                    })?;
                }
                known.insert(place, at);
                at
            }
        };
        words.lines.push(Some(at));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Column, Datum, LinkLine, Table};
    use proptest::prelude::*;

    use super::*;

    type Line = (Option<String>, Option<u64>, Option<f64>, Option<bool>);

    /// Returns a frame with a column of every kind.
    fn frame(lines: Vec<Line>) -> Frame {
        let columns = [
            ("word", "", Kind::Text),
            ("n", "flits", Kind::Whole),
            ("x", "ns", Kind::Number),
            ("is_so", "", Kind::Flag),
        ]
        .map(|(name, unit, kind)| {
            FrameColumn::new(&Column::new(name, unit, "What it means."), kind)
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
            prop_assert_eq!(from_parquet(bytes, Some(&frame)).unwrap(), frame);
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
        let again = from_parquet(to_parquet(&frame), None).unwrap();
        assert_eq!(again.len(), GROUP + 5);
        assert_eq!(
            again.column("n").unwrap().number(GROUP + 4),
            Some((GROUP + 4) as f64)
        );
        assert_eq!(again, frame);
        // Writing in parts gives the same file.
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
        let again = from_parquet(to_parquet(&frame), None).unwrap();
        assert_eq!(again.columns.len(), LinkLine::COLUMNS.len());
        assert_eq!(again, frame);
    }

    #[test]
    fn what_is_no_parquet_is_refused() {
        assert!(from_parquet(b"PAR1 not at all".to_vec(), None).is_err());
    }

    /// Returns a table of `n` texts of `length` bytes, each twice.
    fn of_texts(n: usize, length: usize) -> Vec<u8> {
        let column = FrameColumn::new(&Column::new("word", "", ""), Kind::Text);
        let mut frame = Frame::from_columns(vec![column]);
        for at in (0..n).chain(0..n) {
            let digits = at.to_string();
            let zeros = "0".repeat(length.saturating_sub(digits.len()));
            frame.push([Datum::Text(zeros + &digits)]);
        }
        to_parquet(&frame)
    }

    #[test]
    fn small_files_that_stand_for_much_are_refused() {
        let limits = Limits {
            lines: 1000,
            bytes: 8000,
            pages: 20_000,
            texts: 20_000,
        };
        let read = |bytes: Vec<u8>, like: Option<&Frame>| {
            try_from_parquet(bytes.into(), like, &limits).map_err(|error| match error {
                ParquetError::General(message) => message,
                error => error.to_string(),
            })
        };
        let why = |bytes: Vec<u8>| read(bytes, None).unwrap_err();
        assert_eq!(read(of_texts(50, 8), None).unwrap().len(), 100);
        assert_eq!(
            why(of_texts(501, 4)),
            "expected at most 1000 lines and 8000 bytes, found 1002 lines of 1 columns, 4008 bytes"
        );
        let pages = why(of_texts(10, 5000));
        assert!(
            pages.starts_with("expected pages of at most 20000 bytes, found 5"),
            "{pages}"
        );
        assert_eq!(
            why(of_texts(200, 8)),
            "too many distinct texts: more than 139"
        );
        // A table with other columns is rejected before its size is checked.
        let other = read(of_texts(501, 8), Some(&frame(vec![])));
        assert!(other.unwrap_err().starts_with("column \"n\" is missing"));
        // 17 MiB in a page of 2 kB.
        let page = of_texts(1, 17 << 20);
        assert!(page.len() < 10_000, "{}", page.len());
        let page = from_parquet(page, None).unwrap_err();
        assert!(
            page.contains("at most 16777216 bytes, found one of"),
            "{page}"
        );
    }

    #[test]
    fn texts_of_every_length_read_back() {
        for length in [1, 100, 5000] {
            let bytes = of_texts(3000, length);
            let frame = from_parquet(bytes.clone(), None).unwrap();
            assert_eq!(frame.len(), 6000);
            assert_eq!(to_parquet(&frame), bytes);
        }
    }
}
