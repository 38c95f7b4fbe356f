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

/// All notes about a file, in order of finding.
#[derive(Clone, Default, Debug)]
pub struct Notes {
    list: Vec<Note>,
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
    pub fn push(&mut self, note: Note) {
        self.list.push(note);
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        place: Place,
        message: String,
    ) -> &mut Note {
        self.list.push(Note {
            code,
            severity,
            message,
            places: vec![(place, String::new())],
            help: None,
        });
        self.list.last_mut().expect("just pushed")
    }

    /// The note that was added last.
    pub fn last(&mut self) -> Option<&mut Note> {
        self.list.last_mut()
    }

    /// Takes back what turned out to be said better by another note.
    pub fn retract(&mut self, is_wrong: impl Fn(&Note) -> bool) {
        self.list.retain(|note| !is_wrong(note));
    }

    /// Whether any note is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|n| n.severity == Severity::Error)
    }

    /// Whether there are no notes at all.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Errors first, then warnings, each in order of place.
    pub fn sorted(mut self) -> Vec<Note> {
        self.list.sort_by_key(|n| {
            (
                n.severity,
                n.places.first().map(|(p, _)| (p.source, p.start)),
            )
        });
        self.list
    }

    /// All notes in order of finding.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.list.iter()
    }

    /// Takes over all notes of another collection.
    pub fn extend(&mut self, other: Notes) {
        self.list.extend(other.list);
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
