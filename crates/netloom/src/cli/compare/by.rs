//! `--by KEY`: one study, cut into the values of one of its axes.

use netloom_catalog::nearest;
use netloom_results::{Collection, Frame};

/// A part for every value of an axis, in the order of the results. Each lacks that axis, and those that follow from
/// it: axes with one value in every part.
///
/// # Errors
/// If the study has no such axis, or only one value on it.
pub(super) fn parts(study: &Collection, key: &str) -> Result<Vec<Collection>, String> {
    let axis = axis(study, key)?;
    let folder = &study.folder;
    let empty = || format!("{folder} has no results to compare; run `netloom merge` on it again");
    let results = study.table("results").ok_or_else(empty)?;
    let mut parts: Vec<(String, Frame)> = vec![];
    let column = results.column(axis).ok_or_else(empty)?;
    for line in 0..results.len() {
        let value = column.values.datum(line).to_string();
        let at = parts.iter().position(|(own, _)| *own == value);
        let at = at.unwrap_or_else(|| {
            parts.push((value, results.without_lines()));
            parts.len() - 1
        });
        parts[at].1.push(results.line(line));
    }
    if parts.len() < 2 {
        return Err(format!(
            "{folder} has one value of {axis}: nothing to compare"
        ));
    }
    let follows = |other: &str| parts.iter().all(|(_, part)| has_one_value(part, other));
    let axes = study.axes.iter().filter(|own| !follows(own));
    let axes: Vec<String> = axes.cloned().collect();
    let part = |(value, results): (String, Frame)| Collection {
        folder: format!("{axis}: {value}"),
        axes: axes.clone(),
        tables: [("results".to_owned(), results)].into(),
        // Said once, for the whole.
        warnings: vec![],
        ..study.clone()
    };
    Ok(parts.into_iter().map(part).collect())
}

fn has_one_value(results: &Frame, axis: &str) -> bool {
    let Some(column) = results.column(axis) else {
        return true;
    };
    (1..results.len()).all(|line| column.values.datum(line) == column.values.datum(0))
}

/// The axis of that name, or the only one whose name ends so.
fn axis<'a>(study: &'a Collection, key: &str) -> Result<&'a String, String> {
    let end = format!(".{key}");
    let exact = study.axes.iter().find(|axis| *axis == key);
    let ending: Vec<&String> = study
        .axes
        .iter()
        .filter(|axis| axis.ends_with(&end))
        .collect();
    match (exact, ending.as_slice()) {
        (Some(axis), _) => Ok(axis),
        (None, [axis]) => Ok(*axis),
        _ => {
            let known = || study.axes.iter().map(String::as_str);
            let instead = match nearest(key, known()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None if study.axes.is_empty() => "it is a single run".to_owned(),
                None => format!("it has {}", super::words(known())),
            };
            Err(format!("{} has no axis \"{key}\"; {instead}", study.folder))
        }
    }
}
