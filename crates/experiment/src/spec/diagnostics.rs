//! What all stages share: places of values, notes, facts, and limits of work.

use netloom_catalog::Notes;
use netloom_results::Control;

use super::Request;
use super::effort::Work;
use super::memory::Memory;
use super::reading::Places;

/// The notes and facts of an experiment, and the places of its values.
pub(crate) struct Diagnostics<'a> {
    pub(crate) places: Places<'a>,
    pub(crate) notes: &'a mut Notes,
    pub(crate) facts: &'a mut Vec<(String, String)>,
    pub(crate) is_forced: bool,
    pub(crate) memory: Memory,
    pub(crate) work: Work<'a>,
    /// Asked between steps that may take long.
    pub(crate) control: &'a mut dyn FnMut() -> Control,
}

impl<'a> Diagnostics<'a> {
    pub(crate) fn new(
        places: Places<'a>,
        request: &Request<'a>,
        notes: &'a mut Notes,
        facts: &'a mut Vec<(String, String)>,
        control: &'a mut dyn FnMut() -> Control,
    ) -> Diagnostics<'a> {
        Diagnostics {
            places,
            notes,
            facts,
            is_forced: request.force,
            memory: Memory::of(request),
            work: Work::of(request),
            control,
        }
    }

    pub(crate) fn fact(&mut self, word: &str, sentence: String) {
        self.facts.push((word.to_owned(), sentence));
    }

    /// Returns `None` if loading is to stop.
    pub(crate) fn goes_on(&mut self) -> Option<()> {
        (self.control)().check().ok()
    }
}

/// Formats a count with its noun.
pub(crate) fn counted(n: impl Into<u64>, one: &str, several: &str) -> String {
    match n.into() {
        1 => format!("1 {one}"),
        n => format!("{} {several}", grouped(n)),
    }
}

/// Formats a number with thousands separators.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
