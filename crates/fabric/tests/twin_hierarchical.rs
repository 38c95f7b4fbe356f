//! Hierarchical switches: the model delivers every packet at the same tick as its flit-by-flit
//! reference implementation.

mod compare;
mod support;
mod twin;

use std::sync::Arc;

use netloom_arbitration::{OldestFirst, StrictPriority, VlOrder};
use netloom_fabric::{CentralStart, CrossbarStart, InputPorts, LinkTiming};
use netloom_routing::{Deadlock, Det, RandomUp};
use netloom_topology::ParallelFatTree;
use proptest::prelude::*;
use support::architectures::Centre;
use support::tables::{bxi_deficit, deficit_table, scfq, several_lanes_per_level, wfq};
use support::{Case, drains, pipeline, two_tables};

/// A tree of switches with eight ports: two MPorts.
fn tree() -> Case {
    Case {
        flits: vec![1, 4, 8],
        load: 0.9,
        ..Case::tree(4, 2)
    }
}

/// Links half as fast as a crossbar of one flit per cycle.
fn slow_links(case: Case) -> Case {
    Case {
        links: vec![LinkTiming { flit: 2, delay: 9 }],
        until: 8_000,
        ..case
    }
}

fn torus(sides: &[u16], hosts: u16, trunk: u16, deadlock: Deadlock) -> Case {
    Case {
        flits: vec![1, 4, 8],
        input: 24,
        output: 24,
        load: 0.6,
        vls: 2,
        ..Case::torus(sides, hosts, trunk, deadlock)
    }
}

/// A small pool in the centre that is emptied at half the pace of links. With lanes that cross
/// independently, the space freed by one of them lets another in before the announced time.
fn slow_centre(case: Case) -> Case {
    let links = [5, 0, 18].map(|delay| LinkTiming { flit: 1, delay });
    Case {
        links: links.to_vec(),
        period: 3,
        speedup: (2, 1),
        pipeline: pipeline(1, 0, 1, 1, 0, 3),
        flits: vec![1, 2],
        input: 3,
        output: 3,
        pooled: true,
        ..case
    }
    .hierarchical(Centre {
        ports: 2,
        links: 1,
        to: (2, 1),
        from: (1, 2),
        flits: 3,
        pooled: true,
        ..USUAL
    })
}

const USUAL: Centre = Centre {
    ports: 4,
    links: 2,
    to: (3, 1),
    from: (3, 1),
    flits: 64,
    pooled: false,
    start: CentralStart::Header,
};

const WHOLE: Centre = Centre {
    start: CentralStart::Packet,
    ..USUAL
};

const TIGHT: Centre = Centre { flits: 8, ..USUAL };

twins! {
    pause: tree().hierarchical(USUAL).pfc(24, 16);
    pause_of_links: tree().hierarchical(USUAL).pause(24, 16);
    pause_low: tree().hierarchical(USUAL).pfc(4, 2);
    pause_tight_centre: Case { load: 1.0, ..tree() }.hierarchical(TIGHT).pfc(16, 8);
    pause_one_link: tree().hierarchical(Centre { links: 1, ..USUAL }).pfc(16, 8);
    pause_slow_links: slow_links(tree()).hierarchical(USUAL).pfc(20, 10);
    two_mports: tree().hierarchical(USUAL);
    two_mports_light: Case { load: 0.2, ..tree() }.hierarchical(USUAL);
    two_mports_full: Case { load: 1.0, ..tree() }.hierarchical(USUAL);
    one_flit: Case { flits: vec![1], load: 0.9, ..tree() }.hierarchical(USUAL);
    large_packets: Case { flits: vec![32], ..tree() }.hierarchical(USUAL);
    single_switch: Case { load: 1.0, flits: vec![1, 7], ..Case::single(8) }.hierarchical(USUAL);
    three_mports: Case { load: 0.9, flits: vec![2, 7], ..Case::single(12) }.hierarchical(USUAL);
    six_mports: Case { load: 1.0, flits: vec![1, 8], vls: 2, ..Case::single(24) }.hierarchical(TIGHT);
    ports_not_a_multiple_of_four: Case { load: 0.9, flits: vec![1, 8], ..Case::single(10) }.hierarchical(USUAL);
    seven_ports: Case { load: 1.0, flits: vec![3], ..Case::single(7) }.hierarchical(TIGHT);
    mports_of_one: tree().hierarchical(Centre { ports: 1, links: 1, ..USUAL });
    mports_of_two: tree().hierarchical(Centre { ports: 2, ..USUAL });
    mports_of_three_links_of_three: tree().hierarchical(Centre { ports: 3, links: 3, ..USUAL });
    one_link: Case { load: 1.0, ..tree() }.hierarchical(Centre { links: 1, ..USUAL });
    four_links: tree().hierarchical(Centre { links: 4, ..USUAL });
    everything_local: tree().hierarchical(Centre { ports: 8, ..USUAL });
    pace_1: tree().hierarchical(Centre { to: (1, 1), from: (1, 1), ..USUAL });
    pace_2: tree().hierarchical(Centre { to: (2, 1), from: (2, 1), ..USUAL });
    pace_2_to_3: tree().hierarchical(Centre { to: (2, 1), from: (3, 1), ..USUAL });
    pace_3_to_1: tree().hierarchical(Centre { to: (3, 1), from: (1, 1), ..USUAL });
    pace_1_to_3: Case { flits: vec![1, 16], ..tree() }.hierarchical(Centre { to: (1, 1), from: (3, 1), ..USUAL });
    pace_3_halves_to_5_thirds: tree().hierarchical(Centre { to: (3, 2), from: (5, 3), ..USUAL });
    pace_below_one: Case { load: 0.4, ..tree() }.hierarchical(Centre { to: (2, 3), from: (3, 4), ..USUAL });
    local_pace_2: Case { speedup: (2, 1), ..tree() }.hierarchical(USUAL);
    local_pace_below_one: Case { speedup: (2, 3), load: 0.5, ..tree() }.hierarchical(USUAL);
    slower_links: slow_links(tree()).hierarchical(USUAL);
    slower_links_full: Case { load: 1.0, flits: vec![16], ..slow_links(tree()) }.hierarchical(TIGHT_16);
    tight_centre: Case { load: 1.0, ..tree() }.hierarchical(TIGHT);
    tight_everything: Case { load: 1.0, flits: vec![1, 8], input: 8, output: 8, ..tree() }.hierarchical(TIGHT);
    tight_output: Case { load: 1.0, flits: vec![8], output: 8, ..tree() }.hierarchical(USUAL);
    pooled_centre: Case { load: 1.0, ..tree() }.hierarchical(Centre { flits: 12, pooled: true, ..USUAL });
    pooled_everything: Case { load: 1.0, pooled: true, input: 16, output: 14, flits: vec![1, 8, 12], ..tree() }.hierarchical(Centre { flits: 13, pooled: true, ..USUAL });
    pooled_centre_left_slowly: slow_centre(Case { vls: 3, load: 0.6, ..Case::tree(3, 2) });
    whole_in_centre: tree().hierarchical(WHOLE);
    whole_in_centre_full: Case { load: 1.0, ..tree() }.hierarchical(Centre { start: CentralStart::Packet, ..TIGHT });
    whole_in_centre_stored: Case { start: CrossbarStart::Stored, ..tree() }.hierarchical(WHOLE);
    whole_in_centre_per_lane: Case { input_ports: InputPorts::PerLane, load: 0.9, ..tree() }.hierarchical(WHOLE);
    whole_in_centre_slow_links: slow_links(tree()).hierarchical(WHOLE);
    whole_in_centre_odd_paces: Case { flits: vec![1, 16], ..tree() }.hierarchical(Centre { to: (3, 2), from: (5, 3), ..WHOLE });
    whole_in_centre_slow_feed: Case { flits: vec![1, 16], load: 0.4, ..tree() }.hierarchical(Centre { to: (2, 3), from: (3, 1), ..WHOLE });
    whole_in_centre_torus: Case::torus(&[4, 3], 1, 1, Deadlock::Bubble).hierarchical(WHOLE);
    changing_channels: Case { channels: several_lanes_per_level(), changes: true, vls: 5, ..tree() }.hierarchical(USUAL);
    several_vls_per_sl: Case { channels: several_lanes_per_level(), vls: 5, ..tree() }.hierarchical(USUAL);
    several_vls_per_sl_dtable: Case { channels: several_lanes_per_level(), vls: 5, policy: deficit_table(), input: 40, load: 1.0, ..tree() }.hierarchical(TIGHT);
    dtable: Case { policy: deficit_table(), flits: vec![1, 5, 32], ..tree() }.hierarchical(USUAL);
    two_table: Case { policy: two_tables(4, 1), load: 1.0, ..tree() }.hierarchical(USUAL);
    bxi_with_deficits: Case { policy: bxi_deficit(), ..tree() }.hierarchical(USUAL);
    strict_priority: Case { policy: Arc::new(StrictPriority { order: VlOrder::default() }), load: 1.0, ..tree() }.hierarchical(TIGHT);
    oldest_first: Case { policy: Arc::new(OldestFirst {}), ..tree() }.hierarchical(USUAL);
    scfq_light: Case { policy: scfq(), load: 0.4, ..tree() }.hierarchical(USUAL);
    scfq_heavy: Case { policy: scfq(), load: 1.0, ..tree() }.hierarchical(TIGHT);
    wfq_stages: Case { policy: wfq(), pipeline: pipeline(1, 2, 1, 2, 3, 1), ..tree() }.hierarchical(USUAL);
    mixed_link_speeds: Case { links: vec![LinkTiming { flit: 2, delay: 9 }, LinkTiming { flit: 1, delay: 21 }], flits: vec![1, 8, 16], ..tree() }.hierarchical(USUAL);
    slow_trunks: Case { links: vec![LinkTiming { flit: 1, delay: 3 }, LinkTiming { flit: 3, delay: 10 }], flits: vec![2, 9], load: 0.5, ..tree() }.hierarchical(USUAL);
    thirteen_to_ten: Case { links: vec![LinkTiming { flit: 13, delay: 40 }, LinkTiming { flit: 13, delay: 500 }], period: 10, pipeline: pipeline(1, 2, 1, 1, 2, 1), flits: vec![1, 5, 24], load: 0.8, until: 40_000, ..tree() }.hierarchical(USUAL);
    flits_shorter_than_cycles: Case { links: vec![LinkTiming { flit: 2, delay: 7 }], period: 5, speedup: (3, 1), flits: vec![1, 5], load: 0.8, until: 12_000, ..tree() }.hierarchical(USUAL);
    every_stage: Case { pipeline: pipeline(1, 1, 1, 1, 1, 1), ..tree() }.hierarchical(USUAL);
    long_pipeline: Case { pipeline: pipeline(3, 4, 5, 6, 7, 8), ..tree() }.hierarchical(USUAL);
    long_pipeline_tight: Case { pipeline: pipeline(5, 2, 3, 4, 2, 6), load: 1.0, ..tree() }.hierarchical(TIGHT);
    short_pipeline: Case { pipeline: pipeline(0, 1, 0, 1, 0, 0), ..tree() }.hierarchical(USUAL);
    long_links: Case { links: vec![LinkTiming { flit: 1, delay: 50 }], input: 96, ..tree() }.hierarchical(USUAL);
    det: Case { routing: Arc::new(Det {}), ..tree() }.hierarchical(USUAL);
    random_up: Case { routing: Arc::new(RandomUp { to_root: false }), ..tree() }.hierarchical(USUAL);
    three_levels: Case { load: 0.7, flits: vec![1, 8], ..Case::tree(2, 3) }.hierarchical(Centre { ports: 2, ..USUAL });
    parallel_links: Case { topology: Arc::new(ParallelFatTree { children: vec![4, 4], parents: vec![1, 2], links: vec![1, 2] }), ..tree() }.hierarchical(USUAL);
    cut_at_the_mtu: Case { flits: vec![1, 20, 64], mtu: Some(8), ..tree() }.hierarchical(USUAL);
    sl_mtu: Case { mtu: Some(32), sl_mtu: vec![3, 2, 16], flits: vec![1, 20, 64], ..tree() }.hierarchical(USUAL);
    torus_bubble: torus(&[4, 4], 1, 1, Deadlock::Bubble).hierarchical(USUAL);
    torus_bubble_tight: Case { input: 8, output: 16, load: 1.0, ..torus(&[4, 3], 2, 1, Deadlock::Bubble) }.hierarchical(TIGHT);
    torus_bubble_trunks: torus(&[4, 3], 2, 2, Deadlock::Bubble).hierarchical(Centre { ports: 3, ..USUAL });
    torus_bubble_stages: Case { pipeline: pipeline(1, 1, 1, 1, 1, 1), ..torus(&[5, 3], 1, 1, Deadlock::Bubble) }.hierarchical(Centre { ports: 2, from: (2, 1), ..TIGHT });
    torus_bubble_mports_of_one: Case { load: 1.0, ..torus(&[4, 3], 1, 1, Deadlock::Bubble) }.hierarchical(Centre { ports: 1, links: 1, ..TIGHT });
    torus_dateline: torus(&[4, 4], 1, 1, Deadlock::Dateline).hierarchical(USUAL);
    torus_dateline_tight: Case { input: 8, output: 8, load: 1.0, ..torus(&[4, 4], 2, 1, Deadlock::Dateline) }.hierarchical(Centre { ports: 2, ..TIGHT });
}

const TIGHT_16: Centre = Centre { flits: 16, ..USUAL };

#[test]
fn partitions_do_not_matter() {
    compare::any_partitions(&tree().hierarchical(TIGHT));
    compare::any_partitions(
        &Case {
            policy: scfq(),
            load: 1.0,
            ..tree()
        }
        .hierarchical(USUAL),
    );
    compare::any_partitions(&torus(&[4, 4], 1, 1, Deadlock::Bubble).hierarchical(TIGHT));
    compare::any_partitions(&slow_links(tree()).hierarchical(Centre { ports: 3, ..USUAL }));
}

#[test]
fn everything_arrives_in_order_and_all_room_is_free_again() {
    let full = |case: Case| Case { load: 1.0, ..case };
    drains(&full(tree()).hierarchical(TIGHT), 20);
    drains(&full(Case::single(11)).hierarchical(USUAL), 20);
    let pooled = Centre {
        flits: 9,
        pooled: true,
        ..USUAL
    };
    drains(&full(tree()).hierarchical(pooled), 20);
    drains(
        &full(torus(&[4, 3], 2, 1, Deadlock::Bubble)).hierarchical(TIGHT),
        30,
    );
    drains(
        &full(torus(&[4, 4], 1, 1, Deadlock::Dateline)).hierarchical(TIGHT),
        30,
    );
}

proptest! {
    #![proptest_config(support::cases(48))]

    #[test]
    fn any_hierarchy_equals_its_twin(
        shape in 0usize..5,
        (period, flit_a, flit_b) in (1u64..5, 1u64..6, 1u64..6),
        (delay_a, delay_b) in (0u64..40, 0u64..40),
        (num, den) in (1u32..4, 1u32..3),
        (to, from) in ((1u32..4, 1u32..3), (1u32..4, 1u32..3)),
        (ports, links, centre, pooled_centre) in (1u16..6, 1u16..4, 0u32..30, any::<bool>()),
        stages in (0u64..3, 1u64..4, 0u64..3, 1u64..4, 0u64..6, 0u64..3),
        flits in proptest::collection::vec(1u64..20, 1..4),
        (input, output, pooled) in (0u32..40, 0u32..40, any::<bool>()),
        (vls, arbiter) in (1u8..5, 0u8..6),
        (has_channels, changes, awaits_tail) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (load, is_stored, per_lane) in (0.1f64..1.0, any::<bool>(), any::<bool>()),
        seed in 0u64..1000,
    ) {
        let base = match shape {
            0 => Case::single(9),
            1 => Case::tree(2, 3),
            2 => Case::tree(3, 2),
            3 => Case::torus(&[4, 3], 1, 1, Deadlock::Bubble),
            _ => Case::torus(&[3, 3], 1, 2, Deadlock::Dateline),
        };
        let largest = u32::try_from(*flits.iter().max().unwrap()).unwrap();
        let of_level = |sl: u8| vec![(sl, sl), (16 + sl, (sl + 1) % vls)];
        let case = Case {
            channels: if has_channels { (0..vls).map(of_level).collect() } else { vec![] },
            changes: changes && shape != 3,
            links: vec![LinkTiming { flit: flit_a, delay: delay_a }, LinkTiming { flit: flit_b, delay: delay_b }],
            period,
            speedup: (num, den),
            start: support::start(is_stored),
            input_ports: support::input_ports(per_lane),
            pipeline: pipeline(stages.0, stages.1, stages.2, stages.3, stages.4, stages.5),
            flits,
            input: largest + input,
            output: 2 * largest + output,
            pooled: pooled && shape != 3,
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
        }
        .hierarchical(Centre {
            ports,
            links,
            to,
            from,
            flits: largest + centre,
            pooled: pooled_centre,
            start: support::central_start(awaits_tail),
        });
        let outcome = compare::difference(&case);
        prop_assert!(outcome.is_ok(), "{:?}", outcome);
    }
}
