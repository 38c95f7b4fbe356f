//! Outputs with separate policies.

mod support;
mod twin;

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_arbitration::{IbTwoTable, NO_LIMIT, Policy, VlArbitrationTable};
use netloom_fabric::{Options, Row};
use netloom_topology::Egress;
use netloom_topology::Peer;
use netloom_traffic::Pairs;
use netloom_units::{NicId, Port, SwitchId};
use support::{Case, two_tables};
use twin::Twin;

fn weights(low: &[(u8, u8)]) -> Arc<dyn Policy> {
    Arc::new(IbTwoTable {
        high: VlArbitrationTable::default(),
        low: VlArbitrationTable::from_pairs(low).unwrap(),
        limit: NO_LIMIT,
    })
}

/// Every output of a tree with another table.
fn all_different() -> Case {
    let case = Case {
        flits: vec![1, 8, 32],
        load: 0.8,
        policy: two_tables(4, 1),
        ..Case::tree(4, 2)
    };
    let topology = case.plan().topology;
    let mut own = BTreeMap::new();
    for switch in topology.switches() {
        for port in topology.ports(switch) {
            let w = |vl: u32| (1 + (7 * switch.0 + 3 * u32::from(port.0) + 11 * vl) % 40) as u8;
            let table: Vec<(u8, u8)> = (0..4).map(|vl| (vl as u8, w(vl))).collect();
            if topology.peer(switch, port) != Peer::Unused && port.0 % 3 != 0 {
                own.insert(Egress::Switch(switch, port), weights(&table));
            }
        }
    }
    for nic in topology.nics().filter(|nic| nic.0 % 2 == 0) {
        let w = |vl: u32| (1 + (5 * nic.0 + 13 * vl) % 50) as u8;
        let table: Vec<(u8, u8)> = (0..4).map(|vl| (vl as u8, w(vl))).collect();
        own.insert(Egress::Nic(nic), weights(&table));
    }
    Case {
        own_policies: own,
        ..case
    }
}

#[test]
fn every_output_has_its_own_table_as_in_the_twin() {
    let case = all_different();
    let plan = case.plan();
    let mut slow = Twin::new(&plan);
    slow.run_until(case.until);
    let reference = case.simulate(Options::default()).counters();
    assert!(reference.delivered > 500);
    assert_eq!(reference.digest, slow.digest);
    for (partitions, threads, is_reference) in [(1, 1, true), (2, 1, false), (5, 2, true)] {
        let run = Case {
            partitions,
            ..case.clone()
        };
        let options = Options {
            threads,
            reference: is_reference,
            ..Options::default()
        };
        assert_eq!(run.simulate(options).counters().digest, reference.digest);
    }
    let usual = Case {
        own_policies: BTreeMap::new(),
        ..case
    };
    assert_ne!(
        usual.simulate(Options::default()).counters().digest,
        reference.digest
    );
}

#[test]
fn a_backlogged_port_gives_the_shares_of_its_own_table() {
    // Two NICs flood a third on two lanes; all tables except the one at its port are reversed.
    let case = Case {
        vls: 2,
        flits: vec![8],
        load: 1.0,
        speedup: (2, 1),
        pattern: Arc::new(Pairs {
            pairs: vec![(0, 2), (1, 2)],
        }),
        policy: weights(&[(0, 8), (1, 24)]),
        until: 20_000,
        ..Case::single(3)
    };
    let shares = |case: &Case| {
        let mut run = case.simulate(Options::default());
        let mut rows = vec![Row::default(); 2];
        run.take_rows(&mut rows);
        rows[0].delivered_flits as f64 / (rows[0].delivered_flits + rows[1].delivered_flits) as f64
    };
    assert!((shares(&case) - 0.25).abs() < 0.01, "{}", shares(&case));
    let port = Egress::Switch(SwitchId(0), Port(2));
    assert_eq!(
        case.plan().topology.attachment(NicId(2)),
        (SwitchId(0), Port(2))
    );
    let own = Case {
        own_policies: BTreeMap::from([(port, weights(&[(0, 24), (1, 8)]))]),
        ..case
    };
    assert!((shares(&own) - 0.75).abs() < 0.01, "{}", shares(&own));
}
