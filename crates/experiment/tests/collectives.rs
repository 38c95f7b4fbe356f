//! Collective operations, expert parallelism and cache transfers on fabrics: closed forms to the
//! tick, bounds, bandwidths and ranks.

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Loaded, Request, load};
use netloom_results::{Run, Summary, Verdict};
use proptest::prelude::*;

fn read(text: &str) -> Loaded {
    load(&Request::new("test.toml", text))
}

fn messages(loaded: &Loaded) -> String {
    render(&loaded.document, &loaded.notes, false)
}

fn done(text: &str) -> Run {
    let loaded = read(text);
    let words = messages(&loaded);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{words}"));
    let options = RunOptions::default();
    run(&experiment, &options, &mut |_| Control::Continue)
        .document
        .run
}

/// 400 Gbps links of one switch: 50 bytes per nanosecond.
const SWITCH: &str = "\
netloom = 1
[topology]
kind = \"single-switch\"
ports = 16
[link]
rate = \"400 Gbps\"
mtu = \"4 KiB\"
[measure]
length = \"10 ms\"
";

/// 16 NICs below four switches.
const TREE: &str = "\
netloom = 1
[topology]
kind = \"fat-tree\"
arity = 4
levels = 2
[link]
rate = \"400 Gbps\"
mtu = \"4 KiB\"
[measure]
length = \"10 ms\"
";

const RATE: f64 = 50.0;

/// Returns the results of a workload that finished.
fn job(fabric: &str, workload: &str) -> Summary {
    let text = format!("{fabric}[[traffic]]\nname = \"job\"\nworkload = {{ {workload} }}\n");
    let run = done(&text);
    let summary = run.classes[0].summary.clone();
    assert_eq!(summary.verdict, Verdict::Ok, "{workload}");
    summary
}

/// Returns the time of a workload of `n` NICs of one switch.
fn time(kind: &str, n: u32, bytes: u32, keys: &str) -> f64 {
    let last = n - 1;
    let own = format!("kind = \"{kind}\", nics = \"0-{last}\", bytes = \"{bytes} B\"{keys}");
    job(SWITCH, &own).completion_time_ns.unwrap()
}

/// Returns the zero-load latency of a message.
fn message(bytes: u32) -> f64 {
    time("broadcast", 2, bytes, "")
}

/// Returns the time from a message to the next one of the same size and sender.
fn spacing(bytes: u32) -> f64 {
    let two = ", algorithm = \"chain\", pieces = 2";
    time("broadcast", 2, 2 * bytes, two) - message(bytes)
}

#[track_caller]
fn is_exactly(time: f64, expected: f64) {
    assert!(
        (time - expected).abs() < 1e-6,
        "{time}, expected {expected}"
    );
}

#[test]
fn rings_take_the_time_of_their_steps() {
    for (n, chunk) in [(2, 4096), (3, 700), (8, 8192), (16, 8192), (16, 64)] {
        let step = message(chunk);
        let steps = f64::from(n - 1);
        let time = |kind| time(kind, n, n * chunk, "");
        is_exactly(time("all-reduce"), 2.0 * steps * step);
        is_exactly(time("all-gather"), steps * step);
        is_exactly(time("reduce-scatter"), steps * step);
    }
    // The numbers of one configuration.
    is_exactly(message(4096), 110.08);
    is_exactly(message(8192), 192.0);
}

#[test]
fn partners_take_the_time_of_their_steps() {
    for (n, chunk) in [(2u32, 4096), (4, 700), (8, 8192), (16, 2048)] {
        let bytes = n * chunk;
        let steps = n.ilog2();
        let doubling =
            |kind, algorithm| time(kind, n, bytes, &format!(", algorithm = \"{algorithm}\""));
        let whole = f64::from(steps) * message(bytes);
        is_exactly(doubling("all-reduce", "recursive-doubling"), whole);
        let halves: f64 = (0..steps).map(|step| message(chunk << step)).sum();
        is_exactly(doubling("all-reduce", "halving-doubling"), 2.0 * halves);
        is_exactly(doubling("all-gather", "recursive-doubling"), halves);
        is_exactly(doubling("reduce-scatter", "recursive-halving"), halves);
        is_exactly(time("broadcast", n, bytes, ""), whole);
    }
}

#[test]
fn all_to_alls_and_chains_take_the_time_of_their_messages() {
    for (n, chunk) in [(2, 4096), (5, 700), (8, 8192), (16, 2048)] {
        let (latency, further) = (message(chunk), spacing(chunk));
        let others = f64::from(n - 1);
        let pairwise = time("all-to-all", n, n * chunk, ", algorithm = \"pairwise\"");
        is_exactly(pairwise, others * latency);
        let direct = time("all-to-all", n, n * chunk, "");
        is_exactly(direct, latency + (others - 1.0) * further);
        let chain = ", root = 1, algorithm = \"chain\", pieces = 6";
        let chain = time("broadcast", n, 6 * chunk, chain);
        is_exactly(chain, others * latency + 5.0 * further);
    }
}

/// Bandwidths count the larger buffer of a rank, and the factors of nccl-tests.
#[test]
fn bandwidths_are_those_of_nccl_tests() {
    for (kind, factor) in [
        ("all-reduce", 2.0 * 7.0 / 8.0),
        ("all-gather", 7.0 / 8.0),
        ("reduce-scatter", 7.0 / 8.0),
        ("all-to-all", 7.0 / 8.0),
        ("broadcast", 1.0),
    ] {
        let own = format!("kind = \"{kind}\", nics = \"0-7\", bytes = \"1 MiB\", rounds = 3");
        let summary = job(SWITCH, &own);
        let time = summary.completion_time_ns.unwrap() / 3.0;
        let algorithm = summary.algorithm_bandwidth.unwrap();
        assert!((algorithm - 1_048_576.0 / time).abs() < 1e-9, "{kind}");
        let bus = summary.bus_bandwidth.unwrap();
        assert!((bus - algorithm * factor).abs() < 1e-9, "{kind}");
        // Large messages fill the links, except those of a tree.
        let least = if kind == "broadcast" { 0.2 } else { 0.85 };
        assert!((least * RATE..=RATE).contains(&bus), "{kind}: {bus}");
    }
}

#[test]
fn the_slowest_rank_is_the_one_that_ends_last() {
    // The last rank of a chain from rank 2 over 3 to 1.
    let summary = job(
        SWITCH,
        "kind = \"broadcast\", nics = \"0-3\", bytes = \"64 KiB\", root = 2, \
         algorithm = \"chain\", pieces = 1",
    );
    assert_eq!(summary.slowest_rank, Some(1));
    // The root ends at once, and the others after one, two and three steps.
    assert!((summary.rank_imbalance.unwrap() - 2.0).abs() < 0.05);
    // All ranks of a ring end together.
    let ring = job(
        SWITCH,
        "kind = \"all-reduce\", nics = \"0-7\", bytes = \"64 KiB\"",
    );
    assert_eq!(ring.slowest_rank, Some(0));
    assert_eq!(ring.rank_imbalance, Some(1.0));
}

#[test]
fn an_unfinished_job_has_no_bandwidth() {
    let text = format!(
        "{}[[traffic]]\nworkload = {{ kind = \"all-to-all\", bytes = \"64 MiB\" }}\n",
        SWITCH.replace("10 ms", "10 us")
    );
    let summary = &done(&text).classes[0].summary;
    assert_eq!(summary.verdict, Verdict::Unfinished);
    assert_eq!(summary.bus_bandwidth, None);
    assert_eq!((summary.slowest_rank, summary.rank_imbalance), (None, None));
}

/// A rank of 16 dispatches 64 tokens to 4 of 64 experts.
const EXPERTS: &str = "kind = \"expert-parallel\", tokens = 64, experts = 64, top-k = 4, \
                       hidden = 2048, layers = 2";

#[test]
fn expert_parallelism_waits_for_the_slowest_rank() {
    let summary = job(TREE, EXPERTS);
    let tokens = 64.0 * 4.0 * 15.0 / 16.0;
    let sent = 2.0 * tokens * (16.0 + 2048.0 + 64.0 + 4096.0);
    let time = summary.completion_time_ns.unwrap();
    // Headers, latencies and uneven choices come on top.
    assert!((1.02..2.5).contains(&(time * RATE / sent)), "{time}");
    assert!(summary.rank_imbalance.unwrap() < 1.2);
    // With popular experts, their ranks receive more than others.
    let skewed = job(TREE, &format!("{EXPERTS}, skew = 1.0"));
    assert!(skewed.completion_time_ns.unwrap() > 1.5 * time);
    // Fewer messages have the same bytes without most headers.
    let merged = job(TREE, &format!("{EXPERTS}, merge = \"rank\""));
    assert!(merged.delivered_messages < summary.delivered_messages / 3);
}

const TRANSFER: &str = "kind = \"kv-transfer\", from = \"8-15\", to = \"0-7\", tokens = 256, \
                        bytes-per-token = 8192, layers = 8";

#[test]
fn a_cache_moves_at_the_rate_of_its_link() {
    let whole = job(TREE, TRANSFER);
    let bytes = 256.0 * 8192.0;
    let time = whole.completion_time_ns.unwrap();
    assert!((1.0..1.1).contains(&(time * RATE / bytes)), "{time}");
    assert!((whole.bus_bandwidth.unwrap() - bytes / time).abs() < 1e-9);
    let keyed = |keys: &str| {
        job(TREE, &format!("{TRANSFER}, {keys}"))
            .completion_time_ns
            .unwrap()
    };
    let by_layer = keyed("by-layer = true");
    // Each further layer waits for a notification.
    assert!(by_layer > time && by_layer < 1.5 * time, "{by_layer}");
    let read = keyed("mode = \"read\"");
    assert!((0.95..1.1).contains(&(read / time)), "{read}");
    let twice = keyed("transfers = 2");
    assert!((1.99..2.01).contains(&(twice / time)), "{twice}");
}

#[test]
fn only_the_owner_computes_before_its_next_layer() {
    let timed = |workload: &str, keys: &str| {
        let traffic = format!("[[traffic]]\nname = \"job\"\nworkload = {{ {workload} }}\n{keys}");
        let run = done(&format!("{TREE}{traffic}"));
        run.classes[0].summary.completion_time_ns.unwrap()
    };
    let by_layer = format!("{TRANSFER}, by-layer = true");
    let longer = timed(&by_layer, "compute = \"20 us\"\n") - timed(&by_layer, "");
    assert!((longer - 7.0 * 20_000.0).abs() < 100.0, "{longer}");
}

#[test]
fn transfers_at_a_load_run_next_to_a_program() {
    let text = format!(
        "{}[[traffic]]\nname = \"experts\"\nsl = 1\nworkload = {{ {EXPERTS}, nics = \"0-7\", \
         rounds = 4 }}\n[[traffic]]\nname = \"cache\"\nworkload = {{ {TRANSFER}, load = 0.3 }}\n",
        TREE.replace("10 ms", "4 ms")
    );
    let run = done(&text);
    let [experts, cache] = [0, 1].map(|at| &run.classes[at].summary);
    assert_eq!(experts.verdict, Verdict::Ok);
    assert_eq!(cache.completion_time_ns, None, "it has no end");
    // Half of the NICs send at 0.3.
    assert!(
        (cache.offered_load - 0.15).abs() < 0.05,
        "{}",
        cache.offered_load
    );
    // Transfers may share NICs with a program, and another program may not.
    let both = |workload: &str| {
        read(&format!(
            "{TREE}[[traffic]]\nname = \"experts\"\nworkload = {{ {EXPERTS} }}\n\
             [[traffic]]\nname = \"other\"\nworkload = {{ {workload} }}\n"
        ))
    };
    assert!(both(TRANSFER).experiment.is_some());
    let words = messages(&both("kind = \"all-reduce\""));
    assert!(words.contains("E0614"), "{words}");
}

#[test]
fn impossible_operations_are_refused_with_their_place() {
    let problem = |workload: &str| {
        let text = format!("{SWITCH}[[traffic]]\nworkload = {{ {workload} }}\n");
        let words = messages(&read(&text));
        words.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        problem("kind = \"all-gather\", nics = \"0-5\", algorithm = \"recursive-doubling\""),
        "error[E0611]: a recursive doubling needs a power of two of ranks, found 6; use another \
         `algorithm`"
    );
    assert_eq!(
        problem("kind = \"broadcast\", root = 16"),
        "error[E0611]: the root is rank 16, but there are 16 ranks, from 0; use a smaller `root`"
    );
    assert_eq!(
        problem("kind = \"all-to-all\", ranks-per-host = 0"),
        "error[E0603]: a host with 0 ranks"
    );
    assert_eq!(
        problem("kind = \"expert-parallel\", experts = 100"),
        "error[E0611]: 100 experts cannot be divided evenly over 16 ranks; use a multiple of 16"
    );
    assert_eq!(
        problem(
            "kind = \"kv-transfer\", from = \"0-1\", to = \"2-3\", load = 0.1, mode = \"read\""
        ),
        "error[E0603]: requests cannot be answered at a load"
    );
    // Rounds are counted and not expanded.
    let endless = "kind = \"all-reduce\", bytes = \"1 GiB\", rounds = 60000000";
    let text = format!("{SWITCH}[[traffic]]\nworkload = {{ {endless} }}\n");
    assert!(read(&text).experiment.is_some());
}

/// The steps of 1,024 x 1,023 messages of 64 KiB are checked at once.
#[test]
fn a_large_all_to_all_is_checked() {
    let text = "netloom = 1\n[topology]\nkind = \"pgft\"\nchildren = [32, 32]\nparents = [1, 32]\n\
        [link]\nmtu = \"4 KiB\"\n[[traffic]]\n\
        workload = { kind = \"all-to-all\", bytes = \"64 MiB\" }\n[measure]\nlength = \"20 ms\"\n";
    let loaded = read(text);
    assert!(loaded.experiment.is_some(), "{}", messages(&loaded));
    let facts: Vec<_> = loaded
        .facts
        .iter()
        .filter(|(word, _)| word == "program")
        .collect();
    assert!(
        facts[0]
            .1
            .contains("1,024 ranks, 1,047,552 messages in 16,760,832 packets"),
        "{facts:?}"
    );
}

fn any_collective() -> impl Strategy<Value = String> {
    let algorithms = prop::sample::select(vec![
        ("all-reduce", "ring"),
        ("all-reduce", "recursive-doubling"),
        ("all-reduce", "halving-doubling"),
        ("all-gather", "ring"),
        ("reduce-scatter", "ring"),
        ("all-to-all", "direct"),
        ("all-to-all", "pairwise"),
        ("broadcast", "binomial"),
        ("broadcast", "chain"),
    ]);
    (
        algorithms,
        2u32..17,
        64u32..200_000,
        1u32..4,
        prop::bool::ANY,
    )
        .prop_map(|((kind, algorithm), n, bytes, rounds, is_spread)| {
            // Neighbours, or as far apart as possible.
            let nics = match is_spread {
                true => format!("0-{}", n - 1),
                false => format!("{}-15", 16 - n),
            };
            format!(
                "kind = \"{kind}\", nics = \"{nics}\", bytes = \"{bytes} B\", \
                 algorithm = \"{algorithm}\", rounds = {rounds}"
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// No operation is faster than the bytes that a NIC has to send or receive. A broadcast that is
    /// repeated overlaps with the one before, but its bytes still pass the NICs one after another.
    #[test]
    fn no_operation_is_faster_than_its_links(workload in any_collective()) {
        for fabric in [SWITCH, TREE] {
            let summary = job(fabric, &workload);
            let bus = summary.bus_bandwidth.unwrap();
            prop_assert!(bus <= RATE, "{}: {}", workload, bus);
            prop_assert!(summary.rank_imbalance.unwrap() >= 1.0);
        }
    }
}
