//! The provenance of results, and how to reproduce them.

use netloom_results::Collection;
use netloom_results::view::Study;
use serde_json::Value;

use crate::escape;
use crate::table::{Cell, Head, Table};

/// The most important keys of a manifest, with their titles.
const FIRST: [(&str, &str); 7] = [
    ("netloom", "Version"),
    ("git", "Commit"),
    ("results_version", "Version of results"),
    ("study_id", "Study id"),
    ("run_id", "Run id"),
    ("config_sha256", "SHA-256 of the experiment"),
    ("status", "Status"),
];

/// Returns the experiment, folded, with a button to copy it.
pub(crate) fn experiments(collections: &[Collection]) -> String {
    let mut html = String::from("<section id=\"experiment\"><h2>Experiment</h2>\n");
    let mut is_any = false;
    for (at, collection) in collections.iter().enumerate() {
        if collection.experiment.trim().is_empty() {
            continue;
        }
        is_any = true;
        let name = if collections.len() > 1 {
            format!("{} ({})", collection.name, collection.folder)
        } else {
            collection.name.clone()
        };
        html.push_str(&format!(
            "<details><summary>{} as TOML, {} lines</summary><div class=\"inside\">\
             <div class=\"copied\"><button type=\"button\" \
             data-copy=\"experiment-{at}\">Copy</button>\
             <pre id=\"experiment-{at}\" tabindex=\"0\"><code>{}</code></pre></div></div></details>\n",
            escape::name(&name),
            collection.experiment.lines().count(),
            escape::text(&collection.experiment)
        ));
    }
    html.push_str("</section>\n");
    if is_any { html } else { String::new() }
}

/// Returns the commands that reproduce the results, and the data to compare.
pub(crate) fn reproduce(collections: &[Collection], studies: &[Study]) -> String {
    let mut html = String::from(
        "<section id=\"reproduce\"><h2>How to reproduce</h2>\n<p>The same file, seed and version \
         give bit-identical tables on any machine and for any number of threads.</p>\n",
    );
    for (at, (collection, study)) in collections.iter().zip(studies).enumerate() {
        if collections.len() > 1 {
            html.push_str(&format!(
                "<h3>{} ({})</h3>\n",
                escape::name(&collection.name),
                escape::text(&collection.folder)
            ));
        }
        let file = format!("{}.toml", file_name(&collection.name));
        let mut commands = String::new();
        if let Some(version) = collection.manifest["netloom"].as_str() {
            commands.push_str(&format!("# netloom {}", known(version, is_version)));
            if let Some(commit) = collection.manifest["git"].as_str() {
                commands.push_str(&format!(", commit {}", known(commit, is_commit)));
            }
            commands.push('\n');
        }
        commands.push_str(&format!(
            "# the experiment above, saved as {file}\nnetloom run {file}\n"
        ));
        html.push_str(&format!(
            "<div class=\"copied\"><button type=\"button\" \
             data-copy=\"commands-{at}\">Copy</button><pre id=\"commands-{at}\" \
             class=\"wrap\"><code>{}</code></pre></div>\n",
            escape::text(&commands)
        ));
        if let Some(words) = collection.manifest["command_line"].as_array() {
            let words: Vec<String> = words.iter().filter_map(Value::as_str).map(quoted).collect();
            html.push_str(&format!(
                "<p class=\"small\">Original command: <code>{}</code></p>\n",
                escape::text(&words.join(" "))
            ));
        }
        html.push_str(&facts(&collection.manifest));
        html.push_str(&runs(collection, study, at));
    }
    html.push_str("</section>\n");
    html
}

/// Returns a word of a manifest for use in commands if it is sound. A manifest may come from an
/// untrusted source, and users copy these commands to a shell.
fn known(word: &str, is_sound: fn(&str) -> bool) -> &str {
    match !word.is_empty() && word.len() <= 64 && is_sound(word) {
        true => word,
        false => "unknown",
    }
}

fn is_version(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c))
}

/// Whether a word is a commit as written by the build: hexadecimal digits, and a mark for changes.
fn is_commit(word: &str) -> bool {
    let hash = word.strip_suffix("-dirty").unwrap_or(word);
    !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns a file name for use in commands: not an option, not hidden, nothing that a shell
/// expands.
fn file_name(name: &str) -> String {
    let plain = |c: char| match c.is_alphanumeric() || "-_.".contains(c) {
        true => c,
        false => '-',
    };
    let name: String = name.chars().map(plain).take(60).collect();
    match name.trim_start_matches(['-', '.']) {
        "" => "experiment".into(),
        name => name.into(),
    }
}

/// Quotes a word of a command line for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn facts(manifest: &Value) -> String {
    let Value::Object(entries) = manifest else {
        return String::new();
    };
    let mut html = String::new();
    let mut add = |title: &str, value: &Value| {
        let text = match value {
            Value::Null => return,
            Value::String(text) => text.clone(),
            Value::Array(items) if items.len() > 8 => format!("{} items", items.len()),
            Value::Array(items) => {
                let words = items.iter().map(plain).collect::<Vec<_>>();
                words.join(", ")
            }
            other => plain(other),
        };
        html.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td class=\"name\">{}</td></tr>",
            escape::text(title),
            escape::text(&text)
        ));
    };
    for (key, title) in FIRST {
        if let Some(value) = entries.get(key) {
            add(title, value);
        }
    }
    let is_listed =
        |key: &str| key == "command_line" || FIRST.iter().any(|(first, _)| *first == key);
    for (key, value) in entries.iter().filter(|(key, _)| !is_listed(key)) {
        match (key.as_str(), value) {
            ("finished_unix_seconds", Value::Number(seconds)) => {
                let seconds = seconds.as_u64().unwrap_or(0);
                add("Finished", &Value::from(day(seconds)));
            }
            (_, Value::Object(inner)) => {
                for (name, value) in inner {
                    add(&titled(&format!("{key}: {name}")), value);
                }
            }
            _ => add(&titled(key), value),
        }
    }
    format!(
        "<details><summary>Version, machine, digests</summary><div class=\"inside\"><div \
         class=\"scroll short\"><table class=\"data\"><tbody>{html}</tbody></table></div></div></details>\n"
    )
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn titled(key: &str) -> String {
    let words = key.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Formats a Unix time as date and time in UTC (civil-from-days by Howard Hinnant).
pub(crate) fn day(unix_seconds: u64) -> String {
    let (days, rest) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = year_of_era + era * 400 + next;
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
        rest / 3_600,
        rest % 3_600 / 60
    )
}

/// Returns the table of runs and their ids.
fn runs(collection: &Collection, study: &Study, at: usize) -> String {
    let Some(results) = collection.table("results") else {
        return String::new();
    };
    let ids = ["runs-0", "runs-1", "runs-2", "runs-3", "runs-4", "runs-5"];
    let Some(id) = ids.get(at) else {
        return String::new();
    };
    let mut table = Table {
        id,
        caption:
            "A run id is the hash of the resolved experiment, its seed and the version of results."
                .into(),
        heads: vec![
            Head::text("Point"),
            Head::number("Seed", "seed"),
            Head::text("Run id"),
        ],
        lines: vec![],
    };
    let number = |name: &str, line: usize| results.column(name).and_then(|c| c.number(line));
    let text = |name: &str, line: usize| results.column(name).and_then(|c| c.text(line));
    for line in 0..results.len() {
        if text("scope", line) != Some("total") {
            continue;
        }
        let (Some(seed), Some(run)) = (number("seed", line), text("run_id", line)) else {
            continue;
        };
        let number = number("point", line).unwrap_or(0.0) as u64;
        let point = study.points.iter().find(|point| point.number == number);
        table.lines.push(vec![
            Cell::Name(point.map_or_else(String::new, |point| study.name(point))),
            Cell::whole(seed as u64),
            Cell::Html(format!("<code>{}</code>", escape::text(run))),
        ]);
    }
    if table.lines.is_empty() {
        return String::new();
    }
    format!(
        "<details class=\"screen\"><summary>{} runs and their ids</summary><div \
         class=\"inside\">{}</div></details>\n",
        table.lines.len(),
        table.html()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0), "1970-01-01 00:00 UTC");
        assert_eq!(day(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(day(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(day(1_794_731_400), "2026-11-15 08:30 UTC");
    }

    #[test]
    fn a_manifest_adds_no_command() {
        let of = |version: &str, commit: &str, name: &str| {
            let collection = Collection {
                name: name.to_owned(),
                manifest: serde_json::json!({ "netloom": version, "git": commit }),
                ..Collection::default()
            };
            let html = reproduce(&[collection], &[Study::default()]);
            let commands = html
                .split("<code>")
                .nth(1)
                .and_then(|rest| rest.split("</code>").next());
            commands.unwrap_or_default().to_owned()
        };
        let sound = "# netloom 0.1.0-rc.1+x, commit 0123abc-dirty\n\
            # the experiment above, saved as a.toml\nnetloom run a.toml\n";
        assert_eq!(of("0.1.0-rc.1+x", "0123abc-dirty", "a"), sound);
        for hostile in [
            "1\nrm -rf ~",
            "1 ; id",
            "",
            "$(id)",
            "1\u{2028}id",
            "1`id`",
            &"1".repeat(99),
        ] {
            let commands = of(hostile, hostile, "-x\nid");
            let unknown = "# netloom unknown, commit unknown\n\
                # the experiment above, saved as x-id.toml\nnetloom run x-id.toml\n";
            assert_eq!(commands, unknown, "{hostile:?}");
        }
    }

    #[test]
    fn words_of_a_command_line_are_quoted() {
        assert_eq!(quoted("traffic.load=0.5"), "traffic.load=0.5");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
