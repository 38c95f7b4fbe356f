//! Groups of ports connected by a buffered central crossbar, as in Omni-Path switches.

use netloom_catalog::{Described, Param, Params, Section, params};
use netloom_fabric::{Allocation, CentralStart, CrossbarStart, InputPorts, QueueScheme};
use netloom_routing::deadlock::Centre;
use netloom_units::{Bytes, Time};

use super::buffer::{Buffer, Pool};
use super::crossbar::sane_clock;
use super::pipeline::Stages;
use super::speedup::Speedup;
use super::{ArchitectureSpec, SwitchModel, SwitchSpec};
use crate::spec::reading::table;

/// The centre of a hierarchical switch as given in the file.
#[derive(Clone, Debug)]
pub struct HierarchySpec {
    /// How ports share the central links.
    pub centre: Centre,
    /// Flits per cycle from an input to a central link, as a fraction.
    pub mport_speedup: (u32, u32),
    /// Flits per cycle from a central buffer to an output, as a fraction.
    pub central_speedup: (u32, u32),
    /// The central buffer of one MPort, or the whole part of a lane in it.
    pub central_buffer: Buffer,
    /// When a packet may leave it.
    pub start: CentralStart,
}

/// Groups of ports connected by a buffered central crossbar.
#[derive(Clone, Debug)]
pub struct Hierarchical(SwitchSpec);

params! {
    /// The plain values of a hierarchical switch.
    #[derive(Clone, Debug)]
    struct Values {
        /// Clock period or frequency. The default is one cycle per flit of the links.
        clock: Option<Time> = None,
        /// Ports of a group (MPort). Port k belongs to group k divided by this number.
        ports_per_mport: u16 = 4,
        /// Links from each MPort to the central crossbar. Output p uses link p modulo this number.
        central_links: u16 = 2,
        /// Flits per cycle from an input buffer through the MPort crossbar to an output of the same
        /// MPort.
        speedup: Speedup = Speedup(1, 1),
        /// Flits per cycle from an input buffer through the MPort crossbar and a central link.
        mport_speedup: Speedup = Speedup(3, 1),
        /// Flits per cycle from a central buffer through the central crossbar to an output buffer.
        central_speedup: Speedup = Speedup(3, 1),
        /// When a crossbar that is faster than the arriving flits starts a packet: with the header,
        /// or when it never has to wait for a flit.
        crossbar_start: CrossbarStart = CrossbarStart::AtOnce,
        /// When a packet may leave a central buffer: with its header, or when all of it has
        /// arrived.
        central_start: CentralStart = CentralStart::Header,
        /// Crossbar ports of an input, and of a central link: one, or one per lane, so that several
        /// lanes cross at once.
        input_ports: InputPorts = InputPorts::One,
        /// Central buffer of an MPort, divided evenly among its links: a size per lane, or
        /// { pool = …, min = … }, where `min` applies to each link.
        central_buffer: Buffer = Buffer::Pool(Pool { pool: Bytes(229_376), min: None, max: None }),
        /// Buffer of an input port: a size per lane, or { pool = …, min = …, max = … }.
        input_buffer: Buffer = Buffer::PerVl(Bytes(16 << 10)),
        /// Buffer of an output port: a size per lane, or { pool = …, min = …, max = … }.
        output_buffer: Buffer = Buffer::PerVl(Bytes(8 << 10)),
    }
    check |it, section| {
        sane_clock(section, it.clock);
        for (key, count) in [("ports-per-mport", it.ports_per_mport), ("central-links", it.central_links)] {
            if !(1..=MOST).contains(&count) {
                let place = section.place_of(key);
                let message = format!("`{key}` of {count} is out of range");
                section.notes.error("E0102", place, message).help(format!("use 1 to {MOST}"));
            }
        }
    }
}

/// Limit on the ports of a switch.
const MOST: u16 = 512;

impl Params for Hierarchical {
    fn params() -> Vec<Param> {
        Values::params()
    }

    fn read(section: &mut Section<'_>) -> Option<Self> {
        let values = Values::read(section);
        let stages = table(section, "pipeline", Stages::read);
        let (values, stages) = (values?, stages?);
        let fraction = |speedup: Speedup| (speedup.0, speedup.1);
        Some(Hierarchical(SwitchSpec {
            architecture: ArchitectureSpec::Hierarchical(HierarchySpec {
                centre: Centre::of_mports(
                    values.ports_per_mport.max(1),
                    values.central_links.max(1),
                ),
                mport_speedup: fraction(values.mport_speedup),
                central_speedup: fraction(values.central_speedup),
                central_buffer: values.central_buffer,
                start: values.central_start,
            }),
            clock: values.clock,
            speedup: fraction(values.speedup),
            start: values.crossbar_start,
            input_ports: values.input_ports,
            queues: QueueScheme::PerVl,
            allocation: Allocation::Separable,
            pipeline: stages.pipeline(),
            input_buffer: values.input_buffer,
            output_buffer: values.output_buffer,
        }))
    }
}

impl Described for Hierarchical {
    const NAME: &'static str = "hierarchical";
    const SUMMARY: &'static str = "Groups of ports (MPorts) with one crossbar each, connected by a \
                                   central crossbar with input buffers (Omni-Path).";
    const PAPER: Option<&'static str> = Some(
        "M. Birrittella et al., \"Intel Omni-Path architecture: enabling scalable, high \
         performance fabrics\", Hot Interconnects 23, 2015",
    );
    const EXAMPLE: &'static str = "ports-per-mport = 4\ncentral-links = 2";
}

impl SwitchModel for Hierarchical {
    fn spec(&self) -> SwitchSpec {
        self.0.clone()
    }
}
