//! Switch kinds, queue schemes and flow control: the plans of valid files, and the errors of
//! invalid ones.

use std::collections::BTreeMap;

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_fabric::{
    Allocation, Architecture, FlowControl, NicQueues, QueueScheme, Sizes, Thresholds,
};

const TREE: &str = "\
netloom = 1
[topology]
kind = \"fat-tree\"
arity = 4
levels = 2
[[traffic]]
load = 0.5
message = \"512 B\"
";

fn read(text: &str) -> Loaded {
    load(&Request::new("test.toml", text))
}

fn said(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

fn codes(text: &str) -> Vec<&'static str> {
    let notes = read(text).notes.sorted();
    notes.into_iter().map(|note| note.code).collect()
}

/// The plan of the tree with further lines.
fn plan(more: &str) -> netloom_fabric::FabricPlan {
    let loaded = read(&format!("{TREE}{more}"));
    let words = said(&loaded);
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

/// A resolved input-queued switch has no unused values, and loads to itself without notes.
#[test]
fn a_resolved_input_queued_switch_loads_to_itself() {
    let text = format!("{TREE}[switch]\nkind = \"iq\"\nspeedup = 2\noutput-buffer = \"4 KiB\"\n");
    let first = read(&text);
    let notes: Vec<_> = first.notes.iter().map(|note| note.code).collect();
    assert_eq!(notes, ["W0326", "W0326"]);
    let resolved = first.experiment.unwrap().resolved.to_toml(false);
    assert!(!resolved.contains("speedup") && !resolved.contains("output-buffer"));
    let second = read(&resolved);
    assert_eq!(said(&second), "");
    assert_eq!(second.experiment.unwrap().resolved.to_toml(false), resolved);
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
    let text = TREE.replace("512 B", "9216 B");
    let text = format!(
        "{text}[link]\nrate = \"400 Gbps\"\ndelay = \"25 ns\"\nmtu = \"9216 B\"\n\
         flow-control = \"pfc\"\n\
         [switch]\ninput-buffer = \"49152 B\"\noutput-buffer = \"49152 B\"\nspeedup = 2\n"
    );
    let loaded = read(&text);
    assert_eq!(said(&loaded), "");
    let plan = loaded.experiment.unwrap().fabric;
    let thresholds = Thresholds {
        xoff: 440,
        xon: 296,
    };
    assert_eq!(
        plan.flow_control,
        FlowControl::Pfc(vec![vec![thresholds]; plan.links.len()])
    );
    insta::assert_snapshot!(facts(&text, "pfc").join("\n"), @r#"
    class `host`, cable of 25 ns, VL0: headroom 20992 B (328 flits), stops above 28160 B, resumes at 18944 B
    class `level-1`, cable of 25 ns, VL0: headroom 20992 B (328 flits), stops above 28160 B, resumes at 18944 B
    "#);
    // The same written down, and one flit more.
    let written = |xoff: u64| {
        text.replace(
            "flow-control = \"pfc\"",
            &format!("flow-control = {{ kind = \"pfc\", xoff = \"{xoff} B\", xon = \"18944 B\" }}"),
        )
    };
    let same = read(&written(28_160)).experiment.unwrap().fabric;
    assert_eq!(same.flow_control, plan.flow_control);
    insta::assert_snapshot!(said(&read(&written(28_160 + 64))), @r#"
    error[E0320]: `xoff` leaves too little space for data in flight on VL0
      --> test.toml:13:39
       |
    11 | delay = "25 ns"
       |         ------- headroom includes this twice
    12 | mtu = "9216 B"
    13 | flow-control = { kind = "pfc", xoff = "28224 B", xon = "18944 B" }
       |                                       ^^^^^^^^^ 20928 B of headroom, but a cable of 25 ns (class `host`) needs 20992 B
    14 | [switch]
    15 | input-buffer = "49152 B"
       |                --------- for each lane
       |
       = help: 2560 B in flight in both directions, and two packets of 9216 B: use xoff = "28160 B" or less, remove it, or use at least 49216 B per lane

    1 error
    "#);
}

#[test]
fn pfc_says_what_a_cable_needs() {
    let file = |size: u64| {
        format!(
            "{TREE}[link]\ncable = \"5 m\"\nflow-control = \"pfc\"\n[link.class.host]\n\
             cable = \"100 m\"\n\
             [switch]\ninput-buffer = \"{size} B\"\n"
        )
    };
    // 2 x 500 ns are 196 flits of 5.12 ns, and two packets of 8.
    let need = (196 + 16) * 64;
    assert_eq!(codes(&file(need)), [""; 0]);
    insta::assert_snapshot!(said(&read(&file(need - 64))), @r#"
    error[E0320]: `input-buffer` is too small for PFC on VL0
      --> test.toml:15:16
       |
    13 | cable = "100 m"
       |         ------- headroom includes this twice
    14 | [switch]
    15 | input-buffer = "13504 B"
       |                ^^^^^^^^^ 13504 B of headroom, but a cable of 500 ns (class `host`) needs 13568 B
       |
       = help: 12544 B in flight in both directions, and two packets of 512 B: use at least 13568 B per lane, or a smaller `link.mtu`

    1 error
    "#);
}

/// With short packets and slow clocks, the stages of signal and sender count separately.
#[test]
fn headroom_of_short_packets_counts_the_stages() {
    let text = TREE.replace("512 B", "64 B");
    let text = format!(
        "{text}[link]\ndelay = \"0 ns\"\nflow-control = \"pfc\"\n[switch]\nclock = \"51.2 ns\"\n\
         speedup = 20\n"
    );
    // A flit, credit and output of a cycle of 10 flits each, and 9 until the edge: the last start
    // is at most 29 flits after the first, followed by that packet.
    let facts = facts(&text, "pfc");
    let has = |flits: &str| facts.iter().any(|fact| fact.contains(flits));
    assert!(has("(11 flits)") && has("(30 flits)"), "{facts:?}");
}

#[test]
fn machines_that_do_not_go_together_are_told_at_once() {
    let text = "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [4, 4]\n\
                [link]\nflow-control = \"pfc\"\n[link.class.host]\nrate = \"200 Gbps\"\n\
                [switch]\nkind = \"iq\"\nspeedup = 2\ninput-buffer = { pool = \"64 KiB\" }\n\
                [routing]\ndeadlock = \"bubble\"\n[qos]\narbiter = \"scfq\"\n[nic]\n\
                queues = \"per-destination\"\n\
                [[traffic]]\nload = 0.5\n";
    insta::assert_snapshot!(said(&read(text)), @r#"
    error[E0323]: the bubble rule needs credits per lane, but flow control is `pfc`
      --> test.toml:6:16
       |
     6 | flow-control = "pfc"
       |                ^^^^^
    ...
    14 | deadlock = "bubble"
       |            -------- requires the bubble rule
       |
       = help: use flow-control = "credits", or routing.deadlock = "dateline"

    error[E0325]: links of class `host` and those of `x` have different rates
     --> test.toml:8:8
      |
    8 | rate = "200 Gbps"
      |        ^^^^^^^^^^
      |
      = help: give all links the same rate, or use switch.kind = "cioq": without output buffers, a packet passes a switch at one rate

    error[E0322]: PFC needs an input buffer per lane, found a pool
      --> test.toml:12:16
       |
     6 | flow-control = "pfc"
       |                ----- the flow control
    ...
    12 | input-buffer = { pool = "64 KiB" }
       |                ^^^^^^^^^^^^^^^^^^^
       |
       = help: use a size per lane, such as input-buffer = "65536 B": other lanes could occupy headroom in a pool

    error[E0327]: an input-queued switch has buffers per lane or queue, and cannot have a pool
      --> test.toml:12:16
       |
    10 | kind = "iq"
       |        ---- the switches
    11 | speedup = 2
    12 | input-buffer = { pool = "64 KiB" }
       |                ^^^^^^^^^^^^^^^^^^^
       |
       = help: use a size per lane, or { per-queue = "2 KiB" }

    error[E0324]: injection queues need a buffer part per queue, found a pool
      --> test.toml:12:16
       |
    12 | input-buffer = { pool = "64 KiB" }
       |                ^^^^^^^^^^^^^^^^^^^
    ...
    18 | queues = "per-destination"
       |          ----------------- requires them
       |
       = help: use input-buffer = { per-queue = "2048 B" } or more, or a size per lane

    error[E0327]: the bubble rule needs output buffers, but an input-queued switch has none
      --> test.toml:14:12
       |
    10 | kind = "iq"
       |        ---- the switches
    ...
    14 | deadlock = "bubble"
       |            ^^^^^^^^
       |
       = help: use deadlock = "dateline", or switch.kind = "cioq"

    error[E0327]: this arbiter tags packets in output buffers, but an input-queued switch has none
      --> test.toml:16:11
       |
    10 | kind = "iq"
       |        ---- the switches
    ...
    16 | arbiter = "scfq"
       |           ^^^^^^
       |
       = help: use an arbiter without tags ("dtable", "ib-two-table", "round-robin", …), or switch.kind = "cioq"

    error[E0330]: NIC queues per destination need a routing with one path from a NIC to another
      --> test.toml:18:10
       |
    18 | queues = "per-destination"
       |          ^^^^^^^^^^^^^^^^^
       |
       = help: use routing.kind = "d-mod-k" (trees) or "up-down" (any fabric), or nic.queues = "per-sl"

    warning[W0326]: `speedup` is not used by an input-queued switch
      --> test.toml:11:11
       |
    11 | speedup = 2
       |           ^ its crossbar is as fast as its links
       |
       = help: remove it, unless the same file also runs with kind = "cioq"

    8 errors, 1 warning
    "#);
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
    assert!(said(&loaded).contains(help), "{}", said(&loaded));
}

#[test]
fn checks_of_machines_have_their_codes() {
    let pfc = "[link]\nflow-control = ";
    let cases: &[(&str, &[&str])] = &[
        (
            &format!("{pfc}{{ kind = \"pfc\", xon = \"16 KiB\" }}\n"),
            &["E0321"],
        ),
        (
            &format!("{pfc}{{ kind = \"pfc\", xoff = \"15 KiB\" }}\n"),
            &["E0320"],
        ),
        (
            "[link]\nflow-control = \"queue-credits\"\n[switch]\nkind = \"hierarchical\"\n",
            &["E0323"],
        ),
        (
            "[link]\nflow-control = \"queue-credits\"\n[switch]\nqueues = \"voq-net\"\n\
             input-buffer = \"4 KiB\"\n",
            &["E0324"],
        ),
        (
            "[link]\nflow-control = \"queue-credits\"\n[switch]\n\
             input-buffer = { pool = \"4 KiB\" }\n",
            &["E0324"],
        ),
        // A packet fits into a queue, but the round trip does not.
        (
            "[link]\nflow-control = \"queue-credits\"\n[switch]\nqueues = \"voq-net\"\n\
             input-buffer = \"8 KiB\"\n",
            &["W0312"],
        ),
        (
            "[switch]\nkind = \"iq\"\n[link.class.host]\nrate = \"200 Gbps\"\n",
            &["E0325"],
        ),
        (
            "[switch]\nkind = \"iq\"\ninput-buffer = { pool = \"64 KiB\" }\n",
            &["E0327"],
        ),
        (
            "[switch]\nkind = \"iq\"\n[qos]\narbiter = \"wfq\"\n",
            &["E0327"],
        ),
        (
            "[switch]\nkind = \"hierarchical\"\n[switch.pipeline]\ninput = 0\nrouting = 0\n",
            &["E0328"],
        ),
        (
            "[switch]\nkind = \"hierarchical\"\nqueues = \"voq\"\n",
            &["E0106"],
        ),
        (
            "[switch]\nkind = \"hierarchical\"\ncentral-buffer = \"512 B\"\n",
            &["E0311"],
        ),
        (
            "[switch]\nkind = \"hierarchical\"\ncentral-buffer = { per-queue = \"512 B\" }\n",
            &["E0331"],
        ),
        (
            "[switch]\noutput-buffer = { per-queue = \"2 KiB\" }\n",
            &["E0331"],
        ),
        (
            "[nic]\nqueues = \"per-destination\"\n[routing]\nkind = \"random-up\"\n",
            &["E0330"],
        ),
        (
            "[nic]\nqueues = \"per-destination\"\n[switch]\nqueues = \"voq-net\"\n\
             input-buffer = \"4 KiB\"\n",
            &["E0324"],
        ),
        (
            "[switch]\nqueues = { kind = \"obqa\", queues = 0 }\n",
            &["E0102"],
        ),
        (
            "[switch]\nqueues = { kind = \"dbbm\", queues = 8192 }\ninput-buffer = \"64 KiB\"\n\
             [qos]\nvls = 2\n",
            &["E0313"],
        ),
        ("[switch]\nqueues = \"1q\"\n[qos]\nvls = 2\n", &[]),
        (
            "[switch]\nqueues = \"1q\"\ninput-buffer = { per-queue = \"8 KiB\" }\n[qos]\nvls = 2\n",
            &["E0329"],
        ),
    ];
    for (more, expected) in cases {
        assert_eq!(codes(&format!("{TREE}{more}")), *expected, "{more}");
    }
    let torus =
        "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [4, 4]\n[[traffic]]\nload = 0.5\n";
    let cases: &[(&str, &[&str])] = &[
        (
            "[switch]\nqueues = \"1q\"\n[routing]\ndeadlock = \"dateline\"\n",
            &["E0329"],
        ),
        ("[switch]\nqueues = \"1q\"\n[qos]\nvls = 2\n", &["E0329"]),
        ("[switch]\nqueues = \"1q\"\n", &[]),
        ("[link]\nflow-control = \"pfc\"\n", &["E0323"]),
        (
            "[link]\nflow-control = \"pfc\"\n[routing]\ndeadlock = \"dateline\"\n",
            &[],
        ),
        ("[switch]\nkind = \"iq\"\n", &["E0327"]),
        (
            "[switch]\nkind = \"iq\"\n[routing]\ndeadlock = \"dateline\"\n",
            &[],
        ),
        ("[switch]\nkind = \"hierarchical\"\n", &[]),
    ];
    for (more, expected) in cases {
        assert_eq!(codes(&format!("{torus}{more}")), *expected, "{more}");
    }
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

/// Pairs of neighbouring ports join dimensions: packets that move in y share a central queue with
/// packets that move in x.
#[test]
fn a_centre_that_mixes_dimensions_can_deadlock() {
    let text = |rule: &str, ports: u32| {
        format!(
            "netloom = 1\n[topology]\nkind = \"torus\"\nsides = [4, 4]\n[routing]\n\
             deadlock = \"{rule}\"\n[switch]\n\
             kind = \"hierarchical\"\nports-per-mport = {ports}\n[[traffic]]\nload = 0.5\n"
        )
    };
    assert_eq!(codes(&text("dateline", 5)), [""; 0]);
    assert_eq!(codes(&text("bubble", 2)), [""; 0]);
    insta::assert_snapshot!(said(&read(&text("dateline", 2))), @r#"
    error[E0501]: routing dimension-order can deadlock on this fabric
     --> test.toml:6:12
      |
    6 | deadlock = "dateline"
      |            ^^^^^^^^^^ cycle of 4 channels: s12->s15 lane 1 (its MPort 0, central link 0), s15->s14 lane 0 (its MPort 0, central link 0), s14->s13 lane 0 (its MPort 0, central link 0), s13->s12 lane 0 (its MPort 0, central link 0)
    7 | [switch]
    8 | kind = "hierarchical"
      |        -------------- inputs of an MPort share its central queues
      |
      = help: set `ports-per-mport` so that an MPort does not join inputs of different directions, or use switch.kind = "cioq"; on a torus, use dimension-order with deadlock = "bubble"; --force runs it anyway

    1 error
    "#);
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
            let words = said(&loaded);
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
        let words = said(&loaded);
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

#[test]
fn a_bounded_nic_needs_room_for_every_level_and_queues_by_level() {
    let with = |nic: &str, more: &str| {
        let text = format!(
            "{BARE}[nic]\n{nic}\n{more}[qos]\nvls = 2\n[[traffic]]\nname = \"a\"\nsl = 0\n\
             load = 0.1\n\
             [[traffic]]\nname = \"b\"\nsl = 1\nload = 0.1\n"
        );
        said(&load(&Request::new("test.toml", &text)))
    };
    insta::assert_snapshot!(with("buffer = \"3 KiB\"", ""), @r#"
    error[E0346]: a NIC of 3 KiB cannot hold a packet of every service level
     --> test.toml:7:10
      |
    7 | buffer = "3 KiB"
      |          ^^^^^^^ 2 times 2048 B are 4096 B
      |
      = help: use at least buffer = "4096 B", or a smaller `link.mtu`

    1 error
    "#);
    insta::assert_snapshot!(with("buffer = \"64 KiB\"\nqueues = \"per-destination\"", "[routing]\n\
        kind = \"d-mod-k\"\n"), @r#"
    error[E0346]: a bounded NIC needs queues per service level, but this one has queues per destination
     --> test.toml:7:10
      |
    7 | buffer = "64 KiB"
      |          ^^^^^^^^
    8 | queues = "per-destination"
      |          -----------------
      |
      = help: remove `buffer`, or use nic.queues = "per-sl" without a congestion control (with tiled switches, a qos.nic-arbiter)

    1 error
    "#);
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
        let words = said(&loaded);
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

#[test]
fn mistakes_with_pause_are_told() {
    let with = |topology: &str, control: &str, more: &str| {
        let text = format!(
            "netloom = 1\n[topology]\n{topology}\n[link]\nflow-control = {control}\n\
             {more}[[traffic]]\nload = 0.1\n"
        );
        said(&load(&Request::new("test.toml", &text)))
    };
    let tree = "kind = \"fat-tree\"\narity = 4\nlevels = 2";
    insta::assert_snapshot!(with(tree, "\"pause\"", "[switch]\ninput-buffer = \"4 KiB\"\n"), @r#"
    error[E0320]: `input-buffer` is too small for PAUSE
     --> test.toml:9:16
      |
    9 | input-buffer = "4 KiB"
      |                ^^^^^^^ 4096 B for all lanes, of which links of class `host` need 4352 B as headroom
      |
      = help: use at least 4352 B for all lanes together, or a smaller `link.mtu`

    1 error
    "#);
    insta::assert_snapshot!(with(tree, "{ kind = \"pause\", xoff = \"30 KiB\" }", "[switch]\n\
        input-buffer = \"32 KiB\"\n"), @r#"
    error[E0320]: `xoff` leaves too little space for data in flight
     --> test.toml:7:41
      |
    7 | flow-control = { kind = "pause", xoff = "30 KiB" }
      |                                         ^^^^^^^^ 32768 B for all lanes, of which links of class `host` need 4352 B as headroom
      |
      = help: use xoff = "28416 B" or less, or remove it

    1 error
    "#);
    insta::assert_snapshot!(with("kind = \"torus\"\nsides = [4]\nhosts = 1", "\"pause\"", "[switch]\ninput-buffer = \"32 KiB\"\n[routing]\nkind = \"dimension-order\"\ndeadlock = \"dateline\"\n"), @r#"
    error[E0323]: PAUSE stops all lanes of a link, but this routing needs 2 separate lanes
      --> test.toml:7:16
       |
     7 | flow-control = "pause"
       |                ^^^^^^^
    ...
    11 | kind = "dimension-order"
       |        ----------------- avoids deadlock with its lanes
       |
       = help: use flow-control = "pfc", or routing.kind = "up-down", which needs one lane

    1 error
    "#);
}
