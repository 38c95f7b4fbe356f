//! From a plan to the partitions of a fabric of tiled switches.

use std::collections::VecDeque;

use netloom_fabric::{
    Architecture, Counters, FabricPlan, Protocol, Row, StashUse, Tiled, Watch, rows,
};
use netloom_packet::{Cursor, Rows, Slab};
use netloom_random::{Purpose, Stream};
use netloom_topology::Peer as Wired;
use netloom_units::{Clock, NicId, Port as PortNumber, SwitchId, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::Event;
use crate::faults::Chances;
use crate::geometry::Geometry;
use crate::model::TiledFabric;
use crate::nic::Nic;
use crate::pool::{Pool, Shares};
use crate::record::{Fifo, NIL};
use crate::switch::{Announcing, Due, Peer, Port, Switch, Tile, TileInput, TileOutput};
use crate::wire::Wire;

/// Where everything of the fabric is: partition and index inside it.
pub(crate) struct Atlas {
    /// Partition of each switch and its index there.
    place: Vec<(u16, u32)>,
    /// Switches of each partition, in order.
    switches: Vec<Vec<SwitchId>>,
    /// NICs of each partition, in order.
    nics: Vec<Vec<NicId>>,
    /// Index of each NIC in its partition.
    nic_index: Vec<u32>,
    n_ports: u32,
}

/// The tiles of a plan.
pub(crate) fn tiled(plan: &FabricPlan) -> &Tiled {
    match &plan.switch.architecture {
        Architecture::Tiled(tiled) => tiled,
        other => panic!("a plan of tiled switches, not {other:?}"),
    }
}

impl Atlas {
    pub(crate) fn new(plan: &FabricPlan) -> Self {
        let n = plan.n_partitions();
        let topology = &plan.topology;
        let mut switches = vec![Vec::new(); n];
        let place = topology.switches().map(|id| {
            let partition = plan.partitions[id.index()];
            let here: &mut Vec<SwitchId> = &mut switches[usize::from(partition)];
            here.push(id);
            (partition, here.len() as u32 - 1)
        });
        let place = place.collect();
        let mut nics = vec![Vec::new(); n];
        let nic_index = topology.nics().map(|nic| {
            let (switch, _) = topology.attachment(nic);
            let here: &mut Vec<NicId> = &mut nics[usize::from(plan.partitions[switch.index()])];
            here.push(nic);
            here.len() as u32 - 1
        });
        let nic_index = nic_index.collect();
        let tiled = tiled(plan);
        Atlas {
            place,
            switches,
            nics,
            nic_index,
            n_ports: u32::from(tiled.rows) * u32::from(tiled.inputs),
        }
    }

    fn port(&self, switch: SwitchId, port: PortNumber) -> (u16, u32) {
        let (partition, index) = self.place[switch.index()];
        (partition, index * self.n_ports + u32::from(port.0))
    }

    /// The switch and number of a port of a partition.
    pub(crate) fn name_of_port(&self, partition: u16, port: u32) -> (SwitchId, PortNumber) {
        let here = &self.switches[usize::from(partition)];
        let number = PortNumber((port % self.n_ports) as u16);
        (here[(port / self.n_ports) as usize], number)
    }
}

/// The least number of ticks between a cause in one partition and its effect in another.
pub(crate) fn lookahead(plan: &FabricPlan) -> u64 {
    let topology = &plan.topology;
    let mut least = u64::MAX;
    for switch in topology.switches() {
        for (port, other, _) in topology.neighbours(switch) {
            if plan.partitions[switch.index()] != plan.partitions[other.index()] {
                let link = plan.links[usize::from(topology.link_class(switch, port))];
                least = least.min(link.delay + link.flit.min(plan.switch.period));
            }
        }
    }
    least
}

/// One partition of a plan.
pub(crate) fn partition(
    plan: &FabricPlan,
    atlas: &Atlas,
    number: u16,
    watch: Option<Watch>,
) -> TiledFabric {
    let tiled = tiled(plan);
    let topology = &plan.topology;
    let geometry = Geometry::new(tiled, plan.n_vls);
    assert!(
        u32::from(topology.radix()) <= geometry.ports,
        "a switch has as many ports as its tiles"
    );
    assert!(
        plan.n_vls > 1 || tiled.endpoints.acknowledgement.is_none(),
        "acknowledgements have a channel of their own to the first switch"
    );
    let clock = Clock::new(plan.switch.period);
    let before_bus = tiled.stages.before_bus;
    let wires = plan
        .links
        .iter()
        .map(|&link| Wire::new(link, clock, before_bus));
    let wires: Rows<Wire> = wires.collect::<Vec<_>>().into();
    let shares = |of: fn(&netloom_fabric::PortBuffers) -> &netloom_fabric::Sizes| -> Rows<Shares> {
        let all = tiled.ports.iter().map(|port| Shares::new(of(port)));
        all.collect::<Vec<_>>().into()
    };
    let input_shares = shares(|port| &port.input);
    let output_shares = shares(|port| &port.output);

    let switch_ids = &atlas.switches[usize::from(number)];
    let mut switches = Vec::with_capacity(switch_ids.len());
    let mut ports = Vec::new();
    for (index, &id) in switch_ids.iter().enumerate() {
        let mut switch = Switch {
            id,
            n_ports: topology.n_ports(id),
            is_marked: false,
            is_awaited: false,
            due: Due::default(),
            stash_columns: 0,
            promised: vec![0; geometry.columns as usize].into(),
            blocked: 0,
            has_messages: false,
            returning: Vec::new(),
            leaving: Vec::new(),
            expired: Vec::new(),
            retrieved: Vec::new(),
        };
        for at in 0..geometry.ports {
            let port = PortNumber(at as u16);
            let is_there = port.0 < topology.n_ports(id);
            let wired = if is_there {
                topology.peer(id, port)
            } else {
                Wired::Unused
            };
            let peer = match wired {
                Wired::Unused => Peer::Nobody,
                Wired::Nic(nic) => Peer::Nic(atlas.nic_index[nic.index()]),
                Wired::Switch(other, there) => match atlas.port(other, there) {
                    (partition, port) if partition == number => Peer::Port(port),
                    (partition, port) => Peer::Remote(partition, port),
                },
            };
            let class = match peer {
                Peer::Nobody => 0,
                _ => topology.link_class(id, port),
            };
            let buffers = &tiled.ports[usize::from(class)];
            let has_stash = tiled.stash.is_some() && peer != Peer::Nobody;
            let stash = if has_stash { buffers.stash } else { 0 };
            if stash > 0 {
                switch.stash_columns |= 1 << geometry.column(at);
            }
            ports.push(Port {
                switch: index as u32,
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
                marks_above: buffers.marks_above.unwrap_or(u32::MAX),
                columns: 0,
                multiplexer_until: Tick::ZERO,
                multiplexer_wake: Tick::NEVER,
                rows_blocked: 0,
                multiplexer_blocked: false,
                next_column: 0,
                space: Pool::new(&output_shares[u32::from(class)]),
                held: VecDeque::new(),
                present: 0,
                link_until: Tick::ZERO,
                link_wake: Tick::NEVER,
                next_lane: 0,
                credit: Pool::new(&input_shares[u32::from(class)]),
                committed: 0,
                stash_capacity: stash,
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
            });
        }
        switches.push(switch);
    }

    let mut row_of = vec![[0u8; 16]; plan.classes.len()];
    for (row, (class, sl)) in rows(plan).into_iter().enumerate() {
        row_of[class][usize::from(sl.0 & 15)] = row as u8;
    }
    let n_rows = rows(plan).len();
    assert!(
        n_rows <= 256,
        "a row of (class, service level) has a number of 8 bits"
    );
    let has_programs = plan.classes.iter().any(|c| c.source.program().is_some());
    let n_programs = if has_programs { plan.classes.len() } else { 0 };
    let nics = atlas.nics[usize::from(number)].iter().map(|&id| {
        let (switch, port) = topology.attachment(id);
        let class = topology.link_class(switch, port);
        let credit = Pool::new(&input_shares[u32::from(class)]);
        Nic::new(id, atlas.port(switch, port).1, class, credit, n_programs)
    });
    let nics: Vec<Nic> = nics.collect();

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
        "who makes errors keeps copies"
    );
    TiledFabric {
        clock,
        stages: tiled.stages,
        wires,
        row_buffer: tiled.row_buffer as u16,
        column_buffer: tiled.column_buffer as u16,
        stash_use: tiled.stash,
        forwarding: plan.forwarding.clone(),
        segmentation: plan.segmentation,
        classes: plan.classes.clone(),
        row_of,
        acknowledgement: tiled.endpoints.acknowledgement,
        window: tiled.endpoints.window,
        chances: Chances::new(&tiled.faults),
        draws: Stream::new(tiled.faults.seed, Purpose::Fault),
        switches: switches.into(),
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
        announcing: Announcing::new(&plan.forwarding, switch_ids, geometry.ports, clock.period),
        cursors: vec![Cursor::default(); nics.len() * plan.classes.len()],
        messages: Slab::default(),
        flows: Slab::default(),
        last_latency: vec![None; nics.len() * n_rows],
        nic_flits: vec![0; nics.len() * n_rows],
        nic_messages: vec![0; nics.len() * n_rows],
        is_program: netloom_fabric::rows(plan)
            .iter()
            .map(|&(class, _)| plan.classes[class].source.program().is_some())
            .collect(),
        partial: FxHashMap::default(),
        arrived: FxHashSet::default(),
        seen: FxHashSet::default(),
        last_sequence: plan.count_reordering.then(FxHashMap::default),
        nics: nics.into(),
        packets: Slab::default(),
        rows: vec![Row::default(); n_rows],
        counters: Counters::default(),
        protocol: Protocol::default(),
        watch,
        steps: Vec::new(),
        input_shares,
        output_shares,
        geometry,
        store_columns,
    }
}

impl TiledFabric {
    /// The first message of every NIC and class, and the beginning of programs.
    pub(crate) fn first_arrivals(&mut self, mut each: impl FnMut(Tick, Event)) {
        for nic in 0..self.nics.len() as u32 {
            if !self.nics[nic].steps.is_empty() {
                each(Tick::ZERO, Event::Begin { nic });
            }
            for class in 0..self.classes.len() as u8 {
                if let Some((when, created)) = self.next_message(nic, class) {
                    each(when, created.event(nic));
                }
            }
        }
    }
}
