//! The arbiter of an output: the InfiniBand tables are stored inline, all others behind a pointer.

use netloom_arbitration::{Arbiter, Grant, Head, N_QUEUES, TwoTable, View};
use netloom_topology::Egress;

/// Creates the arbiter of an output.
pub(crate) type MakeArbiter<'a> = dyn Fn(Egress) -> PortArbiter + 'a;

/// The arbiter of one output. The most common one needs no pointer, which saves a memory access per
/// decision.
pub(crate) enum PortArbiter {
    Tables(TwoTable),
    Other(Box<dyn Arbiter>),
}

impl Arbiter for PortArbiter {
    #[inline(always)]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        match self {
            PortArbiter::Tables(tables) => tables.choose(view),
            PortArbiter::Other(other) => other.choose(view),
        }
    }

    #[inline(always)]
    fn commit(&mut self, grant: Grant) {
        match self {
            PortArbiter::Tables(tables) => tables.commit(grant),
            PortArbiter::Other(other) => other.commit(grant),
        }
    }

    #[inline(always)]
    fn send(&mut self, view: &View<'_>) -> Option<u8> {
        match self {
            PortArbiter::Tables(tables) => tables.send(view),
            PortArbiter::Other(other) => other.send(view),
        }
    }

    #[inline(always)]
    fn send_alone(&mut self, queue: u8, head: &Head, heads: &mut [Head; N_QUEUES]) -> bool {
        match self {
            PortArbiter::Tables(tables) => tables.send_alone(queue, head, heads),
            PortArbiter::Other(other) => other.send_alone(queue, head, heads),
        }
    }

    #[inline(always)]
    fn arrived(&mut self, queue: u8, head: &Head) {
        match self {
            PortArbiter::Tables(tables) => tables.arrived(queue, head),
            PortArbiter::Other(other) => other.arrived(queue, head),
        }
    }

    fn save(&self, out: &mut Vec<u64>) {
        match self {
            PortArbiter::Tables(tables) => tables.save(out),
            PortArbiter::Other(other) => other.save(out),
        }
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        match self {
            PortArbiter::Tables(tables) => tables.restore(from),
            PortArbiter::Other(other) => other.restore(from),
        }
    }
}
