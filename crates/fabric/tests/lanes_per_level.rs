//! Service levels on several lanes, and management on a separate lane, through whole switches.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use netloom_arbitration::{
    Arbiter, BxiDeficit, DTable, DeficitTable, Fault, Grant, Head, KINDS, Policy, PortContext,
    Scfq, SlEntry, Speaks, TurnsOf, View, WeightUnit, WeightedRoundRobin, Wfq,
};
use netloom_catalog::{Document, Notes, Section};
use netloom_fabric::{ClassPlan, FabricPlan, Options, Row, build};
use netloom_packet::{Arrival, Cursor, Source};
use netloom_topology::Graph;
use netloom_units::{Bytes, NicId, Sl, Tick, Vl};
use support::Case;

/// Each of these NICs sends a message to its destination every `every` cycles.
struct Steady {
    flows: Vec<(u32, u32)>,
    every: u64,
    flits: u32,
}

impl Source for Steady {
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival> {
        let &(_, to) = self.flows.iter().find(|(from, _)| *from == nic.0)?;
        cursor.number += 1;
        Some(Arrival {
            cycle: u64::from(cursor.number) * self.every,
            destination: NicId(to),
            bytes: self.flits * 64,
            sl: None,
            flow: 0,
        })
    }
}

fn class(sl: u8, source: Steady) -> ClassPlan {
    ClassPlan {
        name: format!("sl{sl}"),
        sl: Sl(sl),
        sls: vec![Sl(sl)],
        source: Arc::new(source),
    }
}

/// Returns the flits delivered of each class from `from` to `until`.
fn delivered(plan: &FabricPlan, from: u64, until: u64) -> Vec<u64> {
    let mut run = build(plan, Options::default());
    let rows = || vec![Row::default(); plan.classes.len()];
    run.run_until(Tick(from));
    run.take_rows(&mut rows());
    run.run_until(Tick(until));
    let mut sums = rows();
    run.take_rows(&mut sums);
    run.check_laws();
    sums.iter().map(|row| row.delivered_flits).collect()
}

fn entries(pairs: &[(u8, u16)]) -> Vec<SlEntry> {
    let entry = |&(sl, weight): &(u8, u16)| SlEntry { sl: Sl(sl), weight };
    pairs.iter().map(entry).collect()
}

/// Policies that give three parts of a link to SL0 and one to SL1.
fn three_to_one() -> Vec<(&'static str, Arc<dyn Policy>)> {
    let table = entries(&[(0, 48), (1, 32), (0, 48)]);
    let weights = entries(&[(0, 3), (1, 1)]);
    vec![
        (
            "dtable",
            Arc::new(DTable {
                table: DeficitTable::new(table.clone()).unwrap(),
            }),
        ),
        (
            "bxi-deficit",
            Arc::new(BxiDeficit {
                table,
                k: 1,
                flit: Bytes(64),
            }),
        ),
        (
            "weighted-round-robin",
            Arc::new(WeightedRoundRobin {
                weights: vec![(0, 3), (1, 1)],
                by: TurnsOf::Sls,
                unit: WeightUnit::Packets,
            }),
        ),
        (
            "scfq",
            Arc::new(Scfq {
                weights: weights.clone(),
            }),
        ),
        ("wfq", Arc::new(Wfq { weights })),
    ]
}

/// SL0 on VL0 (by SC0) and VL1 (by SC4), SL1 on VL2.
fn two_lanes_for_sl0(base: Case) -> Case {
    Case {
        channels: vec![vec![(0, 0), (4, 1)], vec![(1, 2)]],
        vls: 3,
        ..base
    }
}

#[test]
fn g000_8_under_backlog_both_lanes_move_and_the_level_has_its_share() {
    for (name, policy) in three_to_one() {
        let case = two_lanes_for_sl0(Case {
            policy,
            input: 64,
            output: 64,
            speedup: (2, 1),
            ..Case::single(9)
        });
        let mut plan = case.plan();
        // Eight NICs send to NIC 0, each at the full rate on both levels.
        let sc_of = |nic: u32| plan.channels.choose(Sl(0), NicId(nic), NicId(0)).0;
        let steady = |nics: &mut dyn Iterator<Item = u32>| Steady {
            flows: nics.map(|nic| (nic, 0)).collect(),
            every: 4,
            flits: 4,
        };
        let on = |sc: u8| steady(&mut (1..9).filter(|&nic| sc_of(nic) == sc));
        let (first, second) = (on(0), on(4));
        assert!(first.flows.len() >= 2 && second.flows.len() >= 2);
        plan.classes = vec![
            class(0, first),
            class(0, second),
            class(1, steady(&mut (1..9))),
        ];
        let flits = delivered(&plan, 5_000, 65_000);
        let sum: u64 = flits.iter().sum();
        assert!(sum > 59_000, "{name}: the link is busy: {flits:?}");
        let share = (flits[0] + flits[1]) as f64 / sum as f64;
        assert!((share - 0.75).abs() < 0.01, "{name}: {share}, {flits:?}");
        let lane = flits[0] as f64 / (flits[0] + flits[1]) as f64;
        assert!((0.4..0.6).contains(&lane), "{name}: {flits:?}");
    }
}

/// Returns the flits that NIC 0 sends to NIC 2 over the cable between two switches, while its
/// neighbour NIC 1 is offered three times its capacity.
fn past_a_hot_spot(policy: Arc<dyn Policy>, channels: Vec<Vec<(u8, u8)>>) -> u64 {
    let text = "link a b\nnic n0 a\nnic n1 b\nnic n2 b\nnic n3 b\nnic n4 b";
    let mut case = Case {
        topology: Arc::new(Graph {
            file: None,
            text: Some(text.to_owned()),
        }),
        policy,
        channels,
        vls: 2,
        input: 32,
        output: 32,
        ..Case::single(2)
    };
    // Flows to the hot spot share a channel that the flow past it does not take.
    let flow = |plan: &FabricPlan, from, to| plan.channels.choose(Sl(0), NicId(from), NicId(to));
    let plan = loop {
        let plan = case.plan();
        let hot = flow(&plan, 0, 1);
        let is_shared = [3, 4].iter().all(|&nic| flow(&plan, nic, 1) == hot);
        if case.channels[0].len() == 1 || (is_shared && flow(&plan, 0, 2) != hot) {
            break plan;
        }
        case.seed += 1;
    };
    let steady = |flows: &[(u32, u32)], every| Steady {
        flows: flows.to_vec(),
        every,
        flits: 8,
    };
    let plan = FabricPlan {
        classes: vec![
            class(0, steady(&[(0, 2)], 16)),
            class(0, steady(&[(0, 1), (3, 1), (4, 1)], 8)),
        ],
        ..plan
    };
    delivered(&plan, 5_000, 45_000)[0]
}

#[test]
fn spec_1_2_3_a_lane_without_credits_does_not_stop_the_others_of_its_level() {
    for (name, policy) in three_to_one() {
        let one = past_a_hot_spot(policy.clone(), vec![vec![(0, 0)]]);
        let two = past_a_hot_spot(policy, vec![vec![(0, 0), (7, 1)]]);
        // The offered load is half of the link: 20,000 flits.
        assert!(one < 14_000, "{name}: {one} flits behind the hot spot");
        assert!((19_900..20_100).contains(&two), "{name}: {two} flits");
    }
}

/// Checks an arbiter: whenever management can be sent, nothing else is.
struct ManagementFirst {
    policy: Arc<dyn Policy>,
    contested: Arc<AtomicU64>,
}

impl Policy for ManagementFirst {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(ManagementFirstArbiter {
            arbiter: self.policy.build(),
            contested: self.contested.clone(),
        })
    }
    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        vec![]
    }
    fn speaks(&self) -> Speaks {
        self.policy.speaks()
    }
    fn serves_everyone(&self) -> bool {
        self.policy.serves_everyone()
    }
}

struct ManagementFirstArbiter {
    arbiter: Box<dyn Arbiter>,
    contested: Arc<AtomicU64>,
}

impl Arbiter for ManagementFirstArbiter {
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        let grant = self.arbiter.choose(view);
        let lanes = view.vls();
        if lanes >> 15 & 1 == 1 {
            let chosen = grant.map(|grant| view.heads[usize::from(grant.queue)].vl);
            assert_eq!(chosen, Some(Vl(15)), "management goes first");
            let is_contested = lanes != 1 << 15;
            self.contested
                .fetch_add(u64::from(is_contested), Ordering::Relaxed);
        }
        grant
    }
    fn commit(&mut self, grant: Grant) {
        self.arbiter.commit(grant);
    }
    fn arrived(&mut self, queue: u8, head: &Head) {
        self.arbiter.arrived(queue, head);
    }
    fn save(&self, out: &mut Vec<u64>) {
        self.arbiter.save(out);
    }
    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        self.arbiter.restore(from)
    }
}

#[test]
fn vl15_goes_before_all_data_whatever_the_arbiter() {
    for kind in KINDS {
        let mut notes = Notes::new();
        let document = Document::parse(kind.name, kind.example, &mut notes);
        let mut section = Section::open(&document.root, &mut notes).expect("a table");
        let policy = (kind.read)(&mut section).expect("an example without mistakes builds");
        let contested = Arc::new(AtomicU64::new(0));
        let case = Case {
            policy: Arc::new(ManagementFirst {
                policy: Arc::from(policy),
                contested: contested.clone(),
            }),
            // The service levels of the examples, and management as a fourth one.
            channels: vec![vec![(0, 0)], vec![(1, 1)], vec![(2, 2)], vec![(15, 15)]],
            vls: 16,
            flits: vec![32],
            speedup: (2, 1),
            ..Case::tree(2, 2)
        };
        let mut plan = case.plan();
        // Data for the NIC after the next two fill every link; management is sent occasionally.
        let to_other_side = |every, flits| Steady {
            flows: (0..4).map(|nic| (nic, (nic + 2) % 4)).collect(),
            every,
            flits,
        };
        plan.classes = vec![
            class(0, to_other_side(8, 8)),
            class(1, to_other_side(16, 16)),
            class(2, to_other_side(32, 32)),
            class(3, to_other_side(100, 1)),
        ];
        let flits = delivered(&plan, 0, 40_000);
        // 400 messages of each of four NICs, and no more than a few in transit.
        assert!(flits[3] > 1_580, "{}: {flits:?}", kind.name);
        let contested = contested.load(Ordering::Relaxed);
        assert!(contested > 1_000, "{}: {contested}", kind.name);
    }
}
