//! Lanes by channel for single ports: the SL2VL maps of InfiniBand devices, SC2SC and SC2VL of
//! Omni-Path devices.
//!
//! A switch has a row for every pair of an input and an output, and every NIC has one. Few rows
//! differ, so each is stored once and pairs refer to it by number.

use netloom_packet::N_SCS;
use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, Sc, SwitchId};

/// The lane of each channel; [`DROPPED`] if packets of a channel are dropped.
pub type LaneRow = [u8; N_SCS];

/// SC2SC: the channel that each channel becomes.
pub type ChannelRow = [u8; N_SCS];

/// Leaves every channel unchanged.
pub const SAME_CHANNELS: ChannelRow = {
    let mut row = [0; N_SCS];
    let mut sc = 0;
    while sc < N_SCS {
        row[sc] = sc as u8;
        sc += 1;
    }
    row
};

/// The mapping of packets by their channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row {
    /// The new channel of each channel.
    onward: ChannelRow,
    /// The lane of each new channel.
    lanes: LaneRow,
}

impl Row {
    /// Returns the lane of each incoming channel.
    fn passed(&self) -> LaneRow {
        self.onward.map(|sc| self.lanes[usize::from(sc) % N_SCS])
    }
}

/// The entry of a channel that does not leave by a port.
pub const DROPPED: u8 = 15;

/// Rows in use: the lane of each incoming channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedRows {
    pub at_nics: Vec<LaneRow>,
    pub at_switches: Vec<LaneRow>,
}

impl PassedRows {
    pub fn all(&self) -> impl Iterator<Item = &LaneRow> {
        self.at_nics.iter().chain(&self.at_switches)
    }
}

/// Rows of pairs of ports and of NICs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneRows {
    /// The distinct rows. The first is the default of all pairs and NICs.
    rows: Vec<Row>,
    n_ports: Vec<u16>,
    /// By switch: the number of the row of each pair of its ports, inputs first; empty if all have
    /// the default.
    pairs: Vec<Box<[u16]>>,
    nics: Vec<u16>,
}

impl LaneRows {
    /// Creates the same row everywhere; NICs do not change channels.
    pub fn new(topology: &Topology, lanes: LaneRow, onward: ChannelRow) -> Self {
        LaneRows {
            rows: vec![Row { onward, lanes }],
            n_ports: topology.switches().map(|at| topology.n_ports(at)).collect(),
            pairs: vec![Box::default(); topology.n_switches() as usize],
            nics: vec![0; topology.n_nics() as usize],
        }
    }

    /// Returns the number of a row, which is stored if it is new.
    ///
    /// # Panics
    /// If there are more than 65,536 distinct rows.
    fn number(&mut self, row: Row) -> u16 {
        // The most recent row is often set again.
        let known = self.rows.iter().rposition(|own| *own == row);
        let at = known.unwrap_or_else(|| {
            self.rows.push(row);
            self.rows.len() - 1
        });
        u16::try_from(at).expect("at most 65,536 distinct rows")
    }

    /// Returns the index of a pair among those of its switch.
    #[inline]
    fn pair(&self, switch: SwitchId, input: Port, output: Port) -> usize {
        input.index() * usize::from(self.n_ports[switch.index()]) + output.index()
    }

    fn set(&mut self, switch: SwitchId, input: Port, output: Port, row: Row) {
        let (at, number) = (self.pair(switch, input, output), self.number(row));
        let n_ports = usize::from(self.n_ports[switch.index()]);
        let pairs = &mut self.pairs[switch.index()];
        if pairs.is_empty() {
            *pairs = vec![0; n_ports * n_ports].into();
        }
        pairs[at] = number;
    }

    /// Sets the lanes of a pair of ports.
    pub fn set_lanes(&mut self, switch: SwitchId, input: Port, output: Port, lanes: LaneRow) {
        let row = *self.row(switch, input, output);
        self.set(switch, input, output, Row { lanes, ..row });
    }

    /// Sets the channel changes of a pair of ports.
    pub fn set_onward(&mut self, switch: SwitchId, input: Port, output: Port, onward: ChannelRow) {
        let row = *self.row(switch, input, output);
        self.set(switch, input, output, Row { onward, ..row });
    }

    /// Sets the lanes of a NIC.
    pub fn set_nic(&mut self, nic: NicId, lanes: LaneRow) {
        let onward = SAME_CHANNELS;
        self.nics[nic.index()] = self.number(Row { onward, lanes });
    }

    /// Keeps a channel unchanged and sets its lane in every row.
    pub fn set_everywhere(&mut self, sc: Sc, vl: u8) {
        for row in &mut self.rows {
            row.onward[sc.index()] = sc.0;
            row.lanes[sc.index()] = vl;
        }
    }

    #[inline]
    fn row(&self, switch: SwitchId, input: Port, output: Port) -> &Row {
        let own = &self.pairs[switch.index()];
        let number = own.get(self.pair(switch, input, output)).copied();
        &self.rows[usize::from(number.unwrap_or(0))]
    }

    /// Returns the new channel and lane of a packet that comes in by one port and leaves by
    /// another.
    #[inline]
    pub fn at_switch(&self, switch: SwitchId, input: Port, output: Port, sc: Sc) -> (Sc, u8) {
        let row = self.row(switch, input, output);
        let onward = row.onward[sc.index() % N_SCS];
        (Sc(onward), row.lanes[usize::from(onward) % N_SCS])
    }

    #[inline]
    pub fn at_nic(&self, nic: NicId) -> &LaneRow {
        &self.rows[usize::from(self.nics[nic.index()])].lanes
    }

    /// Returns the rows in use: those of NICs, and of pairs of ports that both have a cable.
    pub fn passed(&self, topology: &Topology) -> PassedRows {
        let mut at_nics = vec![false; self.rows.len()];
        for number in &self.nics {
            at_nics[usize::from(*number)] = true;
        }
        let mut at_switches = vec![false; self.rows.len()];
        for switch in topology.switches() {
            let pairs = &self.pairs[switch.index()];
            let cabled = || {
                let ports = topology.ports(switch);
                ports.filter(|port| topology.peer(switch, *port) != Peer::Unused)
            };
            for (input, output) in cabled().flat_map(|i| cabled().map(move |o| (i, o))) {
                let number = pairs.get(self.pair(switch, input, output));
                at_switches[usize::from(number.copied().unwrap_or(0))] = true;
            }
        }
        let marked = |marks: Vec<bool>| {
            let rows = self.rows.iter().zip(marks);
            rows.filter_map(|(row, is_passed)| is_passed.then_some(row))
        };
        PassedRows {
            at_nics: marked(at_nics).map(|row| row.lanes).collect(),
            at_switches: marked(at_switches).map(Row::passed).collect(),
        }
    }
}
