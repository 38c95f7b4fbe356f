//! Packets and their flits.

use netloom_fabric::CrossbarStart;

/// A packet. Its decisions at a switch (`output`, `output_vc`) are only valid until its header
/// reaches the next one; the code that moves its tail keeps separate records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) source: u32,
    pub(crate) sequence: u32,
    pub(crate) destination: u32,
    pub(crate) generation: u64,
    pub(crate) sl: u8,
    /// The recorder's row; an acknowledgement has that of its packet.
    pub(crate) row: u8,
    pub(crate) flits: u32,
    pub(crate) kind: Kind,
    /// Switches at which it has been routed.
    pub(crate) hops: u8,
    pub(crate) detour: bool,
    pub(crate) is_marked: bool,
    pub(crate) is_corrupt: bool,
    /// How often its first switch has sent it again.
    pub(crate) attempt: u32,
    /// Where it leaves the current switch, and on which virtual channel.
    pub(crate) output: usize,
    pub(crate) output_vc: usize,
    /// Whether it entered the current switch from its NIC.
    pub(crate) is_injected: bool,
    /// When its last flit is, or will be, where its header is.
    pub(crate) tail: u64,
    /// In an output buffer: from when on its link would find every flit in time.
    pub(crate) is_fed_at: u64,
    /// An acknowledgement that the end port of its NIC could not use.
    pub(crate) is_void: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Data,
    Acknowledgement {
        /// The acknowledged packet, and its flits.
        of: u32,
        flits: u32,
        is_positive: bool,
        /// The mark of the packet, echoed.
        is_marked: bool,
    },
}

impl Packet {
    pub(crate) fn is_data(&self) -> bool {
        self.kind == Kind::Data
    }
}

/// One flit: its packet and its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flit {
    pub(crate) packet: usize,
    pub(crate) k: u32,
}

impl Flit {
    pub(crate) fn is_header(self) -> bool {
        self.k == 0
    }
}

/// A packet that is read flit by flit, one per cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) packet: usize,
    pub(crate) flits: u32,
    /// The next flit to be read.
    pub(crate) k: u32,
}

impl Reading {
    pub(crate) fn new(packet: usize, flits: u32) -> Self {
        Reading {
            packet,
            flits,
            k: 0,
        }
    }

    /// Whether its next flit is not there yet, given the front of the buffer that it is read from.
    /// Only a stage that starts at once has to wait.
    pub(crate) fn waits(&self, front: Option<&Flit>, start: CrossbarStart) -> bool {
        let next = Flit {
            packet: self.packet,
            k: self.k,
        };
        let waits = front != Some(&next);
        assert!(
            !waits || (front.is_none() && start == CrossbarStart::AtOnce),
            "a stage does not run dry"
        );
        waits
    }

    /// Returns the flit of this cycle, and whether it is the last.
    pub(crate) fn next(&mut self) -> (Flit, bool) {
        let flit = Flit {
            packet: self.packet,
            k: self.k,
        };
        self.k += 1;
        (flit, self.k == self.flits)
    }
}
