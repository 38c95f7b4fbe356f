//! Tiled switches: the plans of valid files. `ui/tiled` has the notes about files.

use netloom_experiment::spec::{Loaded, Request, load};
use netloom_fabric::{Priority, Retransmission, Sizes, Tiled};

const DRAGONFLY: &str = include_str!("ui/tiled/base/dragonfly.toml");

fn read(more: &str) -> Loaded {
    load(&Request::new("test.toml", &format!("{DRAGONFLY}{more}")))
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

#[test]
fn lanes_with_room_for_all_are_not_warned_of() {
    for more in [
        "",
        "lane-reserve = 5\n",
        "port-buffer = \"10 kB\"\nlane-reserve = 5\nlane-most = 1.0\n",
    ] {
        let notes = read(&format!("{SHORT}{more}")).notes;
        assert!(notes.is_empty(), "{more}");
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
