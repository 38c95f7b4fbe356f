//! Admission: a connection is accepted if every output on its way has room for it (spec 5.2.2).
//!
//! ```text
//! source ─[NIC's output]─► switch ─[output]─► switch ─[output]─► … switch ─[output]─► destination
//!              ▲                       ▲                                      ▲
//!              └───────────── one table each: all have room, or none is changed
//! ```
//!
//! The paths are those of the compiled routing, so what is planned is what is simulated. Left out: the
//! messages by which switches would agree on this, and links of different rates.

use std::fmt;
use std::sync::Arc;

use netloom_routing::{Forwarding, paths};
use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, Rate, Sl, SwitchId};

use super::slots::{N_SLS, Slots, classify, slots_for};
use super::table::{Lanes, Limit, PortTable};

/// What limits admission at a port (X004-3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mode {
    /// Slots only, as the paper has it; a table may then need more than the 64 entries there are.
    #[default]
    Paper,
    /// Slots and the 64 entries of a real table.
    StrictEntries,
}

/// A connection that asks for bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Connection {
    /// Who sends.
    pub source: NicId,
    /// Who receives; somebody else.
    pub destination: NicId,
    /// The mean bandwidth, in payload.
    pub bandwidth: Rate,
    /// The service level, 0 to 3.
    pub sl: Sl,
}

impl Connection {
    /// A connection on the service level of its bandwidth.
    pub fn new(source: NicId, destination: NicId, bandwidth: Rate) -> Connection {
        Connection {
            source,
            destination,
            bandwidth,
            sl: classify(bandwidth),
        }
    }
}

/// The name of an accepted connection; none is ever given twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u32);

/// An output with an arbitration table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Egress {
    /// The output of a NIC (G004-10).
    Nic(NicId),
    /// An output port of a switch, to another switch or to a NIC.
    Switch(SwitchId, Port),
}

impl fmt::Display for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Egress::Nic(nic) => write!(f, "{nic}"),
            Egress::Switch(switch, port) => write!(f, "{switch} {port}"),
        }
    }
}

/// Why a connection was not accepted: the first output on its way without room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The output.
    pub port: Egress,
    /// What the connection needs there.
    pub needed: Slots,
    /// What a connection of its service level could still have.
    pub free: Slots,
    /// What ran out.
    pub limit: Limit,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.limit {
            Limit::Slots => "80 % of the link is the most for connections",
            Limit::Entries => "the table has no more entries",
        };
        write!(
            f,
            "{}: {} needed, {} free; {why}",
            self.port, self.needed, self.free.0
        )
    }
}

impl std::error::Error for Refusal {}

/// What one output has given away.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PortReport {
    /// The output.
    pub port: Egress,
    /// Slots reserved by all connections.
    pub reserved: Slots,
    /// The same by service level.
    pub by_sl: [Slots; N_SLS as usize],
    /// Connections that pass here.
    pub n_connections: u32,
    /// Entries of the table in use.
    pub n_entries: usize,
    /// Whether these are more than a real table has.
    pub has_virtual_entries: bool,
}

impl PortReport {
    /// The reserved share of the link, for printing and statistics only.
    pub fn utilisation(&self) -> f64 {
        self.reserved.share()
    }
}

/// A fabric with a table at every output.
#[derive(Clone, Debug)]
pub struct Network {
    topology: Arc<Topology>,
    forwarding: Forwarding,
    link: Rate,
    mode: Mode,
    /// NICs first, then the ports of all switches counted through.
    tables: Vec<PortTable>,
    n_connections: Vec<u32>,
    /// By id; `None` once released.
    connections: Vec<Option<Connection>>,
}

impl Network {
    /// A fabric without connections, all of whose links have one rate; or why connections have no bandwidth
    /// to rely on there.
    pub fn new(
        topology: Arc<Topology>,
        forwarding: Forwarding,
        link: Rate,
        mode: Mode,
    ) -> Result<Network, String> {
        Network::with_lanes(topology, forwarding, link, mode, Lanes::default())
    }

    /// The same with a choice of lanes.
    pub fn with_lanes(
        topology: Arc<Topology>,
        forwarding: Forwarding,
        link: Rate,
        mode: Mode,
        lanes: Lanes,
    ) -> Result<Network, String> {
        if link.0 == 0 {
            return Err("the link rate is zero".into());
        }
        if topology.n_nics() < 2 {
            return Err("there are no two NICs to connect".into());
        }
        if let Some(mistake) = lanes.mistake() {
            return Err(mistake);
        }
        if !forwarding.keeps_order() {
            return Err(
                "this routing sends packets of one connection over several paths; admission needs one \
                 that draws no path per packet"
                    .into(),
            );
        }
        let n = topology.n_nics() as usize + topology.n_ports_in_all();
        Ok(Network {
            topology,
            forwarding,
            link,
            mode,
            tables: vec![PortTable::new(lanes); n],
            n_connections: vec![0; n],
            connections: vec![],
        })
    }

    /// The fabric.
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// The rate of all links.
    pub fn link(&self) -> Rate {
        self.link
    }

    /// What limits admission.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Accepts a connection at every output on its way, or changes nothing and names the first without room.
    ///
    /// # Panics
    /// If a NIC is not of this fabric, the two are the same, the service level is above 3 or the bandwidth
    /// is zero; or if the routing was compiled for another fabric.
    pub fn admit(&mut self, connection: Connection) -> Result<ConnectionId, Refusal> {
        let needed = self.check(&connection);
        let path = self.path(connection.source, connection.destination);
        for &port in &path {
            let (free, limit) = self.tables[self.index(port)].free(connection.sl, self.mode);
            if needed > free {
                return Err(Refusal {
                    port,
                    needed,
                    free,
                    limit,
                });
            }
        }
        for port in path {
            let at = self.index(port);
            self.tables[at].reserve(connection.sl, needed);
            self.n_connections[at] += 1;
        }
        let id = u32::try_from(self.connections.len()).expect("fewer than 2^32 connections");
        self.connections.push(Some(connection));
        Ok(ConnectionId(id))
    }

    /// Ends a connection and gives its slots back; `None` if there is no such connection (any more).
    pub fn release(&mut self, id: ConnectionId) -> Option<Connection> {
        let connection = self.connections.get_mut(id.0 as usize)?.take()?;
        let slots = slots_for(connection.bandwidth, self.link);
        for port in self.path(connection.source, connection.destination) {
            let at = self.index(port);
            self.tables[at].release(connection.sl, slots);
            self.n_connections[at] -= 1;
        }
        Some(connection)
    }

    /// The connections there are, in the order of acceptance.
    pub fn connections(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        let with_id = |(id, connection)| Some((ConnectionId(id), Option::as_ref(connection)?));
        (0..).zip(&self.connections).filter_map(with_id)
    }

    /// The outputs from one NIC to another, in order.
    ///
    /// # Panics
    /// If the routing does not lead there, because it was compiled for another fabric.
    pub fn path(&self, source: NicId, destination: NicId) -> Vec<Egress> {
        let steps = paths::path(&self.topology, &self.forwarding, source, destination, 0)
            .unwrap_or_else(|error| panic!("a compiled routing leads everywhere: {error}"));
        let mut path = Vec::with_capacity(steps.len() + 1);
        path.push(Egress::Nic(source));
        path.extend(
            steps
                .iter()
                .map(|step| Egress::Switch(step.switch, step.output)),
        );
        path
    }

    /// The table of an output.
    ///
    /// # Panics
    /// If the fabric has no such output.
    pub fn table(&self, port: Egress) -> &PortTable {
        &self.tables[self.index(port)]
    }

    /// All outputs with a cable: the NICs, then the ports of each switch.
    pub fn ports(&self) -> impl Iterator<Item = Egress> {
        let has_cable = |&(switch, port): &_| self.topology.peer(switch, port) != Peer::Unused;
        let of_switch = |switch| self.topology.ports(switch).map(move |port| (switch, port));
        let switches = self.topology.switches().flat_map(of_switch);
        let outputs = switches
            .filter(has_cable)
            .map(|(switch, port)| Egress::Switch(switch, port));
        self.topology.nics().map(Egress::Nic).chain(outputs)
    }

    /// What every output with a cable has given away, in the order of [`Network::ports`].
    pub fn reports(&self) -> Vec<PortReport> {
        self.ports().map(|port| self.report(port)).collect()
    }

    /// What one output has given away.
    ///
    /// # Panics
    /// If the fabric has no such output.
    pub fn report(&self, port: Egress) -> PortReport {
        let table = self.table(port);
        PortReport {
            port,
            reserved: table.reserved(),
            by_sl: table.reserved_by_sl(),
            n_connections: self.n_connections[self.index(port)],
            n_entries: table.n_entries(),
            has_virtual_entries: table.has_virtual_entries(),
        }
    }

    fn check(&self, connection: &Connection) -> Slots {
        let Connection {
            source,
            destination,
            bandwidth,
            sl,
        } = *connection;
        let n_nics = self.topology.n_nics();
        for nic in [source, destination] {
            assert!(nic.0 < n_nics, "{nic} is one of {n_nics} NICs");
        }
        assert!(source != destination, "{source} connects to somebody else");
        assert!(sl.0 < N_SLS, "{sl} is no service level of connections");
        assert!(bandwidth.0 > 0, "a connection asks for bandwidth");
        slots_for(bandwidth, self.link)
    }

    fn index(&self, port: Egress) -> usize {
        match port {
            Egress::Nic(nic) => nic.index(),
            Egress::Switch(switch, port) => {
                self.topology.n_nics() as usize + self.topology.port_index(switch, port)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_routing::{Deadlock, DimensionOrder, RandomUp, Routing, Shortest, Tie, Trunk};
    use netloom_topology::{Blueprint, FatTree, Mesh, graph};
    use proptest::prelude::*;

    use super::super::slots::RESERVABLE;
    use super::*;

    const LINK: Rate = Rate(2_500_000_000);

    /// Two switches with two NICs each.
    fn dumbbell(mode: Mode) -> Network {
        let text = "link a b\nnic n0 a\nnic n1 a\nnic n2 b\nnic n3 b";
        let topology = Arc::new(graph::parse(text).unwrap());
        let forwarding = Shortest {}.compile(&topology, 1).unwrap();
        Network::new(topology, forwarding, LINK, mode).unwrap()
    }

    fn mesh(mode: Mode) -> Network {
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
        Network::new(topology, forwarding, LINK, mode).unwrap()
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
        let limit = Limit::Slots;
        let expected = Refusal {
            port: trunk,
            needed,
            free,
            limit,
        };
        assert_eq!(refusal, expected);
        assert_eq!(
            refusal.to_string(),
            "switch 0 port 0: 1959 slots needed, 1302 free; 80 % of the link is the most for connections"
        );
        assert_eq!(network.reports(), before);
        // The way back is free, and so is this one after a release.
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
        assert_eq!(refusal.free, RESERVABLE);
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

    fn requests() -> impl Strategy<Value = Vec<(u32, u32, u64, bool)>> {
        let request = (0..12u32, 0..11u32, 1..400u64, proptest::bool::weighted(0.2));
        proptest::collection::vec(request, 1..150)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn c004_15_only_entries_of_its_lane_on_its_path_change(requests in requests(), strict: bool) {
            let mode = if strict { Mode::StrictEntries } else { Mode::Paper };
            let mut network = mesh(mode);
            for (source, other, megabits, _) in requests {
                let destination = other + u32::from(other >= source);
                let asked = connection(source, destination, megabits);
                let before = network.clone();
                let is_accepted = network.admit(asked).is_ok();
                let path = network.path(asked.source, asked.destination);
                let vl = Lanes::default().of(asked.sl);
                for port in network.ports() {
                    let (old, new) = (before.table(port), network.table(port));
                    if !is_accepted || !path.contains(&port) {
                        prop_assert_eq!(old, new);
                        continue;
                    }
                    let others = |table: &PortTable| {
                        let entries = table.entries().iter().enumerate();
                        let others = entries.filter(|(_, e)| e.is_some_and(|e| e.vl != vl));
                        others.map(|(at, e)| (at, *e)).collect::<Vec<_>>()
                    };
                    prop_assert_eq!(others(old), others(new));
                    let slots = slots_for(asked.bandwidth, LINK).0;
                    prop_assert_eq!(new.reserved().0, old.reserved().0 + slots);
                }
            }
        }

        #[test]
        fn c004_16_no_port_exceeds_its_slots(requests in requests(), strict: bool) {
            let mode = if strict { Mode::StrictEntries } else { Mode::Paper };
            let mut network = mesh(mode);
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
            // What every output gave is what the connections over it asked for.
            let mut asked = std::collections::HashMap::new();
            for (_, c) in network.connections() {
                for port in network.path(c.source, c.destination) {
                    *asked.entry(port).or_insert(0) += slots_for(c.bandwidth, LINK).0;
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
}
