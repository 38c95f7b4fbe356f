//! The seam between the processes of one run.
//!
//! A partition lives on exactly one process. At the end of every window the processes exchange the
//! messages that cross between them and agree on the next window's start. Either all partitions live in
//! one process ([`Local`]), or they are spread over ranks ([`OverRanks`](crate::OverRanks)).

use std::ops::Range;

use netloom_units::Tick;

use crate::Model;

/// An event on its way to another partition: plain data, so that it can cross a process by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<E, P> {
    /// When the event takes effect.
    pub when: Tick,
    /// The event as the sender knows it.
    pub event: E,
    /// What the event carries.
    pub parcel: P,
    /// Where it goes, counted over all processes.
    pub partition: u16,
}

/// The message type of a model.
pub(crate) type MessageOf<M> = Message<<M as Model>::Event, <M as Model>::Parcel>;

/// Which partitions live in this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The partitions of this process.
    pub here: Range<usize>,
    /// Partitions of all processes together.
    pub total: usize,
}

impl Placement {
    /// The position among the partitions of this process, if it lives here.
    #[inline]
    pub(crate) fn local(&self, partition: usize) -> Option<usize> {
        self.here
            .contains(&partition)
            .then(|| partition - self.here.start)
    }
}

/// Messages and agreement between processes. All processes call the same operations in the same order.
pub trait Transport<M: Model>: Send {
    /// Which of the run's partitions live here.
    fn placement(&self) -> Placement;

    /// The least `next` of all processes: the earliest pending event anywhere.
    fn earliest(&mut self, next: Tick) -> Tick;

    /// Ends a window: delivers `sent` (left empty) to the other processes, adds to `arrived` what they sent to partitions
    /// of this one, in any order, and returns the earliest event that is pending anywhere. `next` covers the messages that this
    /// process sent.
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

/// One process: all partitions are here, nothing is delivered and there is nobody to agree with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Local {
    /// Partitions of the run.
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
