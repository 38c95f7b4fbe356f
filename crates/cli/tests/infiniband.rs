//! The workflow of an administrator, through the binary and with a real OpenSM: read a fabric, plan
//! it, configure OpenSM, and verify the result.

#![cfg(target_os = "linux")]

#[path = "infiniband/devices.rs"]
mod devices;
#[path = "infiniband/director.rs"]
mod director;
#[path = "infiniband/ethernet.rs"]
mod ethernet;
#[path = "infiniband/opensm_files.rs"]
mod opensm_files;
mod place;

use place::Place;

/// Returns whether the real programs exist. Without them these tests fail, unless skipping is
/// allowed.
fn without_tools() -> bool {
    let is_there = |name: &str| netloom_infiniband::emulate::program(name).is_some();
    let has_all = is_there("opensm")
        && is_there("smpquery")
        && netloom_infiniband::emulate::library().is_some();
    let is_asked = std::env::var_os("NETLOOM_WITHOUT_INFINIBAND_TOOLS").is_some();
    assert!(
        has_all || is_asked,
        "install the packages opensm, libumad2sim0 and infiniband-diags, or set \
         NETLOOM_WITHOUT_INFINIBAND_TOOLS"
    );
    !has_all
}

/// The requirements of four classes for ports with 8 entries and 8 lanes, on a site.
const NEEDS: &str = r#"
netloom = 1
extends = "site/site.toml"

[plan]
entries = 8

[[plan.class]]
name = "compute"
share = 0.5
[[plan.class]]
name = "storage"
share = 0.3
[[plan.class]]
name = "bulk"
share = 0.15
[[plan.class]]
name = "control"
share = 0.05
deadline = "50 us"
"#;

/// Lets OpenSM configure the subnet of a file, and stores what it programmed in a folder.
fn configure(place: &Place, fabric: &str, conf: &str, into: &str, profile: &[&str], more: &[&str]) {
    let mut arguments = vec!["site", "emulate", fabric, "-o", into];
    arguments.extend(profile);
    let script = format!("opensm -o -F {conf} -f osm.log {}", more.join(" "));
    arguments.extend(["--", "sh", "-c", &script]);
    let mut command = place.command(&arguments);
    command
        .env("OSM_TMP_DIR", &place.0)
        .env("OSM_CACHE_DIR", &place.0);
    place::Ended::new(command.output().unwrap()).with(0);
}

/// Returns all files of a folder that a readback uses.
fn readback(folder: &str) -> Vec<String> {
    [
        "ibnetdiscover.txt",
        "opensm-lfts.dump",
        "sl2vl.txt",
        "vlarb.txt",
        "portinfo.txt",
    ]
    .map(|name| format!("{folder}/{name}"))
    .to_vec()
}

/// Creates the experiment `site/site.toml` from the fabric before a plan.
fn import(place: &Place) {
    import_from(place, "before");
}

fn import_from(place: &Place, folder: &str) {
    let mut import = vec!["site".to_owned(), "import".to_owned()];
    import.extend(readback(folder));
    import.extend(["-o".to_owned(), "site".to_owned()]);
    let import: Vec<&str> = import.iter().map(String::as_str).collect();
    place.run(&import).with(0);
    let site = std::fs::read_to_string(place.0.join("site/site.toml")).unwrap();
    assert!(site.contains("device = \"hdr\"\n"), "{site}");
}

/// Reads a fabric, plans, exports, lets OpenSM program it, and compares; then changes a weight.
fn loop_of(place: &Place, experiment: &str, profile: &[&str], more: &[&str]) {
    place
        .file("fabric.toml", experiment)
        .file("before.conf", "qos FALSE\n")
        .file("plan.toml", NEEDS);
    place
        .run(&["site", "export", "ibsim", "fabric.toml", "-o", "fabric.net"])
        .with(0);
    configure(
        place,
        "fabric.net",
        "before.conf",
        "before",
        profile,
        &["-R", "updn"],
    );
    import(place);
    let routes = place
        .run(&["show", "routing", "site/site.toml"])
        .with(0)
        .stdout;
    assert!(
        routes.contains("no credit loops") && routes.contains(" 0 do not"),
        "{routes}"
    );
    place
        .run(&["site", "export", "opensm", "plan.toml", "-o", "opensm.conf"])
        .with(0);
    let found = place
        .run(&[
            "site",
            "lint",
            "opensm",
            "opensm.conf",
            "--fabric",
            "before/ibnetdiscover.txt",
        ])
        .with(0);
    assert!(found.stdout.contains("nothing found"), "{}", found.stdout);
    configure(place, "fabric.net", "opensm.conf", "after", profile, more);
    let verify = |plan: &[&str]| {
        let mut arguments = vec![
            "site".to_owned(),
            "verify".to_owned(),
            "plan.toml".to_owned(),
        ];
        arguments.extend(readback("after"));
        arguments.extend(plan.iter().map(|text| (*text).to_owned()));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        place.run(&arguments)
    };
    let same = verify(&[]).with(0).stdout;
    assert!(!same.contains(": planned "), "{same}");
    assert!(same.contains("as planned"), "{same}");
    levels_are_as_planned(place);
    // One weight of one port, as after a manual change.
    let tables = place.read("after/vlarb.txt");
    let changed = tables.replacen("|0xC3|", "|0xB0|", 1);
    assert_ne!(tables, changed);
    place.file("after/vlarb.txt", &changed);
    let other = verify(&[]).with(6).stdout;
    assert!(other.contains("low table: planned"), "{other}");
}

/// Every row that OpenSM programmed has the planned levels on their lanes, and all others on that
/// of compute, which is the largest class without a deadline.
fn levels_are_as_planned(place: &Place) {
    let text = place.read("after/sl2vl.txt");
    let rows: Vec<Vec<u8>> = text
        .lines()
        .filter_map(|line| line.strip_prefix("ports: in"))
        .map(|row| {
            let (_, lanes) = row.split_once(": ").unwrap();
            let cells = lanes.split('|').filter_map(|cell| cell.trim().parse().ok());
            cells.collect()
        })
        .collect();
    assert!(rows.len() > 30, "{text}");
    let planned = [&[0, 1, 2, 3][..], &[0; 12]].concat();
    assert!(rows.iter().all(|row| *row == planned), "{text}");
}

#[test]
fn a_level_without_a_class_has_one_lane_in_plan_export_and_run() {
    let place = Place::new("infiniband-unplanned");
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n";
    // The largest class has a deadline, and the second stands last.
    let classes = "[[plan.class]]\nname = \"urgent\"\nshare = 0.6\ndeadline = \"50 us\"\n\
                   [[plan.class]]\nname = \"small\"\nshare = 0.1\n\
                   [[plan.class]]\nname = \"large\"\nsl = 4\nshare = 0.3\n\
                   [[traffic]]\nsl = 7\nload = 0.1\n[[traffic]]\nsl = 4\nload = 0.1\n";
    let switch = "[switch]\nspeedup = 2\n";
    place.file("plan.toml", &format!("{tree}{switch}{classes}"));
    let row = [0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];
    let list = |between: &str| row.map(|vl: u8| vl.to_string()).join(between);
    let planned = place
        .run(&["plan", "plan.toml", "--format", "toml"])
        .with(0)
        .stdout;
    assert!(
        planned.contains(&format!("sl2vl = [{}]", list(", "))),
        "{planned}"
    );
    let conf = place
        .run(&["site", "export", "opensm", "plan.toml"])
        .with(0)
        .stdout;
    for set in ["qos", "qos_ca", "qos_swe"] {
        let line = format!("{set}_sl2vl {}\n", list(","));
        assert!(conf.contains(&line), "{line}{conf}");
    }
    let stderr = place.run(&["check", "plan.toml"]).with(0).stderr;
    assert!(
        stderr.contains("W0416")
            && stderr.contains("SL7 has traffic but no class in the plan; it uses VL2"),
        "{stderr}"
    );
    assert!(!stderr.contains("SL4 has traffic"), "{stderr}");
    let policy = [
        "site",
        "export",
        "policy",
        "plan.toml",
        "--group",
        "small=n0",
    ];
    let policy = place.run(&policy).with(0).stdout;
    assert!(
        policy.contains("sl: 4\n") && !policy.contains("sl: 0\n"),
        "{policy}"
    );
}

#[test]
fn eight_hosts_from_the_fabric_to_a_checked_plan() {
    if without_tools() {
        return;
    }
    let place = Place::new("infiniband-8");
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 3\n[[traffic]]\n\
        load = 0.1\n";
    loop_of(&place, tree, &["--lanes", "8", "--entries", "8"], &[]);
}

#[test]
fn sixty_four_hosts_from_the_fabric_to_a_checked_plan() {
    if without_tools() {
        return;
    }
    let place = Place::new("infiniband-64");
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 3\n[[traffic]]\n\
        load = 0.1\n";
    loop_of(&place, tree, &[], &[]);
    // The programmed tables are simulated unchanged.
    let more = "netloom = 1\nextends = \"site/site.toml\"\n[measure]\nlength = \"20 us\"\n";
    place.file("as-it-is.toml", more);
    let seen = place.run(&["check", "as-it-is.toml"]).with(0).stdout;
    assert!(seen.contains("as the site has them"), "{seen}");
}

#[test]
fn five_hundred_and_seventy_six_hosts_and_fifty_ports_read_by_smpquery() {
    if without_tools() {
        return;
    }
    let place = Place::new("infiniband-576");
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 24\nlevels = 2\n\
        [[traffic]]\nload = 0.1\n";
    // 25 ports of the first two switches of the listing, if present. Addresses do not change.
    let asked = "; for lid in $(grep ^Switch before/ibnetdiscover.txt | head -2 | sed 's/.* \
        lid \\([0-9]*\\) .*/\\1/'); do \
                 for port in $(seq 1 25); do smpquery vlarb $lid $port; done; done > asked.txt \
                 2>/dev/null";
    loop_of(&place, tree, &[], &[asked]);
    let asked = place.read("asked.txt");
    let written = place.read("after/vlarb.txt");
    let headings = asked
        .lines()
        .filter(|line| line.starts_with("# VLArbitration"))
        .count();
    assert_eq!(headings, 50, "ports answered");
    let mut compared = 0;
    for answer in asked.split("# VLArbitration tables: ").skip(1) {
        let (heading, tables) = answer.split_once('\n').unwrap();
        // The first table was changed by hand above.
        let own = written.split("# VLArbitration tables: ").skip(2);
        let own = own.into_iter().find(|own| own.starts_with(heading));
        if let Some(own) = own {
            let (_, own) = own.split_once('\n').unwrap();
            let own = own.split("\n$ ").next().unwrap();
            assert_eq!(tables.trim(), own.trim(), "{heading}");
            compared += 1;
        }
    }
    assert!(compared >= 49, "{compared} ports compared");
}

#[test]
fn what_is_exported_is_what_was_planned() {
    let place = Place::new("infiniband-export");
    let tree = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n";
    let needs = NEEDS.replace("netloom = 1\nextends = \"site/site.toml\"\n", tree);
    place.file("plan.toml", &needs);
    let planned = place
        .run(&["plan", "plan.toml", "--format", "toml"])
        .with(0)
        .stdout;
    // `low = [[0, 192], [1, 64]], limit = 255` as opensm.conf has it: `0:192,1:64`.
    let (_, low) = planned.split_once("low = [[").unwrap();
    let (low, rest) = low.split_once("]], limit = ").unwrap();
    let low = low
        .replace("], [", ";")
        .replace(", ", ":")
        .replace(';', ",");
    let limit = rest.split(' ').next().unwrap();
    let conf = place
        .run(&["site", "export", "opensm", "plan.toml"])
        .with(0)
        .stdout;
    for set in ["qos", "qos_ca", "qos_swe"] {
        for line in [
            format!("{set}_vlarb_low {low}"),
            format!("{set}_vlarb_high \"\""),
            format!("{set}_high_limit {limit}"),
            format!("{set}_sl2vl 0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0"),
        ] {
            assert!(conf.lines().any(|own| own == line), "{line}\n{conf}");
        }
    }
    assert!(conf.contains("max_op_vls 3"), "four lanes: {conf}");
}

/// A fabric of ibsim that ends with the test.
struct Ibsim {
    name: String,
    server: std::process::Child,
}

impl Ibsim {
    /// Starts it for a net file, and waits until it answers.
    fn start(place: &Place, net: &str, name: &str) -> Ibsim {
        let name = format!("netloom-{name}-{}", std::process::id());
        let program = netloom_infiniband::emulate::program("ibsim").expect("package ibsim-utils");
        let server = std::process::Command::new(program)
            .args(["-s", "-n", net])
            .current_dir(&place.0)
            .env("IBSIM_SOCKNAME", &name)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let socket = format!("@{name}:ctl");
        // From here on it ends with the test, whether it answers or not.
        let fabric = Ibsim { name, server };
        for _ in 0..2000 {
            let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
            if sockets.contains(&socket) {
                return fabric;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("ibsim does not answer");
    }

    /// Runs a shell command whose programs are attached to the fabric.
    fn run(&self, place: &Place, script: &str) {
        let status = std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(&place.0)
            .env(
                "LD_PRELOAD",
                netloom_infiniband::emulate::library().unwrap(),
            )
            .env("IBSIM_SOCKNAME", &self.name)
            .env("OSM_TMP_DIR", &place.0)
            .env("OSM_CACHE_DIR", &place.0)
            .status()
            .unwrap();
        assert!(status.success(), "{script}");
    }
}

impl Drop for Ibsim {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A plan becomes opensm.conf, a real OpenSM programs a fabric of ibsim with it, and its switches
/// are read back.
fn under_ibsim(name: &str, arity: u32, n_switches: usize) {
    if without_tools() {
        return;
    }
    let place = Place::new(name);
    let tree =
        format!("netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = {arity}\nlevels = 3\n");
    let needs = NEEDS.replace("netloom = 1\nextends = \"site/site.toml\"\n", &tree);
    place.file("plan.toml", &needs);
    place
        .run(&["site", "export", "ibsim", "plan.toml", "-o", "fabric.net"])
        .with(0);
    place
        .run(&["site", "export", "opensm", "plan.toml", "-o", "opensm.conf"])
        .with(0);
    let fabric = Ibsim::start(&place, "fabric.net", name);
    fabric.run(
        &place,
        "opensm -o -F opensm.conf -f osm.log -D 0x43 --dump_files_dir . >osm.out 2>&1",
    );
    fabric.run(&place, "ibnetdiscover > nd.txt 2>/dev/null");
    let ask = format!(
        "for lid in $(grep ^Switch nd.txt | head -{n_switches} | sed 's/.* lid \\([0-9]*\\) \
         .*/\\1/'); do \
         for port in $(seq 1 {}); do smpquery vlarb $lid $port; done; done > vlarb.txt \
         2>/dev/null; true",
        2 * arity
    );
    fabric.run(&place, &ask);
    let readback = ["nd.txt", "vlarb.txt", "opensm-sl2vl.dump"];
    let verify = |place: &Place| {
        let mut arguments = vec!["site", "verify", "plan.toml", "--limits-read-as-zero"];
        arguments.extend(readback);
        place.run(&arguments)
    };
    let same = verify(&place).with(0).stdout;
    assert!(same.contains("as planned"), "{same}");
    let tables = place.read("vlarb.txt");
    assert!(
        tables.matches("# VLArbitration tables").count() >= n_switches * arity as usize,
        "{tables}"
    );
    place.file("vlarb.txt", &tables.replacen("|0xC0|", "|0xB0|", 1));
    verify(&place).with(6);
}

#[test]
fn eight_hosts_of_ibsim_hold_what_was_planned() {
    under_ibsim("ibsim-8", 2, 12);
}

#[test]
fn sixty_four_hosts_of_ibsim_hold_what_was_planned() {
    under_ibsim("ibsim-64", 4, 6);
}

#[test]
fn a_listing_that_is_cut_off_is_reported_with_its_line() {
    let place = Place::new("infiniband-broken");
    let listing = "switchguid=0x1(1)\nSwitch\t2 \"S-0000000000000001\"\t\t# \"leaf\" base port 0 \
        lid 1 lmc 0\n[1]\t\"H-00000000000000";
    place.file("nd.txt", listing);
    let stderr = place
        .run(&["site", "import", "nd.txt", "-o", "site"])
        .with(3)
        .stderr;
    assert!(stderr.contains("nd.txt:3"), "{stderr}");
    assert!(!place.0.join("site").exists());
}

#[test]
fn a_program_that_does_not_end_is_stopped() {
    if without_tools() {
        return;
    }
    let place = Place::new("infiniband-patience");
    place.file(
        "tree.toml",
        "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 2\nlevels = 2\n",
    );
    place
        .run(&["site", "export", "ibsim", "tree.toml", "-o", "fabric.net"])
        .with(0);
    let stderr = place
        .run(&[
            "site",
            "emulate",
            "fabric.net",
            "--patience",
            "1",
            "--",
            "sleep",
            "60",
        ])
        .with(1)
        .stderr;
    assert!(stderr.contains("did not exit within 1 s"), "{stderr}");
}

#[test]
fn a_file_that_is_no_opensm_conf_is_not_called_clean() {
    let place = Place::new("infiniband-other");
    place.file(
        "fat-tree.toml",
        "netloom = 1\n[topology]\nkind = \"fat-tree\"\n",
    );
    let stdout = place
        .run(&["site", "lint", "opensm", "fat-tree.toml"])
        .with(6)
        .stdout;
    assert!(
        stdout.contains("expected settings of quality of service, found none"),
        "{stdout}"
    );
}

#[test]
fn tables_that_exist_are_judged() {
    let place = Place::new("infiniband-judge");
    let conf = "qos TRUE\nqos_high_limit 255\nqos_vlarb_high 1:4\nqos_vlarb_low 0:1,1:4\n\
                qos_sl2vl 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,15\nmax_op_vls 2\n";
    place.file("opensm.conf", conf);
    let seen = place
        .run(&["plan", "opensm.conf", "--judge"])
        .with(0)
        .stdout;
    let line = |vl: &str| {
        seen.lines()
            .find(|line| line.trim_start().starts_with(vl))
            .unwrap()
            .to_owned()
    };
    assert!(
        line("VL0").contains("0.000 %") && line("VL0").contains("unbounded"),
        "{seen}"
    );
    assert!(line("VL1").contains("100.000 %"), "{seen}");
    assert!(seen.contains("dropped: service levels 15"), "{seen}");
}

#[test]
fn what_nccl_documents_is_answered() {
    let place = Place::new("infiniband-nccl");
    let recipe = "qos TRUE\nqos_max_vls 2\nqos_high_limit 255\nqos_vlarb_high 1:4\n\
        qos_vlarb_low 0:1,1:4\nqos_sl2vl 0,1\nmax_op_vls 2\n";
    place.file("opensm.conf", recipe);
    let found = place
        .run(&["site", "lint", "opensm", "opensm.conf"])
        .with(6)
        .stdout;
    assert!(found.contains("qos_high_limit"), "{found}");
    let machine = place
        .run(&["site", "lint", "opensm", "opensm.conf", "--format", "json"])
        .with(6)
        .stdout;
    let machine: serde_json::Value = serde_json::from_str(&machine).unwrap();
    let lines: Vec<u64> = machine["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["places"][0]["line"].as_u64().unwrap())
        .collect();
    assert!(lines.contains(&3), "{machine}");
}
