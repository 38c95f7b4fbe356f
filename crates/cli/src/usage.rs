//! Tips for mistakes on the command line.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory};
use netloom_catalog::nearest;

use super::Netloom;

/// Arguments of other simulators, and what to use.
const ARGUMENTS: [(&str, &str); 6] = [
    ("--load", "to change the load, use '--set traffic.load=0.5'"),
    (
        "--seeds",
        "to run several seeds, use '--set measure.repeat=5'",
    ),
    (
        "--repeat",
        "to run several seeds, use '--set measure.repeat=5'",
    ),
    (
        "--length",
        "to change the length of a run, use '--until 50us'",
    ),
    (
        "--time",
        "to change the length of a run, use '--until 50us'",
    ),
    (
        "--warmup",
        "to change the warm-up, use '--set measure.warmup=\"20 us\"'",
    ),
];

/// Commands of other tools and former names, and what to type.
const COMMANDS: [(&str, &str); 19] = [
    ("simulate", "run"),
    ("sim", "run"),
    ("sweep", "run"),
    ("resume", "run"),
    ("validate", "check"),
    ("list", "explain"),
    ("topo", "show"),
    ("route", "show"),
    ("import", "site import"),
    ("export", "site export"),
    ("lint", "site lint"),
    ("verify", "site verify"),
    ("emulate", "site emulate"),
    ("status", "study status"),
    ("watch", "study watch"),
    ("merge", "study merge"),
    ("emit", "study emit"),
    ("draw", "show picture"),
    ("graph", "plot"),
];

/// Replaces clap's suggestions, which go by spelling, where the meaning is known.
pub(super) fn with_fitting_tips(mut error: Error) -> Error {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let path: Vec<String> = std::env::args().skip(1).collect();
            let mut command = Netloom::command();
            command.build();
            let command = called(&mut command, &path);
            // Only commands that start another program accept its arguments after `--`.
            if command
                .get_arguments()
                .all(|argument| !argument.is_last_set())
            {
                error.remove(ContextKind::Suggested);
            }
            let takes_keys = command
                .get_arguments()
                .any(|own| own.get_long() == Some("set"));
            let wrong = of(&error, ContextKind::InvalidArg);
            let meant = ARGUMENTS
                .iter()
                .find(|(word, _)| Some(*word) == wrong.as_deref());
            if let Some((_, tip)) = meant.filter(|_| takes_keys) {
                error.remove(ContextKind::SuggestedArg);
                let usage = command.render_usage();
                error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
                let tip = ContextValue::StyledStrs(vec![(*tip).into()]);
                error.insert(ContextKind::Suggested, tip);
            }
        }
        ErrorKind::InvalidSubcommand => {
            let wrong = of(&error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let has_tip = error.get(ContextKind::SuggestedSubcommand).is_some();
            if let Some(ours) = meant(&wrong, !has_tip) {
                let ours = ContextValue::Strings(vec![ours.to_owned()]);
                error.insert(ContextKind::SuggestedSubcommand, ours);
            }
        }
        _ => {}
    }
    error
}

/// Returns what to type instead of a former name or a name of another tool. With `is_guessed`, the
/// name may have a typing error.
fn meant(wrong: &str, is_guessed: bool) -> Option<&'static str> {
    let words = || COMMANDS.iter().map(|(word, _)| *word);
    let exact = words().find(|word| *word == wrong);
    let word =
        exact.or_else(|| nearest(wrong, words()).filter(|_| is_guessed && !wrong.is_empty()))?;
    let found = COMMANDS.iter().find(|(own, _)| *own == word);
    found.map(|(_, ours)| *ours)
}

/// Returns the command that a command line calls.
fn called<'a>(command: &'a mut Command, path: &[String]) -> &'a mut Command {
    let Some((word, rest)) = path.split_first() else {
        return command;
    };
    match command.find_subcommand(word).is_some() {
        true => called(command.find_subcommand_mut(word).expect("just found"), rest),
        false => command,
    }
}

fn of(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn former_and_mistyped_names_get_a_tip() {
        assert_eq!(meant("emit", false), Some("study emit"));
        assert_eq!(meant("emti", true), Some("study emit"));
        assert_eq!(meant("emulte", true), Some("site emulate"));
        assert_eq!(meant("emti", false), None);
        assert_eq!(meant("frobnicate", true), None);
    }
}
