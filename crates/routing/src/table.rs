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

use crate::deadlock::{Network, Verdict, of_large_tables};
use crate::entries::{EntryRows, Found, MAX_PORTS, Spread, mixed};
use crate::forwarding::{Plan, one_per_switch};
use crate::route::RouteSeeing;
use crate::{Facts, Hop, Lookup, QueueView, Route};

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
    /// The first column of the entries.
    first_column: usize,
    tiers: Tiers,
}

impl TableBuilder {
    /// Creates one or two empty tables. An error if they would be too large, or if a switch has too
    /// many ports.
    pub fn new(topology: &Arc<Topology>, n_tables: usize) -> Result<Self, String> {
        let mut tables = TableBuilder::one_column(topology, n_tables)?;
        tables.entries = empty(topology, n_tables, tables.targets.len());
        Ok(tables)
    }

    /// Does the same with memory for one column only, which [`TableBuilder::begin`] chooses.
    pub(crate) fn one_column(topology: &Arc<Topology>, n_tables: usize) -> Result<Self, String> {
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
        check_size(topology, n_tables, targets.len())?;
        Ok(TableBuilder {
            entries: empty(topology, n_tables, 1),
            first_column: 0,
            tiers: Tiers::of(topology, &targets),
            topology: topology.clone(),
            targets,
            nics,
            n_tables,
        })
    }

    /// Forgets all entries; those of one column follow.
    pub(crate) fn begin(&mut self, column: usize) {
        self.entries = empty(&self.topology, self.n_tables, 1);
        self.first_column = column;
    }

    /// Returns the hop to a NIC whose column has been set; `None` if the table has no entry.
    pub(crate) fn hop(&self, table: usize, at: SwitchId, destination: NicId) -> Option<Hop> {
        let target = self.nics[destination.index()];
        let column = target.column as usize - self.first_column;
        hop(self.entries.read(self.row(table, at), column), at, target)
    }

    /// Creates one empty table with a column for each address of each NIC, in order of the NICs.
    /// NIC n has `2^bits[n]` addresses.
    ///
    /// # Panics
    ///
    /// If there is not a number of bits below 8 for each NIC.
    pub fn by_address(topology: &Arc<Topology>, bits: &[u8]) -> Result<Self, String> {
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
        check_size(topology, 1, n_columns as usize)?;
        Ok(TableBuilder {
            entries: empty(topology, 1, n_columns as usize),
            first_column: 0,
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

    /// Returns the number of columns that the tables have when all are filled.
    pub(crate) fn n_columns(&self) -> usize {
        self.targets.len()
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
        let (row, column) = (self.row(table, at), column - self.first_column);
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
        let (row, column) = (self.row(table, at), column - self.first_column);
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

/// Returns an error if tables would be too large.
fn check_size(topology: &Topology, n_tables: usize, n_columns: usize) -> Result<(), String> {
    if topology.radix() > MAX_PORTS {
        return Err(format!(
            "routing tables support switches of at most {MAX_PORTS} ports"
        ));
    }
    let size = n_tables * topology.n_switches() as usize * n_columns;
    if size > MAX_ENTRIES {
        return Err(format!(
            "expected routing tables of at most {MAX_ENTRIES} entries, found {size}: use an \
             arithmetic routing (d-mod-k, dimension-order)"
        ));
    }
    Ok(())
}

/// Creates tables of [`Entry::Never`].
fn empty(topology: &Topology, n_tables: usize, n_columns: usize) -> EntryRows {
    let n_rows = n_tables * topology.n_switches() as usize;
    EntryRows::new(n_rows, n_columns, topology.radix())
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

/// Why tables that lead up and then down have no cycle.
pub(crate) const UP_DOWN: &str = "up*/down* ranks channels up in the order of the switches, then \
    down in that order, and no table leads up a link after one down";

/// Why tables of one link have no cycle.
const DIRECT: &str = "every packet takes at most one link between switches, so none waits \
    for another link";

/// Returns whether the switches have an order in which these ports lead on.
fn has_order(topology: &Topology, leads_on: &dyn Fn(SwitchId, Port) -> bool) -> bool {
    let onward = |at: SwitchId| {
        let neighbours = topology.neighbours(at);
        neighbours.filter_map(move |(port, other, _)| leads_on(at, port).then_some(other))
    };
    let mut n_before = vec![0u32; topology.n_switches() as usize];
    for at in topology.switches() {
        onward(at).for_each(|other| n_before[other.index()] += 1);
    }
    let is_first = |at: &SwitchId| n_before[at.index()] == 0;
    let mut open: Vec<SwitchId> = topology.switches().filter(is_first).collect();
    let mut n_ordered = 0;
    while let Some(at) = open.pop() {
        n_ordered += 1;
        for other in onward(at) {
            n_before[other.index()] -= 1;
            if n_before[other.index()] == 0 {
                open.push(other);
            }
        }
    }
    n_ordered == topology.n_switches()
}

/// An entry by its row and number. Those of one row with the same number list the same ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SharedEntry {
    pub(crate) row: usize,
    pub(crate) number: u16,
}

impl TablePlan {
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

    /// Returns whether every cable leads up in one direction, the directions up have no cycle, and
    /// the second table leads down only.
    fn never_goes_up_again(&self, topology: &Topology) -> bool {
        let Some((_, comes_down)) = &self.has_come_down else {
            return false;
        };
        let leads_down = |at: SwitchId, port: Port| match topology.peer(at, port) {
            Peer::Switch(other, there) => comes_down[topology.port_index(other, there)],
            _ => true,
        };
        let is_one_way = |at: SwitchId| {
            topology
                .ports(at)
                .all(|port| match topology.peer(at, port) {
                    Peer::Switch(..) => {
                        leads_down(at, port) != comes_down[topology.port_index(at, port)]
                    }
                    _ => !comes_down[topology.port_index(at, port)],
                })
        };
        let only_down = |at: SwitchId| {
            let ports = self.entries.ports_of_row(self.second + at.index());
            ports.into_iter().all(|port| leads_down(at, port))
        };
        topology
            .switches()
            .all(|at| is_one_way(at) && only_down(at))
            && has_order(topology, &|at, port| !leads_down(at, port))
    }

    /// Returns whether every entry of another switch leads to the switch of its destination.
    fn is_direct(&self, topology: &Topology) -> bool {
        let mut switch_of = vec![None; self.entries.n_columns()];
        for (nic, target) in topology.nics().zip(&self.nics) {
            let columns = target.column as usize..=(target.column + target.others) as usize;
            switch_of[columns].fill(Some(topology.attachment(nic).0));
        }
        let n_switches = topology.n_switches() as usize;
        let leads = |row: usize, column: usize, port: Port| {
            let at = SwitchId((row % n_switches) as u32);
            match topology.peer(at, port) {
                Peer::Switch(other, _) => switch_of[column] == Some(other),
                _ => true,
            }
        };
        (0..self.entries.n_rows()).all(|row| {
            (0..switch_of.len()).all(|column| match self.entries.read(row, column) {
                Found::Port(port) => leads(row, column, port),
                Found::Set(set) => set.ports.iter().all(|port| leads(row, column, *port)),
                Found::Deliver | Found::Never => true,
            })
        })
    }

    /// Returns the number of rows of all tables.
    pub(crate) fn n_rows(&self) -> usize {
        self.entries.n_rows()
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

    /// Always inlined, since a call would add to every hop.
    #[inline(always)]
    fn hop(&self, at: SwitchId, from: Port, target: Target, column: usize) -> Option<Hop> {
        hop(self.entries.read(self.row(at, from), column), at, target)
    }

    #[inline(never)]
    fn next_hop(&self, lookup: &Lookup) -> Hop {
        let (at, from, destination) = (lookup.at, lookup.from, lookup.destination);
        let target = self.nics[destination.index()];
        let hop = self.hop(at, from, target, target.column(lookup.occasion.source));
        hop.unwrap_or_else(|| unreachable!("the table has no entry at {at} for {destination}"))
    }
}

impl Route for TablePlan {
    #[inline(always)]
    fn route(&self, lookup: &Lookup, _: &mut u8, _: &dyn QueueView) -> Hop {
        self.next_hop(lookup)
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        let target = self.nics[lookup.destination.index()];
        for other in 0..=target.others {
            let column = (target.column + other) as usize;
            let hop = self.hop(lookup.at, lookup.from, target, column);
            hops.extend(hop.filter(|hop| !hops.contains(hop)));
        }
    }

    /// Several addresses of a NIC add few choices.
    fn has_choices(&self, _: Facts) -> bool {
        false
    }

    fn representatives(&self, topology: &Topology) -> Vec<NicId> {
        match self.by_address || self.has_sets() {
            true => topology.nics().collect(),
            false => one_per_switch(topology),
        }
    }

    fn by_structure(&self, network: Network<'_>, n_targets: u64, steps: u64) -> Option<Verdict> {
        of_large_tables(network, self, n_targets, steps)
    }

    /// Follows from the tables alone.
    fn theorem(&self, network: Network<'_>) -> Option<Verdict> {
        if self.never_goes_up_again(network.topology) {
            return Some(network.by_theorem(UP_DOWN));
        }
        self.is_direct(network.topology)
            .then(|| network.by_theorem(DIRECT))
    }
}

impl RouteSeeing for TablePlan {}

/// Returns the hop of an entry to a NIC.
#[inline]
fn hop(found: Found<'_>, at: SwitchId, target: Target) -> Option<Hop> {
    let port = match found {
        Found::Port(port) => port,
        Found::Set(set) => set.port(at, target.number),
        Found::Deliver => target.host_port,
        Found::Never => return None,
    };
    Some(Hop { port, lane: 0 })
}

/// Returns one of several equivalent ports, spread by destination and switch, the same in every
/// run.
fn pick(candidates: &[Port], target: SwitchId, at: SwitchId) -> Port {
    candidates[(mixed(target.0, at) % candidates.len() as u64) as usize]
}
