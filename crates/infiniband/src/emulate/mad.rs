//! Management datagrams: their header, and the words they are written in.

/// The bytes of a management datagram.
pub(super) const MAD_BYTES: usize = 256;

/// The bytes of an attribute in a subnet management packet.
pub(super) type Attribute64 = [u8; 64];

/// Where the attribute is.
pub(super) const ATTRIBUTE_DATA: std::ops::Range<usize> = 64..128;

/// Where a directed packet says by which ports it goes. Entry 0 is unused.
pub(super) const INITIAL_PATH: std::ops::Range<usize> = 128..192;

/// Where a directed packet is told at which ports it came in.
pub(super) const RETURN_PATH: std::ops::Range<usize> = 192..256;

super::field::layout! {
    BASE_VERSION: 0, 0, 8;
    CLASS: 1, 0, 8;
    CLASS_VERSION: 2, 0, 8;
    METHOD: 3, 0, 8;
    /// Its first bit is the direction of a directed packet: 1 on the way back.
    STATUS: 4, 0, 16;
    HOP_POINTER: 6, 0, 8;
    HOP_COUNT: 7, 0, 8;
    /// The part of the transaction id that libumad2sim leaves to the server: which client asked.
    ASKING_CLIENT: 8, 0, 16;
    /// The rest of the transaction id.
    TRANSACTION: 10, 0, 48;
    ATTRIBUTE: 16, 0, 16;
    MODIFIER: 20, 0, 32;
    M_KEY: 24, 0, 64;
}

/// Subnet management by address.
pub(super) const CLASS_BY_LID: u64 = 0x01;
/// Subnet management by a list of ports.
pub(super) const CLASS_DIRECTED: u64 = 0x81;

/// Asks for an attribute.
pub(super) const GET: u64 = 0x01;
/// Changes an attribute.
pub(super) const SET: u64 = 0x02;
/// Tells a sender of traps to be quiet; nobody answers.
pub(super) const TRAP_REPRESS: u64 = 0x07;
/// The answer to both.
pub(super) const GET_RESPONSE: u64 = 0x81;
/// The bit of a method that says: this is an answer.
pub(super) const IS_RESPONSE: u64 = 0x80;

/// The direction of a directed packet on its way back.
pub(super) const RETURNING: u64 = 0x8000;

/// The attribute that managers, not agents, answer.
pub(super) const SM_INFO: u64 = 0x20;

/// What an agent says of a request, in the code of the standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// Done.
    Good = 0x00,
    /// The version of the base or of the class is not supported.
    BadVersion = 0x04,
    /// The method is not supported with this attribute.
    BadAttribute = 0x0c,
    /// A field of the attribute, or its modifier, has a value that it cannot have. Nothing was changed.
    BadValue = 0x1c,
}

#[cfg(test)]
mod tests {
    use super::super::field::check_layout;
    use super::*;

    #[test]
    fn the_header_is_where_the_standard_has_it() {
        check_layout(FIELDS, MAD_BYTES);
        // Get of PortInfo of port 5, by a path of 3 hops, transaction 7 of client 2.
        let mut mad = [0; MAD_BYTES];
        mad[..24].copy_from_slice(&[
            1, 0x81, 1, 1, 0x80, 0x1c, 0, 3, 0, 2, 0, 0, 0, 0, 0, 7, 0, 0x15, 0, 0, 0, 0, 0, 5,
        ]);
        assert_eq!(CLASS.get(&mad), CLASS_DIRECTED);
        assert_eq!(METHOD.get(&mad), GET);
        assert_eq!(STATUS.get(&mad), RETURNING | Status::BadValue as u64);
        assert_eq!(HOP_COUNT.get(&mad), 3);
        assert_eq!(ASKING_CLIENT.get(&mad), 2);
        assert_eq!(TRANSACTION.get(&mad), 7);
        assert_eq!(ATTRIBUTE.get(&mad), 0x15);
        assert_eq!(MODIFIER.get(&mad), 5);
    }
}
