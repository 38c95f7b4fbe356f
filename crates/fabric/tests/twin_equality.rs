//! The model delivers every packet at the same tick as its flit-by-flit, cycle-driven reference
//! implementation.

mod support;
mod twin;

use std::sync::Arc;

use netloom_arbitration::{OldestFirst, StrictPriority, VlOrder};
use netloom_fabric::{Allocation, LinkTiming, Options, QueueScheme};
use netloom_routing::{Deadlock, RandomUp};
use netloom_topology::ParallelFatTree;
use netloom_traffic::{Bursts, Constant, Phase, Poisson};
use proptest::prelude::*;
use support::tables::{
    bxi_deficit, deficit_round_robin, deficit_table, scfq, several_lanes_per_level, wfq,
};
use support::{Case, pipeline, two_tables};
use twin::Twin;

fn check(name: &str, case: &Case) {
    let plan = case.plan();
    let mut slow = Twin::new(&plan);
    slow.run_until(case.until);
    let mut fast = case.simulate(Options::default());
    let counters = fast.counters();
    assert!(
        slow.delivered > 50,
        "{name}: {} packets are too few to tell",
        slow.delivered
    );
    assert_eq!(
        (
            counters.injected,
            counters.packet_hops,
            counters.delivered,
            counters.digest
        ),
        (slow.injected, slow.packet_hops, slow.delivered, slow.digest),
        "{name}: injected, hops, delivered, digest"
    );
    let boxed = case
        .simulate(Options {
            reference: true,
            ..Options::default()
        })
        .counters();
    assert_eq!(
        boxed.digest, counters.digest,
        "{name}: boxed arbiters and heap"
    );
}

macro_rules! twins {
    ($($name:ident: $case:expr;)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), &$case);
        }
    )*};
}

const MIX: [u64; 6] = [1, 2, 8, 16, 32, 64];

twins! {
    tree_load_01: Case { load: 0.1, ..Case::tree(4, 2) };
    tree_load_03: Case { load: 0.3, ..Case::tree(4, 2) };
    tree_load_05: Case { load: 0.5, ..Case::tree(4, 2) };
    tree_load_07: Case { load: 0.7, ..Case::tree(4, 2) };
    tree_load_09: Case { load: 0.9, ..Case::tree(4, 2) };
    tree_load_10: Case { load: 1.0, ..Case::tree(4, 2) };
    three_levels: Case { load: 0.6, ..Case::tree(2, 3) };
    two_classes_per_level: Case { classes_per_level: 2, flits: MIX.to_vec(), load: 0.8, ..Case::tree(4, 2) };
    three_classes_on_one_lane: Case { vls: 1, classes_per_level: 3, flits: vec![1, 8], load: 1.0, ..Case::tree(4, 2) };
    one_flit: Case { flits: vec![1], load: 0.6, ..Case::tree(4, 2) };
    mixed_sizes: Case { flits: MIX.to_vec(), load: 0.7, ..Case::tree(4, 2) };
    mixed_sizes_saturated: Case { flits: MIX.to_vec(), load: 1.0, ..Case::tree(4, 2) };
    tight_buffers: Case { flits: vec![1, 8, 16], input: 16, output: 16, load: 0.9, ..Case::tree(4, 2) };
    tight_output: Case { flits: vec![8], input: 64, output: 8, load: 1.0, ..Case::tree(4, 2) };
    tight_input: Case { flits: vec![8], input: 8, output: 64, load: 1.0, ..Case::tree(4, 2) };
    speedup_2: Case { speedup: (2, 1), load: 0.9, ..Case::tree(4, 2) };
    speedup_2_mixed: Case { speedup: (2, 1), flits: MIX.to_vec(), load: 0.9, ..Case::tree(4, 2) };
    speedup_2_tight: Case { speedup: (2, 1), flits: vec![1, 3, 16], input: 16, output: 16, load: 1.0, ..Case::tree(4, 2) };
    speedup_3_halves: Case { speedup: (3, 2), flits: MIX.to_vec(), load: 0.8, ..Case::tree(4, 2) };
    speedup_below_one: Case { speedup: (2, 3), flits: vec![1, 5, 9], load: 0.5, ..Case::tree(4, 2) };
    pool: Case { pooled: true, input: 24, output: 24, flits: vec![1, 8, 16], load: 0.9, ..Case::tree(4, 2) };
    pool_speedup_2: Case { pooled: true, input: 20, output: 18, flits: vec![2, 16], speedup: (2, 1), load: 1.0, ..Case::tree(4, 2) };
    two_table: Case { policy: two_tables(4, 255), flits: vec![4, 16], load: 0.9, ..Case::tree(4, 2) };
    two_table_limit_0: Case { policy: two_tables(4, 0), flits: vec![4, 16], load: 1.0, speedup: (2, 1), ..Case::tree(4, 2) };
    two_table_limit_1: Case { policy: two_tables(4, 1), flits: vec![1, 32], load: 1.0, speedup: (2, 1), ..Case::tree(4, 2) };
    eight_lanes: Case { vls: 8, policy: two_tables(8, 2), flits: vec![32], input: 64, load: 0.8, ..Case::tree(4, 2) };
    full_pipeline: Case { pipeline: pipeline(1, 1, 1, 1, 1, 1), flits: vec![1, 8], load: 0.8, ..Case::tree(4, 2) };
    long_output_stage: Case { pipeline: pipeline(1, 2, 3, 1, 7, 2), flits: vec![1, 2, 3], load: 0.9, ..Case::tree(4, 2) };
    no_latency_but_one: Case { pipeline: pipeline(0, 0, 0, 1, 0, 0), flits: vec![1, 4], load: 0.9, ..Case::tree(4, 2) };
    oldest_first: Case { policy: Arc::new(OldestFirst {}), flits: vec![1, 8, 32], load: 0.9, speedup: (2, 1), ..Case::tree(4, 2) };
    strict_priority: Case { policy: Arc::new(StrictPriority { order: VlOrder::default() }), flits: vec![8], load: 0.95, ..Case::tree(4, 2) };
    dtable: Case { policy: deficit_table(), flits: vec![1, 5, 32], load: 0.95, speedup: (2, 1), ..Case::tree(4, 2) };
    bxi_with_deficits: Case { policy: bxi_deficit(), flits: vec![2, 16], load: 0.95, speedup: (2, 1), ..Case::tree(4, 2) };
    drr: Case { policy: deficit_round_robin(), flits: vec![1, 8, 32], load: 1.0, speedup: (2, 1), ..Case::tree(4, 2) };
    scfq_light: Case { policy: scfq(), flits: vec![1, 8, 32], load: 0.4, ..Case::tree(4, 2) };
    scfq_speedup: Case { policy: scfq(), flits: vec![1, 8, 32], load: 0.95, speedup: (2, 1), ..Case::tree(4, 2) };
    scfq_stages: Case { policy: scfq(), flits: vec![1, 5, 24], load: 0.9, speedup: (3, 2), pipeline: pipeline(1, 2, 1, 2, 3, 1), ..Case::tree(2, 3) };
    wfq_light: Case { policy: wfq(), flits: vec![1, 8, 32], load: 0.4, ..Case::tree(4, 2) };
    wfq_speedup: Case { policy: wfq(), flits: vec![1, 8, 32], load: 0.95, speedup: (2, 1), ..Case::tree(4, 2) };
    wfq_mixed_links: Case { policy: wfq(), links: vec![LinkTiming { flit: 2, delay: 9 }, LinkTiming { flit: 1, delay: 21 }], flits: vec![1, 8, 16], load: 0.9, speedup: (3, 1), ..Case::tree(4, 2) };
    voq: Case { queues: QueueScheme::VoqSwitch, flits: vec![1, 8], load: 0.9, ..Case::tree(4, 2) };
    islip_1: Case { queues: QueueScheme::VoqSwitch, allocation: Allocation::Islip { iterations: 1 }, load: 0.95, ..Case::tree(4, 2) };
    islip_3: Case { queues: QueueScheme::VoqSwitch, allocation: Allocation::Islip { iterations: 3 }, flits: vec![1, 4], load: 1.0, ..Case::tree(4, 2) };
    islip_per_vl: Case { allocation: Allocation::Islip { iterations: 2 }, flits: vec![8], load: 0.9, ..Case::tree(4, 2) };
    single_switch: Case { vls: 1, flits: vec![1, 7], load: 1.0, ..Case::single(8) };
    single_switch_voq: Case { vls: 2, queues: QueueScheme::VoqSwitch, allocation: Allocation::Islip { iterations: 2 }, flits: vec![1], load: 1.0, ..Case::single(6) };
    torus_bubble: Case { flits: vec![4], input: 16, output: 12, load: 0.4, ..Case::torus(&[4, 4], 1, 1, Deadlock::Bubble) };
    torus_bubble_mixed: Case { flits: vec![1, 4, 8], input: 32, output: 24, load: 0.5, vls: 2, ..Case::torus(&[4, 3], 2, 2, Deadlock::Bubble) };
    torus_bubble_speedup: Case { flits: vec![3, 8], input: 16, output: 16, load: 0.6, speedup: (2, 1), pipeline: pipeline(1, 1, 1, 1, 1, 1), ..Case::torus(&[5, 3], 1, 1, Deadlock::Bubble) };
    torus_dateline: Case { flits: vec![1, 8], input: 16, output: 16, load: 0.4, vls: 2, ..Case::torus(&[4, 4], 1, 1, Deadlock::Dateline) };
    torus_dateline_entry: Case { flits: vec![1, 8], input: 16, output: 16, load: 0.4, vls: 2, ..Case::torus(&[5, 4], 1, 2, Deadlock::DatelineEntry) };
    random_up: Case { routing: Arc::new(RandomUp { to_root: false }), flits: vec![2, 8], load: 0.8, ..Case::tree(4, 2) };
    parallel_links: Case { topology: Arc::new(ParallelFatTree { children: vec![4, 4], parents: vec![1, 2], links: vec![1, 2] }), load: 0.8, ..Case::tree(4, 2) };
    long_links: Case { links: vec![LinkTiming { flit: 1, delay: 50 }], input: 96, load: 0.8, ..Case::tree(4, 2) };
    mixed_link_speeds: Case { links: vec![LinkTiming { flit: 2, delay: 9 }, LinkTiming { flit: 1, delay: 21 }], flits: vec![1, 8, 16], load: 0.8, ..Case::tree(4, 2) };
    slow_trunks: Case { links: vec![LinkTiming { flit: 1, delay: 3 }, LinkTiming { flit: 3, delay: 10 }], flits: vec![2, 9], load: 0.5, ..Case::tree(4, 2) };
    thirteen_to_ten: Case { links: vec![LinkTiming { flit: 13, delay: 65 }], period: 10, flits: vec![1, 8], load: 0.9, until: 30_000, ..Case::tree(4, 2) };
    thirteen_to_ten_stages: Case { links: vec![LinkTiming { flit: 13, delay: 40 }, LinkTiming { flit: 13, delay: 500 }], period: 10, pipeline: pipeline(1, 2, 1, 1, 2, 1), flits: vec![1, 5, 24], load: 0.8, until: 40_000, ..Case::tree(4, 2) };
    equal_flit_times: Case { links: vec![LinkTiming { flit: 5, delay: 13 }, LinkTiming { flit: 5, delay: 32 }], period: 5, flits: vec![1, 8, 16], load: 0.9, until: 20_000, ..Case::tree(4, 2) };
    equal_flit_times_stages: Case { links: vec![LinkTiming { flit: 7, delay: 40 }], period: 7, pipeline: pipeline(1, 2, 1, 1, 2, 1), flits: vec![1, 5, 24], load: 0.8, until: 30_000, ..Case::tree(4, 2) };
    equal_flit_times_of_many_ticks: Case { links: vec![LinkTiming { flit: 128, delay: 625 }], period: 128, flits: vec![1, 32], load: 0.9, until: 150_000, ..Case::tree(4, 2) };
    slow_switch_clock: Case { links: vec![LinkTiming { flit: 3, delay: 7 }], period: 7, speedup: (3, 1), flits: vec![1, 5], load: 0.7, until: 12_000, ..Case::tree(4, 2) };
    cut_at_the_mtu: Case { flits: vec![1, 20, 64], mtu: Some(8), load: 0.8, ..Case::tree(4, 2) };
    several_vls_per_sl: Case { channels: several_lanes_per_level(), vls: 5, flits: vec![1, 8, 16], load: 0.9, ..Case::tree(4, 2) };
    changing_channels: Case { changes: true, flits: vec![1, 8, 16], load: 0.9, ..Case::tree(4, 2) };
    changing_channels_pool: Case { channels: several_lanes_per_level(), changes: true, vls: 5, policy: bxi_deficit(), pooled: true, input: 24, output: 24, flits: vec![2, 16], load: 0.95, ..Case::tree(2, 3) };
    changing_channels_dateline: Case { changes: true, vls: 3, flits: vec![1, 8], input: 16, output: 16, load: 0.5, ..Case::torus(&[4, 4], 1, 1, Deadlock::Dateline) };
    several_vls_per_sl_dtable: Case { channels: several_lanes_per_level(), vls: 5, policy: deficit_table(), flits: vec![1, 5, 32], input: 40, load: 1.0, speedup: (2, 1), ..Case::tree(4, 2) };
    several_vls_per_sl_bxi_pool: Case { channels: several_lanes_per_level(), vls: 5, policy: bxi_deficit(), pooled: true, input: 24, output: 24, flits: vec![2, 16], load: 0.95, ..Case::tree(2, 3) };
    several_vls_per_sl_dateline: Case { channels: vec![vec![(0, 0), (4, 1)], vec![(1, 2)]], vls: 3, flits: vec![1, 8], input: 16, output: 16, load: 0.5, ..Case::torus(&[4, 4], 1, 1, Deadlock::Dateline) };
    management_lane: Case { channels: vec![vec![(0, 0)], vec![(1, 1), (5, 2)], vec![(15, 15)]], vls: 16, policy: two_tables(3, 1), flits: vec![1, 16], load: 0.9, ..Case::tree(4, 2) };
    sl_mtu: Case { mtu: Some(32), sl_mtu: vec![3, 2, 16], flits: vec![1, 20, 64], load: 0.8, ..Case::tree(4, 2) };
    sl_mtu_dtable: Case { sl_mtu: vec![3, 2, 32, 16], policy: deficit_table(), flits: vec![2, 40], input: 40, output: 40, load: 1.0, speedup: (2, 1), ..Case::tree(4, 2) };
    sl_mtu_bubble: Case { sl_mtu: vec![2, 8], flits: vec![1, 4, 8], input: 16, output: 16, load: 0.5, vls: 2, ..Case::torus(&[4, 3], 2, 1, Deadlock::Bubble) };
    several_vls_per_sl_with_sl_mtu: Case { channels: several_lanes_per_level(), vls: 5, mtu: Some(40), sl_mtu: vec![3, 16], policy: deficit_table(), pooled: true, input: 24, output: 24, flits: vec![2, 40], load: 0.95, ..Case::tree(4, 2) };
    poisson: Case { arrival: Arc::new(Poisson {}), flits: vec![4], load: 0.7, ..Case::tree(4, 2) };
    bursts: Case { arrival: Arc::new(Bursts { messages: 4 }), flits: vec![4], load: 0.5, ..Case::tree(4, 2) };
    constant_rate: Case { arrival: Arc::new(Constant { phase: Phase::Random }), flits: vec![4], load: 0.9, ..Case::tree(4, 2) };
}

proptest! {
    #![proptest_config(support::cases(48))]

    /// Any plan, drawn at random.
    #[test]
    fn any_configuration_equals_its_twin(
        shape in 0usize..6,
        (period, flit_a, flit_b) in (1u64..5, 1u64..6, 1u64..6),
        (delay_a, delay_b) in (0u64..40, 0u64..40),
        (num, den) in (1u32..4, 1u32..3),
        stages in (0u64..3, 0u64..4, 0u64..3, 1u64..4, 0u64..6, 0u64..3),
        flits in proptest::collection::vec(1u64..20, 1..4),
        (input, output) in (0u32..40, 0u32..40),
        (pooled, voq, islip) in (any::<bool>(), any::<bool>(), 0u8..3),
        (vls, arbiter, classes_per_level) in (1u8..5, 0u8..6, 1u8..3),
        (has_channels, changes, sl_mtu) in (any::<bool>(), any::<bool>(), proptest::collection::vec(1u64..24, 0..3)),
        (load, is_stored, per_lane) in (0.1f64..1.0, any::<bool>(), any::<bool>()),
        seed in 0u64..1000,
    ) {
        let base = match shape {
            0 => Case::single(5),
            1 => Case::tree(2, 3),
            2 => Case::tree(3, 2),
            3 => Case::torus(&[4, 3], 1, 1, Deadlock::Bubble),
            4 => Case::torus(&[4, 3], 1, 1, Deadlock::DatelineEntry),
            _ => Case::torus(&[3, 3], 1, 2, Deadlock::Dateline),
        };
        let largest = u32::try_from(*flits.iter().max().unwrap()).unwrap();
        // Two channels for each level, on its own lane and the next.
        let of_level = |sl: u8| vec![(sl, sl), (16 + sl, (sl + 1) % vls)];
        let channels = if has_channels { (0..vls).map(of_level).collect() } else { vec![] };
        let case = Case {
            channels,
            // A packet that changes its lane inside a ring is not guarded.
            changes: changes && shape != 3,
            classes_per_level,
            sl_mtu,
            links: vec![LinkTiming { flit: flit_a, delay: delay_a }, LinkTiming { flit: flit_b, delay: delay_b }],
            period,
            speedup: (num, den),
            start: support::start(is_stored),
            input_ports: support::input_ports(per_lane),
            pipeline: pipeline(stages.0, stages.1, stages.2, stages.3, stages.4, stages.5),
            flits,
            input: largest + input,
            output: 2 * largest + output,
            // On guarded rings a pool gives each lane only its minimum, which is one slot here.
            pooled: pooled && shape != 3,
            queues: if voq { QueueScheme::VoqSwitch } else { QueueScheme::PerVl },
            allocation: if islip == 0 { Allocation::Separable } else { Allocation::Islip { iterations: islip } },
            vls,
            policy: match arbiter {
                0 => base.policy.clone(),
                1 => scfq(),
                2 => wfq(),
                limit => two_tables(vls * 2, limit - 2),
            },
            load,
            seed,
            until: 6_000,
            ..base
        };
        let plan = case.plan();
        let mut slow = Twin::new(&plan);
        slow.run_until(case.until);
        let counters = case.simulate(Options::default()).counters();
        prop_assert_eq!(
            (counters.injected, counters.packet_hops, counters.delivered, counters.digest),
            (slow.injected, slow.packet_hops, slow.delivered, slow.digest)
        );
    }
}
