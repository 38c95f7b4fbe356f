//! Real subnets: from the files of tools to a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use netloom_experiment::runner::{Control, RunOptions, RunResult, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_experiment::{Experiment, render};
use netloom_results::Status;
use netloom_routing::Lookup;
use netloom_topology::Egress;
use netloom_units::{NicId, Port, Rate, SwitchId};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../infiniband/tests/samples")
}

fn loaded(files: &str, more: &str) -> Loaded {
    let text = format!("netloom = 1\n[topology]\nkind = \"infiniband\"\nfiles = [{files}]\n{more}");
    load(&Request {
        files: netloom_catalog::Disk::folder(samples()),
        ..Request::new("site.toml", &text)
    })
}

fn experiment(files: &str, more: &str) -> Experiment {
    let loaded = loaded(files, more);
    let messages = render(&loaded.document, &loaded.notes, false);
    loaded.experiment.unwrap_or_else(|| panic!("{messages}"))
}

/// Returns the notes of a refused file.
fn refused(files: &str, more: &str) -> String {
    let loaded = loaded(files, more);
    assert!(loaded.experiment.is_none(), "it was to be refused");
    render(&loaded.document, &loaded.notes, false)
}

fn finished(experiment: &Experiment) -> RunResult {
    let result = run(experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    assert_ne!(result.document.run.status, Status::Deadlock);
    result
}

const FT8: &str = r#""ft8/ibnetdiscover.txt", "ft8/opensm-lfts.dump""#;
const SHORT: &str = "[measure]\nwarmup = \"2 us\"\nlength = \"20 us\"\n";
const TRAFFIC: &str = "[[traffic]]\nload = 0.3\nmessage = \"4 KiB\"\n";

#[test]
fn a_site_has_its_names_ports_and_rates() {
    let made = experiment(FT8, &format!("{TRAFFIC}{SHORT}"));
    let topology = &made.fabric.topology;
    assert_eq!((topology.n_nics(), topology.n_switches()), (8, 4));
    assert_eq!(topology.nic_name(NicId(0)), "node000 mlx5_0");
    assert_eq!(topology.switch_name(SwitchId(0)), "MF0;leaf0:MQM8700/U1");
    // The first host is at port 1, as in its listing.
    assert_eq!(topology.attachment(NicId(0)), (SwitchId(0), Port(1)));
    assert_eq!(topology.link_classes(), ["host", "switch-HDR-x4"]);
    let rates = [0, 1].map(|class| topology.class_rate(class));
    assert_eq!(
        rates,
        [100, 200].map(|gbps| Some(Rate(gbps * 1_000_000_000)))
    );
    let ticks: Vec<u64> = made.fabric.links.iter().map(|link| link.flit).collect();
    assert_eq!(ticks[0], 2 * ticks[1]);
    let result = finished(&made);
    assert!(
        result.document.run.total.delivered_load > 0.2,
        "{}",
        result.document.run.total.delivered_load
    );
}

#[test]
fn packets_go_by_the_tables_of_the_site() {
    let made = experiment(FT8, &format!("{TRAFFIC}{SHORT}"));
    let tables = std::fs::read_to_string(samples().join("ft8/opensm-lfts.dump")).unwrap();
    // leaf0 has LID 2 and is written first; node007 has LID 10.
    let block = tables
        .split("Unicast lids")
        .find(|block| block.contains("Lid 2 guid"));
    let line = block
        .unwrap()
        .lines()
        .find(|line| line.starts_with("0x000a"))
        .unwrap();
    let port: u16 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    let destination = made.fabric.topology.nics();
    let names = destination
        .zip(0..)
        .find(|(nic, _)| made.fabric.topology.nic_name(*nic) == "node007 mlx5_0");
    let (nic, _) = names.unwrap();
    let hop = made
        .fabric
        .forwarding
        .route(&Lookup::any(SwitchId(0), Port(1), 0, nic));
    assert_eq!(hop.port, Port(port));
}

#[test]
fn lanes_and_tables_are_those_of_the_site() {
    let files = format!("{FT8}, \"ft8/opensm-sl2vl.dump\", \"ft8/smpquery_vlarb_all.txt\"");
    let traffic = "[[traffic]]\nname = \"a\"\nsl = 0\nload = 0.3\nmessage = \"4 KiB\"\n\
                   [[traffic]]\nname = \"b\"\nsl = 8\nload = 0.3\nmessage = \"4 KiB\"\n";
    let made = experiment(&files, &format!("{traffic}{SHORT}"));
    let channels = &made.fabric.channels;
    // The conf of the sample: hosts send SL8 on VL0, switches on VL7.
    assert_eq!(channels.at_nic(NicId(3), netloom_units::Sc(8)), 0);
    let (_, lane) = channels.at_switch(SwitchId(0), Port(1), Port(5), netloom_units::Sc(8));
    assert_eq!(lane, 7);
    assert_eq!(made.fabric.n_vls, 8);
    // Every host and every port with a cable has its own tables. Those of switch ports 0 have no
    // link.
    let own = &made.fabric.own_policies;
    assert!(own.contains_key(&Egress::Nic(NicId(7))));
    assert!(own.contains_key(&Egress::Switch(SwitchId(2), Port(1))));
    assert!(
        own.keys()
            .all(|egress| !matches!(egress, Egress::Switch(_, Port(0))))
    );
    finished(&made);
}

#[test]
fn what_a_file_writes_goes_before_what_the_site_has() {
    let files = format!("{FT8}, \"ft8/opensm-sl2vl.dump\", \"ft8/smpquery_vlarb_all.txt\"");
    let traffic = "[[traffic]]\nsl = 8\nload = 0.3\nmessage = \"4 KiB\"\n";
    let qos = "[qos]\nsl2vl = [0, 0, 0, 0, 0, 0, 0, 0, 1]\n\
        arbiter = { kind = \"ib-two-table\", low = [[0, 64], [1, 64]] }\n";
    let made = experiment(&files, &format!("{traffic}{qos}{SHORT}"));
    assert!(made.fabric.channels.own.is_none() && made.fabric.own_policies.is_empty());
    assert_eq!(made.fabric.n_vls, 2);
}

#[test]
fn an_entry_that_is_missing_is_reported_with_the_place_where_the_way_ends() {
    let read = |name: &str| std::fs::read_to_string(samples().join("ft8").join(name)).unwrap();
    let tables = read("opensm-lfts.dump");
    // The route of LID 10 is missing at the first switch of the file.
    let cut = tables.lines().scan(false, |done, line| {
        let is_it = !*done && line.starts_with("0x000a");
        *done |= is_it;
        Some((!is_it).then_some(line))
    });
    let cut: Vec<&str> = cut.flatten().collect();
    let texts = [
        ("nd.txt", read("ibnetdiscover.txt")),
        ("lfts", cut.join("\n")),
    ];
    let text = format!(
        "netloom = 1\n[topology]\nkind = \"infiniband\"\nfiles = [\"nd.txt\", \"lfts\"]\n\
         {TRAFFIC}{SHORT}"
    );
    let loaded = load(&Request {
        files: Arc::new(netloom_catalog::MemoryFiles::from_iter(texts)),
        ..Request::new("site.toml", &text)
    });
    let messages = render(&loaded.document, &loaded.notes, false);
    assert!(loaded.experiment.is_none());
    assert!(messages.contains("pairs of NICs unreachable"), "{messages}");
    assert!(
        messages.contains("has no output for this address"),
        "{messages}"
    );
}

#[test]
fn several_addresses_of_a_host_are_several_ways() {
    let files = r#""ft8_lmc1/ibnetdiscover.txt", "ft8_lmc1/opensm-lfts.dump""#;
    let made = experiment(files, &format!("{TRAFFIC}{SHORT}"));
    let topology = &made.fabric.topology;
    let last = NicId(topology.n_nics() - 1);
    let mut hops = vec![];
    let forwarding = &made.fabric.forwarding;
    forwarding.choices(&Lookup::any(SwitchId(0), Port(1), 0, last), &mut hops);
    assert_eq!(hops.len(), 2, "two addresses, two ways up: {hops:?}");
    finished(&made);
}

#[test]
fn files_without_nodes_are_refused() {
    let message = refused("\"ft8/opensm-lfts.dump\"", TRAFFIC);
    assert!(message.contains("nodes and cables"), "{message}");
}

#[test]
fn a_site_gives_the_same_results_for_any_division() {
    // A torus with routes that are free of deadlock only with the levels of its paths and lanes of
    // its ports.
    let files = r#""t55h1/opensm-subnet.lst", "t55h1/torus-2QoS.fdbs", "t55h1/torus-2QoS.slvl", "t55h1/torus-2QoS.psl""#;
    let text = format!(
        "netloom = 1\n[topology]\nkind = \"infiniband\"\nfiles = [{files}]\n\
         [[traffic]]\nload = 0.6\nmessage = \"2 KiB\"\n{SHORT}"
    );
    let run_in = |partitions: usize| {
        let loaded = load(&Request {
            files: netloom_catalog::Disk::folder(samples()),
            partitions: Some(partitions),
            threads: partitions.min(2),
            ..Request::new("site.toml", &text)
        });
        let messages = render(&loaded.document, &loaded.notes, false);
        let made = loaded.experiment.unwrap_or_else(|| panic!("{messages}"));
        assert!(made.fabric.channels.paths.is_some() && made.fabric.n_vls > 1);
        let result = finished(&made);
        assert!(result.document.run.total.delivered_load > 0.1);
        result.document.run.digest
    };
    let whole = run_in(1);
    for partitions in [2, 3, 7] {
        assert_eq!(run_in(partitions), whole, "{partitions} partitions");
    }
}

#[test]
fn a_torus_without_its_levels_can_deadlock() {
    let files = r#""t55h1/opensm-subnet.lst", "t55h1/torus-2QoS.fdbs""#;
    let message = refused(files, &format!("{TRAFFIC}{SHORT}"));
    assert!(message.contains("E0501"), "{message}");
}
