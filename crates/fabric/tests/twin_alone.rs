//! Tests of the reference implementation alone: it must be right before it is compared.

mod support;
mod twin;

use netloom_fabric::{LinkTiming, QueueScheme};
use netloom_routing::Deadlock;
use support::architectures::Centre;
use support::tables::bxi_table;
use support::{Case, ending, pipeline};
use twin::Twin;

/// A finite workload arrives complete and, if routing keeps it, in order; it leaves nothing behind.
fn drains(case: &Case) {
    let mut plan = case.plan();
    ending(&mut plan, 12);
    let mut twin = Twin::new(&plan);
    let mut end = 0;
    while end == 0 || !twin.is_idle() {
        end += 1_000;
        assert!(end < 200_000, "the reference drains");
        twin.run_until(end);
    }
    assert!(twin.delivered >= 12);
    let mut last = std::collections::BTreeMap::new();
    for d in &twin.deliveries {
        let flow = (d.source, d.destination, d.sl);
        let before = last.insert(flow, d.sequence);
        assert!(
            !plan.forwarding.keeps_order() || before.is_none_or(|before| before < d.sequence),
            "order is kept"
        );
    }
}

/// Returns the flits delivered per NIC and flit time at full load.
fn throughput(case: &Case) -> f64 {
    let plan = case.plan();
    let mut twin = Twin::new(&plan);
    twin.run_until(case.until);
    let flit = plan.links[0].flit as f64;
    let nics = f64::from(plan.topology.n_nics());
    twin.delivered_flits as f64 * flit / nics / case.until as f64
}

const SCHEMES: [QueueScheme; 6] = [
    QueueScheme::OneQueue,
    QueueScheme::PerVl,
    QueueScheme::VoqSwitch,
    QueueScheme::VoqNet,
    QueueScheme::Dbbm { queues: 3 },
    QueueScheme::Obqa { queues: 3 },
];

fn loaded(case: Case) -> Case {
    Case {
        load: 1.0,
        flits: vec![1, 3, 8],
        ..case
    }
}

#[test]
fn an_input_queued_fabric_drains() {
    for scheme in SCHEMES {
        let case = loaded(Case::tree(3, 2)).input_queued().queues(scheme);
        drains(&case);
        drains(&case.clone().islip(2));
        drains(&case.clone().islip(1).queue_credits(16));
        drains(&case.per_destination(16).queue_credits(8));
    }
}

#[test]
fn buffered_outputs_drain_with_queue_credits() {
    for scheme in SCHEMES {
        drains(&loaded(Case::tree(3, 2)).queues(scheme).queue_credits(8));
    }
}

#[test]
fn a_hierarchical_fabric_drains() {
    let tight = Centre {
        flits: 8,
        ..Centre::default()
    };
    drains(&loaded(Case::single(8)).hierarchical(Centre::default()));
    drains(&loaded(Case::tree(3, 2)).hierarchical(tight));
    let ring = Case {
        input: 16,
        output: 16,
        vls: 2,
        ..Case::torus(&[4, 3], 2, 1, Deadlock::Bubble)
    };
    drains(&Case { load: 1.0, ..ring }.hierarchical(tight));
}

#[test]
fn a_paused_fabric_drains() {
    drains(&loaded(Case::tree(3, 2)).pfc(16, 8));
    drains(&loaded(Case::tree(3, 2)).input_queued().islip(2).pfc(8, 0));
    let long = Case {
        links: vec![
            LinkTiming { flit: 2, delay: 60 },
            LinkTiming { flit: 3, delay: 7 },
        ],
        period: 2,
        pipeline: pipeline(1, 2, 1, 2, 3, 4),
        policy: bxi_table(),
        ..loaded(Case::tree(3, 2))
    };
    drains(&long.pfc(20, 10));
}

/// Karol, Hluchyj and Morgan 1987: about 0.59 of the links with one queue per input and packets of
/// one length, and nearly all of them with virtual output queues.
#[test]
fn an_input_queued_switch_saturates_where_it_should() {
    let base = Case {
        vls: 1,
        load: 1.0,
        flits: vec![4],
        until: 20_000,
        ..Case::single(16)
    };
    let one = throughput(&base.clone().input_queued());
    assert!((0.56..0.68).contains(&one), "{one}");
    let voq = throughput(&base.input_queued().queues(QueueScheme::VoqSwitch).islip(3));
    assert!(voq > 0.9, "{voq}");
}

#[test]
fn a_hierarchical_switch_carries_most_of_the_load() {
    let case = Case {
        vls: 1,
        load: 1.0,
        flits: vec![4],
        until: 20_000,
        ..Case::single(16)
    };
    let share = throughput(&case.hierarchical(Centre::default()));
    assert!((0.75..1.0).contains(&share), "{share}");
}

#[test]
fn pause_does_not_cost_throughput_where_buffers_are_ample() {
    let case = Case {
        load: 0.6,
        flits: vec![8],
        until: 20_000,
        ..Case::tree(4, 2)
    };
    let share = throughput(&case.pfc(200, 150));
    assert!((0.57..0.62).contains(&share), "{share}");
}
