//! Subnet management on VL15: it has priority over all data. `ui/management` has the notes about
//! files.

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, RunResult, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_fabric::Sizes;

/// A tree with links full of data on two lanes, and occasional management.
const FILE: &str = include_str!("ui/management/base/tree.toml");

fn read(text: &str) -> Loaded {
    load(&Request::new("test.toml", text))
}

fn ran(text: &str) -> RunResult {
    let loaded = read(text);
    let words = render(&loaded.document, &loaded.notes, false);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
    run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    })
}

/// Management wins every choice, so its packets wait only for the packet on the link. Data of the
/// low table, which may starve because the high one has no limit, waits far longer.
#[test]
fn management_goes_before_data_of_both_tables() {
    let result = ran(&format!("{FILE}waits = true\n"));
    let run = &result.document.run;
    let class = |name: &str| {
        let mut classes = run.classes.iter();
        let found = classes.find(|class| class.class == name);
        &found.unwrap_or_else(|| panic!("a class {name}")).summary
    };
    let (data, management) = (class("sl1"), class("management"));
    assert!(management.delivered_messages > 200);
    let p99 = |summary: &netloom_results::Summary| summary.latency_p99_ns.unwrap();
    assert!(
        5.0 * p99(management) < p99(data),
        "{} ns against {} ns",
        p99(management),
        p99(data)
    );
    let waits = run.waits.as_ref().expect("waits are measured");
    for place in [&waits.switches, &waits.nics] {
        let longest = |vl: u8| {
            let found = place.classes.iter().find(|class| class.number == vl);
            &found.unwrap_or_else(|| panic!("VL{vl}")).summary
        };
        let (low, management) = (longest(0), longest(15));
        assert_eq!(management.wait_at_least_bytes, 0, "{management:?}");
        assert_eq!(management.wait_at_most_bytes, 2048, "{management:?}");
        assert!(low.wait_at_least_bytes > 2048, "{low:?}");
    }
}

#[test]
fn connections_and_management_share_a_fabric() {
    let text = "netloom = 1\n[topology]\nkind = \"mesh\"\nsides = [2, 2]\nhosts = 2\n[link]\n\
        mtu = \"256 B\"\n\
                [connections]\ntarget = 20\nretries = 100\n\
                [[traffic]]\nmanagement = true\nload = 0.02\nmessage = \"256 B\"\n\
                [measure]\nlength = \"40 us\"\nwarmup = \"5 us\"\n";
    let result = ran(text);
    let classes = &result.document.run.classes;
    let management = classes.iter().find(|class| class.class == "management");
    assert!(management.expect("its class").summary.delivered_messages > 20);
    assert!(result.document.run.connections.is_some());
}

/// The numbers between the lanes of data and VL15 have no lanes, and no part of a buffer.
#[test]
fn buffers_have_the_lanes_that_there_are() {
    let pool = "[switch]\ninput-buffer = { pool = \"16 KiB\", min = \"4 KiB\" }\n\
        output-buffer = \"8 KiB\"\n[qos]";
    let loaded = read(&FILE.replace("[qos]", pool));
    let words = render(&loaded.document, &loaded.notes, false);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
    let switch = experiment.fabric.switch.crossbar();
    let Sizes::Pool { min, max, .. } = &switch.input_buffer else {
        panic!("a pool, not {:?}", switch.input_buffer);
    };
    let with_room = |sizes: &[u32]| -> Vec<usize> {
        let lanes = sizes.iter().enumerate().filter(|(_, flits)| **flits != 0);
        lanes.map(|(vl, _)| vl).collect()
    };
    assert_eq!(with_room(min), [0, 1, 15]);
    assert_eq!(with_room(max), [0, 1, 15]);
    // Three lanes of 8 KiB.
    assert_eq!(switch.output_buffer.total(), 3 * 128);
}
