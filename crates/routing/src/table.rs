//! Forwarding by tables, with an entry for every switch and column.
//!
//! A column is a destination switch or, as in InfiniBand, an address of a NIC. A NIC with several
//! addresses is reached by a separate path for each; the source of a packet determines which one it
//! takes.
//!
//! An entry of a destination switch may be a set of equivalent ports. Each NIC of the switch always
//! takes the same one of them. Upwards in a tree it is the digit of its number for the level of the
//! switch, as in D-Mod-K; elsewhere it is a hash.

use std::cmp::Ordering;
use std::sync::Arc;

use netloom_catalog::choice;
use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::entries::{EntryRows, Found, MAX_PORTS, Spread, mixed};
use crate::forwarding::{Facts, Plan};
use crate::{Hop, Occasion};

choice! {
    /// The paths to the NICs of a switch.
    pub enum Paths {
        /// Spread over all equal paths, one for each NIC, so that the NICs of a switch share them.
        All = "all",
        /// The same path for all NICs of a switch, chosen by a hash of the two switches.
        One = "one",
    }
}

/// The entry of a switch for a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    Port(Port),
    Deliver,
    /// No packet comes here: the value of an entry that has not been set. A packet that comes here
    /// is an error of the routing and ends the program.
    Never,
}

/// Maximum number of entries: two or four gigabytes.
const MAX_ENTRIES: usize = 1 << 31;

/// A compiled table routing with one table or two. A packet that has come down a link uses the
/// second.
#[derive(Clone, Debug)]
pub(crate) struct TablePlan {
    entries: EntryRows,
    /// First row of the second table.
    second: usize,
    nics: Vec<Target>,
    /// Whether columns are addresses of NICs.
    by_address: bool,
    /// By port index of the fabric: whether a packet that comes in there has come down.
    has_come_down: Option<(Arc<Topology>, Vec<bool>)>,
}

/// The columns and port of a NIC.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// First column.
    column: u32,
    /// Number of columns minus one; the number is a power of two.
    others: u32,
    /// The NIC's port on its switch.
    host_port: Port,
    /// Distinguishes the NICs of a switch. In a fat tree with netloom's numbering, the number of
    /// the NIC.
    number: u32,
}

impl Target {
    /// Returns the column for packets from a source.
    #[inline]
    fn column(&self, source: NicId) -> usize {
        (self.column + (source.0 & self.others)) as usize
    }
}

/// Builds forwarding tables: an [`Entry`] for every switch and column.
///
/// There are one or two tables. With two, a packet that came in by certain ports is looked up in
/// the second; in up*/down*, these are the ports by which it came down. Columns are the switches
/// with NICs, see [`TableBuilder::targets`], or addresses of NICs ([`TableBuilder::by_address`]).
#[derive(Debug)]
pub struct TableBuilder {
    topology: Arc<Topology>,
    targets: Vec<SwitchId>,
    nics: Vec<Target>,
    n_tables: usize,
    entries: EntryRows,
    tiers: Tiers,
}

impl TableBuilder {
    /// Creates one or two empty tables. An error if they would be too large, or if a switch has too
    /// many ports.
    pub fn new(topology: &Arc<Topology>, n_tables: usize) -> Result<Self, String> {
        assert!((1..=2).contains(&n_tables), "one table or two");
        let mut has_nic = vec![false; topology.n_switches() as usize];
        for nic in topology.nics() {
            has_nic[topology.attachment(nic).0.index()] = true;
        }
        let targets: Vec<SwitchId> = topology.switches().filter(|s| has_nic[s.index()]).collect();
        let mut column = vec![0; topology.n_switches() as usize];
        for (i, target) in targets.iter().enumerate() {
            column[target.index()] = i as u32;
        }
        let mut n_hosts = vec![0u32; targets.len()];
        let mut nics = Vec::with_capacity(topology.n_nics() as usize);
        for nic in topology.nics() {
            let (switch, host_port) = topology.attachment(nic);
            let column = column[switch.index()];
            let n_hosts = &mut n_hosts[column as usize];
            nics.push(Target {
                column,
                others: 0,
                host_port,
                number: *n_hosts,
            });
            *n_hosts += 1;
        }
        let most = n_hosts.iter().max().copied().unwrap_or(1);
        for nic in &mut nics {
            nic.number = nic.column.wrapping_mul(most).wrapping_add(nic.number);
        }
        Ok(TableBuilder {
            entries: empty(topology, n_tables, targets.len())?,
            tiers: Tiers::of(topology, &targets),
            topology: topology.clone(),
            targets,
            nics,
            n_tables,
        })
    }

    /// Creates one empty table with a column for each address of each NIC, in order of the NICs.
    /// NIC n has `2^bits[n]` addresses.
    ///
    /// # Panics
    ///
    /// If there is not a number of bits below 8 for each NIC.
    pub(crate) fn by_address(topology: &Arc<Topology>, bits: &[u8]) -> Result<Self, String> {
        assert_eq!(bits.len(), topology.n_nics() as usize, "bits for each NIC");
        let mut n_columns = 0u32;
        let target = |(nic, bits): (NicId, &u8)| {
            assert!(*bits < 8, "at most 128 addresses of a port");
            let column = n_columns;
            n_columns += 1 << bits;
            Target {
                column,
                others: (1 << bits) - 1,
                host_port: topology.attachment(nic).1,
                number: nic.0,
            }
        };
        let nics: Vec<Target> = topology.nics().zip(bits).map(target).collect();
        Ok(TableBuilder {
            entries: empty(topology, 1, n_columns as usize)?,
            tiers: Tiers::of(topology, &[]),
            topology: topology.clone(),
            targets: vec![],
            nics,
            n_tables: 1,
        })
    }

    /// Returns the switches with NICs, in order. They are the columns, unless columns are
    /// addresses.
    pub fn targets(&self) -> Vec<SwitchId> {
        self.targets.clone()
    }

    /// Returns the first column of a NIC.
    pub fn column(&self, nic: NicId) -> usize {
        self.nics[nic.index()].column as usize
    }

    /// Sets the entry of a switch for a column.
    ///
    /// # Panics
    ///
    /// If there is no such table, switch, column or port.
    pub fn set(&mut self, table: usize, at: SwitchId, column: usize, entry: Entry) {
        let row = self.row(table, at);
        match entry {
            Entry::Port(port) => {
                self.check_port(at, port);
                self.entries.set_port(row, column, port);
            }
            Entry::Deliver => self.entries.set_deliver(row, column),
            Entry::Never => self.entries.set_never(row, column),
        }
    }

    /// Sets the ports, at least one, by which a switch sends packets for a column. Each NIC of the
    /// destination switch takes one of them.
    ///
    /// # Panics
    ///
    /// If there is no such table, switch, column or port.
    pub(crate) fn set_ports(&mut self, table: usize, at: SwitchId, column: usize, ports: &[Port]) {
        let row = self.row(table, at);
        for port in ports {
            self.check_port(at, *port);
        }
        let spread = self.tiers.spread(&self.topology, at, ports);
        let ports = self.one_cable_of_each_first(at, ports);
        self.entries.set_ports(row, column, &ports, spread);
    }

    /// Orders the ports as one cable to each switch, then the second cable to each, like the up
    /// ports of a [`Pgft`](netloom_topology::Pgft). So hosts share parallel cables down as evenly
    /// as up.
    fn one_cable_of_each_first(&self, at: SwitchId, ports: &[Port]) -> Vec<Port> {
        let first = self.topology.port_index(at, Port(0));
        let mut ports = ports.to_vec();
        ports.sort_by_key(|port| self.tiers.nth_cable[first + port.index()]);
        ports
    }

    /// Sets all of these ports, or the one that the NICs of the destination switch share.
    pub(crate) fn set_paths(
        &mut self,
        paths: Paths,
        table: usize,
        at: SwitchId,
        column: usize,
        ports: &[Port],
    ) {
        match paths {
            Paths::All => self.set_ports(table, at, column, ports),
            Paths::One => {
                let port = pick(ports, self.targets[column], at);
                self.set(table, at, column, Entry::Port(port));
            }
        }
    }

    fn row(&self, table: usize, at: SwitchId) -> usize {
        assert!(table < self.n_tables);
        table * self.topology.n_switches() as usize + at.index()
    }

    fn check_port(&self, at: SwitchId, port: Port) {
        let n_ports = self.topology.n_ports(at);
        assert!(port.0 < n_ports, "{at} has {n_ports} ports, no {port}");
    }

    /// Finishes the tables. With two, `has_come_down` tells which inputs use the second, by port
    /// index of the fabric ([`Topology::port_index`]).
    ///
    /// # Panics
    ///
    /// If it is given with one table, missing with two, or not as long as the number of ports.
    pub fn finish(
        mut self,
        has_come_down: Option<Vec<bool>>,
        claims_no_deadlock: bool,
    ) -> crate::Forwarding {
        let n_inputs = has_come_down.as_ref().map(Vec::len);
        let expected = (self.n_tables == 2).then(|| self.topology.n_ports_in_all());
        assert_eq!(n_inputs, expected, "ports that choose between two tables");
        let needs_occasion = self.nics.iter().any(|nic| nic.others != 0);
        self.entries.finish();
        let plan = TablePlan {
            second: self.topology.n_switches() as usize,
            by_address: self.targets.is_empty(),
            nics: self.nics,
            entries: self.entries,
            has_come_down: has_come_down.map(|by_port| (self.topology, by_port)),
        };
        crate::Forwarding::new(
            Plan::Table(plan),
            Facts {
                claims_no_deadlock,
                needs_occasion,
                ..Facts::new(1)
            },
        )
    }
}

/// Creates tables of [`Entry::Never`].
fn empty(topology: &Topology, n_tables: usize, n_columns: usize) -> Result<EntryRows, String> {
    if topology.radix() > MAX_PORTS {
        return Err(format!(
            "routing tables support switches of at most {MAX_PORTS} ports"
        ));
    }
    let n_rows = n_tables * topology.n_switches() as usize;
    let size = n_rows * n_columns;
    if size > MAX_ENTRIES {
        return Err(format!(
            "expected routing tables of at most {MAX_ENTRIES} entries, found {size}: use an \
             arithmetic routing (d-mod-k, dimension-order)"
        ));
    }
    Ok(EntryRows::new(n_rows, n_columns, topology.radix()))
}

/// Distances of switches from those with NICs. In a fat tree these are the levels.
#[derive(Debug)]
struct Tiers {
    of: Vec<u32>,
    /// By tier, the product of the maximum number of parents of a switch of each lower tier. In a
    /// fat tree, the switches of the level that share their NICs.
    siblings: Vec<u32>,
    /// By port index, the number of lower ports of its switch that lead to the same switch.
    nth_cable: Vec<u16>,
}

impl Tiers {
    /// Returns the tiers above switches with NICs.
    fn of(topology: &Topology, targets: &[SwitchId]) -> Tiers {
        let mut of = vec![u32::MAX; topology.n_switches() as usize];
        let mut queue = targets.to_vec();
        for target in targets {
            of[target.index()] = 0;
        }
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            for (_, other, _) in topology.neighbours(at) {
                if of[other.index()] == u32::MAX {
                    of[other.index()] = of[at.index()] + 1;
                    queue.push(other);
                }
            }
        }
        // The queue is in order of tiers, so its last switch has the highest.
        let highest = queue.last().map_or(0, |at| of[at.index()]);
        let mut most_parents = vec![1; highest as usize + 1];
        for at in queue {
            let tier = of[at.index()];
            let neighbours = topology.neighbours(at).map(|(_, other, _)| other);
            let mut parents: Vec<SwitchId> = neighbours
                .filter(|other| of[other.index()] > tier)
                .collect();
            parents.sort_unstable();
            parents.dedup();
            let most = &mut most_parents[tier as usize];
            *most = parents.len().max(*most);
        }
        let mut siblings = vec![1u32];
        for most in most_parents {
            let below = siblings[siblings.len() - 1];
            siblings.push(below.saturating_mul(most as u32));
        }
        let mut nth_cable = vec![0; topology.n_ports_in_all()];
        for at in topology.switches() {
            let neighbours = topology
                .neighbours(at)
                .map(|(port, other, _)| (other, port));
            let mut neighbours: Vec<(SwitchId, Port)> = neighbours.collect();
            neighbours.sort_unstable();
            for cables in neighbours.chunk_by(|a, b| a.0 == b.0) {
                for (nth, (_, port)) in (0..).zip(cables) {
                    nth_cable[topology.port_index(at, *port)] = nth;
                }
            }
        }
        Tiers {
            of,
            siblings,
            nth_cable,
        }
    }

    /// Returns the rule by which destinations take one of these ports.
    fn spread(&self, topology: &Topology, at: SwitchId, ports: &[Port]) -> Spread {
        let tier = self.of[at.index()];
        let leads = |port: &Port| match topology.peer(at, *port) {
            Peer::Switch(other, _) => self.of[other.index()].cmp(&tier),
            _ => Ordering::Equal,
        };
        let lead_all = |way| ports.iter().all(|port| leads(port) == way);
        match self.siblings.get(tier as usize) {
            // Parallel cables to a child are chosen by what is left of the digit of the child,
            // which is the same quotient.
            Some(&siblings) if lead_all(Ordering::Greater) || lead_all(Ordering::Less) => {
                Spread::Digit(siblings)
            }
            _ => Spread::Hash,
        }
    }
}

/// An entry by its row and number. Those of one row with the same number list the same ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SharedEntry {
    pub(crate) row: usize,
    pub(crate) number: u16,
}

impl TablePlan {
    #[inline(never)]
    pub(crate) fn route(
        &self,
        at: SwitchId,
        from: Port,
        destination: NicId,
        occasion: Occasion,
    ) -> Hop {
        let target = self.nics[destination.index()];
        let hop = self.hop(at, from, target, target.column(occasion.source));
        hop.unwrap_or_else(|| unreachable!("the table has no entry at {at} for {destination}"))
    }

    /// Adds every hop to a destination; none if the tables have no path.
    pub(crate) fn choices(&self, at: SwitchId, from: Port, to: NicId, hops: &mut Vec<Hop>) {
        let target = self.nics[to.index()];
        for other in 0..=target.others {
            let column = (target.column + other) as usize;
            let hop = self.hop(at, from, target, column);
            hops.extend(hop.filter(|hop| !hops.contains(hop)));
        }
    }

    /// Adds every hop to any NIC of the switch of a destination from another switch.
    pub(crate) fn choices_of_switch(&self, entry: SharedEntry, to: NicId, hops: &mut Vec<Hop>) {
        let column = self.nics[to.index()].column as usize;
        let ports = match self.entries.read(entry.row, column) {
            Found::Set(set) => set.ports,
            Found::Port(port) => &[port],
            Found::Deliver | Found::Never => &[],
        };
        hops.extend(ports.iter().map(|&port| Hop { port, lane: 0 }));
    }

    /// Returns the entry that all NICs of the switch of a destination share.
    pub(crate) fn shared_entry(&self, at: SwitchId, from: Port, to: NicId) -> SharedEntry {
        let row = self.row(at, from);
        let number = self
            .entries
            .number(row, self.nics[to.index()].column as usize);
        SharedEntry { row, number }
    }

    /// Returns the number of rows of all tables.
    pub(crate) fn n_rows(&self) -> usize {
        self.entries.n_rows()
    }

    /// Whether NICs of one switch have separate columns.
    pub(crate) fn tells_nics_apart(&self) -> bool {
        self.by_address || self.entries.has_sets()
    }

    /// Whether the NICs of a switch share equivalent ports.
    pub(crate) fn has_sets(&self) -> bool {
        self.entries.has_sets()
    }

    #[inline]
    fn row(&self, at: SwitchId, from: Port) -> usize {
        match &self.has_come_down {
            Some((topology, by_port)) if by_port[topology.port_index(at, from)] => {
                self.second + at.index()
            }
            _ => at.index(),
        }
    }

    #[inline]
    fn hop(&self, at: SwitchId, from: Port, target: Target, column: usize) -> Option<Hop> {
        let port = match self.entries.read(self.row(at, from), column) {
            Found::Port(port) => port,
            Found::Set(set) => set.port(at, target.number),
            Found::Deliver => target.host_port,
            Found::Never => return None,
        };
        Some(Hop { port, lane: 0 })
    }
}

/// Returns one of several equivalent ports, spread by destination and switch, the same in every
/// run.
fn pick(candidates: &[Port], target: SwitchId, at: SwitchId) -> Port {
    candidates[(mixed(target.0, at) % candidates.len() as u64) as usize]
}
