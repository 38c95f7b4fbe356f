//! Divides a study by the values of one of its axes.

use std::collections::BTreeMap;

use netloom_catalog::nearest;

use super::CompareError;
use crate::{Collection, Frame};

/// Returns a part for each value of an axis, in the order of the results. A part lacks that axis
/// and all axes that depend on it: those with one value in every part.
///
/// # Errors
/// If the study has no such axis, or only one value on it.
pub(super) fn parts(study: &Collection, key: &str) -> Result<Vec<Collection>, CompareError> {
    let axis = axis(study, key)?;
    let folder = &study.folder;
    let empty = || CompareError::Empty(vec![folder.clone()]);
    let mut parts: Vec<(String, BTreeMap<String, Frame>)> = vec![];
    for name in ["results", "points"] {
        let table = study.table(name).ok_or_else(empty)?;
        let column = table.column(axis).ok_or_else(empty)?;
        for line in 0..table.len() {
            let value = column.values.datum(line).to_string();
            let at = parts.iter().position(|(own, _)| *own == value);
            let at = at.unwrap_or_else(|| {
                parts.push((value, BTreeMap::new()));
                parts.len() - 1
            });
            let part = parts[at].1.entry(name.to_owned());
            let part = part.or_insert_with(|| table.without_lines());
            part.push(table.line(line));
        }
    }
    if parts.len() < 2 {
        return Err(CompareError::Unknown(format!(
            "cannot compare by {axis}: {folder} has only one value of it"
        )));
    }
    let follows = |other: &str| {
        let mut tables = parts.iter().flat_map(|(_, tables)| tables.values());
        tables.all(|table| has_one_value(table, other))
    };
    let axes = study.axes.iter().filter(|own| !follows(own));
    let axes: Vec<String> = axes.cloned().collect();
    let part = |(value, tables): (String, BTreeMap<String, Frame>)| Collection {
        folder: format!("{axis}: {value}"),
        axes: axes.clone(),
        tables,
        // Printed once for the whole study.
        warnings: vec![],
        ..study.clone()
    };
    Ok(parts.into_iter().map(part).collect())
}

fn has_one_value(table: &Frame, axis: &str) -> bool {
    let Some(column) = table.column(axis) else {
        return true;
    };
    (1..table.len()).all(|line| column.values.datum(line) == column.values.datum(0))
}

/// Returns the axis with that name, or the only one whose name ends with it.
fn axis<'a>(study: &'a Collection, key: &str) -> Result<&'a String, CompareError> {
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
            let folder = &study.folder;
            Err(CompareError::Unknown(format!(
                "{folder} has no axis \"{key}\"; {instead}"
            )))
        }
    }
}
