//! Random datagrams and packets: the emulator does not panic, and ports stay in a valid state.
//!
//! `NETLOOM_DRAWS=1000000 cargo test -p netloom-infiniband nonsense` runs more cases than CI does.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::{Cable, Guid, Node, NodeId, NodeKind, Subnet, SubnetPort};

use super::datagram::{
    CONTROL_BYTES, CONTROL_DATA, DATA_BYTES, MAGIC, control, data, set_word, word, word_of,
};
use super::exchange::Exchange;
use super::fabric::Fabric;
use super::forwarding::NO_OUTPUT;
use super::port_info::{self, state};
use super::profile::{Lanes, Profile, Profiles};
use super::switch_info::{self, N_LINEAR};
use super::{mad, programmed};

fn draws() -> u32 {
    let wanted = std::env::var("NETLOOM_DRAWS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(25_000)
}

/// Two switches, one with an enhanced port 0, two cables between them, and two hosts at each.
fn subnet() -> Subnet {
    let node = |kind: NodeKind, guid: u64, n_ports: usize| Node {
        kind,
        guid: Guid(guid),
        system_guid: None,
        device: None,
        description: format!("node {guid}"),
        ports: vec![SubnetPort::default(); n_ports + 1],
    };
    let switch = |enhanced_port_0| NodeKind::Switch { enhanced_port_0 };
    let mut nodes: Vec<Node> = (0..4)
        .map(|i| node(NodeKind::ChannelAdapter, 16 * i, 2))
        .collect();
    nodes.push(node(switch(false), 1000, 4));
    nodes.push(node(switch(true), 1001, 5));
    let cables = [
        ((0, 1), (4, 1)),
        ((1, 2), (4, 2)),
        ((2, 1), (5, 1)),
        ((3, 1), (5, 2)),
        ((4, 3), (5, 3)),
        ((4, 4), (5, 4)),
    ];
    for (a, b) in cables {
        for (here, there) in [(a, b), (b, a)] {
            nodes[here.0 as usize].ports[here.1].cable = Some(Cable {
                node: NodeId(there.0),
                port: there.1 as u8,
                width: None,
                speed: None,
            });
        }
    }
    for (lid, node) in (1..).zip(&mut nodes) {
        let own = match node.kind.is_switch() {
            true => Some(&mut node.ports[0]),
            false => node.ports.iter_mut().find(|port| port.cable.is_some()),
        };
        own.expect("every node has a cable").lid = Some(crate::Lid(lid));
    }
    Subnet { nodes }
}

/// The outputs of addresses 0 to 6 at the two switches.
const ROUTES: [[u8; 7]; 2] = [[NO_OUTPUT, 1, 2, 3, 4, 0, 3], [NO_OUTPUT, 3, 4, 1, 2, 4, 0]];

/// Cases after which the nodes are reset; most of their links are down by then.
const ONE_LIFE: u32 = 128;

/// Returns the nodes of [`subnet`], with addresses and routes.
pub(super) fn fabric() -> Fabric {
    let profile = Profile {
        lanes: Lanes::Eight,
        lanes_at_start: Lanes::Two,
        high_cap: 20,
        low_cap: 40,
        ..Profile::default()
    };
    let profiles = Profiles {
        switch: profile,
        ..Profiles::default()
    };
    let mut fabric = Fabric::new(&subnet(), &profiles).expect("a subnet that can be emulated");
    let switches = fabric.devices.iter_mut().filter_map(|d| d.switch.as_mut());
    for (switch, routes) in switches.zip(ROUTES) {
        switch.linear = routes.to_vec();
        switch_info::LINEAR_TOP.set(&mut switch.info, 6);
    }
    fabric
}

/// Fills bytes from a seed. Many are 0, as in real packets.
fn fill(bytes: &mut [u8], mut seed: u64) {
    let is_sparse = seed.is_multiple_of(2);
    for byte in bytes {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let value = (seed >> 56) as u8;
        *byte = if is_sparse && value >= 32 { 0 } else { value };
    }
}

/// Draws one of a few valid values, or any value.
fn few_or_any(few: &'static [u32]) -> impl Strategy<Value = u32> {
    prop_oneof![9 => prop::sample::select(few), 1 => any::<u32>()]
}

/// Draws a control datagram: length, magic, client, type, data.
fn control_datagram() -> impl Strategy<Value = Vec<u8>> {
    let parts = (
        few_or_any(&[MAGIC]),
        few_or_any(&[0, 1, 2, 3]),
        few_or_any(&[1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        any::<u64>(),
        prop::bool::weighted(0.1),
        prop_oneof![19 => Just(CONTROL_BYTES), 1 => 0..CONTROL_BYTES + 2],
    );
    parts.prop_map(|(magic, client, kind, seed, has_name, length)| {
        let mut bytes = vec![0; CONTROL_BYTES + 2];
        fill(&mut bytes[CONTROL_DATA], seed);
        if !has_name {
            bytes[CONTROL_DATA][12..44].fill(0);
        }
        set_word(&mut bytes, control::MAGIC, magic);
        set_word(&mut bytes, control::CLIENT, client);
        set_word(&mut bytes, control::TYPE, kind);
        bytes.truncate(length);
        bytes
    })
}

/// Draws a data datagram and its sender.
fn data_datagram() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let address = (
        few_or_any(&[0, 0, 0, 0xffff, 0xffff, 1, 2, 3, 4, 5, 6]),
        any::<u64>(),
        0..4_u16,
    );
    let header = (
        few_or_any(&[0x0101, 0x0101, 0x0181, 0x0181, 0x0181, 0x0203]),
        few_or_any(&[1, 1, 2, 2, 2, 5, 7, 0x81, 0x12]),
        few_or_any(&[
            0x10, 0x11, 0x12, 0x14, 0x15, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1b, 0x20, 0x30, 0xff90,
        ]),
    );
    let modifier = prop_oneof![
        3 => 0..6_u32,
        1 => (0..6_u32, 0..6_u32).prop_map(|(a, b)| a << 16 | b),
        1 => (0..6_u32, 0..6_u32).prop_map(|(a, b)| a << 8 | b),
        1 => (0..6_u32, 0..6_u32).prop_map(|(a, b)| a << 28 | b),
        1 => any::<u32>(),
    ];
    let path = (
        prop_oneof![9 => 0..5_u8, 1 => any::<u8>()],
        any::<[u8; 4]>(),
    );
    let length = prop_oneof![49 => Just(DATA_BYTES), 1 => 0..DATA_BYTES + 2];
    let parts = (address, header, modifier, path, length);
    parts.prop_map(
        |((lid, seed, from), (class, method, attribute), modifier, (n_hops, path), length)| {
            let mut bytes = vec![0; DATA_BYTES + 2];
            fill(&mut bytes, seed);
            set_word(&mut bytes, data::TO_LID, word_of(lid as u16));
            let packet = &mut bytes[data::MAD..];
            for (field, value) in [
                (mad::BASE_VERSION, 1),
                (mad::CLASS, u64::from(class & 0xff)),
                (mad::CLASS_VERSION, u64::from(class >> 8)),
                (mad::METHOD, u64::from(method)),
                (mad::ATTRIBUTE, u64::from(attribute)),
                (mad::MODIFIER, u64::from(modifier)),
                (mad::HOP_COUNT, u64::from(n_hops)),
            ] {
                field.set(packet, value);
            }
            for (at, port) in path.into_iter().enumerate() {
                let few = if port < 0xf0 { port % 6 } else { port };
                packet[mad::INITIAL_PATH.start + 1 + at] = few;
            }
            bytes.truncate(length);
            (from, bytes)
        },
    )
}

/// Checks invariants of every port.
fn check_laws(exchange: &Exchange) -> Result<(), TestCaseError> {
    let devices = &exchange.fabric.devices;
    for device in devices {
        for port in &device.ports {
            let value = |field: super::field::Field| field.get(&port.info);
            prop_assert!(
                (1..=value(port_info::VL_CAP)).contains(&value(port_info::OPERATIONAL_VLS))
            );
            prop_assert!((1..=value(port_info::MTU_CAP)).contains(&value(port_info::NEIGHBOR_MTU)));
            prop_assert!((state::DOWN..=state::ACTIVE).contains(&value(port_info::STATE)));
            prop_assert!(value(port_info::LID) <= u64::from(crate::Lid::LAST_UNICAST.0));
            let is_down = value(port_info::STATE) == state::DOWN;
            if let Some(peer) = port.peer {
                let there = &devices[peer.device as usize].ports[usize::from(peer.port)];
                let is_down_there = port_info::STATE.get(&there.info) == state::DOWN;
                prop_assert_eq!(
                    is_down,
                    is_down_there,
                    "a link is up at both ends or at none"
                );
            }
            let low_cap = 2 * value(port_info::VL_ARBITRATION_LOW_CAP) as usize;
            prop_assert!(port.low[low_cap..].iter().all(|byte| *byte == 0));
        }
        let n_linear = device
            .switch
            .as_ref()
            .map_or(0, |switch| switch.linear.len());
        prop_assert!(n_linear <= N_LINEAR);
    }
    Ok(())
}

/// Processes a control and a data datagram.
fn one(
    exchange: &mut Exchange,
    control: &mut [u8],
    from: u16,
    sent: &mut [u8],
) -> Result<(), TestCaseError> {
    exchange.control(control);
    // Few clients, so that most packets have a sender.
    while exchange.n_clients() > 4 {
        let known = exchange.known_client(from);
        exchange.detach(known);
    }
    let before = sent.to_vec();
    let to = exchange.data(from, sent);
    if let Some(to) = to {
        prop_assert!(exchange.is_attached(to));
        let packet = |bytes: &[u8]| mad::TRANSACTION.get(&bytes[data::MAD..]);
        prop_assert_eq!(
            packet(&before),
            packet(sent),
            "a transaction keeps its number"
        );
        prop_assert_eq!(before.len(), sent.len());
    }
    check_laws(exchange)
}

#[test]
fn nonsense_breaks_nothing() {
    let config = ProptestConfig {
        cases: draws(),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let at_work = RefCell::new((Exchange::new(fabric()), 0_u32));
    let outcome = TestRunner::new(config).run(
        &(control_datagram(), data_datagram()),
        |(mut control, (from, mut sent))| {
            let (exchange, count) = &mut *at_work.borrow_mut();
            *count += 1;
            if count.is_multiple_of(ONE_LIFE) {
                programmed::programmed(&exchange.fabric);
                exchange.fabric = fabric();
            }
            if control.len() >= CONTROL_DATA.start && word(&control, control::CLIENT) < 4 {
                let some = word(&control, control::CLIENT) as u16;
                let known = exchange.known_client(some);
                set_word(&mut control, control::CLIENT, known.into());
            }
            let known = exchange.known_client(from);
            one(exchange, &mut control, known, &mut sent)
        },
    );
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    // The draws reach every agent, not only the checks before them.
    let (exchange, _) = at_work.into_inner();
    let counters = &exchange.counters;
    assert!(counters.answered.len() >= 18, "{counters:?}");
    assert!(counters.forwarded > 0 && counters.unreachable > 0 && counters.malformed > 0);
    let n_good = counters.n_answered() - counters.refused;
    assert!(n_good > u64::from(draws()) / 50, "{counters:?}");
}
