//! The claims of the paper, and their bands.

use super::admission::{AT_1X, AT_4X, AT_12X, Accepted};
use super::load;
use super::punctuality::{again, alike, bell, by_half, early, in_time, steady};
use super::scenarios::Packet::{Large, Small};
use super::scenarios::{FOUR, ONE, TWELVE};
use crate::{Basis, Claim, Finding, Results, Tier};

/// Readings that affect the number of admitted connections.
const ADMITTED: &[&str] = &["X004-1", "X004-3", "X004-12", "G004-1", "G004-2", "G004-9"];
/// Readings that affect the delivered load.
const CARRIED: &[&str] = &["X004-1", "X004-3", "X004-4", "G004-1", "G004-2", "G004-9"];
/// Readings that affect delay and jitter.
const PUNCTUAL: &[&str] = &[
    "5.1", "5.3", "X004-3", "X004-4", "G004-2", "G004-3", "G004-5", "G004-6", "G004-7", "G004-10",
    "G004-11", "G004-12", "G004-13",
];

const C004_1: Claim = Claim {
    id: "C004-1",
    part: "",
    tier: Tier::Q,
    statement: "accepted connections at 1x, 256 B",
    paper: "2623 / 2598 / 2518",
    band: "each within 15 %",
    basis: Basis::Paper,
    readings: ADMITTED,
    judge: not_run,
};
const C004_2: Claim = Claim {
    id: "C004-2",
    statement: "accepted connections at 1x, 4096 B",
    paper: "2631 / 2679 / 2598",
    band: "each within 15 %; fabrics within 8 % of each other",
    ..C004_1
};
const C004_3: Claim = Claim {
    id: "C004-3",
    statement: "accepted connections at 4x",
    band: "each within 20 %",
    ..C004_1
};
const C004_4: Claim = Claim {
    id: "C004-4",
    statement: "accepted connections at 12x (corrected row)",
    readings: &[
        "X004-1", "X004-2", "X004-3", "X004-12", "G004-1", "G004-2", "G004-9",
    ],
    ..C004_3
};
const C004_5: Claim = Claim {
    id: "C004-5",
    statement: "targets are fully established",
    paper: "all",
    ..C004_1
};
const C004_6: Claim = Claim {
    id: "C004-6",
    part: "",
    tier: Tier::Q,
    statement: "largest delivered load in bytes/cycle/host",
    paper: "0.769 (256 B), 0.757 (4096 B)",
    band: "each 0.73 to 0.80",
    basis: Basis::Paper,
    readings: CARRIED,
    judge: not_run,
};
const C004_7: Claim = Claim {
    id: "C004-7",
    tier: Tier::O,
    statement: "delivered load grows linearly with connections",
    paper: "-",
    band: "each R2 >= 0.99",
    ..C004_6
};
const C004_8: Claim = Claim {
    id: "C004-8",
    statement: "mean use of host interfaces, of switch ports; the most",
    paper: "near 0.80, a few above",
    ..C004_6
};
const C004_9: Claim = Claim {
    id: "C004-9",
    part: "",
    tier: Tier::Q,
    statement: "SL0, SL1: every packet before IAT/32",
    paper: "100 %",
    band: "each >= 99.9 %",
    basis: Basis::Paper,
    readings: PUNCTUAL,
    judge: not_run,
};
const C004_10: Claim = Claim {
    id: "C004-10",
    statement: "SL2, SL3: every packet before 3 IAT/4",
    band: "each >= 99 % by 3/4 IAT and 100 % by IAT",
    ..C004_9
};
const C004_11: Claim = Claim {
    id: "C004-11",
    statement: "SL0, SL1: jitter within IAT/8",
    paper: "almost all",
    band: "each >= 99 %",
    readings: &["X004-4", "G004-3", "G004-4", "G004-5", "G004-7", "G004-12"],
    ..C004_9
};
const C004_12: Claim = Claim {
    id: "C004-12",
    tier: Tier::O,
    statement: "SL2, SL3: jitter bell-shaped inside [-IAT, IAT]",
    paper: "-",
    band: "one peak, |mean| < IAT/16, none beyond IAT",
    readings: &[
        "5.1", "X004-3", "X004-4", "G004-2", "G004-3", "G004-4", "G004-5", "G004-6", "G004-7",
        "G004-10", "G004-12", "G004-13",
    ],
    ..C004_9
};
const C004_14: Claim = Claim {
    id: "C004-14",
    tier: Tier::O,
    statement: "the same trends at 4x and 12x and for both packet sizes",
    paper: "-",
    band: "the checks of C004-9 to C004-13 hold",
    ..C004_9
};
const C004_13: Claim = Claim {
    id: "C004-13",
    tier: Tier::O,
    // tidy: allow the text of a claim
    statement: "best and worst connection of an SL alike; the worst meets IAT",
    paper: "-",
    band: "worst 100 % by IAT; gap at IAT/2 at most 20 points",
    ..C004_9
};

/// The claims. A claim about several packet sizes or service levels is judged in parts, and holds
/// if all parts hold.
pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        part: "",
        judge: |results| {
            Accepted {
                packet: Small,
                rate: &ONE,
                series: |setting| setting.admitted,
                printed: [2623.0, 2598.0, 2518.0],
                tolerance: 0.15,
                spread: None,
            }
            .judge(results)
        },
        ..C004_1
    },
    Claim {
        part: "strict-entries",
        judge: |results| {
            Accepted {
                packet: Small,
                rate: &ONE,
                series: |setting| setting.strict,
                printed: [2623.0, 2598.0, 2518.0],
                tolerance: 0.15,
                spread: None,
            }
            .judge(results)
        },
        ..C004_1
    },
    Claim {
        part: "",
        judge: |results| {
            Accepted {
                packet: Large,
                rate: &ONE,
                series: |setting| setting.admitted,
                printed: [2631.0, 2679.0, 2598.0],
                tolerance: 0.15,
                spread: Some(0.08),
            }
            .judge(results)
        },
        ..C004_2
    },
    Claim {
        part: "strict-entries",
        judge: |results| {
            Accepted {
                packet: Large,
                rate: &ONE,
                series: |setting| setting.strict,
                printed: [2631.0, 2679.0, 2598.0],
                tolerance: 0.15,
                spread: Some(0.08),
            }
            .judge(results)
        },
        ..C004_2
    },
    Claim {
        part: "256 B",
        paper: "11005 / 11024 / 10968",
        judge: |results| {
            Accepted {
                packet: Small,
                rate: &FOUR,
                series: |setting| setting.admitted_4x,
                printed: [11_005.0, 11_024.0, 10_968.0],
                tolerance: 0.2,
                spread: None,
            }
            .judge(results)
        },
        ..C004_3
    },
    Claim {
        part: "4096 B",
        paper: "11103 / 11134 / 11064",
        judge: |results| {
            Accepted {
                packet: Large,
                rate: &FOUR,
                series: |setting| setting.admitted_4x,
                printed: [11_103.0, 11_134.0, 11_064.0],
                tolerance: 0.2,
                spread: None,
            }
            .judge(results)
        },
        ..C004_3
    },
    Claim {
        part: "256 B",
        paper: "31567 / 32371 / 31347",
        judge: |results| {
            Accepted {
                packet: Small,
                rate: &TWELVE,
                series: |setting| setting.admitted_12x,
                printed: [31_567.0, 32_371.0, 31_347.0],
                tolerance: 0.2,
                spread: None,
            }
            .judge(results)
        },
        ..C004_4
    },
    Claim {
        part: "4096 B",
        paper: "31664 / 32476 / 31694",
        judge: |results| {
            Accepted {
                packet: Large,
                rate: &TWELVE,
                series: |setting| setting.admitted_12x,
                printed: [31_664.0, 32_476.0, 31_694.0],
                tolerance: 0.2,
                spread: None,
            }
            .judge(results)
        },
        ..C004_4
    },
    Claim {
        part: "1x",
        band: "all of every target up to 2048",
        judge: |results| AT_1X.judge(results),
        ..C004_5
    },
    Claim {
        part: "4x",
        band: "all of every target up to 9000, 85 % of 10500",
        judge: |results| AT_4X.judge(results),
        ..C004_5
    },
    Claim {
        part: "12x",
        band: "85 % of every target up to 30000",
        judge: |results| AT_12X.judge(results),
        ..C004_5
    },
    Claim {
        part: "256 B",
        judge: |results| load::largest_load(results, Small),
        ..C004_6
    },
    Claim {
        part: "4096 B",
        judge: |results| load::largest_load(results, Large),
        ..C004_6
    },
    Claim {
        part: "order",
        statement: "small packets deliver at least as much as large ones",
        band: "256 B >= 4096 B on each",
        judge: |results| load::small_carry_more(results),
        ..C004_6
    },
    Claim {
        part: "256 B",
        judge: |results| load::grows_linearly(results, Small),
        ..C004_7
    },
    Claim {
        part: "4096 B",
        judge: |results| load::grows_linearly(results, Large),
        ..C004_7
    },
    Claim {
        part: "256 B",
        band: "means 0.74 to 0.80, most at most 0.85",
        // The paper says that headers push the maximum above 80 %; the amount is computed here.
        basis: Basis::Arithmetic,
        judge: |results| load::port_use(results, Small),
        ..C004_8
    },
    Claim {
        part: "4096 B",
        band: "means 0.74 to 0.80",
        judge: |results| load::port_use(results, Large),
        ..C004_8
    },
    Claim {
        part: "256 B SL0",
        judge: |results| early(results, Small, 0),
        ..C004_9
    },
    Claim {
        part: "256 B SL1",
        judge: |results| early(results, Small, 1),
        ..C004_9
    },
    Claim {
        part: "4096 B SL0",
        judge: |results| early(results, Large, 0),
        ..C004_9
    },
    Claim {
        part: "4096 B SL1",
        judge: |results| early(results, Large, 1),
        ..C004_9
    },
    Claim {
        part: "256 B SL2",
        judge: |results| in_time(results, Small, 2),
        ..C004_10
    },
    Claim {
        part: "256 B SL3",
        judge: |results| in_time(results, Small, 3),
        ..C004_10
    },
    Claim {
        part: "4096 B SL2",
        judge: |results| in_time(results, Large, 2),
        ..C004_10
    },
    Claim {
        part: "4096 B SL3",
        judge: |results| in_time(results, Large, 3),
        ..C004_10
    },
    Claim {
        part: "256 B SL2 half",
        statement: "SL2, SL3: almost all packets before IAT/2",
        paper: "almost all",
        band: "each >= 90 % by IAT/2 (X004-5)",
        judge: |results| by_half(results, Small, 2),
        ..C004_10
    },
    Claim {
        part: "256 B SL3 half",
        statement: "SL2, SL3: almost all packets before IAT/2",
        paper: "almost all",
        band: "each >= 90 % by IAT/2 (X004-5)",
        judge: |results| by_half(results, Small, 3),
        ..C004_10
    },
    Claim {
        part: "4096 B SL2 half",
        statement: "SL2, SL3: almost all packets before IAT/2",
        paper: "almost all",
        band: "each >= 90 % by IAT/2 (X004-5)",
        judge: |results| by_half(results, Large, 2),
        ..C004_10
    },
    Claim {
        part: "4096 B SL3 half",
        statement: "SL2, SL3: almost all packets before IAT/2",
        paper: "almost all",
        band: "each >= 90 % by IAT/2 (X004-5)",
        judge: |results| by_half(results, Large, 3),
        ..C004_10
    },
    Claim {
        part: "256 B SL0",
        judge: |results| steady(results, Small, 0),
        ..C004_11
    },
    Claim {
        part: "256 B SL1",
        judge: |results| steady(results, Small, 1),
        ..C004_11
    },
    Claim {
        part: "4096 B SL0",
        judge: |results| steady(results, Large, 0),
        ..C004_11
    },
    Claim {
        part: "4096 B SL1",
        judge: |results| steady(results, Large, 1),
        ..C004_11
    },
    Claim {
        part: "256 B SL2",
        judge: |results| bell(results, Small, 2),
        ..C004_12
    },
    Claim {
        part: "256 B SL3",
        judge: |results| bell(results, Small, 3),
        ..C004_12
    },
    Claim {
        part: "4096 B SL2",
        judge: |results| bell(results, Large, 2),
        ..C004_12
    },
    Claim {
        part: "4096 B SL3",
        judge: |results| bell(results, Large, 3),
        ..C004_12
    },
    Claim {
        part: "256 B SL0",
        judge: |results| alike(results, Small, 0),
        ..C004_13
    },
    Claim {
        part: "256 B SL1",
        judge: |results| alike(results, Small, 1),
        ..C004_13
    },
    Claim {
        part: "256 B SL2",
        judge: |results| alike(results, Small, 2),
        ..C004_13
    },
    Claim {
        part: "256 B SL3",
        judge: |results| alike(results, Small, 3),
        ..C004_13
    },
    Claim {
        part: "4096 B SL0",
        judge: |results| alike(results, Large, 0),
        ..C004_13
    },
    Claim {
        part: "4096 B SL1",
        judge: |results| alike(results, Large, 1),
        ..C004_13
    },
    Claim {
        part: "4096 B SL2",
        judge: |results| alike(results, Large, 2),
        ..C004_13
    },
    Claim {
        part: "4096 B SL3",
        judge: |results| alike(results, Large, 3),
        ..C004_13
    },
    Claim {
        part: "4x 256 B",
        judge: |results| again(results, Small, &FOUR),
        ..C004_14
    },
    Claim {
        part: "4x 4096 B",
        judge: |results| again(results, Large, &FOUR),
        ..C004_14
    },
    Claim {
        part: "12x 256 B",
        judge: |results| again(results, Small, &TWELVE),
        ..C004_14
    },
    Claim {
        part: "12x 4096 B",
        judge: |results| again(results, Large, &TWELVE),
        ..C004_14
    },
    Claim {
        id: "C004-15",
        tier: Tier::E,
        statement: "a connection changes only the entries of its own lane on its path",
        paper: "-",
        band: "for every admission",
        readings: &[],
        judge: |_| Finding::not_run("a law, not a run: tests c004_15_* of crate design"),
        ..C004_9
    },
    Claim {
        id: "C004-16",
        tier: Tier::E,
        statement: "at most 13,056 slots at any port; the share under full load is at least what \
            was asked for",
        paper: "-",
        band: "for every admission",
        readings: &[],
        judge: |_| Finding::not_run("a law, not a run: tests c004_16_* of crate design"),
        ..C004_9
    },
];

/// Judges a claim that has parts.
fn not_run(_: &Results) -> Finding {
    Finding::not_run("judged in parts")
}
