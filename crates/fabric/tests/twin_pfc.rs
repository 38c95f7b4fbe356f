//! Priority flow control: the model delivers every packet at the same tick as its flit-by-flit
//! reference implementation.

mod compare;
mod support;
mod twin;

use std::sync::Arc;

use netloom_arbitration::{StrictPriority, VlOrder};
use netloom_fabric::{LinkTiming, QueueScheme};
use netloom_routing::{Deadlock, Det, RandomUp};
use netloom_traffic::{Bursts, HotSources, HotSpot, Idle};
use proptest::prelude::*;
use support::tables::{bxi_deficit, bxi_table, deficit_table, scfq, several_lanes_per_level, wfq};
use support::{Case, drains, pipeline, two_tables};

use QueueScheme::{OneQueue, VoqNet, VoqSwitch};

fn tree() -> Case {
    Case {
        flits: vec![1, 4, 8],
        load: 0.9,
        ..Case::tree(4, 2)
    }
}

/// This fraction of the NICs sends to one of them.
fn incast(share: f64) -> Case {
    Case {
        pattern: Arc::new(HotSpot {
            destination: 6,
            sources: HotSources::Share(share),
            from: None,
            until: None,
            outside: Idle::Idle,
            others: Idle::Uniform,
        }),
        load: 0.8,
        ..tree()
    }
}

fn links(case: Case, timings: &[(u64, u64)]) -> Case {
    let timing = |&(flit, delay): &(u64, u64)| LinkTiming { flit, delay };
    Case {
        links: timings.iter().map(timing).collect(),
        ..case
    }
}

twins! {
    high_thresholds: tree().pfc(100, 90);
    middle_thresholds: tree().pfc(24, 16);
    low_thresholds: tree().pfc(4, 2);
    lowest_thresholds: tree().pfc(0, 0);
    no_hysteresis: tree().pfc(16, 16);
    wide_hysteresis: tree().pfc(40, 0);
    full_load: Case { load: 1.0, ..tree() }.pfc(16, 8);
    light_load: Case { load: 0.2, ..tree() }.pfc(8, 4);
    one_flit: Case { flits: vec![1], ..tree() }.pfc(4, 2);
    one_size: Case { flits: vec![16], load: 1.0, ..tree() }.pfc(32, 16);
    sizes_up_to_the_mtu: Case { flits: vec![1, 3, 17, 64], mtu: Some(24), ..tree() }.pfc(30, 12);
    mtu_of_levels: Case { flits: vec![1, 40], sl_mtu: vec![3, 2, 16], mtu: Some(20), ..tree() }.pfc(24, 10);
    whole_link: tree().pause(24, 16);
    whole_link_low: tree().pause(4, 2);
    whole_link_lowest: Case { load: 1.0, ..tree() }.pause(0, 0);
    whole_link_incast: incast(0.5).pause(16, 8);
    whole_link_bursts: Case { arrival: Arc::new(Bursts { messages: 8 }), ..incast(0.5) }.pause(20, 10);
    whole_link_speedup: Case { speedup: (2, 1), ..incast(0.5) }.pause(24, 12);
    whole_link_long: links(tree(), &[(1, 50)]).pause(20, 10);
    whole_link_input_queued: incast(0.5).input_queued().queues(VoqSwitch).pause(16, 8);
    whole_link_priorities: Case { policy: two_tables(3, 1), vls: 3, ..incast(0.5) }.pause(16, 8);
    incast_all: incast(1.0).pfc(16, 8);
    incast_half: incast(0.5).pfc(16, 8);
    incast_low: incast(0.75).pfc(2, 0);
    incast_speedup: Case { speedup: (2, 1), ..incast(0.5) }.pfc(24, 12);
    incast_bursts: Case { arrival: Arc::new(Bursts { messages: 8 }), ..incast(0.5) }.pfc(20, 10);
    long_links: links(tree(), &[(1, 50)]).pfc(20, 10);
    longer_trunks: links(incast(0.5), &[(1, 4), (1, 90)]).pfc(20, 10);
    no_delay: links(incast(0.5), &[(1, 0)]).pfc(8, 4);
    mixed_links: links(incast(0.5), &[(2, 9), (1, 21)]).pfc(16, 8);
    slow_trunks: links(Case { load: 0.5, ..tree() }, &[(1, 3), (3, 10)]).pfc(16, 8);
    thirteen_to_ten: links(Case { period: 10, pipeline: pipeline(1, 2, 1, 1, 2, 1), until: 40_000, ..incast(0.5) }, &[(13, 40), (13, 500)]).pfc(20, 10);
    slow_switch_clock: links(Case { period: 7, speedup: (3, 1), until: 12_000, ..incast(0.5) }, &[(3, 7)]).pfc(16, 8);
    every_stage: Case { pipeline: pipeline(1, 1, 1, 1, 1, 1), ..incast(0.5) }.pfc(16, 8);
    long_stages: Case { pipeline: pipeline(2, 3, 4, 5, 6, 7), ..incast(0.5) }.pfc(16, 8);
    slow_credit_stage: Case { pipeline: pipeline(0, 1, 0, 1, 0, 12), ..incast(0.5) }.pfc(8, 8);
    bxi: Case { policy: bxi_table(), ..incast(0.5) }.pfc(16, 8);
    bxi_with_deficits: Case { policy: bxi_deficit(), load: 1.0, ..tree() }.pfc(16, 8);
    bxi_lanes: Case { policy: bxi_table(), channels: several_lanes_per_level(), vls: 5, ..incast(0.5) }.pfc(16, 8);
    dtable: Case { policy: deficit_table(), ..incast(0.5) }.pfc(12, 8);
    two_table: Case { policy: two_tables(4, 1), load: 1.0, ..tree() }.pfc(16, 8);
    strict_priority: Case { policy: Arc::new(StrictPriority { order: VlOrder::default() }), ..incast(0.5) }.pfc(16, 8);
    scfq_tags: Case { policy: scfq(), ..incast(0.5) }.pfc(16, 8);
    wfq_tags: Case { policy: wfq(), load: 1.0, ..tree() }.pfc(16, 8);
    voq: incast(0.5).queues(VoqSwitch).pfc(16, 8);
    voq_islip: tree().queues(VoqSwitch).islip(2).pfc(16, 8);
    one_queue: incast(0.5).queues(OneQueue).pfc(16, 8);
    det: Case { routing: Arc::new(Det {}), ..incast(0.5) }.pfc(16, 8);
    random_up: Case { routing: Arc::new(RandomUp { to_root: false }), ..incast(0.5) }.pfc(16, 8);
    three_levels: Case { load: 0.8, flits: vec![1, 8], ..Case::tree(2, 3) }.pfc(16, 8);
    dateline: Case { flits: vec![1, 8], load: 0.6, vls: 2, ..Case::torus(&[4, 4], 1, 1, Deadlock::Dateline) }.pfc(8, 4);
    tight_output: Case { flits: vec![8], output: 8, load: 1.0, ..tree() }.pfc(16, 8);
    small_output: Case { output: 12, load: 1.0, ..tree() }.pfc(16, 8);
    per_destination: incast(0.5).queues(VoqSwitch).per_destination(16).pfc(16, 8);
    input_queued: tree().input_queued().pfc(16, 8);
    input_queued_low: incast(0.5).input_queued().pfc(0, 0);
    input_queued_islip_1: incast(0.5).input_queued().queues(VoqSwitch).islip(1).pfc(16, 8);
    input_queued_islip_3: Case { load: 1.0, ..tree() }.input_queued().queues(VoqSwitch).islip(3).pfc(16, 8);
    input_queued_long_links: links(incast(0.5), &[(1, 50), (1, 5)]).input_queued().queues(VoqNet).islip(2).pfc(16, 8);
    input_queued_stages: Case { pipeline: pipeline(1, 2, 3, 2, 4, 3), ..incast(0.5) }.input_queued().queues(VoqSwitch).islip(2).pfc(16, 8);
    input_queued_bxi: Case { policy: bxi_table(), ..incast(0.5) }.input_queued().queues(VoqSwitch).islip(2).pfc(16, 8);
    input_queued_per_destination: incast(0.5).input_queued().queues(VoqNet).per_destination(16).pfc(16, 8);
    input_queued_other_clock: links(Case { period: 10, until: 40_000, ..incast(0.5) }, &[(13, 130)]).input_queued().queues(VoqSwitch).pfc(16, 8);
}

#[test]
fn partitions_do_not_matter() {
    compare::any_partitions(&incast(0.5).pfc(16, 8));
    compare::any_partitions(&links(incast(1.0), &[(2, 9), (1, 21)]).pfc(2, 0));
    let input_queued = incast(0.5).input_queued().queues(VoqSwitch).islip(2);
    compare::any_partitions(&input_queued.pfc(16, 8));
    compare::any_partitions(&links(tree(), &[(1, 0)]).pfc(4, 0));
}

#[test]
fn everything_arrives_in_order_and_nothing_stays_counted() {
    drains(&incast(1.0).pfc(2, 0), 12);
    drains(&links(incast(0.5), &[(2, 90), (3, 21)]).pfc(16, 8), 12);
    let full = Case {
        load: 1.0,
        ..tree()
    };
    drains(
        &full
            .clone()
            .input_queued()
            .queues(VoqSwitch)
            .islip(2)
            .pfc(0, 0),
        12,
    );
    drains(&full.input_queued().per_destination(8).pfc(16, 8), 12);
}

proptest! {
    #![proptest_config(support::cases(48))]

    #[test]
    fn any_pause_equals_its_twin(
        (shape, is_incast, is_input_queued) in (0usize..4, any::<bool>(), any::<bool>()),
        (period, flit_a, flit_b) in (1u64..5, 1u64..6, 1u64..6),
        (delay_a, delay_b) in (0u64..60, 0u64..60),
        (num, den) in (1u32..4, 1u32..3),
        stages in (0u64..3, 0u64..4, 0u64..3, 1u64..4, 0u64..6, 0u64..5),
        flits in proptest::collection::vec(1u64..20, 1..4),
        (xoff, hysteresis, output) in (0u32..60, 0u32..40, 0u32..40),
        (voq, islip, per_destination) in (any::<bool>(), 0u8..4, any::<bool>()),
        (vls, arbiter) in (1u8..5, 0u8..5),
        load in 0.1f64..1.0,
        seed in 0u64..1000,
    ) {
        let base = match shape {
            0 => Case::single(7),
            1 => Case::tree(2, 3),
            2 => Case::tree(3, 2),
            _ => Case::tree(4, 2),
        };
        let largest = u32::try_from(*flits.iter().max().unwrap()).unwrap();
        let flit_b = if is_input_queued { flit_a } else { flit_b };
        let mut case = Case {
            pattern: if is_incast { incast(0.5).pattern } else { base.pattern.clone() },
            links: vec![LinkTiming { flit: flit_a, delay: delay_a }, LinkTiming { flit: flit_b, delay: delay_b }],
            period,
            speedup: (num, den),
            pipeline: pipeline(stages.0, stages.1, stages.2, stages.3, stages.4, stages.5),
            flits,
            output: largest + output,
            queues: if voq { VoqSwitch } else { QueueScheme::PerVl },
            vls,
            policy: match arbiter {
                0 => base.policy.clone(),
                1 if !is_input_queued => scfq(),
                1 | 2 => bxi_table(),
                limit => two_tables(vls, limit - 3),
            },
            load,
            seed,
            until: 6_000,
            ..base
        };
        if is_input_queued {
            case = case.input_queued();
        }
        if islip > 0 {
            case = case.islip(islip);
        }
        if per_destination {
            case = case.per_destination(largest);
        }
        let outcome = compare::difference(&case.pfc(xoff, xoff.saturating_sub(hysteresis)));
        prop_assert!(outcome.is_ok(), "{:?}", outcome);
    }
}
