//! Failed cables and switches through the binary: what the routings of a fat tree deliver without
//! them, and what is refused.

mod place;

use place::{Ended, Place};

/// 64 hosts on eight leaves with eight cables up. Each leaf sends all its traffic to the next one.
const TREE: &str = "netloom = 1\nname = \"tree\"\n[topology]\nkind = \"pgft\"\nchildren = [8, 8]\n\
    parents = [1, 8]\n";
const SHIFT: &str = "[[traffic]]\nload = 0.9\nsources = \"0-63\"\n\
    pattern = { kind = \"neighbour\", offset = 8 }\n\
                     [measure]\nlength = \"100 us\"\n";

/// Runs a file, and returns its digest and what each leaf delivers to its hosts, as shares of their
/// links.
fn run(place: &Place, name: &str, text: &str) -> (String, Vec<f64>) {
    place.file(&format!("{name}.toml"), text);
    let file = format!("{name}.toml");
    let out = format!("{name}.out");
    let run = place.run(&[
        "run",
        &file,
        "-o",
        &out,
        "--format",
        "json",
        "--progress",
        "none",
    ]);
    let digest = run.done().json()["digest"].as_str().unwrap().to_owned();
    let links = place.read(&format!("{out}/links.csv"));
    let mut lines = links.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| {
        let found = columns
            .iter()
            .position(|column| *column == name || column.starts_with(&format!("{name}_")));
        found.unwrap_or_else(|| panic!("{name} of {columns:?}"))
    };
    let (kind, from, utilisation) = (column("kind"), column("from"), column("utilisation"));
    let mut delivered = vec![0.0; 8];
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let leaf: Option<usize> = cells[from].strip_prefix('s').and_then(|n| n.parse().ok());
        if let (true, Some(leaf @ 0..8)) = (cells[kind] == "delivery", leaf) {
            delivered[leaf] += cells[utilisation].parse::<f64>().unwrap() / 8.0;
        }
    }
    (digest, delivered)
}

fn failing(failures: &str, routing: &str) -> String {
    format!("{TREE}{failures}\n[routing]\n{routing}\n{SHIFT}")
}

fn check(place: &Place, text: &str) -> Ended {
    place.file("check.toml", text);
    place.run(&["check", "check.toml"])
}

/// Returns the part of the earlier deliveries that remains.
fn left(before: &[f64], after: &[f64]) -> Vec<f64> {
    before
        .iter()
        .zip(after)
        .map(|(before, after)| after / before)
        .collect()
}

#[test]
fn an_exported_tree_delivers_what_the_tree_does() {
    let place = Place::new("failures-exported");
    let d_mod_k = "kind = \"d-mod-k\"";
    let (digest, before) = run(&place, "tree", &failing("", d_mod_k));
    assert!(before.iter().all(|share| *share > 0.87), "{before:?}");
    let text = place.run(&["show", "graph", "tree.toml"]).with(0).stdout;
    place.file("whole.txt", &text);
    let graph = |file: &str, routing: &str| {
        let topology = format!(
            "netloom = 1\nname = \"tree\"\n[topology]\nkind = \"graph\"\nfile = \"{file}\"\n"
        );
        format!("{topology}[routing]\nkind = \"{routing}\"\n{SHIFT}")
    };
    for routing in ["up-down", "shortest", "d-mod-k"] {
        let (again, after) = run(&place, routing, &graph("whole.txt", routing));
        assert_eq!(digest, again, "{routing}: {after:?}");
    }
    // Deleting the line of a cable is a failure of that cable.
    let is_left = |line: &&str| !line.starts_with("link s3:15 ");
    let lines: Vec<&str> = text.lines().filter(is_left).collect();
    place.file("damaged.txt", &lines.join("\n"));
    let expected = run(
        &place,
        "failed",
        &failing("[[failure]]\nlink = \"s3:15\"", d_mod_k),
    );
    let found = run(&place, "deleted", &graph("damaged.txt", "d-mod-k"));
    let lost = "1 of 64 cables between levels 1 and 2 missing (1.6 % of their capacity)";
    let checked = place.run(&["check", "deleted.toml"]).with(0).stdout;
    assert!(checked.contains(lost), "{checked}");
    assert_eq!(expected, found);
    assert_ne!(expected.0, digest);
    let (_, tables) = run(&place, "tables", &graph("damaged.txt", "up-down"));
    let left_over = left(&before, &tables);
    assert!(
        left_over.iter().all(|left_over| *left_over > 0.85),
        "{left_over:?}"
    );
}

/// A ninth leaf without traffic has lost a cable: every packet is checked for an exception, and
/// none has one.
#[test]
fn exceptions_that_no_packet_meets_change_no_result() {
    let place = Place::new("failures-none");
    for routing in ["d-mod-k", "random-up", "ecmp"] {
        let kind = format!("kind = \"{routing}\"");
        let nine = |failures| failing(failures, &kind).replace("[8, 8]", "[8, 9]");
        let whole = run(&place, "whole", &nine(""));
        place.run(&["check", "whole.toml"]).with(0);
        let damaged = nine("[[failure]]\nlink = \"s8:8\"");
        std::fs::remove_dir_all(place.0.join("whole.out")).unwrap();
        assert_eq!(whole, run(&place, "whole", &damaged), "{routing}");
        std::fs::remove_dir_all(place.0.join("whole.out")).unwrap();
    }
}

#[test]
fn a_missing_cable_costs_its_leaf_and_the_one_that_sends_to_it() {
    let place = Place::new("failures-cable");
    for (name, routing) in [
        ("by-destination", "kind = \"d-mod-k\""),
        // Without virtual output queues packets would wait behind those for a busy port.
        (
            "least",
            "kind = \"ecmp\"\nchoice = \"least\"\n[switch]\nqueues = \"voq\"",
        ),
    ] {
        let whole = format!("{name}-whole");
        let (_, before) = run(&place, &whole, &failing("", routing));
        let (_, after) = run(
            &place,
            name,
            &failing("[[failure]]\nlink = \"s3:15\"", routing),
        );
        for (leaf, left_over) in left(&before, &after).into_iter().enumerate() {
            // Leaf 3 receives from leaf 2 and sends to leaf 4, each by seven cables.
            match leaf {
                3 | 4 => {
                    assert!(left_over >= 0.85, "{name}: leaf {leaf} keeps {left_over}");
                    assert!(after[leaf] <= 0.875, "{name}: {after:?}");
                }
                _ => assert!(
                    (left_over - 1.0).abs() < 0.01,
                    "{name}: leaf {leaf} keeps {left_over}"
                ),
            }
        }
    }
}

#[test]
fn a_missing_switch_costs_every_leaf_its_share() {
    let place = Place::new("failures-switch");
    let routing = "kind = \"d-mod-k\"";
    let (_, before) = run(&place, "whole", &failing("", routing));
    let dead = failing("[[failure]]\nswitch = \"s11\"", routing);
    let (_, after) = run(&place, "dead", &dead);
    let left_over = left(&before, &after);
    assert!(
        left_over.iter().all(|left_over| *left_over >= 0.85),
        "{left_over:?}"
    );
    assert!(after.iter().all(|share| *share <= 0.875), "{after:?}");
    let stdout = place.run(&["check", "dead.toml"]).with(0).stdout;
    let lost = "8 of 64 cables between levels 1 and 2 missing (12.5 % of their capacity)";
    assert!(stdout.contains(lost), "{stdout}");
    assert!(stdout.contains("d-mod-k: free of deadlock"), "{stdout}");
}

#[test]
fn separated_hosts_are_named() {
    let place = Place::new("failures-separated");
    let all: String = (8..16)
        .map(|port| format!("[[failure]]\nlink = \"s3:{port}\"\n"))
        .collect();
    let stderr = check(&place, &failing(&all, "kind = \"d-mod-k\""))
        .with(3)
        .stderr;
    assert!(
        stderr.contains("E0205") && stderr.contains("no path remains between n0 (s0) and n24 (s3)"),
        "{stderr}"
    );
    let drawn = "[[failure]]\nlinks = { level = 1, share = 1.0 }";
    let stderr = check(&place, &failing(drawn, "kind = \"d-mod-k\""))
        .with(3)
        .stderr;
    assert!(
        stderr.contains("n0 (s0) and n8 (s1)") && stderr.contains("measure.seed"),
        "{stderr}"
    );
    // Connected, but only by going up again after coming down.
    let text = |routing: &str| {
        format!(
            "netloom = 1\n[topology]\nkind = \"pgft\"\nchildren = [2, 3]\nparents = [1, 2]\n\
             [[failure]]\nlink = \"s0:3\"\n[[failure]]\nlink = \"s1:2\"\n\
             [routing]\nkind = \"{routing}\"\n[[traffic]]\nload = 0.1\n"
        )
    };
    let stderr = check(&place, &text("d-mod-k")).with(3).stderr;
    assert!(
        stderr.contains("no path leads up and then down the tree from n2 (s1) to n0 (s0)"),
        "{stderr}"
    );
    check(&place, &text("up-down")).with(0);
}

#[test]
fn mistakes_are_reported_with_their_places() {
    let place = Place::new("failures-mistakes");
    let failures = "[[failure]]\nlink = \"s99:1\"\n\
                    [[failure]]\nlink = \"s3\"\n\
                    [[failure]]\nlink = \"s3:16\"\n\
                    [[failure]]\nlink = \"s3:7\"\n\
                    [[failure]]\nswitch = \"s3\"\n\
                    [[failure]]\nswitch = \"t11\"\n\
                    [[failure]]\nlinks = { level = 2, share = 0.1 }\n\
                    [[failure]]\nlinks = { level = 1, share = 2 }\n\
                    [[failure]]\n\
                    [[failure]]\nlink = \"s3:8\"\nswitch = \"s8\"\n";
    let stderr = check(&place, &failing(failures, "kind = \"d-mod-k\""))
        .with(3)
        .stderr;
    for (line, message) in [
        (8, "expected the name of a switch, found `s99`"),
        (10, "expected a switch and its port, found `s3`"),
        (12, "expected a port with a cable, found s3:16 without one"),
        (
            14,
            "expected a cable between switches, found that of n31 at s3:7",
        ),
        (
            16,
            "expected a switch without hosts, found s3 with hosts n24 to n31",
        ),
        (18, "expected the name of a switch, found `t11`"),
        (20, "expected a level with switches above it, found level 2"),
        (22, "expected a share from 0 to 1, found 2"),
        (
            23,
            "expected `link`, `switch` or `links`, found none of them",
        ),
        (
            24,
            "expected one of `link`, `switch` and `links`, found several",
        ),
    ] {
        assert!(stderr.contains(message), "{message}: {stderr}");
        assert!(
            stderr.contains(&format!("check.toml:{line}:")),
            "{line}: {stderr}"
        );
    }
    let ended = check(
        &place,
        &failing("[failure]\nlink = \"s3:8\"", "kind = \"d-mod-k\""),
    )
    .with(3);
    assert!(
        ended.stderr.contains("[[failure]], with two brackets"),
        "{}",
        ended.stderr
    );
    let torus = "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [4, 4]\n[[failure]]\n\
                 links = { level = 1, share = 0.1 }\n[[traffic]]\nload = 0.1\n";
    let stderr = check(&place, torus).with(3).stderr;
    assert!(
        stderr.contains("expected a fat tree, found 4x4 torus"),
        "{stderr}"
    );
}

/// Drawn failures differ between seeds, runs are repeatable, and a grid without a cable has tables.
#[test]
fn failures_of_a_level_and_of_other_fabrics() {
    let place = Place::new("failures-drawn");
    let drawn = "[[failure]]\nlinks = { level = 1, share = 0.05 }";
    let text = failing(drawn, "kind = \"d-mod-k\"").replace("100 us", "20 us");
    place.file("drawn.toml", &format!("{text}repeat = 3\n"));
    let digests = |more: &[&str]| {
        let line = [
            &["run", "drawn.toml", "--format", "json", "--overwrite"],
            more,
        ]
        .concat();
        let json = place.run(&line).done().json();
        let repeats = json["repeats"].as_array().unwrap().clone();
        let runs = std::iter::once(&json).chain(&repeats);
        runs.map(|run| run["digest"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let one = digests(&[]);
    assert_eq!(one.len(), 3);
    assert_eq!(one, digests(&["--partitions", "3", "--threads", "2"]));
    let export = |seed: &str| {
        let line = ["show", "graph", "drawn.toml", "--seed", seed];
        place.run(&line).with(0).stdout
    };
    assert_ne!(export("1"), export("2"));
    let cables = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("link "))
            .count()
    };
    assert_eq!([cables(&export("1")), cables(&export("2"))], [61, 61]);
    let torus = |routing: &str| {
        format!(
            "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [4, 4]\nhosts = 1\n[[failure]]\n\
             link = \"s5:1\"\n\
             [routing]\nkind = \"{routing}\"\n[[traffic]]\nload = 0.1\n[measure]\n\
             length = \"20 us\"\n"
        )
    };
    let stderr = check(&place, &torus("dimension-order")).with(3).stderr;
    assert!(stderr.contains("use one of: up-down, shortest"), "{stderr}");
    let stdout = check(&place, &torus("up-down")).with(0).stdout;
    assert!(
        stdout.contains("1 of 16 cables of class x missing"),
        "{stdout}"
    );
    place.file("torus.toml", &torus("up-down"));
    place
        .run(&["run", "torus.toml", "--progress", "none"])
        .done();
}
