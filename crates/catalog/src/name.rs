//! Names that stand in tables, figures and terminals.

/// Why a text can be no name that results go by; `None` if it can.
///
/// A terminal obeys control characters, a spreadsheet computes what begins like a formula, and no figure shows either.
pub fn no_name(text: &str) -> Option<&'static str> {
    let is_hidden = |c: char| {
        // Besides control characters, those that turn the direction of what follows.
        c.is_control()
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if text.trim().is_empty() {
        Some("it is empty")
    } else if text.chars().any(is_hidden) {
        Some("it has control characters")
    } else if text.starts_with(['=', '+', '-', '@']) {
        Some("a spreadsheet would compute what begins so")
    } else if text.chars().count() > MOST {
        Some("it is longer than 200 characters")
    } else {
        None
    }
}

/// The longest name.
const MOST: usize = 200;

#[cfg(test)]
mod tests {
    use super::no_name;

    #[test]
    fn what_a_terminal_or_a_spreadsheet_would_obey_is_no_name() {
        for name in ["bulk", "a b", "größe", "x=1", "40 % (low)", "1-2"] {
            assert_eq!(no_name(name), None, "{name}");
        }
        let hidden = ["\u{1b}[31mred", "a\nb", "a\u{202e}b", "\u{7f}"];
        let formulas = ["=HYPERLINK(\"x\")", "+1", "-1+2", "@SUM(A1)"];
        for name in hidden.into_iter().chain(formulas).chain(["", "  "]) {
            assert!(no_name(name).is_some(), "{name:?}");
        }
        assert!(no_name(&"x".repeat(201)).is_some());
    }
}
