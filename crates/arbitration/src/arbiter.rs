//! The arbiter of one output.

use crate::{Head, N_QUEUES, View};

/// A proposal: which queue to send from, and what the arbiter will know once that is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// The queue that wins.
    pub queue: u8,
    /// The new register values, or what gives them; their meaning is the arbiter's own.
    pub registers: [u32; 6],
}

impl Grant {
    /// A grant of management by an arbiter whose registers it does not touch: `commit` knows it by its
    /// zeros.
    pub(crate) fn of_management(queue: u8) -> Grant {
        Grant {
            queue,
            registers: [0; 6],
        }
    }
}

/// Decides which queue of one output sends next.
///
/// A grant is used at once or not at all: no other commit and no arrival comes between `choose` and the
/// `commit` of its grant, which may therefore carry what to do rather than the outcome.
///
/// An arbiter that goes by virtual lane and finds several eligible queues with the same lane (a NIC has
/// one queue per service channel) takes the oldest head of them, the lowest queue on a tie. One that goes by
/// service level and finds several eligible queues of one level (which has several lanes) gives them turns
/// (G000-8); `scfq` and `wfq` go on by their tags, which are in order of arrival within a level.
pub trait Arbiter: Send {
    /// The queue that should send now. It is `Some` whenever a queue is eligible (work conserving); an
    /// arbiter that may idle says so in its documentation and in [`Policy::sendable_vls`].
    ///
    /// [`Policy::sendable_vls`]: crate::Policy::sendable_vls
    fn choose(&self, view: &View<'_>) -> Option<Grant>;

    /// The packet is sent. Registers change only here.
    fn commit(&mut self, grant: Grant);

    /// Only one queue is eligible: [`choose`](Self::choose) and [`commit`](Self::commit) in one, whether it sends. `heads` is where
    /// its head may be shown. An arbiter that finds the outcome without a grant says so here; a law holds it to the same.
    #[inline]
    fn send_alone(&mut self, queue: u8, head: &Head, heads: &mut [Head; N_QUEUES]) -> bool {
        heads[usize::from(queue) % N_QUEUES] = *head;
        let view = View {
            eligible: 1 << queue,
            heads,
        };
        let Some(grant) = self.choose(&view) else {
            return false;
        };
        self.commit(grant);
        true
    }

    /// A packet joined a queue, behind those announced before: for arbiters that keep a finish time per
    /// packet. A NIC does not announce its packets.
    fn arrived(&mut self, _queue: u8, _head: &Head) {}

    /// Appends what commits and arrivals have changed since the arbiter was built, as words of its own meaning. Between a
    /// `choose` and the `commit` of its grant nothing is saved.
    fn save(&self, out: &mut Vec<u64>);

    /// Takes these words back from the front of what was saved, into an arbiter that the same policy has built: from
    /// then on it chooses as the saved one would. `None` if they are not what such an arbiter saves; it is not to
    /// be used then.
    fn restore(&mut self, from: &mut &[u64]) -> Option<()>;
}

/// Takes the first of the saved words, for [`Arbiter::restore`]: `None` if there are none left, or if it is larger than
/// its type allows.
#[inline]
pub fn take_word<T: TryFrom<u64>>(from: &mut &[u64]) -> Option<T> {
    T::try_from(*from.split_off_first()?).ok()
}

/// So that a switch written for a concrete arbiter takes a boxed one as well.
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
