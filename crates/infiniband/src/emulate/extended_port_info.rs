//! MLNXExtendedPortInfo: whether a link runs at FDR10, which has no code in PortInfo.
//!
//! This is a vendor attribute that OpenSM and ibnetdiscover query on devices of that vendor. A port
//! at FDR10 has QDR in PortInfo and FDR10 here. Other speeds have no bit here.

use crate::Speed;

use super::agent::Asked;
use super::device::Device;
use super::mad::{Attribute64, Status};

super::field::layout! {
    /// Requests that the link trains again with the speeds that a Set enables.
    STATE_CHANGE_ENABLE: 3, 0, 8;
    SPEED_SUPPORTED: 7, 0, 8;
    SPEED_ENABLED: 11, 0, 8;
    SPEED_ACTIVE: 15, 0, 8;
}

/// The bit of FDR10 in the speed fields.
const FDR10: u64 = 1;

/// Returns the initial attribute of a port.
pub(super) fn initial(speed: Option<Speed>) -> Attribute64 {
    let mut info = [0; 64];
    if speed == Some(Speed::Fdr10) {
        for field in [SPEED_SUPPORTED, SPEED_ENABLED, SPEED_ACTIVE] {
            field.set(&mut info, FDR10);
        }
    }
    info
}

/// Reads the attribute, or changes the enabled speeds among the supported ones.
pub(super) fn answer(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let Some(number) = device.port_of_modifier(asked, asked.modifier & 0xff) else {
        return Status::BadValue;
    };
    let info = &mut device.ports[usize::from(number)].extended_info;
    if asked.is_set {
        if SPEED_ENABLED.get(data) & !SPEED_SUPPORTED.get(info) != 0 {
            return Status::BadValue;
        }
        SPEED_ENABLED.copy(data, info);
    }
    *data = *info;
    Status::Good
}

#[cfg(test)]
mod tests {
    use super::super::field::check_layout;
    use super::*;

    #[test]
    fn the_speeds_are_where_the_vendor_has_them() {
        check_layout(FIELDS, 64);
        assert_eq!(initial(Some(Speed::Hdr)), [0; 64]);
        let info = initial(Some(Speed::Fdr10));
        assert_eq!(info[..16], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(info[16..], [0; 48]);
    }
}
