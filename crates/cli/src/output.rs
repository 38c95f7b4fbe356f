//! Output: data to stdout, messages to stderr.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use netloom_catalog::is_hidden;

use super::{Color, table};

/// Prints data and messages.
pub(crate) struct Output {
    /// Prints nothing: another process prints for this one.
    pub(crate) is_silent: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    /// Whether messages on stderr are coloured.
    pub(crate) color: bool,
    /// Whether tables on stdout are coloured.
    pub(crate) is_data_coloured: bool,
}

impl Output {
    pub(super) fn new(quiet: bool, verbose: bool, color: Color) -> Output {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_coloured = |is_terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if is_set("NO_COLOR") => false,
            Color::Auto if is_set("CLICOLOR_FORCE") => true,
            Color::Auto => is_terminal,
        };
        Output {
            is_silent: false,
            quiet,
            verbose,
            color: is_coloured(io::stderr().is_terminal()),
            is_data_coloured: is_coloured(io::stdout().is_terminal()),
        }
    }

    /// Returns an output that prints nothing, for a process for which another one prints.
    pub(crate) fn silent() -> Output {
        Output {
            is_silent: true,
            quiet: true,
            verbose: false,
            color: false,
            is_data_coloured: false,
        }
    }

    /// Prints the final data of a command. A closed stdout is not an error, and does not change the
    /// exit code.
    pub(crate) fn data(&self, text: &str) -> anyhow::Result<()> {
        unless_closed(self.piece(text))
    }

    /// Prints notes as data, with the colours set by [`netloom_experiment::render`].
    pub(crate) fn rendered(&self, text: &str) -> anyhow::Result<()> {
        unless_closed(self.bytes(text.as_bytes()))
    }

    /// Prints one piece of data among many. A closed stdout is an error, which ends the command.
    pub(crate) fn piece(&self, text: &str) -> anyhow::Result<()> {
        let text = &*printable(text, self.is_data_coloured);
        match text.is_empty() || text.ends_with('\n') {
            true => self.bytes(text.as_bytes()),
            false => self.bytes(format!("{text}\n").as_bytes()),
        }
    }

    /// Prints binary data unchanged.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> anyhow::Result<()> {
        if self.is_silent {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()?;
        Ok(())
    }

    /// Prints text and tables, no wider than the terminal.
    pub(crate) fn text(&self, text: &str) -> anyhow::Result<()> {
        self.data(&table::within(text, table::width()))
    }

    /// Prints the outcome of a command that has other results; prints nothing with `--quiet`.
    pub(crate) fn outcome(&self, text: &str) -> anyhow::Result<()> {
        match self.quiet {
            true => Ok(()),
            false => self.text(text),
        }
    }

    /// Prints a message, unless `--quiet` is given.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.insist(text);
        }
    }

    /// Prints a message if `--verbose` is given.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            self.insist(text);
        }
    }

    /// Prints even with `--quiet`.
    pub(crate) fn insist(&self, text: &str) {
        self.to_stderr(&table::message(
            &printable(text, false),
            table::width_of_messages(),
        ));
    }

    /// Prints notes rendered by [`netloom_experiment::render`], with their colours.
    pub(crate) fn notes(&self, text: &str) {
        self.to_stderr(&table::message(text, table::width_of_messages()));
    }

    /// A closed stderr is not an error.
    fn to_stderr(&self, text: &str) {
        if self.is_silent {
            return;
        }
        let _ = writeln!(io::stderr(), "{}", text.trim_end_matches('\n'));
    }

    /// Prints an error.
    pub(crate) fn error(&self, text: &str) {
        let word = if self.color {
            "\u{1b}[1;31merror\u{1b}[0m"
        } else {
            "error"
        };
        let text = format!("{word}: {}", printable(text, false));
        self.to_stderr(&table::message(&text, table::width_of_messages()));
    }
}

/// Replaces characters that control a terminal, except the colours of tables: names come from
/// untrusted files.
pub(super) fn printable(text: &str, is_coloured: bool) -> Cow<'_, str> {
    let is_obeyed = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(is_obeyed) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let colour = table::COLOURS.iter().find(|own| rest.starts_with(**own));
        let length = match colour.filter(|_| is_coloured) {
            Some(own) => {
                out.push_str(own);
                own.len()
            }
            None => {
                out.push('\u{fffd}');
                rest.chars().next().map_or(0, char::len_utf8)
            }
        };
        rest = &rest[length..];
    }
    out.push_str(rest);
    out.into()
}

fn unless_closed(printed: anyhow::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        printed => printed,
    }
}

/// Returns whether an error is a closed stdout.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_terminal_obeys_colours_of_tables_and_nothing_else() {
        let text = "a\tb\n\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}2J \u{202e}x\r";
        let plain = "a\tb\n\u{fffd}[31mred\u{fffd}[0m \u{fffd}]0;title\u{fffd} \u{fffd}2J \u{fffd}x\u{fffd}";
        assert_eq!(printable(text, false), plain);
        assert!(printable(text, true).starts_with("a\tb\n\u{1b}[31mred\u{1b}[0m \u{fffd}]0;"));
    }
}
