//! Reads the page headers of a Parquet column before any page is decompressed.
//!
//! A page of a few bytes may decompress to gigabytes: zeros, a dictionary of a billion entries,
//! texts that share prefixes. The footer states sizes too, but the library uses the header of each
//! page. So the headers are parsed here (Thrift's compact protocol), and anything that netloom
//! never writes is rejected.

use parquet::basic::Type as Physical;

/// Maximum decompressed size of a page. A writer begins a new page at 1 MiB, and may exceed that by
/// one batch.
const MOST_OF_A_PAGE: u64 = 16 << 20;

/// Kinds of pages.
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// Encodings that netloom writes: PLAIN, PLAIN_DICTIONARY, RLE and RLE_DICTIONARY. Other encodings
/// derive values from earlier ones.
const ENCODINGS: [i32; 4] = [0, 2, 3, 8];

/// Types of fields.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

/// Maximum nesting of structures: a header has statistics inside the part for its kind.
const DEEPEST: usize = 4;

/// Returns the decompressed size of the pages of a column, including their dictionaries as values.
pub(super) fn decoded_bytes(mut chunk: &[u8], kind: Physical) -> Result<u64, String> {
    let mut bytes = 0u64;
    while !chunk.is_empty() {
        let mut header = Header { rest: chunk };
        let page = header.page().ok_or("a page of it is damaged")?;
        let compressed = usize::try_from(page.compressed).unwrap_or(usize::MAX);
        chunk = header
            .rest
            .get(compressed..)
            .ok_or("a page of it is truncated")?;
        let uncompressed = u64::try_from(page.uncompressed).unwrap_or(u64::MAX);
        if uncompressed > MOST_OF_A_PAGE {
            return Err(format!(
                "expected pages of at most {MOST_OF_A_PAGE} bytes, found one of {uncompressed}"
            ));
        }
        if !ENCODINGS.contains(&page.encoding) {
            return Err(format!("unsupported page encoding {}", page.encoding));
        }
        bytes += uncompressed;
        if page.kind == DICTIONARY_PAGE {
            // Bytes of an entry in the page, and in memory.
            let (stored, in_memory) = match kind {
                Physical::BYTE_ARRAY => (4, 32),
                _ => (8, 8),
            };
            let entries = u64::try_from(page.entries).unwrap_or(u64::MAX);
            if entries.saturating_mul(stored) > uncompressed {
                return Err(format!(
                    "invalid dictionary: {entries} entries in {uncompressed} bytes"
                ));
            }
            bytes += entries * in_memory;
        }
    }
    Ok(bytes)
}

/// The relevant fields of a page header.
#[derive(Default)]
struct Page {
    kind: i32,
    uncompressed: i32,
    compressed: i32,
    entries: i32,
    encoding: i32,
}

/// A reader at the header of a page.
struct Header<'a> {
    rest: &'a [u8],
}

impl Header<'_> {
    /// Parses the header of a data page (version 1) or of a dictionary; returns `None` for any
    /// other page.
    fn page(&mut self) -> Option<Page> {
        let (mut page, mut found, mut last) = (Page::default(), vec![], 0);
        while let Some((id, kind)) = self.field(&mut last)? {
            match (id, kind) {
                (1, I32) => page.kind = self.i32()?,
                (2, I32) => page.uncompressed = self.i32()?,
                (3, I32) => page.compressed = self.i32()?,
                (4, I32) => _ = self.i32()?,
                (5 | 7, STRUCT) => (page.entries, page.encoding) = self.kind_of_page()?,
                _ => return None,
            }
            found.push(id);
        }
        let own = match page.kind {
            DATA_PAGE => 5,
            DICTIONARY_PAGE => 7,
            _ => return None,
        };
        let is_whole = [1, 2, 3, own].iter().all(|id| found.contains(id));
        let has_other = found.contains(&(12 - own));
        (is_whole && !has_other).then_some(page)
    }

    /// Parses the number of entries and the encoding of a page. The levels of a data page have an
    /// encoding too.
    fn kind_of_page(&mut self) -> Option<(i32, i32)> {
        let (mut entries, mut encoding, mut last) = (None, None, 0);
        while let Some((id, kind)) = self.field(&mut last)? {
            match (id, kind) {
                (1, I32) => entries = Some(self.i32()?),
                (2, I32) => encoding = Some(self.i32()?),
                (3 | 4, I32) => ENCODINGS.contains(&self.i32()?).then_some(())?,
                _ => self.skip(kind, 1)?,
            }
        }
        Some((entries?, encoding?))
    }

    /// Parses the number and the type of the next field of a structure, or its end. Numbers are
    /// ascending.
    fn field(&mut self, last: &mut u8) -> Option<Option<(u8, u8)>> {
        let byte = self.byte()?;
        let (step, kind) = (byte >> 4, byte & 15);
        match (step, kind) {
            (0, 0) => Some(None),
            (0, _) | (_, 0) => None,
            _ => {
                *last = last.checked_add(step)?;
                Some(Some((*last, kind)))
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            TRUE | FALSE => Some(()),
            I32 => self.i32().map(|_| ()),
            I64 => self.varint(10).map(|_| ()),
            BINARY => {
                let length = usize::try_from(self.varint(5)?).ok()?;
                self.rest = self.rest.get(length..)?;
                Some(())
            }
            STRUCT if depth < DEEPEST => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    /// Parses an unsigned number with 7 bits per byte, lowest first.
    fn varint(&mut self, most_bytes: usize) -> Option<u64> {
        let mut number = 0u64;
        for at in 0..most_bytes {
            let byte = self.byte()?;
            let bits = u64::from(byte & 127);
            let shifted = bits << (7 * at);
            if shifted >> (7 * at) != bits {
                return None;
            }
            number |= shifted;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// Parses a number with its sign in the lowest bit (zigzag).
    fn i32(&mut self) -> Option<i32> {
        let number = u32::try_from(self.varint(5)?).ok()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a page of zeros with its header.
    fn page(kind: u8, uncompressed: u32, entries: u32, encoding: u8) -> Vec<u8> {
        let mut bytes = vec![];
        let number = |bytes: &mut Vec<u8>, number: u32| {
            let mut left = u64::from(number) << 1;
            while left > 127 {
                bytes.push(left as u8 | 128);
                left >>= 7;
            }
            bytes.push(left as u8);
        };
        bytes.push(0x15);
        number(&mut bytes, kind.into());
        bytes.push(0x15);
        number(&mut bytes, uncompressed);
        bytes.push(0x15);
        number(&mut bytes, 3);
        bytes.push(if kind == 0 { 0x2c } else { 0x4c });
        bytes.push(0x15);
        number(&mut bytes, entries);
        bytes.push(0x15);
        number(&mut bytes, encoding.into());
        bytes.extend([0, 0, 1, 2, 3]);
        bytes
    }

    #[test]
    fn pages_are_summed_and_those_that_are_too_large_are_refused() {
        let of = |pages: &[Vec<u8>]| decoded_bytes(&pages.concat(), Physical::BYTE_ARRAY);
        let dictionary = page(2, 400, 100, 0);
        assert_eq!(
            of(&[dictionary.clone(), page(0, 1000, 1 << 20, 8)]),
            Ok(400 + 3200 + 1000)
        );
        assert_eq!(of(&[]), Ok(0));
        let why = |pages: &[Vec<u8>]| of(pages).unwrap_err();
        assert_eq!(
            why(&[page(0, 1 << 30, 7, 0)]),
            "expected pages of at most 16777216 bytes, found one of 1073741824"
        );
        assert_eq!(
            why(&[page(2, 399, 100, 0)]),
            "invalid dictionary: 100 entries in 399 bytes"
        );
        assert_eq!(why(&[page(0, 9, 9, 7)]), "unsupported page encoding 7");
        assert_eq!(why(&[page(3, 9, 9, 0)]), "a page of it is damaged");
        for end in 1..dictionary.len() {
            assert!(of(&[dictionary[..end].to_vec()]).is_err(), "{end}");
        }
    }
}
