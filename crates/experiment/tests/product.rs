//! All combinations: topology, routing, switch, flow control, congestion control and workload are
//! drawn independently, and half of the fabrics are real sites, if possible. Each draw either runs,
//! with all laws held and the same digest for any number of partitions, or is refused for a reason
//! that the book lists.
//!
//! `NETLOOM_DRAWS=5000 cargo nextest run -p netloom-experiment --test product` draws more than CI
//! does.

#[path = "drawn/site.rs"]
mod site;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use netloom_experiment::render;
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_fabric::{Options, Row, build, rows};
use netloom_units::Tick;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

/// Topologies: their section, and their routings. All but the first two also have `up-down` and
/// `shortest`.
const TOPOLOGIES: &[(&str, &[&str])] = &[
    ("kind = \"fat-tree\"\narity = 2\nlevels = 3", TREE),
    (
        "kind = \"pgft\"\nchildren = [4, 3]\nparents = [1, 2]\nlinks = [1, 2]",
        TREE,
    ),
    ("kind = \"torus\"\nsides = [3, 3]\nhosts = 1", GRID),
    ("kind = \"mesh\"\nsides = [3, 3]\nhosts = 1", GRID),
    (
        "kind = \"dragonfly\"\nhosts = 1\nswitches = 3\nglobals = 1\nports = 6",
        GROUPS,
    ),
    (
        "kind = \"megafly\"\nhosts = 2\nleaves = 2\nspines = 2\nglobals = 1",
        GROUPS,
    ),
    (
        "kind = \"random-regular\"\nswitches = 8\ndegree = 3\nhosts = 1",
        ANY,
    ),
];

const TREE: &[&str] = &[
    "kind = \"d-mod-k\"",
    "kind = \"random-up\"",
    "kind = \"ecmp\"",
    "kind = \"ecmp\"\nchoice = \"spray\"",
    "kind = \"ecmp\"\nchoice = \"least\"",
    "kind = \"ecmp\"\nchoice = \"least-of-2\"\ngranularity = 4",
];
const GRID: &[&str] = &[
    "kind = \"dimension-order\"",
    "kind = \"dimension-order\"\ndeadlock = \"dateline\"",
    "kind = \"dimension-order\"\ndeadlock = \"dateline-entry\"",
];
const GROUPS: &[&str] = &[
    "kind = \"minimal\"",
    "kind = \"valiant\"",
    "kind = \"ugal\"\nthreshold = 4",
    "kind = \"ugal\"\nthreshold = 4\nknowledge = \"global\"\nevery = 8",
    "kind = \"par-ugal\"\nthreshold = 4",
    "kind = \"par\"\nthreshold-min = 0",
    "kind = \"par\"\nthreshold-min = 10\nrelative = false\npolicy = \"current-router\"",
];
const ANY: &[&str] = &["kind = \"up-down\"", "kind = \"shortest\""];

const SWITCHES: &[&str] = &[
    "kind = \"cioq\"\noutput-buffer = \"4 KiB\"\nspeedup = 2",
    "kind = \"cioq\"\noutput-buffer = \"4 KiB\"\nspeedup = 2\ncrossbar-start = \"stored\"",
    "kind = \"cioq\"\noutput-buffer = \"4 KiB\"\ninput-ports = \"per-lane\"",
    "kind = \"hierarchical\"\nports-per-mport = 2\ncentral-links = 1\noutput-buffer = \"4 KiB\"\n\
     input-ports = \"per-lane\"",
    "kind = \"iq\"",
    "kind = \"hierarchical\"\nports-per-mport = 2\ncentral-links = 1\noutput-buffer = \"4 KiB\"",
    "kind = \"tiled\"\nrows = 2\ncolumns = 2\nports = 12",
];

/// Flow controls, each with its input buffer.
const FLOW_CONTROLS: &[(&str, &str)] = &[
    ("credits", "\"4 KiB\""),
    ("queue-credits", "{ per-queue = \"2 KiB\" }"),
    ("pfc", "\"32 KiB\""),
    ("pause", "\"32 KiB\""),
];

const QUEUES: &[&str] = &["\"per-vl\"", "\"voq\"", "{ kind = \"dbbm\", queues = 3 }"];

const CONTROLS: &[&str] = &[
    "",
    "[nic]\nacknowledge = true\n",
    "[nic]\ncongestion-control = { kind = \"ecn-window\", window = 64, step = 4, mark-above = 0.2 }\n",
];

const WORKLOADS: &[&str] = &[
    "[[traffic]]\nname = \"open\"\nload = 0.6\nsize = \
     { kind = \"mix\", sizes = [[\"64 B\", 2], [\"1300 B\", 1]] }\n",
    "[[traffic]]\nname = \"program\"\nworkload = \
     { kind = \"all-reduce\", nics = \"0-7\", bytes = \"20 KiB\", rounds = 2 }\n",
    "[[traffic]]\nname = \"program\"\nworkload = \
     { kind = \"all-reduce\", nics = \"0-7\", bytes = \"20 KiB\" }\n\
     [[traffic]]\nname = \"open\"\nload = 0.3\nsize = { kind = \"fixed\", bytes = \"1300 B\" }\n",
];

/// One choice per axis, and the routing if it is one of the topology's own.
fn experiment(draw: &[usize; 8]) -> String {
    let (topology, own) = TOPOLOGIES[draw[0] % TOPOLOGIES.len()];
    let routings = match draw[1] % 4 {
        0 => ANY,
        _ => own,
    };
    let routing = routings[draw[2] % routings.len()];
    let switch = SWITCHES[draw[3] % SWITCHES.len()];
    let (flow_control, input) = FLOW_CONTROLS[draw[4] % FLOW_CONTROLS.len()];
    let control = CONTROLS[draw[5] % CONTROLS.len()];
    let workload = WORKLOADS[draw[6] % WORKLOADS.len()];
    let mut text =
        format!("netloom = 1\n[topology]\n{topology}\n[routing]\n{routing}\n[switch]\n{switch}\n");
    if !switch.contains("tiled") {
        // Hierarchical switches have queues per lane only.
        let queues = match switch.contains("hierarchical") {
            true => "",
            false => QUEUES[draw[7] % QUEUES.len()],
        };
        let input = match (queues, flow_control) {
            ("" | "\"per-vl\"", _) | (_, "queue-credits" | "pfc" | "pause") => input,
            _ => "{ per-queue = \"2 KiB\" }",
        };
        writeln!(text, "input-buffer = {input}").unwrap();
        if !queues.is_empty() {
            writeln!(text, "queues = {queues}").unwrap();
        }
    }
    write!(
        text,
        "[link]\nrate = \"100 Gbps\"\nmtu = \"512 B\"\nflow-control = \"{flow_control}\"\n\
         {control}{workload}\
         [measure]\nlength = \"6 us\"\n"
    )
    .unwrap();
    text
}

fn read(text: &str, partitions: usize) -> Loaded {
    load(&Request {
        partitions: Some(partitions),
        ..Request::new("drawn.toml", text)
    })
}

/// The results that must not depend on the number of partitions.
fn outcome(loaded: &Loaded) -> (Vec<u64>, u64) {
    let plan = &loaded.experiment.as_ref().expect("it loads").fabric;
    let mut fabric = build(plan, Options::default());
    let mut recorded = vec![Row::default(); rows(plan).len()];
    // In pieces, so that laws are checked while packets are in flight.
    let end = loaded.experiment.as_ref().map_or(0, |e| e.measure.length.0);
    for part in 1..=4 {
        fabric.run_until(Tick(end * part / 4));
        fabric.check_laws();
    }
    fabric.take_rows(&mut recorded);
    let counters = fabric.counters();
    let mut all = vec![
        counters.digest.value(),
        counters.injected,
        counters.delivered,
        counters.packet_hops,
        fabric.in_flight(),
        fabric.waiting_messages(),
    ];
    for row in &recorded {
        all.extend([
            row.delivered_messages,
            row.reordered,
            row.hops,
            row.message_latency.count(),
        ]);
        let is_sound = row.delivered_packets <= row.injected_packets
            && row.delivered_messages <= row.offered_messages;
        assert!(is_sound, "nothing is delivered that was not sent");
    }
    let protocol = fabric.protocol().unwrap_or_default();
    all.extend([protocol.acknowledgements, protocol.marked, protocol.cuts]);
    (all, counters.delivered)
}

/// Returns the codes in the table of refusals in the book.
fn listed() -> BTreeSet<String> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../book/src/explanation/what-goes-together.md"
    );
    let page = std::fs::read_to_string(path).expect("the page");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| ["))
        .collect();
    assert!(rows.len() <= 10, "{} kinds of refusals", rows.len());
    let code = |row: &&str| row[3..8].to_owned();
    rows.iter().map(code).collect()
}

fn draws() -> u32 {
    let wanted = std::env::var("NETLOOM_DRAWS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(600)
}

#[test]
fn everything_goes_with_everything_or_is_refused_for_a_listed_reason() {
    let listed = listed();
    let config = ProptestConfig {
        cases: draws(),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let seen = RefCell::new(BTreeMap::<String, u32>::new());
    let count = |what: String| *seen.borrow_mut().entry(what).or_default() += 1;
    let outcome = TestRunner::new(config).run(&any::<[usize; 8]>(), |draw| {
        let mut text = experiment(&draw);
        let mut loaded = read(&text, 1);
        // The last axis: whether the fabric is a real site.
        let native = loaded
            .experiment
            .as_ref()
            .filter(|_| (draw[0] / TOPOLOGIES.len()).is_multiple_of(2));
        if let Some(site) = native.and_then(|native| site::as_site(&text, native)) {
            count(format!("site, same numbers: {}", site.is_numbered_alike));
            text = site.text;
            loaded = read(&text, 1);
        }
        if loaded.experiment.is_none() {
            let messages = render(&loaded.document, &loaded.notes, false);
            let errors = messages
                .lines()
                .filter_map(|line| line.strip_prefix("error["));
            for error in errors {
                let code = &error[..5];
                count(format!("refused {code}"));
                let is_known = listed.contains(code) || code == "E0500";
                if !is_known {
                    return Err(TestCaseError::fail(format!("{messages}\n{text}")));
                }
            }
            return Ok(());
        }
        let (usual, delivered) = outcome(&loaded);
        for partitions in [2, 7] {
            let (other, _) = outcome(&read(&text, partitions));
            if usual != other {
                let message = format!("{partitions} partitions: {usual:?} is {other:?}\n{text}");
                return Err(TestCaseError::fail(message));
            }
        }
        if delivered == 0 {
            return Err(TestCaseError::fail(format!("nothing arrives\n{text}")));
        }
        count("ran".to_owned());
        for line in text.lines().filter(|line| line.contains("kind = ")) {
            count(line.to_owned());
        }
        Ok(())
    });
    for (what, n) in seen.borrow().iter() {
        println!("{n} {what}");
    }
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let on_sites = seen.borrow().get("kind = \"infiniband\"").copied();
    assert!(
        on_sites.unwrap_or(0) > draws() / 20,
        "{on_sites:?} draws on sites"
    );
    let ran = seen.borrow().get("ran").copied().unwrap_or(0);
    assert!(ran > draws() / 3, "{ran} of {} draws ran", draws());
}
