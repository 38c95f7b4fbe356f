//! Runs the program: `check` proves its routing, partitions do not affect its study, a report shows
//! it, and its kinds are listed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use netloom::{Request, load, render};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/full-mesh.toml");

/// Returns the path of a new folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn own(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_own-kinds"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// Returns what the program prints, and checks that it succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = own(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_routing_is_proved_free_of_deadlock_and_refused_on_one_lane() {
    let proof = printed(&["check", FILE]);
    assert!(proof.contains("detour: free of deadlock"), "{proof}");
    // With one lane, packets can wait for each other in a cycle.
    let refused = own(&["check", FILE, "--set", "routing.lanes=1", "-q"]);
    assert_eq!(
        refused.status.code(),
        Some(4),
        "{}",
        String::from_utf8_lossy(&refused.stderr)
    );
}

#[test]
fn netloom_itself_does_not_know_these_kinds() {
    let text = fs::read_to_string(FILE).expect("the experiment");
    let loaded = load(&Request::new("full-mesh.toml", &text));
    assert!(loaded.experiment.is_none());
    let notes = render(&loaded.document, &loaded.notes, false);
    assert!(
        notes.contains("detour") && notes.contains("delay-window"),
        "{notes}"
    );
}

#[test]
fn the_study_is_the_same_for_any_division_and_is_reported() {
    let (whole, divided) = (folder("whole"), folder("divided"));
    let (whole_name, divided_name) = (
        whole.to_str().expect("a name"),
        divided.to_str().expect("a name"),
    );
    printed(&["run", FILE, "--progress", "none", "-o", whole_name]);
    printed(&[
        "run",
        FILE,
        "--progress",
        "none",
        "-q",
        "-o",
        divided_name,
        "--partitions",
        "3",
    ]);
    let table = |folder: &Path| fs::read_to_string(folder.join("results.csv")).expect("the table");
    assert_eq!(table(&whole), table(&divided));
    assert!(table(&whole).lines().count() > 2, "two points");
    printed(&["report", whole_name]);
    assert!(
        fs::metadata(whole.join("report.html"))
            .expect("the report")
            .len()
            > 100_000
    );
}

#[test]
fn lists_and_schema_name_them() {
    assert!(printed(&["explain", "routings"]).contains("detour"));
    assert!(printed(&["schema"]).contains("\"delay-window\""));
}
