//! Checks of names from outside: control characters for terminals, formulas for spreadsheets.

use std::borrow::Cow;

/// Returns why a string cannot be a name in results, or `None` if it can.
///
/// A terminal interprets control characters and a spreadsheet evaluates formulas; neither shows
/// them.
pub fn no_name(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        Some("it is empty")
    } else if text.contains(is_hidden) {
        Some("it contains control characters")
    } else if is_formula(text) {
        Some("a spreadsheet would read it as a formula")
    } else if text.chars().count() > MOST {
        Some("it is longer than 200 characters")
    } else {
        None
    }
}

/// Maximum length of a name, in characters.
const MOST: usize = 200;

/// Whether a terminal or editor interprets a character instead of showing it: a control character,
/// a line separator of Unicode or YAML 1.1, or a character that changes the direction of text.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fffe}'..='\u{ffff}'
        )
}

/// Whether a spreadsheet would evaluate a cell with this text.
pub fn is_formula(text: &str) -> bool {
    text.starts_with([
        '=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ])
}

/// Replaces every character that [`is_hidden`] by a replacement character.
pub fn visible(text: &str) -> Cow<'_, str> {
    match text.contains(is_hidden) {
        true => text.replace(is_hidden, "\u{fffd}").into(),
        false => text.into(),
    }
}

/// Makes a name from outside presentable, such as that of a machine: [`visible`], cut to 200
/// characters.
pub fn visible_name(text: &str) -> Cow<'_, str> {
    let text = visible(text);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => text[..end].to_owned().into(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_or_a_spreadsheet_would_obey_is_no_name() {
        for name in ["bulk", "a b", "größe", "x=1", "40 % (low)", "1-2"] {
            assert_eq!(no_name(name), None, "{name}");
            assert_eq!(visible_name(name), name);
        }
        let hidden = [
            "\u{1b}[31mred",
            "a\nb",
            "a\u{202e}b",
            "\u{7f}",
            "a\u{2028}b",
            "a\u{85}b",
        ];
        let formulas = ["=HYPERLINK(\"x\")", "+1", "-1+2", "@SUM(A1)", "\u{ff1d}1+1"];
        for name in hidden.into_iter().chain(formulas).chain(["", "  "]) {
            assert!(no_name(name).is_some(), "{name:?}");
        }
        assert!(no_name(&"x".repeat(201)).is_some());
        for name in hidden {
            assert_eq!(no_name(&visible(name)), None, "{name:?}");
        }
        assert_eq!(visible("\u{1b}[31mred\n"), "\u{fffd}[31mred\u{fffd}");
        assert_eq!(visible_name(&"ä".repeat(201)), "ä".repeat(200));
    }
}
