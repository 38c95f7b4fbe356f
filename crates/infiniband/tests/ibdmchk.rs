//! Compares route checks with `ibdmchk`, the checker of ibutils, on the same files.
//!
//! Without the program these tests fail, unless `NETLOOM_WITHOUT_INFINIBAND_TOOLS` is set.

mod sample_files;

use std::path::{Path, PathBuf};
use std::process::Command;

use netloom_infiniband::routes::{RouteCheck, check_routes};
use netloom_infiniband::{Programmed, SlToVl, Subnet, writing};
use netloom_units::Vl;
use sample_files::{path, programmed, subnet, text};

/// The variable that allows missing tools.
fn is_without_tools() -> bool {
    std::env::var_os("NETLOOM_WITHOUT_INFINIBAND_TOOLS").is_some()
}

/// The result of `ibdmchk` for a fabric.
#[derive(PartialEq, Debug)]
struct Verdict {
    /// Number of routes, and of those that do not arrive.
    routes: u64,
    missing: u64,
    /// Not checked if a route is missing.
    has_loop: Option<bool>,
    /// Pairs of hosts by cables on the route.
    hops: Vec<(u64, u64)>,
    /// Links between switches by addresses on them.
    addresses: Vec<(u64, u64)>,
}

/// The input files of `ibdmchk`.
struct Files {
    list: PathBuf,
    fdbs: PathBuf,
    levels: Option<PathBuf>,
    lanes: Option<PathBuf>,
}

/// Creates an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("netloom-ibdmchk-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

fn ibdmchk(folder: &Path, files: &Files) -> Verdict {
    let nothing = folder.join("no-multicast");
    std::fs::write(&nothing, "").unwrap();
    let mut command = Command::new("ibdmchk");
    command.current_dir(folder);
    command
        .arg("-s")
        .arg(&files.list)
        .arg("-f")
        .arg(&files.fdbs);
    command.arg("-m").arg(&nothing);
    if let Some(levels) = &files.levels {
        command.arg("-c").arg(levels);
    }
    if let Some(lanes) = &files.lanes {
        command.arg("-d").arg(lanes);
    }
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "ibdmchk cannot be started ({error}): install the package ibutils, or set \
             NETLOOM_WITHOUT_INFINIBAND_TOOLS=1 to go without"
        )
    });
    // It crashes at the end, so the test uses its output and not its exit status.
    verdict(&String::from_utf8_lossy(&output.stdout))
}

fn verdict(printed: &str) -> Verdict {
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let number_after = |mark: &str| {
        let rest = &printed[printed.find(mark)? + mark.len()..];
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        Some(number(&rest[..end]))
    };
    let histogram = |title: &str, heading: &str| {
        let rest = printed.split(title).nth(1).expect("a histogram");
        let rest = rest.split(heading).nth(1).expect("its heading");
        let rows = rest
            .lines()
            .skip(1)
            .take_while(|line| !line.starts_with('-'));
        let rows = rows.map(|line| {
            let mut words = line.split_whitespace().map(number);
            (words.next().unwrap(), words.next().unwrap())
        });
        rows.collect::<Vec<_>>()
    };
    let has_loop = match (
        printed.contains("no credit loops found"),
        printed.contains("credit loops in routing"),
    ) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        (false, false) => None,
        (true, true) => panic!("both verdicts:\n{printed}"),
    };
    Verdict {
        routes: number_after("Scanned:")
            .or_else(|| number_after("paths out of:"))
            .expect("a number of paths"),
        missing: number_after("-E- Found ").unwrap_or(0),
        has_loop,
        hops: histogram("LFT ROUTE HOP HISTOGRAM", "HOPS NUM-CA-CA-PAIRS"),
        addresses: histogram("NUM DLIDS HISTOGRAM", "NUM-DLIDS NUM-SWITCH-PORTS"),
    }
}

/// Converts a route check to a result of `ibdmchk`, which counts cables: one more than switches.
fn ours(check: &RouteCheck) -> Verdict {
    let hops = check
        .hops
        .iter()
        .enumerate()
        .filter(|(_, routes)| **routes > 0);
    let mut addresses = std::collections::BTreeMap::new();
    for link in &check.links {
        *addresses.entry(u64::from(link.addresses)).or_default() += 1;
    }
    Verdict {
        routes: check.routes,
        missing: check.failures.routes,
        has_loop: (check.failures.routes == 0).then_some(check.loops.n_knots > 0),
        hops: hops
            .map(|(hops, routes)| (hops as u64 + 1, *routes))
            .collect(),
        addresses: addresses.into_iter().collect(),
    }
}

const ENGINES: [&str; 4] = ["dfsssp", "lash", "nue", "torus-2QoS"];

/// Returns the lanes that an engine uses.
fn lanes_of(engine: &str) -> &'static str {
    match engine {
        "torus-2QoS" => "t55h1/torus-2QoS.slvl",
        _ => "t55h1/equal.slvl",
    }
}

/// Returns both verdicts, which must agree.
fn both(
    folder: &Path,
    list: &str,
    tables: &str,
    levels: Option<&str>,
    lanes: Option<&str>,
) -> Verdict {
    let subnet = subnet(list);
    let names: Vec<&str> = [Some(tables), levels, lanes]
        .into_iter()
        .flatten()
        .collect();
    let programmed = programmed(&subnet, &names);
    let check = ours(&check_routes(&subnet, &programmed));
    let files = Files {
        list: path(list),
        fdbs: path(tables),
        levels: levels.map(path),
        lanes: lanes.map(path),
    };
    assert_eq!(check, ibdmchk(folder, &files), "{names:?}");
    check
}

#[test]
fn every_fabric_has_the_same_verdict() {
    if is_without_tools() {
        return;
    }
    let folder = folder("fabrics");
    for (list, tables, has_loop) in [
        ("ft8/opensm-subnet.lst", "ft8/opensm.fdbs", false),
        ("k64/opensm-subnet.lst", "k64/opensm.fdbs", false),
        ("ring8/opensm-subnet.lst", "ring8/opensm.fdbs", true),
        ("t55/opensm-subnet.lst", "t55/dor.fdbs", true),
        ("t55/opensm-subnet.lst", "t55/minhop.fdbs", true),
        ("t444/opensm-subnet.lst", "t444/opensm.fdbs", true),
    ] {
        let verdict = both(&folder, list, tables, None, None);
        assert_eq!(verdict.has_loop, Some(has_loop), "{tables}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn lanes_free_a_torus_of_loops() {
    if is_without_tools() {
        return;
    }
    let folder = folder("lanes");
    for engine in ENGINES {
        let list = "t55h1/opensm-subnet.lst";
        let tables = format!("t55h1/{engine}.fdbs");
        let levels = format!("t55h1/{engine}.psl");
        let lanes = lanes_of(engine);
        let with = both(&folder, list, &tables, Some(&levels), Some(lanes));
        assert_eq!(with.has_loop, Some(false), "{engine}");
        let without = both(&folder, list, &tables, None, None);
        assert_eq!(without.has_loop, Some(true), "{engine}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A torus whose lanes prevent loops.
fn torus(engine: &str) -> (Subnet, Programmed) {
    let subnet = subnet("t55h1/opensm-subnet.lst");
    let names = [
        &format!("t55h1/{engine}.fdbs"),
        &format!("t55h1/{engine}.psl"),
        lanes_of(engine),
    ];
    let programmed = programmed(&subnet, &names);
    (subnet, programmed)
}

#[test]
fn a_changed_row_of_lanes_that_closes_a_loop_is_found() {
    if is_without_tools() {
        return;
    }
    let folder = folder("row");
    for engine in ENGINES {
        for lane in [0, 1] {
            let (subnet, mut lanes) = torus(engine);
            let rows: Vec<_> = lanes.sl_to_vl.keys().copied().collect();
            let says = |programmed: &Programmed| {
                let file = folder.join("changed.slvl");
                std::fs::write(&file, writing::slvl(programmed)).unwrap();
                let files = Files {
                    list: path("t55h1/opensm-subnet.lst"),
                    fdbs: path(&format!("t55h1/{engine}.fdbs")),
                    levels: Some(path(&format!("t55h1/{engine}.psl"))),
                    lanes: Some(file),
                };
                ibdmchk(&folder, &files).has_loop
            };
            // Rows are changed one by one to send all service levels to one lane, until a loop is
            // closed.
            let mut before = lanes.clone();
            let closing = rows.iter().position(|row| {
                before.clone_from(&lanes);
                lanes.sl_to_vl.insert(*row, SlToVl([Vl(lane); 16]));
                check_routes(&subnet, &lanes).loops.n_knots > 0
            });
            let closing = closing.expect("all on one lane is a loop");
            assert!(closing > 0, "{engine}: free of loops at first");
            assert_eq!(says(&before), Some(false), "{engine}: before row {closing}");
            assert_eq!(says(&lanes), Some(true), "{engine}: with row {closing}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn changed_outputs_lose_the_same_routes() {
    if is_without_tools() {
        return;
    }
    let folder = folder("outputs");
    let list = "ft8/opensm-subnet.lst";
    let subnet = subnet(list);
    let fdbs = text("ft8/opensm.fdbs");
    let rows: Vec<(usize, &str)> = fdbs
        .match_indices("0x00")
        .map(|(at, _)| (at, fdbs[at..].lines().next().unwrap()))
        .collect();
    let mut verdicts = [0; 3];
    for (at, row) in rows {
        for output in [None, Some(1u8), Some(5), Some(8)] {
            let lid = &row[..6];
            let new = match output {
                Some(output) => format!("{lid} : {output:03}  : 01   : yes"),
                None => format!("{lid} : UNREACHABLE"),
            };
            let changed = format!("{}{new}{}", &fdbs[..at], &fdbs[at + row.len()..]);
            let file = folder.join("changed.fdbs");
            std::fs::write(&file, &changed).unwrap();
            let mut programmed = Programmed::default();
            let mut notes = netloom_catalog::Notes::new();
            netloom_infiniband::reading::read_fdbs(
                &changed,
                0,
                &subnet,
                &mut programmed,
                &mut notes,
            );
            assert!(!notes.has_errors(), "{notes:?}");
            let check = ours(&check_routes(&subnet, &programmed));
            let files = Files {
                list: path(list),
                fdbs: file,
                levels: None,
                lanes: None,
            };
            let theirs = ibdmchk(&folder, &files);
            let of = |verdict: &Verdict| {
                (
                    verdict.routes,
                    verdict.missing,
                    verdict.has_loop,
                    verdict.hops.clone(),
                )
            };
            assert_eq!(of(&check), of(&theirs), "{row} is now {new}");
            verdicts[match check.has_loop {
                None => 0,
                Some(false) => 1,
                Some(true) => 2,
            }] += 1;
        }
    }
    assert!(verdicts[0] > 10 && verdicts[1] > 10, "{verdicts:?}");
    std::fs::remove_dir_all(folder).unwrap();
}
