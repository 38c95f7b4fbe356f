//! Segmentation of messages into packets and of packets into flits.

use netloom_units::{Bytes, Sl};

/// The flits of a packet are counted in 16 bits.
pub const MOST_FLITS: u64 = u16::MAX as u64;

/// The sizes that determine how many flits a message takes on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segmentation {
    /// Unit of transfer on a link.
    pub flit: Bytes,
    /// Maximum payload of a packet; `None` if the whole message is the transfer unit.
    pub mtu: Option<Bytes>,
    /// Bytes that every packet carries in addition to its payload.
    pub header: Bytes,
}

/// One packet cut from a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cut {
    /// Bytes of payload.
    pub payload: u32,
    /// Bytes on the wire.
    pub bytes: u32,
    /// Flits on the wire.
    pub flits: u16,
}

impl Segmentation {
    /// Cuts the next packet from a message with `left` bytes of payload left. An empty message is
    /// one packet.
    ///
    /// # Panics
    /// If a packet would exceed 65,535 flits.
    #[inline]
    pub fn cut(&self, left: u32) -> Cut {
        let payload = self.mtu.map_or(left, |mtu| left.min(mtu.0 as u32));
        let bytes = payload + self.header.0 as u32;
        let flits = bytes.div_ceil(self.flit.0 as u32).max(1);
        Cut {
            payload,
            bytes,
            flits: u16::try_from(flits).expect("a packet below 65,536 flits"),
        }
    }

    /// Returns the flits of the largest packet of a message of this size. The result may exceed
    /// [`MOST_FLITS`]; such a packet cannot be [cut](Self::cut).
    pub fn largest_packet(&self, message: u32) -> u64 {
        let message = u64::from(message);
        self.packet(self.mtu.map_or(message, |mtu| message.min(mtu.0)))
    }

    /// Returns the flits of a whole message on the wire, even if its packets cannot be cut.
    pub fn flits_of(&self, message: u32) -> u64 {
        let message = u64::from(message);
        let mtu = self.mtu.map_or(message, |mtu| mtu.0).max(1);
        let (full, rest) = (message / mtu, message % mtu);
        let of_full = if full > 0 { full * self.packet(mtu) } else { 0 };
        if rest > 0 || full == 0 {
            of_full + self.packet(rest)
        } else {
            of_full
        }
    }

    /// Returns the flits of a packet with this payload in bytes.
    fn packet(&self, payload: u64) -> u64 {
        (payload + self.header.0).div_ceil(self.flit.0).max(1)
    }
}

/// Segmentation by service level: SL_MTU may limit a level to smaller packets than its links allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlSegmentation {
    /// Unit of transfer on a link.
    pub flit: Bytes,
    /// Bytes that every packet carries in addition to its payload.
    pub header: Bytes,
    /// Maximum payload of a packet of each level; `None` if the whole message is the transfer unit.
    pub mtu: [Option<Bytes>; 16],
}

impl SlSegmentation {
    /// Returns the segmentation of one service level.
    #[inline]
    pub fn of(&self, sl: Sl) -> Segmentation {
        Segmentation {
            flit: self.flit,
            mtu: self.mtu[sl.index() & 15],
            header: self.header,
        }
    }
}

/// Uses the same segmentation for all service levels.
impl From<Segmentation> for SlSegmentation {
    fn from(all: Segmentation) -> Self {
        SlSegmentation {
            flit: all.flit,
            header: all.header,
            mtu: [all.mtu; 16],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_cut_at_its_own_mtu() {
        let link = Segmentation {
            flit: Bytes(64),
            mtu: Some(Bytes(2048)),
            header: Bytes(8),
        };
        let mut cutting = SlSegmentation::from(link);
        cutting.mtu[3] = Some(Bytes(192));
        assert_eq!(cutting.of(Sl(2)), link);
        assert_eq!(cutting.of(Sl(3)).cut(5000).payload, 192);
        // 26 packets of 192 bytes and one of 8, each with its header.
        assert_eq!(cutting.of(Sl(3)).flits_of(5000), 26 * 4 + 1);
    }

    #[test]
    fn a_message_is_cut_at_the_mtu() {
        let cutting = Segmentation {
            flit: Bytes(64),
            mtu: Some(Bytes(2048)),
            header: Bytes(8),
        };
        assert_eq!(
            cutting.cut(5000),
            Cut {
                payload: 2048,
                bytes: 2056,
                flits: 33
            }
        );
        assert_eq!(
            cutting.cut(904),
            Cut {
                payload: 904,
                bytes: 912,
                flits: 15
            }
        );
        assert_eq!(cutting.flits_of(5000), 33 + 33 + 15);
        assert_eq!(cutting.flits_of(4096), 66);
        assert_eq!(cutting.flits_of(0), 1);
    }

    #[test]
    fn an_mtu_beyond_any_packet_matters_to_no_small_message() {
        let large = Segmentation {
            flit: Bytes(64),
            mtu: Some(Bytes(1 << 30)),
            header: Bytes(0),
        };
        assert_eq!(large.flits_of(2048), 32);
        assert_eq!(large.largest_packet(2048), 32);
        assert_eq!(large.largest_packet(u32::MAX), 1 << 24);
        assert_eq!(large.flits_of(u32::MAX), 1 << 26);
        let whole = Segmentation { mtu: None, ..large };
        assert_eq!(whole.flits_of(u32::MAX), 1 << 26);
        assert!(whole.largest_packet(u32::MAX) > MOST_FLITS);
    }

    #[test]
    fn a_message_can_be_the_transfer_unit() {
        let whole = Segmentation {
            flit: Bytes(64),
            mtu: None,
            header: Bytes(0),
        };
        assert_eq!(whole.cut(5000).flits, 79);
        assert_eq!(whole.flits_of(5000), 79);
    }
}
