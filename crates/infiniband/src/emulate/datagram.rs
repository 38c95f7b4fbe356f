//! The two datagrams between libumad2sim and its server.
//!
//! Both are C structures on the same machine. Numbers of the control datagram are in native byte
//! order. Addresses and queue pairs of the data datagram are in network order inside a native word,
//! because the library copies them from such fields. They are only swapped or copied here, and read
//! by [`lid_of`].

use super::mad::MAD_BYTES;

/// Size of a control datagram: magic, client, type, length, data.
pub(super) const CONTROL_BYTES: usize = 80;
/// The data of a control datagram.
pub(super) const CONTROL_DATA: std::ops::Range<usize> = 16..80;
/// Size of a data datagram: addresses, queue pairs, status, length, and the management datagram.
pub(super) const DATA_BYTES: usize = 32 + MAD_BYTES;

/// The first word of a control datagram.
pub(super) const MAGIC: u32 = 0xdead_beef;

/// Offsets of words in the control datagram.
pub(super) mod control {
    pub(in crate::emulate) const MAGIC: usize = 0;
    pub(in crate::emulate) const CLIENT: usize = 4;
    pub(in crate::emulate) const TYPE: usize = 8;
}

/// Offsets of words in the data of a connection. The name of a node follows them.
pub(super) mod connection {
    /// The process in the request, the client number in the answer.
    pub(in crate::emulate) const ID: usize = 0;
    pub(in crate::emulate) const IS_MANAGER: usize = 8;
    pub(in crate::emulate) const NODE: std::ops::Range<usize> = 12..44;
}

/// Offsets of words in the data datagram.
pub(super) mod data {
    pub(in crate::emulate) const TO_LID: usize = 0;
    pub(in crate::emulate) const FROM_LID: usize = 4;
    pub(in crate::emulate) const TO_QUEUE_PAIR: usize = 8;
    pub(in crate::emulate) const FROM_QUEUE_PAIR: usize = 12;
    pub(in crate::emulate) const STATUS: usize = 16;
    /// Where the management datagram starts.
    pub(in crate::emulate) const MAD: usize = 32;
}

/// A request to the server itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Control {
    Connect,
    Disconnect,
    Vendor,
    NodeInfo,
    PortInfo,
    SetManager,
    PartitionKeys,
}

/// The type of an answer to a rejected request.
pub(super) const REFUSED: u32 = 0;

/// The type numbers. The library never sends 3, 5 and 6 (port, GID, GUID).
const CONTROLS: [(u32, Control); 7] = [
    (1, Control::Connect),
    (2, Control::Disconnect),
    (4, Control::Vendor),
    (7, Control::NodeInfo),
    (8, Control::PortInfo),
    (9, Control::SetManager),
    (10, Control::PartitionKeys),
];

impl Control {
    /// Returns the request type with this number.
    pub(super) fn from_type(number: u32) -> Option<Control> {
        let found = CONTROLS.iter().find(|(n, _)| *n == number);
        found.map(|(_, control)| *control)
    }
}

/// The status for a packet without an answer: `ETIMEDOUT` of Linux. The library has no timeout, so
/// a client without this status would wait forever.
pub(super) const NO_ANSWER: u32 = 110;

/// Reads the native word at an offset.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Writes the native word at an offset.
#[inline]
pub(super) fn set_word(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

/// Returns the address in a word of the data datagram.
#[inline]
pub(super) fn lid_of(word: u32) -> u16 {
    u16::from_be(word as u16)
}

/// Returns the word of the data datagram for an address.
#[inline]
pub(super) fn word_of(lid: u16) -> u32 {
    u32::from(lid.to_be())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_network_order_in_the_low_half_of_a_machine_word() {
        let mut bytes = [0; 8];
        set_word(&mut bytes, 4, word_of(0x1234));
        if cfg!(target_endian = "little") {
            assert_eq!(bytes, [0, 0, 0, 0, 0x12, 0x34, 0, 0]);
        }
        assert_eq!(lid_of(word(&bytes, 4)), 0x1234);
    }

    #[test]
    fn only_the_types_of_the_library_are_known() {
        assert_eq!(Control::from_type(1), Some(Control::Connect));
        assert_eq!(Control::from_type(10), Some(Control::PartitionKeys));
        for number in [0, 3, 5, 6, 11, u32::MAX] {
            assert_eq!(Control::from_type(number), None, "{number}");
        }
    }
}
