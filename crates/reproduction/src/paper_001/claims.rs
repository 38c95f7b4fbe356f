//! The claims of the paper, and their bands.

use netloom_design::cost::queues::Scheme as Memory;
use netloom_units::Bytes;

use super::schemes::Scheme::{Dbbm, Obqa, VoqNet, VoqSw};
use super::{course, saturation};
use crate::{Basis, Claim, Finding, Results, Tier};

/// Readings that affect saturation.
const SATURATION: &[&str] = &[
    "0.4", "X001-1", "X001-3", "X001-4", "G001-1", "G001-2", "G001-3", "G001-4", "G001-6", "G001-7",
];
/// Readings that affect the course of a hot spot.
const HOT_SPOT: &[&str] = &[
    "X001-1", "X001-2", "X001-3", "X001-5", "G001-1", "G001-4", "G001-5", "G001-7",
];
/// Readings that affect the course of storage traffic.
const STORAGE: &[&str] = &["X001-1", "G001-1", "G001-7", "G001-9"];

const C001_1: Claim = Claim {
    id: "C001-1",
    part: "",
    tier: Tier::Q,
    statement: "4-ary 4-tree: OBQA-4 saturates at the same load",
    paper: "equal",
    band: "within 3 points of a link",
    basis: Basis::Paper,
    readings: SATURATION,
    judge: |_| Finding::not_run("divided into parts"),
};
const C001_3: Claim = Claim {
    id: "C001-3",
    tier: Tier::O,
    paper: "-",
    ..C001_1
};
const C001_7: Claim = Claim {
    id: "C001-7",
    statement: "16-ary 2-tree: DBBM saturates near 1Q",
    paper: "very poor",
    band: "its gain over 1Q less than half of that of OBQA-4",
    ..C001_3
};
const C001_9: Claim = Claim {
    id: "C001-9",
    statement: "4-ary 4-tree, hot spot: efficiency lost from 200-250 us to 270-300 us",
    readings: HOT_SPOT,
    ..C001_1
};
const C001_10: Claim = Claim {
    id: "C001-10",
    tier: Tier::O,
    statement: "hot spot: VOQnet >= VOQsw ~ OBQA > DBBM > 1Q",
    paper: "-",
    band: "in that order from 270 to 300 us, ~ within 5 points",
    readings: HOT_SPOT,
    ..C001_1
};
const C001_13: Claim = Claim {
    id: "C001-13",
    tier: Tier::Q,
    basis: Basis::MadeUp,
    readings: STORAGE,
    ..C001_1
};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        part: "VOQsw-8",
        judge: |results| saturation::obqa_4_is_as_good(results, VoqSw),
        ..C001_1
    },
    Claim {
        part: "VOQnet",
        judge: |results| saturation::obqa_4_is_as_good(results, VoqNet),
        ..C001_1
    },
    Claim {
        id: "C001-2",
        statement: "4-ary 4-tree: OBQA-2 saturates below VOQsw-8",
        paper: "about 12 % lower",
        band: "6 to 18 points of a link lower",
        judge: saturation::obqa_2_is_below,
        ..C001_1
    },
    Claim {
        part: "OBQA-2",
        statement: "4-ary 4-tree: OBQA-2 better than DBBM-4",
        band: "saturates at a higher load",
        judge: saturation::obqa_2_is_above,
        ..C001_3
    },
    Claim {
        part: "DBBM-4",
        statement: "4-ary 4-tree: DBBM-4 close to 1Q",
        band: "its gain over 1Q less than half of that of OBQA-4",
        judge: saturation::dbbm_4_is_near_one_queue,
        ..C001_3
    },
    Claim {
        id: "C001-4",
        statement: "4-ary 4-tree: OBQA-4 over 1Q",
        paper: "about +30 %",
        band: "+20 to +45 % of the 1Q saturation load",
        judge: saturation::obqa_4_over_one_queue,
        ..C001_1
    },
    Claim {
        id: "C001-5",
        part: "VOQsw-32",
        statement: "16-ary 2-tree: OBQA-8 saturates at the same load",
        judge: saturation::obqa_8_is_as_good,
        ..C001_1
    },
    Claim {
        id: "C001-5",
        part: "VOQnet",
        statement: "16-ary 2-tree: OBQA-8 a little below VOQnet",
        paper: "2 %",
        band: "within 5 points of a link",
        judge: saturation::obqa_8_is_near_voqnet,
        ..C001_1
    },
    Claim {
        id: "C001-6",
        statement: "16-ary 2-tree: OBQA-4 below VOQsw-32",
        paper: "5 %",
        band: "2 to 9 points of a link lower",
        judge: saturation::obqa_4_is_below,
        ..C001_1
    },
    Claim {
        part: "DBBM-4",
        judge: |results| saturation::dbbm_gains_little(results, Dbbm(4)),
        ..C001_7
    },
    Claim {
        part: "DBBM-8",
        judge: |results| saturation::dbbm_gains_little(results, Dbbm(8)),
        ..C001_7
    },
    Claim {
        id: "C001-8",
        statement: "4-ary 4-tree, hot spot: the efficiency of 1Q collapses and does not recover",
        paper: "about 5 %",
        band: "at most 12 % from 260 to 300 us, and at 1 ms below 90 % of what it was",
        judge: course::one_queue_collapses,
        ..C001_9
    },
    Claim {
        part: "DBBM-4",
        paper: "about 25 %",
        band: "15 to 40 %",
        judge: |results| course::drops_by(results, Dbbm(4), (0.15, 0.40)),
        ..C001_9
    },
    Claim {
        part: "OBQA-4",
        paper: "about 20 %",
        band: "10 to 30 %",
        judge: |results| course::drops_by(results, Obqa(4), (0.10, 0.30)),
        ..C001_9
    },
    Claim {
        part: "VOQsw-8",
        paper: "about 20 %",
        band: "10 to 30 %",
        judge: |results| course::drops_by(results, VoqSw, (0.10, 0.30)),
        ..C001_9
    },
    Claim {
        part: "order",
        tier: Tier::O,
        paper: "25 %, 20 %",
        band: "DBBM-4 loses more than OBQA-4",
        judge: course::dbbm_drops_more,
        ..C001_9
    },
    Claim {
        part: "alike", // tidy: allow the name of a part of a claim
        paper: "equal",
        band: "OBQA-4 within 5 points of VOQsw-8",
        judge: course::drops_alike,
        ..C001_9
    },
    Claim {
        part: "8 ports",
        judge: course::order_on_8_ports,
        ..C001_10
    },
    Claim {
        part: "32 ports",
        judge: course::order_on_32_ports,
        ..C001_10
    },
    Claim {
        id: "C001-11",
        part: "OBQA-8",
        statement: "16-ary 2-tree, hot spot: OBQA-8 close to VOQnet",
        band: "at least 90 % of its efficiency from 270 to 300 us",
        judge: course::obqa_8_is_near_voqnet,
        ..C001_10
    },
    Claim {
        id: "C001-11",
        part: "OBQA-4",
        statement: "16-ary 2-tree, hot spot: OBQA-4 above DBBM-8",
        band: "a higher efficiency from 270 to 300 us",
        judge: course::obqa_4_is_above_dbbm_8,
        ..C001_10
    },
    Claim {
        id: "C001-12",
        part: "",
        tier: Tier::O,
        statement: "storage traffic x20: OBQA-4 as VOQsw-8, slightly above DBBM-4 and 1Q",
        paper: "-",
        band: "areas under the curves: within 3 % of VOQsw-8, not below the others",
        judge: course::areas_in_order,
        ..C001_13
    },
    Claim {
        part: "DBBM-4",
        statement: "storage traffic x40: OBQA-4 over DBBM-4, at most",
        paper: "30 %",
        band: "15 to 45 % in the best window",
        judge: course::storage_over_dbbm,
        ..C001_13
    },
    Claim {
        part: "1Q",
        statement: "storage traffic x40: 1Q down to a part of OBQA-4",
        paper: "50 %",
        band: "at most 65 % in the worst window",
        judge: course::storage_one_queue,
        ..C001_13
    },
    Claim {
        id: "C001-14",
        part: "",
        tier: Tier::E,
        statement: "memory: OBQA-4 half of VOQsw-8 (area 45.8 %), OBQA-8 a quarter of VOQsw-32",
        paper: "512/1024, 1024/4096 B",
        band: "exactly",
        basis: Basis::Paper,
        readings: &[],
        judge: memory,
    },
    Claim {
        id: "C001-15",
        part: "",
        tier: Tier::E,
        statement: "beyond the first stage DBBM leaves queues unused under DET",
        paper: "-",
        band: "the counts of every stage",
        basis: Basis::Paper,
        readings: &[],
        judge: |_| Finding::not_run("a law, not a run: test c001_15_* of crate fabric"),
    },
];

/// C001-14: two packets of 64 bytes for each queue.
fn memory(_: &Results) -> Finding {
    let bytes = |scheme: Memory| scheme.minimum_memory(Bytes(64)).0;
    let four = (bytes(Memory::Obqa(4)), bytes(Memory::VoqSw(8)));
    let eight = (bytes(Memory::Obqa(8)), bytes(Memory::VoqSw(32)));
    let area = |scheme: Memory| scheme.printed_area().map(|area| area.mm2());
    let (Some(small), Some(large)) = (area(Memory::Obqa(4)), area(Memory::VoqSw(8))) else {
        return Finding::not_run("no printed areas");
    };
    let part = 100.0 * small / large;
    let holds = 2 * four.0 == four.1 && 4 * eight.0 == eight.1 && format!("{part:.1}") == "45.8";
    let words = format!(
        "{}/{}, {}/{} B, area {part:.1} %",
        four.0, four.1, eight.0, eight.1
    );
    Finding::checked(holds, words).number("area_percent", part)
}
