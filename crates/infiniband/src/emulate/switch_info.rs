//! SwitchInfo: the sizes of forwarding tables, and how much of them is in use.

use super::agent::Asked;
use super::device::Device;
use super::mad::{Attribute64, Status};

super::field::layout! {
    LINEAR_CAP: 0, 0, 16;
    RANDOM_CAP: 2, 0, 16;
    MULTICAST_CAP: 4, 0, 16;
    LINEAR_TOP: 6, 0, 16;
    DEFAULT_PORT: 8, 0, 8;
    DEFAULT_MULTICAST_PRIMARY: 9, 0, 8;
    DEFAULT_MULTICAST_NOT_PRIMARY: 10, 0, 8;
    LIFE_TIME: 11, 0, 5;
    /// Set by the switch when a link goes up or down, reset by writing 1.
    STATE_CHANGE: 11, 5, 1;
    OPTIMIZED_SL_TO_VL: 11, 6, 2;
    LIDS_PER_PORT: 12, 0, 16;
    PARTITION_CAP: 14, 0, 16;
    INBOUND_CAP: 16, 0, 1;
    OUTBOUND_CAP: 16, 1, 1;
    FILTER_IN_CAP: 16, 2, 1;
    FILTER_OUT_CAP: 16, 3, 1;
    ENHANCED_PORT_0: 16, 4, 1;
    MULTICAST_TOP: 18, 0, 16;
}

/// The fields that a manager can change.
const SETTABLE: [super::field::Field; 6] = [
    LINEAR_TOP,
    DEFAULT_PORT,
    DEFAULT_MULTICAST_PRIMARY,
    DEFAULT_MULTICAST_NOT_PRIMARY,
    LIFE_TIME,
    MULTICAST_TOP,
];

/// Size of the linear table: all unicast addresses.
pub(super) const N_LINEAR: usize = 0xc000;
/// Size of the multicast table.
pub(super) const N_MULTICAST: usize = 1024;

/// Returns the initial SwitchInfo. Its links have just come up.
pub(super) fn initial(has_enhanced_port_0: bool) -> Attribute64 {
    let mut info = [0; 64];
    for (field, value) in [
        (LINEAR_CAP, N_LINEAR as u64),
        (MULTICAST_CAP, N_MULTICAST as u64),
        (LIFE_TIME, 18),
        (STATE_CHANGE, 1),
        (PARTITION_CAP, super::port_tables::N_PARTITION_KEYS as u64),
        (ENHANCED_PORT_0, u64::from(has_enhanced_port_0)),
    ] {
        field.set(&mut info, value);
    }
    info
}

/// Handles SwitchInfo: reads it, or changes the fields that can be changed.
pub(super) fn answer(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let Some(switch) = &mut device.switch else {
        return Status::BadAttribute;
    };
    if asked.is_set {
        if LINEAR_TOP.get(data) >= N_LINEAR as u64 {
            return Status::BadValue;
        }
        for field in SETTABLE {
            field.copy(data, &mut switch.info);
        }
        if STATE_CHANGE.get(data) == 1 {
            STATE_CHANGE.set(&mut switch.info, 0);
        }
    }
    *data = switch.info;
    Status::Good
}

#[cfg(test)]
mod tests {
    use super::super::field::check_layout;
    use super::*;

    #[test]
    fn switch_info_is_where_the_standard_has_it() {
        check_layout(FIELDS, 20);
        let mut info = initial(true);
        assert_eq!(info[..6], [0xc0, 0, 0, 0, 0x04, 0]);
        assert_eq!(info[11], 18 << 3 | 4);
        assert_eq!(info[14..17], [0, 64, 0x08]);
        LINEAR_TOP.set(&mut info, 0x0123);
        MULTICAST_TOP.set(&mut info, 0xc0ff);
        assert_eq!(info[6..8], [0x01, 0x23]);
        assert_eq!(info[18..20], [0xc0, 0xff]);
    }
}
