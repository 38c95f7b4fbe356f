//! `[nic]`: queues and protocols of NICs.

use std::sync::Arc;

use netloom_catalog::{
    Described, Kind, Param, Params, ResolvedLine, Section, Shape, kind, params, read_kind,
};
use netloom_fabric::{CongestionControl, EndpointPlan, Link, NicQueues, ReceiveOrder};
use netloom_units::Bytes;

use super::reading::table;

/// A kind of NIC queueing.
#[warn(missing_docs)]
pub trait NicQueueing: Send + Sync {
    /// Returns the queues of the fabric's NICs.
    fn queues(&self) -> NicQueues;
}

/// All kinds of NIC queueing.
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
    const SUMMARY: &'static str = "One unbounded queue per service level, or per service channel \
                                   if a level has several. A blocked head blocks all messages \
                                   after it.";
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
    const SUMMARY: &'static str = "One unbounded admittance queue per service level and \
                                   destination, served in turn into injection queues like those of \
                                   a switch input.";
    const EXAMPLE: &'static str = "";
}

impl NicQueueing for PerDestination {
    fn queues(&self) -> NicQueues {
        NicQueues::PerDestination
    }
}

/// `[nic]` as given in the file.
#[derive(Clone, Debug)]
pub struct NicSpec {
    /// Queues of messages.
    pub queues: NicQueues,
    /// Capacity of a NIC; `None` if unbounded.
    pub buffer: Option<Bytes>,
    /// Whether every data packet is acknowledged; `None` for the default of the switches.
    pub acknowledge: Option<bool>,
    /// Order in which packets are delivered to the host.
    pub order: ReceiveOrder,
    /// Congestion control, if any.
    pub congestion: Option<Arc<dyn CongestionControl>>,
}

impl NicSpec {
    /// Returns whether data packets are acknowledged, apart from the requirements of switches: by
    /// default, if there is a congestion control.
    pub(crate) fn acknowledges(&self) -> bool {
        self.acknowledge.unwrap_or(self.congestion.is_some())
    }

    /// Returns the fraction of a buffer above which inputs mark packets; `None` if none does.
    pub(crate) fn marks_above(&self) -> Option<f64> {
        self.congestion.as_ref()?.marks_above()
    }

    /// Returns the plan of the fabric's endpoints.
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
        /// Capacity of a NIC for all service levels together. It must hold a largest packet of each
        /// level. Further messages wait in the application, which is measured separately
        /// (`application_wait_mean_ns`). By default the capacity is unlimited.
        buffer: Option<Bytes> = None,
        /// Whether every data packet is acknowledged by a packet of one flit. The default is true
        /// with tiled switches and with congestion control.
        acknowledge: Option<bool> = None,
    }
}

params! {
    /// How a NIC handles arriving packets.
    #[derive(Clone, Debug)]
    pub struct Receive {
        /// The order in which packets of a flow are delivered to the host.
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
    // An absent feature does not change the run id.
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

/// Returns the parameters of `[nic]`.
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
