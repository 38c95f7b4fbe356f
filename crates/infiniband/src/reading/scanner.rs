//! Lines of a text, and a cursor within a line.

use super::mistakes::Span;

/// One line without its line end, and where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// The text of the line.
    pub text: &'a str,
    /// Its first byte in the text.
    pub start: usize,
    /// Whether this is the last line and has no line end. It may be truncated.
    pub is_open: bool,
}

/// Returns the lines of a text.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |whole| {
        let line = Line {
            text: whole.trim_end_matches(['\n', '\r']),
            start,
            is_open: !whole.ends_with('\n'),
        };
        start += whole.len();
        line
    })
}

/// Returns the first line, which is the place of errors about the whole text.
pub(super) fn first_line(text: &str) -> Span {
    0..text.lines().next().map_or(0, str::len)
}

impl<'a> Line<'a> {
    /// Returns the line without the blanks around it.
    pub(super) fn trimmed(&self) -> Line<'a> {
        let text = self.text.trim_ascii_start();
        Line {
            start: self.start + self.text.len() - text.len(),
            text: text.trim_ascii_end(),
            ..*self
        }
    }

    /// Returns the span of the whole line.
    pub(super) fn span(&self) -> Span {
        self.start..self.start + self.text.len()
    }

    /// Returns the span of a piece of this line.
    pub(super) fn span_of(&self, piece: &str) -> Span {
        let offset = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        match offset <= self.text.len() {
            true => self.start + offset..self.start + offset + piece.len(),
            false => self.span(),
        }
    }

    /// Returns a cursor at the start of the line.
    pub(super) fn cursor(&self) -> Cursor<'a> {
        Cursor { rest: self.text }
    }

    /// Returns the span from the cursor to the end of the line.
    pub(super) fn span_at(&self, cursor: &Cursor<'_>) -> Span {
        match cursor.rest.is_empty() {
            true => self.span(),
            false => self.span_of(cursor.rest),
        }
    }
}

/// A position in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    /// The unread rest of the line.
    pub rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// Skips this text if it is next, and returns whether it was.
    pub(super) fn eat(&mut self, what: &str) -> bool {
        match self.rest.strip_prefix(what) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Skips blanks.
    pub(super) fn blanks(&mut self) -> &mut Self {
        self.rest = self.rest.trim_ascii_start();
        self
    }

    /// Returns the text up to a mark, and skips the mark.
    pub(super) fn until(&mut self, mark: &str) -> Option<&'a str> {
        let (before, after) = self.rest.split_once(mark)?;
        self.rest = after;
        Some(before)
    }

    /// Reads the next word, up to a blank.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.blanks();
        let end = self.rest.find(char::is_whitespace);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// Reads a decimal number. A number that does not fit is read as `u64::MAX`.
    pub(super) fn decimal(&mut self) -> Option<u64> {
        self.digits(10, usize::MAX)
    }

    /// Reads a number of up to 16 hexadecimal digits, with or without `0x`.
    pub(super) fn hex(&mut self) -> Option<u64> {
        let before = self.rest;
        self.eat("0x");
        let number = self.digits(16, 16);
        if number.is_none() {
            self.rest = before;
        }
        number
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<u64> {
        let mut number = Some(0u64);
        let mut end = 0;
        for byte in self.rest.bytes() {
            let Some(digit) = char::from(byte).to_digit(radix) else {
                break;
            };
            let next = number.and_then(|number| number.checked_mul(u64::from(radix)));
            number = next.and_then(|number| number.checked_add(u64::from(digit)));
            end += 1;
        }
        if end == 0 || end > most {
            return None;
        }
        self.rest = &self.rest[end..];
        Some(number.unwrap_or(u64::MAX))
    }
}

/// Parses a whole word as a decimal number.
pub(super) fn decimal(word: &str) -> Option<u64> {
    let mut cursor = Cursor { rest: word };
    let number = cursor.decimal()?;
    cursor.rest.is_empty().then_some(number)
}

/// Parses a whole word as a hexadecimal number.
pub(super) fn hex(word: &str) -> Option<u64> {
    let mut cursor = Cursor { rest: word };
    let number = cursor.hex()?;
    cursor.rest.is_empty().then_some(number)
}
