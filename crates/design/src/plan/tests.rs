//! Plans for typical requests.

use netloom_catalog::{Document, Notes, Section};

use super::*;

fn read(text: &str) -> Result<Request, Vec<String>> {
    let mut notes = Notes::new();
    let document = Document::parse("plan.toml", text, &mut notes);
    let request = Section::open(&document.root, &mut notes)
        .and_then(|mut root| {
            let request = Request::read(&mut root, &Surroundings::default());
            root.finish();
            request
        })
        .filter(|_| !notes.has_errors());
    request.ok_or_else(|| notes.iter().map(|note| note.message.clone()).collect())
}

fn request(ports: &str, classes: &[&str]) -> Request {
    let classes: Vec<String> = classes
        .iter()
        .map(|c| format!("[[plan.class]]\n{c}\n"))
        .collect();
    read(&format!("[plan]\n{ports}\n{}", classes.join(""))).unwrap()
}

/// The four classes of a host port with eight entries.
const HOST: [&str; 4] = ["share = 0.5", "share = 0.3", "share = 0.15", "share = 0.05"];

fn given(plan: &Plan) -> Vec<f64> {
    plan.classes
        .iter()
        .map(|c| (c.share_given * 1e4).round() / 1e4)
        .collect()
}

#[test]
fn eight_entries_hold_four_classes_exactly() {
    let plan = plan(&request("entries = 8\nhigh-table = \"never\"", &HOST)).unwrap();
    assert_eq!(given(&plan), [0.5, 0.3, 0.15, 0.05]);
    assert!(plan.unmet.is_empty(), "{:?}", plan.unmet);
    let Tables::InfiniBand { high, low, .. } = &plan.tables else {
        panic!("{:?}", plan.tables);
    };
    assert!(high.entries().is_empty());
    assert!(low.entries().len() <= 8);
    assert!(low.entries().iter().all(|e| e.weight > 0));
}

#[test]
fn a_deadline_that_the_low_table_keeps_needs_no_trust() {
    let mut classes = HOST;
    classes[3] = "share = 0.05\ndeadline = \"10 us\"";
    let plan = plan(&request("entries = 8", &classes)).unwrap();
    let last = &plan.classes[3];
    assert_eq!(last.table, "low");
    assert!(last.worst_wait.unwrap() <= last.deadline.unwrap());
    assert!(last.slack().is_some());
    assert_eq!(given(&plan), [0.5, 0.3, 0.15, 0.05]);
    assert!(plan.notes.is_empty(), "{:?}", plan.notes);
}

#[test]
fn a_tight_deadline_goes_to_the_high_table_and_says_what_it_trusts() {
    let mut classes = HOST;
    classes[3] = "share = 0.05\npacket = \"256 B\"\ndeadline = \"1 us\"";
    let tight = request("entries = 8", &classes);
    let plan = plan(&tight).unwrap();
    assert_eq!(plan.classes[3].table, "high");
    assert!(plan.notes.iter().any(|note| note.contains(HIGH_ASSUMPTION)));
    assert_eq!(given(&plan), [0.5, 0.3, 0.15, 0.05]);
    let Tables::InfiniBand { limit, .. } = plan.tables else {
        panic!("{:?}", plan.tables);
    };
    assert_eq!(limit, 0, "the smallest sufficient limit");
    // If the high table must not be used, the deadline takes precedence over the shares, as long as
    // any table keeps it.
    let never = request("entries = 8\nhigh-table = \"never\"", &classes);
    let inexact = super::plan(&never).unwrap();
    assert!(!inexact.is_late() && !inexact.unmet.is_empty());
    classes[3] = "share = 0.05\npacket = \"256 B\"\ndeadline = \"600 ns\"";
    let never = request("entries = 8\nhigh-table = \"never\"", &classes);
    let refusal = super::plan(&never).unwrap_err();
    assert!(refusal.nearest.is_some() && refusal.is_proved);
    assert!(refusal.to_string().contains("sl3 may wait"), "{refusal}");
}

#[test]
fn contradictions_name_the_fewest_classes() {
    let names = |refusal: &PlanError, request: &Request| -> Vec<String> {
        let name = |&class: &usize| request.classes[class].name.clone();
        refusal.conflict().classes.iter().map(name).collect()
    };
    // The shares sum to too much: the largest two alone exceed the link.
    let greedy = request(
        "",
        &["share = 0.2", "share = 0.6", "share = 0.1", "share = 0.5"],
    );
    let refusal = plan(&greedy).unwrap_err();
    assert_eq!(names(&refusal, &greedy), ["sl1", "sl3"]);
    assert!(refusal.conflict().is_smallest);
    // A deadline shorter than one packet of another class: only these two conflict.
    let short = request(
        "high-table = \"never\"",
        &[
            "name = \"bulk\"\nshare = 0.4",
            "name = \"small\"\nshare = 0.3\npacket = \"64 B\"",
            "name = \"fast\"\nshare = 0.1\npacket = \"64 B\"\ndeadline = \"200 ns\"",
        ],
    );
    let refusal = plan(&short).unwrap_err();
    assert_eq!(names(&refusal, &short), ["bulk", "fast"]);
    // A deadline that cannot be kept, not even alone.
    let alone = request("", &["share = 0.5", "share = 0.1\ndeadline = \"1 ns\""]);
    let refusal = plan(&alone).unwrap_err();
    assert_eq!(names(&refusal, &alone), ["sl1"]);
}

#[test]
fn c000_12_distances_give_the_table_of_the_paper() {
    let rows = [
        (94, 192, 2),
        (164, 128, 4),
        (300, 2048, 8),
        (350, 2048, 16),
        (40, 1024, 32),
        (36, 1024, 64),
        (16, 1024, 64),
    ];
    let class = |(share, bytes, distance)| {
        format!("share = 0.{share:03}\npacket = \"{bytes} B\"\ndistance = {distance}")
    };
    let classes: Vec<String> = rows.map(class).to_vec();
    let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
    let of = |ports: &str| {
        plan(&request(
            &format!("arbiter = \"dtable\"\n{ports}"),
            &classes,
        ))
    };
    // Pinned to the total of the printed weights, which sum to one credit more; the search stops at
    // a smaller one.
    let pinned = of("total = 1072").unwrap();
    let own: u64 = pinned
        .classes
        .iter()
        .map(|class| class.bytes_per_turn)
        .sum();
    assert_eq!(own, 1073 * 64);
    // A larger pool moves both ends of the range of a class's entries.
    assert!(
        of("k = 0.6\nw = 3.0").is_err(),
        "an entry needs more than w"
    );
    let wide = of("k = 0.6\nw = 3.6").unwrap();
    assert!(wide.facts.contains(&("k".to_owned(), "0.6".to_owned())));
    assert!(wide.classes[0].share_least < pinned.classes[0].share_least);
    for class in &wide.classes {
        let (least, most) = (class.share_least.unwrap(), class.share_most.unwrap());
        assert!(least <= class.share_given + 0.001 && class.share_given <= most + 0.001);
    }
    // Twice the slots: every distance has twice the entries.
    let long = of("entries = 128").unwrap();
    let entries: Vec<usize> = long.classes.iter().map(|class| class.entries).collect();
    assert_eq!(entries, [64, 32, 16, 8, 4, 2, 2]);
    let plan = of("").unwrap();
    let fact = |word: &str| {
        plan.facts
            .iter()
            .find(|(w, _)| w == word)
            .unwrap()
            .1
            .clone()
    };
    assert_eq!(
        (fact("k").as_str(), fact("pool").as_str()),
        ("0.5", "1024 credits")
    );
    let distances: Vec<usize> = plan.classes.iter().map(|c| c.distance).collect();
    assert_eq!(distances, [2, 4, 8, 16, 32, 64, 64]);
    assert!(plan.unmet.is_empty());
}

/// A unit of weight of BXI is `k` flits: the amount that a class may send per turn is a multiple of
/// it.
#[test]
fn the_size_of_a_turn_is_a_key() {
    for arbiter in ["bxi-table", "bxi-deficit"] {
        for k in [1, 16, 64] {
            let ports = format!("arbiter = \"{arbiter}\"\ntolerance = 0.05\nk = {k}");
            let plan = plan(&request(&ports, &HOST)).unwrap();
            let Tables::Quantum { table, .. } = &plan.tables else {
                panic!("a table of quanta");
            };
            assert_eq!(table.k, k);
            for class in &plan.classes {
                assert_eq!(
                    class.bytes_per_turn % (64 * u64::from(k)),
                    0,
                    "{arbiter} {k}"
                );
                let error = class.share_given / class.share_wanted - 1.0;
                assert!(
                    error.abs() <= 0.0501,
                    "{arbiter} {k} {}: {error}",
                    class.name
                );
            }
        }
    }
}

#[test]
fn fewer_lanes_than_classes() {
    let plan = plan(&request("vls = 3", &HOST)).unwrap();
    let planned = [0, 1, 2, 2];
    assert_eq!(plan.sl2vl(), [&planned[..], &[0; 12]].concat());
    assert!(
        plan.notes[0].contains("sl2 and sl3 share VL2"),
        "{:?}",
        plan.notes
    );
    assert!(plan.classes[2].worst_wait.is_none());
    assert_eq!(given(&plan), [0.5, 0.3, 0.15, 0.05]);
    let refusal = super::plan(&request("vls = 3\narbiter = \"dtable\"", &HOST)).unwrap_err();
    assert!(refusal.to_string().contains("arbitrates by service level"));
}

/// Unplanned service levels take the largest lane without a deadline, wherever it is in the list.
#[test]
fn unplanned_levels_harm_no_deadline() {
    let row = |ports: &str, classes: &[&str]| plan(&request(ports, classes)).unwrap().sl2vl();
    let late = "share = 0.6\ndeadline = \"50 us\"";
    let classes = [late, "share = 0.1", "sl = 9\nshare = 0.3"];
    let mut expected = vec![2; 16];
    expected[..2].copy_from_slice(&[0, 1]);
    assert_eq!(row("", &classes), expected);
    // Two small classes in one lane have more than the largest alone.
    let classes = [late, "share = 0.1", "share = 0.1", "share = 0.11"];
    let shared = row("vls = 3", &classes);
    let lane = shared[15];
    assert_eq!(
        shared[..4].iter().filter(|vl| **vl == lane).count(),
        2,
        "{shared:?}"
    );
    // If every class has a deadline, the largest suffers least.
    let classes = [late, "share = 0.2\ndeadline = \"50 us\""];
    assert_eq!(row("", &classes)[2..], [0; 14]);
}

#[test]
fn code_points_are_read_and_their_mistakes_reported_together() {
    let class = |dscp: &str| format!("[[plan.class]]\nshare = 0.2\ndscp = {dscp}\n");
    let of = |all: &[&str]| {
        let classes: String = all.iter().map(|dscp| class(dscp)).collect();
        read(&format!("[plan]\n{classes}"))
    };
    let request = of(&["26", "[0, 63]"]).unwrap();
    assert_eq!(request.classes[0].dscps, [26]);
    assert_eq!(request.classes[1].dscps, [0, 63]);
    let mistakes = of(&["64", "[46, 46, -1]", "[]", "\"ef\"", "46"]).unwrap_err();
    let expected = [
        "64 is out of range",
        "DSCP 46 is in the list twice",
        "-1 is out of range",
        "the list of code points is empty",
        "expected a DSCP, found a string",
        "two classes have DSCP 46",
    ];
    assert_eq!(mistakes, expected);
}

#[test]
fn classes_carry_libraries_of_the_table() {
    let class = |carries: &str| format!("[[plan.class]]\nshare = 0.2\ncarries = {carries}\n");
    let of = |all: &[&str]| {
        let classes: String = all.iter().map(|carries| class(carries)).collect();
        read(&format!("[plan]\n{classes}"))
    };
    let request = of(&["[]", "[\"nccl\", \"ucx@prefill\"]"]).unwrap();
    assert!(request.classes[0].carries.is_empty());
    let names: Vec<String> = request.classes[1]
        .carries
        .iter()
        .map(|c| c.to_string())
        .collect();
    assert_eq!(names, ["nccl", "ucx@prefill"]);
    let mistakes = of(&["[\"ncl\", 3]", "[\"ucx@\"]"]).unwrap_err();
    let expected = [
        "expected a library, found \"ncl\"",
        "expected the name of a library, found an integer",
        "the name of the process cannot be used",
    ];
    assert_eq!(mistakes, expected);
}

#[test]
fn every_kind_plans_the_same_needs() {
    let mut classes = HOST;
    classes[3] = "share = 0.05\npacket = \"256 B\"\ndeadline = \"8 us\"";
    for arbiter in ["ib-two-table", "dtable", "bxi-table", "bxi-deficit"] {
        let ports = format!("arbiter = \"{arbiter}\"\nentries = 16");
        let plan = plan(&request(&ports, &classes));
        let plan = plan.unwrap_or_else(|refusal| panic!("{arbiter}: {refusal}"));
        assert!(plan.unmet.is_empty(), "{arbiter}: {:?}", plan.unmet);
        for class in &plan.classes {
            let error = class.share_given / class.share_wanted - 1.0;
            assert!(error.abs() <= 0.0101, "{arbiter} {}: {error}", class.name);
        }
    }
}

#[test]
fn mice_and_elephants_share_a_port() {
    let classes = [
        "share = 0.9\npacket = \"64 B\"",
        "share = 0.09\npacket = \"1 KiB\"",
        "share = 0.01",
    ];
    for arbiter in ["ib-two-table", "dtable", "bxi-table", "bxi-deficit"] {
        let ports = format!("arbiter = \"{arbiter}\"\nentries = 32");
        let plan = plan(&request(&ports, &classes)).unwrap();
        let worst = plan
            .classes
            .iter()
            .map(|c| (c.share_given / c.share_wanted - 1.0).abs());
        let worst = worst.fold(0.0, f64::max);
        assert!(worst <= 0.0101, "{arbiter}: {worst} {:?}", plan.tables);
    }
}

#[test]
fn mistakes_are_reported_all_at_once() {
    let text = "[plan]\nentries = 65\nvls = 16\ntolerance = 0\n[[plan.class]]\nshare = 1.5\n\
        [[plan.class]]\nsl = 3\nshare = 0.1\npacket = \"1 MiB\"";
    let notes = read(text).unwrap_err();
    assert_eq!(
        notes,
        [
            "a table cannot have 65 entries",
            "a link has 1 to 15 data lanes",
            "0 is not a relative error",
            "1.5 is not a share of a link",
            "packets of 1 MiB are out of range",
        ]
    );
    assert_eq!(
        read("[qos]").unwrap_err(),
        ["the file has no [plan] section", "unknown key `qos`"]
    );
    let twice = "[plan]\n[[plan.class]]\nsl = 1\nshare = 0.1\n[[plan.class]]\nshare = 0.1\n";
    assert_eq!(
        read(twice).unwrap_err(),
        ["two classes use SL1", "two classes are named \"sl1\""]
    );
}

/// Without its deadline the low table serves storage well enough, so only control is late there.
#[test]
fn only_classes_that_are_late_in_the_low_table_move_up() {
    let classes = [
        "name = \"bulk\"\nshare = 0.475",
        "name = \"storage\"\nshare = 0.475\ndeadline = \"20 us\"",
        "name = \"control\"\nshare = 0.05\npacket = \"256 B\"\ndeadline = \"500 ns\"",
    ];
    let plan = plan(&request("entries = 16", &classes)).unwrap();
    assert!(plan.unmet.is_empty(), "{:?}", plan.unmet);
    let tables: Vec<&str> = plan.classes.iter().map(|class| class.table).collect();
    assert_eq!(tables, ["low", "low", "high"]);
}

/// Entries of one class that differ in weight keep what equal entries cannot.
#[test]
fn entries_of_a_class_may_differ() {
    let exact = |classes: &[&str]| {
        let plan = plan(&request("entries = 4\nhigh-table = \"never\"", classes)).unwrap();
        assert!(plan.unmet.is_empty(), "{:?}", plan.unmet);
    };
    exact(&[
        "share = 0.5001\npacket = \"2048 B\"\ndeadline = \"1638 ns\"",
        "share = 0.1666",
        "share = 0.3333",
    ]);
    exact(&[
        "share = 0.3334\ndeadline = \"1572 ns\"",
        "share = 0.5",
        "share = 0.1666",
    ]);
}

/// The search for the fewest classes is limited, regardless of the number of classes and entries.
#[test]
fn a_refusal_comes_at_once() {
    let slow = [
        "share = 0.015",
        "share = 0.0724\npacket = \"4122 B\"\ndeadline = \"4915 ns\"",
        "share = 0.0434\npacket = \"4096 B\"\ndeadline = \"984 ns\"",
        "share = 0.0434",
        "share = 0.0724\ndeadline = \"1312 ns\"",
        "share = 0.7246\ndeadline = \"984 ns\"",
        "share = 0.0144\npacket = \"256 B\"\ndeadline = \"19676 ns\"",
        "share = 0.0144",
    ];
    let bxi = "arbiter = \"bxi-table\"\nentries = 32\nrate = \"800 Gbps\"\nhops = 2\nvls = 8";
    let many = [
        "share = 0.0709",
        "share = 0.014\npacket = \"4122 B\"",
        "share = 0.007",
        "share = 0.0352\npacket = \"64 B\"",
        "share = 0.2112\ndeadline = \"7882 ns\"",
        "share = 0.2112\npackets = [[\"128 B\", 9], [\"1024 B\", 6], [\"4096 B\", 1]]",
        "share = 0.0704",
        "share = 0.1408\ndeadline = \"131360 ns\"",
        "share = 0.2112\npacket = \"4162 B\"\ndeadline = \"65680 ns\"",
        "share = 0.0211\npacket = \"4096 B\"\ndeadline = \"19736 ns\"",
        "share = 0.007\npackets = [[\"64 B\", 5], [\"100 B\", 4], [\"300 B\", 9]]",
    ];
    let ib = "entries = 16\nrate = \"25 Gbps\"\nmanagement = \"0 B\"\nhigh-table = \"deadlines\"";
    // Sizes without a common step under a limit: each trial of a limit takes long.
    let mixed = "packets = [[\"64 B\", 5], [\"100 B\", 4], [\"300 B\", 9]]";
    let shares = [
        ("0.09383", "packet = \"64 B\"\ndeadline = \"2987 ns\""),
        ("0.06347", "packet = \"4122 B\""),
        ("0.09107", "packet = \"64 B\""),
        ("0.09107", &format!("{mixed}\ndeadline = \"1112 ns\"")),
        ("0.01656", "packet = \"64 B\"\ndeadline = \"20509 ns\""),
        ("0.09107", ""),
        ("0.10211", mixed),
        ("0.08003", "deadline = \"5837 ns\""),
        ("0.07451", "packet = \"4122 B\""),
        ("0.03588", "packet = \"4122 B\"\ndeadline = \"15700 ns\""),
        ("0.11039", "deadline = \"19935 ns\""),
        ("0.07175", "packet = \"256 B\""),
        ("0.07727", mixed),
    ];
    let limited = shares.map(|(share, more)| format!("share = {share}\n{more}"));
    let limited: Vec<&str> = limited.iter().map(String::as_str).collect();
    let short = "entries = 8\nrate = \"100 Gbps\"\nhops = 1\npacket = \"4096 B\"";
    let mut n_refused = 0;
    for (ports, classes) in [(bxi, &slow[..]), (ib, &many[..]), (short, &limited[..])] {
        let began = std::time::Instant::now();
        let planned = plan(&request(ports, classes));
        println!("{:?}", began.elapsed());
        let Err(refusal) = planned else {
            continue;
        };
        n_refused += 1;
        let refused = began.elapsed();
        let conflict = refusal.conflict();
        println!("{refused:?}, {:?} with {conflict:?}", began.elapsed());
        assert!(!conflict.classes.is_empty());
        assert!(began.elapsed().as_secs_f64() < 8.0, "{:?}", began.elapsed());
    }
    assert!(n_refused > 0);
}

/// A typical request: round shares and deadlines, packets of the usual sizes.
#[derive(Clone, Debug)]
struct Drawn {
    arbiter: &'static str,
    high_table: &'static str,
    classes: Vec<(u32, u32, Option<u32>)>,
}

impl Drawn {
    fn request(&self, entries: u16) -> Request {
        let sum: u32 = self.classes.iter().map(|(share, ..)| share).sum();
        let class = |&(share, bytes, deadline): &(u32, u32, Option<u32>)| {
            let share = f64::from(share) / f64::from(sum.max(100));
            let share = (share * 1e6).floor() / 1e6;
            let deadline = deadline.map(|tenths| format!("\ndeadline = \"{tenths}00 ns\""));
            let deadline = deadline.unwrap_or_default();
            format!("share = {share}\npacket = \"{bytes} B\"{deadline}")
        };
        let classes: Vec<String> = self.classes.iter().map(class).collect();
        let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
        let Drawn {
            arbiter,
            high_table,
            ..
        } = self;
        request(
            &format!("arbiter = \"{arbiter}\"\nhigh-table = \"{high_table}\"\nentries = {entries}"),
            &classes,
        )
    }
}

fn drawn() -> impl proptest::strategy::Strategy<Value = Drawn> {
    use proptest::prelude::*;
    let arbiter = prop_oneof![
        3 => Just("ib-two-table"),
        1 => Just("dtable"),
        1 => Just("bxi-table"),
        1 => Just("bxi-deficit"),
    ];
    let high_table = prop_oneof![Just("when-needed"), Just("deadlines"), Just("never")];
    let bytes = prop_oneof![Just(64u32), Just(256), Just(1024), Just(2048), Just(4096)];
    let class = (1u32..60, bytes, proptest::option::of(3u32..60));
    let classes = proptest::collection::vec(class, 2..6);
    (arbiter, high_table, classes).prop_map(|(arbiter, high_table, classes)| Drawn {
        arbiter,
        high_table,
        classes,
    })
}

/// Returns whether tables of these lengths, from the shortest, keep more and more: a longer table
/// can do everything that a shorter one can.
fn keep_more_and_more(drawn: &Drawn, lengths: &[u16]) -> Result<(), String> {
    // Nothing kept, deadlines only, shares too.
    let met = |&entries: &u16| match plan(&drawn.request(entries)) {
        Err(_) => 0,
        Ok(plan) if !plan.unmet.is_empty() => 1,
        Ok(_) => 2,
    };
    let met: Vec<u32> = lengths.iter().map(met).collect();
    match met.is_sorted() {
        true => Ok(()),
        false => Err(format!("tables of {lengths:?} entries keep {met:?}")),
    }
}

#[test]
fn what_thirteen_entries_keep_sixteen_keep() {
    let drawn = Drawn {
        arbiter: "ib-two-table",
        high_table: "never",
        classes: vec![
            (7, 2048, None),
            (42, 2048, None),
            (48, 256, Some(17)),
            (46, 64, None),
            (5, 1024, None),
        ],
    };
    keep_more_and_more(&drawn, &[13, 14, 15, 16, 32, 64]).unwrap();
    assert!(plan(&drawn.request(13)).is_ok());
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 12,
        failure_persistence: None,
        ..proptest::test_runner::Config::default()
    })]

    #[test]
    fn what_a_short_table_keeps_a_longer_one_keeps(drawn in drawn(), few in 4u16..12) {
        let met = keep_more_and_more(&drawn, &[few, few + 1, few + 3, 2 * few, 4 * few, 64]);
        proptest::prop_assert!(met.is_ok(), "{}", met.unwrap_err());
    }
}

#[test]
fn each_kind_of_port_has_tables_that_fit_its_smallest_device() {
    let devices = "[[plan.device]]\nports = \"hosts\"\nlow-entries = 6\nvls = 4\n\
                   [[plan.device]]\nports = \"hosts\"\nlow-entries = 16\nhigh-entries = 0\n\
                   [[plan.device]]\nports = \"switches\"\nprofile = \"any\"\n";
    let plan = plan(&request(&format!("entries = 64\n{devices}"), &HOST)).unwrap();
    let room = |ports: PortsOf| {
        let own = plan.fitted.iter().find(|fitted| fitted.ports == ports);
        own.map(|own| own.room)
    };
    // The smallest number of each kind, from any device; and OpenSM fills 32 of 64 entries.
    let expected = |low, high| Some(Room { low, high, vls: 4 });
    assert_eq!(room(PortsOf::Hosts), expected(6, 0));
    assert_eq!(room(PortsOf::Switches), expected(32, 32));
    assert_eq!(room(PortsOf::Routers), None);
    for fitted in &plan.fitted {
        assert_eq!(fitted.plan.sl2vl(), plan.sl2vl(), "one lane everywhere");
        let lists = fitted.plan.tables.lists();
        let (high, low) = (lists[0].1.len(), lists[1].1.len());
        assert!(high <= fitted.room.high.into() && low <= fitted.room.low.into());
    }
}

#[test]
fn entries_weigh_no_less_than_a_packet_unless_asked() {
    let classes = [
        "share = 0.6\npackets = [[\"64 B\", 9], [\"4 KiB\", 1]]",
        "share = 0.4\npackets = [[\"256 B\", 3], [\"2 KiB\", 1]]",
    ];
    let least = |ports: &str| {
        let plan = plan(&request(ports, &classes)).unwrap();
        let mut smallest = [u16::MAX; 2];
        for (key, weight) in plan.tables.lists().into_iter().flat_map(|(_, list)| list) {
            let own = &mut smallest[usize::from(key)];
            *own = weight.min(*own);
        }
        smallest
    };
    let [one, other] = least("");
    assert!(one >= 64 && other >= 32, "{one} and {other} times 64 bytes");
    let [one, other] = least("small-weights = true");
    assert!(one < 64 || other < 32, "{one} and {other} times 64 bytes");
}

/// One class with a slowdown next to two others.
fn slow(ports: &str, slowdown: &str, packet: &str) -> Request {
    let packet = format!("packet = \"{packet}\"");
    let own = format!("name = \"own\"\nshare = 0.6\nslowdown = {slowdown}\n{packet}");
    let [one, two] = ["one", "two"].map(|name| {
        let share = if name == "one" { 0.1 } else { 0.3 };
        format!("name = \"{name}\"\nshare = {share}\n{packet}")
    });
    request(ports, &[&own, &one, &two])
}

#[track_caller]
fn reached(plan: &Plan) -> f64 {
    let own = &plan.classes[0];
    let bound = own.slowdown.clone().unwrap().unwrap();
    assert!(bound.factor <= own.slowdown_wanted.unwrap() + 1e-9);
    assert!(own.slowdown_slack().unwrap() >= 0.0);
    bound.factor
}

#[test]
fn a_slowdown_takes_the_smallest_limit_that_keeps_it() {
    let limit = |slowdown: &str, packet: &str| {
        let plan = plan(&slow("entries = 16", slowdown, packet)).unwrap();
        assert_eq!(plan.classes[0].table, "high");
        assert!(plan.classes[0].is_trusted && plan.trusts());
        assert_eq!(given(&plan), [0.6, 0.1, 0.3]);
        reached(&plan);
        plan.tables.limit().unwrap()
    };
    assert_eq!(limit("1.1", "4096 B"), 10);
    assert_eq!(limit("1.1", "4160 B"), 11);
    assert_eq!(limit("1.02", "4160 B"), 51);
    assert_eq!(limit("1", "4160 B"), 255);
}

#[test]
fn a_slowdown_that_a_share_keeps_needs_no_trust() {
    // 1 / 0.6 is 1.67.
    let plan = plan(&slow("entries = 16", "1.8", "4096 B")).unwrap();
    assert_eq!(plan.classes[0].table, "low");
    assert!(!plan.trusts() && plan.notes.is_empty(), "{:?}", plan.notes);
    assert_eq!(given(&plan), [0.6, 0.1, 0.3]);
    reached(&plan);
}

#[test]
fn one_table_gives_a_slowdown_more_than_its_share() {
    for ports in [
        "entries = 32\nhigh-table = \"never\"",
        "arbiter = \"dtable\"",
        "arbiter = \"bxi-table\"",
        "arbiter = \"bxi-deficit\"",
    ] {
        let plan = plan(&slow(ports, "1.2", "2048 B")).unwrap();
        let own = &plan.classes[0];
        assert!(own.is_trusted && own.table != "high", "{ports}");
        assert!(own.share_if_all_send >= 1.0 / 1.2 - 1e-9, "{ports}");
        assert!(plan.unmet.is_empty(), "{ports}: {:?}", plan.unmet);
        assert!(
            plan.notes
                .iter()
                .any(|note| note.contains(RAISED_ASSUMPTION)),
            "{ports}"
        );
        reached(&plan);
    }
}

#[test]
fn slowdowns_are_refused_with_a_proof_if_an_inequality_shows_it() {
    let refused = |request: &Request| plan(request).unwrap_err();
    // 1 / 1.5 twice.
    let both = request(
        "",
        &["share = 0.3\nslowdown = 1.5", "share = 0.5\nslowdown = 1.5"],
    );
    let refusal = refused(&both);
    assert!(
        refusal.is_proved && refusal.to_string().contains("133.33 %"),
        "{refusal}"
    );
    assert_eq!(refusal.conflict().classes, [0, 1]);
    // Entries of at most 255 for the class, and one packet of each other class.
    let few = slow("entries = 3\nhigh-table = \"never\"", "1.2", "4096 B");
    let refusal = refused(&few);
    assert!(refusal.is_proved && refusal.nearest.is_some(), "{refusal}");
    assert!(
        refusal.to_string().contains("a backlog of own may take"),
        "{refusal}"
    );
    // A lane for all.
    let refusal = refused(&slow("vls = 1", "3", "4096 B"));
    assert!(
        refusal.is_proved && refusal.to_string().contains("may be queued"),
        "{refusal}"
    );
    // A class without others.
    let alone = request("", &["share = 0.3\nslowdown = 1"]);
    assert_eq!(reached(&plan(&alone).unwrap()), 1.0);
}

/// The high table is not used at ports with a known issue, and only plans with slowdowns state it.
#[test]
fn a_known_issue_keeps_slowdowns_out_of_the_high_table() {
    let mut fabric = slow("entries = 32", "1.1", "4096 B");
    fabric.cautions.limits = vec![(PortsOf::Switches, LimitIssue::ALL[0])];
    let planned = plan(&fabric).unwrap();
    assert_eq!(planned.classes[0].table, "low");
    assert!(
        planned.notes.iter().any(|note| note.contains("955641")),
        "{:?}",
        planned.notes
    );
    let [switches, hosts] = &planned.fitted[..] else {
        panic!("{:?}", planned.fitted);
    };
    assert_eq!(
        (switches.room.high, hosts.plan.classes[0].table),
        (0, "high")
    );
    fabric.devices = vec![Device {
        name: "ours".into(),
        ports: PortsOf::Switches,
        room: Room::LARGEST,
        high_limit: Some(HighLimit::Works),
        issue: None,
    }];
    let planned = plan(&fabric).unwrap();
    assert_eq!(planned.classes[0].table, "high");
    fabric.devices.clear();
    fabric.classes[0].slowdown = None;
    let planned = plan(&fabric).unwrap();
    assert!(planned.fitted.is_empty() && planned.notes.is_empty());
}
