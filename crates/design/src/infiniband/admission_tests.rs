//! Admission on small fabrics with results by hand, and its laws on a mesh with links of any rates.

use netloom_routing::{Deadlock, DimensionOrder, Paths, RandomUp, Routing, Shortest, Tie, Trunk};
use netloom_topology::{Blueprint, FatTree, Mesh, graph};
use netloom_units::{Bytes, SwitchId, Vl};
use proptest::prelude::*;

use super::super::slots::FRAME;
use super::*;
use crate::qos::wait::{IbTables, PacketSizes, Wait, ib_wait};

const LINK: Rate = Rate(2_500_000_000);

/// Two switches with two NICs each.
fn dumbbell(mode: Mode) -> Network {
    dumbbell_with(Settings {
        mode,
        ..Settings::default()
    })
}

fn dumbbell_with(settings: Settings) -> Network {
    let text = "link a b\nnic n0 a\nnic n1 a\nnic n2 b\nnic n3 b";
    let topology = Arc::new(graph::parse(text).unwrap());
    let forwarding = Shortest { paths: Paths::One }
        .compile(&topology, 1)
        .unwrap();
    let rates = vec![LINK; topology.link_classes().len()];
    Network::with_rates(topology, forwarding, rates, settings).unwrap()
}

/// Host links have the first rate; the dimensions use the others in turn.
fn mesh_with(rates: &[Rate], settings: Settings) -> Network {
    let mesh = Mesh {
        sides: vec![3, 2],
        hosts: 2,
        trunk: 1,
    };
    let topology = Arc::new(mesh.build(1).unwrap());
    let routing = DimensionOrder {
        deadlock: Deadlock::Nothing,
        tie: Tie::Positive,
        trunk: Trunk::Flow,
    };
    let forwarding = routing.compile(&topology, 1).unwrap();
    let n = topology.link_classes().len();
    let rates = rates.iter().copied().cycle().take(n).collect();
    Network::with_rates(topology, forwarding, rates, settings).unwrap()
}

fn connection(source: u32, destination: u32, megabits: u64) -> Connection {
    let bandwidth = Rate(megabits * 1_000_000);
    Connection::new(NicId(source), NicId(destination), bandwidth)
}

#[test]
fn slots_are_reserved_at_every_output_on_the_way() {
    let mut network = dumbbell(Mode::Paper);
    network.admit(connection(0, 3, 300)).unwrap();
    let path = network.path(NicId(0), NicId(3));
    assert_eq!(path.len(), 3);
    assert_eq!(path[0], Egress::Nic(NicId(0)));
    assert!(matches!(path[1], Egress::Switch(SwitchId(0), _)));
    assert!(matches!(path[2], Egress::Switch(SwitchId(1), _)));
    let reports = network.reports();
    // Four NICs, and three ports of each switch.
    assert_eq!(reports.len(), 10);
    for report in reports {
        let on_path = path.contains(&report.port);
        let (slots, n) = if on_path { (1959, 1) } else { (0, 0) };
        assert_eq!((report.reserved, report.n_connections), (Slots(slots), n));
        assert_eq!(report.by_sl[3], Slots(slots));
        assert!(!report.has_virtual_entries);
    }
}

/// Half of every link is for best effort: four connections of 1959 slots fit on the cable between
/// the switches, six do not.
#[test]
fn what_best_effort_keeps_is_a_setting() {
    let settings = Settings {
        best_effort: Slots::of_frame(0.5),
        ..Settings::default()
    };
    let mut network = dumbbell_with(settings);
    let trunk = network.path(NicId(0), NicId(2))[1];
    let best_effort: u64 = {
        let entries = network.table(trunk).entries().iter().flatten();
        let own = entries.filter(|entry| entry.vl == settings.lanes.best_effort);
        own.map(|entry| u64::from(entry.weight)).sum()
    };
    assert_eq!(
        best_effort,
        FRAME.0 / 2,
        "the table has the slots of best effort"
    );
    for (from, to) in [(0, 2), (1, 3), (0, 3), (1, 2)] {
        network.admit(connection(from, to, 300)).unwrap();
    }
    let refusal = network.admit(connection(0, 2, 300)).unwrap_err();
    assert_eq!(refusal.free, Slots(FRAME.0 / 2 - 4 * 1959));
    let message = refusal.to_string();
    assert!(
        message.ends_with("connections get at most 50 % of the link"),
        "{message}"
    );
}

#[test]
fn a_refusal_names_the_first_full_output_and_changes_nothing() {
    let mut network = dumbbell(Mode::Paper);
    // Six times 1959 slots on the cable between the switches, from two NICs to two NICs.
    let ids = [(0, 2), (1, 3), (0, 3), (1, 2), (0, 2), (1, 3)]
        .map(|(from, to)| network.admit(connection(from, to, 300)).unwrap());
    let before = network.reports();
    let refusal = network.admit(connection(0, 2, 300)).unwrap_err();
    let trunk = network.path(NicId(0), NicId(2))[1];
    let (needed, free) = (Slots(1959), Slots(13_056 - 6 * 1959));
    let reservable = Slots(13_056);
    let limit = Limit::Slots { reservable };
    let expected = Refusal {
        port: trunk,
        needed,
        free,
        limit,
    };
    assert_eq!(refusal, expected);
    assert_eq!(
        refusal.to_string(),
        "switch 0 port 0: 1959 slots needed, 1302 free; connections get at most 80 % of the link"
    );
    assert_eq!(network.reports(), before);
    // The reverse direction is free, and so is this one after a release.
    assert!(network.admit(connection(2, 0, 300)).is_ok());
    assert_eq!(network.release(ids[3]), Some(connection(1, 2, 300)));
    assert_eq!(network.release(ids[3]), None);
    assert!(network.admit(connection(0, 2, 300)).is_ok());
    assert_eq!(network.connections().count(), 7);
}

#[test]
fn more_than_a_link_is_refused() {
    let mut network = dumbbell(Mode::Paper);
    let refusal = network.admit(connection(0, 1, 1_000_000_000)).unwrap_err();
    assert_eq!(refusal.port, Egress::Nic(NicId(0)));
    assert_eq!(refusal.free, Slots(13_056));
}

#[test]
fn strict_entries_refuse_what_no_table_holds() {
    // 13,056 slots are 2 Gbit/s.
    let two_gigabits = connection(0, 1, 2_000);
    let mut paper = dumbbell(Mode::Paper);
    paper.admit(two_gigabits).unwrap();
    assert!(paper.report(Egress::Nic(NicId(0))).has_virtual_entries);
    let refusal = dumbbell(Mode::StrictEntries)
        .admit(two_gigabits)
        .unwrap_err();
    assert_eq!(
        (refusal.free, refusal.limit),
        (Slots(12_750), Limit::Entries)
    );
}

#[test]
fn one_path_per_connection_or_no_guarantee() {
    let tree = FatTree {
        arity: 2,
        levels: 2,
    };
    let topology = Arc::new(tree.build(1).unwrap());
    let forwarding = RandomUp { to_root: false }.compile(&topology, 1).unwrap();
    let error = Network::new(topology, forwarding, LINK, Mode::Paper).unwrap_err();
    assert!(error.contains("several paths"), "{error}");
}

#[test]
fn v004_4_and_5_slots_are_those_of_each_link() {
    // Hosts at 1x, dimensions of the mesh at 4x and 12x.
    let rates = [2_500_000_000, 10_000_000_000, 30_000_000_000].map(Rate);
    let mut network = mesh_with(&rates, Settings::default());
    network.admit(connection(0, 11, 300)).unwrap();
    let path = network.path(NicId(0), NicId(11));
    let slots: Vec<u64> = path
        .iter()
        .map(|&port| network.report(port).reserved.0)
        .collect();
    assert_eq!(slots, [1959, 490, 490, 164, 1959]);
    let rates: Vec<u64> = path
        .iter()
        .map(|&port| network.rate(port).0 / 1_000_000)
        .collect();
    assert_eq!(rates, [2_500, 10_000, 10_000, 30_000, 2_500]);
    // A host link offers 2 Gbit/s in all, which is little on the other links.
    let refusal = network.admit(connection(0, 11, 1_900)).unwrap_err();
    assert_eq!(refusal.port, Egress::Nic(NicId(0)));
    assert_eq!(refusal.needed, Slots(12_404));
}

/// `micros` is the deadline in microseconds of a connection of `megabits` per second.
fn urgent(source: u32, destination: u32, megabits: u64, micros: u64) -> Connection {
    Connection {
        deadline: Some(Time::from_nanos(1000 * micros)),
        ..connection(source, destination, megabits)
    }
}

#[test]
fn a_deadline_is_kept_at_every_output_or_refused_by_the_first_that_cannot() {
    let mut network = dumbbell(Mode::Paper);
    // Alone: its own packet of 4096 bytes ahead (or one of the low table) and 256 of management,
    // which take 13.9264 us at every output.
    let wait = Time::from_nanos(13_926) + "0.4 ns".parse().unwrap();
    let refusal = network.admit(urgent(0, 2, 100, 41)).unwrap_err();
    let budget = super::budget(Time::from_nanos(41_000), 3);
    let late = Late {
        vl: Vl(7),
        wait,
        budget,
    };
    assert_eq!(refusal.limit, Limit::Deadline(Box::new(late)));
    assert_eq!(refusal.port, Egress::Nic(NicId(0)));
    assert_eq!(
        refusal.to_string(),
        "nic 0: VL7 would wait up to 13926.4 ns, but its part of a deadline is 13666.7 ns"
    );
    assert!(network.reports().iter().all(|r| r.reserved == Slots(0)));
    network.admit(urgent(0, 2, 100, 42)).unwrap();
    let path = network.path(NicId(0), NicId(2));
    for port in path {
        assert_eq!(network.wait(port, Sl(3)), Some(wait));
        let tables = network.table(port).tables().unwrap();
        assert_eq!(tables.high.vls(), 1 << 7);
        assert_eq!(tables.low.vls() & 1 << 7, 0);
    }
}

#[test]
fn an_accepted_deadline_is_never_broken_by_a_later_connection() {
    let mut network = dumbbell(Mode::Paper);
    network.admit(urgent(0, 2, 100, 42)).unwrap();
    let before = network.reports();
    // Another lane of the high table that is not late itself would come in between at the trunk.
    let refusal = network.admit(urgent(1, 3, 1, 1_000_000)).unwrap_err();
    assert!(matches!(refusal.port, Egress::Switch(SwitchId(0), _)));
    assert!(matches!(&refusal.limit, Limit::Deadline(late) if late.vl == Vl(7)));
    assert_eq!(network.reports(), before);
    // The same lane does not disturb, nor does the low table.
    network.admit(urgent(1, 3, 100, 1_000_000)).unwrap();
    network.admit(connection(1, 3, 1_000)).unwrap();
}

#[test]
fn spread_entries_admit_shorter_deadlines() {
    let admit = |placement| {
        let settings = Settings {
            placement,
            ..Settings::default()
        };
        let mut network = mesh_with(&[LINK], settings);
        for (sl, megabits) in [
            (3, 100),
            (2, 60),
            (3, 200),
            (2, 60),
            (3, 400),
            (2, 60),
            (2, 60),
        ] {
            let asked = urgent(0, 11, megabits, 100_000);
            network
                .admit(Connection {
                    sl: Sl(sl),
                    ..asked
                })
                .unwrap();
        }
        network.wait(Egress::Nic(NicId(0)), Sl(3)).unwrap()
    };
    let (first_free, spread) = (admit(Placement::FirstFree), admit(Placement::Spread));
    assert!(spread < first_free, "{spread} against {first_free}");
}

#[test]
fn slots_that_shorten_the_waits_of_others_are_held_until_those_leave() {
    let settings = Settings {
        placement: Placement::Spread,
        ..Settings::default()
    };
    let mut network = mesh_with(&[LINK], settings);
    let port = Egress::Nic(NicId(0));
    // Lane 7 with two entries half a table apart, and lane 6 with one on either side.
    let large = network.admit(urgent(0, 1, 78, 100_000)).unwrap();
    let other = Connection {
        sl: Sl(2),
        ..urgent(0, 1, 78, 100_000)
    };
    network.admit(other).unwrap();
    let wait = network.wait(port, Sl(3)).unwrap();
    let tight = Connection {
        sl: Sl(3),
        deadline: Some(wait * 2),
        ..urgent(0, 1, 1, 1)
    };
    let tight = network.admit(tight).unwrap();
    network.release(large).unwrap();
    assert_eq!(network.wait(port, Sl(3)), Some(wait));
    // One entry is full, and one has the last slot.
    let report = network.report(port);
    assert_eq!(report.with_deadline[3], Slots(256));
    assert_eq!(report.held, Slots(256 - 7));
    network.release(tight).unwrap();
    assert_eq!(network.report(port).with_deadline[3], Slots(0));
    assert_eq!(network.report(port).held, Slots(0));
}

fn requests() -> impl Strategy<Value = Vec<(u32, u32, u64, bool)>> {
    let request = (0..12u32, 0..11u32, 1..400u64, proptest::bool::weighted(0.2));
    proptest::collection::vec(request, 1..150)
}

/// Rates of host links and of the dimensions, from 1x to 12x, and odd ones between.
fn rates() -> impl Strategy<Value = Vec<Rate>> {
    let rate = prop_oneof![
        Just(2_500_000_000u64),
        Just(10_000_000_000),
        Just(30_000_000_000),
        1_000_000_000u64..20_000_000_000,
    ];
    proptest::collection::vec(rate.prop_map(Rate), 3)
}

/// Returns the rate of an output from the mesh, without [`Network::rate`].
fn rate_of(network: &Network, rates: &[Rate], port: Egress) -> Rate {
    let Egress::Switch(switch, port) = port else {
        return rates[0];
    };
    match network.topology().peer(switch, port) {
        // Switches are numbered row by row of three: the next column, or the next row.
        Peer::Switch(other, _) if switch.0.abs_diff(other.0) == 1 => rates[1],
        Peer::Switch(..) => rates[2],
        _ => rates[0],
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let modes = prop_oneof![Just(Mode::Paper), Just(Mode::StrictEntries)];
    let placements = prop_oneof![Just(Placement::FirstFree), Just(Placement::Spread)];
    let limits = prop_oneof![Just(255u8), Just(0), 1u8..255];
    let packets = prop_oneof![Just(256u64), Just(4096)];
    (modes, placements, limits, packets).prop_map(|(mode, placement, limit, largest)| Settings {
        mode,
        placement,
        packets: Packets {
            largest: Bytes(largest),
            limit,
            ..Packets::default()
        },
        ..Settings::default()
    })
}

/// Checks that every accepted connection waits within its budget, by the tables as written to the
/// ports and not by the state of admission.
fn keeps_deadlines(network: &Network, rates: &[Rate]) -> Result<(), TestCaseError> {
    let packets = network.settings().packets;
    for (_, c) in network.connections() {
        let Some(deadline) = c.deadline else { continue };
        let path = network.path(c.source, c.destination);
        for &port in &path {
            // By the tables as written to the port, if they can be.
            let Ok(tables) = network.table(port).tables() else {
                continue;
            };
            let tables = IbTables {
                high: &tables.high,
                low: &tables.low,
                limit: packets.limit,
            };
            let sizes = PacketSizes {
                largest: [packets.largest; 16],
                smallest: [Bytes(0); 16],
                management: packets.management,
            };
            let vl = Lanes::default().deadlines[c.sl.index()];
            let Wait::AtMost(bound) = ib_wait(tables, &sizes, vl) else {
                return Err(TestCaseError::fail("a deadline without a bound"));
            };
            let wait = bound.time(rate_of(network, rates, port));
            prop_assert!(wait * path.len() as u64 <= deadline, "{c:?} at {port}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Large connections between two neighbours, so lanes have several entries, with deadlines that
    /// need them; sometimes a connection leaves whose entries others need.
    #[test]
    fn no_wait_outgrows_its_budget_when_others_leave(
        requests in proptest::collection::vec(
            (0..N_SLS, 1..90u64, proptest::bool::weighted(0.2), proptest::bool::weighted(0.3)),
            1..60,
        ),
        settings in settings(),
    ) {
        let rates = [LINK; 3];
        let mut network = mesh_with(&rates, settings);
        let mut ids = vec![];
        for (sl, megabits, is_tight, leaves) in requests {
            if leaves && !ids.is_empty() {
                network.release(ids.swap_remove(megabits as usize % ids.len()));
            } else {
                let mut asked = Connection { sl: Sl(sl), ..urgent(0, 1, megabits, 1_000_000) };
                let mut trial = network.clone();
                if trial.admit(asked).is_ok() {
                    let wait = trial.wait(Egress::Nic(NicId(0)), Sl(sl)).unwrap();
                    if is_tight {
                        asked.deadline = Some(wait * 2);
                    }
                    ids.push(network.admit(asked).unwrap());
                }
            }
            keeps_deadlines(&network, &rates)?;
        }
        for id in ids {
            network.release(id);
            keeps_deadlines(&network, &rates)?;
        }
        for report in network.reports() {
            prop_assert_eq!((report.reserved, report.held), (Slots(0), Slots(0)));
        }
    }

    #[test]
    fn no_accepted_connection_ever_waits_longer_than_its_budget(
        requests in proptest::collection::vec(
            (0..12u32, 0..11u32, 1..400u64, 0..5u32, 0..8u32, proptest::bool::weighted(0.3)), 1..80,
        ),
        rates in rates(), settings in settings(),
    ) {
        let mut network = mesh_with(&rates, settings);
        let mut ids = vec![];
        for (source, other, megabits, sl, tightness, leaves) in requests {
            let destination = other + u32::from(other >= source);
            if leaves && !ids.is_empty() {
                let id = ids.swap_remove(megabits as usize % ids.len());
                prop_assert!(network.release(id).is_some());
            } else {
                // From 16 us, hardly one packet, to 2 ms, or none.
                let micros = (tightness > 0).then_some(8_000 << tightness);
                let mut asked = connection(source, destination, megabits);
                asked.deadline = micros.map(Time::from_nanos);
                asked.sl = if sl < 4 { Sl(sl as u8) } else { asked.sl };
                let before = network.clone();
                match network.admit(asked) {
                    Ok(id) => ids.push(id),
                    Err(_) => for port in network.ports() {
                        let (old, new) = (before.index(port), network.index(port));
                        prop_assert_eq!(&before.outputs[old], &network.outputs[new]);
                    },
                }
            }
            keeps_deadlines(&network, &rates)?;
            for report in network.reports() {
                prop_assert!(report.reserved.0 <= 13_056);
                prop_assert!(report.n_high_entries <= 64);
            }
        }
        for id in ids {
            network.release(id);
        }
        for report in network.reports() {
            prop_assert_eq!((report.reserved, report.held), (Slots(0), Slots(0)));
            prop_assert_eq!((report.n_entries, report.n_high_entries), (14, 0));
        }
    }

    #[test]
    fn c004_15_only_entries_of_its_lane_on_its_path_change(
        requests in requests(), rates in rates(), settings in settings(),
    ) {
        let mut network = mesh_with(&rates, settings);
        for (source, other, megabits, is_urgent) in requests {
            let destination = other + u32::from(other >= source);
            let deadline = is_urgent.then_some(Time::from_nanos(1_000_000));
            let asked = Connection { deadline, ..connection(source, destination, megabits) };
            let before = network.clone();
            let is_accepted = network.admit(asked).is_ok();
            let path = network.path(asked.source, asked.destination);
            let vl = Lanes::default().of(asked.class());
            for port in network.ports() {
                let (old, new) = (before.table(port), network.table(port));
                if !is_accepted || !path.contains(&port) {
                    prop_assert_eq!(old, new);
                    continue;
                }
                let others = |table: &PortTable| {
                    let low = table.entries().iter().enumerate();
                    let high = table.high_entries().iter().enumerate();
                    let entries = low.chain(high);
                    let others = entries.filter(|(_, e)| e.is_some_and(|e| e.vl != vl));
                    others.map(|(at, e)| (at, *e)).collect::<Vec<_>>()
                };
                prop_assert_eq!(others(old), others(new));
                let slots = slots_for(asked.bandwidth, rate_of(&network, &rates, port)).0;
                prop_assert_eq!(new.reserved().0, old.reserved().0 + slots);
            }
        }
    }

    #[test]
    fn c004_16_no_port_exceeds_its_slots(
        requests in requests(), rates in rates(), settings in settings(),
    ) {
        let strict = settings.mode == Mode::StrictEntries;
        let mut network = mesh_with(&rates, settings);
        let mut ids = vec![];
        for (source, other, megabits, leaves) in requests {
            let destination = other + u32::from(other >= source);
            if leaves && !ids.is_empty() {
                let id = ids.swap_remove(megabits as usize % ids.len());
                prop_assert!(network.release(id).is_some());
            } else if let Ok(id) = network.admit(connection(source, destination, megabits)) {
                ids.push(id);
            }
            for report in network.reports() {
                prop_assert!(report.reserved.0 <= 13_056, "{}", report.port);
                prop_assert!(!strict || report.n_entries <= 64, "{}", report.port);
            }
        }
        // The reservations of every output are the requests of the connections over it.
        let mut asked = std::collections::HashMap::new();
        for (_, c) in network.connections() {
            for port in network.path(c.source, c.destination) {
                let rate = rate_of(&network, &rates, port);
                *asked.entry(port).or_insert(0) += slots_for(c.bandwidth, rate).0;
            }
        }
        for report in network.reports() {
            prop_assert_eq!(report.reserved.0, asked.get(&report.port).copied().unwrap_or(0));
        }
        for id in ids {
            network.release(id);
        }
        prop_assert!(network.reports().iter().all(|r| r.n_entries == 14));
    }
}
