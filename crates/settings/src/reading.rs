//! Reads environments: the output of `env`, shell scripts, and pod specs.
//!
//! A pod spec is read by its lines, not by a YAML parser. Only lists of `name` and `value` under
//! `env:`, and keys that are variables of the table, matter. Anchors, tags and multi-line scalars
//! cannot occur in them in a way that changes a small number. The reader keeps the line of each
//! value, accepts templates that are not YAML yet, and cannot be made to expand aliases.

use netloom_catalog::{Place, visible_name};

use crate::table::Table;

/// The settings of one process.
#[derive(Clone, Default, Debug)]
pub struct Process {
    /// The name of the container or block; empty if the file has one process.
    pub name: String,
    pub settings: Vec<Assignment>,
}

/// A variable that a process has.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    pub name: String,
    /// `None` if another program or variable decides it.
    pub value: Option<String>,
    pub place: Place,
}

/// The most processes of a file, and the most variables of a process. Further ones are ignored and
/// counted by [`Environment::further`].
const MOST_PROCESSES: usize = 1000;
const MOST_VARIABLES: usize = 1000;

/// The processes of a file.
#[derive(Clone, Default, Debug)]
pub struct Environment {
    pub processes: Vec<Process>,
    /// The number of processes and variables beyond the limits.
    pub further: usize,
}

impl Process {
    /// Returns the assignment of a variable that is in force.
    pub fn get(&self, name: &str) -> Option<&Assignment> {
        self.settings.iter().find(|own| own.name == name)
    }
}

/// Reads a text. The format follows from its content.
pub fn read(text: &str, source: u16, table: &Table) -> Environment {
    let mut reader = Reader {
        table,
        source,
        found: Environment::default(),
        is_full: false,
    };
    match text.trim_start().chars().next() {
        Some('{' | '[') if let Ok(whole) = serde_json::from_str(text) => {
            reader.json(&whole, &mut Vec::new(), &mut 0, text);
        }
        _ if is_yaml(text) => reader.yaml(text),
        _ => reader.shell(text),
    }
    reader
        .found
        .processes
        .retain(|process| !process.settings.is_empty());
    reader.found
}

/// Returns whether a line of the text is a key that pod specs, charts and compose files have.
fn is_yaml(text: &str) -> bool {
    const KEYS: [&str; 8] = [
        "apiVersion:",
        "kind:",
        "env:",
        "spec:",
        "containers:",
        "environment:",
        "data:",
        "name:",
    ];
    text.lines().any(|line| {
        let line = line.trim_start().trim_start_matches("- ").trim_start();
        KEYS.iter().any(|key| line.starts_with(key))
    })
}

struct Reader<'a> {
    table: &'a Table,
    source: u16,
    found: Environment,
    /// Whether the process of the next variables is one too many.
    is_full: bool,
}

impl Reader<'_> {
    fn place(&self, start: usize, length: usize) -> Place {
        Place {
            source: self.source,
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(start + length).unwrap_or(u32::MAX),
        }
    }

    /// Starts a process, unless the last one has no variables.
    fn start(&mut self, name: &str) {
        let name = visible_name(name.trim()).into_owned();
        let n = self.found.processes.len();
        match self.found.processes.last_mut() {
            Some(last) if last.settings.is_empty() => last.name = name,
            _ if n >= MOST_PROCESSES => {
                self.found.further += 1;
                self.is_full = true;
            }
            _ => self.found.processes.push(Process {
                name,
                settings: vec![],
            }),
        }
    }

    /// Sets a variable of the last process, if the table knows it.
    fn set(&mut self, name: &str, value: Option<&str>, place: Place) {
        if self.is_full || !is_variable(name) || !self.table.knows(name) {
            return;
        }
        if self.found.processes.is_empty() {
            self.start("");
        }
        let Some(process) = self.found.processes.last_mut() else {
            return;
        };
        process.settings.retain(|own| own.name != name);
        if process.settings.len() >= MOST_VARIABLES {
            self.found.further += 1;
            return;
        }
        let is_known = |value: &&str| !value.contains(['$', '`', '{', '<']);
        process.settings.push(Assignment {
            name: name.to_owned(),
            value: value.filter(is_known).map(|value| value.trim().to_owned()),
            place,
        });
    }

    fn unset(&mut self, name: &str) {
        if let Some(process) = self.found.processes.last_mut() {
            process.settings.retain(|own| own.name != name);
        }
    }

    fn shell(&mut self, text: &str) {
        for (start, line) in lines(text) {
            match process_of(line) {
                Some(name) => self.start(name),
                None => self.shell_line(start, line),
            }
        }
    }

    fn shell_line(&mut self, start: usize, line: &str) {
        for command in commands(line) {
            let first = command.first().map_or("", |(_, word)| word.as_str());
            match first {
                "echo" | "printf" => continue,
                "unset" => {
                    command[1..].iter().for_each(|(_, word)| self.unset(word));
                    continue;
                }
                "setenv" => {
                    if let [_, (at, name), (_, value), ..] = &command[..] {
                        let place = self.place(start + at, name.len());
                        self.set(name, Some(value), place);
                    }
                    continue;
                }
                _ => {}
            }
            for (at, word) in &command {
                let list = word.strip_prefix("--export=").unwrap_or(word);
                let several = if list.len() < word.len() { ',' } else { '\0' };
                for item in list.split(several) {
                    if let Some((name, value)) = item.split_once('=') {
                        let length = word.len().min(line.len() - at);
                        let place = self.place(start + at, length);
                        self.set(name, Some(value), place);
                    }
                }
            }
        }
    }

    fn yaml(&mut self, text: &str) {
        // The name of the nearest container, and the indentation of the `env:` in force.
        let (mut container, mut env) = (String::new(), None::<usize>);
        let mut item = Item::default();
        for (start, line) in lines(text) {
            if let Some(name) = process_of(line) {
                self.finish(&mut item);
                container = name.to_owned();
                env = None;
                continue;
            }
            let content = line.trim_start();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let indent = line.len() - content.len();
            // A script in a block of the document, or documents in a script.
            let is_assigned =
                |word: &str| word.split_once('=').is_some_and(|(n, _)| is_variable(n));
            if content.starts_with("export ") || content.split(' ').next().is_some_and(is_assigned)
            {
                self.shell_line(start, line);
                continue;
            }
            let (is_item, content, column) = match content.strip_prefix("- ") {
                Some(rest) => {
                    let rest_trimmed = rest.trim_start();
                    let column = indent + 2 + rest.len() - rest_trimmed.len();
                    (true, rest_trimmed, column)
                }
                None => (false, content, indent),
            };
            if env.is_some_and(|at| indent < at || (indent == at && !is_item)) {
                self.finish(&mut item);
                env = None;
            }
            if is_item {
                self.finish(&mut item);
            }
            if let Some(inner) = content.strip_prefix('{') {
                let mut own = Item::default();
                for part in inner.trim_end_matches('}').split(',') {
                    if let Some((key, value)) = part.split_once(':') {
                        let place = self.place(start + column, content.len());
                        own.put(key.trim(), scalar(value), place);
                    }
                }
                self.finish(&mut own);
                continue;
            }
            let Some((key, value)) = content.split_once(':') else {
                if let (true, Some((name, value))) = (is_item, scalar(content).split_once('=')) {
                    let place = self.place(start + column, content.len());
                    self.set(name, Some(value), place);
                }
                continue;
            };
            let (key, value) = (scalar(key), scalar(value));
            let place = self.place(start + column, content.trim_end().len());
            if is_item && key.contains('=') {
                let whole = scalar(content);
                if let Some((name, value)) = whole.split_once('=') {
                    self.set(name, Some(value), place);
                }
            } else if matches!(key, "env" | "environment") {
                self.finish(&mut item);
                self.start(&container);
                env = Some(if is_item { column } else { indent });
            } else if env.is_some() && matches!(key, "name" | "value" | "valueFrom") {
                item.put(key, value, place);
            } else if key == "name" && is_item {
                container = value.to_owned();
            } else {
                self.set(key, Some(value), place);
            }
        }
        self.finish(&mut item);
    }

    fn finish(&mut self, item: &mut Item) {
        let own = std::mem::take(item);
        if let Some((name, place)) = own.name {
            match own.value {
                Some(value) => self.set(&name, value.as_deref(), place),
                None => self.set(&name, Some(""), place),
            }
        }
    }

    /// Reads lists of `name` and `value` under `env` of a document. `from` is where the search for
    /// the next name in the text begins, so that each has its line.
    fn json(
        &mut self,
        value: &serde_json::Value,
        names: &mut Vec<String>,
        from: &mut usize,
        text: &str,
    ) {
        use serde_json::Value;
        match value {
            Value::Object(keys) => {
                let name = keys.get("name").and_then(Value::as_str);
                names.push(name.unwrap_or_default().to_owned());
                for (key, inner) in keys {
                    if let (true, Value::Array(items)) = (key == "env", inner) {
                        let container = names.last().cloned().unwrap_or_default();
                        self.start(&container);
                        for item in items {
                            self.json_item(item, from, text);
                        }
                    } else {
                        self.json(inner, names, from, text);
                    }
                }
                names.pop();
            }
            Value::Array(items) => {
                items
                    .iter()
                    .for_each(|item| self.json(item, names, from, text));
            }
            _ => {}
        }
    }

    fn json_item(&mut self, item: &serde_json::Value, from: &mut usize, text: &str) {
        let Some(name) = item.get("name").and_then(serde_json::Value::as_str) else {
            return;
        };
        let quoted = format!("\"{name}\"");
        let rest = text.get(*from..).unwrap_or_default();
        // A file may hold names in another order than the parser returns them.
        let at = rest
            .find(&quoted)
            .map(|at| *from + at)
            .or_else(|| text.find(&quoted));
        let place = self.place(at.unwrap_or_default(), quoted.len());
        *from = at.map_or(*from, |at| at + quoted.len());
        match item.get("value") {
            Some(serde_json::Value::String(value)) => self.set(name, Some(value), place),
            Some(serde_json::Value::Number(value)) => {
                self.set(name, Some(&value.to_string()), place);
            }
            _ => self.set(name, None, place),
        }
    }
}

/// An item of a list under `env:`.
#[derive(Default)]
struct Item {
    name: Option<(String, Place)>,
    /// The value; `None` inside if another object decides it.
    value: Option<Option<String>>,
}

impl Item {
    fn put(&mut self, key: &str, value: &str, place: Place) {
        match key {
            // `valueFrom` holds a reference with a name of its own.
            "name" if self.name.is_none() => self.name = Some((value.to_owned(), place)),
            "value" if self.value.is_none() => self.value = Some(Some(value.to_owned())),
            "valueFrom" => self.value = Some(None),
            _ => {}
        }
    }
}

/// Returns the name in a comment `# process NAME`, which separates processes in one file.
fn process_of(line: &str) -> Option<&str> {
    let comment = line.trim().strip_prefix('#')?.trim();
    let name = comment.strip_prefix("process ")?;
    name.split([':', ' ']).next()
}

/// Returns the lines with their positions.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.trim_end_matches(['\n', '\r']))
    })
}

fn is_variable(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.len() <= 200 && name.chars().all(is_part)
}

/// Returns a scalar without its quotes and comment.
fn scalar(text: &str) -> &str {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.split(quote).next().unwrap_or_default();
        }
    }
    text.split(" #").next().unwrap_or_default().trim_end()
}

/// Splits a line into commands, and those into words with positions. Quotes end with the line.
fn commands(line: &str) -> Vec<Vec<(usize, String)>> {
    let mut found = vec![vec![]];
    let mut word: Option<(usize, String)> = None;
    let mut quote = None;
    let mut characters = line.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let mut end = |word: &mut Option<(usize, String)>, is_next: bool| {
            if let Some(word) = word.take()
                && let Some(last) = found.last_mut()
            {
                last.push(word);
            }
            if is_next {
                found.push(vec![]);
            }
        };
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert((at, String::new()));
            }
            (Some('"') | None, '\\') => {
                if let Some((_, next)) = characters.next() {
                    word.get_or_insert((at, String::new())).1.push(next);
                }
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '\t') => end(&mut word, false),
            (None, ';' | '&' | '|') => end(&mut word, true),
            (_, _) => word.get_or_insert((at, String::new())).1.push(c),
        }
    }
    if let (Some(word), Some(last)) = (word, found.last_mut()) {
        last.push(word);
    }
    found.retain(|command| !command.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::table;

    fn shown(text: &str) -> Vec<String> {
        let found = read(text, 0, table());
        let all = found.processes.iter().flat_map(|process| {
            process.settings.iter().map(|own| {
                let value = own.value.as_deref().unwrap_or("?");
                let place = own.place.start as usize..own.place.end as usize;
                assert!(text[place].contains(own.name.as_str()), "{text}");
                format!("{}:{}={value}", process.name, own.name)
            })
        });
        all.collect()
    }

    #[test]
    fn output_of_env_and_scripts_are_read() {
        let text = "PATH=/bin\nNCCL_IB_SL=1\nLS_COLORS=rs=0:di=01;34\nBASH_FUNC=() {  a\n}\n";
        assert_eq!(shown(text), [":NCCL_IB_SL=1"]);
        let text = "#!/bin/sh\nexport NCCL_IB_SL=\"2\" MC_IB_SL='3' # not 4\n\
                    declare -x UCX_IB_SL=4; NCCL_IB_TC=$TC\nunset MC_IB_SL\n\
                    # export MC_IB_TC=1\necho NVSHMEM_IB_SL=1\n\
                    mpirun -x UCX_IB_TRAFFIC_CLASS=106 -x PATH app && A=1 MC_IB_TC=96 run\n\
                    setenv NVSHMEM_IB_SL 5\nsbatch --export=ALL,PSM3_NIC_SL=6 job.sh\n";
        let all = [
            ":NCCL_IB_SL=2",
            ":UCX_IB_SL=4",
            ":NCCL_IB_TC=?",
            ":UCX_IB_TRAFFIC_CLASS=106",
            ":MC_IB_TC=96",
            ":NVSHMEM_IB_SL=5",
            ":PSM3_NIC_SL=6",
        ];
        assert_eq!(shown(text), all);
    }

    #[test]
    fn blocks_of_a_file_are_processes() {
        let text = "# process a: first\nexport MC_IB_SL=1\n# process b\nexport MC_IB_SL=2\n";
        assert_eq!(shown(text), ["a:MC_IB_SL=1", "b:MC_IB_SL=2"]);
    }

    #[test]
    fn pod_specs_are_read() {
        let text = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: prefill\n    env:\n\
                    \x20   - name: NCCL_IB_SL\n      value: \"1\"   # one\n\
                    \x20   - {name: MC_IB_SL, value: \"2\"}\n\
                    \x20   - name: UCX_IB_SL\n      valueFrom:\n        configMapKeyRef:\n\
                    \x20         name: site\n          key: sl\n\
                    \x20   image: x\n  - name: decode\n    env:\n      - value: '5'\n\
                    \x20       name: NVSHMEM_IB_SL\n";
        let all = [
            "prefill:NCCL_IB_SL=1",
            "prefill:MC_IB_SL=2",
            "prefill:UCX_IB_SL=?",
            "decode:NVSHMEM_IB_SL=5",
        ];
        assert_eq!(shown(text), all);
    }

    #[test]
    fn scripts_in_pod_specs_are_read() {
        let text = "kind: Pod\nspec:\n  containers:\n  - name: a\n    args:\n    - |\n\
                    \x20     export NCCL_IB_SL=1 MC_IB_SL=2\n      UCX_IB_SL=3 run\n";
        assert_eq!(
            shown(text),
            [":NCCL_IB_SL=1", ":MC_IB_SL=2", ":UCX_IB_SL=3"]
        );
        let text = "export MC_IB_SL=1\ncat > pod.yaml <<END\nkind: Pod\nEND\n";
        assert_eq!(shown(text), [":MC_IB_SL=1"]);
    }

    #[test]
    fn config_maps_and_compose_files_are_read() {
        let text = "kind: ConfigMap\ndata:\n  NCCL_IB_SL: \"3\"\n  OTHER: x\n";
        assert_eq!(shown(text), [":NCCL_IB_SL=3"]);
        let text =
            "services:\n  a:\n    environment:\n      - MC_IB_SL=4\n      MC_IB_TC: {{ .tc }}\n";
        assert_eq!(shown(text), [":MC_IB_SL=4", ":MC_IB_TC=?"]);
        let text = r#"{"spec": {"containers": [{"name": "a",
            "env": [{"name": "MC_IB_SL", "value": "2"}, {"name": "MC_IB_TC", "valueFrom": {}}]},
            {"env": [{"name": "MC_IB_SL", "value": 3}], "name": "b"}]}}"#;
        let all = ["a:MC_IB_SL=2", "a:MC_IB_TC=?", "b:MC_IB_SL=3"];
        assert_eq!(shown(text), all);
    }

    #[test]
    fn a_long_file_is_read_up_to_the_limits() {
        let block = "env:\n- {name: MC_IB_SL, value: \"1\"}\n";
        let found = read(&block.repeat(3000), 0, table());
        assert_eq!(found.processes.len(), MOST_PROCESSES);
        assert!(found.further > 0);
        let deep = "[".repeat(200_000);
        assert!(read(&deep, 0, table()).processes.is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s).{0,200}", words in prop::collection::vec(
            prop::sample::select(vec![
                "env:", "- ", "name: ", "value: ", "MC_IB_SL", "=", "\n", "  ", "\"", "'", "{", "}",
                "export ", "unset ", "# process ", "1", "é", ",", ":", "valueFrom:", "\\", ";",
            ]), 0..60))
        {
            for text in [text, words.concat()] {
                for process in read(&text, 0, table()).processes {
                    for own in process.settings {
                        let place = own.place.start as usize..own.place.end as usize;
                        prop_assert!(place.end <= text.len(), "{place:?} {text:?}");
                    }
                }
            }
        }
    }
}
