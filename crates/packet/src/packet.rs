//! One packet as a plain record, which crosses partitions by value.

use netloom_units::{NicId, Sc, Sl, Tick};

/// Service channels of a fabric, at most.
pub const N_SCS: usize = 32;

/// A packet under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Packet {
    /// When its message was created.
    pub generation: Tick,
    /// When its first flit left the source NIC.
    pub injection: Tick,
    /// When its first flit was wholly in the buffer where it is now.
    pub arrival: Tick,
    /// Where it comes from.
    pub source: NicId,
    /// Where it goes.
    pub destination: NicId,
    /// Number of this packet among all packets of its source.
    pub sequence: u32,
    /// Number of its message among all messages of its source.
    pub message: u32,
    /// Number of this packet within its message.
    pub index: u32,
    /// Bytes on the wire, headers included.
    pub bytes: u32,
    /// Flits on the wire.
    pub flits: u16,
    /// Traffic class: the index of its description in the experiment.
    pub class: u8,
    /// Service level, kept from end to end.
    pub sl: Sl,
    /// Virtual lane on the link it travels or last travelled.
    pub vl: u8,
    /// Switches crossed so far.
    pub hops: u8,
    /// Number of its flow among those of its source and class, where a workload tells flows apart
    /// (connections); otherwise 0.
    pub flow: u8,
    /// Its service channel, and whether it is the last packet of its message.
    pub label: Label,
}

netloom_encoding::encoded!(Packet {
    generation,
    injection,
    arrival,
    source,
    destination,
    sequence,
    message,
    index,
    bytes,
    flits,
    class,
    sl,
    vl,
    hops,
    flow,
    label,
});

/// A packet and what a switch decides about it share a cache line.
const _: () = assert!(size_of::<Packet>() == 56);

/// The service channel (5 bits), what the routing remembers (2 bits) and the end of the message (1 bit) in one byte.
/// A switch may write another channel when it routes; the service level stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Label(u8);

netloom_encoding::encoded!(Label(_));

impl Label {
    const LAST: u8 = 1 << 7;
    const CHANNEL: u8 = N_SCS as u8 - 1;
    const WORD: u8 = 3 << 5;

    /// A channel below 32, and whether the packet ends its message.
    #[inline]
    pub fn new(sc: Sc, is_last: bool) -> Self {
        debug_assert!(sc.0 <= Self::CHANNEL, "{sc} in a field of 5 bits");
        Label(sc.0 & Self::CHANNEL | if is_last { Self::LAST } else { 0 })
    }

    /// The service channel.
    #[inline]
    pub fn sc(self) -> Sc {
        Sc(self.0 & Self::CHANNEL)
    }

    /// Changes it.
    #[inline]
    pub fn set_sc(&mut self, sc: Sc) {
        debug_assert!(sc.0 <= Self::CHANNEL, "{sc} in a field of 5 bits");
        self.0 = self.0 & !Self::CHANNEL | sc.0 & Self::CHANNEL;
    }

    /// What the routing of the fabric remembers of the packet: two bits whose meaning is its own.
    #[inline]
    pub fn word(self) -> u8 {
        (self.0 & Self::WORD) >> 5
    }

    /// Changes it.
    #[inline]
    pub fn set_word(&mut self, word: u8) {
        debug_assert!(word < 4, "{word} in a field of 2 bits");
        self.0 = self.0 & !Self::WORD | word << 5 & Self::WORD;
    }

    /// Whether it is the last packet of its message.
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
