//! The other exported files for OpenSM: policy, roots and torus. A real OpenSM reads each.

use super::place::{Ended, Place};
use super::{configure, without_tools};

/// Sixteen hosts under four leaves and four spines, with a plan.
const TREE: &str = r#"
netloom = 1
[topology]
kind = "fat-tree"
arity = 4
levels = 2

[[plan.class]]
name = "compute"
share = 0.7
[[plan.class]]
name = "storage"
sl = 5
share = 0.3
"#;

fn fabric(name: &str, text: &str) -> Place {
    let place = Place::new(name);
    place.file("fabric.toml", text);
    place
        .run(&["site", "export", "ibsim", "fabric.toml", "-o", "fabric.net"])
        .with(0);
    place
}

/// Queries a running OpenSM with saquery for the path between two hosts by name.
const ASK: &str = r#"
rm -f osm.log nd.txt path.txt
opensm -F both.conf -f osm.log -D 0x43 -d 2 >osm.out 2>&1 & sm=$!
for n in $(seq 200); do grep -q 'SUBNET UP' osm.log 2>/dev/null && break; sleep 0.05; done
ibnetdiscover > nd.txt
lid() {
    awk -v name="\"$1\"" '/^Ca/ { own = ($NF == name) } own && /# lid/ { sub(/.*# lid /, ""); print $1; exit }' nd.txt
}
timeout 20 saquery PR --src-to-dst "$(lid "$1"):$(lid "$2")" > path.txt
kill $sm
wait $sm
true
"#;

/// The service level that OpenSM gives the path between two hosts.
fn asked(place: &Place, from: &str, to: &str) -> String {
    place.file("ask.sh", ASK);
    let mut command = place.command(&[
        "site",
        "emulate",
        "fabric.net",
        "--patience",
        "60",
        "--",
        "sh",
        "ask.sh",
        from,
        to,
    ]);
    command
        .env("OSM_TMP_DIR", &place.0)
        .env("OSM_CACHE_DIR", &place.0);
    Ended::new(command.output().unwrap()).with(0);
    let answer = place.read("path.txt");
    let mut lines = answer.lines();
    let line = lines.find_map(|line| line.trim().strip_prefix("sl."));
    line.unwrap_or_else(|| panic!("{answer}"))
        .trim_matches('.')
        .to_owned()
}

#[test]
fn an_exported_policy_gives_hosts_the_level_of_their_class() {
    if without_tools() {
        return;
    }
    let place = fabric("export-policy", TREE);
    let policy = ["site", "export", "policy", "fabric.toml", "--group"];
    place
        .run(
            &[
                &policy[..],
                &["storage=n[1-1]*,n[10-12,13]", "-o", "qos-policy.conf"],
            ]
            .concat(),
        )
        .with(0);
    place
        .run(&[
            "site",
            "export",
            "opensm",
            "fabric.toml",
            "-o",
            "opensm.conf",
        ])
        .with(0);
    let both = format!(
        "{}qos_policy_file {}\n",
        place.read("opensm.conf"),
        place.0.join("qos-policy.conf").display()
    );
    place.file("both.conf", &both);
    let lint = place.run(&[
        "site",
        "lint",
        "opensm",
        "both.conf",
        "--policy",
        "qos-policy.conf",
        "--fabric",
        "fabric.net",
    ]);
    lint.with(0);
    // n1 and n10 to n15 are storage; n0 and n2 are not.
    assert_eq!(asked(&place, "n0", "n2"), "0x0");
    assert_eq!(asked(&place, "n0", "n10"), "0x5");
    let log = place.read("osm.log");
    assert!(!log.contains("ERR AC"), "{log}");

    let refused = |group: &str| place.run(&[&policy[..], &[group]].concat()).with(1).stderr;
    assert!(refused("storage=io*").contains("no host is named `io*`"));
    assert!(refused("storage=n[14-17]").contains("no host is named `n16`, `n17`;"));
    assert!(refused("storage=n[1-").contains("expected `]`"));
    assert!(refused("stroage=n1").contains("found `stroage`"));
    assert!(refused("16=n1").contains("expected a service level from 0 to 15"));
    let twice = place
        .run(&[&policy[..], &["5=n1", "--group", "0=n1,n2"]].concat())
        .with(0);
    assert!(
        twice.stderr.contains("1 port is in both `5` and `0`"),
        "{}",
        twice.stderr
    );
}

#[test]
fn exported_roots_are_the_spines_and_updn_takes_them() {
    if without_tools() {
        return;
    }
    let place = fabric("export-roots", TREE);
    place
        .run(&[
            "site",
            "export",
            "roots",
            "fabric.toml",
            "-o",
            "root_guid.conf",
        ])
        .with(0);
    let roots = place.read("root_guid.conf");
    // Switches 4 to 7 are the spines.
    let expected: String = (4..8)
        .map(|n| format!("0x{:016x}\n", 0x0002_c903_0020_0000u64 + n * 16))
        .collect();
    assert_eq!(roots, expected);
    let named = place
        .run(&[
            "site",
            "export",
            "roots",
            "fabric.toml",
            "--root",
            "s4",
            "--root",
            "s[5]",
        ])
        .with(1)
        .stderr;
    assert!(named.contains("no switch is named `s[5]`"), "{named}");
    place.file("before.conf", "qos FALSE\n");
    let more = [
        "-R",
        "updn,no_fallback",
        "-a",
        "root_guid.conf",
        "-D",
        "0x43",
        "-d",
        "2",
    ];
    configure(
        &place,
        "fabric.net",
        "before.conf",
        "after",
        &["--patience", "60"],
        &more,
    );
    let log = place.read("osm.log");
    assert!(log.contains("updn tables configured"), "{log}");
    // Without hosts at switches, no switch is a root by default.
    let ring = "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [3]\nhosts = 1\n";
    place.file("ring.toml", ring);
    let stderr = place
        .run(&["site", "export", "roots", "ring.toml"])
        .with(1)
        .stderr;
    assert!(stderr.contains("name the roots with --root"), "{stderr}");
}

#[test]
fn an_exported_torus_is_taken_by_torus_2qos() {
    if without_tools() {
        return;
    }
    let torus = "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [4, 3]\nhosts = 1\n";
    let place = fabric("export-torus", torus);
    place
        .run(&[
            "site",
            "export",
            "torus",
            "fabric.toml",
            "-o",
            "torus-2QoS.conf",
        ])
        .with(0);
    let written = place.read("torus-2QoS.conf");
    assert!(written.starts_with("torus 4t 3t 1m\nxp_link "), "{written}");
    assert!(
        written.contains("xm_link "),
        "a ring of four needs both directions: {written}"
    );
    let conf = include_str!("../../../infiniband/tests/opensm/lint/clean_torus.conf");
    place.file("torus.conf", conf);
    let more = ["--torus_config", "torus-2QoS.conf", "-D", "0x43", "-d", "2"];
    configure(
        &place,
        "fabric.net",
        "torus.conf",
        "after",
        &["--patience", "60"],
        &more,
    );
    let log = place.read("osm.log");
    assert!(log.contains("torus-2QoS tables configured"), "{log}");
    // A site has no known shape, so it is given by hand.
    super::import_from(&place, "after");
    let stderr = place
        .run(&[
            "site",
            "export",
            "torus",
            "site/site.toml",
            "-o",
            "by-hand.conf",
        ])
        .with(1)
        .stderr;
    assert!(
        stderr.contains("add --sides, --switch and --next"),
        "{stderr}"
    );
    let by_hand = [
        "site",
        "export",
        "torus",
        "site/site.toml",
        "--sides",
        "4x3",
        "--switch",
        "s0",
        "--next",
        "s1,s4",
        "--previous",
        "s3",
        "-o",
        "by-hand.conf",
    ];
    place.run(&by_hand).with(0);
    assert_eq!(place.read("by-hand.conf"), written);
    let far = by_hand.map(|word| if word == "s1,s4" { "s2,s4" } else { word });
    let stderr = place.run(&far).with(1).stderr;
    assert!(
        stderr.contains("there is no cable from s0 to s2"),
        "{stderr}"
    );
}

/// Tables of up*/down* have no entry where no packet arrives. This was once reported as a bug in
/// netloom.
#[test]
fn routes_with_places_where_no_packet_comes_are_exported() {
    let place = Place::new("export-up-down");
    let samples = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../infiniband/tests/samples/ft8"
    );
    let site = format!(
        "netloom = 1\n[topology]\nkind = \"infiniband\"\n\
         files = [\"{samples}/ibnetdiscover.txt\"]\n\
         [routing]\nkind = \"up-down\"\n"
    );
    place.file("site.toml", &site);
    place
        .run(&["site", "export", "routes", "site.toml", "-o", "our.lfts"])
        .with(0);
    let exported = place.read("our.lfts");
    assert_eq!(exported.matches("Unicast lids").count(), 4, "{exported}");
    // In the readback, every host reaches every other.
    let again = site
        .replace("ibnetdiscover.txt\"]", "ibnetdiscover.txt\", \"our.lfts\"]")
        .replace("[routing]\nkind = \"up-down\"\n", "");
    place.file("again.toml", &again);
    let checked = place.run(&["show", "routing", "again.toml"]).with(0).stdout;
    assert!(checked.contains("56 arrive, 0 do not"), "{checked}");
}
