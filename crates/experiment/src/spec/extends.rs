//! `extends`: a file that says only what differs from another one.

use std::path::{Path, PathBuf};

use netloom_catalog::{Document, Notes, Value, ValueShape, file};

/// Keys that name files: the table, and the key in it or in a table of it.
pub const FILES: &[(&str, &str)] = &[
    ("topology", "file"),
    ("topology", "files"),
    ("traffic", "flows"),
    ("traffic", "size.file"),
    ("traffic", "message.file"),
    ("connections", "list"),
];

/// Puts the document over the file that it extends, and that over its own, and takes the key away. Each file is a
/// further source of the document, so that messages show its own lines.
pub(super) fn resolve(document: &mut Document, name: &str, directory: &Path, notes: &mut Notes) {
    let mut seen: Vec<PathBuf> = Path::new(name).canonicalize().into_iter().collect();
    // Where the file that names the next one stands, as seen from the first file.
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
        let path = directory.join(&from).join(named);
        if let Ok(whole) = path.canonicalize() {
            if seen.contains(&whole) {
                notes
                    .error(
                        "E0004",
                        extends.place,
                        format!("{named} extends itself in the end"),
                    )
                    .help(
                        "a chain of files ends with one that extends none: take one `extends` away",
                    );
                break;
            }
            seen.push(whole);
        }
        let text = match file::read_text(&path, file::MOST_EXPERIMENT) {
            Ok(text) => text,
            Err(error) => {
                notes
                    .error(
                        "E0004",
                        extends.place,
                        format!("cannot read {}: {error}", path.display()),
                    )
                    .help("file names are relative to the folder of the file that has them");
                break;
            }
        };
        let mut parent = document.parse_more(&path.display().to_string(), &text, notes);
        // Results are written to a folder of this name, and the parent's results must not be there.
        take(&mut parent, "name");
        from.push(Path::new(named).parent().unwrap_or(Path::new("")));
        move_files(&mut parent, &from);
        // What it extends itself comes next; over it nobody has said anything about that.
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

/// File names of a parent start in its own folder, which is `from` for the first file.
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

/// The same for one key of a table.
pub(super) fn move_file(table: &mut Value, key: &str, from: &Path) {
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
