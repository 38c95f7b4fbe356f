//! Tables and messages, no wider than the terminal.

use netloom_results::{Column, Verdict, described};
pub(super) use netloom_text::number::{maybe_nanos, nanos, prefixed};
pub(super) use netloom_text::{Table, within, wrapped};
use netloom_text::{filled, without_colours};

/// Returns the title of a column of results: `p99`.
pub(super) fn title(column: &str) -> String {
    let title = described(column).map_or_else(|| column.to_owned(), Column::title);
    title.to_lowercase()
}

/// Returns the greatest width of lines: that of `COLUMNS`, else that of the terminal. Returns
/// `None` for a pipe, whose reader needs whole lines.
pub(super) fn width() -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok();
    let asked = asked.and_then(|text| text.parse().ok());
    let seen = || terminal_size::terminal_size_of(std::io::stdout()).map(|(w, _)| w.0.into());
    asked.or_else(seen).filter(|width: &usize| *width >= 20)
}

/// Returns the greatest width of messages, if stderr is a terminal.
pub(super) fn width_of_messages() -> Option<usize> {
    let seen = terminal_size::terminal_size_of(std::io::stderr());
    let seen = seen.map(|(width, _)| width.0.into());
    seen.filter(|width: &usize| *width >= 20)
}

/// Wraps the long lines of a message at words. Quoted lines of a file keep their form.
pub(super) fn message(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let plain = without_colours(line);
            let start = plain.trim_start();
            let indent = plain.len() - start.len();
            let after_number = start.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_quoted = after_number.trim_start().starts_with(['|', ':'])
                || start.starts_with("-->")
                || indent + 20 > width;
            if is_quoted || plain.chars().count() <= width {
                return line.to_owned();
            }
            let hanging = indent
                + match start {
                    _ if start.starts_with("= help: ") => "= help: ".len(),
                    _ if start.starts_with("error") || start.starts_with("warning") => 2,
                    _ => 0,
                };
            let parts = filled(line, width - indent, width - hanging);
            let parts = parts.join(format!("\n{}", " ".repeat(hanging)).as_str());
            format!("{}{parts}", " ".repeat(indent))
        })
        .collect();
    lines.join("\n")
}

/// Returns the width of running text, which has an upper limit for legibility.
pub(super) fn page() -> usize {
    netloom_text::page(width())
}

/// Colours of tables: red, yellow, and the reset.
pub(super) const COLOURS: [&str; 3] = ["\u{1b}[31m", "\u{1b}[33m", "\u{1b}[0m"];

/// Returns a word in the colour of a verdict.
pub(super) fn painted(word: &str, verdict: Option<Verdict>, is_coloured: bool) -> String {
    let [red, yellow, end] = COLOURS;
    let colour = match verdict {
        Some(Verdict::Idle | Verdict::Ok) => return word.to_owned(),
        Some(Verdict::Saturated | Verdict::Unfinished) | None => red,
        Some(_) => yellow,
    };
    match is_coloured {
        true => format!("{colour}{word}{end}"),
        false => word.to_owned(),
    }
}

/// Returns the words of a verdict in a table; an empty text for `Ok`.
pub(super) fn marked(verdict: Verdict, is_coloured: bool) -> String {
    match verdict {
        Verdict::Ok => String::new(),
        verdict => painted(verdict.words(), Some(verdict), is_coloured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_wrapped_and_quoted_lines_are_not() {
        let text = "warning[W0907]: a sentence that is too long\n --> plan.toml:12:1, a long name\n\
             12 | shares = [1, 2, 3, 4, 5, 6, 7]\n   |  ^^^^^ a label that is too long\n   \
             = help: use another table, or wait";
        assert_eq!(
            message(text, Some(28)),
            "warning[W0907]: a sentence\n  that is too long\n --> plan.toml:12:1, a long name\n\
             12 | shares = [1, 2, 3, 4, 5, 6, 7]\n   |  ^^^^^ a label that is too long\n   \
             = help: use another\n           table, or wait"
        );
        assert_eq!(message(text, None), text);
        let red = "\u{1b}[31merror\u{1b}[0m: two words";
        assert_eq!(message(red, Some(20)), red);
    }

    #[test]
    fn colours_take_no_place() {
        let mut table = Table::numbers();
        table.line(["a", &marked(Verdict::Saturated, true), "1"]);
        table.line(["b", &marked(Verdict::TooShort, false), "2"]);
        let text = table.text(None);
        let plain = text.replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
        assert!(text.contains("\u{1b}[31msaturated\u{1b}[0m"), "{text:?}");
        assert_eq!(
            plain,
            "  a          saturated  1\n  b  too short to tell  2\n"
        );
        assert_eq!(marked(Verdict::Ok, true), "");
    }
}
