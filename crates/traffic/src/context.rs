//! The information that a pattern or an arrival process gets before a run.

use netloom_units::{NicId, Time};

use crate::GroupMembers;

/// Later than every cycle of a run.
pub(crate) const NEVER: u64 = u64::MAX;

/// Maximum duration of a run, in nanoseconds.
const LONGEST_RUN: u64 = 100_000_000_000;

/// A time span in cycles of a NIC: from the first to before the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The first cycle inside.
    pub from: u64,
    /// The first cycle after it; `u64::MAX` is later than every cycle of a run.
    pub until: u64,
}

impl Window {
    /// The whole run.
    pub const ALWAYS: Window = Window {
        from: 0,
        until: NEVER,
    };

    /// No cycle at all.
    pub const EMPTY: Window = Window { from: 0, until: 0 };

    /// Returns the window between two times of the file, either of which may be missing. It ends no
    /// later than the longest run, because a message of the far future has no instant in ticks.
    pub(crate) fn of_run(
        from: Option<Time>,
        until: Option<Time>,
        cycles: &dyn Fn(Time) -> u64,
    ) -> Window {
        let end = cycles(Time::from_nanos(LONGEST_RUN));
        Window {
            from: from.map_or(0, cycles),
            until: until.map_or(end, |until| cycles(until).min(end)),
        }
    }

    /// Returns whether a cycle is inside.
    #[inline]
    pub fn contains(self, cycle: u64) -> bool {
        self.from <= cycle && cycle < self.until
    }

    /// Returns the intersection of both.
    pub fn and(self, other: Window) -> Window {
        Window {
            from: self.from.max(other.from),
            until: self.until.min(other.until),
        }
    }
}

/// The run that a class prepares for.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Number of NICs of the fabric.
    pub n_nics: u32,
    /// The groups that sets of NICs may name.
    pub groups: &'a GroupMembers,
    /// Seed of the run.
    pub seed: u64,
    /// Index of the class in the experiment.
    pub class: u8,
    /// The NICs that send, in ascending order, each once.
    pub sources: &'a [NicId],
    /// The NICs that may receive, in ascending order, each once; `None` for all.
    pub destinations: Option<&'a [NicId]>,
    /// Mean flits of a message on the wire.
    pub mean_flits: f64,
    /// Converts a time of the experiment file into cycles of a NIC.
    pub cycles: &'a dyn Fn(Time) -> u64,
}

impl Context<'_> {
    /// Returns the window between two times of the file, either of which may be missing.
    pub fn window(&self, from: Option<Time>, until: Option<Time>) -> Window {
        Window::of_run(from, until, self.cycles)
    }

    /// For patterns that define the receivers themselves.
    pub(crate) fn refuse_destinations(&self, pattern: &str) -> Result<(), String> {
        match self.destinations {
            None => Ok(()),
            Some(_) => Err(format!(
                "pattern \"{pattern}\" defines the destinations itself; remove `destinations`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn windows_meet_in_what_both_contain() {
        let early = Window { from: 0, until: 10 };
        let late = Window {
            from: 5,
            ..Window::ALWAYS
        };
        let both = early.and(late);
        assert_eq!((both.from, both.until), (5, 10));
        assert!(both.contains(5) && !both.contains(10) && !both.contains(4));
        assert_eq!(Window::ALWAYS.and(late), late);
    }
}
