//! The allowed dependencies between crates, as drawn in ARCHITECTURE.md.

use std::collections::BTreeMap;
use std::path::Path;

/// Each crate and the crates of netloom that it may use. Development dependencies are not
/// restricted.
const ALLOWED: &[(&str, &[&str])] = &[
    ("encoding-derive", &[]),
    ("encoding", &["encoding-derive"]),
    ("text", &[]),
    ("units", &["encoding"]),
    ("random", &[]),
    ("results", &["encoding", "text", "catalog", "metrics"]),
    ("figures", &["units", "results"]),
    ("report", &["results", "figures"]),
    ("catalog", &["units"]),
    ("engine", &["encoding", "units"]),
    ("packet", &["encoding", "units"]),
    ("metrics", &["encoding", "units"]),
    ("topology", &["units", "catalog", "random"]),
    ("drawing", &["units", "topology", "results"]),
    ("routing", &["units", "catalog", "random", "topology"]),
    ("arbitration", &["units", "catalog"]),
    (
        "infiniband",
        &["units", "catalog", "arbitration", "topology", "routing"],
    ),
    ("traffic", &["units", "catalog", "random", "packet"]),
    ("settings", &["catalog"]),
    (
        "fabric",
        &[
            "encoding",
            "units",
            "catalog",
            "random",
            "engine",
            "packet",
            "topology",
            "routing",
            "arbitration",
            "metrics",
        ],
    ),
    (
        "design",
        &[
            "text",
            "units",
            "catalog",
            "random",
            "topology",
            "routing",
            "arbitration",
            "settings",
        ],
    ),
    (
        "experiment",
        &[
            "encoding",
            "units",
            "catalog",
            "packet",
            "infiniband",
            "settings",
            "topology",
            "routing",
            "arbitration",
            "design",
            "traffic",
            "metrics",
            "fabric",
            "results",
            "drawing",
        ],
    ),
    ("study", &["catalog", "metrics", "results", "experiment"]),
    (
        "reproduction",
        &[
            "text",
            "units",
            "catalog",
            "design",
            "metrics",
            "results",
            "figures",
            "experiment",
            "study",
        ],
    ),
    (
        "netloom",
        &[
            "units",
            "random",
            "catalog",
            "packet",
            "topology",
            "routing",
            "arbitration",
            "infiniband",
            "design",
            "traffic",
            "metrics",
            "fabric",
            "results",
            "experiment",
            "study",
            "reproduction",
        ],
    ),
    (
        "cli",
        &[
            "text",
            "units",
            "catalog",
            "settings",
            "infiniband",
            "topology",
            "drawing",
            "routing",
            "arbitration",
            "design",
            "traffic",
            "metrics",
            "fabric",
            "results",
            "figures",
            "report",
            "experiment",
            "study",
            "reproduction",
        ],
    ),
];

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the folder of crates");
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let mut seen = 0;
    for entry in std::fs::read_dir(crates).expect("the folder of crates") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .and_then(|n| n.to_str())
            .expect("a name")
            .to_owned();
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).expect("a manifest");
        let may_use = allowed
            .get(name.as_str())
            .unwrap_or_else(|| panic!("{name} has no line in ALLOWED"));
        let dependencies = manifest
            .split("[dependencies]")
            .nth(1)
            .unwrap_or("")
            .split("\n[")
            .next()
            .unwrap_or("");
        for line in dependencies.lines() {
            let Some(used) = line
                .strip_prefix("netloom-")
                .and_then(|rest| rest.split(['.', ' ', '=']).next())
            else {
                continue;
            };
            assert!(
                may_use.contains(&used),
                "{name} may not use {used} (ARCHITECTURE.md, directions)"
            );
        }
        seen += 1;
    }
    assert_eq!(seen, ALLOWED.len(), "every line of ALLOWED names a crate");
}

#[test]
fn every_crate_says_what_it_is() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the folder of crates");
    let mut descriptions = BTreeMap::new();
    for (name, _) in ALLOWED {
        let manifest = std::fs::read_to_string(crates.join(name).join("Cargo.toml"));
        let manifest = manifest.expect("a manifest");
        let value = |key: &str| {
            let line = manifest.lines().find(|line| {
                line.strip_prefix(key)
                    .is_some_and(|rest| rest.starts_with([' ', '.']))
            });
            line.unwrap_or_else(|| panic!("{name} has no {key}"))
        };
        for key in [
            "version",
            "rust-version",
            "license",
            "repository",
            "keywords",
        ] {
            assert_eq!(value(key), format!("{key}.workspace = true"), "{name}");
        }
        value("categories");
        if let Some(other) = descriptions.insert(value("description").to_owned(), name) {
            panic!("{name} and {other} have the same description");
        }
    }
}
