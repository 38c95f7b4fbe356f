//! Forwarding by tables: an entry for every switch and column.
//!
//! A column is a destination switch, or, as in InfiniBand, an address of a NIC. A NIC with several addresses is reached by
//! each of them on a way of its own; which one a packet takes goes by its source.

use std::sync::Arc;

use netloom_topology::Topology;
use netloom_units::{NicId, Port, SwitchId};

use crate::forwarding::{Facts, Plan};
use crate::{Hop, Occasion};

/// The entries, in bytes where every port fits.
#[derive(Clone, Debug)]
enum Entries {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

/// What a table says for a switch and a destination switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Take this port.
    Port(Port),
    /// The packet is at its destination switch.
    Deliver,
    /// No packet for it comes here: what an entry says until it is set. A packet that comes nevertheless is a
    /// mistake of the routing, and ends the program.
    Never,
}

/// Entries above every port number: packed forms of `Deliver` and `Never`.
const DELIVER: u16 = u16::MAX;
const NEVER: u16 = u16::MAX - 1;

/// Entries we hold at most: two gigabytes or four.
const MAX_ENTRIES: usize = 1 << 31;

/// A compiled table routing, with one table or two: a packet that has come down a link uses the second.
#[derive(Clone, Debug)]
pub(crate) struct TablePlan {
    entries: Entries,
    /// Entries of a row.
    n_columns: usize,
    /// Row of the second table.
    second: usize,
    nics: Vec<Target>,
    /// Whether columns are addresses of NICs.
    by_address: bool,
    /// By port counted through the fabric, whether a packet that comes in there has come down.
    has_come_down: Option<(Arc<Topology>, Vec<bool>)>,
}

/// How a NIC is found in the tables.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// Its first column.
    column: u32,
    /// It has one column more than this, a power of two of them.
    others: u32,
    /// The port it hangs on, where its switch is reached.
    host_port: Port,
}

impl Target {
    /// The column for packets of a source.
    #[inline]
    fn column(&self, source: NicId) -> usize {
        (self.column + (source.0 & self.others)) as usize
    }
}

/// Fills forwarding tables: an [`Entry`] for every switch and column.
///
/// There is one table, or there are two: a packet that has come in by a port of a certain kind (in up*/down*, one
/// that it has come down by) is looked up in the second. Columns are the switches with NICs, see
/// [`TableBuilder::targets`], or addresses of NICs ([`TableBuilder::by_address`]).
#[derive(Debug)]
pub struct TableBuilder {
    topology: Arc<Topology>,
    targets: Vec<SwitchId>,
    nics: Vec<Target>,
    n_columns: usize,
    n_tables: usize,
    entries: Entries,
}

impl TableBuilder {
    /// Empty tables, one or two; the reason if they would be too large, or if a switch has too many ports.
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
        let target = |nic| {
            let (switch, host_port) = topology.attachment(nic);
            Target {
                column: column[switch.index()],
                others: 0,
                host_port,
            }
        };
        let nics = topology.nics().map(target).collect();
        Ok(TableBuilder {
            n_columns: targets.len(),
            entries: empty(topology, n_tables * targets.len())?,
            topology: topology.clone(),
            targets,
            nics,
            n_tables,
        })
    }

    /// One empty table with a column for each address of each NIC, those of NIC 0 first: NIC n has `2^bits[n]` of them.
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
            }
        };
        let nics: Vec<Target> = topology.nics().zip(bits).map(target).collect();
        let n_columns = n_columns as usize;
        Ok(TableBuilder {
            n_columns,
            entries: empty(topology, n_columns)?,
            topology: topology.clone(),
            targets: vec![],
            nics,
            n_tables: 1,
        })
    }

    /// The switches with NICs, in order: the columns, unless these are addresses.
    pub fn targets(&self) -> Vec<SwitchId> {
        self.targets.clone()
    }

    /// The first column of a NIC.
    pub fn column(&self, nic: NicId) -> usize {
        self.nics[nic.index()].column as usize
    }

    /// Sets what a switch does with packets for a column.
    ///
    /// # Panics
    ///
    /// If there is no such table, switch, column or port.
    pub fn set(&mut self, table: usize, at: SwitchId, column: usize, entry: Entry) {
        assert!(table < self.n_tables && column < self.n_columns);
        let row = table * self.topology.n_switches() as usize + at.index();
        let index = row * self.n_columns + column;
        let word = match entry {
            Entry::Port(port) => {
                let n_ports = self.topology.n_ports(at);
                assert!(port.0 < n_ports, "{at} has {n_ports} ports, no {port}");
                port.0
            }
            Entry::Deliver => DELIVER,
            Entry::Never => NEVER,
        };
        match &mut self.entries {
            // The packed forms keep their meaning when cut to a byte.
            Entries::Bytes(bytes) => bytes[index] = word as u8,
            Entries::Words(words) => words[index] = word,
        }
    }

    /// The finished tables. With two, `has_come_down` tells which inputs use the second, by port counted through the
    /// fabric ([`Topology::port_index`]).
    ///
    /// # Panics
    ///
    /// If it is there with one table, missing with two, or not as long as there are ports.
    pub fn finish(
        self,
        has_come_down: Option<Vec<bool>>,
        claims_no_deadlock: bool,
    ) -> crate::Forwarding {
        let n_inputs = has_come_down.as_ref().map(Vec::len);
        let expected = (self.n_tables == 2).then(|| self.topology.n_ports_in_all());
        assert_eq!(n_inputs, expected, "ports that choose between two tables");
        let needs_occasion = self.nics.iter().any(|nic| nic.others != 0);
        let plan = TablePlan {
            n_columns: self.n_columns,
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

/// Entries that say that no packet comes: so many in each row.
fn empty(topology: &Topology, in_row: usize) -> Result<Entries, String> {
    if topology.radix() >= NEVER {
        return Err(format!(
            "tables are for switches of up to {} ports",
            NEVER - 1
        ));
    }
    let size = in_row * topology.n_switches() as usize;
    if size > MAX_ENTRIES {
        return Err(format!(
            "tables of {size} entries; {MAX_ENTRIES} are the most, so large fabrics need a routing by \
             arithmetic (d-mod-k, dimension-order)"
        ));
    }
    Ok(match topology.radix() <= 254 {
        true => Entries::Bytes(vec![NEVER as u8; size]),
        false => Entries::Words(vec![NEVER; size]),
    })
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

    /// Every hop to a destination; none where the tables have no way.
    pub(crate) fn choices(&self, at: SwitchId, from: Port, to: NicId, hops: &mut Vec<Hop>) {
        let target = self.nics[to.index()];
        for other in 0..=target.others {
            let column = (target.column + other) as usize;
            let hop = self.hop(at, from, target, column);
            hops.extend(hop.filter(|hop| !hops.contains(hop)));
        }
    }

    /// Whether NICs of one switch are told apart.
    pub(crate) fn is_by_address(&self) -> bool {
        self.by_address
    }

    #[inline]
    fn hop(&self, at: SwitchId, from: Port, target: Target, column: usize) -> Option<Hop> {
        let row = match &self.has_come_down {
            Some((topology, by_port)) if by_port[topology.port_index(at, from)] => {
                self.second + at.index()
            }
            _ => at.index(),
        };
        let port = match self.read(row * self.n_columns + column) {
            Entry::Port(port) => port,
            Entry::Deliver => target.host_port,
            Entry::Never => return None,
        };
        Some(Hop { port, lane: 0 })
    }

    #[inline]
    fn read(&self, index: usize) -> Entry {
        let word = match &self.entries {
            // The two highest bytes stand for the two highest words.
            Entries::Bytes(bytes) => match bytes[index] {
                byte if byte >= NEVER as u8 => 0xFF00 | u16::from(byte),
                byte => u16::from(byte),
            },
            Entries::Words(words) => words[index],
        };
        match word {
            DELIVER => Entry::Deliver,
            NEVER => Entry::Never,
            port => Entry::Port(Port(port)),
        }
    }
}

/// One of several equally good ports, spread by destination and switch, the same in every run.
pub(crate) fn pick(candidates: &[Port], target: SwitchId, at: SwitchId) -> Port {
    // The finaliser of splitmix64.
    let mut x = (u64::from(target.0) << 32 | u64::from(at.0)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    candidates[(x % candidates.len() as u64) as usize]
}
