//! The partitions of a running fabric without their type. Everything that is done once per epoch or
//! less often goes through these two interfaces, so it is compiled once for all instances.

use std::ops::Range;

use netloom_encoding::Validity;
use netloom_engine::{Engine, Transport};
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::endpoint::Meters;
use crate::fabric::Fabric;
use crate::plan::FabricPlan;
use crate::recorder::PortUse;
use crate::shared::Shared;
use crate::switch::Switches;

/// Returns the switch and number of a port of another partition.
pub(crate) type Named<'a> = &'a dyn Fn(u16, u32) -> (SwitchId, Port);

/// One partition.
pub(crate) trait Part {
    /// Returns the name of the type of its switches.
    fn switches(&self) -> &'static str;
    fn shared(&mut self) -> &mut Shared;
    fn meters(&mut self) -> Option<&mut Meters>;
    /// Returns the packets in buffers and on links, and those that wait for earlier ones at their
    /// destination.
    fn packets(&self) -> u64;
    /// Returns the messages that have not completely left their NIC.
    fn waiting_messages(&self) -> u64;
    fn waiting_ranks(&self) -> Vec<(u8, NicId, NicId)>;
    fn ended_ranks(&self) -> Vec<(u8, NicId, Tick)>;
    fn port_uses(&self, now: Tick) -> Vec<(SwitchId, Port, PortUse)>;
    fn nic_flits(&self) -> Vec<(NicId, Vec<u64>)>;
    fn stash_flits(&self) -> Vec<(SwitchId, u32)>;
    /// Adds all waits; returns whether some packet has waited for longer than `wait_limit`.
    fn waits(
        &self,
        now: Tick,
        wait_limit: u64,
        edges: &mut Vec<(u64, u64)>,
        named: Named<'_>,
    ) -> bool;
    fn check_laws(&self);
    fn is_idle(&mut self) -> bool;
}

impl<S: Switches> Part for Fabric<S> {
    fn switches(&self) -> &'static str {
        std::any::type_name::<S>()
    }

    fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }

    fn meters(&mut self) -> Option<&mut Meters> {
        self.endpoints.meters.as_mut()
    }

    fn packets(&self) -> u64 {
        let reordering = self.endpoints.receiver.reordering.as_ref();
        S::packets_in_flight(self) + reordering.map_or(0, |all| all.held())
    }

    fn waiting_messages(&self) -> u64 {
        self.endpoints.messages.len() as u64 + self.packets_at_nics()
    }

    fn waiting_ranks(&self) -> Vec<(u8, NicId, NicId)> {
        Fabric::waiting_ranks(self)
    }

    fn ended_ranks(&self) -> Vec<(u8, NicId, Tick)> {
        Fabric::ended_ranks(self)
    }

    fn port_uses(&self, now: Tick) -> Vec<(SwitchId, Port, PortUse)> {
        self.switches.port_uses(now)
    }

    fn nic_flits(&self) -> Vec<(NicId, Vec<u64>)> {
        let n_rows = self.shared.rows.len().max(1);
        let flits = self.endpoints.nic_flits.chunks(n_rows);
        let nics = self.endpoints.nics.iter().zip(flits);
        nics.map(|(nic, flits)| (nic.id, flits.to_vec())).collect()
    }

    fn stash_flits(&self) -> Vec<(SwitchId, u32)> {
        self.switches.stash_flits()
    }

    fn waits(
        &self,
        now: Tick,
        wait_limit: u64,
        edges: &mut Vec<(u64, u64)>,
        named: Named<'_>,
    ) -> bool {
        S::waits(self, now, wait_limit, edges, named)
    }

    fn check_laws(&self) {
        S::check_laws(self);
    }

    fn is_idle(&mut self) -> bool {
        let switches = &mut self.switches;
        let mut nics = self.endpoints.nics.iter();
        switches.is_idle() && nics.all(|nic| switches.is_credit_idle(&nic.credit, nic.wire))
    }
}

/// The engine with the partitions of this process.
pub(crate) trait Parts {
    fn run_until(&mut self, end: Tick);
    fn now(&self) -> Tick;
    fn events(&self) -> u64;
    fn next_event(&mut self) -> Option<Tick>;
    /// Returns the partitions of this process, counted over all processes.
    fn here(&self) -> Range<usize>;
    /// Returns the `i`-th of them.
    fn part(&mut self, i: usize) -> &mut dyn Part;
    fn save(&mut self, i: usize, out: &mut Vec<u8>);
    fn restore(&mut self, plan: &FabricPlan, i: usize, now: Tick, saved: &[u8]) -> Validity;
}

impl<S: Switches, T: Transport> Parts for Engine<Fabric<S>, T> {
    fn run_until(&mut self, end: Tick) {
        self.run_until(end);
    }

    fn now(&self) -> Tick {
        self.now()
    }

    fn events(&self) -> u64 {
        self.events()
    }

    fn next_event(&mut self) -> Option<Tick> {
        self.next_event()
    }

    fn here(&self) -> Range<usize> {
        self.here()
    }

    fn part(&mut self, i: usize) -> &mut dyn Part {
        self.model(i)
    }

    fn save(&mut self, i: usize, out: &mut Vec<u8>) {
        self.save(i, out);
    }

    fn restore(&mut self, plan: &FabricPlan, i: usize, now: Tick, saved: &[u8]) -> Validity {
        self.restore(i, now, saved, |fabric, pending| {
            fabric.validate(plan, now, pending)
        })
    }
}
