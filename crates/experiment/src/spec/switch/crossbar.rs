//! Switches with one crossbar and buffers at inputs and outputs, or at inputs only.
//!
//! Both accept the same keys, so that two files can differ in `kind` alone.

use netloom_catalog::{Described, Param, Params, ResolvedLine, Section, Shape, params, read_kind};
use netloom_fabric::{CrossbarStart, InputPorts};
use netloom_units::{Bytes, Ratio, Time};

use super::allocators::ALLOCATORS;
use super::buffer::Buffer;
use super::pipeline::Stages;
use super::queues::QUEUES;
use super::speedup::Speedup;
use super::{ArchitectureSpec, SwitchModel, SwitchSpec};
use crate::spec::reading::table;

/// Buffers at inputs and outputs, connected by a crossbar.
#[derive(Clone, Debug)]
pub struct Cioq(SwitchSpec);

/// Buffers at inputs only.
#[derive(Clone, Debug)]
pub struct InputQueued(SwitchSpec);

params! {
    /// The plain values of a switch with one crossbar.
    #[derive(Clone, Debug)]
    struct Values {
        /// Clock period or frequency. The default is one cycle per flit of the links.
        clock: Option<Time> = None,
        /// Flits per cycle through each port of the crossbar. A packet takes whole cycles, so
        /// packets of one flit need a shorter `clock` instead.
        speedup: Speedup = Speedup(1, 1),
        /// When a crossbar that is faster than the arriving flits starts a packet: with the header,
        /// or when it never has to wait for a flit.
        crossbar_start: CrossbarStart = CrossbarStart::AtOnce,
        /// Crossbar ports of an input: one, or one per lane, so that several lanes cross at once.
        input_ports: InputPorts = InputPorts::One,
        /// Buffer of an input port: a size per lane, { pool = …, min = …, max = … }, or
        /// { per-queue = … }.
        input_buffer: Buffer = Buffer::PerVl(Bytes(16 << 10)),
        /// Buffer of an output port: a size per lane, or { pool = …, min = …, max = … }.
        output_buffer: Buffer = Buffer::PerVl(Bytes(8 << 10)),
    }
    check |it, section| {
        sane_clock(section, it.clock);
    }
}

/// Notes a clock that is out of range.
pub(super) fn sane_clock(section: &mut Section<'_>, clock: Option<Time>) {
    let (shortest, longest) = (
        Time::from_picos(Ratio::whole(1)),
        Time::from_nanos(1_000_000),
    );
    if clock.is_some_and(|clock| clock < shortest || clock > longest) {
        let place = section.place_of("clock");
        section
            .notes
            .error("E0102", place, "the clock is out of range")
            .help("use a period from 1 ps to 1 ms");
    }
}

fn params() -> Vec<Param> {
    let mut params = Values::params();
    let of_a_kind = |name: &str, about: &str, concept, default: &str| Param {
        name: name.to_owned(),
        about: about.to_owned(),
        shape: Shape::Kind(concept),
        default: Some(default.to_owned()),
    };
    params.push(of_a_kind(
        "queues",
        "How an input is divided into queues.",
        "queue scheme",
        "\"per-vl\"",
    ));
    params.push(of_a_kind(
        "allocator",
        "Which packets cross the switch next.",
        "allocator",
        "\"separable\"",
    ));
    params
}

fn read(section: &mut Section<'_>, architecture: ArchitectureSpec) -> Option<SwitchSpec> {
    let values = Values::read(section);
    let queues = read_kind(section, "queues", "queue scheme", QUEUES, Some("per-vl"));
    let allocator = read_kind(
        section,
        "allocator",
        "allocator",
        ALLOCATORS,
        Some("separable"),
    );
    let stages = table(section, "pipeline", Stages::read);
    let (values, stages) = (values?, stages?);
    Some(SwitchSpec {
        architecture,
        clock: values.clock,
        speedup: (values.speedup.0, values.speedup.1),
        start: values.crossbar_start,
        input_ports: values.input_ports,
        queues: queues?.scheme(),
        allocation: allocator?.allocation(),
        pipeline: stages.pipeline(),
        input_buffer: values.input_buffer,
        output_buffer: values.output_buffer,
    })
}

impl Params for Cioq {
    fn params() -> Vec<Param> {
        params()
    }

    fn read(section: &mut Section<'_>) -> Option<Self> {
        read(section, ArchitectureSpec::Cioq).map(Cioq)
    }
}

impl Described for Cioq {
    const NAME: &'static str = "cioq";
    const SUMMARY: &'static str = "Buffers at inputs and outputs, connected by a crossbar.";
    const EXAMPLE: &'static str = "speedup = 2\nqueues = \"voq\"";
}

impl SwitchModel for Cioq {
    fn spec(&self) -> SwitchSpec {
        self.0.clone()
    }
}

/// Keys that an input-queued switch accepts but does not use, so that `kind` can be changed alone.
pub(crate) const NOT_INPUT_QUEUED: [&str; 3] = ["speedup", "crossbar-start", "output-buffer"];

impl Params for InputQueued {
    fn params() -> Vec<Param> {
        let mut params = params();
        for param in &mut params {
            if NOT_INPUT_QUEUED.contains(&param.name.as_str()) {
                param.about =
                    "Not used by this kind; accepted so that `kind` can be changed alone."
                        .to_owned();
            }
        }
        params
    }

    fn read(section: &mut Section<'_>) -> Option<Self> {
        let spec = read(section, ArchitectureSpec::InputQueued);
        // Unused values do not change the run id.
        let is_used = |line: &ResolvedLine| match line {
            ResolvedLine::Value { key, .. } => !NOT_INPUT_QUEUED.contains(&key.as_str()),
            _ => true,
        };
        section.resolved.lines.retain(is_used);
        spec.map(InputQueued)
    }
}

impl Described for InputQueued {
    const NAME: &'static str = "iq";
    const SUMMARY: &'static str = "Buffers at inputs only. A packet crosses when the link of its \
                                   output can send all of it. The crossbar is as fast as the \
                                   links.";
    const PAPER: Option<&'static str> = Some(
        "M. Karol, M. Hluchyj, S. Morgan, \"Input versus output queueing on a space-division \
         packet switch\", IEEE Trans. Communications 35, 1987",
    );
    const EXAMPLE: &'static str = "queues = { kind = \"obqa\", queues = 4 }\nallocator = \"islip\"";
}

impl SwitchModel for InputQueued {
    fn spec(&self) -> SwitchSpec {
        self.0.clone()
    }
}
