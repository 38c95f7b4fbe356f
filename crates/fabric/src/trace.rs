//! Packets' ways, stage by stage: a run again with a filter.

use std::cmp::Reverse;

use netloom_packet::Packet;
use netloom_units::{NicId, Port, SwitchId, Tick, Vl};

/// Packets that can be followed at a time.
pub const MOST_FOLLOWED: usize = 16;

/// A packet by what it is called in every run of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Followed {
    /// Of this NIC.
    pub source: NicId,
    /// With this number among its packets.
    pub sequence: u32,
}

/// Which packets are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// These, all of their way.
    Packets([Option<Followed>; MOST_FOLLOWED]),
    /// The deliveries of so many that took longest, in each partition.
    Slowest(usize),
}

impl Watch {
    /// Follows these packets; those beyond [`MOST_FOLLOWED`] are left out.
    pub fn packets(packets: impl IntoIterator<Item = Followed>) -> Watch {
        let mut list = [None; MOST_FOLLOWED];
        list.iter_mut()
            .zip(packets)
            .for_each(|(slot, packet)| *slot = Some(packet));
        Watch::Packets(list)
    }

    /// Writes a step down, if it is one of those asked for.
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

/// One step of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Which packet.
    pub packet: Followed,
    /// When its message was created.
    pub created: Tick,
    /// When.
    pub at: Tick,
    /// What and where.
    pub stage: Stage,
}

impl Step {
    /// How long the packet has been under way; the same for two packets never, so that the slowest are the same
    /// however the fabric is cut.
    pub fn slowness(&self) -> (u64, Reverse<Followed>) {
        (self.at.saturating_since(self.created), Reverse(self.packet))
    }
}

/// What happened to the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Its message was created.
    Created {
        /// By this NIC.
        nic: NicId,
    },
    /// Its first flit leaves the NIC.
    Injected {
        /// From this NIC.
        nic: NicId,
        /// On this lane.
        vl: Vl,
    },
    /// Its first flit is wholly in an input buffer.
    Received {
        /// Of this switch.
        switch: SwitchId,
        /// At this input.
        input: Port,
    },
    /// It may be allocated: buffered, routed, and not to run dry.
    Routed {
        /// By this switch.
        switch: SwitchId,
        /// To this output.
        output: Port,
        /// On this lane.
        vl: Vl,
    },
    /// The crossbar is granted.
    Granted {
        /// By this switch.
        switch: SwitchId,
        /// To this output.
        output: Port,
    },
    /// Its first flit can be scheduled from the output buffer.
    Buffered {
        /// Of this switch.
        switch: SwitchId,
        /// At this output.
        output: Port,
    },
    /// Its first flit leaves on the link.
    Sent {
        /// From this switch.
        switch: SwitchId,
        /// By this output.
        output: Port,
        /// On this lane.
        vl: Vl,
    },
    /// Its last flit is wholly received.
    Delivered {
        /// By this NIC.
        nic: NicId,
    },
}

netloom_encoding::encoded!(
    enum Stage {
        Created { nic },
        Injected { nic, vl },
        Received { switch, input },
        Routed { switch, output, vl },
        Granted { switch, output },
        Buffered { switch, output },
        Sent { switch, output, vl },
        Delivered { nic },
    }
);
netloom_encoding::encoded!(Step {
    packet,
    created,
    at,
    stage
});
netloom_encoding::encoded!(Followed { source, sequence });
