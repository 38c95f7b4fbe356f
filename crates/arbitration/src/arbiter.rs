//! The arbiter of one output.

use crate::{Head, N_QUEUES, View};

/// A proposal: the queue to send from, and the registers of the arbiter after that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// The queue that wins.
    pub queue: u8,
    /// The new register values, or what determines them; their meaning is private to the arbiter.
    pub registers: [u32; 6],
}

impl Grant {
    /// Returns a grant of management by an arbiter that leaves its registers unchanged: `commit`
    /// recognises it by its zeros.
    pub(crate) fn of_management(queue: u8) -> Grant {
        Grant {
            queue,
            registers: [0; 6],
        }
    }
}

/// Decides which queue of an output sends next.
///
/// A grant is used at once or not at all: there is no other commit and no arrival between `choose`
/// and the `commit` of its grant. So a grant may carry an action instead of an outcome.
///
/// An arbiter by virtual lane may find several eligible queues with the same lane (a NIC has one
/// queue per service channel). It takes the oldest head of them, the lowest queue on a tie. An
/// arbiter by service level may find several eligible queues of one level on different lanes, and
/// serves them in turn. `scfq` and `wfq` choose among them by their tags, which are in order of
/// arrival within a level.
#[warn(missing_docs)]
pub trait Arbiter: Send {
    /// Returns the queue that should send now. The result is `Some` whenever a queue is eligible
    /// (work conserving). An arbiter that may idle documents it, also in [`Policy::sendable_vls`].
    ///
    /// [`Policy::sendable_vls`]: crate::Policy::sendable_vls
    fn choose(&self, view: &View<'_>) -> Option<Grant>;

    /// Records that the packet is sent. Registers change only here.
    fn commit(&mut self, grant: Grant);

    /// Combines [`choose`](Self::choose) and [`commit`](Self::commit), and returns the queue that
    /// sends. Override it to find the outcome without a grant; a test requires the same outcome.
    #[inline(always)]
    fn send(&mut self, view: &View<'_>) -> Option<u8> {
        let grant = self.choose(view)?;
        self.commit(grant);
        Some(grant.queue)
    }

    /// Does the same as [`send`](Self::send) if only one queue is eligible, and returns whether it
    /// sends. `heads` is scratch space for its head. Override it to find the outcome without a
    /// view; a test requires the same outcome.
    #[inline]
    fn send_alone(&mut self, queue: u8, head: &Head, heads: &mut [Head; N_QUEUES]) -> bool {
        heads[usize::from(queue) % N_QUEUES] = *head;
        let view = View {
            eligible: 1 << queue,
            heads,
        };
        self.send(&view).is_some()
    }

    /// Records that a packet joined a queue, after those announced before: for arbiters that keep a
    /// finish time per packet. A NIC does not announce its packets.
    fn arrived(&mut self, _queue: u8, _head: &Head) {}

    /// Appends everything that commits and arrivals have changed since the arbiter was built, as
    /// words of private meaning. It is not called between a `choose` and the `commit` of its grant.
    fn save(&self, out: &mut Vec<u64>);

    /// Restores these words from the front of the saved state, into an arbiter built by the same
    /// policy. From then on it chooses as the saved one would. Returns `None` if the words are not
    /// valid; the arbiter must then not be used.
    fn restore(&mut self, from: &mut &[u64]) -> Option<()>;
}

/// Takes the first of the saved words, for [`Arbiter::restore`]. Returns `None` if there are none
/// left, or the word does not fit its type.
#[inline]
pub fn take_word<T: TryFrom<u64>>(from: &mut &[u64]) -> Option<T> {
    T::try_from(*from.split_off_first()?).ok()
}

/// Lets a switch written for a concrete arbiter accept a boxed one.
impl<A: Arbiter + ?Sized> Arbiter for Box<A> {
    #[inline]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        (**self).choose(view)
    }
    #[inline]
    fn commit(&mut self, grant: Grant) {
        (**self).commit(grant);
    }
    #[inline]
    fn send(&mut self, view: &View<'_>) -> Option<u8> {
        (**self).send(view)
    }
    #[inline]
    fn send_alone(&mut self, queue: u8, head: &Head, heads: &mut [Head; N_QUEUES]) -> bool {
        (**self).send_alone(queue, head, heads)
    }
    #[inline]
    fn arrived(&mut self, queue: u8, head: &Head) {
        (**self).arrived(queue, head);
    }
    fn save(&self, out: &mut Vec<u64>) {
        (**self).save(out);
    }
    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        (**self).restore(from)
    }
}
