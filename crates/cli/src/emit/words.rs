//! Words that stand in scripts as they were meant.

use std::path::Path;

use anyhow::{Context, bail};

/// A path for the shell.
pub(super) fn quoted_path(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str();
    // A name that begins with a dash would be an option.
    let text = text.map(|text| {
        if text.starts_with('-') {
            format!("./{text}")
        } else {
            text.to_owned()
        }
    });
    quoted(&text.with_context(|| format!("{} is not UTF-8", path.display()))?)
}

/// A word for the shell.
pub(super) fn quoted(text: &str) -> anyhow::Result<String> {
    if text.contains(|c: char| c.is_control()) {
        bail!("{text:?} has a control character, which no script can hold");
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
            let said = std::process::Command::new("sh")
                .args(["-c", &line])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), text);
        }
        assert!(quoted("two\nlines").is_err());
        assert_eq!(quoted_path(Path::new("-o")).unwrap(), "./-o");
    }
}
