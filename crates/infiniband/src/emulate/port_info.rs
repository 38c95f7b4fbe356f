//! PortInfo: the address of a port, its link, its lanes.
//!
//! A Set is executed completely or not at all. M_Keys are not checked. The request to register
//! again (ClientReregister) is not stored, since it is for the operating system of a host.

use super::agent::Asked;
use super::device::{Device, LinkOrder};
use super::field::Field;
use super::link_codes::{SpeedCode, WidthCode};
use super::mad::{Attribute64, Status};
use super::profile::Profile;

super::field::layout! {
    M_KEY: 0, 0, 64;
    GID_PREFIX: 8, 0, 64;
    LID: 16, 0, 16;
    MANAGER_LID: 18, 0, 16;
    CAPABILITIES: 20, 0, 32;
    DIAGNOSTICS: 24, 0, 16;
    M_KEY_LEASE: 26, 0, 16;
    LOCAL_PORT: 28, 0, 8;
    WIDTH_ENABLED: 29, 0, 8;
    WIDTH_SUPPORTED: 30, 0, 8;
    WIDTH_ACTIVE: 31, 0, 8;
    SPEED_SUPPORTED: 32, 0, 4;
    STATE: 32, 4, 4;
    PHYSICAL_STATE: 33, 0, 4;
    LINK_DOWN_STATE: 33, 4, 4;
    M_KEY_PROTECTION: 34, 0, 2;
    LMC: 34, 5, 3;
    SPEED_ACTIVE: 35, 0, 4;
    SPEED_ENABLED: 35, 4, 4;
    NEIGHBOR_MTU: 36, 0, 4;
    MANAGER_SL: 36, 4, 4;
    VL_CAP: 37, 0, 4;
    INIT_TYPE: 37, 4, 4;
    VL_HIGH_LIMIT: 38, 0, 8;
    VL_ARBITRATION_HIGH_CAP: 39, 0, 8;
    VL_ARBITRATION_LOW_CAP: 40, 0, 8;
    INIT_TYPE_REPLY: 41, 0, 4;
    MTU_CAP: 41, 4, 4;
    VL_STALL_COUNT: 42, 0, 3;
    HEAD_OF_QUEUE_LIFE: 42, 3, 5;
    OPERATIONAL_VLS: 43, 0, 4;
    PARTITION_INBOUND: 43, 4, 1;
    PARTITION_OUTBOUND: 43, 5, 1;
    FILTER_RAW_INBOUND: 43, 6, 1;
    FILTER_RAW_OUTBOUND: 43, 7, 1;
    M_KEY_VIOLATIONS: 44, 0, 16;
    P_KEY_VIOLATIONS: 46, 0, 16;
    Q_KEY_VIOLATIONS: 48, 0, 16;
    GUID_CAP: 50, 0, 8;
    CLIENT_REREGISTER: 51, 0, 1;
    MULTICAST_TRAP_SUPPRESSION: 51, 1, 2;
    SUBNET_TIMEOUT: 51, 3, 5;
    RESPONSE_TIME: 52, 3, 5;
    LOCAL_ERRORS: 53, 0, 4;
    OVERRUN_ERRORS: 53, 4, 4;
    MAX_CREDIT_HINT: 54, 0, 16;
    ROUND_TRIP: 57, 0, 24;
    CAPABILITIES_2: 60, 0, 16;
    SPEED_EXTENDED_ACTIVE: 62, 0, 4;
    SPEED_EXTENDED_SUPPORTED: 62, 4, 4;
    SPEED_EXTENDED_ENABLED: 63, 3, 5;
}

/// Bits of the capability mask.
pub(super) mod capability {
    pub(in crate::emulate) const IS_MANAGER: u64 = 1 << 1;
    pub(in crate::emulate) const TRAPS: u64 = 1 << 3;
    pub(in crate::emulate) const SL_MAPPING: u64 = 1 << 6;
    pub(in crate::emulate) const EXTENDED_SPEEDS: u64 = 1 << 14;
}

/// Values of [`STATE`].
pub(super) mod state {
    pub(in crate::emulate) const DOWN: u64 = 1;
    pub(in crate::emulate) const INITIALIZE: u64 = 2;
    pub(in crate::emulate) const ARMED: u64 = 3;
    pub(in crate::emulate) const ACTIVE: u64 = 4;
}

/// Values of [`PHYSICAL_STATE`].
pub(super) mod physical {
    pub(in crate::emulate) const SLEEP: u64 = 1;
    pub(in crate::emulate) const POLLING: u64 = 2;
    pub(in crate::emulate) const DISABLED: u64 = 3;
    pub(in crate::emulate) const LINK_UP: u64 = 5;
}

/// The initial state of a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) number: u8,
    /// Whether it has an address: ports of channel adapters and routers, and port 0 of a switch.
    pub(super) is_addressed: bool,
    pub(super) is_up: bool,
    pub(super) lid: u16,
    pub(super) lmc: u8,
    pub(super) width: WidthCode,
    pub(super) speed: SpeedCode,
    /// Whether any port of the node is FDR or faster. Ports with an address report this.
    pub(super) has_extended_speeds: bool,
    pub(super) profile: Profile,
}

/// Returns the initial PortInfo of a port.
pub(super) fn initial(start: &Start) -> Attribute64 {
    let (state, physical) = match start.is_up {
        true => (state::INITIALIZE, physical::LINK_UP),
        false => (state::DOWN, physical::POLLING),
    };
    let mtu = u64::from(start.profile.mtu.code());
    let mut info = [0; 64];
    for (field, value) in [
        (LOCAL_PORT, u64::from(start.number)),
        (WIDTH_ENABLED, start.width.supported),
        (WIDTH_SUPPORTED, start.width.supported),
        (WIDTH_ACTIVE, start.width.active),
        (SPEED_SUPPORTED, start.speed.supported),
        (SPEED_ENABLED, start.speed.supported),
        (SPEED_ACTIVE, start.speed.active),
        (SPEED_EXTENDED_SUPPORTED, start.speed.extended_supported),
        (SPEED_EXTENDED_ENABLED, start.speed.extended_supported),
        (SPEED_EXTENDED_ACTIVE, start.speed.extended),
        (STATE, state),
        (PHYSICAL_STATE, physical),
        (LINK_DOWN_STATE, physical::POLLING),
        (NEIGHBOR_MTU, mtu),
        (MTU_CAP, mtu),
        (VL_CAP, u64::from(start.profile.lanes.code())),
        (
            OPERATIONAL_VLS,
            u64::from(start.profile.lanes_at_start.code()),
        ),
        (VL_ARBITRATION_HIGH_CAP, u64::from(start.profile.high_cap)),
        (VL_ARBITRATION_LOW_CAP, u64::from(start.profile.low_cap)),
        (SUBNET_TIMEOUT, 18),
        (RESPONSE_TIME, 8),
    ] {
        field.set(&mut info, value);
    }
    if start.is_addressed {
        let extended = match start.has_extended_speeds {
            true => capability::EXTENDED_SPEEDS,
            false => 0,
        };
        let capabilities = capability::TRAPS | capability::SL_MAPPING | extended;
        CAPABILITIES.set(&mut info, capabilities);
        GUID_CAP.set(&mut info, 1);
        LID.set(&mut info, u64::from(start.lid));
        LMC.set(&mut info, u64::from(start.lmc));
    }
    info
}

/// The effect of a Set on a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// Written at every port.
    Written,
    /// Written at ports with an address, ignored at others.
    Addressed,
    /// 0 leaves it unchanged. Other values must be at most the value of this field.
    UpTo(Field),
    /// 0 leaves it unchanged, and all ones mean all bits of this field. Other values must be among
    /// its bits.
    Among(Field),
}

/// The fields that a manager can change, except for the link state.
const SETTABLE: &[(Field, Rule)] = &[
    (M_KEY, Rule::Addressed),
    (GID_PREFIX, Rule::Addressed),
    (LID, Rule::Addressed),
    (MANAGER_LID, Rule::Addressed),
    (M_KEY_LEASE, Rule::Addressed),
    (M_KEY_PROTECTION, Rule::Addressed),
    (LMC, Rule::Addressed),
    (MANAGER_SL, Rule::Addressed),
    (MULTICAST_TRAP_SUPPRESSION, Rule::Addressed),
    (SUBNET_TIMEOUT, Rule::Addressed),
    (WIDTH_ENABLED, Rule::Among(WIDTH_SUPPORTED)),
    (SPEED_ENABLED, Rule::Among(SPEED_SUPPORTED)),
    (NEIGHBOR_MTU, Rule::UpTo(MTU_CAP)),
    (OPERATIONAL_VLS, Rule::UpTo(VL_CAP)),
    (INIT_TYPE, Rule::Written),
    (VL_HIGH_LIMIT, Rule::Written),
    (VL_STALL_COUNT, Rule::Written),
    (HEAD_OF_QUEUE_LIFE, Rule::Written),
    (PARTITION_INBOUND, Rule::Written),
    (PARTITION_OUTBOUND, Rule::Written),
    (FILTER_RAW_INBOUND, Rule::Written),
    (FILTER_RAW_OUTBOUND, Rule::Written),
    (M_KEY_VIOLATIONS, Rule::Written),
    (P_KEY_VIOLATIONS, Rule::Written),
    (Q_KEY_VIOLATIONS, Rule::Written),
    (LOCAL_ERRORS, Rule::Written),
    (OVERRUN_ERRORS, Rule::Written),
];

/// The value of [`SPEED_EXTENDED_ENABLED`] that disables extended speeds.
const NO_EXTENDED_SPEED: u64 = 30;

/// Handles PortInfo: reads it, or changes the fields that can be changed.
pub(super) fn answer(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let Some(number) = device.port_of_modifier(asked, asked.modifier & 0xff) else {
        return Status::BadValue;
    };
    let is_addressed = device.is_addressed(number);
    let info = &mut device.ports[usize::from(number)].info;
    if asked.is_set {
        let Some(order) = checked(data, info, is_addressed) else {
            return Status::BadValue;
        };
        write(data, info, is_addressed);
        if let Some(order) = order {
            device.link_order = Some((number, order));
        }
    }
    *data = device.ports[usize::from(number)].info;
    LOCAL_PORT.set(data, u64::from(asked.arrival));
    Status::Good
}

/// Checks that a whole Set is valid, and returns its link command.
fn checked(
    data: &Attribute64,
    info: &Attribute64,
    is_addressed: bool,
) -> Option<Option<LinkOrder>> {
    let fits = SETTABLE.iter().all(|(field, rule)| {
        let wanted = field.get(data);
        match rule {
            Rule::Written | Rule::Addressed => true,
            Rule::UpTo(limit) => wanted <= limit.get(info),
            Rule::Among(set) => wanted == field.largest() || wanted & !set.get(info) == 0,
        }
    });
    let extended = SPEED_EXTENDED_ENABLED.get(data);
    let extended_fits =
        extended >= NO_EXTENDED_SPEED || extended & !SPEED_EXTENDED_SUPPORTED.get(info) == 0;
    let address_fits =
        !is_addressed || crate::Lid(LID.get(data) as u16) <= crate::Lid::LAST_UNICAST;
    if !(fits && extended_fits && address_fits) {
        return None;
    }
    let before = STATE.get(info);
    let by_physical_state = match PHYSICAL_STATE.get(data) {
        0 => None,
        physical::SLEEP | physical::DISABLED => Some(LinkOrder::Disable),
        physical::POLLING => Some(LinkOrder::Train),
        _ => return None,
    };
    match STATE.get(data) {
        0 => Some(by_physical_state),
        state::DOWN => Some(by_physical_state.or(Some(LinkOrder::Train))),
        state::ARMED if before >= state::INITIALIZE => Some(None),
        state::ACTIVE if before >= state::ARMED => Some(None),
        _ => None,
    }
}

/// Executes a Set that was [`checked`], except for its link command.
fn write(data: &Attribute64, info: &mut Attribute64, is_addressed: bool) {
    for (field, rule) in SETTABLE {
        let wanted = field.get(data);
        let value = match rule {
            Rule::Addressed if !is_addressed => continue,
            Rule::UpTo(_) | Rule::Among(_) if wanted == 0 => continue,
            Rule::Among(set) if wanted == field.largest() => set.get(info),
            _ => wanted,
        };
        field.set(info, value);
    }
    match SPEED_EXTENDED_ENABLED.get(data) {
        0 => {}
        NO_EXTENDED_SPEED => SPEED_EXTENDED_ENABLED.set(info, 0),
        31 => {
            let all = SPEED_EXTENDED_SUPPORTED.get(info);
            SPEED_EXTENDED_ENABLED.set(info, all);
        }
        some => SPEED_EXTENDED_ENABLED.set(info, some),
    }
    if [1, 2].contains(&LINK_DOWN_STATE.get(data)) {
        LINK_DOWN_STATE.copy(data, info);
    }
    if [state::ARMED, state::ACTIVE].contains(&STATE.get(data)) {
        STATE.copy(data, info);
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::check_layout;
    use super::super::profile::Lanes;
    use super::*;

    fn start() -> Start {
        Start {
            number: 3,
            is_addressed: true,
            is_up: true,
            lid: 0x0102,
            lmc: 1,
            width: WidthCode::of(None),
            speed: SpeedCode::of(Some(crate::Speed::Ndr)),
            has_extended_speeds: true,
            profile: Profile {
                lanes_at_start: Lanes::One,
                ..Profile::default()
            },
        }
    }

    #[test]
    fn port_info_is_where_the_standard_has_it() {
        check_layout(FIELDS, 64);
        let info = initial(&start());
        assert_eq!(info[16..20], [1, 2, 0, 0]);
        assert_eq!(info[20..24], [0, 0, 0x40, 0x48]);
        assert_eq!(info[28..32], [3, 3, 3, 2]);
        assert_eq!(info[32..36], [0x72, 0x52, 0x01, 0x47]);
        assert_eq!(info[36..44], [0x50, 0x50, 0, 64, 64, 0x05, 0, 0x10]);
        assert_eq!(info[50..54], [1, 18, 8, 0]);
        assert_eq!(info[62..64], [0x8f, 0x0f]);
    }

    #[test]
    fn a_set_writes_what_can_be_written_and_nothing_else() {
        let before = initial(&start());
        let mut info = before;
        let asked = [0xff; 64];
        // All ones are too large for the lanes and the MTU.
        assert_eq!(checked(&asked, &info, true), None);
        let mut asked = [0; 64];
        LID.set(&mut asked, 7);
        VL_HIGH_LIMIT.set(&mut asked, 200);
        OPERATIONAL_VLS.set(&mut asked, 4);
        VL_CAP.set(&mut asked, 1);
        GUID_CAP.set(&mut asked, 9);
        STATE.set(&mut asked, state::ARMED);
        assert_eq!(checked(&asked, &info, true), Some(None));
        write(&asked, &mut info, true);
        assert_eq!(LID.get(&info), 7);
        assert_eq!(VL_HIGH_LIMIT.get(&info), 200);
        assert_eq!(OPERATIONAL_VLS.get(&info), 4);
        assert_eq!(STATE.get(&info), state::ARMED);
        for field in [VL_CAP, GUID_CAP, NEIGHBOR_MTU, WIDTH_ENABLED, CAPABILITIES] {
            assert_eq!(field.get(&info), field.get(&before));
        }
    }

    #[test]
    fn a_port_without_an_address_ignores_one() {
        let mut info = initial(&Start {
            is_addressed: false,
            ..start()
        });
        let mut asked = [0; 64];
        LID.set(&mut asked, 7);
        VL_HIGH_LIMIT.set(&mut asked, 200);
        write(&asked, &mut info, false);
        assert_eq!((LID.get(&info), VL_HIGH_LIMIT.get(&info)), (0, 200));
    }

    #[test]
    fn a_link_goes_up_step_by_step() {
        let info = initial(&start());
        let order = |state: u64, before: u64| {
            let (mut asked, mut info) = ([0; 64], info);
            STATE.set(&mut asked, state);
            STATE.set(&mut info, before);
            checked(&asked, &info, true)
        };
        assert_eq!(order(state::ARMED, state::DOWN), None);
        assert_eq!(order(state::ACTIVE, state::INITIALIZE), None);
        assert_eq!(order(state::INITIALIZE, state::ACTIVE), None);
        assert_eq!(order(state::ARMED, state::INITIALIZE), Some(None));
        assert_eq!(order(state::ACTIVE, state::ARMED), Some(None));
        assert_eq!(
            order(state::DOWN, state::ACTIVE),
            Some(Some(LinkOrder::Train))
        );
    }
}
