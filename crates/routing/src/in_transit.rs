//! Detours decided in transit (PAR-6/2): a packet leaves its minimal path if that is blocked and
//! another output is free.
//!
//! In the first group, a packet leaves by another global link of its switch. After a local link, it
//! may also go to a third switch and leave by a global link of that one. In a later group, and
//! within a group, it may go to another switch first, once. So the longest path is l-l-g-l-l-g-l-l,
//! with six lanes on local links and two on global ones, by position. A packet's lane gives its
//! progress, so it carries no word.
//!
//! Difference from the paper: a switch decides once, when the header arrives. The simulator of the
//! authors decides again in every cycle until the packet has left.

use netloom_catalog::choice;
use netloom_random::Draw;
use netloom_units::{Port, SwitchId};

use crate::group_plan::{GroupPlan, Place};
use crate::ladder::Rung;
use crate::{Hop, Lookup, Occasion, Occupancy, QueueView};

choice! {
    /// The links by which a packet may leave its first group, in addition to the minimal one.
    pub enum Policy {
        /// Other global links of the current switch.
        CurrentRouter = "current-router",
        /// Those of its first switch; after a local link, those of any other switch of the group.
        Mixed = "mixed",
    }
}

/// When a packet leaves its minimal path. Occupancies are the credits of a lane in use, as a
/// percentage of its maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InTransit {
    /// Percentage that the minimal output must have in use.
    pub(crate) least: u8,
    /// Maximum percentages that an alternative local or global output may have in use.
    pub(crate) local: u8,
    pub(crate) global: u8,
    /// Whether these two are relative to what the minimal output has in use.
    pub(crate) is_relative: bool,
    pub(crate) policy: Policy,
}

/// Purpose of a draw: the last word of its key (0 to 6 belong to trees, grids, groups and salts).
const DRAW_OF_DETOUR: u32 = 7;

/// The alternatives to a minimal output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Instead {
    Nothing,
    /// Any other local link.
    Local,
    /// Any other local link, to a switch that has a global link.
    LocalThenGlobal,
    /// Any other global link of the switch.
    Global,
}

impl InTransit {
    /// Returns the alternatives for a packet of this progress whose destination is another switch.
    /// Its minimal hop may be a local one.
    fn instead(&self, is_leaving: bool, rung: Rung, is_local: bool) -> Instead {
        match (is_leaving && rung.globals == 0, rung.locals) {
            (true, 0) => Instead::Global,
            (true, 1) if self.policy == Policy::CurrentRouter => Instead::Global,
            (true, 1) => Instead::LocalThenGlobal,
            (false, 0) if is_local => Instead::Local,
            _ => Instead::Nothing,
        }
    }

    /// Whether an output has little enough in use to be taken instead of the minimal one.
    fn is_better(&self, other: Occupancy, minimal: Occupancy, is_local: bool) -> bool {
        let percent = u64::from(if is_local { self.local } else { self.global });
        let [used, most] = [other.used, other.most].map(u64::from);
        match self.is_relative {
            true => {
                let [minimal_used, minimal_most] = [minimal.used, minimal.most].map(u64::from);
                100 * used * minimal_most <= percent * minimal_used * most
            }
            false => 100 * used <= percent * most,
        }
    }
}

impl GroupPlan {
    /// Returns the hop of a packet for a switch other than this one.
    pub(crate) fn route_in_transit<V: QueueView>(
        &self,
        rules: &InTransit,
        lookup: &Lookup,
        there: Place,
        rung: Rung,
        view: &V,
    ) -> Hop {
        let (at, occasion) = (lookup.at, lookup.occasion);
        let here = self.place(at);
        let is_leaving = here.group != there.group;
        if must_leave(is_leaving, rung) {
            return self.leave_by_any(at, rung, occasion, view);
        }
        let draw = self.draw(lookup.destination, occasion);
        let minimal = self.minimal(at, here, there, rung, draw);
        if !view.is_blocked(minimal.port, minimal.lane) {
            return minimal;
        }
        let occupancy = view.occupancy(minimal.port, minimal.lane);
        if 100 * u64::from(occupancy.used) < u64::from(rules.least) * u64::from(occupancy.most) {
            return minimal;
        }
        let is_local = !self.global_ports(at).contains(&minimal.port);
        let instead = rules.instead(is_leaving, rung, is_local);
        let is_local = instead != Instead::Global;
        let is_taken = |hop: &Hop| {
            hop.port != minimal.port
                && !view.is_blocked(hop.port, hop.lane)
                && rules.is_better(view.occupancy(hop.port, hop.lane), occupancy, is_local)
        };
        let taken = || self.others(at, here, rung, instead).filter(is_taken);
        match taken().count() as u32 {
            0 => minimal,
            n => {
                let nth = self.draw_of_detour(occasion).below(0, n);
                taken().nth(nth as usize).expect("as many as were counted")
            }
        }
    }

    /// Leaves by a global link of this switch, preferably one that is not blocked. After two local
    /// links of the first group, the minimal path would lead back.
    fn leave_by_any<V: QueueView>(
        &self,
        at: SwitchId,
        rung: Rung,
        occasion: Occasion,
        view: &V,
    ) -> Hop {
        let hop = |&port: &Port| Hop {
            port,
            lane: rung.global,
        };
        let all = self.global_ports(at);
        let is_free = |hop: &Hop| !view.is_blocked(hop.port, hop.lane);
        let free = || all.iter().map(hop).filter(is_free);
        let draw = self.draw_of_detour(occasion);
        match free().count() as u32 {
            0 => hop(&all[draw.below(0, all.len() as u32) as usize]),
            n => {
                let nth = draw.below(0, n) as usize;
                free().nth(nth).expect("as many as were counted")
            }
        }
    }

    /// Draws separately at every switch, so that a packet's detours are independent of each other.
    fn draw_of_detour(&self, occasion: Occasion) -> Draw {
        let hop = u32::from(occasion.hop);
        let key = [occasion.source.0, occasion.sequence, hop, DRAW_OF_DETOUR];
        self.stream().draw(key)
    }

    /// Returns the hops that may be taken instead of a minimal one, which may be among them.
    fn others(
        &self,
        at: SwitchId,
        here: Place,
        rung: Rung,
        instead: Instead,
    ) -> impl Iterator<Item = Hop> + '_ {
        let locals = match instead {
            Instead::Local | Instead::LocalThenGlobal => self.cabled(at),
            Instead::Nothing | Instead::Global => &[],
        };
        let globals = match instead {
            Instead::Global => self.global_ports(at),
            _ => &[],
        };
        let leads_on = move |index: &usize| {
            let first = u64::from(at.0) - u64::from(here.index);
            let there = SwitchId((first + *index as u64) as u32);
            instead == Instead::Local || !self.global_ports(there).is_empty()
        };
        let local = move |port: Port| Hop {
            port,
            lane: rung.local,
        };
        let global = move |&port: &Port| Hop {
            port,
            lane: rung.global,
        };
        let is_cabled = move |&(index, _): &(usize, &Port)| index != usize::from(here.index);
        let locals = locals.iter().enumerate().filter(is_cabled);
        locals
            .filter(move |(index, _)| leads_on(index))
            .map(move |(_, &port)| local(port))
            .chain(globals.iter().map(global))
    }

    /// Adds every hop that [`GroupPlan::route_in_transit`] may return.
    pub(crate) fn choices_in_transit(
        &self,
        rules: &InTransit,
        at: SwitchId,
        there: Place,
        rung: Rung,
        hops: &mut Vec<Hop>,
    ) {
        let here = self.place(at);
        let is_leaving = here.group != there.group;
        let first = hops.len();
        if must_leave(is_leaving, rung) {
            hops.extend(self.others(at, here, rung, Instead::Global));
            return;
        }
        match is_leaving {
            true => self.exits(at, here, there.group, rung, rung.locals < 2, hops),
            false => self.locals(at, here, there.index, rung, hops),
        }
        let globals = self.global_ports(at);
        let is_local = hops[first..].iter().all(|hop| !globals.contains(&hop.port));
        let instead = rules.instead(is_leaving, rung, is_local);
        hops.extend(self.others(at, here, rung, instead));
        crate::group_plan::once_each(hops, first);
    }
}

/// Whether a packet has come to this switch to leave its first group by any of its links.
fn must_leave(is_leaving: bool, rung: Rung) -> bool {
    is_leaving && (rung.globals, rung.locals) == (0, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: InTransit = InTransit {
        least: 0,
        local: 50,
        global: 80,
        is_relative: false,
        policy: Policy::Mixed,
    };

    #[test]
    fn an_output_is_compared_in_per_cent() {
        let occupancy = |used, most| Occupancy { used, most };
        let minimal = occupancy(90, 100);
        for (used, is_local, expected) in [
            (25, true, true),
            (26, true, false),
            (40, false, true),
            (41, false, false),
        ] {
            let other = occupancy(used, 50);
            assert_eq!(RULES.is_better(other, minimal, is_local), expected);
        }
        // Half of 90 % is 22.5 of 50 flits.
        let relative = InTransit {
            is_relative: true,
            ..RULES
        };
        assert!(relative.is_better(occupancy(22, 50), minimal, true));
        assert!(!relative.is_better(occupancy(23, 50), minimal, true));
        assert!(relative.is_better(occupancy(0, 50), occupancy(0, 100), true));
    }

    #[test]
    fn what_is_taken_instead_depends_on_the_place() {
        let rung = |globals, locals| Rung {
            globals,
            locals,
            ..Rung::default()
        };
        let current = InTransit {
            policy: Policy::CurrentRouter,
            ..RULES
        };
        // The first group of a packet for another one.
        assert_eq!(RULES.instead(true, rung(0, 0), true), Instead::Global);
        assert_eq!(
            RULES.instead(true, rung(0, 1), false),
            Instead::LocalThenGlobal
        );
        assert_eq!(current.instead(true, rung(0, 1), false), Instead::Global);
        // A later group, or its own: once, before a local link.
        for (is_leaving, globals) in [(true, 1), (false, 0), (false, 1), (false, 2)] {
            assert_eq!(
                RULES.instead(is_leaving, rung(globals, 0), true),
                Instead::Local
            );
            assert_eq!(
                RULES.instead(is_leaving, rung(globals, 0), false),
                Instead::Nothing
            );
            assert_eq!(
                RULES.instead(is_leaving, rung(globals, 1), true),
                Instead::Nothing
            );
        }
    }
}
