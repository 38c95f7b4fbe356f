//! Faults of OpenSM 3.3 that only appear with devices with many lanes and entries.

use netloom_infiniband::emulate::{Lanes, Profile, Profiles};
use netloom_infiniband::{PortName, Subnet, VlArbitration};

use crate::subnets::two_level;
use crate::tools::{Running, Session, are_installed, wait_until};

/// 64 entries for switches: lane i mod 15, weight i in the low table and 3 i mod 256 in the high
/// table.
fn conf_of_64_entries() -> String {
    let entries = |factor: u32| {
        let entry = |i: u32| format!("{}:{}", i % 15, factor * i % 256);
        (0..64).map(entry).collect::<Vec<_>>().join(",")
    };
    format!(
        "qos TRUE\nmax_op_vls 5\nqos_swe_high_limit 200\nqos_swe_vlarb_low {}\n\
         qos_swe_vlarb_high {}\n\
         qos_swe_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n",
        entries(1),
        entries(3)
    )
}

fn caps(cap: u8) -> Profiles {
    Profiles::all(Profile {
        high_cap: cap,
        low_cap: cap,
        ..Profile::default()
    })
}

/// A port between two switches.
fn uplink(subnet: &Subnet) -> PortName {
    let leaf = subnet.nodes.iter().find(|n| n.kind.is_switch()).unwrap();
    PortName {
        node: leaf.guid,
        port: 5,
    }
}

fn weights_of_low(arbitration: &VlArbitration) -> Vec<u8> {
    arbitration.low.iter().map(|entry| entry.weight).collect()
}

fn lanes_of_low(arbitration: &VlArbitration) -> Vec<u8> {
    arbitration.low.iter().map(|entry| entry.vl.0).collect()
}

/// Returns the weights of a low table with this capacity.
fn low_weights_with_cap(cap: u8) -> Option<Vec<u8>> {
    if !are_installed() {
        return None;
    }
    let subnet = two_level(2, 2, 4);
    let session = Session::start(&subnet, &caps(cap));
    session.configure(&conf_of_64_entries(), &[]);
    let programmed = session.emulator.programmed();
    assert_eq!(programmed.lanes[&uplink(&subnet)].high_limit, Some(200));
    Some(weights_of_low(&programmed.arbitration[&uplink(&subnet)]))
}

#[test]
fn of_a_table_of_64_entries_the_second_half_is_lost() {
    let Some(weights) = low_weights_with_cap(64) else {
        return;
    };
    let expected: Vec<u8> = (0..32).chain([0; 32]).collect();
    assert_eq!(weights, expected);
}

#[test]
fn a_table_of_63_or_32_entries_is_whole() {
    for cap in [63, 32] {
        let Some(weights) = low_weights_with_cap(cap) else {
            return;
        };
        assert_eq!(weights, (0..cap).collect::<Vec<u8>>());
    }
}

#[test]
fn ports_that_came_up_with_one_lane_get_tables_of_one_lane_until_the_second_sweep() {
    if !are_installed() {
        return;
    }
    let subnet = two_level(2, 2, 4);
    let profiles = Profiles::all(Profile {
        lanes_at_start: Lanes::One,
        high_cap: 16,
        low_cap: 16,
        ..Profile::default()
    });
    let session = Session::start(&subnet, &profiles);
    let mut opensm = Running::start(session.opensm(&conf_of_64_entries(), &[]));
    wait_until("OpenSM is done", || session.log().contains("SUBNET UP"));

    let stale = session.emulator.programmed();
    assert_eq!(stale.lanes[&uplink(&subnet)].operational, Some(15));
    assert_eq!(lanes_of_low(&stale.arbitration[&uplink(&subnet)]), [0; 16]);

    opensm.signal("-HUP");
    let expected: Vec<u8> = (0..16).map(|i| i % 15).collect();
    wait_until("the second sweep has repaired the table", || {
        let programmed = session.emulator.programmed();
        lanes_of_low(&programmed.arbitration[&uplink(&subnet)]) == expected
    });
    opensm.signal("-TERM");
    assert!(opensm.wait().success());
}
