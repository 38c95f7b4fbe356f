//! The header and the constants of management datagrams.

/// Size of a management datagram in bytes.
pub(super) const MAD_BYTES: usize = 256;

/// An attribute in a subnet management packet.
pub(super) type Attribute64 = [u8; 64];

/// The bytes of the attribute.
pub(super) const ATTRIBUTE_DATA: std::ops::Range<usize> = 64..128;

/// The output ports of a directed packet. Entry 0 is unused.
pub(super) const INITIAL_PATH: std::ops::Range<usize> = 128..192;

/// The arrival ports of a directed packet.
pub(super) const RETURN_PATH: std::ops::Range<usize> = 192..256;

super::field::layout! {
    BASE_VERSION: 0, 0, 8;
    CLASS: 1, 0, 8;
    CLASS_VERSION: 2, 0, 8;
    METHOD: 3, 0, 8;
    /// The first bit is the direction of a directed packet: 1 on the way back.
    STATUS: 4, 0, 16;
    HOP_POINTER: 6, 0, 8;
    HOP_COUNT: 7, 0, 8;
    /// The part of the transaction id that libumad2sim leaves to the server: the requesting client.
    ASKING_CLIENT: 8, 0, 16;
    /// The rest of the transaction id.
    TRANSACTION: 10, 0, 48;
    ATTRIBUTE: 16, 0, 16;
    MODIFIER: 20, 0, 32;
    M_KEY: 24, 0, 64;
}

/// Subnet management by address.
pub(super) const CLASS_BY_LID: u64 = 0x01;
/// Subnet management by directed route.
pub(super) const CLASS_DIRECTED: u64 = 0x81;

/// Reads an attribute.
pub(super) const GET: u64 = 0x01;
/// Changes an attribute.
pub(super) const SET: u64 = 0x02;
/// Stops a sender from repeating a trap; has no answer.
pub(super) const TRAP_REPRESS: u64 = 0x07;
/// The answer to Get and Set.
pub(super) const GET_RESPONSE: u64 = 0x81;
/// The bit of a method that marks an answer.
pub(super) const IS_RESPONSE: u64 = 0x80;

/// The direction bit of a directed packet on its way back.
pub(super) const RETURNING: u64 = 0x8000;

/// The attribute that managers answer instead of agents.
pub(super) const SM_INFO: u64 = 0x20;

/// The status of an answer, with the standard's codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// Success.
    Good = 0x00,
    /// The base or class version is not supported.
    BadVersion = 0x04,
    /// The method is not supported for this attribute.
    BadAttribute = 0x0c,
    /// A field of the attribute or its modifier has an invalid value. Nothing was changed.
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
