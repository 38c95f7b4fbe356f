//! Files of a real site: reading them by their content, and writing them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use netloom_catalog::file::{MOST_LIST, read_bytes};
use netloom_catalog::{Document, Notes, Place, Value, ValueShape};
use netloom_infiniband::{Programmed, Site, Subnet, writing};

/// Reads files as text.
pub(crate) fn read_all(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, String)>> {
    let read = |path: &PathBuf| {
        let bytes = read_bytes(Path::new(path), MOST_LIST)
            .with_context(|| format!("cannot read {}", path.display()))?;
        // Node descriptions can contain any bytes.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok((path.display().to_string(), text))
    };
    paths.iter().map(read).collect()
}

/// Reads the site that files describe; also returns their text and notes, for messages.
pub(crate) fn understood(files: Vec<(String, String)>) -> (Document, Notes, Site) {
    let mut notes = Notes::new();
    let site = Site::understand(&files, &mut notes);
    (texts(files), notes, site)
}

/// Wraps texts that are not TOML, so that messages can quote their lines.
pub(crate) fn texts(sources: Vec<(String, String)>) -> Document {
    Document {
        sources,
        root: Value {
            place: Place::default(),
            shape: ValueShape::Table(vec![]),
        },
    }
}

/// Writes a file atomically.
pub(crate) fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    netloom_results::store::write_file(path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Describes the ports that are not NICs: `54 aggregation nodes (SHARP), 2 ports of routers`.
pub(crate) fn others(site: &Site) -> String {
    let nodes = || {
        site.left_out
            .iter()
            .map(|(node, _)| &site.subnet.nodes[node.index()])
    };
    let n_nodes = nodes().filter(|node| node.is_aggregation_node()).count();
    let count = |n: usize, one: &str, several: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {several}")),
    };
    let kinds = [
        count(
            n_nodes,
            "aggregation node (SHARP)",
            "aggregation nodes (SHARP)",
        ),
        count(
            nodes().count() - n_nodes,
            "port of a router",
            "ports of routers",
        ),
    ];
    kinds.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Writes the files of a site into a folder and returns their names.
pub(crate) fn write_folder(folder: &Path, site: &Site) -> anyhow::Result<Vec<&'static str>> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let (subnet, programmed) = (&site.subnet, &site.programmed);
    let mut written = vec![];
    let mut add = |name: &'static str, text: String| {
        written.push(name);
        put(&folder.join(name), &text)
    };
    add("ibnetdiscover.txt", writing::ibnetdiscover(subnet))?;
    type Written = (&'static str, bool, fn(&Subnet, &Programmed) -> String);
    let tables: [Written; 5] = [
        (
            "opensm-lfts.dump",
            !programmed.forwarding.is_empty(),
            writing::forwarding,
        ),
        (
            "sl2vl.txt",
            !programmed.sl_to_vl.is_empty(),
            writing::sl_to_vl,
        ),
        (
            "vlarb.txt",
            !programmed.arbitration.is_empty(),
            writing::vl_arbitration,
        ),
        (
            "portinfo.txt",
            !programmed.lanes.is_empty(),
            writing::port_info,
        ),
        (
            "psl",
            !programmed.path_levels.is_empty(),
            |_, programmed| writing::path_levels(programmed),
        ),
    ];
    for (name, is_known, of) in tables {
        if is_known {
            add(name, of(subnet, programmed))?;
        }
    }
    Ok(written)
}
