//! The reference implementation of the tiled switch: flit by flit and cycle by cycle.
//!
//! It shares only pure code that is tested elsewhere with the model (routing, workloads, draws).
//! Time advances tick by tick. On every edge of the core clock each block checks everything,
//! grants, and moves one flit. Flits between blocks are in delay lines; credits and
//! acknowledgements are messages in transit. Quantities that the semantics count in whole packets
//! are counted so, and the actual flits are checked against them.
//!
//! - `packet`, `pool`, `switch`: state
//! - `input`: headers, routing, row buses
//! - `tile`: crossbars between row and column buffers
//! - `output`: multiplexers, output buffers, links
//! - `stash`: stashes, the side band, tracking of acknowledgements
//! - `nic`: flows, windows, acknowledgements
//! - `laws`: invariants between ticks

#![allow(dead_code)] // Each test file uses its part.
#![allow(clippy::needless_range_loop)] // Ports are numbers here.

mod input;
mod laws;
mod nic;
mod output;
mod packet;
mod pool;
mod stash;
mod switch;
mod tile;

use netloom_fabric::{FabricPlan, Priority, StashUse, Tiled};
use netloom_metrics::{Delivery, Digest};
use netloom_units::{NicId, SwitchId};

use nic::Nic;
use packet::Packet;
use switch::{Shape, Switch};

#[allow(unused_imports)] // Each test file uses its part.
pub(crate) use nic::Flow;

/// Counts of events so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) messages: u64,
    pub(crate) injected_data: u64,
    pub(crate) injected_acknowledgements: u64,
    /// Data packets delivered for the first time.
    pub(crate) delivered: u64,
    /// Acknowledgements that arrived uncorrupted, void ones too.
    pub(crate) acknowledgements: u64,
    /// Switches left by packets: grants of their links.
    pub(crate) hops: u64,
    pub(crate) retransmissions: u64,
    /// Packets marked, once for each congested input.
    pub(crate) marks: u64,
    /// Packets or copies sent to a stash, and packets that continued from one (congestion).
    pub(crate) stashed: u64,
    pub(crate) retrieved: u64,
    /// Copies deleted.
    pub(crate) deletions: u64,
    /// Acknowledgements seen before the location of their copy.
    pub(crate) early_verdicts: u64,
    pub(crate) timeouts: u64,
    pub(crate) lost: u64,
    /// Corrupt data packets that arrived.
    pub(crate) rejected: u64,
    pub(crate) duplicates: u64,
    /// Corrupt acknowledgements.
    pub(crate) discarded: u64,
    /// Windows cut.
    pub(crate) cuts: u64,
    pub(crate) parked: u64,
}

impl Counts {
    pub(crate) fn injected(&self) -> u64 {
        self.injected_data + self.injected_acknowledgements
    }
}

pub(crate) struct Twin<'a> {
    plan: &'a FabricPlan,
    tiled: &'a Tiled,
    shape: Shape,
    timeout: Option<u64>,
    now: u64,
    packets: Vec<Packet>,
    switches: Vec<Switch>,
    nics: Vec<Nic>,
    pub(crate) counts: Counts,
    pub(crate) digest: Digest,
    /// Every delivery in order of its tick, and whether it is data.
    pub(crate) deliveries: Vec<(Delivery, bool)>,
}

impl<'a> Twin<'a> {
    pub(crate) fn new(plan: &'a FabricPlan) -> Self {
        let Some(tiled) = plan.switch.tiled() else {
            panic!("a tiled switch");
        };
        let stages = tiled.stages;
        let shortest = [
            stages.row_bus,
            stages.tile,
            stages.multiplexer,
            stages.side_band,
        ];
        assert!(shortest.iter().all(|&n| n >= 1), "stages take time");
        let period = plan.switch.period();
        assert!(plan.links.iter().all(|link| period <= link.flit));
        let shape = Shape::new(tiled, plan.n_vls);
        let switch = |s| Switch::new(plan, tiled, shape, SwitchId(s));
        let nic = |n| Nic::new(plan, tiled, NicId(n));
        Twin {
            plan,
            tiled,
            shape,
            timeout: match tiled.stash {
                Some(StashUse::Reliability { timeout }) => timeout,
                _ => None,
            },
            now: 0,
            packets: vec![],
            switches: (0..plan.topology.n_switches()).map(switch).collect(),
            nics: (0..plan.topology.n_nics()).map(nic).collect(),
            counts: Counts::default(),
            digest: Digest::default(),
            deliveries: vec![],
        }
    }

    fn period(&self) -> u64 {
        self.plan.switch.period()
    }

    /// Runs every tick before `end`.
    pub(crate) fn run_until(&mut self, end: u64) {
        while self.now < end {
            self.tick();
            if self.now.is_multiple_of(97 * self.period()) {
                self.check_laws();
            }
            self.now += 1;
        }
        self.check_laws();
    }

    fn tick(&mut self) {
        let ports = self.shape.ports();
        for s in 0..self.switches.len() {
            for p in 0..ports {
                self.receive(s, p);
            }
        }
        for nic in 0..self.nics.len() {
            self.nic_receives(nic);
        }
        for s in 0..self.switches.len() {
            for p in 0..ports {
                self.learn(s, p);
            }
            self.sample(s);
            self.side_band(s);
            if self.now.is_multiple_of(self.period()) {
                self.edge(s);
            }
            for q in 0..ports {
                self.send(s, q);
            }
        }
        for nic in 0..self.nics.len() {
            self.nic_acts(nic);
        }
    }

    /// Runs one edge of the core clock of a switch.
    fn edge(&mut self, s: usize) {
        let (shape, ports) = (self.shape, self.shape.ports());
        for stash in &mut self.switches[s].stashes {
            stash.used -= std::mem::take(&mut stash.freed);
        }
        self.fill_rows(s);
        self.fill_columns(s);
        self.fill_outputs(s);
        self.fill_stashes(s);
        self.route_headers(s);
        for p in 0..ports {
            self.row_bus(s, p);
        }
        for r in 0..shape.rows {
            for c in 0..shape.columns {
                self.tile(s, r, c);
            }
        }
        for q in 0..ports {
            self.multiplexer(s, q);
            self.store_multiplexer(s, q);
        }
        for q in 0..ports {
            self.link(s, q);
        }
        self.move_on_buses(s);
        self.move_through_tiles(s);
        self.move_through_multiplexers(s);
        self.move_into_stashes(s);
    }

    /// Returns the candidates with priority: those in transit, if that is the rule and there are
    /// any.
    fn first_of(&self, candidates: Vec<usize>, packet: impl Fn(usize) -> usize) -> Vec<usize> {
        if self.tiled.priority == Priority::Equal {
            return candidates;
        }
        let is_transit = |&&at: &&usize| !self.packets[packet(at)].is_injected;
        let transit: Vec<usize> = candidates.iter().filter(is_transit).copied().collect();
        if transit.is_empty() {
            candidates
        } else {
            transit
        }
    }

    /// Returns the space in use in every stash, by switch and port.
    pub(crate) fn stashed(&self) -> Vec<Vec<u32>> {
        let of = |switch: &Switch| switch.stashes.iter().map(|s| s.used - s.freed).collect();
        self.switches.iter().map(of).collect()
    }

    /// Returns the window that holds flows back.
    fn window_of_plan(&self) -> Option<netloom_fabric::Window> {
        self.plan.endpoints.control.as_ref()?.window()
    }

    /// Returns the window of a NIC towards a destination, in 1/65536 flit.
    pub(crate) fn window(&self, nic: usize, destination: u32) -> Option<u64> {
        let limit = self.window_of_plan()?;
        let flow = self.nics[nic].flows.get(&destination)?;
        Some(flow.window(limit, self.now))
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }
}
