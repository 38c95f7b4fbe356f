//! Quoting of words for scripts.

use std::path::Path;

use anyhow::{Context, bail};

/// Quotes a path for the shell.
pub(super) fn quoted_path(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str();
    // A name that starts with a dash would be an option.
    let text = text.map(|text| {
        if text.starts_with('-') {
            format!("./{text}")
        } else {
            text.to_owned()
        }
    });
    quoted(&text.with_context(|| format!("{} is not UTF-8", path.display()))?)
}

/// Quotes a word for the shell.
///
/// # Errors
/// If a character ends a line for the shell or for a YAML reader, or changes how a terminal shows
/// the word.
pub(super) fn quoted(text: &str) -> anyhow::Result<String> {
    if text.contains(netloom_catalog::is_hidden) {
        bail!("expected a word of visible characters, found {text:?}");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/:=+,@%-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Ok(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_shell_as_they_are() {
        for text in [
            "plain",
            "",
            "two words",
            "it's",
            r#"a"b$c`d\e"#,
            "{}",
            "#",
            "é",
            "traffic.load=0.5",
        ] {
            let line = format!("printf %s {}", quoted(text).unwrap());
            let printed = std::process::Command::new("sh")
                .args(["-c", &line])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(printed.stdout).unwrap(), text);
        }
        for hidden in [
            "two\nlines",
            "a\rb",
            "a\u{85}b",
            "a\u{2028}b",
            "a\u{2029}b",
            "\u{1b}[2J",
            "a\u{202e}b",
        ] {
            assert!(quoted(hidden).is_err(), "{hidden:?}");
        }
        assert_eq!(quoted_path(Path::new("-o")).unwrap(), "./-o");
    }
}
