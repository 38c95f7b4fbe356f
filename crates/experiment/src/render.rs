//! Renders notes as text: the message, the marked line, and the help.
//!
//! The renderer is that of `rustc` and `cargo` (annotate-snippets). Errors come before warnings,
//! each in the order of the file, followed by a count.

use std::borrow::Cow;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use netloom_catalog::{Document, Note, Notes, Place, Severity, is_hidden, visible};

/// Limit on the notes that are shown.
const MOST_SHOWN: usize = 200;

/// Renders all notes about a document; empty if there are none.
pub fn render(document: &Document, notes: &Notes, color: bool) -> String {
    let renderer = match color {
        true => Renderer::styled(),
        false => Renderer::plain(),
    };
    let mut text = String::new();
    let sorted = notes.clone().sorted();
    let sources = document.sources.iter();
    let sources: Vec<Source<'_>> = sources
        .map(|(name, text)| (visible(name), shown(text)))
        .collect();
    for note in sorted.iter().take(MOST_SHOWN) {
        text.push_str(&renderer.render(&[group(&sources, &visible_note(note))]));
        text.push_str("\n\n");
    }
    if let Some(more @ 1..) = notes.count().checked_sub(MOST_SHOWN) {
        text.push_str(&format!("{more} more not shown\n\n"));
    }
    text.push_str(&count(notes));
    text
}

/// Formats the count: `2 errors, 1 warning`.
fn count(notes: &Notes) -> String {
    let of = |severity, one: &str| match notes.count_of(severity) {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {one}s")),
    };
    let parts = [
        of(Severity::Error, "error"),
        of(Severity::Warning, "warning"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("{}\n", parts.join(", ")),
    }
}

/// The displayed name and text of a file.
type Source<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Replaces the characters of a file that a terminal would interpret. All places remain valid. The
/// renderer itself replaces ASCII control characters.
fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| !c.is_ascii() && is_hidden(c)) {
        return text.into();
    }
    let replaced = |c: char| match (is_hidden(c), c.len_utf8()) {
        (true, 2) => '\u{b7}',
        (true, 3) => '\u{fffd}',
        _ => c,
    };
    text.chars().map(replaced).collect::<String>().into()
}

/// Removes what a terminal would interpret from the texts of a note, which may quote a file.
fn visible_note(note: &Note) -> Note {
    let shown = |text: &String| {
        let lines: Vec<_> = text.split('\n').map(visible).collect();
        lines.join("\n")
    };
    let place = |(place, label): &(Place, String)| (*place, shown(label));
    Note {
        message: shown(&note.message),
        help: note.help.as_ref().map(shown),
        places: note.places.iter().map(place).collect(),
        ..*note
    }
}

fn group<'a>(sources_of: &'a [Source<'a>], note: &'a Note) -> Group<'a> {
    let level = match note.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level
        .primary_title(note.message.as_str())
        .id(note.code)
        .elements(Vec::<Snippet<'a, Annotation<'a>>>::new());
    // One snippet per text, the one with the main place first.
    let mut sources: Vec<u16> = vec![];
    for (place, _) in &note.places {
        if !sources.contains(&place.source) {
            sources.push(place.source);
        }
    }
    for source in sources {
        let Some((name, text)) = sources_of.get(usize::from(source)) else {
            continue;
        };
        let mut annotations = vec![];
        for (at, (place, label)) in note.places.iter().enumerate() {
            if place.source != source || is_whole(*place, text) {
                continue;
            }
            let kind = match at {
                0 => AnnotationKind::Primary,
                _ => AnnotationKind::Context,
            };
            let label = Some(label.as_str()).filter(|label| !label.is_empty());
            annotations.push(kind.span(on_one_line(*place, text)).label(label));
        }
        group = match annotations.is_empty() {
            true => group.element(Origin::path(&**name)),
            false => {
                let snippet = Snippet::source(&**text).path(&**name);
                group.element(snippet.annotations(annotations))
            }
        };
    }
    match &note.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// Returns whether a place is the whole file.
fn is_whole(place: Place, text: &str) -> bool {
    place.source == 0
        && (place.start == 0 && (place.end == 0 || place.end as usize >= text.trim_end().len()))
}

/// Cuts a place at the end of its first line, on character boundaries.
fn on_one_line(place: Place, text: &str) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(place.start as usize);
    let line_end = text[start..].find('\n').map_or(text.len(), |n| start + n);
    let end = floor((place.end as usize).max(start))
        .min(line_end)
        .max(start);
    start..end
}

#[cfg(test)]
mod tests {
    use netloom_catalog::Position;

    use super::*;

    #[test]
    fn a_file_writes_no_commands_to_a_terminal() {
        let hostile = "a\u{1b}[2J\u{9b}2J\u{202e}\u{2028}b";
        let text = format!("# {hostile}\nkey = 1 # {hostile}\n");
        let document = Document {
            sources: vec![(hostile.to_owned(), text.clone())],
            ..Document::parse("", "", &mut Notes::new())
        };
        let mut notes = Notes::new();
        let start = text.find("key").unwrap() as u32;
        let place = Place {
            source: 0,
            start,
            end: start + 3,
        };
        notes
            .error("E0106", place, hostile)
            .label(hostile)
            .help(hostile);
        let rendered = render(&document, &notes, false);
        assert!(
            !rendered.contains(|c: char| is_hidden(c) && c != '\n'),
            "{rendered:?}"
        );
        assert!(rendered.contains("key = 1"), "{rendered}");
        assert!(rendered.contains("^^^"), "{rendered}");
        let Position { line, column } = document.position(place).unwrap();
        assert!(
            rendered.contains(&format!(":{line}:{column}\n")),
            "{rendered}"
        );
    }
}
