//! The two datagrams between libumad2sim and its server.
//!
//! Both are C structures of the machine that both run on. Numbers of the control datagram are in the order of that
//! machine. Addresses and queue pairs of the data datagram are network order inside a machine's word, because the
//! library copies them out of such fields; they are only swapped or put back here, and read by [`lid_of`].

use super::mad::MAD_BYTES;

/// The bytes of a control datagram: magic, client, type, length, data.
pub(super) const CONTROL_BYTES: usize = 80;
/// The bytes of its data.
pub(super) const CONTROL_DATA: std::ops::Range<usize> = 16..80;
/// The bytes of a data datagram: addresses, queue pairs, status, length, and the management datagram.
pub(super) const DATA_BYTES: usize = 32 + MAD_BYTES;

/// The first word of a control datagram.
pub(super) const MAGIC: u32 = 0xdead_beef;

/// Words of the control datagram, by their place.
pub(super) mod control {
    pub(in crate::emulate) const MAGIC: usize = 0;
    pub(in crate::emulate) const CLIENT: usize = 4;
    pub(in crate::emulate) const TYPE: usize = 8;
}

/// Words of the data of a connection, by their place in that data. The name of a node follows them.
pub(super) mod connection {
    /// The process in the question, the client's number in the answer.
    pub(in crate::emulate) const ID: usize = 0;
    pub(in crate::emulate) const IS_MANAGER: usize = 8;
    pub(in crate::emulate) const NODE: std::ops::Range<usize> = 12..44;
}

/// Words of the data datagram, by their place.
pub(super) mod data {
    pub(in crate::emulate) const TO_LID: usize = 0;
    pub(in crate::emulate) const FROM_LID: usize = 4;
    pub(in crate::emulate) const TO_QUEUE_PAIR: usize = 8;
    pub(in crate::emulate) const FROM_QUEUE_PAIR: usize = 12;
    pub(in crate::emulate) const STATUS: usize = 16;
    /// Where the management datagram starts.
    pub(in crate::emulate) const MAD: usize = 32;
}

/// What a client asks of the server itself.
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

/// The type of the answer that says no.
pub(super) const REFUSED: u32 = 0;

/// Their numbers. 3, 5 and 6 (port, GID, GUID) are never asked by the library.
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
    /// The one with this number.
    pub(super) fn from_type(number: u32) -> Option<Control> {
        let found = CONTROLS.iter().find(|(n, _)| *n == number);
        found.map(|(_, control)| *control)
    }
}

/// What the library is told of a packet that nobody answered: `ETIMEDOUT` of Linux. The library has no clock, so a
/// client that is told nothing waits for ever.
pub(super) const NO_ANSWER: u32 = 110;

/// The machine's word at a place.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Writes the machine's word at a place.
#[inline]
pub(super) fn set_word(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

/// The address in a word of the data datagram.
#[inline]
pub(super) fn lid_of(word: u32) -> u16 {
    u16::from_be(word as u16)
}

/// The word of the data datagram for an address.
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
