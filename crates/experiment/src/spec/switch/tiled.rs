//! A tiled switch: rows and columns of small crossbars.

use netloom_catalog::{Described, Param, Params, Section, Shape, params, read_kind};
use netloom_fabric::{
    Allocation, CrossbarStart, Faults, InputPorts, Pipeline, Priority, QueueScheme, Retransmission,
    RowSpace, TileStages,
};
use netloom_units::{Bytes, Time};

use super::buffer::Buffer;
use super::crossbar::sane_clock;
use super::stash::{STASHES, StashSpec};
use super::{ArchitectureSpec, SwitchModel, SwitchSpec};
use crate::spec::reading::table;

/// A tiled switch, as the file gives it.
#[derive(Clone, Debug)]
pub struct TiledSpec {
    /// Rows of tiles.
    pub rows: u16,
    /// Columns of tiles.
    pub columns: u16,
    /// Ports; `None` for as many as the topology needs.
    pub ports: Option<u16>,
    /// Buffer of an input, and of an output.
    pub port_buffer: Bytes,
    /// Packets of one channel in front of a tile.
    pub row_packets: u16,
    /// Whether for all outputs of the tile or for each.
    pub row_space: RowSpace,
    /// Packets of one channel between a row and an output.
    pub column_packets: u16,
    /// How long an output keeps what it has sent.
    pub retransmission: Retransmission,
    /// When a stage begins that is faster than its feed.
    pub start: CrossbarStart,
    /// Who goes first where packets meet.
    pub priority: Priority,
    /// Packets of each channel for which room is kept in a port's buffer.
    pub lane_reserve: u16,
    /// The share of a port's buffer that one channel may take.
    pub lane_most: f64,
    /// Latencies.
    pub stages: TileStages,
    /// What unused port buffers are used for.
    pub stash: StashSpec,
    /// What goes wrong on purpose; its seed is that of the run.
    pub faults: Faults,
}

/// A tiled switch.
#[derive(Clone, Debug)]
pub struct TiledSwitch(SwitchSpec);

params! {
    /// The plain values of a tiled switch.
    #[derive(Clone, Debug)]
    struct Values {
        /// Its core clock, as a period or a frequency; left out, 1.3 cycles per flit of the links.
        clock: Option<Time> = None,
        /// Rows of tiles: inputs are divided evenly among them.
        rows: u16 = 4,
        /// Columns of tiles: outputs are divided evenly among them.
        columns: u16 = 4,
        /// Ports of a switch; left out, as many as the topology needs.
        ports: Option<u16> = None,
        /// Buffer of an input port, and as much of an output port, shared by its virtual channels.
        port_buffer: Bytes = Bytes(10_000),
        /// Packets of each virtual channel that its link carries for which room is kept in that buffer, whatever the
        /// others do (G002-15). A channel that has nothing else gets this much per round trip of its link.
        lane_reserve: u16 = 1,
        /// The largest share of that buffer, without what is stashed, that one virtual channel may take.
        lane_most: f64 = 1.0,
        /// Packets of each virtual channel that fit in front of an input of a tile.
        row_packets: u16 = 4,
        /// Whether the queues for the outputs of the tile share that, or have it each.
        row_space: RowSpace = RowSpace::Shared,
        /// Packets of each virtual channel that fit between a row and an output.
        column_packets: u16 = 4,
        /// How long an output keeps what it has sent, in case the link damages it. The paper's outputs hold a copy until
        /// the link level has acknowledged it and does not say of what; a packet is what it counts everywhere else.
        retransmission: Retransmission = Retransmission::Packet,
        /// When a row bus, a tile or a multiplexer begins that is faster than its flits come: with the header, or when it
        /// never has to wait.
        crossbar_start: CrossbarStart = CrossbarStart::AtOnce,
        /// Who goes first where packets meet.
        priority: Priority = Priority::Equal,
    }
    check |it, section| {
        sane_clock(section, it.clock);
        let counts = [("rows", it.rows), ("columns", it.columns), ("row-packets", it.row_packets), ("column-packets", it.column_packets), ("lane-reserve", it.lane_reserve)];
        for (key, count) in counts {
            if !(1..=64).contains(&count) {
                let place = section.place_of(key);
                section.notes.error("E0102", place, format!("`{key}` of {count}")).help("write 1 to 64");
            }
        }
        if !(it.lane_most > 0.0 && it.lane_most <= 1.0) {
            let place = section.place_of("lane-most");
            section.notes.error("E0102", place, format!("a share of {}", it.lane_most)).help("write a share above 0, at most 1");
        }
    }
}

params! {
    /// Latencies of a tiled switch, in cycles of its core clock (G002-1).
    #[derive(Clone, Debug)]
    pub struct Cycles {
        /// From a header wholly received to its first try for the row bus: writing and routing.
        before_bus: u64 = 2,
        /// From the row bus granted to the header in front of its tile.
        row_bus: u64 = 1,
        /// From the tile granted to the header in its column buffer: allocation, crossbar and channel.
        tile: u64 = 3,
        /// From the multiplexer granted to the header in the output buffer.
        multiplexer: u64 = 1,
        /// From the link granted to the header on it.
        output: u64 = 1,
        /// A message between ports of the switch about a stashed packet.
        side_band: u64 = 10,
    }
    check |it, section| {
        let stages = [
            ("row-bus", it.row_bus),
            ("tile", it.tile),
            ("multiplexer", it.multiplexer),
            ("output", it.output),
            ("side-band", it.side_band),
        ];
        for (key, cycles) in stages {
            if !(1..=1_000_000).contains(&cycles) {
                let place = section.place_of(key);
                section.notes.error("E0102", place, format!("{cycles} cycles")).help("write 1 to 1000000");
            }
        }
        if it.before_bus > 1_000_000 {
            let place = section.place_of("before-bus");
            section.notes.error("E0102", place, format!("{} cycles", it.before_bus)).help("write 0 to 1000000");
        }
    }
}

params! {
    /// Errors on purpose: each is drawn for every packet at every switch.
    #[derive(Clone, Debug)]
    pub struct Errors {
        /// Chance that a switch damages a packet, which its receiver then refuses.
        corrupt: f64 = 0.0,
        /// Chance that a switch other than the first loses a packet.
        lose: f64 = 0.0,
        /// Chance that a packet is damaged on the link behind a switch, which then sends it again.
        link: f64 = 0.0,
    }
    check |it, section| {
        for (key, chance) in [("corrupt", it.corrupt), ("lose", it.lose), ("link", it.link)] {
            if !(0.0..=0.5).contains(&chance) {
                let place = section.place_of(key);
                section.notes.error("E0102", place, format!("a chance of {chance}")).help("write 0 to 0.5, like 1e-3");
            }
        }
    }
}

impl Params for TiledSwitch {
    fn params() -> Vec<Param> {
        let mut params = Values::params();
        params.push(Param {
            name: "stash".to_owned(),
            about: "What port buffers that short links leave unused are used for.".to_owned(),
            shape: Shape::Kind("stash"),
            default: Some("\"none\"".to_owned()),
        });
        params
    }

    fn read(section: &mut Section<'_>) -> Option<Self> {
        let values = Values::read(section);
        let stash = read_kind(section, "stash", "stash", STASHES, Some("none"));
        let cycles = table(section, "pipeline", Cycles::read);
        let errors = table(section, "faults", Errors::read);
        let (values, stash) = (values?, stash?.spec());
        let (cycles, errors) = (cycles?, errors?);
        let stages = TileStages {
            before_bus: cycles.before_bus,
            row_bus: cycles.row_bus,
            tile: cycles.tile,
            multiplexer: cycles.multiplexer,
            output: cycles.output,
            side_band: cycles.side_band,
        };
        let faults = Faults {
            seed: 0,
            corrupt: errors.corrupt,
            lose: errors.lose,
            link: errors.link,
        };
        let buffer = Buffer::PerVl(values.port_buffer);
        Some(TiledSwitch(SwitchSpec {
            architecture: ArchitectureSpec::Tiled(Box::new(TiledSpec {
                rows: values.rows.max(1),
                columns: values.columns.max(1),
                ports: values.ports,
                port_buffer: values.port_buffer,
                row_packets: values.row_packets,
                row_space: values.row_space,
                column_packets: values.column_packets,
                retransmission: values.retransmission,
                start: values.crossbar_start,
                priority: values.priority,
                lane_reserve: values.lane_reserve.max(1),
                lane_most: values.lane_most,
                stages,
                stash,
                faults,
            })),
            clock: values.clock,
            speedup: (1, 1),
            start: CrossbarStart::AtOnce,
            input_ports: InputPorts::One,
            queues: QueueScheme::PerVl,
            allocation: Allocation::Separable,
            pipeline: Pipeline {
                input: 0,
                routing: cycles.before_bus,
                allocation: cycles.row_bus,
                crossbar: cycles.tile + cycles.multiplexer,
                output: cycles.output,
                credit: 1,
            },
            input_buffer: buffer.clone(),
            output_buffer: buffer,
        }))
    }
}

impl Described for TiledSwitch {
    const NAME: &'static str = "tiled";
    const SUMMARY: &'static str = "Rows and columns of small crossbars with buffers between them, for high radix; port buffers that short links leave unused can stash packets.";
    const PAPER: Option<&'static str> = Some(
        "M. Blumrich, N. Jiang, L. Dennison, \"Exploiting idle resources in a high-radix switch for supplemental \
         storage\", SC 2018",
    );
    const EXAMPLE: &'static str = "rows = 4\ncolumns = 4\nstash = { kind = \"congestion\" }";
}

impl SwitchModel for TiledSwitch {
    fn spec(&self) -> SwitchSpec {
        self.0.clone()
    }
}
