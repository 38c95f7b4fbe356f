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

/// Default buffer of a port whose links need no more.
pub(crate) const LEAST_BUFFER: Bytes = Bytes(10_000);

/// A tiled switch as given in the file.
#[derive(Clone, Debug)]
pub struct TiledSpec {
    /// Rows of tiles.
    pub rows: u16,
    /// Columns of tiles.
    pub columns: u16,
    /// Ports; `None` for as many as the topology needs.
    pub ports: Option<u16>,
    /// Buffer of an input, and of an output; `None` for what the links need.
    pub port_buffer: Option<Bytes>,
    /// Packets of one channel before a tile.
    pub row_packets: u16,
    /// Whether `row_packets` applies to all outputs of the tile together, or to each.
    pub row_space: RowSpace,
    /// Packets of one channel between a row and an output.
    pub column_packets: u16,
    /// How long an output keeps sent data.
    pub retransmission: Retransmission,
    /// When a stage that is faster than the arriving flits starts a packet.
    pub start: CrossbarStart,
    /// Priority among competing packets.
    pub priority: Priority,
    /// Packets of each channel with reserved space in a port's buffer.
    pub lane_reserve: u16,
    /// Largest share of a port's buffer for one channel; `None` for what leaves a round trip to
    /// every other one.
    pub lane_most: Option<f64>,
    /// Latencies.
    pub stages: TileStages,
    /// Use of idle port buffers.
    pub stash: StashSpec,
    /// Injected faults; their seed is that of the run.
    pub faults: Faults,
}

/// A tiled switch.
#[derive(Clone, Debug)]
pub struct TiledSwitch(SwitchSpec);

params! {
    /// The plain values of a tiled switch.
    #[derive(Clone, Debug)]
    struct Values {
        /// Period or frequency of the core clock. The default is 1.3 cycles per flit of the links.
        clock: Option<Time> = None,
        /// Rows of tiles. Inputs are divided evenly among them.
        rows: u16 = 4,
        /// Columns of tiles. Outputs are divided evenly among them.
        columns: u16 = 4,
        /// Ports of a switch. The default is as many as the topology needs.
        ports: Option<u16> = None,
        /// Buffer of an input port, and of an output port, shared by its virtual channels. The
        /// default holds a round trip of the link for each channel of any link, and at least
        /// 10 kB.
        port_buffer: Option<Bytes> = None,
        /// Number of packets for which a port buffer reserves space, per virtual channel of its
        /// link. A channel with no other space can send this many packets per round trip of its
        /// link.
        lane_reserve: u16 = 1,
        /// Largest share of a port buffer, without the stash, that one virtual channel may use. By
        /// default, the others together leave a round trip of the link to every channel. If the
        /// buffer is too small for that, every channel may use an equal part.
        lane_most: Option<f64> = None,
        /// Packets of each virtual channel that fit into the row buffer of a tile input.
        row_packets: u16 = 4,
        /// Whether the queues for the outputs of the tile share the row buffer, or have one each.
        row_space: RowSpace = RowSpace::Shared,
        /// Packets of each virtual channel that fit into the column buffer between a row and an
        /// output.
        column_packets: u16 = 4,
        /// How long an output keeps sent data, in case the link corrupts it. In the paper, outputs
        /// hold a copy until the link level has acknowledged it. The paper does not state the unit
        /// of the copy and counts in packets elsewhere.
        retransmission: Retransmission = Retransmission::Packet,
        /// When a row bus, tile or multiplexer that is faster than the arriving flits starts a
        /// packet: with the header, or when it never has to wait for a flit.
        crossbar_start: CrossbarStart = CrossbarStart::AtOnce,
        /// Priority among packets that compete for a resource.
        priority: Priority = Priority::Equal,
    }
    check |it, section| {
        sane_clock(section, it.clock);
        let counts = [("rows", it.rows), ("columns", it.columns), ("row-packets", it.row_packets), ("column-packets", it.column_packets), ("lane-reserve", it.lane_reserve)];
        for (key, count) in counts {
            if !(1..=64).contains(&count) {
                let place = section.place_of(key);
                let message = format!("`{key}` of {count} is out of range");
                section.notes.error("E0102", place, message).help("use 1 to 64");
            }
        }
        if let Some(share) = it.lane_most.filter(|&share| !(share > 0.0 && share <= 1.0)) {
            let place = section.place_of("lane-most");
            let message = format!("expected a share above 0 and at most 1, found {share}");
            section
                .notes
                .error("E0102", place, message)
                .help("use a share above 0 and at most 1");
        }
    }
}

params! {
    /// Latencies of a tiled switch, in cycles of its core clock.
    #[derive(Clone, Debug)]
    pub struct Cycles {
        /// From the reception of the header to its first request for the row bus: writing and
        /// routing.
        before_bus: u64 = 2,
        /// From the grant of the row bus to the arrival of the header at its tile.
        row_bus: u64 = 1,
        /// From the grant of the tile to the header in its column buffer: allocation, crossbar and
        /// channel.
        tile: u64 = 3,
        /// From the grant of the multiplexer to the header in the output buffer.
        multiplexer: u64 = 1,
        /// From the grant of the link to the header on the link.
        output: u64 = 1,
        /// Transfer of a message about a stashed packet between ports of the switch.
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
                let message = format!("expected 1 to 1000000 cycles, found {cycles}");
                section.notes.error("E0102", place, message).help("use 1 to 1000000");
            }
        }
        if it.before_bus > 1_000_000 {
            let place = section.place_of("before-bus");
            let message = format!("expected 0 to 1000000 cycles, found {}", it.before_bus);
            section.notes.error("E0102", place, message).help("use 0 to 1000000");
        }
    }
}

params! {
    /// Injected faults. Each is drawn for every packet at every switch.
    #[derive(Clone, Debug)]
    pub struct Errors {
        /// Probability that a switch corrupts a packet, which its receiver then rejects.
        corrupt: f64 = 0.0,
        /// Probability that a switch other than the first loses a packet.
        lose: f64 = 0.0,
        /// Probability that the link after a switch corrupts a packet, which the switch then
        /// resends.
        link: f64 = 0.0,
    }
    check |it, section| {
        for (key, chance) in [("corrupt", it.corrupt), ("lose", it.lose), ("link", it.link)] {
            if !(0.0..=0.5).contains(&chance) {
                let place = section.place_of(key);
                let message = format!("expected a probability from 0 to 0.5, found {chance}");
                section.notes.error("E0102", place, message).help("use 0 to 0.5, such as 1e-3");
            }
        }
    }
}

impl Params for TiledSwitch {
    fn params() -> Vec<Param> {
        let mut params = Values::params();
        params.push(Param {
            name: "stash".to_owned(),
            about: "The use of port buffers that short links leave idle.".to_owned(),
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
        let buffer = Buffer::PerVl(values.port_buffer.unwrap_or(LEAST_BUFFER));
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
    const SUMMARY: &'static str = "Rows and columns of small crossbars with buffers between them, \
                                   for high radix. Port buffers that short links leave idle can \
                                   stash packets.";
    const PAPER: Option<&'static str> = Some(
        "M. Blumrich, N. Jiang, L. Dennison, \"Exploiting idle resources in a high-radix switch \
         for supplemental storage\", SC 2018",
    );
    const EXAMPLE: &'static str = "rows = 4\ncolumns = 4\nstash = { kind = \"congestion\" }";
}

impl SwitchModel for TiledSwitch {
    fn spec(&self) -> SwitchSpec {
        self.0.clone()
    }
}
