//! `[switch]`: the kinds of switch, and their parts that come in kinds.

use netloom_catalog::{
    Described, FromToml, Kind, Notes, Param, Params, Section, Shape, Value, ValueShape, kind,
    params, read_kind,
};
use netloom_fabric::{Allocation, Pipeline, QueueScheme};
use netloom_units::{Bytes, Ratio, Time};

use super::link::exact_decimal;
use super::reading::table;

/// What a switch is made of, as the file gives it.
#[derive(Clone, Debug)]
pub struct SwitchSpec {
    /// Period of its clock; `None` for the flit time of the links.
    pub clock: Option<Time>,
    /// Flits per cycle over each crossbar port, as a fraction.
    pub speedup: (u32, u32),
    /// How an input is divided into queues.
    pub queues: QueueScheme,
    /// Who may cross.
    pub allocation: Allocation,
    /// Latencies of its stages.
    pub pipeline: Pipeline,
    /// The input buffer of a port.
    pub input_buffer: Buffer,
    /// The output buffer of a port.
    pub output_buffer: Buffer,
}

/// A kind of switch.
pub trait SwitchModel: Send + Sync {
    /// What it is made of.
    fn spec(&self) -> SwitchSpec;
}

/// All kinds of switch.
pub const SWITCHES: &[Kind<dyn SwitchModel>] = &[kind!(Cioq, dyn SwitchModel)];

/// A way to divide an input into queues.
pub trait Queueing: Send + Sync {
    /// As the fabric knows it.
    fn scheme(&self) -> QueueScheme;
}

/// All ways to divide an input into queues.
pub const QUEUES: &[Kind<dyn Queueing>] = &[kind!(PerVl, dyn Queueing), kind!(Voq, dyn Queueing)];

/// A way to decide who may cross the switch.
pub trait Allocating: Send + Sync {
    /// As the fabric knows it.
    fn allocation(&self) -> Allocation;
}

/// All ways to decide who may cross the switch.
pub const ALLOCATORS: &[Kind<dyn Allocating>] = &[
    kind!(Separable, dyn Allocating),
    kind!(Islip, dyn Allocating),
];

params! {
    /// One queue per virtual lane.
    #[derive(Clone, Debug)]
    pub struct PerVl {}
}

impl Described for PerVl {
    const NAME: &'static str = "per-vl";
    const SUMMARY: &'static str =
        "One queue per virtual lane; a blocked head blocks what is behind it in its lane.";
    const EXAMPLE: &'static str = "";
}

impl Queueing for PerVl {
    fn scheme(&self) -> QueueScheme {
        QueueScheme::PerVl
    }
}

params! {
    /// One queue per virtual lane and output of this switch.
    #[derive(Clone, Debug)]
    pub struct Voq {}
}

impl Described for Voq {
    const NAME: &'static str = "voq";
    const SUMMARY: &'static str = "One queue per virtual lane and output of this switch (VOQsw): no head-of-line blocking inside it.";
    const PAPER: Option<&'static str> = Some(
        "Y. Tamir, G. Frazier, \"High-performance multi-queue buffers for VLSI communication switches\", \
         ISCA 1988",
    );
    const EXAMPLE: &'static str = "";
}

impl Queueing for Voq {
    fn scheme(&self) -> QueueScheme {
        QueueScheme::VoqSwitch
    }
}

params! {
    /// Each input picks one queue, each output one input, both round robin, once per cycle.
    #[derive(Clone, Debug)]
    pub struct Separable {}
}

impl Described for Separable {
    const NAME: &'static str = "separable";
    const SUMMARY: &'static str =
        "Each input picks one queue, each output one input, both round robin, once per cycle.";
    const EXAMPLE: &'static str = "";
}

impl Allocating for Separable {
    fn allocation(&self) -> Allocation {
        Allocation::Separable
    }
}

params! {
    /// Outputs grant and inputs accept, round robin, several times per cycle.
    #[derive(Clone, Debug)]
    pub struct Islip {
        /// Rounds of request, grant and accept in a cycle.
        pub iterations: u8 = 1,
    }
    check |it, section| {
        if !(1..=16).contains(&it.iterations) {
            let place = section.place_of("iterations");
            section.notes.error("E0102", place, format!("{} iterations", it.iterations)).help("write 1 to 16");
        }
    }
}

impl Described for Islip {
    const NAME: &'static str = "islip";
    const SUMMARY: &'static str =
        "Outputs grant and inputs accept, round robin, in several rounds per cycle.";
    const PAPER: Option<&'static str> = Some(
        "N. McKeown, \"The iSLIP scheduling algorithm for input-queued switches\", IEEE/ACM Trans. \
         Networking 7, 1999",
    );
    const EXAMPLE: &'static str = "iterations = 2";
}

impl Allocating for Islip {
    fn allocation(&self) -> Allocation {
        Allocation::Islip {
            iterations: self.iterations,
        }
    }
}

/// Buffers at inputs and outputs around a crossbar.
#[derive(Clone, Debug)]
pub struct Cioq(SwitchSpec);

params! {
    /// The plain values of a switch with buffers at inputs and outputs.
    #[derive(Clone, Debug)]
    pub(crate) struct CioqValues {
        /// Its clock, as a period or a frequency; left out, one cycle per flit of the links.
        pub(crate) clock: Option<Time> = None,
        /// Flits per cycle over each port of the crossbar.
        pub(crate) speedup: Speedup = Speedup(1, 1),
        /// Buffer of an input port: an amount for each lane, or { pool = …, min = …, max = … }.
        pub(crate) input_buffer: Buffer = Buffer::PerVl(Bytes(16 << 10)),
        /// Buffer of an output port, in the same form.
        pub(crate) output_buffer: Buffer = Buffer::PerVl(Bytes(8 << 10)),
    }
    check |it, section| {
        let (shortest, longest) = (Time::from_picos(Ratio::whole(1)), Time::from_nanos(1_000_000));
        if it.clock.is_some_and(|clock| clock < shortest || clock > longest) {
            let place = section.place_of("clock");
            section.notes.error("E0102", place, "a clock out of range").help("write a period from 1 ps to 1 ms");
        }
    }
}

params! {
    /// Latencies of the stages, in cycles of the switch's clock. They are pipelined: they delay a packet
    /// and occupy nothing.
    #[derive(Clone, Debug)]
    pub struct Stages {
        /// Writing the header into the input buffer.
        pub input: u64 = 1,
        /// Computing the output.
        pub routing: u64 = 1,
        /// From the allocation to the first flit on the crossbar.
        pub allocation: u64 = 1,
        /// From the crossbar's input to the output buffer.
        pub crossbar: u64 = 1,
        /// From the scheduler's decision to the first flit on the link.
        pub output: u64 = 1,
        /// From a flit leaving the input buffer to its credit leaving for the other end.
        pub credit: u64 = 1,
    }
    check |it, section| {
        let stages = [
            ("input", it.input),
            ("routing", it.routing),
            ("allocation", it.allocation),
            ("crossbar", it.crossbar),
            ("output", it.output),
            ("credit", it.credit),
        ];
        for (key, cycles) in stages {
            if cycles > MOST_CYCLES {
                let place = section.place_of(key);
                section.notes.error("E0102", place, format!("{cycles} cycles")).help(format!("write 0 to {MOST_CYCLES}"));
            }
        }
        if it.allocation == 0 && it.crossbar == 0 {
            let (allocation, crossbar) = (section.place_of("allocation"), section.place_of("crossbar"));
            section
                .notes
                .error("E0310", crossbar, "`allocation` and `crossbar` are both 0")
                .also(allocation, "")
                .help("a packet needs at least one cycle from its input to its output: give one of them 1");
        }
    }
}

const MOST_CYCLES: u64 = 1_000_000;

impl Params for Cioq {
    fn params() -> Vec<Param> {
        let mut params = CioqValues::params();
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
            "Who may cross the switch next.",
            "allocator",
            "\"separable\"",
        ));
        params
    }

    fn read(section: &mut Section<'_>) -> Option<Self> {
        let values = CioqValues::read(section);
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
        Some(Cioq(SwitchSpec {
            clock: values.clock,
            speedup: (values.speedup.0, values.speedup.1),
            queues: queues?.scheme(),
            allocation: allocator?.allocation(),
            pipeline: Pipeline {
                input: stages.input,
                routing: stages.routing,
                allocation: stages.allocation,
                crossbar: stages.crossbar,
                output: stages.output,
                credit: stages.credit,
            },
            input_buffer: values.input_buffer,
            output_buffer: values.output_buffer,
        }))
    }
}

impl Described for Cioq {
    const NAME: &'static str = "cioq";
    const SUMMARY: &'static str = "Buffers at inputs and outputs around a crossbar.";
    const EXAMPLE: &'static str = "speedup = 2\nqueues = \"voq\"";
}

impl SwitchModel for Cioq {
    fn spec(&self) -> SwitchSpec {
        self.0.clone()
    }
}

/// Flits per cycle as an exact fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Speedup(u32, u32);

impl FromToml for Speedup {
    fn shape() -> Shape {
        Shape::Number
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let number = f64::read(value, notes)?;
        // The shortest decimal that reads as this number is what the file says.
        let exact = match (0.01..=64.0).contains(&number) {
            true => exact_decimal(&number.to_string()),
            false => None,
        };
        let fraction = exact.and_then(|exact| {
            let part = |n: u128| u32::try_from(n).ok().filter(|n| *n <= 1_000_000);
            Some(Speedup(part(exact.num())?, part(exact.den())?))
        });
        if fraction.is_none() {
            notes
                .error("E0102", value.place, format!("a speedup of {number}"))
                .help("write a number from 0.01 to 64 with few decimals, like 1.5");
        }
        fraction
    }

    fn write(&self) -> String {
        match self.1 {
            1 => self.0.to_string(),
            _ => (f64::from(self.0) / f64::from(self.1)).write(),
        }
    }
}

/// The buffer of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// So much for each lane.
    PerVl(Bytes),
    /// One pool for all lanes.
    Pool(Pool),
}

params! {
    /// A buffer as one pool that all lanes of a port share.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Pool {
        /// The whole buffer.
        pub pool: Bytes,
        /// Kept free for each lane; left out, the lane's largest packet.
        pub min: Option<Bytes> = None,
        /// At most this much for each lane; left out, all that the others' minima leave.
        pub max: Option<Bytes> = None,
    }
}

impl FromToml for Buffer {
    fn shape() -> Shape {
        Bytes::shape()
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        match value.shape {
            ValueShape::Table(_) => {
                let mut section = Section::open(value, notes)?;
                let pool = Pool::read(&mut section);
                section.finish();
                pool.map(Buffer::Pool)
            }
            _ => Bytes::read(value, notes).map(Buffer::PerVl),
        }
    }

    fn write(&self) -> String {
        match self {
            Buffer::PerVl(bytes) => bytes.write(),
            Buffer::Pool(Pool { pool, min, max }) => {
                let mut text = format!("{{ pool = {}", pool.write());
                for (key, value) in [("min", min), ("max", max)] {
                    if let Some(value) = value {
                        text.push_str(&format!(", {key} = {}", value.write()));
                    }
                }
                text + " }"
            }
        }
    }
}
