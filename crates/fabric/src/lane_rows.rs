//! Lanes by channel that hold for single ports only: the SL2VL maps of real devices.
//!
//! A switch of InfiniBand has a row for every pair of an input and an output, and a host one of its own. Few rows differ, so
//! each is kept once and the pairs have its number.

use netloom_packet::N_SCS;
use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, Sc, SwitchId};

/// The lane of each channel. [`DROPPED`] where packets of a channel go no further.
pub type LaneRow = [u8; N_SCS];

/// What a row has for a channel that does not leave by a port.
pub const DROPPED: u8 = 15;

/// Rows of pairs of ports and of NICs that have their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneRows {
    /// The rows that differ; the first is that of all that have none of their own.
    rows: Vec<LaneRow>,
    /// Ports of each switch.
    n_ports: Vec<u16>,
    /// By switch: the number of the row of each pair of its ports, inputs first; nothing where no pair has its own.
    pairs: Vec<Box<[u16]>>,
    nics: Vec<u16>,
}

impl LaneRows {
    /// The same row everywhere.
    pub fn new(topology: &Topology, usual: LaneRow) -> Self {
        LaneRows {
            rows: vec![usual],
            n_ports: topology.switches().map(|at| topology.n_ports(at)).collect(),
            pairs: vec![Box::default(); topology.n_switches() as usize],
            nics: vec![0; topology.n_nics() as usize],
        }
    }

    /// The number of a row, which is kept if it is a new one.
    ///
    /// # Panics
    /// If there are more than 65,536 rows that differ.
    fn number(&mut self, row: LaneRow) -> u16 {
        // What was set last is often set again.
        let known = self.rows.iter().rposition(|own| *own == row);
        let at = known.unwrap_or_else(|| {
            self.rows.push(row);
            self.rows.len() - 1
        });
        u16::try_from(at).expect("at most 65,536 rows that differ")
    }

    /// The place of a pair among those of its switch.
    #[inline]
    fn pair(&self, switch: SwitchId, input: Port, output: Port) -> usize {
        input.index() * usize::from(self.n_ports[switch.index()]) + output.index()
    }

    /// Gives a pair of ports its own row.
    pub fn set(&mut self, switch: SwitchId, input: Port, output: Port, row: LaneRow) {
        let (at, number) = (self.pair(switch, input, output), self.number(row));
        let n_ports = usize::from(self.n_ports[switch.index()]);
        let pairs = &mut self.pairs[switch.index()];
        if pairs.is_empty() {
            *pairs = vec![0; n_ports * n_ports].into();
        }
        pairs[at] = number;
    }

    /// Gives a NIC its own row.
    pub fn set_nic(&mut self, nic: NicId, row: LaneRow) {
        self.nics[nic.index()] = self.number(row);
    }

    /// A channel takes a lane in every row.
    pub fn set_everywhere(&mut self, sc: Sc, vl: u8) {
        self.rows.iter_mut().for_each(|row| row[sc.index()] = vl);
    }

    /// The row of a pair of ports.
    #[inline]
    pub fn at_switch(&self, switch: SwitchId, input: Port, output: Port) -> &LaneRow {
        let own = &self.pairs[switch.index()];
        let number = own.get(self.pair(switch, input, output)).copied();
        &self.rows[usize::from(number.unwrap_or(0))]
    }

    /// The row of a NIC.
    #[inline]
    pub fn at_nic(&self, nic: NicId) -> &LaneRow {
        &self.rows[usize::from(self.nics[nic.index()])]
    }

    /// The rows by which packets go: those of NICs, and of pairs of ports that both have a cable.
    pub fn passed(&self, topology: &Topology) -> Vec<&LaneRow> {
        let mut is_passed = vec![false; self.rows.len()];
        let mut pass = |number: u16| is_passed[usize::from(number)] = true;
        self.nics.iter().copied().for_each(&mut pass);
        for switch in topology.switches() {
            let pairs = &self.pairs[switch.index()];
            let cabled = || {
                let ports = topology.ports(switch);
                ports.filter(|port| topology.peer(switch, *port) != Peer::Unused)
            };
            for (input, output) in cabled().flat_map(|i| cabled().map(move |o| (i, o))) {
                let number = pairs.get(self.pair(switch, input, output));
                pass(number.copied().unwrap_or(0));
            }
        }
        let rows = self.rows.iter().zip(is_passed);
        rows.filter_map(|(row, is)| is.then_some(row)).collect()
    }
}
