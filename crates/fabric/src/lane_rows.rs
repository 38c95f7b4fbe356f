//! Lanes by channel that hold for single ports only: the SL2VL maps of InfiniBand devices, SC2SC and SC2VL of Omni-Path's.
//!
//! A switch has a row for every pair of an input and an output, and a host one of its own. Few rows differ, so each is kept
//! once and the pairs have its number.

use netloom_packet::N_SCS;
use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, Sc, SwitchId};

/// The lane of each channel. [`DROPPED`] where packets of a channel go no further.
pub type LaneRow = [u8; N_SCS];

/// SC2SC: the channel that each channel becomes.
pub type ChannelRow = [u8; N_SCS];

/// Every channel stays what it is.
pub const SAME_CHANNELS: ChannelRow = {
    let mut row = [0; N_SCS];
    let mut sc = 0;
    while sc < N_SCS {
        row[sc] = sc as u8;
        sc += 1;
    }
    row
};

/// What happens to a packet by its channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row {
    /// The channel with which it goes on.
    onward: ChannelRow,
    /// The lane of that channel.
    lanes: LaneRow,
}

impl Row {
    /// The lane of each channel that comes in.
    fn passed(&self) -> LaneRow {
        self.onward.map(|sc| self.lanes[usize::from(sc) % N_SCS])
    }
}

/// What a row has for a channel that does not leave by a port.
pub const DROPPED: u8 = 15;

/// Rows by which packets go: the lane of each channel with which they come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedRows {
    /// Those of NICs.
    pub at_nics: Vec<LaneRow>,
    /// Those of pairs of ports.
    pub at_switches: Vec<LaneRow>,
}

impl PassedRows {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &LaneRow> {
        self.at_nics.iter().chain(&self.at_switches)
    }
}

/// Rows of pairs of ports and of NICs that have their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneRows {
    /// The rows that differ; the first is that of all pairs and NICs that have none of their own.
    rows: Vec<Row>,
    /// Ports of each switch.
    n_ports: Vec<u16>,
    /// By switch: the number of the row of each pair of its ports, inputs first; nothing where no pair has its own.
    pairs: Vec<Box<[u16]>>,
    nics: Vec<u16>,
}

impl LaneRows {
    /// The same row everywhere; NICs change no channel.
    pub fn new(topology: &Topology, lanes: LaneRow, onward: ChannelRow) -> Self {
        LaneRows {
            rows: vec![Row { onward, lanes }],
            n_ports: topology.switches().map(|at| topology.n_ports(at)).collect(),
            pairs: vec![Box::default(); topology.n_switches() as usize],
            nics: vec![0; topology.n_nics() as usize],
        }
    }

    /// The number of a row, which is kept if it is a new one.
    ///
    /// # Panics
    /// If there are more than 65,536 rows that differ.
    fn number(&mut self, row: Row) -> u16 {
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

    fn set(&mut self, switch: SwitchId, input: Port, output: Port, row: Row) {
        let (at, number) = (self.pair(switch, input, output), self.number(row));
        let n_ports = usize::from(self.n_ports[switch.index()]);
        let pairs = &mut self.pairs[switch.index()];
        if pairs.is_empty() {
            *pairs = vec![0; n_ports * n_ports].into();
        }
        pairs[at] = number;
    }

    /// Gives a pair of ports its own lanes.
    pub fn set_lanes(&mut self, switch: SwitchId, input: Port, output: Port, lanes: LaneRow) {
        let row = *self.row(switch, input, output);
        self.set(switch, input, output, Row { lanes, ..row });
    }

    /// Gives a pair of ports its own changes of channels.
    pub fn set_onward(&mut self, switch: SwitchId, input: Port, output: Port, onward: ChannelRow) {
        let row = *self.row(switch, input, output);
        self.set(switch, input, output, Row { onward, ..row });
    }

    /// Gives a NIC its own lanes.
    pub fn set_nic(&mut self, nic: NicId, lanes: LaneRow) {
        let onward = SAME_CHANNELS;
        self.nics[nic.index()] = self.number(Row { onward, lanes });
    }

    /// A channel stays what it is and takes a lane in every row.
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

    /// The channel with which a packet goes on that comes in by one port and leaves by another, and its lane.
    #[inline]
    pub fn at_switch(&self, switch: SwitchId, input: Port, output: Port, sc: Sc) -> (Sc, u8) {
        let row = self.row(switch, input, output);
        let onward = row.onward[sc.index() % N_SCS];
        (Sc(onward), row.lanes[usize::from(onward) % N_SCS])
    }

    /// The lanes of a NIC.
    #[inline]
    pub fn at_nic(&self, nic: NicId) -> &LaneRow {
        &self.rows[usize::from(self.nics[nic.index()])].lanes
    }

    /// The rows by which packets go: those of NICs, and of pairs of ports that both have a cable.
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
