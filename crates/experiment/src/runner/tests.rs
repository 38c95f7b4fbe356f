//! Tests of the runner on fabrics with known results.

use netloom_results::{Document, RunId, Status, Verdict, Window};

use super::{Control, Progress, RunOptions, RunResult, run};
use crate::spec::{Request, load};
use crate::{Experiment, render};

/// Returns a file with four hosts, one switch and uniform traffic. `more` are further lines of
/// `[measure]`.
fn text(traffic: &str, more: &str) -> String {
    format!(
        "netloom = 1\nname = \"tiny\"\n[topology]\nkind = \"single-switch\"\nports = 4\n\
         [[traffic]]\n{traffic}\n[measure]\n{more}\n"
    )
}

fn experiment(text: &str) -> Experiment {
    let loaded = load(&Request {
        force: true,
        ..Request::new("tiny.toml", text)
    });
    let notes = render(&loaded.document, &loaded.notes, false);
    loaded.experiment.unwrap_or_else(|| panic!("{notes}"))
}

fn finished(experiment: &Experiment) -> RunResult {
    run(experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    })
}

fn document(traffic: &str, more: &str) -> Document {
    finished(&experiment(&text(traffic, more))).document
}

#[test]
fn a_light_load_is_delivered_and_converges() {
    let document = document("load = 0.3", "length = \"500 us\"");
    let total = &document.run.total;
    assert_eq!(document.run.status, Status::Ok);
    assert!(
        (total.offered_load - 0.3).abs() < 0.02,
        "{}",
        total.offered_load
    );
    assert!((total.delivered_load - total.offered_load).abs() < 0.005);
    assert_eq!(total.switches_mean, Some(1.0));
    assert!(total.fairness_jain.unwrap() > 0.98);
    assert!(
        total.latency_p50_ns <= total.latency_p99_ns
            && total.latency_p99_ns <= total.latency_max_ns
    );
    assert!(total.network_latency_mean_ns <= total.packet_latency_mean_ns);
    let before = total.injection_latency_mean_ns.unwrap();
    let parts = before + total.network_latency_mean_ns.unwrap();
    assert!((parts - total.packet_latency_mean_ns.unwrap()).abs() < 1e-6);
    // Every link of the star carries what its host sends or receives.
    let links = &document.run.links;
    assert_eq!(
        (
            links.injection.links,
            links.fabric.links,
            links.delivery.links
        ),
        (4, 0, 4)
    );
    assert!((links.injection.utilisation_mean - 0.3).abs() < 0.02);
    assert!((links.delivery.utilisation_mean - links.injection.utilisation_mean).abs() < 0.005);
}

#[test]
fn a_run_is_its_classes() {
    let classes = "load = 0.2\nname = \"a\"\n[[traffic]]\nload = 0.1\nname = \"b\"\nsl = 1";
    let document = document(classes, "length = \"200 us\"\nwarmup = \"20 us\"");
    let run = &document.run;
    let names: Vec<&str> = run
        .classes
        .iter()
        .map(|class| class.class.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!((run.sls.len(), run.rows.len()), (2, 2));
    let messages: u64 = run
        .classes
        .iter()
        .map(|class| class.summary.delivered_messages)
        .sum();
    assert_eq!(messages, run.total.delivered_messages);
    let load: f64 = run
        .classes
        .iter()
        .map(|class| class.summary.delivered_load)
        .sum();
    assert!((load - run.total.delivered_load).abs() < 1e-12);
    // The warm-up was given: it is cut at the end of its epoch, and links and fairness follow it.
    assert!(
        (20_000.0..=21_100.0).contains(&run.warmup_ns),
        "{}",
        run.warmup_ns
    );
    assert_eq!(
        (run.links.window, run.fairness_window),
        (Window::AfterWarmup, Window::AfterWarmup)
    );
    // total + 2 classes + 2 levels + 2 rows, and the header.
    assert_eq!(document.results().to_csv().lines().count(), 8);
}

#[test]
fn more_than_a_link_carries_saturates_and_is_no_failure() {
    // Three hosts send to the fourth as much as one link carries, each.
    let hot = "load = 0.9\npattern = { kind = \"pairs\", pairs = [[0, 3], [1, 3], [2, 3]] }";
    let document = document(hot, "length = \"500 us\"");
    let run = &document.run;
    assert_eq!(run.status, Status::Saturated);
    let class = run.classes[0].summary.verdict;
    assert_eq!(
        (run.total.verdict, class),
        (Verdict::Saturated, Verdict::Saturated)
    );
    assert!(run.links.delivery.utilisation_max > 0.9);
}

#[test]
fn the_last_delivery_is_of_the_whole_run() {
    // One message of NIC 0 at the start, and another class that continues.
    let traffic = "name = \"once\"\nsources = [0]\n\
        arrival = { kind = \"periodic\", period = \"1 s\" }\n\
                   [[traffic]]\nname = \"on\"\nsources = [1, 2]\nload = 0.1";
    let summary = |more: &str| {
        let document = document(traffic, &format!("length = \"200 us\"\n{more}"));
        let [once, on] = &document.run.classes[..] else {
            panic!("two classes")
        };
        let total = document.run.total.last_delivery_ns;
        (once.summary.clone(), on.summary.clone(), total)
    };
    let (once, on, total) = summary("warmup = \"0 ns\"");
    assert_eq!(once.delivered_messages, 1);
    assert_eq!(once.last_delivery_ns, once.latency_max_ns);
    assert!((190e3..=200e3).contains(&on.last_delivery_ns.unwrap()));
    assert_eq!(total, on.last_delivery_ns);
    // A warm-up removes latencies, but does not change when the class ended.
    let (after, _, _) = summary("warmup = \"50 us\"");
    assert_eq!(after.latency_max_ns, None);
    assert_eq!(after.last_delivery_ns, once.last_delivery_ns);
}

#[test]
fn quartiles_of_completion_times_rise() {
    let total = document("load = 0.6", "length = \"200 us\"").run.total;
    assert!(
        total.latency_p50_ns < total.latency_p75_ns && total.latency_p75_ns < total.latency_p90_ns
    );
}

#[test]
fn a_storage_workload_runs_and_every_seed_has_its_own() {
    let san = "workload = { kind = \"san\", hosts = \"0-1\", disks = \"2-3\", compression = 100, length = \"100 ms\", \
               shape = 3 }";
    let document = document(san, "length = \"2 ms\"\nrepeat = 2\nwarmup = \"0 ns\"");
    let run = &document.run;
    assert!(run.total.offered_messages > 100);
    assert_eq!(run.total.delivered_messages, run.total.offered_messages);
    assert_eq!(run.classes[0].asked_load, None);
    assert_ne!(run.digest, document.repeats[0].digest);
    // The trace ends after 1 ms, and data of a read 10 us of service later.
    assert!(run.total.last_delivery_ns.unwrap() < 1.2e6);
}

#[test]
fn a_burst_asks_for_the_load_that_follows_from_its_period() {
    // 2 KiB every microsecond on links of 100 Gbps.
    let burst = "arrival = { kind = \"periodic\", period = \"1 us\" }";
    let run = document(burst, "length = \"200 us\"").run;
    let asked = run.classes[0].asked_load.unwrap();
    assert!(
        (run.total.offered_load / asked - 1.0).abs() < 0.01,
        "{asked}"
    );
    assert!((0.16..0.18).contains(&asked), "{asked}");
}

#[test]
fn tables_have_a_line_for_every_epoch_and_link() {
    let experiment = experiment(&text(
        "load = 0.2",
        "length = \"100 us\"\nepochs = 50\nwarmup = \"10 us\"",
    ));
    let result = finished(&experiment);
    let n_epochs = experiment
        .measure
        .length
        .0
        .div_ceil(experiment.measure.epoch) as usize;
    let table = |name: &str| result.table(name).unwrap();
    assert_eq!((table("series").len(), table("links").len()), (n_epochs, 8));
    assert_eq!(table("hosts").len(), 4);
    // Histograms and hosts add up to the summary.
    let total = &result.document.run.total;
    let sum = |name: &str, column: &str, belongs: &dyn Fn(usize) -> bool| -> f64 {
        let table = table(name);
        let lines = (0..table.len()).filter(|&line| belongs(line));
        let column = table.column(column).unwrap();
        lines.filter_map(|line| column.number(line)).sum()
    };
    let latency = table("histograms").column("latency").unwrap();
    for (kind, wanted) in [
        ("message", total.delivered_messages),
        ("packet", total.delivered_packets),
        ("network", total.delivered_packets),
    ] {
        let is_of = |line| latency.text(line) == Some(kind);
        assert_eq!(sum("histograms", "count", &is_of), wanted as f64, "{kind}");
    }
    let injected = sum("hosts", "injected_load", &|_| true) / 4.0;
    assert!(injected > 0.15, "{injected}");
    assert_eq!(result.document.run.fairness_window, Window::AfterWarmup);
    assert!((injected - total.injected_load).abs() < 1e-9, "{injected}");
    let none = RunOptions {
        tables: false,
        ..RunOptions::default()
    };
    let bare = run(&experiment, &none, &mut |_| Control::Continue);
    assert_eq!(bare.document, result.document);
    assert!(bare.tables.is_empty());
}

#[test]
fn the_twins_agree_on_every_byte() {
    let experiment = experiment(&text("load = 0.5", "length = \"100 us\""));
    let twin = RunOptions {
        reference: true,
        ..RunOptions::default()
    };
    let slow = run(&experiment, &twin, &mut |_| Control::Continue);
    let fast = finished(&experiment);
    assert_eq!(fast.document, slow.document);
    assert_eq!(fast.tables, slow.tables);
}

#[test]
fn seeds_count_up_and_give_an_interval() {
    let document = document("load = 0.3", "length = \"100 us\"\nrepeat = 3\nseed = 7");
    let over = document.over_seeds.as_ref().unwrap();
    assert_eq!(over.seeds, [7, 8, 9]);
    let latency = over.total.latency_mean_ns.unwrap();
    assert!(latency.half_width > 0.0 && latency.half_width < latency.mean);
    let mut digests: Vec<&str> = document.runs().map(|run| run.digest.as_str()).collect();
    digests.dedup();
    assert_eq!(digests.len(), 3, "every seed has traffic of its own");
}

#[test]
fn a_stop_keeps_what_there_is() {
    let experiment = experiment(&text(
        "load = 0.3",
        "length = \"100 us\"\nepochs = 100\nrepeat = 5",
    ));
    let mut last: Option<Progress> = None;
    let result = run(&experiment, &RunOptions::default(), &mut |progress| {
        last = Some(*progress);
        if progress.now_ns > 10_000.0 {
            Control::Stop
        } else {
            Control::Continue
        }
    });
    let run = &result.document.run;
    assert_eq!(run.status, Status::Interrupted);
    assert!(result.document.repeats.is_empty());
    assert!((run.length_ns - last.unwrap().now_ns).abs() < 1e-9);
    assert!(
        (10_000.0..=11_500.0).contains(&run.length_ns),
        "{}",
        run.length_ns
    );
    assert!(run.total.delivered_messages > 0);
    // A stop before anything happened is a result too.
    let nothing = super::run(&experiment, &RunOptions::default(), &mut |_| Control::Stop);
    assert_eq!(nothing.document.run.total.delivered_load, 0.0);
}

#[test]
fn a_ring_without_a_rule_ends_in_a_deadlock_with_its_circle() {
    let ring = "netloom = 1\nname = \"ring\"\n[topology]\nkind = \"torus\"\nsides = [5]\n\
        hosts = 2\n\
                [switch]\ninput-buffer = \"4 KiB\"\noutput-buffer = \"4 KiB\"\n\
                [link]\nmtu = \"2 KiB\"\n\
                [routing]\nkind = \"dimension-order\"\ndeadlock = \"none\"\n\
                [[traffic]]\nload = 1.0\nsize = { kind = \"fixed\", bytes = \"2 KiB\" }\n\
                [measure]\nlength = \"100 ms\"\npatience = \"50 us\"\n";
    let document = finished(&experiment(ring)).document;
    let run = &document.run;
    assert_eq!(run.status, Status::Deadlock);
    let deadlock = run.deadlock.as_ref().unwrap();
    assert!(deadlock.cycle.len() >= 4, "{:?}", deadlock.cycle);
    assert!(deadlock.in_flight_packets > 0);
    assert!(
        run.length_ns < 100e6,
        "it ended early, at {}",
        run.length_ns
    );
}

#[test]
fn the_run_id_is_that_of_text_and_seed() {
    let one = experiment(&text("load = 0.3", "length = \"10 us\""));
    let other = experiment(&text("load = 0.31", "length = \"10 us\""));
    assert_ne!(super::run_id(&one), super::run_id(&other));
    assert_eq!(
        super::run_id(&one),
        RunId::new(&one.resolved.to_toml(false), one.measure.seed)
    );
}

#[test]
fn other_cables_are_another_run() {
    let graph = |cables: &str| {
        let table = format!("kind = \"graph\"\ntext = \"{cables}\"");
        text("load = 0.3", "length = \"10 us\"")
            .replace("kind = \"single-switch\"\nports = 4", &table)
    };
    let one = experiment(&graph("link a b\\nnic n0 a\\nnic n1 b"));
    let mut other = experiment(&graph("link a b\\nlink a b\\nnic n0 a\\nnic n1 b"));
    // As if both named the same file.
    other.resolved = one.resolved.clone();
    assert_ne!(super::run_id(&one), super::run_id(&other));
}

#[test]
fn other_messages_are_another_run() {
    let one = experiment(&text("load = 0.3", "length = \"10 us\""));
    let mut other = one.clone();
    other.inputs.push(netloom_results::sha256(
        "time,source,destination,bytes,sl\n",
    ));
    assert_ne!(super::run_id(&one), super::run_id(&other));
}

/// A NIC with ten messages of one level and one of another, all at once, and one switch.
fn two_levels(arbiter: &str) -> Document {
    let name = arbiter.replace(|c: char| !c.is_alphanumeric(), "");
    let folder = std::env::temp_dir().join(format!("netloom-waits-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut flows = "time,source,destination,bytes,sl\n".to_owned();
    flows.push_str(&"0 ns,0,3,1024,0\n".repeat(10));
    flows.push_str("0 ns,0,3,512,1\n");
    std::fs::write(folder.join("flows.csv"), flows).unwrap();
    let more = "length = \"20 us\"\nwarmup = \"0 ns\"\nwaits = true\n";
    let text = format!(
        "{}[link]\nheader = \"0 B\"\n[switch]\ninput-buffer = \"64 KiB\"\n[qos]\nvls = 2\n\
         [qos.arbiter]\n{arbiter}\n",
        text("flows = \"flows.csv\"", more)
    );
    let loaded = load(&Request {
        files: netloom_catalog::Disk::folder(&folder),
        ..Request::new("tiny.toml", &text)
    });
    std::fs::remove_dir_all(&folder).unwrap();
    let notes = render(&loaded.document, &loaded.notes, false);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{notes}"));
    finished(&experiment).document
}

/// Place, number, at least, at most, choices, contested.
fn waits(document: &Document) -> Vec<(&str, u8, u64, u64, u64, u64)> {
    let waits = document.run.waits.as_ref().unwrap();
    let lines = waits.places().into_iter().flat_map(|(place, waits)| {
        waits.classes.iter().map(move |class| {
            let it = &class.summary;
            let (least, most) = (it.wait_at_least_bytes, it.wait_at_most_bytes);
            (
                place,
                class.number,
                least,
                most,
                it.choices,
                it.contested_choices,
            )
        })
    });
    lines.collect()
}

#[test]
fn waits_at_one_switch_are_known_exactly() {
    // VL0 first: the packet of 512 bytes waits at the NIC for all ten others. Nothing was in flight
    // when it arrived, so both bounds agree. The switch sends packets in order of arrival, so a
    // packet can only have waited for a packet in flight.
    let document = two_levels("kind = \"strict-priority\"\norder = [0, 1]");
    assert_eq!(
        waits(&document),
        [
            ("switches", 0, 0, 1024, 10, 0),
            ("switches", 1, 0, 1024, 1, 0),
            ("nics", 0, 0, 1024, 10, 10),
            ("nics", 1, 10240, 10240, 1, 0),
        ]
    );
    // 100 Gb/s are 12.5 bytes in a nanosecond.
    let nics = &document.run.waits.as_ref().unwrap().nics;
    let (least, most) = (nics.total.wait_at_least_ns, nics.total.wait_at_most_ns);
    assert!((least - 819.2).abs() < 1e-3 && (most - 819.2).abs() < 1e-3);
    assert_eq!((nics.total.choices, nics.total.contested_choices), (11, 10));
    // The other way round the small one goes first; the others wait for it.
    let document = two_levels("kind = \"strict-priority\"\norder = [1, 0]");
    assert_eq!(
        waits(&document)[2..],
        [("nics", 0, 512, 1024, 10, 0), ("nics", 1, 0, 0, 1, 1)]
    );
    // One packet each in turn, as queues: by service level at a NIC.
    let document = two_levels("kind = \"round-robin\"");
    let waits = waits(&document);
    assert_eq!(
        (waits[2].2, waits[2].3, waits[3].2, waits[3].3),
        (512, 1536, 1024, 1024)
    );
}

/// Two hosts send all they can to a third, each on its own lane, through a crossbar twice as fast.
const CONTESTED: &str = "load = 0.9\nname = \"a\"\nsl = 0\n\
    pattern = { kind = \"pairs\", pairs = [[0, 3]] }\n\
    size = { kind = \"fixed\", bytes = \"1 KiB\" }\n\
    [[traffic]]\nload = 0.9\nname = \"b\"\nsl = 1\n\
    pattern = { kind = \"pairs\", pairs = [[1, 3]] }\n\
    size = { kind = \"fixed\", bytes = \"1 KiB\" }\n";

#[test]
fn waits_at_a_contested_output_are_one_packet_of_each() {
    let more =
        "length = \"100 us\"\nwaits = true\n[switch]\nspeedup = 2\n[link]\nheader = \"0 B\"\n";
    let document = document(CONTESTED, more);
    let waits = waits(&document);
    for lane in [0, 1] {
        let (place, number, least, most, choices, contested) = waits[lane];
        // In turn: the other's packet, and the own one before that.
        assert_eq!((place, usize::from(number)), ("switches", lane));
        assert_eq!((least, most), (1024, 2048));
        assert!(contested > 0 && contested <= choices);
    }
    // Alone at its NIC, a level waits only for its own.
    assert_eq!((waits[2].2, waits[2].3, waits[2].5), (0, 1024, 0));
    // The fabric's own counters agree.
    let measured = document.run.waits.as_ref().unwrap();
    let counters = &document.run.counters;
    assert_eq!(measured.switches.total.contested_choices, counters.choices);
    let waiting = counters.packet_hops - measured.switches.total.choices;
    assert!(
        waiting <= counters.in_flight_packets,
        "the rest is still buffered"
    );
    assert_eq!(measured.nics.total.choices, counters.injected_packets);
}

#[test]
fn a_wait_monitor_changes_nothing() {
    let tree = |more: &str, waits: bool| {
        let text = text(
            "load = 0.8\n[[traffic]]\nload = 0.1\nsl = 1",
            &format!("length = \"50 us\"\nwaits = {waits}\n[qos.arbiter]\n{more}\n"),
        );
        text.replace(
            "kind = \"single-switch\"\nports = 4",
            "kind = \"fat-tree\"\narity = 2\nlevels = 3",
        )
    };
    let arbiters = [
        "kind = \"ib-two-table\"\nhigh = [[0, 4]]\nlow = [[0, 1], [1, 8]]\nlimit = 1",
        "kind = \"dtable\"\ntable = [[0, 40], [1, 20]]",
        "kind = \"scfq\"\nweights = [[0, 2], [1, 5]]",
        "kind = \"round-robin\"",
    ];
    for arbiter in arbiters {
        let without = finished(&experiment(&tree(arbiter, false)));
        let with = finished(&experiment(&tree(arbiter, true)));
        let waits = with.document.run.waits.clone();
        assert!(
            waits
                .as_ref()
                .is_some_and(|waits| waits.nics.total.contested_choices > 0)
        );
        let mut same = with.document.clone();
        same.run_id = without.document.run_id.clone();
        same.run.waits = None;
        assert_eq!(same, without.document, "{arbiter}");
        assert_eq!(with.tables, without.tables);
        assert_eq!(without.document.waits(), None);
        // The same for any partitions, threads and event queue.
        let text = tree(arbiter, true);
        let parted = load(&Request {
            partitions: Some(5),
            threads: 2,
            ..Request::new("tiny.toml", &text)
        });
        let parted = parted.experiment.unwrap();
        assert_eq!(parted.fabric.n_partitions(), 5);
        let options = RunOptions {
            threads: 2,
            reference: true,
            ..RunOptions::default()
        };
        let parted = run(&parted, &options, &mut |_| Control::Continue);
        assert_eq!(parted.document.run.waits, waits, "{arbiter}");
        assert_eq!(parted.document.waits(), with.document.waits());
    }
}
