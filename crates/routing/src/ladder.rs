//! Lanes that give a packet's progress through groups of switches.

/// Lanes of a link that a ladder distinguishes; a power of two.
const LANES: usize = 8;

/// The link by which a packet comes in: a host, local or global link (their classes), or a local
/// link down to a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Entry {
    Host = 0,
    Local = 1,
    Global = 2,
    Down = 3,
}

/// A packet's progress, and its next lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rung {
    /// Global links taken.
    pub(crate) globals: u8,
    /// Local links taken in this group.
    pub(crate) locals: u8,
    /// Lane of the next local link.
    pub(crate) local: u8,
    /// Lane of the next global link.
    pub(crate) global: u8,
}

/// The number of local links that a packet may take in a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ways {
    /// One: to the switch with the global link, or to the destination.
    Direct,
    /// One, or two in the first group: to a switch where it turns, and on from there.
    Turning,
    /// One, or two in the second group: to a switch that the packet visits, and on from there.
    Through,
    /// One or two in every group: directly, or through another switch.
    InTransit,
    /// Between leaves and spines: up, or up and down, in the first group; down and up in the middle
    /// one; down in the last. Links up and down are different channels, so they may share a lane.
    TwoLevel,
}

/// The rungs by entry and lane.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    ways: Ways,
    rungs: [[Rung; LANES]; 4],
}

impl Ladder {
    /// Creates the ladder with the fewest lanes that avoid a cycle of channels.
    pub(crate) fn new(ways: Ways) -> Self {
        Ladder::with_lanes(ways, ways == Ways::Turning)
    }

    /// Returns the ladder with a lane per position of the longest path, l-g-l-g-l, l-l-g-l-g-l,
    /// l-g-l-l-g-l or l-l-g-l-l-g-l-l, so that lanes rise. `None` for two levels, where a lane
    /// cannot distinguish links up and down.
    pub(crate) fn apart(&self) -> Option<Self> {
        (self.ways != Ways::TwoLevel).then(|| Ladder::with_lanes(self.ways, true))
    }

    fn with_lanes(ways: Ways, is_apart: bool) -> Self {
        let rung = |globals: u8, locals: u8| Rung {
            globals,
            locals,
            local: match ways {
                Ways::Turning if globals == 0 => locals.min(1),
                Ways::Turning => 2 * globals + 1,
                Ways::Through => match (globals, is_apart) {
                    (0, _) => 0,
                    (1, true) => 2 + locals.min(1),
                    (1, false) => 1 + locals.min(1),
                    (_, true) => 5,
                    (_, false) => 3,
                },
                Ways::InTransit if is_apart => 3 * globals + locals.min(1),
                Ways::InTransit => 2 * globals + locals.min(1),
                _ if is_apart => 2 * globals,
                _ => globals,
            },
            global: match ways {
                Ways::Turning => 2 * globals + 2,
                Ways::InTransit if is_apart => 3 * globals + 2,
                Ways::Through if is_apart => 3 * globals + 1,
                _ if is_apart => 2 * globals + 1,
                _ => globals,
            },
        };
        let at = |entry: Entry, lane: u8| match (entry, ways) {
            (Entry::Host, _) => rung(0, 0),
            (Entry::Global, Ways::Turning) => rung(lane / 2, 0),
            (Entry::Global, Ways::InTransit | Ways::Through) if is_apart => rung(lane / 3 + 1, 0),
            (Entry::Local, Ways::Through) => match (lane, is_apart) {
                (0, _) => rung(0, 1),
                (1, false) | (1 | 2, true) => rung(1, 1),
                (2, false) | (3 | 4, true) => rung(1, 2),
                _ => rung(2, 1),
            },
            (Entry::Local, Ways::InTransit) if is_apart => rung(lane / 3, lane % 3 + 1),
            (Entry::Local, Ways::InTransit) => rung(lane / 2, lane % 2 + 1),
            (Entry::Global, Ways::Direct) if is_apart => rung(lane / 2 + 1, 0),
            (Entry::Global, _) => rung(lane + 1, 0),
            // A spine is the second stop of the first group and the third one of the middle group.
            (Entry::Local, Ways::TwoLevel) => rung(lane, if lane == 0 { 1 } else { 2 }),
            (Entry::Down, _) => rung(lane, if lane == 0 { 2 } else { 1 }),
            (Entry::Local, Ways::Turning) if lane < 2 => rung(0, lane + 1),
            (Entry::Local, Ways::Turning) => rung(lane / 2, 1),
            (Entry::Local, Ways::Direct) if is_apart => rung(lane / 2, 1),
            (Entry::Local, Ways::Direct) => rung(lane, 1),
        };
        let all = [Entry::Host, Entry::Local, Entry::Global, Entry::Down];
        Ladder {
            ways,
            rungs: all.map(|entry| std::array::from_fn(|lane| at(entry, lane as u8))),
        }
    }

    /// Returns the rung of a packet that came in by a link of this [`Entry`] on this lane.
    #[inline]
    pub(crate) fn rung(&self, entry: u8, lane: u8) -> Rung {
        self.rungs[usize::from(entry) % 4][usize::from(lane) % LANES]
    }

    /// Climbs every path of up to `most_globals` global links. `None` if the lane of some link does
    /// not determine how many links the packet has taken. That number rises from link to link, so
    /// it ranks the channels and there is no cycle among them.
    pub(crate) fn climb(&self, most_globals: u8, lanes: u8) -> Option<Climb> {
        let mut climb = Climb {
            lanes_rise: true,
            local: 0,
            global: 0,
        };
        let mut open = vec![(Entry::Host, self.rung(Entry::Host as u8, 0), None)];
        while let Some((entry, here, last)) = open.pop() {
            let is_leaf = matches!(entry, Entry::Host | Entry::Down);
            let goes_on = here.globals < most_globals;
            let (by_local, by_global) = match self.ways {
                Ways::Direct => (here.locals == 0, goes_on),
                Ways::Turning => (
                    here.locals == 0 || (here.globals, here.locals) == (0, 1),
                    goes_on,
                ),
                Ways::Through => (here.locals < 1 + u8::from(here.globals == 1), goes_on),
                Ways::InTransit => (here.locals < 2, goes_on),
                Ways::TwoLevel if is_leaf => {
                    let is_middle = here.globals > 0 && goes_on && here.locals == 1;
                    ((here.globals, here.locals) == (0, 0) || is_middle, false)
                }
                Ways::TwoLevel => (here.locals == 0 || here.globals == 0, goes_on),
            };
            let local = match self.ways == Ways::TwoLevel && !is_leaf {
                true => Entry::Down,
                false => Entry::Local,
            };
            let steps = [
                (by_local, local, here.local, (here.globals, here.locals + 1)),
                (by_global, Entry::Global, here.global, (here.globals + 1, 0)),
            ];
            for (is_taken, entry, lane, expected) in steps {
                if !is_taken {
                    continue;
                }
                let there = self.rung(entry as u8, lane);
                if (there.globals, there.locals) != expected || lane >= lanes {
                    return None;
                }
                climb.lanes_rise &= last.is_none_or(|last| last < lane);
                match entry {
                    Entry::Global => climb.global |= 1 << lane,
                    _ => climb.local |= 1 << lane,
                }
                open.push((entry, there, Some(lane)));
            }
        }
        Some(climb)
    }
}

/// What the paths of a ladder have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Climb {
    /// Whether the lane of every link is above that of the link before it.
    pub(crate) lanes_rise: bool,
    /// Lanes of local links, one bit each.
    pub(crate) local: u32,
    /// Lanes of global links, one bit each.
    pub(crate) global: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ladders_rise() {
        for (ways, is_apart, globals, lanes) in [
            (Ways::Direct, false, 1, 2),
            (Ways::Direct, false, 2, 3),
            (Ways::Direct, true, 1, 3),
            (Ways::Direct, true, 2, 5),
            (Ways::Turning, true, 2, 6),
            (Ways::Through, false, 2, 4),
            (Ways::Through, true, 2, 6),
            (Ways::InTransit, false, 2, 6),
            (Ways::InTransit, true, 2, 8),
            (Ways::TwoLevel, false, 1, 2),
            (Ways::TwoLevel, false, 2, 3),
        ] {
            let ladder = Ladder::new(ways);
            let ladder = if is_apart {
                ladder.apart().unwrap()
            } else {
                ladder
            };
            let climb = ladder.climb(globals, lanes).expect("a ladder");
            assert_eq!(climb.lanes_rise, is_apart, "{ways:?}");
            let lanes_of_ways = (climb.local | climb.global).count_ones();
            assert_eq!(lanes_of_ways, u32::from(lanes), "{ways:?}");
            assert_eq!(
                ladder.climb(globals, lanes - 1),
                None,
                "{ways:?}: one lane less"
            );
        }
    }

    /// With one lane for both local links of the first group, the second cannot be distinguished
    /// from the first.
    #[test]
    fn turning_needs_a_lane_of_its_own() {
        let mut ladder = Ladder::new(Ways::Direct);
        ladder.ways = Ways::Turning;
        assert_eq!(ladder.climb(2, 6), None);
    }
}
