//! Construction of the partitions of a fabric of tiled switches from a plan.

use std::collections::VecDeque;

use netloom_random::{Purpose, Stream};
use netloom_units::{Port, SwitchId, Tick};
use rustc_hash::FxHashMap;

use crate::endpoint::Endpoints;
use crate::fabric::Fabric;
use crate::link::pool::{Pool, Shares};
use crate::link::room::Sizes;
use crate::plan::FabricPlan;
use crate::plan::tiles::{PortBuffers, Priority, StashUse, Tiled};
use crate::port_arbiter::MakeArbiter;
use crate::rows::Rows;
use crate::shared::Shared;
use crate::simulation::{Atlas, Options};
use crate::slab::Slab;
use crate::switch::announcing::Announcing;
use crate::switch::tiled::edges::Edges;
use crate::switch::tiled::faults::Chances;
use crate::switch::tiled::geometry::Geometry;
use crate::switch::tiled::prefetch;
use crate::switch::tiled::record::Fifo;
use crate::switch::tiled::wire::Wire;
use crate::switch::tiled::{Due, Switch, Tile, TileInput, TileOutput, TiledPort, Tiles};
use crate::switch::{NIL, PeerRecord};

/// Returns the tiled switch of a plan.
pub(crate) fn tiled(plan: &FabricPlan) -> &Tiled {
    plan.switch.tiled().expect("a plan of tiled switches")
}

/// Returns the number of ports of a switch, used or not.
pub(crate) fn n_ports(plan: &FabricPlan) -> u32 {
    let tiled = tiled(plan);
    u32::from(tiled.rows) * u32::from(tiled.inputs)
}

/// The data from which the switches of a partition are built.
struct Making<'a> {
    plan: &'a FabricPlan,
    atlas: &'a Atlas,
    number: u16,
    geometry: &'a Geometry,
    input_shares: &'a Rows<Shares>,
    output_shares: &'a Rows<Shares>,
}

impl Making<'_> {
    /// Builds all switches, and their ports in order.
    fn switches(&self, tiled: &Tiled) -> (Vec<Switch>, Vec<TiledPort>) {
        let mut ports = Vec::new();
        let switch = |(index, &id): (usize, &SwitchId)| {
            let mut switch = Switch {
                id,
                n_ports: self.plan.topology.n_ports(id),
                is_marked: false,
                is_awaited: false,
                due: Due::default(),
                stash_columns: 0,
                promised: vec![0; self.geometry.columns as usize].into(),
                blocked: 0,
                has_messages: false,
                returning: Vec::new(),
                leaving: Vec::new(),
                expired: Vec::new(),
                retrieved: Vec::new(),
            };
            for at in 0..self.geometry.ports {
                let port = self.port(tiled, index as u32, &switch, at);
                if port.stash_capacity > 0 {
                    switch.stash_columns |= 1 << self.geometry.column(at);
                }
                ports.push(port);
            }
            switch
        };
        let switches = self.atlas.switches(self.number).iter().enumerate();
        (switches.map(switch).collect(), ports)
    }

    /// Builds a port in its initial state; some ports of a switch may have no cable.
    fn port(&self, tiled: &Tiled, index: u32, switch: &Switch, at: u32) -> TiledPort {
        let topology = &self.plan.topology;
        let number = Port(at as u16);
        let peer = match number.0 < switch.n_ports {
            true => self.atlas.peer(topology, self.number, switch.id, number),
            false => PeerRecord::Nobody,
        };
        let class = match peer {
            PeerRecord::Nobody => 0,
            _ => topology.link_class(switch.id, number),
        };
        let has_stash = tiled.stash.is_some() && peer != PeerRecord::Nobody;
        TiledPort {
            switch: index,
            number: at as u8,
            wire: class,
            peer,
            arriving: NIL,
            ready: 0,
            bus_until: Tick::ZERO,
            bus_watched: false,
            next_channel: 0,
            next_stash_column: 0,
            occupancy: 0,
            marks_above: self.plan.marks_above(class).unwrap_or(u32::MAX),
            columns: 0,
            multiplexer_until: Tick::ZERO,
            multiplexer_wake: Tick::NEVER,
            rows_blocked: 0,
            multiplexer_blocked: false,
            next_column: 0,
            space: Pool::new(&self.output_shares[u32::from(class)]),
            held: VecDeque::new(),
            present: 0,
            link_until: Tick::ZERO,
            link_wake: Tick::NEVER,
            next_lane: 0,
            credit: Pool::new(&self.input_shares[u32::from(class)]),
            committed: 0,
            stash_capacity: match has_stash {
                true => tiled.ports[usize::from(class)].stash,
                false => 0,
            },
            stash_used: 0,
            stash_until: Tick::ZERO,
            stash_watched: false,
            stash_blocked: false,
            next_row: 0,
            flits: 0,
            packets: 0,
            choices: 0,
            input_residence: 0,
            output_residence: 0,
            output_peak: 0,
        }
    }
}

/// Builds one partition of a plan.
pub(crate) fn partition(
    plan: &FabricPlan,
    atlas: &Atlas,
    number: u16,
    arbiter: &MakeArbiter<'_>,
    options: Options,
) -> Fabric<Tiles> {
    let tiled = tiled(plan);
    let topology = &plan.topology;
    let geometry = Geometry::new(tiled, plan.n_vls);
    assert!(
        u32::from(topology.radix()) <= geometry.ports,
        "a switch has as many ports as its tiles"
    );
    assert!(
        plan.n_vls > 1 || plan.endpoints.acknowledgement.is_none(),
        "acknowledgements have a channel of their own to the first switch"
    );
    let clock = Edges::new(plan.switch.period());
    let before_bus = tiled.stages.before_bus;
    let wires = plan
        .links
        .iter()
        .map(|&link| Wire::new(link, clock, before_bus, tiled.start));
    let wires: Rows<Wire> = wires.collect::<Vec<_>>().into();
    let shares = |of: fn(&PortBuffers) -> &Sizes| -> Rows<Shares> {
        let all = tiled.ports.iter().map(|port| Shares::new(of(port)));
        all.collect::<Vec<_>>().into()
    };
    let input_shares = shares(|port| &port.input);
    let output_shares = shares(|port| &port.output);

    let switch_ids = atlas.switches(number);
    let made = Making {
        plan,
        atlas,
        number,
        geometry: &geometry,
        input_shares: &input_shares,
        output_shares: &output_shares,
    };
    let (switches, ports) = made.switches(tiled);

    let n_ports = ports.len();
    let (lanes, channels) = (geometry.lanes as usize, geometry.channels as usize);
    let n_tiles = (geometry.rows * geometry.columns) as usize * switches.len();
    let n_tile_inputs = n_ports * geometry.columns as usize;
    let n_tile_outputs = n_ports * geometry.rows as usize;
    let store_columns = (0..geometry.rows).fold(0, |set, row| {
        set | 1 << (row * geometry.channels + geometry.store())
    });
    let fifos = |n: usize| -> Rows<Fifo> { vec![Fifo::default(); n].into() };
    let tile = Tile {
        waiting: 0,
        wake: Tick::NEVER,
    };
    let has_stash = !matches!(tiled.stash, None | Some(StashUse::Congestion));
    assert!(
        tiled.faults.are_off() || has_stash,
        "a switch with faults keeps copies"
    );
    let announcing = Announcing::new(plan, switch_ids, &|id| {
        (atlas.port(id, Port(0)).1, geometry.ports)
    });
    let credits = input_shares.clone();
    let switches = Tiles {
        clock,
        stages: tiled.stages,
        retransmission: tiled.retransmission,
        puts_transit_first: tiled.priority == Priority::TransitFirst,
        is_large: n_ports > prefetch::MOST_IN_CACHE,
        wires,
        row_buffer: tiled.row_buffer as u16,
        column_buffer: tiled.column_buffer as u16,
        stash_use: tiled.stash,
        chances: Chances::new(&tiled.faults),
        draws: Stream::new(tiled.faults.seed, Purpose::Fault),
        states: switches.into(),
        ports: ports.into(),
        input_queues: fifos(n_ports * lanes),
        retrievals: fifos(n_ports),
        tiles: vec![tile; n_tiles].into(),
        tile_inputs: vec![TileInput::default(); n_tile_inputs].into(),
        tile_outputs: vec![TileOutput::default(); n_tile_outputs].into(),
        row_queues: fifos(n_tile_inputs * geometry.outputs as usize * channels),
        row_used: vec![0; n_tile_inputs * geometry.spaces as usize * channels].into(),
        column_queues: fifos(n_tile_outputs * channels),
        column_used: vec![0; n_tile_outputs * channels].into(),
        output_queues: fifos(n_ports * lanes),
        tracked: FxHashMap::default(),
        announcing,
        packets: Slab::default(),
        input_shares,
        output_shares,
        geometry,
        store_columns,
    };
    let credit = |class: u8| Pool::new(&credits[u32::from(class)]);
    Fabric {
        shared: Shared::new(plan, options),
        endpoints: Endpoints::new(plan, atlas, number, arbiter, &credit),
        switches,
    }
}
