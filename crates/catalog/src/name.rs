//! Names and texts from outside: what a terminal would obey or a spreadsheet would compute.

use std::borrow::Cow;

/// Why a text can be no name that results go by; `None` if it can.
///
/// A terminal obeys control characters, a spreadsheet computes what begins like a formula, and no figure shows either.
pub fn no_name(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        Some("it is empty")
    } else if text.contains(is_hidden) {
        Some("it has control characters")
    } else if is_formula(text) {
        Some("a spreadsheet would compute what begins so")
    } else if text.chars().count() > MOST {
        Some("it is longer than 200 characters")
    } else {
        None
    }
}

/// The longest name.
const MOST: usize = 200;

/// Whether a character is not shown but obeyed: a control character, a line end of Unicode or YAML 1.1, or one that
/// changes the direction of the text after it.
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

/// Whether a spreadsheet would compute a cell with this text.
pub fn is_formula(text: &str) -> bool {
    text.starts_with([
        '=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ])
}

/// A text from outside with a replacement character for each that [`is_hidden`].
pub fn visible(text: &str) -> Cow<'_, str> {
    match text.contains(is_hidden) {
        true => text.replace(is_hidden, "\u{fffd}").into(),
        false => text.into(),
    }
}

/// A name from outside that cannot be refused, such as that of a machine: [`visible`], and cut to 200 characters.
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
