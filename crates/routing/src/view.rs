//! What a routing sees of the queues of a switch.

use netloom_units::Port;

/// What a switch sees when it chooses among its outputs. A decision may depend on nothing else.
pub trait QueueView {
    /// Returns the flits that wait in this switch for an output, and those after it as far as
    /// credits show them.
    fn queued(&self, output: Port) -> u32;

    /// Returns the same for an output of the switch at the other end of a cable, as last announced
    /// by that switch; see [`Route::announcements`](crate::Route::announcements).
    fn announced(&self, cable: Port, output: Port) -> u32;

    /// Whether a lane of an output cannot send now, because it is paused or has no credits left.
    /// Such an output is worse than any queue.
    #[inline]
    fn is_stopped(&self, _output: Port, _lane: u8) -> bool {
        false
    }

    /// Whether the packet being routed could not start on a lane of an output now: the link is in
    /// use, the lane has too few credits, or it is paused.
    #[inline]
    fn is_blocked(&self, _output: Port, _lane: u8) -> bool {
        false
    }

    /// Returns the flits in use of the buffer that the other end of a link grants to a lane, as far
    /// as the switch knows: stored there or on the link.
    #[inline]
    fn occupancy(&self, _output: Port, _lane: u8) -> Occupancy {
        Occupancy { used: 0, most: 1 }
    }
}

/// A part of a whole, in flits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occupancy {
    pub used: u32,
    /// Maximum of `used`; not 0.
    pub most: u32,
}

/// Lets a `&dyn QueueView` be passed on as a view.
impl<V: QueueView + ?Sized> QueueView for &V {
    #[inline]
    fn queued(&self, output: Port) -> u32 {
        (**self).queued(output)
    }

    #[inline]
    fn announced(&self, cable: Port, output: Port) -> u32 {
        (**self).announced(cable, output)
    }

    #[inline]
    fn is_stopped(&self, output: Port, lane: u8) -> bool {
        (**self).is_stopped(output, lane)
    }

    #[inline]
    fn is_blocked(&self, output: Port, lane: u8) -> bool {
        (**self).is_blocked(output, lane)
    }

    #[inline]
    fn occupancy(&self, output: Port, lane: u8) -> Occupancy {
        (**self).occupancy(output, lane)
    }
}

/// A view of a switch in which no packets wait.
#[derive(Clone, Copy, Debug)]
pub struct EmptyQueues;

impl QueueView for EmptyQueues {
    fn queued(&self, _: Port) -> u32 {
        0
    }

    fn announced(&self, _: Port, _: Port) -> u32 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers;

    impl QueueView for Numbers {
        fn queued(&self, output: Port) -> u32 {
            u32::from(output.0)
        }

        fn announced(&self, cable: Port, output: Port) -> u32 {
            u32::from(cable.0 * 100 + output.0)
        }

        fn is_stopped(&self, output: Port, lane: u8) -> bool {
            output.0 == 3 && lane == 1
        }
    }

    #[test]
    fn a_view_is_the_same_behind_a_reference() {
        fn ask(view: &impl QueueView) -> (u32, u32, [bool; 2]) {
            let stopped = [0, 1].map(|lane| view.is_stopped(Port(3), lane));
            (
                view.queued(Port(7)),
                view.announced(Port(2), Port(5)),
                stopped,
            )
        }
        let hidden: &dyn QueueView = &Numbers;
        assert_eq!(ask(&hidden), (7, 205, [false, true]));
        assert_eq!(ask(&Numbers), ask(&hidden));
        assert_eq!(ask(&EmptyQueues), (0, 0, [false; 2]));
    }
}
