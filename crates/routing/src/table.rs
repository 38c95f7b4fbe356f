//! Forwarding by tables: one entry per switch and destination switch.

use std::sync::Arc;

use netloom_topology::Topology;
use netloom_units::{NicId, Port, SwitchId};

use crate::Hop;
use crate::forwarding::{Facts, Plan};

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
    /// Destination switches, that is, entries of a row.
    n_targets: usize,
    /// Row of the second table.
    second: usize,
    /// Column and host port of each NIC.
    nics: Vec<(u32, Port)>,
    /// By port counted through the fabric, whether a packet that comes in there has come down.
    has_come_down: Option<(Arc<Topology>, Vec<bool>)>,
}

/// Fills forwarding tables: an [`Entry`] for every switch and destination switch.
///
/// There is one table, or there are two: a packet that has come in by a port of a certain kind (in up*/down*, one
/// that it has come down by) is looked up in the second. Columns are the switches with NICs, see
/// [`TableBuilder::targets`].
#[derive(Debug)]
pub struct TableBuilder {
    topology: Arc<Topology>,
    targets: Vec<SwitchId>,
    n_tables: usize,
    entries: Entries,
}

impl TableBuilder {
    /// Empty tables, one or two; the reason if they would be too large, or if a switch has too many ports.
    pub fn new(topology: &Arc<Topology>, n_tables: usize) -> Result<Self, String> {
        assert!((1..=2).contains(&n_tables), "one table or two");
        if topology.radix() >= NEVER {
            return Err(format!(
                "tables are for switches of up to {} ports",
                NEVER - 1
            ));
        }
        let mut has_nic = vec![false; topology.n_switches() as usize];
        for nic in topology.nics() {
            has_nic[topology.attachment(nic).0.index()] = true;
        }
        let targets: Vec<SwitchId> = topology.switches().filter(|s| has_nic[s.index()]).collect();
        let size = n_tables * targets.len() * topology.n_switches() as usize;
        if size > MAX_ENTRIES {
            return Err(format!(
                "tables of {size} entries; {MAX_ENTRIES} are the most, so large fabrics need a routing by \
                 arithmetic (d-mod-k, dimension-order)"
            ));
        }
        let entries = match topology.radix() <= 254 {
            true => Entries::Bytes(vec![NEVER as u8; size]),
            false => Entries::Words(vec![NEVER; size]),
        };
        Ok(TableBuilder {
            topology: topology.clone(),
            targets,
            n_tables,
            entries,
        })
    }

    /// The switches with NICs, in order: the columns.
    pub fn targets(&self) -> Vec<SwitchId> {
        self.targets.clone()
    }

    /// Sets what a switch does with packets for the destination switch of a column.
    ///
    /// # Panics
    ///
    /// If there is no such table, switch, column or port.
    pub fn set(&mut self, table: usize, at: SwitchId, column: usize, entry: Entry) {
        assert!(table < self.n_tables && column < self.targets.len());
        let row = table * self.topology.n_switches() as usize + at.index();
        let index = row * self.targets.len() + column;
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
        let mut column = vec![0; self.topology.n_switches() as usize];
        for (i, target) in self.targets.iter().enumerate() {
            column[target.index()] = i as u32;
        }
        let nics = self.topology.nics().map(|nic| {
            let (switch, port) = self.topology.attachment(nic);
            (column[switch.index()], port)
        });
        let plan = TablePlan {
            n_targets: self.targets.len(),
            second: self.topology.n_switches() as usize,
            nics: nics.collect(),
            entries: self.entries,
            has_come_down: has_come_down.map(|by_port| (self.topology, by_port)),
        };
        crate::Forwarding::new(
            Plan::Table(plan),
            Facts {
                claims_no_deadlock,
                ..Facts::new(1)
            },
        )
    }
}

impl TablePlan {
    #[inline(never)]
    pub(crate) fn route(&self, at: SwitchId, from: Port, destination: NicId) -> Hop {
        let (column, host_port) = self.nics[destination.index()];
        let row = match &self.has_come_down {
            Some((topology, by_port)) if by_port[topology.port_index(at, from)] => {
                self.second + at.index()
            }
            _ => at.index(),
        };
        let index = row * self.n_targets + column as usize;
        let port = match self.read(index) {
            Entry::Port(port) => port,
            Entry::Deliver => host_port,
            Entry::Never => unreachable!("the table has no entry at {at} for {destination}"),
        };
        Hop { port, lane: 0 }
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
