//! Receiving: packets end here.

use netloom_arbitration::Arbiter;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::shape::Shape;
use crate::trace::Stage;

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<A, S, W, R> {
    /// The last flit of a packet has arrived.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Tick, nic: u32, id: u32) {
        let packet = self.packets.remove(id).packet;
        assert_eq!(
            packet.destination, self.nics[nic].id,
            "a packet reaches the NIC it was sent to"
        );
        self.counters.deliver(&packet, now);
        let row = &mut self.rows[usize::from(packet.class)];
        self.receiver.receive(nic, &packet, now, row);
        if let Some(meters) = &mut self.meters {
            meters.record(&packet, now);
        }
        if self.watch.is_some() {
            self.note(&packet, now, |_| Stage::Delivered {
                nic: packet.destination,
            });
        }
    }
}
