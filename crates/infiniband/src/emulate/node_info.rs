//! NodeInfo, NodeDescription and GUIDInfo: the identity of a node, which is read-only.

use crate::{Node, NodeKind};

use super::device::Device;
use super::mad::{Attribute64, Status};
use super::{agent::Asked, port_tables};

super::field::layout! {
    BASE_VERSION: 0, 0, 8;
    CLASS_VERSION: 1, 0, 8;
    NODE_TYPE: 2, 0, 8;
    N_PORTS: 3, 0, 8;
    SYSTEM_GUID: 4, 0, 64;
    NODE_GUID: 12, 0, 64;
    PORT_GUID: 20, 0, 64;
    PARTITION_CAP: 28, 0, 16;
    DEVICE_ID: 30, 0, 16;
    REVISION: 32, 0, 32;
    LOCAL_PORT: 36, 0, 8;
    VENDOR_ID: 37, 0, 24;
}

/// Vendor and device of a node if the file does not give them. No real vendor has 0.
const UNKNOWN: u32 = 0;

/// GUIDs in one block of GUIDInfo.
const GUIDS_OF_BLOCK: u32 = 8;

/// Returns NodeInfo of a node, except for the fields about the queried port.
pub(super) fn initial(node: &Node) -> Attribute64 {
    let mut info = [0; 64];
    let node_type = match node.kind {
        NodeKind::ChannelAdapter => 1,
        NodeKind::Switch { .. } => 2,
        NodeKind::Router => 3,
    };
    let device = node.device.map_or(UNKNOWN, |d| d.device);
    let vendor = node.device.map_or(UNKNOWN, |d| d.vendor);
    for (field, value) in [
        (BASE_VERSION, 1),
        (CLASS_VERSION, 1),
        (NODE_TYPE, node_type),
        (N_PORTS, node.ports.len().saturating_sub(1) as u64),
        (SYSTEM_GUID, node.system_guid.unwrap_or(node.guid).0),
        (NODE_GUID, node.guid.0),
        (PARTITION_CAP, port_tables::N_PARTITION_KEYS as u64),
        (DEVICE_ID, u64::from(device)),
        (VENDOR_ID, u64::from(vendor)),
    ] {
        field.set(&mut info, value);
    }
    info
}

/// Handles NodeInfo, with the fields of the queried port.
pub(super) fn answer(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    if asked.is_set {
        return Status::BadAttribute;
    }
    *data = device.node_info;
    PORT_GUID.set(data, device.port_guid(asked.arrival));
    LOCAL_PORT.set(data, u64::from(asked.arrival));
    Status::Good
}

/// Handles NodeDescription.
pub(super) fn describe(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    if asked.is_set {
        return Status::BadAttribute;
    }
    *data = device.description;
    Status::Good
}

/// Handles GUIDInfo. The first GUID is the permanent one of the port; there are no others.
pub(super) fn guids(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    if asked.modifier >= GUIDS_OF_BLOCK * 4 {
        return Status::BadValue;
    }
    data.fill(0);
    if asked.modifier == 0 {
        data[..8].copy_from_slice(&device.port_guid(asked.arrival).to_be_bytes());
    }
    Status::Good
}

#[cfg(test)]
mod tests {
    use super::super::field::check_layout;
    use super::*;
    use crate::{Guid, SubnetPort};

    #[test]
    fn node_info_is_where_the_standard_has_it() {
        check_layout(FIELDS, 40);
        let node = Node {
            kind: NodeKind::Switch {
                enhanced_port_0: false,
            },
            guid: Guid(0x0102_0304_0506_0708),
            system_guid: Some(Guid(0x1112_1314_1516_1718)),
            device: Some(crate::Device {
                vendor: 0x02_c903,
                device: 0xd2f0,
            }),
            description: String::new(),
            ports: vec![SubnetPort::default(); 41],
        };
        let info = initial(&node);
        assert_eq!(info[..4], [1, 1, 2, 40]);
        assert_eq!(
            info[4..12],
            [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]
        );
        assert_eq!(info[12..20], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(info[28..32], [0, 64, 0xd2, 0xf0]);
        assert_eq!(info[36..40], [0, 0x02, 0xc9, 0x03]);
        assert_eq!(info[40..], [0; 24]);
    }
}
