//! Communication between the processes of one run.
//!
//! A partition belongs to exactly one process. At the end of every window the processes exchange
//! messages and agree on the start of the next window. Either all partitions are in one process
//! ([`Local`]), or they are distributed over ranks ([`OverRanks`](crate::OverRanks)).

use std::ops::Range;

use netloom_units::Tick;

use crate::Model;

/// An event in transit to another partition: plain data, so that it can cross processes by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<E, P> {
    /// When the event takes effect.
    pub when: Tick,
    /// The event in the form used by the sender.
    pub event: E,
    /// Data carried with the event.
    pub parcel: P,
    /// Destination, counted over all processes.
    pub partition: u16,
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
pub trait Transport<M: Model>: Send {
    /// Returns the partitions of this process.
    fn placement(&self) -> Placement;

    /// Returns the minimum of `next` over all processes: the earliest pending event of the run.
    fn earliest(&mut self, next: Tick) -> Tick;

    /// Ends a window: delivers `sent` (left empty) to the other processes and adds their messages
    /// for partitions of this one to `arrived`, in any order. Returns the earliest pending event of
    /// the run. `next` includes the messages that this process sent.
    fn exchange(
        &mut self,
        sent: &mut Vec<Message<M::Event, M::Parcel>>,
        arrived: &mut Vec<Message<M::Event, M::Parcel>>,
        next: Tick,
    ) -> Tick;
}

impl<M: Model, T: Transport<M> + ?Sized> Transport<M> for Box<T> {
    fn placement(&self) -> Placement {
        (**self).placement()
    }

    fn earliest(&mut self, next: Tick) -> Tick {
        (**self).earliest(next)
    }

    fn exchange(
        &mut self,
        sent: &mut Vec<Message<M::Event, M::Parcel>>,
        arrived: &mut Vec<Message<M::Event, M::Parcel>>,
        next: Tick,
    ) -> Tick {
        (**self).exchange(sent, arrived, next)
    }
}

/// A single process: all partitions are here, so there is nothing to deliver and no other process
/// to agree with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Local {
    pub n_partitions: usize,
}

impl<M: Model> Transport<M> for Local {
    fn placement(&self) -> Placement {
        Placement {
            here: 0..self.n_partitions,
            total: self.n_partitions,
        }
    }

    #[inline]
    fn earliest(&mut self, next: Tick) -> Tick {
        next
    }

    #[inline]
    fn exchange(
        &mut self,
        sent: &mut Vec<Message<M::Event, M::Parcel>>,
        _arrived: &mut Vec<Message<M::Event, M::Parcel>>,
        next: Tick,
    ) -> Tick {
        assert!(
            sent.is_empty(),
            "a message to a partition that does not exist"
        );
        next
    }
}
