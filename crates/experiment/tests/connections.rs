//! Admitted connections, from the file to the tables of a run.

use std::sync::Arc;

use netloom_catalog::{Files, MemoryFiles};
use netloom_experiment::runner::{Control, RunOptions, RunResult, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_experiment::{Experiment, render};
use netloom_results::{PunctualityLine, Status, Window};
use netloom_topology::Egress;
use netloom_units::{NicId, Port, SwitchId};

/// The switch and links of paper 004 at 1x, around one switch with `ports` NICs.
fn star(ports: u32, more: &str) -> String {
    format!(
        "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = {ports}\n{PAPER}{more}\n\
         [measure]\nwarmup = \"1 ms\"\nlength = \"11 ms\"\nepochs = 110\npatience = \"10 ms\"\n"
    )
}

const PAPER: &str = "\
[link]
rate = \"2.5 Gbps\"
delay = \"10 ns\"
flit = \"8 B\"
header = \"8 B\"
[switch]
clock = \"3.2 ns\"
speedup = 0.25
input-buffer = \"1056 B\"
output-buffer = \"1056 B\"
pipeline = { input = 0, routing = 31, allocation = 0, crossbar = 1, output = 7, credit = 0 }
";

/// A list of connections.
struct List(Arc<dyn Files>);

impl List {
    fn new(list: &str) -> List {
        List(Arc::new(MemoryFiles::from_iter([(
            "connections.csv",
            list,
        )])))
    }

    fn load(&self, text: &str) -> Loaded {
        load(&Request {
            files: self.0.clone(),
            ..Request::new("test.toml", text)
        })
    }
}

fn messages(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

#[track_caller]
fn sound(loaded: Loaded) -> Experiment {
    let notes = messages(&loaded);
    loaded.experiment.unwrap_or_else(|| panic!("{notes}"))
}

fn codes(loaded: &Loaded) -> Vec<&'static str> {
    loaded.notes.iter().map(|note| note.code).collect()
}

fn finished(experiment: &Experiment) -> RunResult {
    run(experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    })
}

/// Returns the cells of a column.
fn column(table: &str, name: &str) -> Vec<String> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = header.iter().position(|column| *column == name);
    let at = at.unwrap_or_else(|| panic!("{name} in {header:?}"));
    lines
        .map(|line| line.split(',').nth(at).unwrap().to_owned())
        .collect()
}

/// Returns the cells of a column as numbers, NaN for empty cells.
fn numbers(table: &str, name: &str) -> Vec<f64> {
    let cells = column(table, name);
    cells
        .iter()
        .map(|cell| cell.parse().unwrap_or(f64::NAN))
        .collect()
}

fn table(result: &RunResult, name: &str) -> String {
    let found = result.table(name);
    found.unwrap_or_else(|| panic!("{name}")).to_csv()
}

fn all(result: &RunResult, sl: u8) -> PunctualityLine {
    let summary = result.document.run.connections.as_ref().unwrap();
    let mut lines = summary.punctuality.iter();
    lines
        .find(|line| line.sl == sl && line.scope == "all")
        .unwrap()
        .clone()
}

#[test]
fn thresholds_by_hand_on_one_switch() {
    // Alone, a packet of 33 flits always takes the same time. 300 Mb/s: every 6826.67 ns, an eighth
    // of which is 853.3 and a quarter 1706.7. 64 kb/s: every 32 ms, whose 32nd part is 1 ms.
    let listed = List::new("source,destination,bandwidth\n0,1,300 Mbps\n2,3,64 kbps\n");
    let experiment = sound(listed.load(&star(4, "[connections]\nlist = \"connections.csv\"")));
    let names: Vec<&str> = experiment
        .classes
        .iter()
        .map(|class| class.name.as_str())
        .collect();
    assert_eq!(names, ["very-low", "very-high"]);
    let result = finished(&experiment);
    let connections = &table(&result, "connections");
    let delay = numbers(connections, "delay_max_ns");
    // The head is received after 25.6 + 10 ns and routed at edge 12 + 31 of 3.2 ns. The crossbar
    // starts at once. One edge later the head is at the output, whose decision takes 7, which are
    // 51 edges; then 33 flits go out and travel 10 ns.
    let out = 163.2;
    assert_eq!(delay[0], out + 33.0 * 25.6 + 10.0);
    assert_eq!(numbers(connections, "delay_mean_ns")[0], delay[0]);
    let packets = numbers(connections, "packets");
    assert_eq!(packets[0], (10e6 / 6826.667f64).round());
    for (name, expected) in [
        ("in_time_1_32", 0.0),
        ("in_time_1_16", 0.0),
        ("in_time_1_8", 0.0),
        ("in_time_1_4", packets[0]),
        ("in_time_1", packets[0]),
        ("late", 0.0),
    ] {
        assert_eq!(numbers(connections, name)[0], expected, "{name}");
    }
    // Without other traffic, only the cycle in which a packet is created causes jitter.
    let line = all(&result, 3);
    assert_eq!(line.jitter_m1.unwrap() + line.jitter_p0.unwrap(), 1.0);
    assert!(line.jitter_mean.unwrap().abs() < 1e-4);
    assert_eq!((line.in_time_1_8, line.in_time_1_4), (Some(0.0), Some(1.0)));
    assert_eq!(line.delay_max, Some(delay[0] / (256.0 * 8.0 / 0.3)));
    let low = all(&result, 0);
    assert!(low.packets == 0 || low.in_time_1_32 == Some(1.0));
    assert_eq!(
        result.document.run.connections.unwrap().window,
        Window::AfterWarmup
    );
}

#[test]
fn delay_includes_the_wait_in_a_nic() {
    // Two connections share only the link of their NIC.
    let listed = List::new("source,destination,bandwidth\n0,1,300 Mbps\n0,2,299 Mbps\n");
    let text = star(4, "[connections]\nlist = \"connections.csv\"\n");
    let result = finished(&sound(listed.load(&text)));
    let longest = numbers(&table(&result, "connections"), "delay_max_ns");
    // As on one switch alone, above.
    let alone = 163.2 + 33.0 * 25.6 + 10.0;
    assert!(longest.iter().all(|ns| *ns > alone + 25.6), "{longest:?}");
}

#[test]
fn new_entries_are_where_the_file_says() {
    // One lane with two entries among others: their position determines the waits.
    let digest = |more: &str| {
        let text = mesh(&format!("target = 200\nretries = 100\n{more}"));
        finished(&drawn(&text)).document.run.digest
    };
    let first = digest("");
    assert_eq!(first, digest("placement = \"first-free\""));
    assert_ne!(first, digest("placement = \"spread\""));
}

/// 264 bytes are charged as 5 units. By 255 an entry sends 51 packets, by 174 (of 1959 slots) 35,
/// by 163 (of 418) 33, and by 204 (of best effort) 41.
#[test]
fn admission_tables_are_at_the_ports() {
    let listed = List::new("source,destination,bandwidth\n0,3,300 Mbps\n1,3,64 Mbps\n");
    let flood = |sl: u8| {
        format!(
            "[[traffic]]\nname = \"flood{sl}\"\nsl = {sl}\nload = 0.3\nmessage = \"256 B\"\n\
             pattern = {{ kind = \"pairs\", pairs = [[0, 3], [1, 3], [2, 3]] }}\n"
        )
    };
    let floods: String = [2, 3, 8].map(flood).concat();
    let text = star(
        4,
        &format!("[connections]\nlist = \"connections.csv\"\n{floods}"),
    );
    let shares = |experiment: &Experiment| {
        let result = finished(experiment);
        let run = result.document.run;
        let of = |sl: u8| {
            run.sls
                .iter()
                .find(|s| s.sl == sl)
                .unwrap()
                .summary
                .delivered_load
        };
        [2, 3, 8].map(|sl| of(sl) / run.total.delivered_load)
    };
    let experiment = sound(listed.load(&text));
    let plan = &experiment.fabric;
    assert_eq!(
        plan.own_policies.len(),
        3,
        "two NICs and the port to the third"
    );
    let port = Egress::Switch(SwitchId(0), Port(3));
    for (output, vls) in [
        (port, [0, 1, 1, 1]),
        (Egress::Nic(NicId(0)), [0, 0, 1, 1]),
        (Egress::Nic(NicId(1)), [0, 1, 0, 1]),
        (Egress::Nic(NicId(2)), [0, 0, 0, 1]),
    ] {
        let sendable = plan.policy_of(output).sendable_vls();
        let bits = [1, 2, 3, 8].map(|vl| sendable >> vl & 1);
        assert_eq!(bits, vls, "{output:?}");
    }
    let found = shares(&experiment);
    let packets = [51.0 + 33.0, 7.0 * 51.0 + 35.0, 12.0 * 51.0 + 41.0];
    let sum: f64 = packets.iter().sum();
    for (found, expected) in found.into_iter().zip(packets.map(|n| n / sum)) {
        assert!((found - expected).abs() < 0.02, "{found} for {expected}");
    }
    // Another arbiter, named, is used everywhere.
    let named = sound(listed.load(&text.replace(
        "[connections]",
        "[qos]\narbiter = \"round-robin\"\n[connections]",
    )));
    assert!(named.fabric.own_policies.is_empty());
    let found = shares(&named);
    assert!(
        found.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.02),
        "{found:?}"
    );
}

#[test]
fn a_level_is_measured_by_its_mean() {
    // 64 Mb/s and twice 256 Mb/s: 256 bytes every 32, 8 and 8 us, 16 us on average.
    let listed = List::new(
        "source,destination,bandwidth,sl\n0,1,64 Mbps,3\n2,3,256 Mbps,3\n4,5,256 Mbps,3\n",
    );
    let run = |more: &str| {
        let text = format!("[connections]\nlist = \"connections.csv\"\n{more}");
        finished(&sound(listed.load(&star(6, &text))))
    };
    let (own, level) = (run(""), run("iat = \"level\""));
    let of = |result: &RunResult, name: &str| numbers(&table(result, "connections"), name);
    let (packets, delay) = (of(&own, "packets"), of(&own, "delay_max_ns"));
    assert_eq!(delay, of(&level, "delay_max_ns"));
    assert_eq!(of(&level, "inter_arrival_ns"), [32_000.0, 8_000.0, 8_000.0]);
    // Alone, a packet takes 1018 ns: more than 1/8 of 8 us and than 1/16 of 16 us, and less than
    // 1/16 of 32 us.
    assert_eq!(delay, [1018.0; 3]);
    assert_eq!(of(&own, "in_time_1_16"), [packets[0], 0.0, 0.0]);
    assert_eq!(of(&level, "in_time_1_16"), [0.0; 3]);
    assert_eq!(of(&own, "in_time_1_8"), [packets[0], 0.0, 0.0]);
    assert_eq!(of(&level, "in_time_1_8"), packets);
    assert_eq!(all(&level, 3).delay_max, Some(1018.0 / 16_000.0));
    // Only the measure has changed.
    assert_eq!(own.document.run.digest, level.document.run.digest);
}

fn mesh(more: &str) -> String {
    format!(
        "netloom = 1\n[topology]\nkind = \"mesh\"\nsides = [3, 2]\nhosts = 2\n{PAPER}\
         [connections]\n{more}\n[measure]\nwarmup = \"1000 packets\"\nlength = \"8 ms\"\n\
         epochs = 80\npatience = \"10 ms\"\n"
    )
}

fn drawn(text: &str) -> Experiment {
    sound(load(&Request::new("test.toml", text)))
}

#[test]
fn every_connection_receives_what_it_asked_for() {
    let result = finished(&drawn(&mesh("target = 120\nretries = 1000")));
    let run = &result.document.run;
    assert!(run.warmup_found && run.warmup_ns < 1e6, "{}", run.warmup_ns);
    let measured = run.length_ns - run.warmup_ns;
    let table = &table(&result, "connections");
    let (packets, gaps) = (
        numbers(table, "packets"),
        numbers(table, "inter_arrival_ns"),
    );
    assert!(packets.len() > 60, "{} connections", packets.len());
    for (number, (packets, gap)) in packets.iter().zip(&gaps).enumerate() {
        // One more or less at either end, for packets in flight.
        let expected = measured / gap;
        assert!(
            (packets - expected).abs() <= 2.0,
            "connection {number}: {packets} for {expected}"
        );
    }
    let summary = run.connections.as_ref().unwrap();
    assert_eq!(summary.established as usize, packets.len());
    let of_levels: u64 = (0..4).map(|sl| all(&result, sl).packets).sum();
    assert_eq!(of_levels as f64, packets.iter().sum::<f64>());
    // Best and worst are of their level, and bracket it.
    for sl in [2, 3] {
        let of = |scope: &str| {
            let mut lines = summary.punctuality.iter();
            lines
                .find(|l| l.sl == sl && l.scope == scope)
                .unwrap()
                .in_time_1_2
        };
        assert!(of("worst") <= of("all") && of("all") <= of("best"));
    }
    // Counts of every line add up.
    let late = numbers(table, "late");
    let in_time = numbers(table, "in_time_1");
    assert!((0..packets.len()).all(|at| in_time[at] + late[at] == packets[at]));
    assert_eq!(run.latency_order.len(), 4);
}

#[test]
fn partitions_and_threads_change_no_byte() {
    let text = mesh("target = 200\nretries = 100");
    let mut reference = None;
    for (partitions, threads, slow) in [(1, 1, false), (3, 2, false), (6, 1, true)] {
        let experiment = sound(load(&Request {
            partitions: Some(partitions),
            ..Request::new("test.toml", &text)
        }));
        assert_eq!(experiment.fabric.n_partitions(), partitions);
        let options = RunOptions {
            threads,
            reference: slow,
            tables: true,
        };
        let result = run(&experiment, &options, &mut |_| Control::Continue);
        let bytes = (result.document.to_json(), result.tables);
        assert_eq!(reference.get_or_insert_with(|| bytes.clone()), &bytes);
    }
}

#[test]
fn every_seed_draws_its_own_connections() {
    let text =
        mesh("target = 60\nretries = 10").replace("[measure]", "[measure]\nrepeat = 2\nseed = 5");
    let result = finished(&drawn(&text));
    let both = &table(&result, "connections");
    let of = |table: &str, seed: &str| -> Vec<String> {
        let lines = table.lines().skip(1);
        lines
            .filter(|line| line.starts_with(seed))
            .map(str::to_owned)
            .collect()
    };
    assert_ne!(of(both, "5,").len(), 0);
    // The second run of two is the only run of its own.
    let alone = finished(&drawn(
        &mesh("target = 60\nretries = 10").replace("[measure]", "[measure]\nseed = 6"),
    ));
    assert_eq!(of(both, "6,"), of(&table(&alone, "connections"), "6,"));
    assert_eq!(result.document.repeats[0].digest, alone.document.run.digest);
    assert_ne!(
        column(both, "bandwidth_bps")[0],
        column(&table(&alone, "connections"), "bandwidth_bps")[0]
    );
}

#[test]
fn a_run_ends_when_the_slowest_has_enough() {
    // 256 B at 1.6 Mb/s every 1.28 ms: three packets after the warm-up come well before 8 ms.
    let list = "source,destination,bandwidth\n0,3,200 Mbps\n1,2,1.6 Mbps\n4,5,8 kbps\n";
    let listed = List::new(list);
    let ended = |more: &str| {
        let text = mesh(&format!("list = \"connections.csv\"\n{more}"))
            .replace("1000 packets", "10 packets");
        let result = finished(&sound(listed.load(&text)));
        let summary = result.document.run.connections.clone().unwrap();
        (
            result.document.run.length_ns / 1e6,
            summary.enough_packets,
            numbers(&table(&result, "connections"), "packets"),
        )
    };
    let (length, enough, packets) = ended("until-packets = 3");
    assert!((2.0..5.3).contains(&length), "{length}");
    assert_eq!((enough, packets[1]), (Some(true), 3.0));
    // It ends at the end of an epoch of 0.1 ms.
    assert!(
        (length * 10.0 - (length * 10.0).round()).abs() < 1e-3,
        "{length}"
    );
    // 8 kb/s is every 256 ms: not in this run.
    let (length, enough, _) = ended("until-packets = 3\nuntil-levels = \"full\"");
    assert!((length - 8.0).abs() < 1e-3);
    assert_eq!(enough, Some(false));
    assert_eq!(ended("").1, None);
}

#[test]
fn a_warm_up_of_packets_that_never_come_is_not_found() {
    let text = mesh("target = 8").replace("1000 packets", "100000000 packets");
    let run = finished(&drawn(&text)).document.run;
    assert!(!run.warmup_found);
    assert_eq!((run.warmup_ns, run.status), (0.0, Status::NotConverged));
}

#[test]
fn a_seed_that_draws_too_many_connections_loses_none_of_the_seeds_before() {
    // 480 connections of each level between two NICs: some draws give one of them more than 256.
    let text = "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 2\n[link]\n\
        rate = \"100 Gbps\"\n\
        [connections]\ntarget = 1920\n[measure]\nlength = \"1 us\"\nepochs = 1\n";
    let seeds = 1..200u64;
    let sound = |seed: u64| {
        let request = Request {
            seed: Some(seed),
            ..Request::new("test.toml", text)
        };
        load(&request).experiment
    };
    let first = seeds
        .clone()
        .find_map(sound)
        .expect("a seed that can be run");
    let later = (first.measure.seed..200).map(|seed| first.with_seed(seed));
    let unsound = later.filter_map(Result::err).next();
    let unsound = unsound.expect("a seed that cannot be run");
    assert!(
        unsound.why.contains("a packet can distinguish only 256"),
        "{unsound}"
    );
    let n = unsound.seed - first.measure.seed;
    let mut repeated = first;
    repeated.measure.repeat = u32::try_from(n).unwrap() + 3;
    let result = run(&repeated, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    assert_eq!(result.not_built, Some(unsound));
    assert_eq!(result.document.runs().count() as u64, n);
}

#[test]
fn more_than_256_connections_of_a_nic_and_level_are_refused() {
    let list = |n: usize| {
        let line = "0,1,64 kbps\n".repeat(n);
        List::new(&format!("source,destination,bandwidth\n{line}"))
    };
    let text = star(4, "[connections]\nlist = \"connections.csv\"");
    let experiment = sound(list(256).load(&text));
    assert_eq!(experiment.fabric.connections[255].flow, 255);
    assert_eq!(codes(&list(257).load(&text)), ["E0805"]);
}

#[test]
fn a_resolved_file_is_the_same_experiment() {
    let text = mesh("target = 60\nretries = 10");
    let first = drawn(&text);
    let resolved = first.resolved.to_toml(true);
    assert!(!resolved.contains("arbiter"), "{resolved}");
    let again = drawn(&resolved);
    assert_eq!(again.resolved.to_toml(false), first.resolved.to_toml(false));
    assert_eq!(
        finished(&again).document.run.digest,
        finished(&first).document.run.digest
    );
}

#[test]
fn tables_beyond_64_entries_are_simulated() {
    let list = "source,destination,bandwidth,sl\n\
                0,3,1 Gbps,3\n1,3,400 Mbps,2\n2,3,300 Mbps,1\n4,3,299 Mbps,0\n";
    let listed = List::new(list);
    let text = star(5, "[connections]\nlist = \"connections.csv\"");
    let run = finished(&sound(listed.load(&text))).document.run;
    let asked = (1000.0 + 400.0 + 300.0 + 299.0) / 2500.0 * 264.0 / 256.0 / 5.0;
    assert!(
        (run.total.delivered_load - asked).abs() < 0.001,
        "{}",
        run.total.delivered_load
    );
}

/// Two service levels on one lane: its entries contain both reservations, and every packet arrives.
#[test]
fn service_levels_of_connections_share_a_lane() {
    let list = "source,destination,bandwidth,sl\n0,3,800 Mbps,3\n1,3,40 Mbps,2\n";
    let listed = List::new(list);
    let text = star(
        4,
        "[qos]\nsl2vl = [0, 0, 1, 1]\n[connections]\nlist = \"connections.csv\"",
    );
    let experiment = sound(listed.load(&text));
    assert_eq!(
        experiment.connections.as_ref().unwrap().connections.len(),
        2
    );
    let run = finished(&experiment).document.run;
    let asked = (800.0 + 40.0) / 2500.0 * 264.0 / 256.0 / 4.0;
    assert!(
        (run.total.delivered_load - asked).abs() < 0.001,
        "{}",
        run.total.delivered_load
    );
}

/// The longest wait of a service level at NICs and of its lane at switches, in ns: never more than
/// these.
fn longest_waits(result: &RunResult, sl: u8) -> [f64; 2] {
    let waits = result
        .document
        .run
        .waits
        .as_ref()
        .expect("waits are measured");
    [&waits.nics, &waits.switches].map(|place| {
        let own = place.classes.iter().find(|class| class.number == sl);
        own.map_or(f64::NAN, |class| class.summary.wait_at_most_ns)
    })
}

/// Connections with a deadline are in the high table, with their own level and lane. None of them
/// waits at an output for longer than its part of the deadline. Connections of the same bandwidth
/// without a deadline do.
#[test]
fn deadlines_are_kept_at_every_output() {
    // Two outputs on the way, so 30 us at each. In the high table SL7 has 131 slots (8,384 B, 26.8
    // us) and SL6 66 (4,224 B, 13.5 us): each waits for the other, for a packet of the low table
    // and for one of management.
    let listed = List::new(
        "source,destination,bandwidth,sl,deadline\n\
         0,3,20 Mbps,3,60 us\n1,3,300 Mbps,3,\n1,3,10 Mbps,2,100 us\n",
    );
    let text = format!(
        "{}[connections]\nlist = \"connections.csv\"\n\
         [[traffic]]\nname = \"flood\"\nsl = 8\nload = 0.7\nmessage = \"2 KiB\"\n\
         pattern = {{ kind = \"pairs\", pairs = [[0, 3], [1, 3], [2, 3]] }}\n",
        include_str!("ui/connections/base/contested.toml"),
    );
    let loaded = listed.load(&text);
    let fact = loaded
        .facts
        .iter()
        .find(|(word, _)| word == "connections")
        .unwrap();
    assert!(
        fact.1.ends_with("; 2 of them with a deadline"),
        "{}",
        fact.1
    );
    let experiment = sound(loaded);
    let levels: Vec<(&str, u8)> = experiment
        .classes
        .iter()
        .map(|class| (class.name.as_str(), class.sl.0))
        .collect();
    let expected = [
        ("flood", 8),
        ("very-high", 3),
        ("high-deadline", 6),
        ("very-high-deadline", 7),
    ];
    assert_eq!(levels, expected);
    let result = finished(&experiment);
    let connections = &table(&result, "connections");
    assert_eq!(numbers(connections, "sl"), [7.0, 3.0, 6.0]);
    assert_eq!(column(connections, "deadline_ns"), ["60000", "", "100000"]);
    assert!(numbers(connections, "packets")[0] > 90.0);
    for (sl, part) in [(7, 30_000.0), (6, 50_000.0)] {
        let waits = longest_waits(&result, sl);
        assert!(
            waits.iter().all(|wait| *wait <= part),
            "SL{sl}: {waits:?} ns"
        );
        assert!(waits[1] > 0.0, "SL{sl} waited");
    }
    let [_, without] = longest_waits(&result, 3);
    assert!(
        without > 60_000.0,
        "the others wait for their turn: {without} ns"
    );
}

/// The classes to draw and their bounds are keys. Those of the paper give the same draws.
#[test]
fn classes_of_connections_are_keys() {
    let paper = "[[connections.class]]\nsl = 0\nleast = \"8 kbps\"\nmost = \"64 kbps\"\n\
        [[connections.class]]\nsl = 1\nleast = \"64001 bps\"\nmost = \"1.55 Mbps\"\n\
        [[connections.class]]\nsl = 2\nleast = \"1550001 bps\"\nmost = \"64 Mbps\"\n\
        [[connections.class]]\nsl = 3\nleast = \"64000001 bps\"\nmost = \"300 Mbps\"\n";
    let digest = |more: &str| {
        finished(&drawn(&mesh(&format!("target = 60\nretries = 10\n{more}"))))
            .document
            .run
            .digest
    };
    assert_eq!(digest(""), digest(paper));
    let two = "[[connections.class]]\nsl = 3\nleast = \"20 Mbps\"\nmost = \"21 Mbps\"\n\
        deadline = \"5 ms\"\n\
        [[connections.class]]\nsl = 1\nleast = \"10 Mbps\"\nmost = \"10 Mbps\"\n";
    let text = mesh(&format!("target = 40\nretries = 10\n{two}"));
    let experiment = drawn(&text);
    let again = drawn(&experiment.resolved.to_toml(true));
    assert_eq!(
        again.resolved.to_toml(false),
        experiment.resolved.to_toml(false)
    );
    let result = finished(&experiment);
    let connections = &table(&result, "connections");
    let bandwidths = numbers(connections, "bandwidth_bps");
    for (number, (sl, bandwidth)) in numbers(connections, "sl")
        .iter()
        .zip(bandwidths)
        .enumerate()
    {
        match number % 2 {
            0 => assert!(*sl == 7.0 && (20e6..=21e6).contains(&bandwidth)),
            _ => assert!(*sl == 1.0 && bandwidth == 10e6),
        }
    }
    // A list uses the same bounds.
    let listed = List::new("source,destination,bandwidth\n0,1,9 Mbps\n0,2,20.5 Mbps\n");
    let text = star(
        4,
        &format!("[connections]\nlist = \"connections.csv\"\n{two}"),
    );
    let sls = sound(listed.load(&text))
        .connections
        .unwrap()
        .connections
        .iter()
        .map(|c| c.sl.0)
        .collect::<Vec<_>>();
    assert_eq!(sls, [1, 3]);
}
