//! Input-queued switches, queue schemes, credits per queue and NICs with VOQs: the
//! model delivers every packet at the same tick as its flit-by-flit reference implementation.

mod compare;
mod support;
mod twin;

use std::sync::Arc;

use netloom_arbitration::{OldestFirst, StrictPriority, VlOrder};
use netloom_fabric::{LinkTiming, QueueScheme};
use netloom_routing::{Deadlock, Det, DimensionOrder, RandomUp, Tie, Trunk};
use netloom_traffic::{Bursts, HotSources, HotSpot, Idle};
use proptest::prelude::*;
use support::tables::{
    bxi_deficit, bxi_table, deficit_round_robin, deficit_table, several_lanes_per_level,
};
use support::{Case, drains, pipeline, two_tables};

use QueueScheme::{OneQueue, PerVl, VoqNet, VoqSwitch};

const DBBM: QueueScheme = QueueScheme::Dbbm { queues: 3 };
const OBQA: QueueScheme = QueueScheme::Obqa { queues: 3 };
const SCHEMES: [QueueScheme; 6] = [OneQueue, PerVl, VoqSwitch, VoqNet, DBBM, OBQA];

/// A tree near saturation with packets of several sizes.
fn tree() -> Case {
    Case {
        flits: vec![1, 4, 8],
        load: 0.9,
        ..Case::tree(4, 2)
    }
}

fn hot() -> Case {
    Case {
        pattern: Arc::new(HotSpot {
            destination: 5,
            sources: HotSources::Share(0.5),
            from: None,
            until: None,
            outside: Idle::Idle,
            others: Idle::Uniform,
        }),
        load: 0.7,
        ..tree()
    }
}

/// A torus whose packets take one path only.
fn torus(vls: u8) -> Case {
    Case {
        routing: Arc::new(DimensionOrder {
            deadlock: Deadlock::Dateline,
            tie: Tie::Positive,
            trunk: Trunk::Flow,
        }),
        flits: vec![1, 8],
        input: 16,
        load: 0.5,
        vls,
        ..Case::torus(&[4, 4], 1, 1, Deadlock::Dateline)
    }
}

fn thirteen_to_ten() -> Case {
    Case {
        links: vec![
            LinkTiming {
                flit: 13,
                delay: 40,
            },
            LinkTiming {
                flit: 13,
                delay: 170,
            },
        ],
        period: 10,
        pipeline: pipeline(1, 2, 1, 1, 2, 1),
        until: 30_000,
        ..tree()
    }
}

twins! {
    one_queue: tree().input_queued().queues(OneQueue);
    per_vl: tree().input_queued();
    voq: tree().input_queued().queues(VoqSwitch);
    voq_net: tree().input_queued().queues(VoqNet);
    dbbm: tree().input_queued().queues(DBBM);
    obqa: tree().input_queued().queues(OBQA);
    one_queue_islip_1: tree().input_queued().queues(OneQueue).islip(1);
    per_vl_islip_2: tree().input_queued().islip(2);
    voq_islip_1: tree().input_queued().queues(VoqSwitch).islip(1);
    voq_islip_2: tree().input_queued().queues(VoqSwitch).islip(2);
    voq_islip_3: tree().input_queued().queues(VoqSwitch).islip(3);
    voq_net_islip_2: tree().input_queued().queues(VoqNet).islip(2);
    dbbm_islip_3: tree().input_queued().queues(DBBM).islip(3);
    obqa_islip_1: tree().input_queued().queues(OBQA).islip(1);
    one_queue_queue_credits: tree().input_queued().queues(OneQueue).queue_credits(20);
    per_vl_queue_credits: tree().input_queued().queue_credits(16);
    voq_queue_credits: tree().input_queued().queues(VoqSwitch).queue_credits(16);
    voq_queue_credits_islip_3: tree().input_queued().queues(VoqSwitch).queue_credits(16).islip(3);
    voq_net_queue_credits: tree().input_queued().queues(VoqNet).queue_credits(8).islip(1);
    dbbm_queue_credits: tree().input_queued().queues(DBBM).queue_credits(12);
    obqa_queue_credits: tree().input_queued().queues(OBQA).queue_credits(9).islip(2);
    tight_queues: Case { flits: vec![8], load: 1.0, ..tree() }.input_queued().queues(VoqSwitch).queue_credits(8).islip(2);
    tight_lanes: Case { flits: vec![3, 8], input: 8, load: 1.0, ..tree() }.input_queued().islip(1);
    pooled_lanes: Case { pooled: true, input: 12, load: 1.0, ..tree() }.input_queued().queues(VoqSwitch);
    hot_spot_1q: hot().input_queued().queues(OneQueue).islip(1);
    hot_spot_voq_net: hot().input_queued().queues(VoqNet).queue_credits(16).islip(2);
    hot_spot_obqa: hot().input_queued().queues(OBQA).queue_credits(16);
    per_destination_voq: tree().input_queued().queues(VoqSwitch).queue_credits(16).per_destination(16).islip(2);
    per_destination_voq_net: hot().input_queued().queues(VoqNet).queue_credits(16).per_destination(16);
    per_destination_dbbm: hot().input_queued().queues(DBBM).per_destination(24);
    per_destination_1q: tree().input_queued().queues(OneQueue).per_destination(8);
    per_destination_tight: Case { flits: vec![8, 20], mtu: Some(8), load: 1.0, ..tree() }.input_queued().queues(OBQA).queue_credits(8).per_destination(8).islip(1);
    per_destination_buffered_outputs: Case { speedup: (2, 1), ..hot() }.queues(VoqSwitch).per_destination(10);
    per_destination_lanes: Case { channels: several_lanes_per_level(), vls: 5, policy: deficit_table(), ..hot() }.input_queued().queues(DBBM).queue_credits(16).per_destination(16);
    per_destination_bursts: Case { arrival: Arc::new(Bursts { messages: 6 }), mtu: Some(5), flits: vec![12], load: 0.6, ..tree() }.input_queued().queues(VoqSwitch).per_destination(12);
    buffered_outputs_queue_credits: Case { speedup: (2, 1), ..tree() }.queues(VoqSwitch).queue_credits(16).islip(2);
    buffered_outputs_one_queue: tree().queues(OneQueue);
    buffered_outputs_dbbm: tree().queues(DBBM).queue_credits(8);
    buffered_outputs_obqa_mixed_links: Case { links: vec![LinkTiming { flit: 2, delay: 9 }, LinkTiming { flit: 1, delay: 21 }], ..tree() }.queues(OBQA).queue_credits(11);
    buffered_outputs_voq_net: hot().queues(VoqNet).queue_credits(9);
    det: Case { routing: Arc::new(Det {}), ..tree() }.input_queued().queues(VoqSwitch).queue_credits(16).islip(2);
    det_three_levels: Case { routing: Arc::new(Det {}), load: 0.8, ..Case::tree(2, 3) }.input_queued().queues(OBQA).queue_credits(16);
    random_up: Case { routing: Arc::new(RandomUp { to_root: false }), ..tree() }.input_queued().queues(VoqSwitch).islip(2);
    random_up_queue_credits: Case { routing: Arc::new(RandomUp { to_root: false }), load: 0.8, ..tree() }.input_queued().queues(OBQA).queue_credits(10).islip(1);
    random_up_buffered_outputs: Case { routing: Arc::new(RandomUp { to_root: false }), load: 0.8, ..tree() }.queues(VoqSwitch).queue_credits(10);
    dateline: torus(2).input_queued().queues(VoqSwitch).islip(2);
    dateline_queue_credits: torus(2).input_queued().queues(VoqSwitch).queue_credits(16).per_destination(16).islip(1);
    dateline_random_tie: Case { flits: vec![2, 8], input: 24, load: 0.5, vls: 2, ..Case::torus(&[4, 4], 2, 1, Deadlock::Dateline) }.input_queued().queues(DBBM).queue_credits(9);
    two_table: Case { policy: two_tables(4, 1), ..tree() }.input_queued().queues(VoqSwitch).islip(2);
    two_table_of_few_lanes: Case { policy: two_tables(3, 0), vls: 3, load: 1.0, ..tree() }.input_queued();
    dtable: Case { policy: deficit_table(), ..tree() }.input_queued().queues(VoqSwitch).islip(3);
    bxi: Case { policy: bxi_table(), load: 1.0, ..tree() }.input_queued().queues(VoqSwitch).islip(1);
    bxi_with_deficits: Case { policy: bxi_deficit(), ..tree() }.input_queued().queues(DBBM);
    drr: Case { policy: deficit_round_robin(), ..tree() }.input_queued().queues(OBQA).islip(2);
    oldest_first: Case { policy: Arc::new(OldestFirst {}), ..tree() }.input_queued().queues(VoqSwitch).islip(2);
    strict_priority: Case { policy: Arc::new(StrictPriority { order: VlOrder::default() }), ..tree() }.input_queued().queues(VoqSwitch);
    changing_channels: Case { channels: several_lanes_per_level(), changes: true, vls: 5, policy: deficit_table(), input: 40, ..tree() }.input_queued().queues(VoqSwitch).islip(2);
    several_vls_per_sl: Case { channels: several_lanes_per_level(), vls: 5, policy: deficit_table(), input: 40, ..tree() }.input_queued().queues(VoqSwitch).islip(2);
    sl_mtu: Case { mtu: Some(16), sl_mtu: vec![3, 2, 8], flits: vec![1, 20], ..tree() }.input_queued().queues(VoqSwitch).queue_credits(16);
    other_clocks: thirteen_to_ten().input_queued().queues(VoqSwitch).islip(2);
    other_clocks_queue_credits: thirteen_to_ten().input_queued().queues(DBBM).queue_credits(20).per_destination(20);
    slow_links: Case { links: vec![LinkTiming { flit: 3, delay: 7 }], period: 2, until: 10_000, ..tree() }.input_queued().islip(1);
    every_stage: Case { pipeline: pipeline(1, 1, 1, 1, 1, 1), ..tree() }.input_queued().queues(VoqSwitch).islip(2);
    long_stages: Case { pipeline: pipeline(2, 3, 4, 5, 6, 7), ..tree() }.input_queued().queues(VoqSwitch).queue_credits(16).islip(1);
    single_switch: Case { vls: 2, flits: vec![1], load: 1.0, ..Case::single(6) }.input_queued().queues(VoqSwitch).islip(2);
    long_links: Case { links: vec![LinkTiming { flit: 1, delay: 50 }, LinkTiming { flit: 1, delay: 3 }], ..tree() }.input_queued().queues(OBQA).islip(2);
}

#[test]
fn partitions_do_not_matter() {
    compare::any_partitions(&tree().input_queued().queues(VoqSwitch).islip(2));
    compare::any_partitions(
        &hot()
            .input_queued()
            .queues(DBBM)
            .queue_credits(16)
            .per_destination(16),
    );
    compare::any_partitions(&torus(2).input_queued().queues(OBQA).queue_credits(8));
    compare::any_partitions(&tree().queues(VoqNet).queue_credits(8).islip(2));
}

#[test]
fn everything_arrives_in_order_and_all_room_is_free_again() {
    for scheme in SCHEMES {
        let case = Case {
            load: 1.0,
            ..tree()
        }
        .queues(scheme);
        drains(&case.clone().input_queued().islip(2), 12);
        drains(&case.clone().input_queued().queue_credits(9), 12);
        drains(&case.clone().queue_credits(8).per_destination(8), 12);
        drains(&case.input_queued().per_destination(16).islip(1), 12);
    }
    drains(
        &torus(2).input_queued().queues(VoqSwitch).queue_credits(8),
        12,
    );
}

proptest! {
    #![proptest_config(support::cases(48))]

    #[test]
    fn any_queue_scheme_equals_its_twin(
        (shape, random) in (0usize..4, any::<bool>()),
        (period, flit) in (1u64..5, 1u64..6),
        (delay_a, delay_b) in (0u64..40, 0u64..40),
        stages in (0u64..3, 0u64..4, 0u64..3, 1u64..4, 0u64..6, 0u64..3),
        flits in proptest::collection::vec(1u64..16, 1..4),
        (input, queue) in (0u32..40, 0u32..20),
        (scheme, islip, is_cioq) in (0usize..6, 0u8..4, any::<bool>()),
        (per_queue, per_destination, pooled) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (vls, arbiter) in (1u8..5, 0u8..4),
        (has_channels, changes) in (any::<bool>(), any::<bool>()),
        load in 0.1f64..1.0,
        seed in 0u64..1000,
    ) {
        let base = match shape {
            0 => Case::single(5),
            1 => Case::tree(2, 3),
            2 => Case::tree(3, 2),
            _ => torus(1),
        };
        let routing = if random && matches!(shape, 1 | 2) && !per_destination {
            Arc::new(RandomUp { to_root: false })
        } else {
            base.routing.clone()
        };
        let largest = u32::try_from(*flits.iter().max().unwrap()).unwrap();
        let of_level = |sl: u8| vec![(sl, sl), (16 + sl, (sl + 1) % vls)];
        let mut case = Case {
            routing,
            channels: if has_channels { (0..vls).map(of_level).collect() } else { vec![] },
            changes,
            links: vec![LinkTiming { flit, delay: delay_a }, LinkTiming { flit, delay: delay_b }],
            period,
            pipeline: pipeline(stages.0, stages.1, stages.2, stages.3, stages.4, stages.5),
            flits,
            input: largest + input,
            output: largest + input,
            pooled,
            queues: SCHEMES[scheme],
            vls,
            policy: match arbiter {
                0 => base.policy.clone(),
                1 => deficit_table(),
                limit => two_tables(vls * 2, limit - 2),
            },
            load,
            seed,
            until: 6_000,
            ..base
        };
        if !is_cioq {
            case = case.input_queued();
        }
        if islip > 0 {
            case = case.islip(islip);
        }
        if per_queue {
            case = case.queue_credits(largest + queue);
        }
        if per_destination {
            case = case.per_destination(largest + queue);
        }
        let outcome = compare::difference(&case);
        prop_assert!(outcome.is_ok(), "{:?}", outcome);
    }
}
