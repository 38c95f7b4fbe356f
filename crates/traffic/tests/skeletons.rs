//! Programs of ranks: the sizes of skeletons at paper size, every message received, and no deadlock
//! at any size.

use netloom_catalog::{Disk, Document, Notes, Section};
use netloom_packet::{Op, Program, Segmentation};
use netloom_traffic::programs::{Placed, Programs, Rank, Step, play};
use netloom_traffic::{
    Class, Generated, Generator, GroupMembers, Groups, Members, NO_GROUPS, Setting, TrafficKinds,
    WORKLOADS,
};
use netloom_units::{Bytes, NicId, Time};
use proptest::prelude::*;

fn setting(n_nics: u32, groups: &GroupMembers, seed: u64) -> Setting<'_> {
    Setting {
        segmentation: Segmentation {
            flit: Bytes(10),
            mtu: Some(Bytes(240)),
            header: Bytes(0),
        }
        .into(),
        n_nics,
        groups,
        seed,
        class: 0,
        cycles: &|time: Time| time.as_nanos() as u64,
        files: Disk::HERE,
    }
}

fn read(kind: &str, keys: &str) -> Result<Box<dyn Generator>, Vec<String>> {
    let kind = WORKLOADS.iter().find(|known| known.name == kind).unwrap();
    let mut notes = Notes::new();
    let document = Document::parse("x.toml", keys, &mut notes);
    let mut section = Section::open(&document.root, &mut notes).unwrap();
    let read = (kind.read)(&mut section);
    section.finish();
    read.filter(|_| notes.is_empty()).ok_or_else(|| {
        let messages = notes.sorted().into_iter();
        messages.map(|note| note.message).collect()
    })
}

fn placed(generator: &dyn Generator, setting: &Setting<'_>) -> Result<Placed, String> {
    match generator.generate(setting)? {
        Generated::Programs(placed) => Ok(placed),
        _ => panic!("programs"),
    }
}

fn programs(kind: &str, keys: &str) -> Programs {
    let generator = read(kind, keys).unwrap_or_else(|problems| panic!("{problems:?}"));
    let setting = setting(3080, &NO_GROUPS, 1);
    let placed = placed(&*generator, &setting);
    let programs = placed.unwrap().programs().clone();
    let largest = generator.largest(&setting);
    for bytes in sends(&programs).map(|(_, _, bytes)| bytes) {
        assert!(bytes > 0 && bytes <= largest);
    }
    programs
}

/// Returns all messages, as from, to, bytes.
fn sends(programs: &Programs) -> impl Iterator<Item = (Rank, Rank, u32)> {
    (0..programs.n_ranks()).map(Rank).flat_map(|from| {
        programs.steps(from).filter_map(move |step| match step {
            Step::Send { to, bytes } => Some((from, to, bytes)),
            Step::Receive { .. } => None,
        })
    })
}

const PROGRAMS: [&str; 13] = [
    "bigfft",
    "fill-boundary",
    "multi-grid",
    "amg",
    "amr",
    "minife",
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "broadcast",
    "expert-parallel",
    "kv-transfer",
];

#[test]
fn every_program_is_tested_and_its_example_is_small() {
    let are_programs = WORKLOADS.iter().filter(|kind| {
        let read = read(kind.name, kind.example);
        read.unwrap_or_else(|problems| panic!("{problems:?}"))
            .is_program()
    });
    let kinds: Vec<_> = are_programs.collect();
    assert!(kinds.iter().map(|kind| kind.name).eq(PROGRAMS));
    for kind in kinds {
        let programs = programs(kind.name, kind.example);
        assert!((10..30).contains(&programs.n_ranks()), "{}", kind.name);
        let packets = programs.sum(|bytes| u64::from(bytes).div_ceil(240));
        let per_rank = packets / u64::from(programs.n_ranks());
        assert!((10..1000).contains(&per_rank), "{}: {per_rank}", kind.name);
        assert!(play(&programs, |_| 1).is_ok());
    }
}

/// Ranks, rounds, total messages and bytes, and the length of the longest chain of messages.
struct Expected {
    ranks: u32,
    rounds: u32,
    messages: u64,
    bytes: u64,
    chain: u64,
}

#[track_caller]
fn check(kind: &str, expected: Expected) {
    let programs = programs(kind, "");
    assert_eq!(programs.n_ranks(), expected.ranks);
    assert_eq!(programs.n_rounds(), expected.rounds);
    assert_eq!(programs.n_messages(), expected.messages);
    assert_eq!(programs.sum(u64::from), expected.bytes);
    let played = play(&programs, |_| 1).unwrap_or_else(|deadlock| panic!("{deadlock}"));
    assert_eq!(played.end, expected.chain);
}

/// Returns the messages of an all-reduce: an exchange at each doubling, and two for every folded
/// rank.
fn all_reduce(n: u64) -> u64 {
    let doubling = 1 << n.ilog2();
    doubling * u64::from(n.ilog2()) + 2 * (n - doubling)
}

#[test]
fn bigfft_exchanges_in_rows_and_columns_of_32() {
    let messages = 4 * 1024 * 2 * 31;
    check(
        "bigfft",
        Expected {
            ranks: 1024,
            rounds: 4,
            messages,
            bytes: messages * 65_536,
            chain: 8,
        },
    );
    let small = programs("bigfft", "grid = [3, 2]\nrounds = 1\nsize-divisor = 1024");
    let of_4: Vec<Step> = small.steps(Rank(4)).collect();
    let send = |to| Step::Send {
        to: Rank(to),
        bytes: 64,
    };
    let receive = |from, message| Step::Receive {
        from: Rank(from),
        message,
    };
    // Row 3, 4, 5, then column 1, 4.
    assert_eq!(
        of_4,
        [
            send(5),
            send(3),
            receive(3, 0),
            receive(5, 1),
            send(1),
            receive(1, 2)
        ]
    );
}

#[test]
fn fill_boundary_has_26_neighbours() {
    check(
        "fill-boundary",
        Expected {
            ranks: 1000,
            rounds: 10,
            messages: 10 * 1000 * 26,
            bytes: 10 * 1000 * (6 * 65_536 + 12 * 4_096 + 8 * 256),
            chain: 10,
        },
    );
}

/// Returns pairs of neighbours with a common face, edge or corner in an open grid, in both
/// directions.
fn neighbours(x: u64, y: u64, z: u64) -> [u64; 3] {
    let (a, b, c) = (x - 1, y - 1, z - 1);
    [
        2 * (a * y * z + x * b * z + x * y * c),
        4 * (a * b * z + a * y * c + x * b * c),
        8 * a * b * c,
    ]
}

#[test]
fn multi_grid_goes_down_and_up_five_levels() {
    let [faces, _, _] = neighbours(10, 10, 10);
    assert_eq!(faces, 5400);
    // 16 KiB, 4 KiB, 1 KiB, 256 B, 64 B, and back without the coarsest again.
    let levels = 2 * (16_384 + 4_096 + 1_024 + 256) + 64;
    check(
        "multi-grid",
        Expected {
            ranks: 1000,
            rounds: 5,
            messages: 5 * 9 * faces,
            bytes: 5 * levels * faces,
            chain: 5 * 9,
        },
    );
}

#[test]
fn amg_has_more_neighbours_on_coarser_levels() {
    let [faces, edges, corners] = neighbours(12, 12, 12);
    let all = faces + edges + corners;
    let halos = 2 * (faces + (faces + edges) + 5 * all) + all;
    let bytes =
        2 * (8_192 * faces + 4_096 * (faces + edges) + (2_048 + 1_024 + 3 * 512) * all) + 512 * all;
    let reduces = 15 * all_reduce(1728);
    check(
        "amg",
        Expected {
            ranks: 1728,
            rounds: 5,
            messages: 5 * (halos + reduces),
            bytes: 5 * (bytes + 8 * reduces),
            // A halo, then fold in, ten exchanges, and back: more than half are folded in.
            chain: 5 * 15 * (1 + 12),
        },
    );
}

#[test]
fn minife_iterates_a_hundred_times() {
    let [faces, _, _] = neighbours(8, 12, 12);
    check(
        "minife",
        Expected {
            ranks: 1152,
            rounds: 100,
            messages: 100 * (faces + 2 * all_reduce(1152)),
            bytes: 100 * (8_192 * faces + 2 * 8 * all_reduce(1152)),
            // A halo, then twice ten exchanges, one of them after folding in.
            chain: 100 * (1 + 2 * 11),
        },
    );
}

#[test]
fn amr_is_active_on_two_fifths_of_the_ranks() {
    let programs = programs("amr", "");
    assert_eq!((programs.n_ranks(), programs.n_rounds()), (1728, 10));
    let n_reduce = all_reduce(1728);
    let halo: Vec<_> = sends(&programs).filter(|send| send.2 > 8).collect();
    assert_eq!(programs.n_messages(), halo.len() as u64 + 10 * n_reduce);
    let mut to_whom = vec![vec![]; 1728];
    for (from, to, bytes) in &halo {
        assert!(bytes.is_power_of_two() && (1 << 10..=32 << 10).contains(bytes));
        to_whom[from.index()].push(*to);
    }
    let active = |rank: &Rank| !to_whom[rank.index()].is_empty();
    assert_eq!((0..1728).map(Rank).filter(active).count(), 691);
    let mut degrees = [0; 11];
    for own in to_whom.iter().filter(|own| !own.is_empty()) {
        // The same in every round, each neighbour once, and only active ones.
        let n = own.len() / 10;
        assert!(own.chunks(n).all(|round| round == &own[..n]));
        let mut once = own[..n].to_vec();
        once.sort_unstable();
        once.dedup();
        assert!(once.len() == n && once.iter().all(active));
        degrees[n] += 1;
    }
    assert_eq!(degrees[..3], [0; 3]);
    assert!(
        degrees[3..].iter().all(|n| (50..130).contains(n)),
        "{degrees:?}"
    );
    for size in [1, 2, 4, 8, 16, 32] {
        let n = halo.iter().filter(|send| send.2 == size << 10).count() as f64;
        let share = n / halo.len() as f64;
        assert!((share - 1.0 / 6.0).abs() < 0.02, "{size} KiB: {share}");
    }
}

#[test]
fn an_all_reduce_is_one_ring_of_all_its_nics() {
    let programs = programs("all-reduce", "nics = \"0-999\"");
    assert_eq!((programs.n_ranks(), programs.n_rounds()), (1000, 1));
    assert_eq!(programs.n_messages(), 1000 * 2 * 999);
    assert_eq!(programs.sum(u64::from), 2 * 999 * (4 << 20));
    let ring = read("all-reduce", "nics = \"4-8\"\nbytes = \"23 B\"\nrounds = 2").unwrap();
    let setting = setting(64, &NO_GROUPS, 1);
    assert_eq!(ring.largest(&setting), 5);
    let placed = placed(&*ring, &setting).unwrap();
    assert_eq!(placed.nics(), [4, 5, 6, 7, 8].map(NicId));
    // Chunks of 5, 5, 5, 4, 4 bytes; rank 4 begins with its own, in descending order.
    let sends = |step: u32| match placed.op(NicId(8), 2 * step) {
        Some(Op::Send { to, bytes }) => (to.0, bytes),
        other => panic!("{other:?}"),
    };
    let round = [4, 4, 5, 5, 5, 4, 4, 5].map(|bytes| (4, bytes));
    let steps: Vec<(u32, u32)> = (0..16).map(sends).collect();
    assert_eq!(steps, [round, round].concat());
    let receive = |message| {
        Some(Op::Receive {
            from: NicId(7),
            message,
        })
    };
    assert_eq!(placed.op(NicId(8), 1), receive(0));
    assert_eq!(placed.op(NicId(8), 31), receive(15));
    assert_eq!(placed.op(NicId(8), 32), None);
}

#[test]
fn amr_depends_on_the_seed_and_the_class() {
    let amr = read("amr", "ranks = 40\nrounds = 1").unwrap();
    let sends_of = |seed, class| {
        let setting = Setting {
            class,
            ..setting(64, &NO_GROUPS, seed)
        };
        let placed = placed(&*amr, &setting).unwrap();
        sends(placed.programs()).collect::<Vec<_>>()
    };
    assert_eq!(sends_of(1, 0), sends_of(1, 0));
    assert_ne!(sends_of(1, 0), sends_of(2, 0));
    assert_ne!(sends_of(1, 0), sends_of(1, 1));
}

/// Returns whether all messages are received, once each, by their destinations: the guarantee of
/// `Programs`, derived again from the steps alone.
fn are_all_received(programs: &Programs) -> bool {
    let mut sent: Vec<(Rank, u32, Rank)> = vec![];
    let mut received = vec![];
    for rank in (0..programs.n_ranks()).map(Rank) {
        let mut number = 0;
        for step in programs.steps(rank) {
            match step {
                Step::Send { to, .. } => {
                    sent.push((rank, number, to));
                    number += 1;
                }
                Step::Receive { from, message } => received.push((from, message, rank)),
            }
        }
    }
    sent.sort_unstable();
    received.sort_unstable();
    sent == received
}

fn any_program() -> impl Strategy<Value = (&'static str, String)> {
    let shape = (
        0..PROGRAMS.len(),
        (1u32..6, 1u32..6, 1u32..5),
        1u32..4,
        1u32..5000,
        any::<bool>(),
    );
    shape
        .prop_filter("two ranks", |(_, (x, y, _), ..)| x * y > 1)
        .prop_map(|(kind, (x, y, z), rounds, divisor, flag)| {
            let kind = PROGRAMS[kind];
            let own = match kind {
                "all-reduce" | "all-gather" | "reduce-scatter" | "all-to-all" | "broadcast" => {
                    let n = x * y * z;
                    let bytes = n + divisor;
                    let keys = format!(
                        "nics = \"0-{}\"\nbytes = \"{bytes} B\"\nrounds = {rounds}",
                        n - 1
                    );
                    let own = match (kind, divisor % 3) {
                        ("all-reduce", 1) => "algorithm = \"recursive-doubling\"",
                        ("all-reduce", 2) => "algorithm = \"halving-doubling\"",
                        ("all-gather", 1) if n.is_power_of_two() => {
                            "algorithm = \"recursive-doubling\""
                        }
                        ("reduce-scatter", 1) if n.is_power_of_two() => {
                            "algorithm = \"recursive-halving\""
                        }
                        ("all-to-all", 1) => "algorithm = \"pairwise\"",
                        ("all-to-all", 2) => "ranks-per-host = 3",
                        ("broadcast", 1) => "algorithm = \"chain\"\npieces = 2",
                        ("broadcast", 2) => "root = 1",
                        _ => "",
                    };
                    return (kind, format!("{keys}\n{own}"));
                }
                "expert-parallel" => {
                    let n = x * y * z;
                    let merge = ["none", "token", "rank"][divisor as usize % 3];
                    let keys = format!(
                        "nics = \"0-{}\"\ntokens = {x}\nexperts = {}\ntop-k = {z}\nlayers = {y}",
                        n - 1,
                        4 * n
                    );
                    let more = format!("hidden = {divisor}\nmerge = \"{merge}\"\nskew = {rounds}");
                    return (kind, format!("{keys}\n{more}\nrounds = {rounds}"));
                }
                "kv-transfer" => {
                    let mode = ["write", "read"][divisor as usize % 2];
                    let keys = format!(
                        "from = \"0-{}\"\nto = \"{x}-{}\"\ntokens = {divisor}\npage = 1000",
                        x - 1,
                        2 * x - 1
                    );
                    let more = format!("layers = {y}\nbytes-per-token = {}", y * z);
                    let more = format!("{more}\nmode = \"{mode}\"\nby-layer = {flag}");
                    return (kind, format!("{keys}\n{more}\ntransfers = {rounds}"));
                }
                "bigfft" => format!("grid = [{x}, {y}]"),
                "fill-boundary" => format!("grid = [{x}, {y}, {z}]\nperiodic = {flag}"),
                "amr" => format!("ranks = {}\nactive = 0.{z}", x * y * z),
                "minife" => format!("grid = [{x}, {y}, {z}]"),
                _ => format!("grid = [{x}, {y}, {z}]\nlevels = {}", z + 1),
            };
            (
                kind,
                format!("{own}\nrounds = {rounds}\nsize-divisor = {divisor}"),
            )
        })
}

proptest! {
    #[test]
    fn every_message_is_received_and_nobody_waits_for_ever((kind, keys) in any_program()) {
        let programs = programs(kind, &keys);
        prop_assert!(are_all_received(&programs));
        let played = play(&programs, |sent| 1 + u64::from(sent.bytes % 7));
        let played = played.map_err(|deadlock| TestCaseError::fail(deadlock.to_string()))?;
        for (rank, times) in (0..).map(Rank).zip(&played.done) {
            prop_assert_eq!(times.len(), programs.steps(rank).count());
            prop_assert!(times.is_sorted());
        }
    }
}

#[test]
fn ranks_are_mapped_to_the_nics_of_a_group_in_order() {
    let groups = Groups(vec![("job".to_owned(), Members::Random(6))]);
    let drawn = groups.draw(64, 3).unwrap();
    let job = drawn.members("job").unwrap();
    let bigfft = read("bigfft", "grid = [2, 3]\nnics = \"job\"").unwrap();
    let placed = placed(&*bigfft, &setting(64, &drawn, 3)).unwrap();
    assert_eq!(placed.nics(), job);
    // Rank 0 sends to rank 1 in its row.
    let first = placed.op(job[0], 0);
    assert_eq!(
        first,
        Some(Op::Send {
            to: job[1],
            bytes: 65_536
        })
    );
    let others = (0..64).map(NicId).filter(|nic| !job.contains(nic));
    assert!(others.into_iter().all(|nic| placed.op(nic, 0).is_none()));
}

#[test]
fn what_does_not_fit_is_reported() {
    let problem = |kind: &str, keys: &str| {
        let generator = read(kind, keys).unwrap();
        placed(&*generator, &setting(64, &NO_GROUPS, 1)).unwrap_err()
    };
    assert_eq!(
        problem("bigfft", ""),
        "1024 ranks do not fit on 64 NICs; use fewer ranks or more `nics`"
    );
    assert_eq!(
        problem("amr", "ranks = 9\nnics = \"0-7\""),
        "9 ranks do not fit on 8 NICs; use fewer ranks or more `nics`"
    );
    assert_eq!(
        problem("minife", "nics = \"job\""),
        "`nics`: there is no group \"job\": the file has no [groups]"
    );
    assert_eq!(
        problem("minife", "grid = [2, 2, 2]\nrounds = 4000000000"),
        "rank 7 has 72000000000 steps, more than can be counted"
    );
    assert_eq!(
        problem("all-reduce", "nics = [3]"),
        "an all-reduce needs at least two ranks; add `nics`"
    );
    assert_eq!(
        problem("all-reduce", "bytes = \"63 B\""),
        "63 B in 64 chunks is less than a byte per chunk; use more `bytes` or fewer `nics`"
    );
    assert_eq!(
        problem("all-reduce", "nics = \"job\""),
        "`nics`: there is no group \"job\": the file has no [groups]"
    );
    assert_eq!(
        problem("all-reduce", "rounds = 4000000000"),
        "rank 63 has 1008000000000 steps, more than can be counted"
    );
    let problems = |kind: &str, keys: &str| read(kind, keys).err().unwrap();
    assert_eq!(
        problems("all-reduce", "bytes = \"0 B\"\nrounds = 0"),
        [
            "an all-reduce needs at least one byte per rank",
            "the number of rounds is 0"
        ]
    );
    assert_eq!(
        problems("all-reduce", "algorithm = \"rign\""),
        ["expected one of ring, recursive-doubling, halving-doubling, found \"rign\""]
    );
    assert_eq!(
        problems("bigfft", "grid = [4, 4, 4]\nrounds = 0\npair = \"0 B\""),
        ["expected 2 sides of a grid, found 3"]
    );
    assert_eq!(
        problems("bigfft", "rounds = 0\npair = \"0 B\"\nsize-divisor = 0"),
        [
            "the number of rounds is 0",
            "a message cannot have 0 B",
            "the divisor is 0"
        ]
    );
    assert_eq!(
        problems("minife", "grid = [1, 1, 1]"),
        ["the grid has 1 ranks"]
    );
    assert_eq!(
        problems("minife", "grid = [4000000000, 4000000000, 4000000000]"),
        ["the grid has more ranks than can be counted"]
    );
    assert_eq!(
        problems(
            "amr",
            "ranks = 1\nactive = 0\nneighbours = [5, 3]\nsizes = [\"4 KiB\", \"1 KiB\"]"
        ),
        [
            "the number of ranks is 1",
            "0 is not a share of the ranks",
            "expected 1 to 1000 neighbours, found 5 to 3",
            "the smallest message, 4 KiB, is larger than 1 KiB",
        ]
    );
    assert_eq!(
        problems("amg", "levels = 0"),
        ["a V-cycle cannot have 0 levels"]
    );
}

#[test]
fn a_class_of_a_skeleton_has_a_program_and_no_times() {
    let read = |text: &str| {
        let mut notes = Notes::new();
        let document = Document::parse("x.toml", text, &mut notes);
        let mut section = Section::open(&document.root, &mut notes).unwrap();
        let read = Class::read(&mut section, &TrafficKinds::default());
        section.finish();
        let messages = || notes.sorted().into_iter().map(|note| note.message);
        read.ok_or_else(|| messages().collect::<Vec<_>>())
    };
    let class = &read("workload = { kind = \"minife\", grid = [2, 2, 2] }").unwrap()[0];
    assert!(class.is_program());
    let source = class.build(&setting(8, &NO_GROUPS, 1), &mut Notes::new());
    let source = source.expect("it fits");
    assert!(source.program().is_some());
    assert!(!read("workload = \"san\"").unwrap()[0].is_program());
    assert_eq!(
        read("from = \"1 us\"\nuntil = \"2 us\"\nworkload = \"minife\"")
            .err()
            .unwrap(),
        [
            "`from` cannot be used with a program of ranks",
            "`until` cannot be used with a program of ranks"
        ]
    );
}
