//! Divides running text into lines.

use std::borrow::Cow;

/// The widest running text, for legibility.
const PAGE: usize = 100;

/// Returns the width of running text.
pub fn page(width: Option<usize>) -> usize {
    width.unwrap_or(PAGE).min(PAGE)
}

/// Wraps the long lines of a text, and keeps their indentation.
pub fn within(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let mut out = String::new();
    for line in text.lines() {
        let indent: String = line.chars().take_while(|c| *c == ' ').collect();
        if visible_width(line) <= width || indent.len() + 20 > width {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let words = wrapped(line, width - indent.len());
        for part in words.lines() {
            out.push_str(&format!("{indent}{part}\n"));
        }
    }
    if !text.ends_with('\n') {
        out.pop();
    }
    out
}

/// Wraps a text into lines of at most `width` characters; keeps empty lines.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match line.starts_with("    ") {
            // An example.
            true => out.push_str(line),
            false => out.push_str(&filled(line, width, width).join("\n")),
        }
        out.push('\n');
    }
    out
}

/// Divides words into lines: the first of at most `first` characters, others of at most `width`.
pub fn filled(text: &str, first: usize, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut length) = (vec![], String::new(), 0);
    for word in text.split_whitespace() {
        let most = if lines.is_empty() { first } else { width };
        let n = visible_width(word);
        if length > 0 && length + 1 + n > most {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += n;
    }
    lines.push(line);
    lines
}

/// Wraps a text next to a label in a column of `column` characters, indented by two blanks.
pub fn labelled(label: &str, column: usize, text: &str, width: Option<usize>) -> String {
    let mut out = String::new();
    // Two blanks before the label and one after it.
    let lines = wrapped(text, page(width).saturating_sub(column + 3));
    for (at, line) in lines.lines().enumerate() {
        let label = if at == 0 { label } else { "" };
        out.push_str(&format!("  {label:<column$} {line}\n"));
    }
    out
}

/// Returns the number of characters that a terminal shows; colours have no width.
pub fn visible_width(text: &str) -> usize {
    without_colours(text).chars().count()
}

pub fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
    std::iter::once(first)
        .chain(rest)
        .collect::<String>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "one two three\n\nfour";
        assert_eq!(wrapped(text, 7), "one two\nthree\n\nfour\n");
    }

    #[test]
    fn long_lines_go_on_below_their_beginning() {
        let text = "  a sentence that is too long for its line\nshort\n";
        assert_eq!(
            within(text, Some(24)),
            "  a sentence that is too\n  long for its line\nshort\n"
        );
        assert_eq!(within(text, None), text);
    }

    #[test]
    fn a_label_stands_before_the_first_line() {
        assert_eq!(
            labelled("note", 5, "one two three", Some(15)),
            "  note  one two\n        three\n"
        );
    }
}
