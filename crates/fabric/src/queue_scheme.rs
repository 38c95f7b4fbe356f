//! The queue of an input that a packet joins: one formula for all schemes.
//!
//! A queue is `lane * per_lane + residue`. The residue is the packet's output (VOQsw), its
//! destination (VOQnet), one of them modulo the number of queues (OBQA, DBBM), or zero. If the
//! routing is known, so is the queue one hop ahead. A sender can thus hold credits for a single
//! queue of the next switch.

use netloom_units::NicId;

use crate::plan::QueueScheme;

/// A scheme with its sizes, as arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueMap {
    /// Queues of a lane.
    pub per_lane: u32,
    /// Lanes with separate queues: all of them, or one.
    lanes: u32,
    of_output: u32,
    of_destination: u32,
    modulus: u32,
}

impl QueueMap {
    /// Creates the map for a fabric with `n_vls` lanes and `n_nics` NICs; `radix` is the number of
    /// ports of the largest switch.
    pub fn new(scheme: QueueScheme, n_vls: u8, radix: u16, n_nics: u32) -> Self {
        let of = |per_lane: u32, of_output: u32, of_destination: u32| QueueMap {
            per_lane,
            lanes: u32::from(n_vls),
            of_output,
            of_destination,
            modulus: per_lane,
        };
        match scheme {
            QueueScheme::OneQueue => QueueMap {
                lanes: 1,
                ..of(1, 0, 0)
            },
            QueueScheme::PerVl => of(1, 0, 0),
            QueueScheme::VoqSwitch => of(u32::from(radix), 1, 0),
            QueueScheme::VoqNet => of(n_nics, 0, 1),
            QueueScheme::Dbbm { queues } => of(u32::from(queues), 0, 1),
            QueueScheme::Obqa { queues } => of(u32::from(queues), 1, 0),
        }
    }

    /// Returns the number of queues of a port.
    pub fn n_queues(&self) -> u32 {
        self.lanes * self.per_lane
    }

    /// Returns the queue of a packet that arrives on a lane and goes to an output and a
    /// destination.
    #[inline]
    pub fn queue(&self, vl: u8, output: u16, destination: NicId) -> u32 {
        // One queue per lane, the most common case, needs no arithmetic.
        if self.modulus == 1 {
            return if self.lanes == 1 { 0 } else { u32::from(vl) };
        }
        let lane = u32::from(vl);
        let key = u32::from(output) * self.of_output + destination.0 * self.of_destination;
        let residue = if key < self.modulus {
            key
        } else {
            key % self.modulus
        };
        lane * self.per_lane + residue
    }

    /// Returns the first queue of a lane.
    pub(crate) fn first_of_lane(&self, vl: u8) -> u32 {
        if self.lanes == 1 {
            0
        } else {
            u32::from(vl) * self.per_lane
        }
    }

    /// Whether the output is needed in addition to the destination.
    pub fn looks_at_output(&self) -> bool {
        self.of_output != 0 && self.modulus > 1
    }

    /// Returns the lane of a queue; a queue for all lanes counts as lane 0.
    pub fn lane_of(&self, queue: u32) -> u8 {
        (queue / self.per_lane) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMES: [QueueScheme; 6] = [
        QueueScheme::OneQueue,
        QueueScheme::PerVl,
        QueueScheme::VoqSwitch,
        QueueScheme::VoqNet,
        QueueScheme::Dbbm { queues: 4 },
        QueueScheme::Obqa { queues: 4 },
    ];

    #[test]
    fn every_packet_has_a_queue_of_its_lane() {
        for scheme in SCHEMES {
            let map = QueueMap::new(scheme, 3, 8, 64);
            let mut seen = std::collections::BTreeSet::new();
            for vl in 0..3 {
                for output in 0..8 {
                    for destination in 0..64 {
                        let queue = map.queue(vl, output, NicId(destination));
                        assert!(queue < map.n_queues(), "{scheme:?}");
                        if scheme != QueueScheme::OneQueue {
                            assert_eq!(map.lane_of(queue), vl, "{scheme:?}");
                        }
                        seen.insert(queue);
                    }
                }
            }
            assert_eq!(
                seen.len() as u32,
                map.n_queues(),
                "{scheme:?}: all are used"
            );
        }
    }

    /// OBQA with two queues at switch 0 of a 2-ary 3-tree: destinations by their output's number.
    #[test]
    fn v001_6_obqa_takes_the_output_modulo_the_queues() {
        let map = QueueMap::new(QueueScheme::Obqa { queues: 2 }, 1, 4, 8);
        // Outputs of switch 0: P1 {1}, P2 {2, 4, 6}, P3 {3, 5, 7}.
        for (output, destinations) in [(1, vec![1]), (2, vec![2, 4, 6]), (3, vec![3, 5, 7])] {
            for destination in destinations {
                assert_eq!(
                    map.queue(0, output, NicId(destination)),
                    u32::from(output % 2)
                );
            }
        }
    }
}
