//! Errors and warnings about files, as JSON.

use netloom_catalog::{Document, Note, Position, Severity};
use serde::Serialize;

/// An error or a warning.
#[derive(Serialize)]
pub(super) struct NoteLine {
    code: &'static str,
    severity: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// The first one is the location of the error.
    places: Vec<PlaceLine>,
}

/// A place in a file; lines and columns count from 1.
#[derive(Serialize)]
struct PlaceLine {
    file: String,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
}

impl NoteLine {
    pub(super) fn of(note: &Note, document: &Document) -> NoteLine {
        let places = note.places.iter().filter_map(|(place, label)| {
            let (file, _) = document.sources.get(usize::from(place.source))?;
            // OpenSM truncates lines by bytes, so a place may be inside a character.
            let Position { line, column } = document.position(*place)?;
            Some(PlaceLine {
                file: file.clone(),
                line,
                column,
                label: label.clone(),
            })
        });
        NoteLine {
            code: note.code,
            severity: match note.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: note.message.clone(),
            help: note.help.clone(),
            places: places.collect(),
        }
    }

    /// Returns the message with its place and its help, on one line.
    pub(super) fn sentence(&self) -> String {
        let place = self.places.first();
        let place = place.map(|place| format!("{}:{}", place.file, place.line));
        let more: Vec<String> = place.into_iter().chain(self.help.clone()).collect();
        format!("{} ({})", self.message, more.join("; "))
    }
}
