//! Settings of communication libraries in `netloom explain`.

use netloom_settings::explain;
use netloom_settings::table;

use super::table::{Table, width};

/// Returns what is known about a setting or a library; names are compared without case.
pub(super) fn explained(name: &str) -> Vec<String> {
    let is_it = |own: &str| own.eq_ignore_ascii_case(name);
    let mut found: Vec<String> = vec![];
    for setting in table()
        .settings
        .iter()
        .filter(|setting| is_it(&setting.key))
    {
        let lines = explain::setting(setting);
        found.push(format!(
            "{}, {}\n\n{}",
            setting.key,
            setting.kind.words(),
            lined(lines)
        ));
    }
    for library in table()
        .libraries
        .iter()
        .filter(|library| is_it(&library.name))
    {
        let own = table()
            .settings
            .iter()
            .filter(|s| s.library == library.name);
        let mut text = format!(
            "{}, a library\n\n{}",
            library.name,
            lined(explain::library(library))
        );
        let keys: Vec<&str> = own.map(|setting| setting.key.as_str()).collect();
        if !keys.is_empty() {
            text.push_str(&format!("\n  Its settings: {}\n", keys.join(", ")));
        }
        found.push(text);
    }
    found
}

fn lined(lines: Vec<explain::Line>) -> String {
    let mut columns = Table::words();
    for (word, text) in lines {
        columns.line([word.to_owned(), text]);
    }
    columns.text(width())
}
