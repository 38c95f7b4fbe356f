//! Switch kinds, queue schemes and flow control: the plans of valid files, and their runs.
//! `ui/machines` has the notes about files.

use std::collections::BTreeMap;

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_fabric::{
    Allocation, Architecture, FlowControl, NicQueues, QueueScheme, Sizes, Thresholds,
};

const TREE: &str = include_str!("ui/machines/base/tree.toml");

fn read(text: &str) -> Loaded {
    load(&Request::new("test.toml", text))
}

fn messages(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

fn codes(text: &str) -> Vec<&'static str> {
    let notes = read(text).notes.sorted();
    notes.into_iter().map(|note| note.code).collect()
}

/// The plan of the tree with further lines.
fn plan(more: &str) -> netloom_fabric::FabricPlan {
    let loaded = read(&format!("{TREE}{more}"));
    let words = messages(&loaded);
    loaded
        .experiment
        .unwrap_or_else(|| panic!("{words}"))
        .fabric
}

fn facts(text: &str, word: &str) -> Vec<String> {
    let facts = read(text).facts.into_iter();
    facts
        .filter(|(known, _)| known == word)
        .map(|(_, fact)| fact)
        .collect()
}

#[test]
fn the_usual_machine_is_cioq_with_credits() {
    let plan = plan("");
    assert_eq!(plan.switch.crossbar().architecture, Architecture::Cioq);
    assert_eq!(plan.flow_control, FlowControl::Credits);
    assert_eq!(plan.endpoints.queues, NicQueues::PerChannel);
    assert_eq!(plan.switch.crossbar().queues, QueueScheme::PerVl);
    assert_eq!(plan.switch.crossbar().queue_flits[..], [256]);
}

#[test]
fn every_queue_scheme_is_planned() {
    let cases = [
        ("\"1q\"", QueueScheme::OneQueue, 256),
        ("\"per-vl\"", QueueScheme::PerVl, 256),
        ("\"voq\"", QueueScheme::VoqSwitch, 32),
        ("\"voq-net\"", QueueScheme::VoqNet, 16),
        (
            "{ kind = \"dbbm\", queues = 8 }",
            QueueScheme::Dbbm { queues: 8 },
            32,
        ),
        ("\"obqa\"", QueueScheme::Obqa { queues: 4 }, 64),
    ];
    for (text, scheme, flits) in cases {
        let plan = plan(&format!(
            "[switch]\nqueues = {text}\n[link]\nflow-control = \"queue-credits\"\n"
        ));
        assert_eq!(plan.switch.crossbar().queues, scheme);
        assert_eq!(plan.flow_control, FlowControl::QueueCredits);
        assert_eq!(plan.switch.crossbar().queue_flits[..], [flits], "{text}");
    }
    let plan = plan("[switch]\nqueues = \"obqa\"\ninput-buffer = { per-queue = \"1 KiB\" }\n");
    assert_eq!(plan.switch.crossbar().queue_flits[..], [16]);
    assert_eq!(
        plan.switch.crossbar().input_buffer,
        Sizes::Static([64].into())
    );
}

#[test]
fn an_input_queued_switch_is_as_fast_as_its_links() {
    let plan = plan("[switch]\nkind = \"iq\"\nqueues = \"obqa\"\nallocator = \"islip\"\n");
    assert_eq!(
        plan.switch.crossbar().architecture,
        Architecture::InputQueued
    );
    assert_eq!(
        plan.switch.crossbar().allocation,
        Allocation::Islip { iterations: 1 }
    );
    assert_eq!(plan.switch.crossbar().speedup, (1, 1));
    // 2 ns of 5.12: 25 flits take 64 cycles.
    let fast = self::plan("[switch]\nkind = \"iq\"\nclock = \"2 ns\"\n");
    assert_eq!(fast.switch.crossbar().speedup, (25, 64));
    assert_eq!(
        fast.switch.period() * 64,
        fast.links[0].flit * 25,
        "the crossbar has the pace of the links"
    );
}

/// Paper 000, section 1.1.3: 4 ports and 2 links per MPort, 229,376 B for both links.
#[test]
fn a_hierarchical_switch_divides_the_central_buffer_among_links() {
    let plan = plan(
        "[switch]\nkind = \"hierarchical\"\ncentral-buffer = \
         { pool = \"229376 B\", min = \"2048 B\" }\n",
    );
    let Architecture::Hierarchical(hierarchy) = &plan.switch.crossbar().architecture else {
        panic!("{:?}", plan.switch.crossbar().architecture);
    };
    assert_eq!(
        (
            hierarchy.centre.ports_per_mport,
            hierarchy.centre.links_per_mport,
        ),
        (4, 2)
    );
    assert_eq!(
        (hierarchy.mport_speedup, hierarchy.central_speedup),
        ((3, 1), (3, 1))
    );
    assert_eq!(plan.switch.crossbar().speedup, (1, 1));
    assert_eq!(
        hierarchy.central_buffer,
        Sizes::Pool {
            capacity: 1792,
            min: [32].into(),
            max: [1792].into()
        }
    );
}

/// Paper 003: 768 flits, two wires of 25 ns in 40 flits and two packets of 144: 440 and 296.
#[test]
fn g003_2_thresholds_of_the_paper() {
    let text = include_str!("ui/machines/pfc_thresholds.toml");
    let loaded = read(text);
    let plan = loaded.experiment.unwrap().fabric;
    let thresholds = Thresholds {
        xoff: 440,
        xon: 296,
    };
    assert_eq!(
        plan.flow_control,
        FlowControl::Pfc(vec![vec![thresholds]; plan.links.len()])
    );
    // The same thresholds in the file.
    let written = text.replace(
        "flow-control = \"pfc\"",
        "flow-control = { kind = \"pfc\", xoff = \"28160 B\", xon = \"18944 B\" }",
    );
    let same = read(&written).experiment.unwrap().fabric;
    assert_eq!(same.flow_control, plan.flow_control);
}

/// Trees with a centre are free of deadlock with any groups: a packet that goes up through a port
/// comes down through the same port of other switches. So it never meets a group with ports of both
/// directions again.
#[test]
fn trees_with_a_centre_are_free() {
    for (arity, ports) in [(4, 4), (6, 4), (6, 6), (4, 3), (3, 2)] {
        let text = format!(
            "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = {arity}\nlevels = 3\n[switch]\n\
             kind = \"hierarchical\"\nports-per-mport = {ports}\n[[traffic]]\nload = 0.5\n"
        );
        assert_eq!(codes(&text), [""; 0], "{arity} {ports}");
        assert!(facts(&text, "routing")[0].contains("central queues"));
    }
}

/// One file; kind and flow control are each one value of the command line.
#[test]
fn machines_are_swapped_by_one_value() {
    let text = format!(
        "{TREE}[link]\ndelay = \"20 ns\"\n[switch]\nqueues = \"voq\"\nspeedup = 2\n\
         input-buffer = \"32 KiB\"\n\
         [measure]\nlength = \"20 us\"\n"
    );
    let mut digests = BTreeMap::new();
    for kind in ["cioq", "iq"] {
        for control in ["credits", "queue-credits", "pfc", "pause"] {
            let sets = [
                format!("switch.kind={kind}"),
                format!("link.flow-control={control}"),
            ];
            let loaded = load(&Request {
                sets: &sets,
                ..Request::new("test.toml", &text)
            });
            let words = messages(&loaded);
            let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
            let is_pfc = matches!(experiment.fabric.flow_control, FlowControl::Pfc(_));
            assert_eq!(is_pfc, control == "pfc");
            let result = run(&experiment, &RunOptions::default(), &mut |_| {
                Control::Continue
            });
            let one = &result.document.run;
            assert!(one.counters.delivered_packets > 1000, "{sets:?}");
            digests.insert((kind, control), one.digest.clone());
        }
    }
    for control in ["credits", "queue-credits", "pfc", "pause"] {
        assert_ne!(digests[&("cioq", control)], digests[&("iq", control)]);
    }
}

/// Credits would be taken for the queue that an empty switch would choose, but returned for another
/// one, and no packet would arrive.
#[test]
fn a_routing_that_looks_at_queues_cannot_be_forced_upon_credits_per_queue() {
    let with = |queues: &str| {
        let more = format!(
            "[link]\nflow-control = \"queue-credits\"\n[switch]\nqueues = \"{queues}\"\n\
             input-buffer = {{ per-queue = \"4 KiB\" }}\n[routing]\nkind = \"ecmp\"\n\
             choice = \"least\"\n"
        );
        let text = format!("{TREE}{more}");
        let loaded = load(&Request {
            force: true,
            ..Request::new("test.toml", &text)
        });
        let notes = loaded.notes.sorted();
        let codes: Vec<&str> = notes.into_iter().map(|note| note.code).collect();
        (loaded.experiment.is_some(), codes)
    };
    assert_eq!(with("voq"), (false, vec!["E0504"]));
    assert!(with("voq-net").0, "queues by destination are known before");
}

/// `check` states the cost of queues, with the chosen scheme first.
#[test]
fn v001_12_check_tells_the_memory_of_a_queue_scheme() {
    // A tree of 64 hosts with switches of 8 ports and packets of one flit, 64 bytes.
    let text = |queues: &str| {
        format!(
            "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 3\n[link]\n\
             mtu = \"64 B\"\n\
             [switch]\nqueues = {queues}\n[[traffic]]\nload = 0.5\nmessage = \"64 B\"\n"
        )
    };
    assert_eq!(
        facts(&text("\"obqa\""), "queues"),
        [
            "4 per input, 16 KiB together; two packets per queue need: OBQA-4 512 B (0.00647 mm2); \
             1Q 128 B, \
          VOQsw-8 1 KiB (0.01412 mm2), VOQnet-64 8 KiB (0.07877 mm2)"
        ]
    );
    assert_eq!(
        facts(&text("\"voq\""), "queues"),
        [
            "8 per input, 16 KiB together; two packets per queue need: VOQsw-8 1 KiB (0.01412 \
             mm2); 1Q 128 B, \
          VOQnet-64 8 KiB (0.07877 mm2)"
        ]
    );
    assert_eq!(facts(&text("\"per-vl\""), "queues"), [""; 0]);
}

/// The same tree without traffic.
const BARE: &str = "netloom = 1\n[topology]\nkind = \"fat-tree\"\narity = 4\nlevels = 2\n";

/// Ten messages of 512 B from one NIC at once, each 40.96 ns on its link. With space for four, the
/// fifth enters when the first is sent, and each of the five after it 40.96 ns after the previous
/// one.
#[test]
fn what_does_not_fit_into_a_nic_waits_in_the_application() {
    let lines: String = (0..10).map(|_| "0,0,1,512\n").collect();
    let folder = std::env::temp_dir().join(format!("netloom-buffer-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("flows.csv"),
        format!("time_ns,source,destination,bytes\n{lines}"),
    )
    .unwrap();
    let outcome = |nic: &str| {
        let text = format!(
            "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n\
             [link]\nrate = \"100 Gbps\"\nflit = \"64 B\"\nmtu = \"512 B\"\nheader = \"0 B\"\n\
             [switch]\ninput-buffer = \"64 KiB\"\noutput-buffer = \"64 KiB\"\n{nic}\
             [[traffic]]\nname = \"burst\"\nflows = \"flows.csv\"\n\
             [measure]\nlength = \"2 us\"\nwarmup = \"0 ns\"\n"
        );
        let loaded = load(&Request {
            files: netloom_catalog::Disk::folder(&folder),
            ..Request::new("test.toml", &text)
        });
        let words = messages(&loaded);
        let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
        let result = run(&experiment, &RunOptions::default(), &mut |_| {
            Control::Continue
        });
        let total = result.document.run.total.clone();
        assert_eq!(total.delivered_messages, 10);
        let injected = total.injection_latency_mean_ns.unwrap();
        assert!(
            (injected - 45.0 * 40.96 / 10.0).abs() < 0.01,
            "{injected} ns"
        );
        (
            total.application_wait_mean_ns,
            total.application_wait_max_ns,
            result.document.run.digest.clone(),
        )
    };
    let (mean, longest, without) = outcome("");
    assert_eq!((mean, longest), (None, None));
    let (mean, longest, bounded) = outcome("[nic]\nbuffer = \"2 KiB\"\n");
    assert!(
        (mean.unwrap() - 15.0 * 40.96 / 10.0).abs() < 0.01,
        "{mean:?}"
    );
    assert!((longest.unwrap() - 5.0 * 40.96).abs() < 0.01, "{longest:?}");
    assert_eq!(
        bounded, without,
        "a bound says where packets wait, not when they leave"
    );
    let (mean, longest, _) = outcome("[nic]\nbuffer = \"1 MiB\"\n");
    assert_eq!((mean, longest), (Some(0.0), Some(0.0)));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Two levels share a NIC: a flood of one takes all but the guaranteed share of the other, which is
/// not blocked.
#[test]
fn levels_share_a_nic_and_none_is_shut_out() {
    let text = |nic: &str| {
        format!(
            "{BARE}{nic}[qos]\nvls = 2\n[[traffic]]\nname = \"flood\"\nsl = 0\nload = 1.0\n\
             message = \"4 KiB\"\n\
             [[traffic]]\nname = \"seldom\"\nsl = 1\nload = 0.05\nmessage = \"256 B\"\n[measure]\n\
             length = \"30 us\"\n"
        )
    };
    let results = |nic: &str| {
        let experiment = load(&Request::new("test.toml", &text(nic)))
            .experiment
            .unwrap();
        run(&experiment, &RunOptions::default(), &mut |_| {
            Control::Continue
        })
        .document
        .run
    };
    let (without, bounded) = (results(""), results("[nic]\nbuffer = \"16 KiB\"\n"));
    assert_eq!(bounded.digest, without.digest);
    let waits: Vec<f64> = bounded
        .classes
        .iter()
        .map(|class| class.summary.application_wait_mean_ns.unwrap())
        .collect();
    let before = bounded.classes[0]
        .summary
        .injection_latency_mean_ns
        .unwrap();
    assert!(
        waits[0] > 100.0 && waits[0] < before,
        "{waits:?} of {before}"
    );
    assert!(waits[1] < waits[0] / 4.0, "{waits:?}");
}

/// PAUSE stops whole links: with an incast on another lane, victims on the same links get less than
/// with PFC.
#[test]
fn pause_of_a_link_stops_the_other_lanes_too() {
    let delivered = |control: &str| {
        let text = format!(
            "{BARE}[link]\nflow-control = \"{control}\"\n[switch]\ninput-buffer = \"32 KiB\"\n\
             queues = \"voq\"\nspeedup = 2\n[qos]\nvls = 2\n\
             [[traffic]]\nname = \"incast\"\nsl = 0\nload = 0.9\nsources = \"4-15\"\n\
             pattern = {{ kind = \"pairs\", pairs = [[4, 0], [5, 0], [6, 0], [8, 0], [9, 0], [12, \
             0]] }}\n\
             [[traffic]]\nname = \"victim\"\nsl = 1\nload = 0.5\nsources = \"4-15\"\n\
             pattern = {{ kind = \"pairs\", pairs = [[4, 1], [5, 2], [6, 3], [8, 1], [9, 2], [12, \
             3]] }}\n\
             [measure]\nlength = \"60 us\"\n"
        );
        let loaded = load(&Request::new("test.toml", &text));
        let words = messages(&loaded);
        let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
        let run = run(&experiment, &RunOptions::default(), &mut |_| {
            Control::Continue
        })
        .document
        .run;
        run.classes[1].summary.delivered_load
    };
    let (pfc, pause) = (delivered("pfc"), delivered("pause"));
    assert!(pause < 0.9 * pfc, "{pause} for {pfc}");
}

/// A packet of n flits takes ceil(n / speedup) cycles.
#[test]
fn a_speedup_without_effect_is_warned_of() {
    let notes = |bytes: u32, speedup: &str, more: &str| {
        codes(&TREE.replace("512 B", &format!("{bytes} B")).replace(
            "[[traffic]]",
            &format!("[switch]\nspeedup = {speedup}\n{more}[[traffic]]"),
        ))
    };
    for (bytes, speedup, expected) in [
        (64, "2", &["W0333"][..]),
        (64, "1", &[]),
        (64, "0.5", &[]),
        (128, "1.5", &["W0333"]),
        (128, "2", &[]),
        (192, "1.5", &[]),
    ] {
        assert_eq!(notes(bytes, speedup, ""), expected, "{bytes} B, {speedup}");
    }
    assert_eq!(notes(64, "2", "kind = \"hierarchical\"\n"), ["W0333"]);
    let loaded = read(
        &TREE
            .replace("512 B", "64 B")
            .replace("[[traffic]]", "[switch]\nspeedup = 2\n[[traffic]]"),
    );
    let help = "remove `speedup`, and set clock = \"2.56 ns\"";
    assert!(messages(&loaded).contains(help), "{}", messages(&loaded));
}
