//! A packet as a plain record that crosses partitions by value.

use netloom_encoding::Encoded;
use netloom_units::{NicId, Sc, Sl, Tick};

/// Maximum number of service channels of a fabric.
pub const N_SCS: usize = 32;

/// A packet in transit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Encoded)]
pub struct Packet {
    /// When its message was created.
    pub generation: Tick,
    /// When its first flit left the source NIC.
    pub injection: Tick,
    /// When its first flit had arrived completely in the current buffer.
    pub arrival: Tick,
    pub source: NicId,
    pub destination: NicId,
    /// Sequence number among all packets of its source.
    pub sequence: u32,
    /// Number of its message among all messages of its source.
    pub message: u32,
    /// Index of the packet within its message.
    pub index: u32,
    /// Bytes on the wire, headers included.
    pub bytes: u32,
    /// Flits on the wire.
    pub flits: u16,
    /// Traffic class: an index into the classes of the experiment.
    pub class: u8,
    /// Service level, constant from end to end.
    pub sl: Sl,
    /// Virtual lane on the current or most recent link.
    pub vl: u8,
    /// Switches passed so far.
    pub hops: u8,
    /// Number of the flow among those of its source and class, if the workload distinguishes flows
    /// (connections); otherwise 0.
    pub flow: u8,
    pub label: Label,
}

/// A packet and a switch's decision about it share a cache line.
const _: () = assert!(size_of::<Packet>() == 56);

/// Service channel (5 bits), routing word (2 bits) and end-of-message flag (1 bit) in one byte. A
/// switch may change the channel when it routes the packet; the service level does not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Encoded)]
pub struct Label(u8);

impl Label {
    const LAST: u8 = 1 << 7;
    const CHANNEL: u8 = N_SCS as u8 - 1;
    const WORD: u8 = 3 << 5;

    /// Creates a label for a channel below 32.
    #[inline]
    pub fn new(sc: Sc, is_last: bool) -> Self {
        debug_assert!(sc.0 <= Self::CHANNEL, "{sc} in a field of 5 bits");
        Label(sc.0 & Self::CHANNEL | if is_last { Self::LAST } else { 0 })
    }

    #[inline]
    pub fn sc(self) -> Sc {
        Sc(self.0 & Self::CHANNEL)
    }

    #[inline]
    pub fn set_sc(&mut self, sc: Sc) {
        debug_assert!(sc.0 <= Self::CHANNEL, "{sc} in a field of 5 bits");
        self.0 = self.0 & !Self::CHANNEL | sc.0 & Self::CHANNEL;
    }

    /// Returns the routing word: two bits that only the fabric's routing interprets.
    #[inline]
    pub fn word(self) -> u8 {
        (self.0 & Self::WORD) >> 5
    }

    #[inline]
    pub fn set_word(&mut self, word: u8) {
        debug_assert!(word < 4, "{word} in a field of 2 bits");
        self.0 = self.0 & !Self::WORD | word << 5 & Self::WORD;
    }

    /// Whether this is the last packet of its message.
    #[inline]
    pub fn is_last(self) -> bool {
        self.0 & Self::LAST != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_holds_channel_word_and_end() {
        for sc in (0..N_SCS as u8).map(Sc) {
            for is_last in [false, true] {
                let mut label = Label::new(Sc(31 - sc.0), is_last);
                label.set_sc(sc);
                for word in [0, 2, 3, 1] {
                    label.set_word(word);
                    let is = (label.sc(), label.word(), label.is_last());
                    assert_eq!(is, (sc, word, is_last));
                }
            }
        }
    }
}
