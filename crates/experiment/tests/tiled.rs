//! Tiled switches: valid files, and the errors of invalid ones.

use netloom_experiment::render;
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_fabric::{Priority, Retransmission, Sizes, Tiled};

const DRAGONFLY: &str = "\
netloom = 1
[topology]
kind = \"dragonfly\"
hosts = 2
switches = 4
globals = 2
ports = 8
[routing]
kind = \"par-ugal\"
[[traffic]]
load = 0.4
size = { kind = \"fixed\", bytes = \"240 B\" }
[link]
rate = \"80 Gb/s\"
flit = \"10 B\"
mtu = \"240 B\"
header = \"0 B\"
";

fn read(more: &str) -> Loaded {
    load(&Request::new("test.toml", &format!("{DRAGONFLY}{more}")))
}

fn said(more: &str) -> String {
    let loaded = read(more);
    assert!(loaded.experiment.is_none(), "it has a mistake");
    render(&loaded.document, &loaded.notes, false)
}

fn codes(more: &str) -> Vec<&'static str> {
    let notes = read(more).notes.sorted();
    notes.into_iter().map(|note| note.code).collect()
}

fn tiled(loaded: &Loaded) -> Tiled {
    let experiment = loaded.experiment.as_ref().expect("it loads");
    experiment.fabric.switch.tiled().expect("tiled").clone()
}

/// Tiles from a file: 12 ports in 2 rows and 3 columns, 20 ports in 4 and 4.
#[test]
fn v002_1_tiles_follow_from_ports() {
    for (ports, rows, columns, tile) in [(12, 2, 3, (6, 4)), (20, 4, 4, (5, 5))] {
        let switch = format!(
            "[switch]\nkind = \"tiled\"\nports = {ports}\nrows = {rows}\ncolumns = {columns}\n"
        );
        let plan = tiled(&read(&switch));
        assert_eq!((plan.inputs, plan.outputs), tile);
    }
}

#[test]
fn rows_and_columns_are_all_that_a_tiled_switch_needs() {
    let loaded = read("[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 4\n");
    let plan = tiled(&loaded);
    assert_eq!((plan.inputs, plan.outputs), (4, 2), "P = R I = C O");
    assert_eq!(plan.stash, None);
    let fabric = &loaded.experiment.as_ref().expect("it loads").fabric;
    assert_eq!(fabric.endpoints.acknowledgement, Some(1));
    assert!(fabric.marks_above.iter().all(Option::is_none));
}

#[test]
fn shapes_that_do_not_divide_the_ports_are_told_both_at_once() {
    insta::assert_snapshot!(said("[switch]\nkind = \"tiled\"\nrows = 3\ncolumns = 5\n"));
}

#[test]
fn seven_ports_and_four_columns_are_told_and_not_proved_first() {
    let text = "netloom = 1\n[topology]\nkind = \"dragonfly\"\nhosts = 2\nswitches = 4\n\
        globals = 2\n\
        [switch]\nkind = \"tiled\"\n[[traffic]]\nload = 0.5\n";
    let loaded = load(&Request::new("test.toml", text));
    let codes: Vec<&str> = loaded.notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["E0340", "E0340"], "rows and columns");
}

#[test]
fn what_a_tiled_switch_does_not_have_is_refused_and_not_ignored() {
    insta::assert_snapshot!(said(
        "flow-control = \"pfc\"
[switch]
kind = \"tiled\"
rows = 2
columns = 2
[qos]
arbiter = \"oldest-first\"
nic-arbiter = \"oldest-first\"
[nic]
queues = \"per-destination\"
[connections]
target = 4
[measure]
waits = true
"
    ));
    let quiet = "[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n[measure]\nwaits = false\n";
    assert_eq!(codes(quiet), [""; 0], "absent values are valid");
}

/// With an arbiter there is a queue per level. Queues per destination would be ignored silently.
#[test]
fn an_arbiter_at_nics_and_queues_per_destination_need_a_congestion_control() {
    let tiled = "[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n";
    let arbiter = "[qos]\nnic-arbiter = \"oldest-first\"\n";
    let nic = |more: &str| format!("{tiled}{arbiter}[nic]\nqueues = \"per-destination\"\n{more}");
    assert_eq!(codes(&nic("")), ["E0345"]);
    let controlled = nic("congestion-control = \"ecn-window\"\n");
    assert_eq!(codes(&controlled), [""; 0]);
    assert_eq!(codes(&format!("{tiled}{arbiter}")), [""; 0]);
}

#[test]
fn endpoints_and_stashes_must_go_together() {
    insta::assert_snapshot!(said(
        "[switch]
kind = \"tiled\"
rows = 2
columns = 2
stash = { kind = \"congestion\" }
[switch.faults]
corrupt = 0.001
[nic]
acknowledge = false
"
    ));
}

/// The channel of acknowledgements counts too: 1 lane of the routing and 17 rows caused a panic.
#[test]
fn channels_of_acknowledgements_count_among_those_that_fit_a_word() {
    let text = "\
netloom = 1
[topology]
kind = \"single-switch\"
ports = 17
[[traffic]]
load = 0.4
message = \"512 B\"
[switch]
kind = \"tiled\"
rows = 17
columns = 1
";
    let acknowledging = load(&Request::new("test.toml", text));
    let notes = acknowledging.notes.sorted();
    assert!(notes.iter().any(|note| note.code == "E0340"), "{notes:?}");
}

/// Faults are drawn with the seed of the run, for the first run of a file and for later ones.
#[test]
fn faults_are_drawn_from_the_seed_of_the_run() {
    let text = |seed: u64| {
        format!(
            "[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\nstash = \"reliability\"\n\
             [switch.faults]\ncorrupt = 0.001\n[measure]\nseed = {seed}\n"
        )
    };
    let first = read(&text(7));
    assert_eq!(tiled(&first).faults.seed, 7);
    let later = read(&text(6))
        .experiment
        .expect("it loads")
        .with_seed(7)
        .unwrap();
    let tiled = later.fabric.switch.tiled().expect("tiled");
    assert_eq!(tiled.faults.seed, 7);
}

fn sizes(buffer: &Sizes) -> (u32, Vec<u32>, Vec<u32>) {
    match buffer {
        Sizes::Pool { capacity, min, max } => (*capacity, min.to_vec(), max.to_vec()),
        Sizes::Static(_) => panic!("a pool"),
    }
}

const SHORT: &str = "[link.class.local]\ndelay = \"40 ns\"\n[link.class.global]\n\
     delay = \"500 ns\"\n[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n";

/// A global link has 2 lanes with a round trip of 1000 + 2 x 24 flits each, and outputs of the same
/// size. So a port needs 2 x 1048 + 4 flits, and one lane leaves the other 1048. A local link has
/// fewer flits in flight, so one of its four lanes may take more than a quarter.
#[test]
fn default_buffers_leave_every_lane_a_round_trip() {
    let loaded = read(SHORT);
    let plan = tiled(&loaded);
    let (local, global) = (sizes(&plan.ports[1].input), sizes(&plan.ports[2].output));
    assert_eq!(
        global,
        (2100, vec![0, 0, 24, 0, 24, 0], vec![1052; 6]),
        "21 kB"
    );
    let n_lanes = local.1.iter().filter(|&&flits| flits > 0).count() as u32;
    assert_eq!((local.0, n_lanes), (2100, 4));
    assert_eq!(local.2, vec![(2100 - 128) / 3; 6]);
    let experiment = loaded.experiment.expect("it loads");
    let resolved = experiment.resolved.to_toml(true);
    assert!(resolved.contains("port-buffer = \"21000 B\""), "{resolved}");
    // A stash takes its share of what the links need: three quarters of local ports.
    let stash = tiled(&read(&format!("{SHORT}stash = \"unused\"\n")));
    let local = sizes(&stash.ports[1].input);
    assert_eq!((local.0, local.2[0]), (525, (525 - 128) / 3));
}

#[test]
fn a_small_buffer_is_divided_evenly() {
    let plan = tiled(&read(&format!("{SHORT}port-buffer = \"10 kB\"\n")));
    assert_eq!(sizes(&plan.ports[2].input).2, vec![500; 6]);
}

/// The buffers of paper 002: each lane may take all, and one with only its reserve sends 24 flits
/// of 1 ns per round trip of 24 + 2 x 500 ns.
#[test]
fn lanes_that_starve_or_cannot_fill_their_link_are_warned_of() {
    let paper = "port-buffer = \"10 kB\"\nlane-most = 1.0\n";
    let half = "port-buffer = \"10 kB\"\nlane-most = 0.5\n";
    assert_eq!(codes(&format!("{SHORT}{paper}")), ["W0347"]);
    assert_eq!(codes(&format!("{SHORT}{half}")), ["W0348"]);
    for quiet in [
        "",
        "lane-reserve = 5\n",
        "port-buffer = \"10 kB\"\nlane-reserve = 5\nlane-most = 1.0\n",
    ] {
        assert_eq!(codes(&format!("{SHORT}{quiet}")), [""; 0], "{quiet}");
    }
    let words = |more: &str| {
        let loaded = read(&format!("{SHORT}{more}"));
        render(&loaded.document, &loaded.notes, false)
    };
    let (starves, slow) = (words(paper), words(half));
    for part in [
        "one lane can take nearly all of a `global` link",
        "2.3 % are left",
    ] {
        assert!(starves.contains(part), "{starves}");
    }
    for part in ["one lane cannot fill a `global` link", "500 flits", "1000"] {
        assert!(slow.contains(part), "{slow}");
    }
    for text in [starves, slow] {
        let help = "help: remove `lane-most`, and set port-buffer = \"21000 B\" or more";
        assert!(text.contains(help), "{text}");
    }
}

/// Reserves count packets of the channels of a link, limits are shares of its buffer.
#[test]
fn lanes_have_a_reserve_and_a_limit() {
    let plan = tiled(&read("[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n"));
    assert_eq!(
        sizes(&plan.ports[2].input),
        (1000, vec![0, 0, 24, 0, 24, 0], vec![931; 6])
    );
    assert_eq!(plan.retransmission, Retransmission::Packet);
    let keys = "lane-reserve = 3\nlane-most = 0.05\nretransmission = \"per-flit\"\n\
        priority = \"transit-first\"\n";
    let plan = tiled(&read(&format!(
        "[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n{keys}"
    )));
    assert_eq!(
        sizes(&plan.ports[2].output),
        (1000, vec![0, 0, 72, 0, 72, 0], vec![50, 50, 72, 50, 72, 50])
    );
    assert_eq!(
        (plan.retransmission, plan.priority),
        (Retransmission::PerFlit, Priority::TransitFirst)
    );
    for keys in ["lane-reserve = 0", "lane-most = 0.0", "lane-most = 1.5"] {
        assert_eq!(
            codes(&format!(
                "[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n{keys}\n"
            )),
            ["E0102"]
        );
    }
}

/// 10, 80 and 1000 of 1000 flits are in flight on links of 5, 40 and 500 ns. A switch has 2, 3 and
/// 2 of them. This is Table 1 of the paper.
#[test]
fn buffers_that_links_leave_idle_are_told() {
    let loaded = read(
        "delay = \"5 ns\"\n[link.class.local]\ndelay = \"40 ns\"\n[link.class.global]\n\
         delay = \"500 ns\"\n\
         [switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\nport-buffer = \"10 kB\"\n",
    );
    let fact = loaded.facts.iter().find(|(word, _)| word == "idle");
    assert_eq!(
        fact.map(|(_, words)| words.as_str()),
        Some(
            "links leave 67.7 % of the port buffers of the first switch unused: 99.0 % of 2 \
             `host`, 92.0 % of 3 \
             `local`, 0.0 % of 2 `global`"
        )
    );
}

/// 1048 of 2100 flits of 1 ns per round trip of 24 + 2 x 500 ns, or 24 of them.
#[test]
fn a_floor_is_stated_for_each_kind_of_link() {
    let fact = |more: &str| {
        let loaded = read(&format!("{SHORT}{more}"));
        let fact = loaded.facts.into_iter().find(|(word, _)| word == "reserve");
        fact.map(|(_, words)| words).unwrap_or_default()
    };
    assert_eq!(
        fact(""),
        "the other lanes leave each one 100.0 % of a `local` link, 100.0 % of a `global` link"
    );
    assert_eq!(
        fact("port-buffer = \"10 kB\"\nlane-most = 1.0\n"),
        "the other lanes leave each one 23.1 % of a `local` link, 2.3 % of a `global` link"
    );
}

/// Smaller port buffers without the effect of a stash.
#[test]
fn a_stash_may_be_set_aside_and_not_used() {
    let switch = "[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n";
    let plain = tiled(&read(switch));
    let unused = tiled(&read(&format!("{switch}stash = \"unused\"\n")));
    let used = tiled(&read(&format!("{switch}stash = \"reliability\"\n")));
    assert_eq!((unused.stash, &unused.ports), (None, &used.ports));
    assert_ne!(unused.ports, plain.ports);
}

#[test]
fn outputs_that_keep_nothing_cannot_send_again() {
    let switch = "[switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\nstash = \"reliability\"\n\
        retransmission = \"none\"\n";
    assert_eq!(codes(switch), [""; 0]);
    assert_eq!(
        codes(&format!("{switch}faults = {{ corrupt = 0.1 }}\n")),
        [""; 0]
    );
    assert_eq!(
        codes(&format!("{switch}faults = {{ link = 0.1 }}\n")),
        ["E0343"]
    );
}
