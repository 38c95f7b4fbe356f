//! One plan for a fabric of mixed devices, programmed by a real OpenSM.

use super::place::Place;
use super::{configure, import, readback, without_tools};

/// Five classes, for ports of which some have four lanes. The site defines the size of their
/// tables.
const NEEDS: &str = r#"
netloom = 1
extends = "site/site.toml"

[plan]
[[plan.class]]
name = "compute"
share = 0.41
[[plan.class]]
name = "storage"
share = 0.29
[[plan.class]]
name = "bulk"
share = 0.17
[[plan.class]]
name = "backup"
share = 0.08
[[plan.class]]
name = "control"
share = 0.05
deadline = "50 us"
"#;

/// Hosts with four lanes and eight entries, one of them with six; switches with more, one with the
/// full 64.
const MIXED: &[&str] = &[
    "--device",
    "hosts:lanes=4,entries=8",
    "--device",
    "n5:low=6",
    "--device",
    "switches:lanes=8,low=16,high=12",
    "--device",
    "s2:entries=64",
];

fn site(name: &str) -> Place {
    let place = Place::new(name);
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 2\n";
    place
        .file("fabric.toml", tree)
        .file("before.conf", "qos FALSE\n")
        .file("plan.toml", NEEDS);
    place
        .run(&["site", "export", "ibsim", "fabric.toml", "-o", "fabric.net"])
        .with(0);
    configure(
        &place,
        "fabric.net",
        "before.conf",
        "before",
        MIXED,
        &["-R", "updn"],
    );
    import(&place);
    place
}

#[test]
fn one_plan_fits_every_device_and_is_what_opensm_programs() {
    if without_tools() {
        return;
    }
    let place = site("infiniband-mixed");
    let stdout = place.run(&["plan", "plan.toml"]).with(5).stdout;
    for expected in [
        "ib-two-table at 200 Gbps, for switches (",
        "16 low and 12 high entries, 4 lanes)",
        "6 low and 8 high entries, 4 lanes)",
        "share VL",
        "have the fewest lanes, 4",
        "into a table of exactly 64",
    ] {
        assert!(stdout.contains(expected), "{expected}\n{stdout}");
    }
    let json = place
        .run(&["plan", "plan.toml", "--format", "json"])
        .with(5)
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let error = |ports: &str| {
        let mut devices = json["devices"].as_array().unwrap().iter();
        let own = devices.find(|own| own["ports"] == ports).unwrap();
        let of = |class: &serde_json::Value| {
            let (wanted, given) = (&class["share_wanted"], &class["share_given"]);
            (given.as_f64().unwrap() / wanted.as_f64().unwrap() - 1.0).abs()
        };
        let classes = own["classes"].as_array().unwrap();
        assert_eq!(classes.len(), 5);
        classes.iter().map(of).fold(0.0, f64::max)
    };
    let (at_hosts, at_switches) = (error("hosts"), error("switches"));
    assert!(at_switches <= 0.0101, "{at_switches}");
    assert!(
        at_hosts > at_switches,
        "six entries are coarser than sixteen: {at_hosts}"
    );
    // A shortfall is reported with its ports.
    let unmet = json["unmet"].as_array().unwrap();
    let is_at_hosts = |words: &serde_json::Value| words.as_str().unwrap().starts_with("at hosts (");
    assert!(
        !unmet.is_empty() && unmet.iter().all(is_at_hosts),
        "{unmet:?}"
    );

    place
        .run(&["site", "export", "opensm", "plan.toml", "-o", "opensm.conf"])
        .with(0);
    let conf = place.read("opensm.conf");
    let list = |key: &str| {
        let line = conf.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap_or_else(|| panic!("{key}\n{conf}"))
            .trim()
            .to_owned()
    };
    assert!(conf.contains("max_op_vls 3\n"), "{conf}");
    assert!(list("qos_ca_vlarb_low").split(',').count() <= 6);
    assert_ne!(list("qos_ca_vlarb_low"), list("qos_swe_vlarb_low"));
    assert_eq!(list("qos_ca_sl2vl"), list("qos_swe_sl2vl"));
    let found = place.run(&[
        "site",
        "lint",
        "opensm",
        "opensm.conf",
        "--fabric",
        "before/ibnetdiscover.txt",
        "--fabric",
        "before/portinfo.txt",
    ]);
    let found = found.with(0).stdout;
    assert!(found.contains("nothing found"), "{found}");

    configure(&place, "fabric.net", "opensm.conf", "after", MIXED, &[]);
    let mut verify = vec![
        "site".to_owned(),
        "verify".to_owned(),
        "plan.toml".to_owned(),
    ];
    verify.extend(readback("after"));
    let verify: Vec<&str> = verify.iter().map(String::as_str).collect();
    let same = place.run(&verify).with(0).stdout;
    assert!(same.contains("64 of 64 ports are as planned"), "{same}");
    // A run has both tables.
    place.file(
        "run.toml",
        &NEEDS.replace("[plan]\n", "[measure]\nlength = \"20 us\"\n[plan]\n"),
    );
    let checked = place.run(&["check", "run.toml"]).with(0).stdout;
    assert!(checked.contains("200 Gbps, the slowest cable"), "{checked}");
    place.run(&["run", "run.toml", "-o", "out"]);
    let resolved = place.read("out/resolved.toml");
    assert!(
        resolved.contains("[qos.nic-arbiter]") || resolved.contains("nic-arbiter = {"),
        "{resolved}"
    );
}

/// Requirements for ports that a file describes, without a site.
fn needs(devices: &str) -> String {
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n";
    NEEDS
        .replace("netloom = 1\nextends = \"site/site.toml\"\n", tree)
        .replace("[plan]\n", &format!("[plan]\n{devices}"))
}

#[test]
fn what_a_device_cannot_keep_is_reported_with_the_device() {
    let place = Place::new("infiniband-late");
    let late = needs("[[plan.device]]\nports = \"switches\"\nprofile = \"quantum-2\"\n")
        .replace("50 us", "2 us");
    place.file("late.toml", &late);
    let stderr = place.run(&["plan", "late.toml"]).with(3).stderr;
    assert!(
        stderr.contains("at switches (quantum-2: 32 entries, low table only"),
        "{stderr}"
    );
    assert!(stderr.contains("control may wait"), "{stderr}");
    let stderr = place.run(&["check", "late.toml"]).with(3).stderr;
    assert!(
        stderr.contains("E0903") && stderr.contains("at switches (quantum-2"),
        "{stderr}"
    );
    // With the high table, it meets its deadline.
    place.file("early.toml", &late.replace("quantum-2", "any"));
    let early = place.run(&["plan", "early.toml"]).with(0).stdout;
    assert!(early.contains(" high "), "{early}");
}

#[test]
fn devices_are_known_by_name_or_by_numbers() {
    let place = Place::new("infiniband-named");
    let devices = "[[plan.device]]\nports = \"hosts\"\nprofile = \"ndr-hots\"\n\
                   [[plan.device]]\nports = \"switches\"\nlow-entries = 65\nvls = 3\n";
    place.file("wrong.toml", &needs(devices));
    let stderr = place.run(&["plan", "wrong.toml"]).with(3).stderr;
    for expected in [
        "did you mean \"ndr-host\"?",
        "a table cannot have 65 entries",
        "a port cannot have 3 data lanes",
    ] {
        assert!(stderr.contains(expected), "{expected}\n{stderr}");
    }
    let devices = "[[plan.device]]\nports = \"hosts\"\nprofile = \"ndr-host\"\nlow-entries = 6\n\
                   [[plan.device]]\nports = \"switch-port-0\"\nlow-entries = 5\nhigh-entries = 0\n";
    place.file("right.toml", &needs(devices));
    place
        .run(&[
            "site",
            "export",
            "opensm",
            "right.toml",
            "-o",
            "opensm.conf",
        ])
        .with(0);
    let conf = place.read("opensm.conf");
    let n_entries = |key: &str| {
        let line = conf.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap_or_else(|| panic!("{key}\n{conf}"))
            .split(',')
            .count()
    };
    assert!(n_entries("qos_ca_vlarb_low ") <= 6, "{conf}");
    assert!(n_entries("qos_sw0_vlarb_low ") <= 5, "{conf}");
    assert!(n_entries("qos_swe_vlarb_low ") > 6, "{conf}");
    assert!(conf.contains("qos_sw0_vlarb_high \"\""), "{conf}");
}
