//! Combines pattern, arrivals and sizes into the messages of a class, one after another.

use std::sync::Arc;

use netloom_packet::{Arrival, Cursor, Source};
use netloom_random::{Draw, Stream};
use netloom_units::NicId;

use crate::{Context, Destinations, Gaps, Sizes, Window};

/// A class at load zero.
pub(crate) struct Silent;

impl Source for Silent {
    fn next(&self, _nic: NicId, _cursor: &mut Cursor) -> Option<Arrival> {
        None
    }
}

/// When each NIC sends in a class.
pub(crate) enum Windows {
    /// All at the same time.
    Same(Window),
    /// Each at its own time; a NIC that is not a source has an empty window.
    Own(Vec<Window>),
}

impl Windows {
    /// Returns the window of the class, limited by the pattern and to the sources.
    pub(crate) fn new(
        class: Window,
        context: &Context<'_>,
        destinations: &dyn Destinations,
    ) -> Windows {
        let mut own = vec![Window::EMPTY; context.n_nics as usize];
        for &source in context.sources {
            own[source.index()] = class.and(destinations.window(source));
        }
        match own.iter().all(|window| *window == class) {
            true => Windows::Same(class),
            false => Windows::Own(own),
        }
    }

    #[inline]
    fn of(&self, nic: NicId) -> Window {
        match self {
            Windows::Same(window) => *window,
            Windows::Own(windows) => windows[nic.index()],
        }
    }
}

/// A class whose messages are drawn, ready for the run.
pub(crate) struct Composed {
    pub(crate) stream: Stream,
    pub(crate) class: u8,
    /// Messages of one instant, which share their destination.
    pub(crate) at_once: u32,
    pub(crate) windows: Windows,
    pub(crate) destinations: Box<dyn Destinations>,
    pub(crate) gaps: Box<dyn Gaps>,
    pub(crate) sizes: Arc<dyn Sizes>,
}

impl Composed {
    #[inline]
    fn draw(&self, nic: NicId, number: u32) -> Draw {
        self.stream.draw([nic.0, u32::from(self.class), number, 0])
    }

    /// Returns the destination of all messages of a burst: that of its first message.
    ///
    /// A separate function, because two draws in one function keep their round keys on the stack.
    #[inline(never)]
    fn destination_of_burst(&self, nic: NicId, burst: u32, cycle: u64) -> Option<NicId> {
        let first = self.draw(nic, burst * self.at_once);
        self.destinations.destination(nic, burst, cycle, first)
    }
}

impl Source for Composed {
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival> {
        let window = self.windows.of(nic);
        let number = cursor.number;
        let draw = self.draw(nic, number);
        // Gaps count from the start of the window.
        let cycle = window
            .from
            .saturating_add(self.gaps.next(nic, cursor, draw));
        if cycle >= window.until {
            return None;
        }
        let destination = if self.at_once == 1 {
            self.destinations.destination(nic, number, cycle, draw)?
        } else {
            self.destination_of_burst(nic, number / self.at_once, cycle)?
        };
        cursor.number = number + 1;
        Some(Arrival {
            cycle,
            destination,
            bytes: self.sizes.bytes(draw.0[3]),
            sl: None,
            flow: 0,
        })
    }
}
