//! The steps of packets through the fabric, recorded when a run is repeated with a filter.

use std::cmp::Reverse;

use netloom_encoding::Encoded;
use netloom_packet::Packet;
use netloom_units::{NicId, Port, SwitchId, Tick, Vl};

/// Maximum number of packets that can be followed at a time.
pub const MOST_FOLLOWED: usize = 16;

/// A packet, identified equally in every run of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Encoded)]
pub struct Followed {
    pub source: NicId,
    /// Sequence number among the packets of the NIC.
    pub sequence: u32,
}

/// The packets to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// These, on their whole path.
    Packets([Option<Followed>; MOST_FOLLOWED]),
    /// The slowest deliveries of each partition, up to this number.
    Slowest(usize),
}

impl Watch {
    /// Follows these packets; those beyond [`MOST_FOLLOWED`] are ignored.
    pub fn packets(packets: impl IntoIterator<Item = Followed>) -> Watch {
        let mut list = [None; MOST_FOLLOWED];
        list.iter_mut()
            .zip(packets)
            .for_each(|(slot, packet)| *slot = Some(packet));
        Watch::Packets(list)
    }

    /// Records a step, if it is one of those requested.
    pub fn note(self, steps: &mut Vec<Step>, packet: &Packet, at: Tick, stage: Stage) {
        let step = Step {
            packet: Followed {
                source: packet.source,
                sequence: packet.sequence,
            },
            created: packet.generation,
            at,
            stage,
        };
        match self {
            Watch::Packets(list) if list.contains(&Some(step.packet)) => steps.push(step),
            Watch::Packets(_) => {}
            Watch::Slowest(most) if matches!(stage, Stage::Delivered { .. }) => {
                if steps.len() < most {
                    steps.push(step);
                } else if let Some(fastest) = steps.iter_mut().min_by_key(|step| step.slowness())
                    && step.slowness() > fastest.slowness()
                {
                    *fastest = step;
                }
            }
            Watch::Slowest(_) => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Encoded)]
pub struct Step {
    pub packet: Followed,
    /// When its message was created.
    pub created: Tick,
    pub at: Tick,
    pub stage: Stage,
}

impl Step {
    /// Returns the age of the packet. It is never equal for two packets, so the slowest ones do not
    /// depend on the partitioning.
    pub fn slowness(&self) -> (u64, Reverse<Followed>) {
        (self.at.saturating_since(self.created), Reverse(self.packet))
    }
}

/// An event in the life of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encoded)]
pub enum Stage {
    /// Its message is created.
    Created { nic: NicId },
    /// Its first flit leaves the NIC.
    Injected { nic: NicId, vl: Vl },
    /// Its first flit is completely in an input buffer.
    Received { switch: SwitchId, input: Port },
    /// It may be allocated: buffered, routed, and without running dry.
    Routed {
        switch: SwitchId,
        output: Port,
        vl: Vl,
    },
    /// The crossbar is granted.
    Granted { switch: SwitchId, output: Port },
    /// Its first flit can be scheduled from the output buffer.
    Buffered { switch: SwitchId, output: Port },
    /// Its first flit leaves on the link.
    Sent {
        switch: SwitchId,
        output: Port,
        vl: Vl,
    },
    /// Its last flit is received completely.
    Delivered { nic: NicId },
}
