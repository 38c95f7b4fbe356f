//! What to do about an error of the library, in terms of the command line.

use std::error::Error;

use netloom_results::store::{FolderError, ReadError};
use netloom_study::running::{MergeError, StudyFolderError};

/// Returns the text of an error, with the advice at the end of its first line.
pub(super) fn advised(error: &(dyn Error + 'static), text: String) -> String {
    let Some(advice) = advice(error) else {
        return text;
    };
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    format!("{first}; {advice}{rest}")
}

fn advice(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref() {
        return of_merge(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_study(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_folder(error);
    }
    of_results(error.downcast_ref()?)
}

fn of_merge(error: &MergeError) -> Option<String> {
    match error {
        MergeError::Incomplete { folder, .. } => Some(format!(
            "run them with `netloom run {folder}`, or use --partial to merge the finished runs"
        )),
        MergeError::Folder(error) => of_study(error),
        _ => None,
    }
}

fn of_study(error: &StudyFolderError) -> Option<String> {
    match error {
        StudyFolderError::NoStudy(_) => Some("`netloom run FILE` starts a study".to_owned()),
        StudyFolderError::Folder(error) => of_folder(error),
        StudyFolderError::Unreadable { .. } => None,
    }
}

fn of_folder(error: &FolderError) -> Option<String> {
    let advice = match error {
        FolderError::Taken { .. } => {
            "use another folder with -o DIR, or replace it with --overwrite"
        }
        FolderError::Foreign { .. } => "use another folder with -o DIR",
        FolderError::Busy { .. } => "wait until it ends, or use another folder with -o DIR",
        FolderError::Finished { .. } | FolderError::System { .. } => return None,
    };
    Some(advice.to_owned())
}

fn of_results(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::Nothing(_) => "`netloom run` writes such folders".to_owned(),
        ReadError::IsFile(path) => format!("`netloom run {path}` writes one"),
        ReadError::NotMerged(path) => format!("run `netloom study merge {path}` first"),
        ReadError::Incoming(path) => format!("run `netloom study merge {path}` to finish it"),
        ReadError::File { .. } | ReadError::Stopped(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_follows_the_first_line() {
        let error = MergeError::Incomplete {
            folder: "s.out".to_owned(),
            missing: 2,
            units: 8,
            first: "seed 1".to_owned(),
        };
        assert_eq!(
            advised(&error, error.to_string()),
            "2 of 8 units are not complete; run them with `netloom run s.out`, or use --partial to \
             merge the finished runs\n  first missing run: seed 1"
        );
        let error = StudyFolderError::from(FolderError::Foreign {
            path: "out".to_owned(),
            what: "a thesis".to_owned(),
        });
        assert_eq!(
            advised(&error, error.to_string()),
            "out contains a thesis; use another folder with -o DIR"
        );
    }
}
