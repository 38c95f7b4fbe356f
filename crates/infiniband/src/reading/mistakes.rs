//! Reports the errors of one text, up to a maximum number.

use std::ops::Range;

use netloom_catalog::{Note, Notes, Place};

/// Maximum number of errors reported per text. A text with more is most likely the wrong file.
pub const MOST_MISTAKES: usize = 100;

/// A range of bytes of a text.
pub(super) type Span = Range<usize>;

/// Reports the errors of one text.
pub(super) struct Mistakes<'n> {
    notes: &'n mut Notes,
    source: u16,
    reported: usize,
    unreported: usize,
    last: Span,
}

impl<'n> Mistakes<'n> {
    /// Creates a reporter for the text with this index.
    pub(super) fn of(source: u16, notes: &'n mut Notes) -> Self {
        Mistakes {
            notes,
            source,
            reported: 0,
            unreported: 0,
            last: 0..0,
        }
    }

    /// Returns whether anything was reported.
    pub(super) fn any(&self) -> bool {
        self.reported > 0
    }

    /// Reports an error. Returns `None` if the maximum is reached.
    pub(super) fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Option<&mut Note> {
        let place = self.next(&span)?;
        Some(self.notes.error(code, place, message))
    }

    /// Reports a warning. Returns `None` if the maximum is reached.
    pub(super) fn warning(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Option<&mut Note> {
        let place = self.next(&span)?;
        Some(self.notes.warning(code, place, message))
    }

    /// Returns the place of a span of this text.
    pub(super) fn place(&self, span: &Span) -> Place {
        let clip = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Place {
            source: self.source,
            start: clip(span.start),
            end: clip(span.end),
        }
    }

    fn next(&mut self, span: &Span) -> Option<Place> {
        if self.reported == MOST_MISTAKES {
            self.unreported += 1;
            self.last = span.clone();
            return None;
        }
        self.reported += 1;
        Some(self.place(span))
    }

    /// Reports the number of errors beyond the maximum.
    pub(super) fn finish(self) {
        if self.unreported > 0 {
            let place = self.place(&self.last);
            let message = format!("{} more errors and warnings are not shown", self.unreported);
            self.notes
                .error("E1139", place, message)
                .help("fix the first errors and read the file again");
        }
    }
}
