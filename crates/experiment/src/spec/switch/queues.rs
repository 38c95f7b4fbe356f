//! The kinds of queue schemes: how an input is divided into queues.

use netloom_catalog::{Described, Kind, Section, kind, params};
use netloom_fabric::QueueScheme;

/// A kind of queue scheme.
#[warn(missing_docs)]
pub trait Queueing: Send + Sync {
    /// Returns the queue scheme of the fabric's switches.
    fn scheme(&self) -> QueueScheme;
}

/// All kinds of queue schemes.
pub const QUEUES: &[Kind<dyn Queueing>] = &[
    kind!(OneQueue, dyn Queueing),
    kind!(PerVl, dyn Queueing),
    kind!(Voq, dyn Queueing),
    kind!(VoqNet, dyn Queueing),
    kind!(Dbbm, dyn Queueing),
    kind!(Obqa, dyn Queueing),
];

params! {
    /// One queue for everything.
    #[derive(Clone, Debug)]
    pub struct OneQueue {}
}

impl Described for OneQueue {
    const NAME: &'static str = "1q";
    const SUMMARY: &'static str = "One queue for all lanes, outputs and destinations (1Q). A \
                                   blocked head blocks the whole input.";
    const PAPER: Option<&'static str> = Some(
        "M. Karol, M. Hluchyj, S. Morgan, \"Input versus output queueing on a space-division \
         packet switch\", IEEE Trans. Communications 35, 1987",
    );
    const EXAMPLE: &'static str = "";
}

impl Queueing for OneQueue {
    fn scheme(&self) -> QueueScheme {
        QueueScheme::OneQueue
    }
}

params! {
    /// One queue per virtual lane.
    #[derive(Clone, Debug)]
    pub struct PerVl {}
}

impl Described for PerVl {
    const NAME: &'static str = "per-vl";
    const SUMMARY: &'static str =
        "One queue per virtual lane. A blocked head blocks all packets after it on its lane.";
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
    const SUMMARY: &'static str = "One queue per virtual lane and output of this switch (VOQsw). \
                                   No head-of-line blocking inside the switch.";
    const PAPER: Option<&'static str> = Some(
        "Y. Tamir, G. Frazier, \"High-performance multi-queue buffers for VLSI communication \
         switches\", ISCA 1988",
    );
    const EXAMPLE: &'static str = "";
}

impl Queueing for Voq {
    fn scheme(&self) -> QueueScheme {
        QueueScheme::VoqSwitch
    }
}

params! {
    /// One queue per virtual lane and destination.
    #[derive(Clone, Debug)]
    pub struct VoqNet {}
}

impl Described for VoqNet {
    const NAME: &'static str = "voq-net";
    const SUMMARY: &'static str = "One queue per virtual lane and destination of the whole fabric \
                                   (VOQnet). No head-of-line blocking at all, but memory grows \
                                   with the fabric.";
    const PAPER: Option<&'static str> = Some(
        "W. Dally, P. Carvey, L. Dennison, \"The Avici terabit switch/router\", Hot Interconnects \
         6, 1998",
    );
    const EXAMPLE: &'static str = "";
}

impl Queueing for VoqNet {
    fn scheme(&self) -> QueueScheme {
        QueueScheme::VoqNet
    }
}

params! {
    /// A few queues per virtual lane, chosen by the number of the destination.
    #[derive(Clone, Debug)]
    pub struct Dbbm {
        /// Queues per lane. Packets for destination d join queue d modulo this number.
        pub queues: u16 = 4,
    }
    check |it, section| {
        some_queues(section, it.queues);
    }
}

impl Described for Dbbm {
    const NAME: &'static str = "dbbm";
    const SUMMARY: &'static str = "`queues` queues per virtual lane. A packet joins the queue with \
                                   the number of its destination modulo `queues` (DBBM).";
    const PAPER: Option<&'static str> = Some(
        "T. Nachiondo, J. Flich, J. Duato, \"Buffer management strategies to reduce HoL \
         blocking\", IEEE Trans. Parallel and Distributed Systems 21, 2010",
    );
    const EXAMPLE: &'static str = "queues = 4";
}

impl Queueing for Dbbm {
    fn scheme(&self) -> QueueScheme {
        QueueScheme::Dbbm {
            queues: self.queues,
        }
    }
}

params! {
    /// A few queues per virtual lane, chosen by the number of the output.
    #[derive(Clone, Debug)]
    pub struct Obqa {
        /// Queues per lane. Packets for output p join queue p modulo this number.
        pub queues: u16 = 4,
    }
    check |it, section| {
        some_queues(section, it.queues);
    }
}

impl Described for Obqa {
    const NAME: &'static str = "obqa";
    const SUMMARY: &'static str = "`queues` queues per virtual lane. A packet joins the queue with \
                                   the number of its output modulo `queues` (OBQA). Suits trees.";
    const PAPER: Option<&'static str> = Some(
        "J. Escudero-Sahuquillo, P. Garcia, F. Quiles, J. Flich, J. Duato, \"OBQA: smart and \
         cost-efficient queue scheme for head-of-line blocking elimination in fat-trees\", J. \
         Parallel and Distributed Computing 71, 2011",
    );
    const EXAMPLE: &'static str = "queues = 4";
}

impl Queueing for Obqa {
    fn scheme(&self) -> QueueScheme {
        QueueScheme::Obqa {
            queues: self.queues,
        }
    }
}

/// Limit on the queues of a lane, which is that of a port.
const MOST: u16 = 8192;

fn some_queues(section: &mut Section<'_>, queues: u16) {
    if !(1..=MOST).contains(&queues) {
        let place = section.place_of("queues");
        section
            .notes
            .error(
                "E0102",
                place,
                format!("expected 1 to {MOST} queues per lane, found {queues}"),
            )
            .help(format!("use 1 to {MOST}"));
    }
}
