//! Arbitrary fabrics described in plain text.
//!
//! One statement per line; `#` starts a comment. Names contain no blanks, `:` or `#`.
//!
//! ```text
//! class long                  # optional: fixes the order of the classes of cables
//! switch left ports 8         # optional: fixes the order and the number of ports
//! link left:6 right:0 class long
//! link left right             # without ports: the next free ones
//! nic a left:0                # a NIC on a port
//! nic b right
//! ```
//!
//! Switches are numbered in order of appearance, NICs in order of their lines. By default, cables
//! between switches are of class `switch` and those of NICs of class `host`. A switch without a
//! `switch` line has as many ports as it needs. Cables without a stated port get the free ports
//! after all stated ones are taken.

mod read;
mod write;

use std::path::Path;
use std::sync::Arc;

use netloom_catalog::file::MOST_LIST;
use netloom_catalog::{Described, Disk, Files, FromToml, Notes, Shape, Value, params};

use crate::{Blueprint, Topology};

pub use read::{Mistake, parse};
pub use write::write;

params! {
    /// A fabric described in plain text, cable by cable.
    #[derive(Clone, Debug)]
    pub struct Graph {
        /// The file with the description, relative to the experiment.
        pub file: Option<GraphFile> = None,
        /// The description itself, instead of a file.
        pub text: Option<String> = None,
    }
    check |it, section| {
        if it.file.is_some() == it.text.is_some() {
            let place = section.place_of("text");
            section.notes.error("E0200", place, "expected either `file` or `text`");
        }
    }
}

/// The name of a file with a description.
#[derive(Clone, Debug)]
pub struct GraphFile {
    name: String,
    files: Arc<dyn Files>,
}

impl GraphFile {
    /// A file of the current directory.
    pub fn new(name: String) -> Self {
        let files = Arc::new(Disk::HERE.clone());
        GraphFile { name, files }
    }
}

impl FromToml for GraphFile {
    fn shape() -> Shape {
        String::shape()
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        String::read(value, notes).map(GraphFile::new)
    }

    fn write(&self) -> String {
        self.name.write()
    }
}

impl Blueprint for Graph {
    fn build(&self, _seed: u64) -> Result<Topology, String> {
        let (name, text) = match (&self.file, &self.text) {
            (Some(file), None) => {
                let name = Path::new(&file.name);
                let shown = file.files.shown(name).display().to_string();
                let text = file.files.read_text(name, MOST_LIST);
                let text = text.map_err(|e| format!("cannot read the graph file {shown}: {e}"))?;
                (shown, text)
            }
            (None, Some(text)) => ("text".to_owned(), text.clone()),
            _ => return Err("expected either `file` or `text`".into()),
        };
        parse(&text).map_err(|mistakes| {
            let lines: Vec<String> = mistakes
                .iter()
                .map(|(line, m)| format!("{name}:{line}: {m}"))
                .collect();
            lines.join("\n")
        })
    }

    fn read_from(&mut self, files: &Arc<dyn Files>) {
        if let Some(file) = &mut self.file {
            file.files = files.clone();
        }
    }

    fn n_nics(&self) -> Option<u64> {
        self.build(0)
            .ok()
            .map(|topology| u64::from(topology.n_nics()))
    }

    /// The number of ports is known only after building.
    fn n_ports(&self) -> Option<u64> {
        None
    }
}

impl Described for Graph {
    const NAME: &'static str = "graph";
    const SUMMARY: &'static str = "Any fabric, described cable by cable in a text file.";
    const EXAMPLE: &'static str =
        r#"text = "link a b\nlink b c\nlink c a\nnic n0 a\nnic n1 b\nnic n2 c""#;
}
