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

/// Evaluates an expression with the arbiter, whatever its type.
macro_rules! with {
    ($self:expr, $type:ident: $($kind:ident)*, $arbiter:ident => $call:expr) => {
        match $self {
            $($type::$kind($arbiter) => $call,)*
        }
    };
}

impl Arbiter for PortArbiter {
    #[inline(always)]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        with!(self, PortArbiter: TwoTable Other, arbiter => arbiter.choose(view))
    }

    #[inline(always)]
    fn commit(&mut self, grant: Grant) {
        with!(self, PortArbiter: TwoTable Other, arbiter => arbiter.commit(grant));
    }

    #[inline(always)]
    fn send(&mut self, view: &View<'_>) -> Option<u8> {
        with!(self, PortArbiter: TwoTable Other, arbiter => arbiter.send(view))
    }

    #[inline(always)]
    fn send_alone(&mut self, queue: u8, head: &Head, heads: &mut [Head; N_QUEUES]) -> bool {
        with!(self, PortArbiter: TwoTable Other, arbiter => arbiter.send_alone(queue, head, heads))
    }

    #[inline(always)]
    fn arrived(&mut self, queue: u8, head: &Head) {
        with!(self, PortArbiter: TwoTable Other, arbiter => arbiter.arrived(queue, head));
    }

    fn save(&self, out: &mut Vec<u64>) {
        with!(self, PortArbiter: TwoTable Other, arbiter => arbiter.save(out));
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        with!(self, PortArbiter: TwoTable Other, arbiter => arbiter.restore(from))
    }
}

// Not inlined, so that these arbiters cost nothing where two tables decide.
impl Arbiter for OtherArbiter {
    #[inline(never)]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        with!(self, OtherArbiter: Bxi DTable Any, arbiter => arbiter.choose(view))
    }

    #[inline(never)]
    fn commit(&mut self, grant: Grant) {
        with!(self, OtherArbiter: Bxi DTable Any, arbiter => arbiter.commit(grant));
    }

    #[inline(never)]
    fn send(&mut self, view: &View<'_>) -> Option<u8> {
        with!(self, OtherArbiter: Bxi DTable Any, arbiter => arbiter.send(view))
    }

    #[inline(never)]
    fn send_alone(&mut self, queue: u8, head: &Head, heads: &mut [Head; N_QUEUES]) -> bool {
        with!(self, OtherArbiter: Bxi DTable Any, arbiter => {
            arbiter.send_alone(queue, head, heads)
        })
    }

    #[inline(never)]
    fn arrived(&mut self, queue: u8, head: &Head) {
        with!(self, OtherArbiter: Bxi DTable Any, arbiter => arbiter.arrived(queue, head));
    }

    fn save(&self, out: &mut Vec<u64>) {
        with!(self, OtherArbiter: Bxi DTable Any, arbiter => arbiter.save(out));
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        with!(self, OtherArbiter: Bxi DTable Any, arbiter => arbiter.restore(from))
    }
}
