//! Tips for mistakes on the command line: what people write, and what does it here.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory};

use super::Netloom;

/// Arguments of other simulators, and what to write.
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

/// Commands of other simulators, and ours.
const COMMANDS: [(&str, &str); 4] = [
    ("simulate", "run"),
    ("sim", "run"),
    ("validate", "check"),
    ("sweep", "run"),
];

/// The same error, with tips that fit: similar words are not always similar in meaning.
pub(super) fn with_fitting_tips(mut error: Error) -> Error {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let path: Vec<String> = std::env::args().skip(1).collect();
            let mut command = Netloom::command();
            command.build();
            let command = called(&mut command, &path);
            // Only a command that starts another one takes arguments of others behind `--`.
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
            let wrong = of(&error, ContextKind::InvalidSubcommand);
            let meant = COMMANDS
                .iter()
                .find(|(word, _)| Some(*word) == wrong.as_deref());
            if let Some((_, ours)) = meant {
                let ours = ContextValue::Strings(vec![(*ours).to_owned()]);
                error.insert(ContextKind::SuggestedSubcommand, ours);
            }
        }
        _ => {}
    }
    error
}

/// The command of a command line.
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
