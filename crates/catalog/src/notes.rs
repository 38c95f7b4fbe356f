//! Mistakes and remarks about a file, each with its place.

use crate::Place;

/// How bad a note is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Nothing can be run.
    Error,
    /// It can be run, and will probably disappoint.
    Warning,
}

/// One mistake or remark: what, where, and how to go on.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// A stable code (`E0101`), explained by `netloom explain`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The places it concerns, the first one being the main one, each with a label (may be empty).
    pub places: Vec<(Place, String)>,
    /// What to write instead.
    pub help: Option<String>,
}

/// Notes that are kept; of further ones only the number is. A file with more is the wrong file, or damaged as a whole.
pub const MOST_NOTES: usize = 1000;

/// All notes about a file, in order of finding.
#[derive(Clone, Default, Debug)]
pub struct Notes {
    list: Vec<Note>,
    /// Further errors and warnings.
    further: [usize; 2],
    /// The last of the further notes, so that its author can complete it.
    spare: Option<Note>,
}

impl Notes {
    /// No notes.
    pub fn new() -> Self {
        Notes::default()
    }

    /// Adds an error at one place.
    pub fn error(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
    ) -> &mut Note {
        self.add(Severity::Error, code, place, message.into())
    }

    /// Adds a warning at one place.
    pub fn warning(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
    ) -> &mut Note {
        self.add(Severity::Warning, code, place, message.into())
    }

    /// Adds a note as it is.
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

    /// The note that was added last.
    pub fn last(&mut self) -> Option<&mut Note> {
        match &mut self.spare {
            Some(spare) => Some(spare),
            None => self.list.last_mut(),
        }
    }

    /// Takes back what turned out to be said better by another note.
    pub fn retract(&mut self, is_wrong: impl Fn(&Note) -> bool) {
        self.list.retain(|note| !is_wrong(note));
    }

    /// Whether any note is an error.
    pub fn has_errors(&self) -> bool {
        self.count_of(Severity::Error) > 0
    }

    /// The number of notes of a severity.
    pub fn count_of(&self, severity: Severity) -> usize {
        let kept = self.list.iter().filter(|note| note.severity == severity);
        kept.count() + self.further[severity as usize]
    }

    /// The number of all notes.
    pub fn count(&self) -> usize {
        self.list.len() + self.further.iter().sum::<usize>()
    }

    /// Whether there are no notes at all.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Errors first, then warnings, each in order of place; the last says how many further ones there are.
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
                message: format!(
                    "{errors} further errors and {warnings} further warnings are not shown"
                ),
                places: vec![],
                help: Some("correct the first ones, and read the file again".to_owned()),
            });
        }
        self.list
    }

    /// The notes that are kept, in order of finding.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.list.iter()
    }

    /// Takes over all notes of another collection.
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
    /// Says what to write instead.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Self {
        self.help = Some(text.into());
        self
    }

    /// Labels the main place.
    pub fn label(&mut self, text: impl Into<String>) -> &mut Self {
        if let Some((_, label)) = self.places.first_mut() {
            *label = text.into();
        }
        self
    }

    /// Points at a further place.
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
                "999000 further errors and 1 further warnings are not shown"
            );
        }
    }
}
