//! Bounded buffers of NICs, and the application in front of them.
//!
//! ```text
//!   application (unbounded) ─► buffer of the NIC (shared by all channels) ─► arbiter ─► link
//! ```
//!
//! A packet that does not fit waits in the application (paper 000, section 4.1). The buffer is
//! shared like those of switches: packets in it are counted, and every channel has space for one
//! largest packet, so that no level blocks another. Of the packets that fit, the oldest enters
//! first. A packet leaves when its transmission begins.
//!
//! Packets of a channel keep their order, and its next one is always in the buffer. So the arbiter
//! sees the same packets as without a bound, and they leave at the same times. The bound only
//! determines where they wait, and the wait in the application is counted separately.

use netloom_encoding::{Encoded, Invalid, State, Validity, ensure, ensure_equal};
use netloom_packet::SlSegmentation;
use netloom_units::{Sl, Tick};

use crate::endpoint::NicQueue;
use crate::fabric::Fabric;
use crate::plan::FabricPlan;
use crate::rows::Rows;
use crate::switch::{NIL, Switches};

/// One channel of a NIC.
#[derive(Clone, Copy, Debug, Encoded)]
struct Channel {
    /// Flits in the buffer.
    used: u32,
    /// The message whose packets enter next; `NIL` if all have entered.
    next: u32,
    /// Payload of that message that is still in the application.
    left: u32,
    /// The last message with a packet that entered; valid while the channel has packets in the
    /// buffer.
    last: u32,
}

/// The buffers of all NICs of a partition.
#[derive(Debug, State)]
pub(crate) struct Buffers {
    #[state(constant)]
    capacity: u32,
    #[state(constant)]
    n_slots: usize,
    /// Flits of the largest packet of each channel, for which there is always space.
    #[state(constant)]
    least: Vec<u32>,
    #[state(records)]
    channels: Rows<Channel>,
}

impl Buffers {
    /// Creates the buffers of `queues`; `None` if NICs are unbounded.
    pub(crate) fn new(plan: &FabricPlan, queues: &Rows<NicQueue>, n_slots: usize) -> Option<Self> {
        let capacity = plan.endpoints.buffer?;
        let lane = |slot: usize| queues[slot as u32].vl;
        let least = |slot| u32::from(plan.largest[usize::from(lane(slot))]);
        let empty = Channel {
            used: 0,
            next: NIL,
            left: 0,
            last: NIL,
        };
        // A partition of switches alone has no queues.
        let slots = 0..n_slots.min(queues.len());
        Some(Buffers {
            capacity,
            n_slots,
            least: slots.map(least).collect(),
            channels: vec![empty; queues.len()].into(),
        })
    }

    /// Validates that the buffer of a NIC contains the beginning of its queues. `list` returns the
    /// messages of a queue.
    pub(crate) fn validate(
        &self,
        segmentation: &SlSegmentation,
        queues: &Rows<NicQueue>,
        list: impl Fn(&NicQueue) -> Vec<(u32, u32)>,
    ) -> Validity {
        for (queue, channel) in queues.iter().zip(&self.channels) {
            let segmentation = segmentation.of(Sl(queue.sl));
            let messages = list(queue);
            let place = |id: u32| messages.iter().position(|&(own, _)| own == id);
            // Whole messages in the buffer, and the part of the next one that has entered.
            let (whole, part) = match channel.next {
                NIL if channel.used == 0 => (0, 0),
                NIL => {
                    let last = place(channel.last).map(|at| at + 1);
                    (last.unwrap_or(usize::MAX), 0)
                }
                next => {
                    let at = place(next).unwrap_or(usize::MAX);
                    let left = messages.get(at).map_or(0, |&(_, left)| left);
                    let is_part = channel.left <= left && (channel.left > 0 || left == 0);
                    ensure(is_part, || {
                        let expected = format!("part of a message of {left} bytes");
                        Invalid::new("buffer of a NIC", expected, channel.left)
                    })?;
                    let flits = segmentation.flits_of(left) - segmentation.flits_of(channel.left);
                    (at, if left == channel.left { 0 } else { flits })
                }
            };
            let Some(entered) = messages.get(..whole) else {
                let expected = "a message of its queue";
                return Err(Invalid::new("buffer of a NIC", expected, "another"));
            };
            let is_last = part > 0 || entered.last().is_none_or(|&(id, _)| id == channel.last);
            ensure(channel.used == 0 || is_last, || {
                let expected = "the last message that entered";
                Invalid::new("buffer of a NIC", expected, channel.last)
            })?;
            ensure(part == 0 || channel.last == channel.next, || {
                Invalid::new("buffer of a NIC", channel.next, channel.last)
            })?;
            let entered: u64 = entered
                .iter()
                .map(|&(_, left)| segmentation.flits_of(left))
                .sum();
            ensure_equal(
                "flits in the buffer of a NIC",
                entered + part,
                u64::from(channel.used),
            )?;
        }
        Ok(())
    }

    /// Whether this many flits of a channel fit, given what the others use and are guaranteed.
    fn fits(&self, nic: u32, slot: usize, flits: u16) -> bool {
        let first = nic as usize * self.n_slots;
        let taken = |other: usize| {
            let used = self.channels[(first + other) as u32].used;
            match other == slot {
                true => used + u32::from(flits),
                false => used.max(self.least[other]),
            }
        };
        (0..self.n_slots).map(taken).sum::<u32>() <= self.capacity
    }
}

impl<S: Switches> Fabric<S> {
    /// Moves packets into the buffer of a NIC while one fits.
    pub(super) fn fill_buffer(&mut self, now: Tick, nic: u32) {
        let Some(mut buffers) = self.endpoints.buffers.take() else {
            return;
        };
        while let Some(slot) = self.oldest_that_fits(&mut buffers, nic) {
            let at = nic * buffers.n_slots as u32 + slot as u32;
            let sl = self.endpoints.queues[at].sl;
            let channel = &mut buffers.channels[at];
            let message = &self.endpoints.messages[channel.next];
            let cut = self.shared.segmentation.of(Sl(sl)).cut(channel.left);
            let row = &mut self.shared.rows[usize::from(message.row)];
            row.application_wait
                .record(now.saturating_since(message.generation));
            channel.used += u32::from(cut.flits);
            channel.last = channel.next;
            channel.left -= cut.payload;
            if channel.left == 0 {
                channel.next = message.next;
                if channel.next != NIL {
                    channel.left = self.endpoints.messages[channel.next].left;
                }
            }
        }
        self.endpoints.buffers = Some(buffers);
    }

    /// Returns the channel whose next packet has waited longest among those that fit; the first on
    /// a tie.
    fn oldest_that_fits(&self, buffers: &mut Buffers, nic: u32) -> Option<usize> {
        let endpoints = &self.endpoints;
        let mut oldest: Option<(Tick, usize)> = None;
        for slot in 0..buffers.n_slots {
            let at = nic * buffers.n_slots as u32 + slot as u32;
            let queue = &endpoints.queues[at];
            let channel = &mut buffers.channels[at];
            if channel.next == NIL {
                // Messages that joined their queue after all before them had entered.
                channel.next = match channel.used {
                    0 => queue.head,
                    _ => endpoints.messages[channel.last].next,
                };
                if channel.next == NIL {
                    continue;
                }
                channel.left = endpoints.messages[channel.next].left;
            }
            let (next, left) = (channel.next, channel.left);
            let flits = self.shared.segmentation.of(Sl(queue.sl)).cut(left).flits;
            let age = endpoints.messages[next].generation;
            let is_older = oldest.is_none_or(|(other, _)| age < other);
            if is_older && buffers.fits(nic, slot, flits) {
                oldest = Some((age, slot));
            }
        }
        oldest.map(|(_, slot)| slot)
    }

    /// Removes a packet of a channel whose transmission begins.
    pub(super) fn leave_buffer(&mut self, now: Tick, nic: u32, slot: usize, flits: u16) {
        let Some(buffers) = &mut self.endpoints.buffers else {
            return;
        };
        let channel = &mut buffers.channels[nic * buffers.n_slots as u32 + slot as u32];
        let left = channel.used.checked_sub(u32::from(flits));
        channel.used = left.expect("a packet being sent is in the buffer");
        self.fill_buffer(now, nic);
    }
}
