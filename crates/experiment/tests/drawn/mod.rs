//! Whole experiments drawn at random: every kind of every concept, several classes on one service
//! level, connections, programs, faults.
//!
//! A draw is a list of numbers. Each choice takes the next number. Shrinking makes the numbers
//! smaller, so the first alternative of every list below is the simplest.

// Not every test uses checkpoints.
#[allow(dead_code)]
pub(crate) mod shelf;
// Not every test compares fabrics with sites.
#[allow(dead_code)]
pub(crate) mod site;

use std::fmt::Write;

/// The numbers of a draw, in order, followed by zeros.
pub(crate) struct Tape<'a> {
    numbers: &'a [u32],
    at: usize,
}

impl<'a> Tape<'a> {
    pub(crate) fn new(numbers: &'a [u32]) -> Self {
        Tape { numbers, at: 0 }
    }

    /// Returns a number below `n`.
    fn below(&mut self, n: u32) -> u32 {
        let number = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        number % n
    }

    fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) + 1 == n
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }
}

/// A fabric: its section, its NICs, and the routings that suit it.
struct Wiring {
    text: String,
    n_nics: u32,
    routings: &'static [&'static str],
    has_groups: bool,
}

fn wiring(tape: &mut Tape<'_>) -> Wiring {
    const TREES: &[&str] = &[
        "\"d-mod-k\"",
        "\"random-up\"",
        "\"up-down\"",
        "\"det\"",
        "\"ecmp\"",
        "{ kind = \"ecmp\", choice = \"spray\" }",
        "{ kind = \"ecmp\", choice = \"least\", granularity = 3 }",
        "{ kind = \"ecmp\", choice = \"least-of-2\" }",
    ];
    const GROUPS: &[&str] = &[
        "\"minimal\"",
        "\"valiant\"",
        "{ kind = \"ugal\", threshold = 4 }",
        "{ kind = \"ugal\", threshold = 4, knowledge = \"global\", every = 8 }",
        "{ kind = \"par-ugal\", threshold = 4 }",
        "{ kind = \"par\", threshold-min = 0 }",
        "{ kind = \"par\", threshold-min = 5, relative = false, policy = \"current-router\" }",
        "\"up-down\"",
    ];
    const ANY: &[&str] = &["\"up-down\""];
    const TORUS: &[&str] = &[
        "\"dimension-order\"",
        "{ kind = \"dimension-order\", deadlock = \"dateline\" }",
        "{ kind = \"dimension-order\", deadlock = \"dateline-entry\" }",
        "{ kind = \"dimension-order\", tie = \"random\", trunk = \"packet\" }",
        "\"up-down\"",
    ];
    let plain = |text: String, n_nics, routings| Wiring {
        text,
        n_nics,
        routings,
        has_groups: false,
    };
    match tape.below(10) {
        0 => {
            let ports = tape.between(3, 9);
            plain(format!("kind = \"single-switch\"\nports = {ports}"), ports, ANY)
        }
        1 => {
            let (arity, levels) = tape.of(&[(2, 2), (2, 3), (3, 2), (4, 2)]);
            let text = format!("kind = \"fat-tree\"\narity = {arity}\nlevels = {levels}");
            plain(text, u32::pow(arity, levels), TREES)
        }
        2 => {
            let (links, slim) = (tape.between(1, 2), tape.between(1, 3));
            let mut text = format!(
                "kind = \"pgft\"\nchildren = [4, 3]\nparents = [1, {slim}]\nlinks = [1, {links}]"
            );
            if slim * links > 1 && tape.one_in(2) {
                text.push_str("\n[[failure]]\nlink = \"s0:4\"");
            }
            plain(text, 12, TREES)
        }
        3 => {
            let (hosts, trunk) = (tape.between(1, 2), tape.between(1, 2));
            let text = format!("kind = \"mesh\"\nsides = [3, 3]\nhosts = {hosts}\ntrunk = {trunk}");
            plain(text, 9 * hosts, &TORUS[..1])
        }
        4 => {
            let (hosts, trunk) = (tape.between(1, 2), tape.between(1, 2));
            let (sides, switches) =
                tape.of(&[("[4]", 4), ("[3, 3]", 9), ("[4, 2]", 8), ("[3, 2, 2]", 12)]);
            let text =
                format!("kind = \"torus\"\nsides = {sides}\nhosts = {hosts}\ntrunk = {trunk}");
            plain(text, switches * hosts, TORUS)
        }
        5 => plain(
            "kind = \"hypercube\"\ndimensions = 3\nhosts = 2".to_owned(),
            16,
            &TORUS[..1],
        ),
        6 => {
            let arrangement = tape.of(&["palm-tree", "consecutive", "circulant", "random"]);
            let (hosts, placement) = (tape.between(1, 2), tape.of(&["in-order", "random"]));
            let text = format!(
                "kind = \"dragonfly\"\nhosts = {hosts}\nswitches = 3\nglobals = 1\nports = 6\n\
                 arrangement = \"{arrangement}\"\nplacement = \"{placement}\""
            );
            Wiring {
                text,
                n_nics: 12 * hosts,
                routings: GROUPS,
                has_groups: true,
            }
        }
        7 => Wiring {
            text: "kind = \"megafly\"\nhosts = 2\nleaves = 2\nspines = 2\nglobals = 1".to_owned(),
            n_nics: 12,
            routings: GROUPS,
            has_groups: true,
        },
        8 => plain(
            "kind = \"random-regular\"\nswitches = 8\ndegree = 3\nhosts = 2".to_owned(),
            16,
            ANY,
        ),
        _ => plain(
            "kind = \"graph\"\ntext = \"link a b\\nlink b c\\nlink c a\\nlink c d\\nnic n0 a\\nnic \
             n1 b\\nnic n2 c\\nnic n3 d\\nnic n4 a\\nnic n5 d\"".to_owned(),
            6,
            ANY,
        ),
    }
}

/// The sections `[switch]` and `[nic]`, and their constraints on the others.
struct Machine {
    is_tiled: bool,
    flow_control: String,
    text: String,
}

fn stages(tape: &mut Tape<'_>) -> String {
    let mut stage = |least| tape.between(least, 3);
    format!(
        "pipeline = {{ input = {}, routing = {}, allocation = {}, crossbar = {}, output = {}, \
         credit = {} }}\n",
        stage(1),
        stage(0),
        stage(0),
        stage(1),
        stage(0),
        stage(0)
    )
}

fn buffer(tape: &mut Tape<'_>) -> String {
    let packets = tape.between(2, 8);
    match tape.below(3) {
        0 | 1 => format!("\"{} B\"", packets * 512),
        _ => format!("{{ pool = \"{} B\" }}", packets * 4096),
    }
}

/// Draws the protocols of endpoints.
fn protocol(tape: &mut Tape<'_>) -> String {
    let order = tape.of(&["message", "strict"]);
    let control = match tape.below(3) {
        0 => "acknowledge = true".to_owned(),
        _ => format!(
            "congestion-control = {{ kind = \"ecn-window\", window = {}, step = {}, mark-above = \
             0.2, cuts = \"{}\" }}",
            tape.of(&[64, 512, 4096]),
            tape.of(&[1, 7, 30]),
            tape.of(&["every-mark", "once-per-window"]),
        ),
    };
    format!("[nic]\n{control}\nreceive = {{ order = \"{order}\" }}\n")
}

/// Draws when the crossbar starts, and whether lanes cross in parallel.
fn crossbar(tape: &mut Tape<'_>, may_be_by_lane: bool) -> String {
    let start = tape.of(&["at-once", "stored"]);
    let ports = match may_be_by_lane && tape.one_in(3) {
        true => "per-lane",
        false => "one",
    };
    format!("crossbar-start = \"{start}\"\ninput-ports = \"{ports}\"\n")
}

/// The most common fabric: a queue per lane, and endpoints without protocols.
fn plain_machine(tape: &mut Tape<'_>) -> Machine {
    let flow_control = tape.of(&["\"credits\"", "\"credits\"", "\"pfc\""]);
    let input = match flow_control {
        "\"pfc\"" => "\"32 KiB\"".to_owned(),
        _ => buffer(tape),
    };
    let mut text = format!(
        "[switch]\nkind = \"cioq\"\ninput-buffer = {input}\noutput-buffer = {}\nspeedup = {}\n",
        buffer(tape),
        tape.of(&["1", "2", "1.5"])
    );
    text.push_str(&crossbar(tape, false));
    text.push_str(&stages(tape));
    Machine {
        is_tiled: false,
        flow_control: flow_control.to_owned(),
        text,
    }
}

fn machine(tape: &mut Tape<'_>, wiring: &Wiring) -> Machine {
    let kind = tape.of(&["cioq", "iq", "hierarchical", "tiled", "tiled"]);
    let mut text = format!("[switch]\nkind = \"{kind}\"\n");
    if tape.one_in(3) {
        let clock = tape.of(&["1 ns", "3.2 ns", "5 ns", "10.24 ns"]);
        writeln!(text, "clock = \"{clock}\"").unwrap();
    }
    match kind {
        "tiled" => {
            let (rows, columns) = tape.of(&[(1, 1), (2, 2), (2, 3), (3, 2)]);
            writeln!(text, "rows = {rows}\ncolumns = {columns}").unwrap();
            if !wiring.has_groups {
                writeln!(text, "ports = 12").unwrap();
            }
            writeln!(text, "row-packets = {}", tape.between(1, 4)).unwrap();
            writeln!(text, "column-packets = {}", tape.between(1, 4)).unwrap();
            let space = tape.of(&["shared", "per-output"]);
            writeln!(text, "row-space = \"{space}\"").unwrap();
            let retransmission = tape.of(&["packet", "per-flit"]);
            writeln!(text, "retransmission = \"{retransmission}\"").unwrap();
            let priority = tape.of(&["equal", "equal", "transit-first"]);
            writeln!(text, "priority = \"{priority}\"").unwrap();
            writeln!(text, "lane-most = {}", tape.of(&["1.0", "0.5", "0.2"])).unwrap();
            let stash = tape.of(&["none", "reliability", "congestion", "unused"]);
            match stash {
                "none" | "unused" => writeln!(text, "stash = \"{stash}\"").unwrap(),
                "reliability" => {
                    writeln!(
                        text,
                        "stash = {{ kind = \"reliability\", other-share = 0.5, timeout \
                        = \"3 us\" }}"
                    )
                    .unwrap();
                    if tape.one_in(2) {
                        let chance = |tape: &mut Tape<'_>| tape.of(&["0.0", "0.01", "0.05"]);
                        writeln!(
                            text,
                            "faults = {{ corrupt = {}, lose = {}, link = {} }}",
                            chance(tape),
                            chance(tape),
                            chance(tape)
                        )
                        .unwrap();
                    }
                }
                _ => writeln!(
                    text,
                    "stash = {{ kind = \"congestion\", other-share = 0.5 }}"
                )
                .unwrap(),
            }
            let control = match stash {
                "congestion" => 1,
                _ => tape.below(2),
            };
            if control == 1 {
                text.push_str(&protocol(tape));
            }
            Machine {
                is_tiled: true,
                flow_control: "\"credits\"".to_owned(),
                text,
            }
        }
        "hierarchical" => {
            writeln!(
                text,
                "ports-per-mport = {}\ncentral-links = {}\nmport-speedup = {}\n\
                 central-speedup = {}\ninput-buffer = {}\noutput-buffer = {}",
                tape.between(1, 4),
                tape.between(1, 2),
                tape.between(1, 3),
                tape.between(1, 3),
                buffer(tape),
                buffer(tape)
            )
            .unwrap();
            text.push_str(&crossbar(tape, true));
            let start = tape.of(&["header", "header", "packet"]);
            writeln!(text, "central-start = \"{start}\"").unwrap();
            text.push_str(&stages(tape));
            if tape.one_in(2) {
                text.push_str(&protocol(tape));
            }
            Machine {
                is_tiled: false,
                flow_control: "\"credits\"".to_owned(),
                text,
            }
        }
        kind => {
            let queues = tape.of(&[
                "\"per-vl\"",
                "\"voq\"",
                "\"1q\"",
                "\"voq-net\"",
                "{ kind = \"dbbm\", queues = 3 }",
                "{ kind = \"obqa\", queues = 2 }",
            ]);
            let allocator = tape.of(&[
                "\"separable\"",
                "\"islip\"",
                "{ kind = \"islip\", iterations = 2 }",
            ]);
            writeln!(text, "queues = {queues}\nallocator = {allocator}").unwrap();
            let flow_control =
                tape.of(&["\"credits\"", "\"queue-credits\"", "\"pfc\"", "\"pause\""]);
            let input = match flow_control {
                "\"queue-credits\"" => {
                    format!("{{ per-queue = \"{} B\" }}", 512 * tape.between(1, 4))
                }
                "\"pfc\"" | "\"pause\"" => "\"32 KiB\"".to_owned(),
                _ if queues != "\"per-vl\"" && tape.one_in(2) => {
                    format!("{{ per-queue = \"{} B\" }}", 512 * tape.between(1, 4))
                }
                _ => buffer(tape),
            };
            writeln!(text, "input-buffer = {input}").unwrap();
            if kind == "cioq" {
                let speedup = tape.of(&["1", "2", "1.5"]);
                writeln!(
                    text,
                    "output-buffer = {}\nspeedup = {speedup}",
                    buffer(tape)
                )
                .unwrap();
                let by_lane = flow_control == "\"credits\"" && queues != "\"1q\"";
                text.push_str(&crossbar(tape, by_lane));
            }
            text.push_str(&stages(tape));
            match tape.below(4) {
                0 => {}
                1 => text.push_str("[nic]\nqueues = \"per-destination\"\n"),
                2 => text.push_str(tape.of(&[
                    "[nic]\nbuffer = \"8 KiB\"\n",
                    "[nic]\nbuffer = \"3 KiB\"\nacknowledge = true\n",
                ])),
                _ => text.push_str(&protocol(tape)),
            }
            Machine {
                is_tiled: false,
                flow_control: flow_control.to_owned(),
                text,
            }
        }
    }
}

const ARBITERS: &[&str] = &[
    "\"round-robin\"",
    "\"oldest-first\"",
    "{ kind = \"strict-priority\" }",
    "{ kind = \"ib-two-table\", high = [[0, 8]], low = [[1, 16], [2, 4], [0, 2]], limit = 1 }",
    "{ kind = \"dtable\", table = [[0, 16], [1, 8], [2, 4]] }",
    "{ kind = \"bxi-table\", table = [[0, 4], [1, 2], [2, 1]], k = 16 }",
    "{ kind = \"bxi-deficit\", table = [[0, 4], [1, 2], [2, 1]], k = 16 }",
    "{ kind = \"weighted-round-robin\", weights = [[0, 4], [1, 2], [2, 1]] }",
    "{ kind = \"deficit-round-robin\", quanta = [[0, 2048], [1, 1024], [2, 1024]] }",
    "{ kind = \"scfq\", weights = [[0, 4], [1, 2]] }",
    "{ kind = \"wfq\", weights = [[0, 4], [1, 2]] }",
];

fn class(tape: &mut Tape<'_>, wiring: &Wiring, number: u32, level: u32) -> String {
    let n = wiring.n_nics;
    let mut text = format!("[[traffic]]\nname = \"c{number}\"\nsl = {level}\n");
    let arrival = tape.of(&[
        "\"bernoulli\"",
        "\"poisson\"",
        "\"constant\"",
        "{ kind = \"constant\", phase = \"zero\" }",
        "{ kind = \"bursts\", messages = 3 }",
        "{ kind = \"periodic\", period = \"700 ns\", messages = 2 }",
        "{ kind = \"periodic\", period = \"500 ns\", messages = 5, per = \"class\" }",
    ]);
    writeln!(text, "arrival = {arrival}").unwrap();
    if !arrival.contains("periodic") {
        writeln!(text, "load = {}", tape.of(&["0.3", "0.1", "0.6", "0.9"])).unwrap();
    }
    let size = tape.of(&[
        "{ kind = \"fixed\", bytes = \"512 B\" }",
        "{ kind = \"fixed\", bytes = \"64 B\" }",
        "{ kind = \"fixed\", bytes = \"1300 B\" }",
        "{ kind = \"uniform\", min = \"64 B\", max = \"1 KiB\" }",
        "{ kind = \"mix\", sizes = [[\"64 B\", 3], [\"2 KiB\", 1]] }",
    ]);
    writeln!(text, "size = {size}").unwrap();
    let pattern = match tape.below(6) {
        0 | 1 => "\"uniform\"".to_owned(),
        2 => "\"permutation\"".to_owned(),
        3 => format!(
            "{{ kind = \"hot-spot\", destination = {}, sources = 0.5 }}",
            tape.below(n)
        ),
        4 => format!(
            "{{ kind = \"neighbour\", offset = {} }}",
            tape.between(1, n - 1)
        ),
        _ => "\"random-partner\"".to_owned(),
    };
    writeln!(text, "pattern = {pattern}").unwrap();
    if tape.one_in(4) {
        writeln!(text, "from = \"{} ns\"", tape.between(1, 3000)).unwrap();
    }
    text
}

/// Returns the text of an experiment.
pub(crate) fn experiment(tape: &mut Tape<'_>) -> String {
    let wiring = wiring(tape);
    // Few free draws avoid all rare features.
    let is_plain = tape.one_in(8);
    let machine = match is_plain {
        true => plain_machine(tape),
        false => machine(tape, &wiring),
    };
    let mut text = format!("netloom = 1\n[topology]\n{}\n", wiring.text);
    let routing = tape.of(wiring.routings);
    let rate = tape.of(&["100 Gbps", "80 Gbps", "200 Gbps"]);
    writeln!(
        text,
        "[link]\nrate = \"{rate}\"\nmtu = \"512 B\"\nheader = \"{} B\"\ndelay = \"{}\"\n\
         flow-control = {}",
        tape.of(&[0, 8]),
        tape.of(&["10.24 ns", "5 ns", "33 ns"]),
        machine.flow_control
    )
    .unwrap();
    if tape.one_in(4) {
        let (rate, delay) = (tape.of(&[rate, "100 Gbps"]), tape.of(&["20.48 ns", "7 ns"]));
        writeln!(
            text,
            "[link.class.host]\nrate = \"{rate}\"\ndelay = \"{delay}\""
        )
        .unwrap();
    }
    text.push_str(&machine.text);
    if text.contains("kind = \"single-switch\"") {
        // A single switch leaves no choice.
    } else {
        writeln!(text, "[routing]\n{}", keys_of(routing)).unwrap();
    }
    let connections =
        !is_plain && !machine.is_tiled && machine.flow_control == "\"credits\"" && tape.one_in(8);
    // Tiled switches have no lanes per service level. Plain fabrics have one level per class.
    let n_levels = match (machine.is_tiled, is_plain) {
        (true, _) => 1,
        (_, true) => 3,
        _ => tape.of(&[1, 2, 3]),
    };
    if connections {
        writeln!(
            text,
            "[connections]\ntarget = {}\nretries = 100",
            tape.between(4, 24)
        )
        .unwrap();
        text.push_str(tape.of(&[
            "",
            "iat = \"level\"\n",
            "mode = \"strict-entries\"\n",
            "placement = \"spread\"\niat = \"level\"\nreserve = 0.4\n",
        ]));
        text.push_str(tape.of(&[
            "",
            "[[connections.class]]\nsl = 2\nleast = \"2 Mbps\"\nmost = \"9 Gbps\"\n",
            "[[connections.class]]\nsl = 3\nleast = \"1 Gbps\"\nmost = \"9 Gbps\"\n\
             deadline = \"20 us\"\n\
             [[connections.class]]\nsl = 3\nleast = \"500 Mbps\"\nmost = \"5 Gbps\"\n",
        ]));
    } else if !machine.is_tiled {
        match tape.below(3) {
            0 => writeln!(text, "[qos]\nvls = {n_levels}").unwrap(),
            1 => writeln!(text, "[qos]\nvls = 1").unwrap(),
            _ => writeln!(
                text,
                "[qos]\nsl2sc = [[0, 1], 2, [3, 4]]\nsc2vl = [0, 1, 1, 2, 0]{}",
                match is_plain {
                    true => "",
                    false => tape.of(&["", "", "\nsc2sc = [8, 16, 9, 10]"]),
                }
            )
            .unwrap(),
        }
        writeln!(text, "arbiter = {}", tape.of(ARBITERS)).unwrap();
        if tape.one_in(3) {
            writeln!(text, "nic-arbiter = {}", tape.of(ARBITERS)).unwrap();
        }
        if !is_plain && text.contains("sc2vl") && tape.one_in(3) {
            let output = tape.of(&["", "output = 1\n"]);
            let switch = tape.below(2);
            writeln!(
                text,
                "[[qos.sc2vl-exception]]\nswitch = {switch}\n{output}row = [2, 0, 1]"
            )
            .unwrap();
        }
        if !is_plain && text.contains("sc2vl") && tape.one_in(3) {
            let input = tape.of(&["", "input = 1\n"]);
            writeln!(
                text,
                "[[qos.sc2sc-exception]]\nswitch = 0\n{input}row = [5, 1, 6]"
            )
            .unwrap();
        }
    }
    let n_classes = match is_plain {
        true => tape.between(1, n_levels),
        false => tape.between(1, 4),
    };
    for number in 0..n_classes {
        let level = match is_plain {
            true => number,
            false => tape.below(n_levels),
        };
        let class = class(tape, &wiring, number, level);
        match connections {
            true => text.push_str(&class.replace("\nsl = ", "\nsl = 8 #")),
            false => text.push_str(&class),
        }
    }
    if !connections && !is_plain && wiring.n_nics >= 12 && tape.one_in(3) {
        let workload = tape.of(&[
            "{ kind = \"bigfft\", grid = [3, 4], rounds = 1, size-divisor = 64 }",
            "{ kind = \"fill-boundary\", grid = [3, 2, 2], rounds = 2, size-divisor = 64 }",
            "{ kind = \"multi-grid\", grid = [3, 2, 2], rounds = 2, levels = 2, size-divisor = 32 }",
            "{ kind = \"amr\", ranks = 12, rounds = 2, size-divisor = 32 }",
            "{ kind = \"minife\", grid = [3, 2, 2], rounds = 3, size-divisor = 8 }",
            "{ kind = \"all-reduce\", nics = \"0-11\", bytes = \"5003 B\", rounds = 2 }",
            "{ kind = \"all-to-all\", nics = \"0-11\", bytes = \"5003 B\", ranks-per-host = 2 }",
            "{ kind = \"expert-parallel\", nics = \"0-11\", tokens = 3, experts = 24, top-k = 3, \
             hidden = 256, skew = 0.5, layers = 2 }",
            "{ kind = \"kv-transfer\", from = \"0-5\", to = \"6-11\", tokens = 5, page = 4, \
             bytes-per-token = 240, layers = 2, mode = \"read\" }",
        ]);
        writeln!(
            text,
            "[[traffic]]\nname = \"program\"\nsl = {}\nworkload = {workload}",
            tape.below(n_levels)
        )
        .unwrap();
        text.push_str(tape.of(&["", "", "mapping = \"random\"\n"]));
        text.push_str(tape.of(&[
            "",
            "",
            "compute = \"100 ns\"\n",
            "compute = \"50 ns\"\ncompute-law = \"uniform\"\n",
            "compute = \"333 ns\"\ncompute-law = \"exponential\"\n",
        ]));
    }
    if !connections && !is_plain && n_levels == 3 && tape.one_in(3) {
        text.push_str("[[traffic]]\nname = \"listed\"\nflows = \"flows.csv\"\n");
    }
    let may_be_managed = !is_plain
        && !machine.is_tiled
        && machine.flow_control.contains("credits")
        && !wiring.has_groups
        && !routing.contains("dateline");
    if may_be_managed && tape.one_in(6) {
        text.push_str("[[traffic]]\nmanagement = true\nload = 0.1\nmessage = \"256 B\"\n");
    }
    let (seed, length) = (tape.between(1, 1000), tape.of(&["4 us", "2 us", "9 us"]));
    writeln!(
        text,
        "[measure]\nseed = {seed}\nlength = \"{length}\"\nepochs = {}\nwarmup = {}\nwaits = {}\n\
         repeat = {}",
        tape.of(&[20, 7]),
        tape.of(&["\"500 ns\"", "\"auto\"", "\"20 packets\""]),
        tape.one_in(4),
        tape.of(&[1, 1, 2]),
    )
    .unwrap();
    text
}

/// `"kind"` or `{ kind = …, key = … }` as lines of a section.
fn keys_of(value: &str) -> String {
    match value.strip_prefix('{') {
        None => format!("kind = {value}"),
        Some(keys) => keys.trim_end_matches('}').trim().replace(", ", "\n"),
    }
}
