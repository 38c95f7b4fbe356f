//! The subnet management agent: dispatches attributes to their handlers.

use std::fmt;

use super::device::Device;
use super::mad::{Attribute64, Status};
use super::{extended_port_info, forwarding, node_info, port_info, port_tables, switch_info};

/// A request to an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Whether the request changes the attribute (Set) or only reads it (Get).
    pub(super) is_set: bool,
    /// The port by which the packet arrived; 0 for a packet from the switch itself.
    pub(super) arrival: u8,
    /// The attribute modifier, which selects a part of the attribute.
    pub(super) modifier: u32,
}

/// An attribute of subnet management.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the standard's, or a vendor's")]
pub enum Attribute {
    NodeDescription,
    NodeInfo,
    SwitchInfo,
    GuidInfo,
    PortInfo,
    ExtendedPortInfo,
    PartitionKeys,
    SlToVl,
    VlArbitration,
    LinearForwarding,
    MulticastForwarding,
    /// Any attribute that the agents do not support.
    Other,
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = ATTRIBUTES.iter().find(|row| row.1 == *self);
        f.write_str(found.map_or("other", |row| row.2))
    }
}

type Answer = fn(&mut Device, &Asked, &mut Attribute64) -> Status;

/// The supported attributes: number, attribute, the standard's name, and handler.
const ATTRIBUTES: [(u64, Attribute, &str, Answer); 11] = {
    use Attribute::*;
    [
        (
            0x10,
            NodeDescription,
            "NodeDescription",
            node_info::describe,
        ),
        (0x11, NodeInfo, "NodeInfo", node_info::answer),
        (0x12, SwitchInfo, "SwitchInfo", switch_info::answer),
        (0x14, GuidInfo, "GUIDInfo", node_info::guids),
        (0x15, PortInfo, "PortInfo", port_info::answer),
        (
            0x16,
            PartitionKeys,
            "P_KeyTable",
            port_tables::partition_keys,
        ),
        (0x17, SlToVl, "SLtoVLMappingTable", port_tables::sl_to_vl),
        (
            0x18,
            VlArbitration,
            "VLArbitrationTable",
            port_tables::arbitration,
        ),
        (
            0x19,
            LinearForwarding,
            "LinearForwardingTable",
            forwarding::linear,
        ),
        (
            0x1b,
            MulticastForwarding,
            "MulticastForwardingTable",
            forwarding::multicast,
        ),
        (
            0xff90,
            ExtendedPortInfo,
            "MLNXExtendedPortInfo",
            extended_port_info::answer,
        ),
    ]
};

/// Handles a request for the attribute with this number. An unknown number changes nothing.
pub(super) fn answer(
    device: &mut Device,
    number: u64,
    asked: &Asked,
    data: &mut Attribute64,
) -> (Attribute, Status) {
    match ATTRIBUTES.iter().find(|row| row.0 == number) {
        Some((_, attribute, _, answer)) => (*attribute, answer(device, asked, data)),
        None => (Attribute::Other, Status::BadAttribute),
    }
}
