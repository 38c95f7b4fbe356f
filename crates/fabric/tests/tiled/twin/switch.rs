//! The blocks of a tiled switch, and the lines between them.

use std::collections::{BTreeMap, VecDeque};

use netloom_fabric::{FabricPlan, LinkTiming, Tiled};
use netloom_topology::Peer;
use netloom_units::{Port, SwitchId};

use super::packet::{Flit, Reading};
use super::pool::Pool;

/// The dimensions of a tiled switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) n_vls: usize,
}

impl Shape {
    pub(crate) fn new(tiled: &Tiled, n_vls: u8) -> Self {
        let shape = Shape {
            rows: usize::from(tiled.rows),
            columns: usize::from(tiled.columns),
            inputs: usize::from(tiled.inputs),
            outputs: usize::from(tiled.outputs),
            n_vls: usize::from(n_vls),
        };
        assert_eq!(
            shape.rows * shape.inputs,
            shape.columns * shape.outputs,
            "as many inputs as outputs"
        );
        shape
    }

    pub(crate) fn ports(&self) -> usize {
        self.rows * self.inputs
    }

    /// Returns the number of virtual channels inside the switch: those of the network, store,
    /// retrieve.
    pub(crate) fn vcs(&self) -> usize {
        self.n_vls + 2
    }

    pub(crate) fn store(&self) -> usize {
        self.n_vls
    }

    pub(crate) fn retrieve(&self) -> usize {
        self.n_vls + 1
    }

    pub(crate) fn row(&self, input: usize) -> usize {
        input / self.inputs
    }

    pub(crate) fn column(&self, output: usize) -> usize {
        output / self.outputs
    }

    /// Returns the row buffers of an input in a column.
    pub(crate) fn at_row(&self, input: usize, column: usize) -> usize {
        input * self.columns + column
    }

    /// Returns the column buffers of an output from a row.
    pub(crate) fn at_column(&self, output: usize, row: usize) -> usize {
        output * self.rows + row
    }
}

/// Where a row bus reads from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum From {
    Channel(usize),
    Retrieval,
}

/// A packet on a row bus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnBus {
    pub(crate) reading: Reading,
    pub(crate) from: From,
    /// The output and channel of its destination VOQ.
    pub(crate) voq: Option<(usize, usize)>,
    /// The column of the S FIFO to which it (or a copy, as another packet) goes.
    pub(crate) store: Option<(usize, usize)>,
}

/// What an end port knows of a data packet of its NIC until it is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The port whose stash has the copy, once it is known.
    pub(crate) location: Option<usize>,
    /// An acknowledgement that came before the location.
    pub(crate) verdict: Option<bool>,
    pub(crate) attempt: u32,
    pub(crate) deadline: Option<u64>,
}

#[derive(Default)]
pub(crate) struct Input {
    /// Flits on the link to this port: when they are completely received, and on which channel.
    pub(crate) wire: VecDeque<(u64, Flit, usize)>,
    /// Headers received: their first edge.
    pub(crate) headers: VecDeque<(u64, usize, usize)>,
    /// The buffer, by channel.
    pub(crate) flits: Vec<VecDeque<Flit>>,
    /// Packets that may request the bus, by channel.
    pub(crate) heads: Vec<VecDeque<usize>>,
    /// Lost packets that are read out of the buffer and discarded.
    pub(crate) dropping: Vec<(usize, Reading)>,
    pub(crate) occupancy: u32,
    pub(crate) bus: Option<OnBus>,
    pub(crate) next: usize,
    pub(crate) next_stash_column: usize,
    /// By sequence; the source is the NIC of this port.
    pub(crate) tracked: BTreeMap<u32, Entry>,
}

/// A packet that crosses a tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub(crate) reading: Reading,
    pub(crate) output: usize,
    pub(crate) vc: usize,
}

/// The row buffers of one input in one column: a tile input.
#[derive(Default)]
pub(crate) struct Row {
    /// By output of the tile (the first for packets to a stash) and channel.
    pub(crate) used: Vec<Vec<u32>>,
    /// By output of the tile and channel.
    pub(crate) voqs: Vec<Vec<VecDeque<Flit>>>,
    pub(crate) store: VecDeque<Flit>,
    pub(crate) crossing: Option<Crossing>,
    pub(crate) next_output: usize,
    pub(crate) next_vc: usize,
    pub(crate) next_stash_port: usize,
}

/// The column buffers between one row and one output: a tile output writes them.
#[derive(Default)]
pub(crate) struct Column {
    pub(crate) used: Vec<u32>,
    pub(crate) fifos: Vec<VecDeque<Flit>>,
    pub(crate) is_written: bool,
    pub(crate) next_input: usize,
}

/// A packet that passes a multiplexer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    pub(crate) reading: Reading,
    pub(crate) row: usize,
    pub(crate) vc: usize,
    /// The channel of the link.
    pub(crate) output_vc: usize,
}

/// A packet granted a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) reading: Reading,
    pub(crate) vc: usize,
    pub(crate) start: u64,
}

pub(crate) struct Output {
    pub(crate) link: LinkTiming,
    /// Flits that wait or are held for the link-level acknowledgement, by channel.
    pub(crate) pool: Pool,
    pub(crate) present: Vec<u32>,
    pub(crate) flits: Vec<VecDeque<Flit>>,
    pub(crate) heads: Vec<VecDeque<usize>>,
    pub(crate) passing: Option<Passing>,
    pub(crate) next_row_vc: usize,
    pub(crate) sending: VecDeque<Sending>,
    /// End of the last packet on the link.
    pub(crate) link_end: u64,
    pub(crate) next_vc: usize,
    /// The input buffer at the other end; a NIC accepts everything.
    pub(crate) peer_buffer: Option<Pool>,
    /// Messages in transit to here: when, channel, flits.
    pub(crate) credits: VecDeque<(u64, usize, u32)>,
    pub(crate) acknowledged: VecDeque<(u64, usize, u32)>,
    /// Flits routed to here and not granted the link.
    pub(crate) committed: u32,
    /// When it was announced how much waits here, and how much.
    pub(crate) samples: Vec<(u64, u32)>,
}

/// A copy kept for an end port of this switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) packet: usize,
    pub(crate) present: u32,
}

#[derive(Default)]
pub(crate) struct Stash {
    pub(crate) capacity: u32,
    pub(crate) used: u32,
    /// Freed at this edge, visible at the next.
    pub(crate) freed: u32,
    /// Moved packets.
    pub(crate) flits: VecDeque<Flit>,
    /// Copies by source and sequence.
    pub(crate) copies: BTreeMap<(u32, u32), Copy>,
    /// The retrieval FIFO.
    pub(crate) retrieval: VecDeque<usize>,
    pub(crate) storing: Option<Passing>,
    pub(crate) next_row: usize,
}

impl Stash {
    pub(crate) fn free(&self) -> u32 {
        let free = self.capacity.checked_sub(self.used);
        free.expect("a stash does not overflow")
    }
}

/// A message of the side band.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Message {
    /// To the origin: a copy is completely stored.
    Location {
        origin: usize,
        sequence: u32,
        port: usize,
    },
    /// To the stash: a copy is no longer needed.
    Delete { port: usize, key: (u32, u32) },
    /// To the stash: a copy is to be sent again.
    Retransmit {
        port: usize,
        key: (u32, u32),
        origin: usize,
        attempt: u32,
    },
}

/// A queue in front of a tile: by output and channel, or the S FIFO.
pub(crate) type Voq = Option<(usize, usize)>;

/// A delay line: items with the time of their exit, in order.
pub(crate) type Line<T> = VecDeque<(u64, T)>;

pub(crate) struct Switch {
    pub(crate) peers: Vec<Peer>,
    pub(crate) classes: Vec<usize>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) rows: Vec<Row>,
    pub(crate) columns: Vec<Column>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) stashes: Vec<Stash>,
    /// By column: space in its stashes reserved for packets on their way there.
    pub(crate) promised: Vec<u32>,
    /// Flits between the blocks: (input, column, VOQ there).
    pub(crate) to_rows: Line<(usize, usize, Voq, Flit)>,
    /// (output, row, channel).
    pub(crate) to_columns: Line<(usize, usize, usize, Flit)>,
    /// (output, channel).
    pub(crate) to_outputs: Line<(usize, usize, Flit)>,
    pub(crate) to_stashes: Line<(usize, Flit)>,
    pub(crate) side_band: Line<Message>,
}

impl Switch {
    pub(crate) fn new(plan: &FabricPlan, tiled: &Tiled, shape: Shape, id: SwitchId) -> Self {
        let topology = &plan.topology;
        let (ports, vcs) = (shape.ports(), shape.vcs());
        let n_used = usize::from(topology.n_ports(id));
        assert!(n_used <= ports, "the tiles have enough ports");
        let peer = |p: usize| {
            if p < n_used {
                topology.peer(id, Port(p as u16))
            } else {
                Peer::Unused
            }
        };
        let peers: Vec<Peer> = (0..ports).map(peer).collect();
        let class = |p: usize| match peers[p] {
            Peer::Unused => 0,
            _ => usize::from(topology.link_class(id, Port(p as u16))),
        };
        let classes: Vec<usize> = (0..ports).map(class).collect();
        let network = || vec![VecDeque::new(); shape.n_vls];
        let output = |p: usize| {
            let buffers = &tiled.ports[classes[p]];
            let peer_buffer = Pool::new(&buffers.input, shape.n_vls);
            Output {
                link: plan.links[classes[p]],
                pool: Pool::new(&buffers.output, shape.n_vls),
                present: vec![0; shape.n_vls],
                flits: network(),
                heads: vec![VecDeque::new(); shape.n_vls],
                passing: None,
                next_row_vc: 0,
                sending: VecDeque::new(),
                link_end: 0,
                next_vc: 0,
                peer_buffer: matches!(peers[p], Peer::Switch(..)).then_some(peer_buffer),
                credits: VecDeque::new(),
                acknowledged: VecDeque::new(),
                committed: 0,
                samples: vec![],
            }
        };
        let stash = |p: usize| Stash {
            capacity: match peers[p] {
                Peer::Unused => 0,
                _ => tiled.ports[classes[p]].stash,
            },
            ..Stash::default()
        };
        let input = || Input {
            flits: network(),
            heads: vec![VecDeque::new(); shape.n_vls],
            ..Input::default()
        };
        let row = || Row {
            used: vec![vec![0; vcs]; shape.outputs],
            voqs: vec![vec![VecDeque::new(); vcs]; shape.outputs],
            ..Row::default()
        };
        let column = || Column {
            used: vec![0; vcs],
            fifos: vec![VecDeque::new(); vcs],
            ..Column::default()
        };
        Switch {
            inputs: (0..ports).map(|_| input()).collect(),
            rows: (0..ports * shape.columns).map(|_| row()).collect(),
            columns: (0..ports * shape.rows).map(|_| column()).collect(),
            outputs: (0..ports).map(output).collect(),
            stashes: (0..ports).map(stash).collect(),
            promised: vec![0; shape.columns],
            peers,
            classes,
            to_rows: Line::new(),
            to_columns: Line::new(),
            to_outputs: Line::new(),
            to_stashes: Line::new(),
            side_band: Line::new(),
        }
    }

    pub(crate) fn is_end(&self, port: usize) -> bool {
        matches!(self.peers[port], Peer::Nic(_))
    }
}

/// Returns what comes out of a line now.
pub(crate) fn due<T>(line: &mut Line<T>, now: u64) -> Option<T> {
    let (when, _) = line.front()?;
    assert!(*when >= now, "a line is emptied on time");
    if *when == now {
        line.pop_front().map(|(_, what)| what)
    } else {
        None
    }
}
