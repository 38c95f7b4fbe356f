//! The claims of the paper, and their bands.

use netloom_design::qos::dtable::{self, Needs};

use super::latency::{
    best_effort_order, best_effort_rises_earlier, by_distance, growth_is_less, growth_ratio,
    internal_links, is_lower, is_near, point_to_point_above_best_effort, point_to_point_is_lower,
    ratio, sharp_rise,
};
use super::scenarios::Switch::{Ib, Ib2x, Opa, Opa6X1, OpaX1};
use super::scenarios::{SMALL_TORUS, SMALL_TREE, TORUS_2, TORUS_3, TREE_2, TREE_3};
use super::shares::{background_is_cut, keeps_demand};
use crate::{Basis, Claim, Finding, Results, Tier};

/// Readings that affect latencies on trees.
const ON_TREES: &[&str] = &[
    "1.1.2", "1.1.3", "G000-1", "G000-2", "G000-4", "G000-9", "G000-10", "G000-14", "G000-16",
    "X000-1", "X000-9",
];
/// Readings that affect latencies on tori.
const ON_TORI: &[&str] = &[
    "1.1.2", "1.1.3", "G000-1", "G000-2", "G000-3", "G000-5", "G000-6", "G000-7", "G000-9",
    "G000-10", "G000-14", "G000-16", "X000-1", "X000-9",
];
/// Readings that affect latencies of NC on the InfiniBand tree, which the paper prints without a
/// unit.
const PRINTED: &[&str] = &[
    "1.1.2", "G000-1", "G000-2", "G000-4", "G000-10", "G000-11", "X000-1", "X000-13",
];
/// Readings that affect the throughput of the crossbars.
const CARRIED: &[&str] = &[
    "1.1.2", "1.1.3", "G000-2", "G000-3", "G000-4", "G000-9", "G000-10", "X000-9", "X000-10",
];

const C000_1: Claim = Claim {
    id: "C000-1",
    part: "",
    tier: Tier::Q,
    statement: "NC latency at 0.70 on the 4-ary 3-tree",
    paper: "-",
    band: "within 35 %",
    basis: Basis::Paper,
    readings: ON_TREES,
    judge: |_| Finding::not_run("divided into parts"),
};
const C000_2: Claim = Claim {
    id: "C000-2",
    statement: "NC latency at 0.70 on the 24-ary 2-tree",
    ..C000_1
};
const C000_3: Claim = Claim {
    id: "C000-3",
    statement: "NC latency at 0.70 on the 2D torus",
    readings: ON_TORI,
    ..C000_1
};
const C000_4: Claim = Claim {
    id: "C000-4",
    statement: "NC latency at 0.70 on the 3D torus",
    readings: ON_TORI,
    ..C000_1
};
/// The order within a claim about latency.
const LOWER: Claim = Claim {
    part: "order",
    tier: Tier::O,
    band: "OPA < IB",
    ..C000_1
};
const C000_6: Claim = Claim {
    id: "C000-6",
    part: "order",
    tier: Tier::O,
    statement: "NC latency grows less from the first to the last load on the 24-ary 2-tree",
    paper: "144.95 / 35.95 ns",
    band: "OPA < IB",
    ..C000_1
};
const C000_7: Claim = Claim {
    id: "C000-7",
    statement: "the same on the 2D torus",
    paper: "267.66 / 69.45 ns",
    readings: ON_TORI,
    ..C000_6
};
const C000_8: Claim = Claim {
    id: "C000-8",
    statement: "the same on the 3D torus",
    paper: "229.89 / 80.36 ns",
    readings: ON_TORI,
    ..C000_6
};
const C000_9: Claim = Claim {
    id: "C000-9",
    tier: Tier::O,
    statement: "VO, VI and CL are less penalised in OPA than in IB",
    band: "mean of VO, VI, CL over loads from 0.85 lower in OPA",
    ..C000_1
};
const C000_11: Claim = Claim {
    id: "C000-11",
    tier: Tier::O,
    statement: "best-effort latency rises earlier on IB than on OPA",
    band: "first load with BE > 2 x its minimum smaller on IB",
    ..C000_1
};
const C000_13: Claim = Claim {
    id: "C000-13",
    statement: "NC, VO, VI and CL keep their demand on OPA trees",
    band: "each at least 95 % of demand at every load",
    readings: CARRIED,
    ..C000_1
};
const C000_14: Claim = Claim {
    id: "C000-14",
    tier: Tier::O,
    statement: "latency follows slot distance at 0.70 in OPA",
    band: "Spearman at least 0.8",
    ..C000_1
};
/// Not in the paper: its Omni-Path switch has links of three flits per cycle.
const INTERNAL: Claim = Claim {
    id: "X1-S000-2",
    part: "ours",
    tier: Tier::O,
    statement: "with internal links of one flit a cycle the advantage of OPA shrinks or vanishes",
    paper: "- (our own check)",
    band: "NC latency at 0.70 above that of OPA",
    basis: Basis::Ours,
    ..C000_1
};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        part: "IB",
        paper: "780.41 ns",
        readings: PRINTED,
        judge: |results| is_near(results, &TREE_3, Ib, 780.41),
        ..C000_1
    },
    Claim {
        part: "OPA",
        paper: "647.10 ns",
        judge: |results| is_near(results, &TREE_3, Opa, 647.10),
        ..C000_1
    },
    Claim {
        judge: |results| is_lower(results, TREE_3.or(&SMALL_TREE, results)),
        ..LOWER
    },
    Claim {
        part: "ratio",
        paper: "0.829",
        band: "0.70 to 0.95",
        judge: |results| ratio(results, &TREE_3, (0.70, 0.95)),
        ..C000_1
    },
    Claim {
        part: "IB",
        paper: "604.01 ns",
        judge: |results| is_near(results, &TREE_2, Ib, 604.01),
        ..C000_2
    },
    Claim {
        part: "OPA",
        paper: "446.87 ns",
        judge: |results| is_near(results, &TREE_2, Opa, 446.87),
        ..C000_2
    },
    Claim {
        id: C000_2.id,
        statement: C000_2.statement,
        judge: |results| is_lower(results, &TREE_2),
        ..LOWER
    },
    Claim {
        part: "ratio",
        paper: "0.740",
        band: "0.60 to 0.90",
        judge: |results| ratio(results, &TREE_2, (0.60, 0.90)),
        ..C000_2
    },
    Claim {
        part: "IB",
        paper: "840.95 ns",
        judge: |results| is_near(results, &TORUS_2, Ib, 840.95),
        ..C000_3
    },
    Claim {
        part: "OPA",
        paper: "758.10 ns",
        judge: |results| is_near(results, &TORUS_2, Opa, 758.10),
        ..C000_3
    },
    Claim {
        id: C000_3.id,
        statement: C000_3.statement,
        readings: ON_TORI,
        judge: |results| is_lower(results, TORUS_2.or(&SMALL_TORUS, results)),
        ..LOWER
    },
    Claim {
        part: "ratio",
        paper: "0.902",
        band: "0.75 to 0.98",
        judge: |results| ratio(results, &TORUS_2, (0.75, 0.98)),
        ..C000_3
    },
    Claim {
        part: "IB",
        paper: "1330.24 ns",
        judge: |results| is_near(results, &TORUS_3, Ib, 1330.24),
        ..C000_4
    },
    Claim {
        part: "OPA",
        paper: "1115.85 ns",
        judge: |results| is_near(results, &TORUS_3, Opa, 1115.85),
        ..C000_4
    },
    Claim {
        id: C000_4.id,
        statement: C000_4.statement,
        readings: ON_TORI,
        judge: |results| is_lower(results, &TORUS_3),
        ..LOWER
    },
    Claim {
        part: "ratio",
        paper: "0.839",
        band: "0.70 to 0.95",
        judge: |results| ratio(results, &TORUS_3, (0.70, 0.95)),
        ..C000_4
    },
    Claim {
        id: "C000-5",
        part: "",
        statement: "NC latency grows less from the first to the last load on the 4-ary 3-tree",
        paper: "55.78 / 44.6 ns",
        judge: |results| growth_is_less(results, TREE_3.or(&SMALL_TREE, results)),
        ..C000_6
    },
    Claim {
        judge: |results| growth_is_less(results, &TREE_2),
        ..C000_6
    },
    Claim {
        part: "ratio",
        tier: Tier::Q,
        band: "IB at least 2 x OPA",
        judge: |results| growth_ratio(results, &TREE_2, 2.0),
        ..C000_6
    },
    Claim {
        judge: |results| growth_is_less(results, TORUS_2.or(&SMALL_TORUS, results)),
        ..C000_7
    },
    Claim {
        part: "ratio",
        tier: Tier::Q,
        band: "IB at least 2 x OPA",
        judge: |results| growth_ratio(results, &TORUS_2, 2.0),
        ..C000_7
    },
    Claim {
        judge: |results| growth_is_less(results, &TORUS_3),
        ..C000_8
    },
    Claim {
        part: "ratio",
        tier: Tier::Q,
        band: "IB at least 1.5 x OPA",
        judge: |results| growth_ratio(results, &TORUS_3, 1.5),
        ..C000_8
    },
    Claim {
        part: "IB",
        statement: "point-to-point classes can exceed best-effort latency on IB",
        band: "at a load from 0.85: mean of VO, VI, CL > least of EE, BE, BK",
        judge: |results| point_to_point_above_best_effort(results, TREE_3.or(&SMALL_TREE, results)),
        ..C000_9
    },
    Claim {
        part: "4-ary 3-tree",
        judge: |results| point_to_point_is_lower(results, TREE_3.or(&SMALL_TREE, results)),
        ..C000_9
    },
    Claim {
        part: "24-ary 2-tree",
        judge: |results| point_to_point_is_lower(results, &TREE_2),
        ..C000_9
    },
    Claim {
        part: "2D torus",
        readings: ON_TORI,
        judge: |results| point_to_point_is_lower(results, TORUS_2.or(&SMALL_TORUS, results)),
        ..C000_9
    },
    Claim {
        part: "3D torus",
        readings: ON_TORI,
        judge: |results| point_to_point_is_lower(results, &TORUS_3),
        ..C000_9
    },
    Claim {
        id: "C000-10",
        part: "",
        tier: Tier::O,
        statement: "VO and VI latency on IB rise sharply at the congestion point",
        band: "latency(0.95) > 2 x latency(0.70), VO and VI",
        judge: |results| sharp_rise(results, TREE_3.or(&SMALL_TREE, results)),
        ..C000_1
    },
    Claim {
        part: "IB order",
        statement: "BK has the largest latency of all, as its source queues grow",
        band: "BK > BE > EE at 0.9935",
        readings: &["1.1.2", "G000-2", "G000-11", "G000-12", "G000-14"],
        judge: |results| best_effort_order(results, TREE_3.or(&SMALL_TREE, results)),
        ..C000_11
    },
    Claim {
        part: "4-ary 3-tree",
        judge: |results| best_effort_rises_earlier(results, TREE_3.or(&SMALL_TREE, results)),
        ..C000_11
    },
    Claim {
        part: "24-ary 2-tree",
        judge: |results| best_effort_rises_earlier(results, &TREE_2),
        ..C000_11
    },
    Claim {
        part: "2D torus",
        readings: ON_TORI,
        judge: |results| best_effort_rises_earlier(results, TORUS_2.or(&SMALL_TORUS, results)),
        ..C000_11
    },
    Claim {
        part: "3D torus",
        readings: ON_TORI,
        judge: |results| best_effort_rises_earlier(results, &TORUS_3),
        ..C000_11
    },
    Claim {
        id: "C000-12",
        part: "",
        tier: Tier::E,
        statement: "8-bit counters never overflow with Table 4",
        paper: "-",
        band: "at most 255 (125 by arithmetic)",
        basis: Basis::Paper,
        readings: &[],
        judge: registers,
    },
    Claim {
        part: "IB QoS",
        statement: "NC, VO, VI and CL keep their demand (the paper itself: VO and VI a little \
            short on IB)",
        paper: "VO, VI short",
        judge: |results| keeps_demand(results, &TREE_3, Ib),
        ..C000_13
    },
    Claim {
        part: "IB BK",
        statement: "BK is cut at high load",
        band: "BK below its demand at 0.9935",
        judge: |results| background_is_cut(results, &TREE_3, Ib),
        ..C000_13
    },
    Claim {
        part: "OPA QoS 4-ary 3-tree",
        judge: |results| keeps_demand(results, &TREE_3, Opa),
        ..C000_13
    },
    Claim {
        part: "OPA QoS 24-ary 2-tree",
        judge: |results| keeps_demand(results, &TREE_2, Opa),
        ..C000_13
    },
    Claim {
        part: "OPA BK 4-ary 3-tree",
        statement: "BK is cut at high load",
        band: "BK below its demand at 0.9935",
        judge: |results| background_is_cut(results, &TREE_3, Opa),
        ..C000_13
    },
    Claim {
        part: "OPA BK 24-ary 2-tree",
        statement: "BK is cut at high load",
        band: "BK below its demand at 0.9935",
        judge: |results| background_is_cut(results, &TREE_2, Opa),
        ..C000_13
    },
    Claim {
        part: "4-ary 3-tree",
        judge: |results| by_distance(results, TREE_3.or(&SMALL_TREE, results)),
        ..C000_14
    },
    Claim {
        part: "24-ary 2-tree",
        judge: |results| by_distance(results, &TREE_2),
        ..C000_14
    },
    Claim {
        part: "2D torus",
        readings: ON_TORI,
        judge: |results| by_distance(results, TORUS_2.or(&SMALL_TORUS, results)),
        ..C000_14
    },
    Claim {
        part: "3D torus",
        readings: ON_TORI,
        judge: |results| by_distance(results, &TORUS_3),
        ..C000_14
    },
    // Not in the paper: its InfiniBand switch has a crossbar of link speed.
    Claim {
        id: "QOS-S000-1-2x",
        part: "ours",
        statement: "with a crossbar of twice the link speed NC, VO, VI and CL keep their demand",
        paper: "- (our own check)",
        basis: Basis::Ours,
        judge: |results| keeps_demand(results, TREE_3.or(&SMALL_TREE, results), Ib2x),
        ..C000_13
    },
    Claim {
        judge: |results| internal_links(results, TREE_3.or(&SMALL_TREE, results), OpaX1),
        ..INTERNAL
    },
    Claim {
        id: "X1-S000-4",
        judge: |results| internal_links(results, &TREE_2, OpaX1),
        ..INTERNAL
    },
    Claim {
        id: "6X1-S000-2",
        statement: "six internal links of one flit a cycle instead of two of three do not suffice",
        judge: |results| internal_links(results, TREE_3.or(&SMALL_TREE, results), Opa6X1),
        ..INTERNAL
    },
    Claim {
        id: "6X1-S000-4",
        statement: "six internal links of one flit a cycle instead of two of three do not suffice",
        judge: |results| internal_links(results, &TREE_2, Opa6X1),
        ..INTERNAL
    },
];

fn registers(_: &Results) -> Finding {
    match dtable::plan(&Needs::table_4_as_printed()) {
        Ok(plan) => {
            let most = plan.largest_accumulator;
            Finding::checked(most <= 255, most.to_string())
                .number("largest_accumulator", most as f64)
        }
        Err(refusals) => Finding::not_run(refusals[0].to_string()),
    }
}
