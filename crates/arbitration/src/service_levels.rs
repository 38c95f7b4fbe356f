//! The heads of one output by service level.

use crate::head::queues;
use crate::{MANAGEMENT_VL, N_SLS, View, take_word};

/// Round robin among the queues of each service level, which may use several lanes. The pointers
/// start at queue 0 and move past the winner only when the packet is sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlRoundRobin {
    next: [u8; N_SLS],
}

/// The queue of each service level whose turn it is.
pub(crate) struct SlHeads {
    /// The service levels with an eligible head, one bit each.
    pub sls: u32,
    /// The queue; meaningful only if the bit is set.
    pub queue: [u8; N_SLS],
    /// Whether a management packet is eligible.
    pub has_management: bool,
}

impl SlRoundRobin {
    #[inline]
    pub(crate) fn heads(&self, view: &View<'_>) -> SlHeads {
        let mut heads = SlHeads {
            sls: 0,
            queue: [0; N_SLS],
            has_management: false,
        };
        let mut turns = [u8::MAX; N_SLS];
        for queue in queues(view.eligible) {
            let head = &view.heads[queue];
            heads.has_management |= head.vl == MANAGEMENT_VL;
            let sl = head.sl.index();
            debug_assert!(sl < N_SLS, "SL{sl} in a field of 4 bits");
            if sl >= N_SLS {
                continue;
            }
            let turn = (queue as u8).wrapping_sub(self.next[sl]) % 32;
            if turn < turns[sl] {
                turns[sl] = turn;
                heads.queue[sl] = queue as u8;
            }
            heads.sls |= 1 << sl;
        }
        heads
    }

    pub(crate) fn sent(&mut self, sl: usize, queue: u8) {
        self.next[sl] = (queue + 1) % 32;
    }

    pub(crate) fn save(&self, out: &mut Vec<u64>) {
        // Eight bytes per word.
        let words = self.next.as_chunks().0.iter();
        out.extend(words.map(|bytes| u64::from_le_bytes(*bytes)));
    }

    pub(crate) fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        for bytes in self.next.as_chunks_mut().0 {
            *bytes = u64::to_le_bytes(take_word(from)?);
        }
        self.next.iter().all(|queue| *queue < 32).then_some(())
    }
}
