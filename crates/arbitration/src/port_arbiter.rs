//! The arbiter of a port as the simulator stores it: built-in ones need no virtual call.

use crate::bxi::BxiArbiter;
use crate::dtable::DTableArbiter;
use crate::{Arbiter, Grant, Head, N_QUEUES, TwoTable, View};

/// An arbiter whose type is known.
#[derive(Clone, Debug)]
pub enum BuiltIn {
    /// Clones share their tables.
    TwoTable(TwoTable),
    Bxi(BxiArbiter),
    DTable(DTableArbiter),
}

/// The arbiter of one port. The most common one is stored inline, which saves a memory access per
/// decision; a pointer to the others needs no further space.
pub enum PortArbiter {
    TwoTable(TwoTable),
    Other(Box<OtherArbiter>),
}

const _: () = assert!(size_of::<PortArbiter>() == size_of::<TwoTable>());

/// The arbiters that are stored behind a pointer.
pub enum OtherArbiter {
    Bxi(BxiArbiter),
    DTable(DTableArbiter),
    Any(Box<dyn Arbiter>),
}

impl From<BuiltIn> for PortArbiter {
    fn from(arbiter: BuiltIn) -> PortArbiter {
        let other = match arbiter {
            BuiltIn::TwoTable(tables) => return PortArbiter::TwoTable(tables),
            BuiltIn::Bxi(bxi) => OtherArbiter::Bxi(bxi),
            BuiltIn::DTable(table) => OtherArbiter::DTable(table),
        };
        PortArbiter::Other(Box::new(other))
    }
}

impl From<Box<dyn Arbiter>> for PortArbiter {
    fn from(arbiter: Box<dyn Arbiter>) -> PortArbiter {
        PortArbiter::Other(Box::new(OtherArbiter::Any(arbiter)))
    }
}

/// Evaluates an expression with the arbiter, whatever its type. The third form is a reference to
/// what a box holds, `&**other` or `&mut **other`.
macro_rules! with {
    ($self:expr, $other:ident as $inner:expr, $arbiter:ident => $call:expr) => {
        match $self {
            PortArbiter::TwoTable($arbiter) => $call,
            PortArbiter::Other($other) => match $inner {
                OtherArbiter::Bxi($arbiter) => $call,
                OtherArbiter::DTable($arbiter) => $call,
                OtherArbiter::Any($arbiter) => $call,
            },
        }
    };
}

impl Arbiter for PortArbiter {
    #[inline(always)]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        with!(self, other as &**other, arbiter => arbiter.choose(view))
    }

    #[inline(always)]
    fn commit(&mut self, grant: Grant) {
        with!(self, other as &mut **other, arbiter => arbiter.commit(grant));
    }

    #[inline(always)]
    fn send(&mut self, view: &View<'_>) -> Option<u8> {
        with!(self, other as &mut **other, arbiter => arbiter.send(view))
    }

    #[inline(always)]
    fn send_alone(&mut self, queue: u8, head: &Head, heads: &mut [Head; N_QUEUES]) -> bool {
        with!(self, other as &mut **other, arbiter => arbiter.send_alone(queue, head, heads))
    }

    #[inline(always)]
    fn arrived(&mut self, queue: u8, head: &Head) {
        with!(self, other as &mut **other, arbiter => arbiter.arrived(queue, head));
    }

    fn save(&self, out: &mut Vec<u64>) {
        with!(self, other as &**other, arbiter => arbiter.save(out));
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        with!(self, other as &mut **other, arbiter => arbiter.restore(from))
    }
}
