//! `[nic]`: where messages wait before they are sent.

use netloom_catalog::{Described, Kind, Param, Section, Shape, kind, params, read_kind};
use netloom_fabric::NicQueues;

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

/// Reads `[nic]`.
pub(crate) fn read(section: &mut Section<'_>) -> Option<NicQueues> {
    let queues = read_kind(
        section,
        "queues",
        "NIC queueing",
        NIC_QUEUES,
        Some("per-sl"),
    );
    queues.map(|queues| queues.queues())
}

/// The parameters of `[nic]`.
pub(crate) fn params() -> Vec<Param> {
    vec![Param {
        name: "queues".to_owned(),
        about: "Where messages wait at a NIC.".to_owned(),
        shape: Shape::Kind("NIC queueing"),
        default: Some("\"per-sl\"".to_owned()),
    }]
}
