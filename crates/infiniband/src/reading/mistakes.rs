//! The mistakes of one text, all at once and not without end.

use std::ops::Range;

use netloom_catalog::{Note, Notes, Place};

/// Mistakes of one text that are told one by one. Whoever has more has the wrong file.
pub const MOST_MISTAKES: usize = 100;

/// Where in a text: its first byte, and the one past its last.
pub(super) type Span = Range<usize>;

/// Tells the mistakes of one text.
pub(super) struct Mistakes<'n> {
    notes: &'n mut Notes,
    source: u16,
    told: usize,
    untold: usize,
    last: Span,
}

impl<'n> Mistakes<'n> {
    /// Of the text with this number among the caller's.
    pub(super) fn of(source: u16, notes: &'n mut Notes) -> Self {
        Mistakes {
            notes,
            source,
            told: 0,
            untold: 0,
            last: 0..0,
        }
    }

    /// Whether any was told.
    pub(super) fn any(&self) -> bool {
        self.told > 0
    }

    /// Tells a mistake. None if enough were told before it.
    pub(super) fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Option<&mut Note> {
        let place = self.next(&span)?;
        Some(self.notes.error(code, place, message))
    }

    /// Tells what will probably disappoint. None if enough were told before it.
    pub(super) fn warning(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Option<&mut Note> {
        let place = self.next(&span)?;
        Some(self.notes.warning(code, place, message))
    }

    /// The place of a stretch of this text.
    pub(super) fn place(&self, span: &Span) -> Place {
        let clip = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Place {
            source: self.source,
            start: clip(span.start),
            end: clip(span.end),
        }
    }

    fn next(&mut self, span: &Span) -> Option<Place> {
        if self.told == MOST_MISTAKES {
            self.untold += 1;
            self.last = span.clone();
            return None;
        }
        self.told += 1;
        Some(self.place(span))
    }

    /// Says how many were not told.
    pub(super) fn finish(self) {
        if self.untold > 0 {
            let place = self.place(&self.last);
            let message = format!("{} further mistakes are not told one by one", self.untold);
            self.notes
                .error("E1139", place, message)
                .help("mend the first ones and read the file again");
        }
    }
}
