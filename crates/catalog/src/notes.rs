//! Errors and warnings about a file, with their positions.

use crate::Place;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The experiment cannot run.
    Error,
    /// The experiment can run, but the results will probably not be as intended.
    Warning,
}

/// An error or warning, with its positions and a suggestion.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// Stable code (`E0101`), explained by `netloom explain`.
    pub code: &'static str,
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// Positions with a label each (may be empty). The first is the main one.
    pub places: Vec<(Place, String)>,
    /// A suggestion, as an imperative.
    pub help: Option<String>,
}

/// Maximum number of notes kept; later ones are only counted. A file with more is the wrong file,
/// or damaged.
pub const MOST_NOTES: usize = 1000;

/// All notes about a file, in the order found.
#[derive(Clone, Default, Debug)]
pub struct Notes {
    list: Vec<Note>,
    /// Numbers of errors and warnings beyond the limit.
    further: [usize; 2],
    /// The last note beyond the limit, so that the caller can complete it.
    spare: Option<Note>,
}

impl Notes {
    pub fn new() -> Self {
        Notes::default()
    }

    /// Adds an error at one position.
    pub fn error(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
    ) -> &mut Note {
        self.add(Severity::Error, code, place, message.into())
    }

    /// Adds a warning at one position.
    pub fn warning(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
    ) -> &mut Note {
        self.add(Severity::Warning, code, place, message.into())
    }

    /// Adds a complete note.
    pub fn push(&mut self, note: Note) -> &mut Note {
        if self.is_full() {
            self.further[note.severity as usize] += 1;
            return self.spare.insert(note);
        }
        self.list.push(note);
        self.list.last_mut().expect("just pushed")
    }

    /// Whether further notes are only counted.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MOST_NOTES
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        place: Place,
        message: String,
    ) -> &mut Note {
        self.push(Note {
            code,
            severity,
            message,
            places: vec![(place, String::new())],
            help: None,
        })
    }

    /// Returns the most recent note.
    pub fn last(&mut self) -> Option<&mut Note> {
        match &mut self.spare {
            Some(spare) => Some(spare),
            None => self.list.last_mut(),
        }
    }

    /// Removes the notes that another note makes redundant.
    pub fn retract(&mut self, is_wrong: impl Fn(&Note) -> bool) {
        self.list.retain(|note| !is_wrong(note));
    }

    pub fn has_errors(&self) -> bool {
        self.count_of(Severity::Error) > 0
    }

    /// Returns the number of notes of a severity.
    pub fn count_of(&self, severity: Severity) -> usize {
        let listed = self.list.iter().filter(|note| note.severity == severity);
        listed.count() + self.further[severity as usize]
    }

    /// Returns the number of all notes.
    pub fn count(&self) -> usize {
        self.list.len() + self.further.iter().sum::<usize>()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Sorts errors before warnings, each by position. A last note gives the number of notes not
    /// kept.
    pub fn sorted(mut self) -> Vec<Note> {
        self.list.sort_by_key(|n| {
            (
                n.severity,
                n.places.first().map(|(p, _)| (p.source, p.start)),
            )
        });
        let [errors, warnings] = self.further;
        if errors + warnings > 0 {
            self.list.push(Note {
                code: "E0005",
                severity: Severity::Error,
                message: format!("{errors} more errors and {warnings} more warnings are not shown"),
                places: vec![],
                help: Some("fix the notes above, then read the file again".to_owned()),
            });
        }
        self.list
    }

    /// Returns the notes kept, in the order found.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.list.iter()
    }

    /// Adds all notes of another collection.
    pub fn extend(&mut self, other: Notes) {
        for note in other.list {
            self.push(note);
        }
        for (own, others) in self.further.iter_mut().zip(other.further) {
            *own += others;
        }
    }
}

impl Note {
    /// Sets the suggestion.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Self {
        self.help = Some(text.into());
        self
    }

    /// Labels the main position.
    pub fn label(&mut self, text: impl Into<String>) -> &mut Self {
        if let Some((_, label)) = self.places.first_mut() {
            *label = text.into();
        }
        self
    }

    /// Adds another position.
    pub fn also(&mut self, place: Place, label: impl Into<String>) -> &mut Self {
        self.places.push((place, label.into()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_mistakes_are_counted_and_a_thousand_kept() {
        let mut notes = Notes::new();
        for _ in 0..1_000_000 {
            notes
                .error("E0106", Place::default(), "unknown")
                .help("no such key");
        }
        notes.warning("W0416", Place::default(), "and one warning");
        assert_eq!(
            notes.last().map(|note| note.severity),
            Some(Severity::Warning)
        );
        let mut more = Notes::new();
        more.extend(notes.clone());
        for notes in [notes, more] {
            assert_eq!(notes.count(), 1_000_001);
            assert_eq!(notes.count_of(Severity::Error), 1_000_000);
            assert_eq!(notes.iter().count(), MOST_NOTES);
            let sorted = notes.sorted();
            assert_eq!(sorted.len(), MOST_NOTES + 1);
            assert_eq!(
                sorted[MOST_NOTES].message,
                "999000 more errors and 1 more warnings are not shown"
            );
        }
    }
}
