//! `extends`: a file that contains only the differences from another one.

use std::path::{Path, PathBuf};

use netloom_catalog::{Document, Files, Notes, Value, ValueShape, file};

/// Keys that name files: the table, and the key in it or in a nested table.
pub const FILES: &[(&str, &str)] = &[
    ("topology", "file"),
    ("topology", "files"),
    ("traffic", "flows"),
    ("traffic", "size.file"),
    ("traffic", "message.file"),
    ("connections", "list"),
];

/// Merges the document with the file that it extends, and so on along the chain, and removes the
/// key. Each file becomes a source of the document, so that messages show its lines.
pub(super) fn resolve(document: &mut Document, name: &str, files: &dyn Files, notes: &mut Notes) {
    let own = Path::new(name).file_name().map(Path::new);
    let own = own.and_then(|own| files.identity(own));
    let mut seen: Vec<PathBuf> = own.into_iter().collect();
    // Folder of the file that names the next one, relative to the first file.
    let mut from = PathBuf::new();
    let mut child = document.root.clone();
    while let Some(extends) = take(&mut child, "extends") {
        let Some(named) = extends.as_text() else {
            let message = format!(
                "expected the name of a file, found {}",
                extends.shape.word()
            );
            notes.error("E0101", extends.place, message);
            break;
        };
        let path = from.join(named);
        let shown = files.shown(&path).display().to_string();
        if let Some(whole) = files.identity(&path) {
            if seen.contains(&whole) {
                notes
                    .error(
                        "E0004",
                        extends.place,
                        format!("the files that {named} extends form a cycle"),
                    )
                    .help("remove `extends` from one of them");
                break;
            }
            seen.push(whole);
        }
        let text = match files.read_text(&path, file::MOST_EXPERIMENT) {
            Ok(text) => text,
            Err(error) => {
                notes
                    .error(
                        "E0004",
                        extends.place,
                        format!("cannot read {shown}: {error}"),
                    )
                    .help("use a name relative to the folder of the file that contains it");
                break;
            }
        };
        let mut parent = document.parse_more(&shown, &text, notes);
        // Results go to a folder of this name, which must not be that of the parent's results.
        take(&mut parent, "name");
        from.push(Path::new(named).parent().unwrap_or(Path::new("")));
        move_files(&mut parent, &from);
        // The parent's own `extends` remains for the next round.
        child = child.over(parent);
    }
    document.root = child;
}

/// Removes a key from a root table and returns its value.
fn take(root: &mut Value, key: &str) -> Option<Value> {
    let ValueShape::Table(entries) = &mut root.shape else {
        return None;
    };
    let at = entries.iter().position(|(own, _, _)| own == key)?;
    Some(entries.remove(at).2)
}

/// Makes the file names of a parent, in the folder `from`, relative to the first file.
fn move_files(root: &mut Value, from: &Path) {
    if from.as_os_str().is_empty() {
        return;
    }
    let ValueShape::Table(sections) = &mut root.shape else {
        return;
    };
    for (table, key) in FILES {
        let found = sections.iter_mut().find(|(name, _, _)| name == table);
        let tables: &mut [Value] = match found.map(|(_, _, value)| value) {
            Some(Value {
                shape: ValueShape::List(items),
                ..
            }) => items,
            Some(value) => std::slice::from_mut(value),
            None => continue,
        };
        for value in tables {
            move_file(value, key, from);
        }
    }
}

/// Prepends `from` to the file names under one key of a table.
fn move_file(table: &mut Value, key: &str, from: &Path) {
    let ValueShape::Table(entries) = &mut table.shape else {
        return;
    };
    let (first, rest) = match key.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (key, None),
    };
    for (_, _, value) in entries.iter_mut().filter(|(name, _, _)| name == first) {
        match (rest, &mut value.shape) {
            (Some(rest), _) => move_file(value, rest, from),
            (None, ValueShape::List(files)) => {
                for file in files {
                    if let ValueShape::Text(file) = &mut file.shape {
                        *file = from.join(&*file).to_string_lossy().into_owned();
                    }
                }
            }
            (None, ValueShape::Text(file)) => {
                *file = from.join(&*file).to_string_lossy().into_owned();
            }
            (None, _) => {}
        }
    }
}
