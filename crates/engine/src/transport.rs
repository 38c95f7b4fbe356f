//! Communication between the processes of one run.
//!
//! A partition belongs to exactly one process. At the end of every window the processes exchange
//! messages and agree on the start of the next window. Either all partitions are in one process
//! ([`Local`]), or they are distributed over ranks ([`OverRanks`](crate::OverRanks)).

use std::ops::Range;

use netloom_units::Tick;

use crate::Model;

/// An event in transit to another partition of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message<E, P> {
    /// When the event takes effect.
    pub(crate) when: Tick,
    /// The event in the form used by the sender.
    pub(crate) event: E,
    /// Data carried with the event.
    pub(crate) parcel: P,
}

/// The message type of a model.
pub(crate) type MessageOf<M> = Message<<M as Model>::Event, <M as Model>::Parcel>;

/// The partitions of this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    pub here: Range<usize>,
    /// Number of partitions of all processes.
    pub total: usize,
}

impl Placement {
    /// Returns the position among the partitions of this process, if it belongs here.
    #[inline]
    pub(crate) fn local(&self, partition: usize) -> Option<usize> {
        self.here
            .contains(&partition)
            .then(|| partition - self.here.start)
    }
}

/// Messages and agreement between processes. All processes call the same operations in the same
/// order.
pub trait Transport: Send {
    /// Returns the partitions of this process.
    fn placement(&self) -> Placement;

    /// Returns the process of every partition. Processes are numbered from zero.
    fn ranks(&self) -> Vec<usize>;

    /// Returns the minimum of `next` over all processes: the earliest pending event of the run.
    fn earliest(&mut self, next: Tick) -> Tick;

    /// Ends a window: sends `to[r]` (left empty) to each other process `r`, and replaces `from[r]`
    /// with the bytes that it sent here. Returns the earliest pending event of the run. `next`
    /// includes the messages that this process sent.
    fn exchange(&mut self, to: &mut [Vec<u8>], from: &mut [Vec<u8>], next: Tick) -> Tick;
}

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn placement(&self) -> Placement {
        (**self).placement()
    }

    fn ranks(&self) -> Vec<usize> {
        (**self).ranks()
    }

    fn earliest(&mut self, next: Tick) -> Tick {
        (**self).earliest(next)
    }

    fn exchange(&mut self, to: &mut [Vec<u8>], from: &mut [Vec<u8>], next: Tick) -> Tick {
        (**self).exchange(to, from, next)
    }
}

/// A single process: all partitions are here, so there is nothing to deliver and no other process
/// to agree with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Local {
    pub n_partitions: usize,
}

impl Transport for Local {
    fn placement(&self) -> Placement {
        Placement {
            here: 0..self.n_partitions,
            total: self.n_partitions,
        }
    }

    fn ranks(&self) -> Vec<usize> {
        vec![0; self.n_partitions]
    }

    #[inline]
    fn earliest(&mut self, next: Tick) -> Tick {
        next
    }

    #[inline]
    fn exchange(&mut self, _to: &mut [Vec<u8>], _from: &mut [Vec<u8>], next: Tick) -> Tick {
        next
    }
}
