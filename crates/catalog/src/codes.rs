//! The codes of notes. Every crate that notes them describes them in a Markdown file.

/// A code of notes, and what `netloom explain CODE` prints about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    /// A letter, `E` for an error or `W` for a warning, and four digits.
    pub name: &'static str,
    pub title: &'static str,
    /// Paragraphs of one line each. The lines of an example are indented by four spaces.
    pub text: String,
}

/// Reads the codes of a Markdown file: for each a heading `## CODE: TITLE`, and paragraphs.
pub fn codes(markdown: &'static str) -> Vec<Code> {
    let sections = markdown.split("## ").skip(1);
    let code = |section: &'static str| {
        let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
        let (name, title) = heading.split_once(": ").unwrap_or((heading, ""));
        let paragraphs = body.trim_end().split("\n\n").map(|paragraph| {
            let paragraph = paragraph.trim_matches('\n');
            match paragraph.starts_with("    ") {
                true => paragraph.to_owned(),
                false => paragraph.replace('\n', " "),
            }
        });
        let text: Vec<String> = paragraphs.collect();
        Code {
            name,
            title,
            text: text.join("\n\n"),
        }
    };
    sections.map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_become_lines_and_examples_keep_theirs() {
        let read = codes(
            "## E0001: one\n\nFirst line\nand second.\n\n    a = 1\n    b = 2\n\nLast.\n\n\
             ## E0002: two\n\nText.\n",
        );
        let names: Vec<_> = read.iter().map(|code| (code.name, code.title)).collect();
        assert_eq!(names, [("E0001", "one"), ("E0002", "two")]);
        assert_eq!(
            read[0].text,
            "First line and second.\n\n    a = 1\n    b = 2\n\nLast."
        );
        assert_eq!(read[1].text, "Text.");
    }
}
