//! Admission: a connection is accepted if every output on its path has enough free slots.
//!
//! ```text
//! source ─[NIC's output]─► switch ─[output]─► switch ─[output]─► … switch ─[output]─► destination
//!              ▲                       ▲                                      ▲
//!              └───────────── one table each: all have free slots, or none is changed
//! ```
//!
//! The paths are those of the compiled routing, so plan and simulation use the same paths. Every
//! output counts slots of its own link's rate, so a connection needs fewer slots on a faster link.
//!
//! A connection with a deadline has a second condition: at every output on its path, the lanes of
//! all connections with deadlines must wait no longer than their budgets allow. A release preserves
//! this condition. If the entries of the leaving connection shorten the waits of others on its
//! lane, the slots that those need are *held* until they leave too.
//!
//! The messages by which switches would agree on this are not modelled. Waits are those of the head
//! of a queue. The time that packets of one lane queue behind each other depends on whether their
//! sources keep to their bandwidth. Connections without a deadline keep their bandwidth as long as
//! those with one keep to theirs. Those with a deadline keep it as long as LimitOfHighPriority
//! leaves it to them ([`Packets::surely_high`]).

use std::fmt;
use std::sync::Arc;

use netloom_routing::{Forwarding, paths};
use netloom_topology::{Egress, Peer, Topology};
use netloom_units::{NicId, Rate, Sl, Time};

use super::entries::Placement;
use super::slots::{BEST_EFFORT, N_SLS, Slots, classify, slots_for};
use super::table::{Class, Lanes, Limit, PortTable};
use super::waits::{Budgets, Late, Packets, budget, longest_wait};

/// What limits admission at a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mode {
    /// Slots only, as in the paper; a table may then need more than its 64 entries.
    #[default]
    Paper,
    /// Slots and the 64 entries of a real table.
    StrictEntries,
}

/// The admission settings of a fabric.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    pub mode: Mode,
    pub lanes: Lanes,
    /// The position of new entries.
    pub placement: Placement,
    /// The values that determine the waits of connections with a deadline.
    pub packets: Packets,
    /// The slots that best effort keeps at every port.
    pub best_effort: Slots,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            mode: Mode::default(),
            lanes: Lanes::default(),
            placement: Placement::default(),
            packets: Packets::default(),
            best_effort: BEST_EFFORT,
        }
    }
}

/// A request for bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Connection {
    pub source: NicId,
    /// The receiver; differs from the source.
    pub destination: NicId,
    /// The mean bandwidth, in payload.
    pub bandwidth: Rate,
    /// The service level, 0 to 3.
    pub sl: Sl,
    /// The longest wait of its packets at all outputs of the path together.
    pub deadline: Option<Time>,
}

impl Connection {
    /// Returns a connection on the service level of its bandwidth, without a deadline.
    pub fn new(source: NicId, destination: NicId, bandwidth: Rate) -> Connection {
        Connection {
            source,
            destination,
            bandwidth,
            sl: classify(bandwidth),
            deadline: None,
        }
    }

    /// Returns the class of its guarantees.
    pub fn class(&self) -> Class {
        Class {
            sl: self.sl,
            has_deadline: self.deadline.is_some(),
        }
    }
}

/// The id of an accepted connection; ids are never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u32);

/// Why a connection was refused: the first output on its path without enough free slots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub port: Egress,
    /// Slots that the connection needs there.
    pub needed: Slots,
    /// Slots that a connection of its class could still have.
    pub free: Slots,
    /// The resource that ran out.
    pub limit: Limit,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal {
            port, needed, free, ..
        } = self;
        match &self.limit {
            Limit::Slots { reservable } => write!(
                f,
                "{port}: {needed} needed, {} free; connections get at most {} % of the link",
                free.0,
                (1000.0 * reservable.share()).round() / 10.0
            ),
            Limit::Entries => write!(
                f,
                "{port}: {needed} needed, {} free; the table has no free entries",
                free.0
            ),
            Limit::Deadline(late) => write!(
                f,
                "{port}: {} would wait up to {:.1} ns, but its part of a deadline is {:.1} ns",
                late.vl,
                late.wait.as_nanos(),
                late.budget.as_nanos()
            ),
        }
    }
}

impl std::error::Error for Refusal {}

/// The reservations of one output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PortReport {
    pub port: Egress,
    /// The rate of its link.
    pub rate: Rate,
    /// Slots reserved by all connections.
    pub reserved: Slots,
    /// Of these, slots of connections that have left, held for others with deadlines.
    pub held: Slots,
    /// Slots of connections without a deadline, by service level.
    pub by_sl: [Slots; N_SLS as usize],
    /// Slots of connections with a deadline, by service level.
    pub with_deadline: [Slots; N_SLS as usize],
    /// The number of connections through this output.
    pub n_connections: u32,
    /// Used entries of the low table.
    pub n_entries: usize,
    /// Used entries of the high table.
    pub n_high_entries: usize,
    /// Whether the low table is longer than a real one.
    pub has_virtual_entries: bool,
}

impl PortReport {
    /// Returns the reserved share of the link, for printing and statistics only.
    pub fn utilisation(&self) -> f64 {
        self.reserved.share()
    }
}

/// One output with its reservations.
#[derive(Clone, PartialEq, Debug)]
struct Output {
    table: PortTable,
    n_connections: u32,
    budgets: Budgets,
    /// Slots of connections that have left, by service level; they are still in the high table.
    held: [Slots; N_SLS as usize],
}

impl Output {
    /// Returns the lane that would be late with a new connection; its budget is `None` without a
    /// deadline.
    fn late_with(
        &self,
        (class, slots, budget): (Class, Slots, Option<Time>),
        packets: &Packets,
        rate: Rate,
    ) -> Option<Late> {
        if budget.is_none() && self.budgets.is_empty() {
            return None;
        }
        let (mut table, mut budgets) = (self.table.clone(), self.budgets.clone());
        table.reserve(class, slots);
        if let Some(budget) = budget {
            budgets.add(class.sl, budget);
        }
        budgets.late(&table, packets, rate)
    }

    /// Releases slots with a deadline, as many as the waits of the remaining connections allow.
    ///
    /// Fewer slots mean fewer entries of the lane, so longer waits for it and shorter ones for the
    /// others. So the releasable slots are all numbers up to some limit.
    fn release_with_deadline(&mut self, sl: Sl, slots: Slots, packets: &Packets, rate: Rate) {
        let class = Class {
            sl,
            has_deadline: true,
        };
        let without = |slots: u64| {
            let mut table = self.table.clone();
            table.release(class, Slots(slots));
            table
        };
        let is_good = |slots: u64| {
            let is_gone = without(slots).reserved_with_deadline()[sl.index()].0 == 0;
            let stay = self.budgets.tightest(sl).is_some();
            !(is_gone && stay) && self.budgets.late(&without(slots), packets, rate).is_none()
        };
        let wanted = slots.0 + self.held[sl.index()].0;
        let (mut good, mut bad) = (0, wanted + 1);
        if is_good(wanted) {
            good = wanted;
        } else {
            while bad - good > 1 {
                let middle = good + (bad - good) / 2;
                if is_good(middle) {
                    good = middle;
                } else {
                    bad = middle;
                }
            }
        }
        self.table = without(good);
        self.held[sl.index()] = Slots(wanted - good);
    }
}

/// A fabric with a table at every output.
#[derive(Clone, Debug)]
pub struct Network {
    topology: Arc<Topology>,
    forwarding: Forwarding,
    /// Rates by class of links.
    rates: Vec<Rate>,
    settings: Settings,
    /// NICs first, then the ports of all switches in order.
    outputs: Vec<Output>,
    /// By id; `None` once released.
    connections: Vec<Option<Connection>>,
}

impl Network {
    /// Returns a fabric without connections, whose links all have one rate. Returns an error if
    /// connections cannot rely on bandwidth there.
    pub fn new(
        topology: Arc<Topology>,
        forwarding: Forwarding,
        link: Rate,
        mode: Mode,
    ) -> Result<Network, String> {
        let rates = vec![link; topology.link_classes().len()];
        let settings = Settings {
            mode,
            ..Settings::default()
        };
        Network::with_rates(topology, forwarding, rates, settings)
    }

    /// Returns the same with a rate for every class of links, in the order of
    /// [`Topology::link_classes`], and with admission settings.
    ///
    /// # Panics
    /// If the number of rates differs from the number of classes of links.
    pub fn with_rates(
        topology: Arc<Topology>,
        forwarding: Forwarding,
        rates: Vec<Rate>,
        settings: Settings,
    ) -> Result<Network, String> {
        let n_classes = topology.link_classes().len();
        assert_eq!(rates.len(), n_classes, "one rate for every class of links");
        if rates.contains(&Rate(0)) {
            return Err("the link rate is zero".into());
        }
        if topology.n_nics() < 2 {
            return Err("the fabric has fewer than two NICs".into());
        }
        if let Some(mistake) = settings.lanes.mistake() {
            return Err(mistake);
        }
        if !forwarding.keeps_order() {
            return Err(
                "this routing sends packets of one connection over several paths; use a routing \
                 that does not draw a path per packet"
                    .into(),
            );
        }
        let n = topology.n_nics() as usize + topology.n_ports_in_all();
        let output = Output {
            table: PortTable::with_reserve(
                settings.lanes,
                settings.placement,
                settings.best_effort,
            ),
            n_connections: 0,
            budgets: Budgets::default(),
            held: Default::default(),
        };
        Ok(Network {
            topology,
            forwarding,
            rates,
            settings,
            outputs: vec![output; n],
            connections: vec![],
        })
    }

    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// Returns the admission settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the rate of the link at an output.
    ///
    /// # Panics
    /// If the fabric has no such output.
    pub fn rate(&self, port: Egress) -> Rate {
        let (switch, port) = match port {
            Egress::Nic(nic) => self.topology.attachment(nic),
            Egress::Switch(switch, port) => (switch, port),
        };
        self.rates[usize::from(self.topology.link_class(switch, port))]
    }

    /// Returns the slots that a bandwidth needs at an output.
    ///
    /// # Panics
    /// If the fabric has no such output.
    pub fn slots(&self, port: Egress, bandwidth: Rate) -> Slots {
        slots_for(bandwidth, self.rate(port))
    }

    /// Returns the longest wait of connections of a service level with a deadline at an output;
    /// `None` if there are none.
    ///
    /// # Panics
    /// If the fabric has no such output.
    pub fn wait(&self, port: Egress, sl: Sl) -> Option<Time> {
        let bound = longest_wait(self.table(port), &self.settings.packets, sl)?;
        Some(bound.time(self.rate(port)))
    }

    /// Accepts a connection at every output on its path. Otherwise changes nothing and returns the
    /// first output without enough free slots.
    ///
    /// # Panics
    /// If a NIC is not in this fabric, the two NICs are the same, the service level is above 3, the
    /// bandwidth is zero, or the routing was compiled for another fabric.
    pub fn admit(&mut self, connection: Connection) -> Result<ConnectionId, Refusal> {
        self.check(&connection);
        let (class, bandwidth) = (connection.class(), connection.bandwidth);
        let path = self.path(connection.source, connection.destination);
        let budget = connection.deadline.map(|time| budget(time, path.len()));
        for &port in &path {
            let output = &self.outputs[self.index(port)];
            let rate = self.rate(port);
            let needed = slots_for(bandwidth, rate);
            let (free, limit) = output.table.free(class, self.settings.mode);
            let refused = |limit| Refusal {
                port,
                needed,
                free,
                limit,
            };
            if needed > free {
                return Err(refused(limit));
            }
            let asked = (class, needed, budget);
            if let Some(late) = output.late_with(asked, &self.settings.packets, rate) {
                return Err(refused(Limit::Deadline(Box::new(late))));
            }
        }
        for port in path {
            let (at, needed) = (self.index(port), self.slots(port, bandwidth));
            let output = &mut self.outputs[at];
            output.table.reserve(class, needed);
            output.n_connections += 1;
            if let Some(budget) = budget {
                output.budgets.add(class.sl, budget);
            }
        }
        let id = u32::try_from(self.connections.len()).expect("fewer than 2^32 connections");
        self.connections.push(Some(connection));
        Ok(ConnectionId(id))
    }

    /// Ends a connection and releases its slots, except those that the waits of others need.
    /// Returns `None` if there is no such connection.
    pub fn release(&mut self, id: ConnectionId) -> Option<Connection> {
        let connection = self.connections.get_mut(id.0 as usize)?.take()?;
        let path = self.path(connection.source, connection.destination);
        let budget = connection.deadline.map(|time| budget(time, path.len()));
        for port in path {
            let (at, rate) = (self.index(port), self.rate(port));
            let slots = slots_for(connection.bandwidth, rate);
            let output = &mut self.outputs[at];
            output.n_connections -= 1;
            match budget {
                None => output.table.release(connection.sl, slots),
                Some(budget) => {
                    output.budgets.remove(connection.sl, budget);
                    let packets = &self.settings.packets;
                    output.release_with_deadline(connection.sl, slots, packets, rate);
                }
            }
        }
        Some(connection)
    }

    /// Returns the current connections, in the order of acceptance.
    pub fn connections(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        let with_id = |(id, connection)| Some((ConnectionId(id), Option::as_ref(connection)?));
        (0..).zip(&self.connections).filter_map(with_id)
    }

    /// Returns the outputs from one NIC to another, in order.
    ///
    /// # Panics
    /// If the routing has no path, because it was compiled for another fabric.
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

    /// Returns the table of an output.
    ///
    /// # Panics
    /// If the fabric has no such output.
    pub fn table(&self, port: Egress) -> &PortTable {
        &self.outputs[self.index(port)].table
    }

    /// Returns all outputs with a cable: the NICs, then the ports of each switch.
    pub fn ports(&self) -> impl Iterator<Item = Egress> {
        let has_cable = |&(switch, port): &_| self.topology.peer(switch, port) != Peer::Unused;
        let of_switch = |switch| self.topology.ports(switch).map(move |port| (switch, port));
        let switches = self.topology.switches().flat_map(of_switch);
        let outputs = switches
            .filter(has_cable)
            .map(|(switch, port)| Egress::Switch(switch, port));
        self.topology.nics().map(Egress::Nic).chain(outputs)
    }

    /// Returns the reservations of every output with a cable, in the order of [`Network::ports`].
    pub fn reports(&self) -> Vec<PortReport> {
        self.ports().map(|port| self.report(port)).collect()
    }

    /// Returns the reservations of one output.
    ///
    /// # Panics
    /// If the fabric has no such output.
    pub fn report(&self, port: Egress) -> PortReport {
        let Output {
            table,
            n_connections,
            held,
            ..
        } = &self.outputs[self.index(port)];
        PortReport {
            port,
            rate: self.rate(port),
            reserved: table.reserved(),
            held: Slots(held.iter().map(|slots| slots.0).sum()),
            by_sl: table.reserved_by_sl(),
            with_deadline: table.reserved_with_deadline(),
            n_connections: *n_connections,
            n_entries: table.n_entries(),
            n_high_entries: table.n_high_entries(),
            has_virtual_entries: table.has_virtual_entries(),
        }
    }

    fn check(&self, connection: &Connection) {
        let Connection {
            source,
            destination,
            bandwidth,
            sl,
            ..
        } = *connection;
        let n_nics = self.topology.n_nics();
        for nic in [source, destination] {
            assert!(nic.0 < n_nics, "{nic} is one of {n_nics} NICs");
        }
        assert!(source != destination, "{source} connects to another NIC");
        assert!(sl.0 < N_SLS, "{sl} is not a service level of connections");
        assert!(bandwidth.0 > 0, "a connection needs bandwidth");
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
#[path = "admission_tests.rs"]
mod tests;
