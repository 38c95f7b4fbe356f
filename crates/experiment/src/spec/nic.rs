//! `[nic]`: where messages wait before they are sent.

use std::sync::Arc;

use netloom_catalog::{
    Described, Kind, Param, Params, ResolvedLine, Section, Shape, kind, params, read_kind,
};
use netloom_fabric::{CongestionControl, EndpointPlan, Link, Marking, NicQueues, ReceiveOrder};
use netloom_units::Bytes;

use super::reading::table;

/// A way to keep messages at a NIC.
pub trait NicQueueing: Send + Sync {
    /// As the fabric knows it.
    fn queues(&self) -> NicQueues;
}

/// All ways to keep messages at a NIC.
pub const NIC_QUEUES: &[Kind<dyn NicQueueing>] = &[
    kind!(PerSl, dyn NicQueueing),
    kind!(PerDestination, dyn NicQueueing),
];

params! {
    /// One unbounded queue per service channel.
    #[derive(Clone, Debug)]
    pub struct PerSl {}
}

impl Described for PerSl {
    const NAME: &'static str = "per-sl";
    const SUMMARY: &'static str = "One unbounded queue per service level (per service channel, where a level has several): a blocked head blocks what is behind it.";
    const EXAMPLE: &'static str = "";
}

impl NicQueueing for PerSl {
    fn queues(&self) -> NicQueues {
        NicQueues::PerChannel
    }
}

params! {
    /// One unbounded queue per service channel and destination, then injection queues.
    #[derive(Clone, Debug)]
    pub struct PerDestination {}
}

impl Described for PerDestination {
    const NAME: &'static str = "per-destination";
    const SUMMARY: &'static str = "One unbounded admittance queue per service level and destination, served in turns into injection queues like those of a switch input.";
    const EXAMPLE: &'static str = "";
}

impl NicQueueing for PerDestination {
    fn queues(&self) -> NicQueues {
        NicQueues::PerDestination
    }
}

/// `[nic]`, as the file gives it.
#[derive(Clone, Debug)]
pub struct NicSpec {
    /// Where messages wait.
    pub queues: NicQueues,
    /// What fits into a NIC; `None` for everything.
    pub buffer: Option<Bytes>,
    /// Whether every data packet is acknowledged; `None` for what suits the switches.
    pub acknowledge: Option<bool>,
    /// In which order packets are handed to the host.
    pub order: ReceiveOrder,
    /// How it slows down; `None` if it does not.
    pub congestion: Option<Arc<dyn CongestionControl>>,
}

impl NicSpec {
    /// Whether data packets are acknowledged, unless the switches ask for it: where something depends on it.
    pub(crate) fn acknowledges(&self) -> bool {
        self.acknowledge.unwrap_or(self.congestion.is_some())
    }

    /// When switches mark packets; never if `None`.
    pub(crate) fn marking(&self) -> Option<Marking> {
        self.congestion.as_ref()?.marking()
    }

    /// What the endpoints of the fabric do.
    pub(crate) fn endpoints(
        &self,
        queues: NicQueues,
        acknowledges: bool,
        host: Link,
    ) -> EndpointPlan {
        let control = self.congestion.as_ref();
        EndpointPlan {
            queues,
            buffer: None,
            acknowledgement: acknowledges.then_some(1),
            control: control.and_then(|control| control.control(host)),
            order: self.order,
        }
    }
}

params! {
    /// The plain values of a NIC.
    #[derive(Clone, Debug)]
    struct Values {
        /// What fits into a NIC, all service levels together, each of which has room for a largest packet; what does not fit waits
        /// in the application, which is measured apart (`application_wait_mean_ns`). Left out: everything fits.
        buffer: Option<Bytes> = None,
        /// Whether every data packet is answered by a packet of one flit; left out, it is with tiled switches and with
        /// congestion control.
        acknowledge: Option<bool> = None,
    }
}

params! {
    /// What a NIC does with packets that arrive.
    #[derive(Clone, Debug)]
    pub struct Receive {
        /// In which order packets of a flow are handed to the host.
        pub order: ReceiveOrder = ReceiveOrder::Message,
    }
}

/// Reads `[nic]`.
pub(crate) fn read(
    section: &mut Section<'_>,
    controls: &[Kind<dyn CongestionControl>],
) -> Option<NicSpec> {
    let queues = read_kind(
        section,
        "queues",
        "NIC queueing",
        NIC_QUEUES,
        Some("per-sl"),
    );
    let values = Values::read(section);
    let congestion = read_kind(
        section,
        "congestion-control",
        "congestion control",
        controls,
        Some("none"),
    );
    let receive = table(section, "receive", Receive::read);
    let congestion = congestion?;
    let is_controlled = !congestion.is_absent();
    let order = receive?.order;
    // What is not there makes no other experiment.
    let mut forget = |name: &str| {
        let is_it =
            |line: &ResolvedLine| matches!(line, ResolvedLine::Table(key, _) if key == name);
        section.resolved.lines.retain(|line| !is_it(line));
    };
    if !is_controlled {
        forget("congestion-control");
    }
    if order == ReceiveOrder::Message {
        forget("receive");
    }
    Some(NicSpec {
        queues: queues?.queues(),
        buffer: values.as_ref().and_then(|values| values.buffer),
        acknowledge: values?.acknowledge,
        order,
        congestion: is_controlled.then(|| Arc::from(congestion)),
    })
}

/// The parameters of `[nic]`.
pub(crate) fn params() -> Vec<Param> {
    let of_a_kind = |name: &str, about: &str, concept, default: &str| Param {
        name: name.to_owned(),
        about: about.to_owned(),
        shape: Shape::Kind(concept),
        default: Some(default.to_owned()),
    };
    let mut params = vec![of_a_kind(
        "queues",
        "Where messages wait at a NIC.",
        "NIC queueing",
        "\"per-sl\"",
    )];
    params.extend(Values::params());
    params.push(of_a_kind(
        "congestion-control",
        "How a NIC slows down when switches are congested.",
        "congestion control",
        "\"none\"",
    ));
    params
}
