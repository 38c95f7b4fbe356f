//! Small fabrics of tiled switches for tests: one description, many short cases.
#![allow(dead_code)] // Each test file uses its part.

pub(crate) mod cases;
pub(crate) mod random;
#[path = "../../support/until.rs"]
mod until;

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_arbitration::RoundRobin;
use netloom_catalog::{Disk, Notes};
use netloom_fabric::{
    Channels, ClassPlan, Control, CrossbarStart, EndpointPlan, FabricPlan, Faults, FlowControl,
    LinkTiming, NicQueues, PortBuffers, Priority, ReceiveOrder, Retransmission, RowSpace, Sizes,
    StashUse, SwitchPlan, TileStages, Tiled, Window,
};
use netloom_packet::{Arrival, Cursor, Segmentation, SlSegmentation, Source};
use netloom_routing::{DModK, Deadlock, DimensionOrder, Paths, Routing, Shortest, Tie, Trunk};
use netloom_topology::{Blueprint, FatTree, SingleSwitch, Torus};
use netloom_traffic::{
    ArrivalProcess, Bernoulli, Class, Fixed, HotSources, HotSpot, Idle, Law, Mix, NicSet, Pattern,
    Setting, Slot, Uniform, Workload,
};
use netloom_units::{Bytes, NicId, Sl, Time};

/// Bytes of a flit; the value does not matter.
const FLIT: u64 = 16;

/// A fabric and its traffic, in flits and ticks.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) topology: Arc<dyn Blueprint + Send + Sync>,
    pub(crate) routing: Arc<dyn Routing + Send + Sync>,
    /// Rows, columns, inputs and outputs of a tile.
    pub(crate) tiles: (u16, u16, u16, u16),
    /// Timing of every link class, repeated cyclically.
    pub(crate) links: Vec<LinkTiming>,
    pub(crate) period: u64,
    pub(crate) stages: TileStages,
    /// In packets of the largest size.
    pub(crate) row_buffer: u32,
    pub(crate) row_space: RowSpace,
    pub(crate) column_buffer: u32,
    pub(crate) retransmission: Retransmission,
    pub(crate) start: CrossbarStart,
    pub(crate) priority: Priority,
    /// Flits beyond its reserve that a virtual channel may take in a port's buffer; all of them if
    /// `None`.
    pub(crate) most: Option<u32>,
    /// Flits beyond the reserve of one packet for each virtual channel, by link class and
    /// cyclically.
    pub(crate) input: Vec<u32>,
    pub(crate) output: Vec<u32>,
    pub(crate) stash: Vec<u32>,
    pub(crate) marks_above: Vec<u32>,
    pub(crate) stash_use: Option<StashUse>,
    pub(crate) marking: bool,
    pub(crate) faults: Faults,
    pub(crate) acknowledgement: Option<u16>,
    pub(crate) window: Option<Window>,
    /// Minimum number of virtual channels; a routing may need more.
    pub(crate) vls: u8,
    pub(crate) pattern: Arc<dyn Pattern>,
    pub(crate) arrival: Arc<dyn ArrivalProcess>,
    /// Message sizes in flits, all equally likely; one class of traffic for each list.
    pub(crate) flits: Vec<Vec<u64>>,
    /// Largest packet in flits.
    pub(crate) mtu: u64,
    pub(crate) load: f64,
    /// Exactly these messages instead of drawn ones.
    pub(crate) script: Option<Vec<Scripted>>,
    /// Maximum number of messages of each NIC and class.
    pub(crate) messages: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) partitions: usize,
    pub(crate) until: u64,
}

/// The distinguishing values of a case, as proptest prints it.
impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case")
            .field("switches", &self.plan().topology.n_switches())
            .field("tiles", &self.tiles)
            .field("links", &self.links)
            .field("period", &self.period)
            .field("stages", &self.stages)
            .field(
                "buffers",
                &(
                    self.row_buffer,
                    self.row_space,
                    self.column_buffer,
                    self.retransmission,
                    self.priority,
                    self.most,
                    &self.input,
                    &self.output,
                ),
            )
            .field("stash", &(&self.stash, self.stash_use))
            .field("marking", &(self.marking, &self.marks_above))
            .field("faults", &self.faults)
            .field("endpoints", &(self.acknowledgement, self.window))
            .field("traffic", &(&self.flits, self.load, self.seed))
            .field("until", &self.until)
            .finish()
    }
}

/// A message of a script: source, cycle of its NIC, destination, and size in flits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scripted {
    pub(crate) from: u32,
    pub(crate) cycle: u64,
    pub(crate) to: u32,
    pub(crate) flits: u64,
}

pub(crate) fn scripted(from: u32, cycle: u64, to: u32, flits: u64) -> Scripted {
    Scripted {
        from,
        cycle,
        to,
        flits,
    }
}

/// A script as a workload: the messages of a NIC in the order written.
struct Script(Vec<Scripted>);

impl Source for Script {
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival> {
        let mut own = self.0.iter().filter(|m| m.from == nic.0);
        let message = own.nth(cursor.number as usize)?;
        cursor.number += 1;
        Some(Arrival {
            cycle: message.cycle,
            destination: NicId(message.to),
            bytes: u32::try_from(message.flits * FLIT).unwrap(),
            sl: None,
            flow: 0,
        })
    }
}

/// The stages of the tiled switch of paper 002.
pub(crate) const STAGES: TileStages = TileStages {
    before_bus: 2,
    row_bus: 1,
    tile: 3,
    multiplexer: 1,
    output: 1,
    side_band: 10,
};

impl Case {
    /// One switch of eight ports in 2 x 2 tiles, with clocks and delays of the paper.
    pub(crate) fn single(ports: u32) -> Case {
        Case {
            topology: Arc::new(SingleSwitch { ports }),
            routing: Arc::new(Shortest { paths: Paths::All }),
            tiles: (2, 2, 4, 4),
            links: vec![LinkTiming {
                flit: 13,
                delay: 65,
            }],
            period: 10,
            stages: STAGES,
            row_buffer: 2,
            row_space: RowSpace::Shared,
            column_buffer: 2,
            retransmission: Retransmission::Packet,
            start: CrossbarStart::AtOnce,
            priority: Priority::Equal,
            most: None,
            input: vec![60],
            output: vec![60],
            stash: vec![0],
            marks_above: vec![0],
            stash_use: None,
            marking: false,
            faults: Faults::default(),
            acknowledgement: None,
            window: None,
            vls: 1,
            pattern: Arc::new(Uniform {}),
            arrival: Arc::new(Bernoulli { slot: Slot::Cycle }),
            flits: vec![vec![8]],
            mtu: 24,
            load: 0.5,
            script: None,
            messages: None,
            seed: 1,
            partitions: 1,
            until: 20_000,
        }
    }

    pub(crate) fn tree(arity: u32, levels: u32) -> Case {
        Case {
            topology: Arc::new(FatTree { arity, levels }),
            routing: Arc::new(DModK {}),
            links: vec![
                LinkTiming {
                    flit: 13,
                    delay: 65,
                },
                LinkTiming {
                    flit: 13,
                    delay: 520,
                },
            ],
            input: vec![60, 120],
            output: vec![60, 120],
            ..Case::single(2)
        }
    }

    /// With two lanes, so that packets change channels.
    pub(crate) fn torus(sides: &[u16], hosts: u16) -> Case {
        Case {
            topology: Arc::new(Torus {
                sides: sides.to_vec(),
                hosts,
                trunk: 1,
            }),
            routing: Arc::new(DimensionOrder {
                deadlock: Deadlock::Dateline,
                tie: Tie::Random,
                trunk: Trunk::Flow,
            }),
            ..Case::tree(2, 2)
        }
    }

    pub(crate) fn acknowledging(self) -> Case {
        Case {
            acknowledgement: Some(1),
            ..self
        }
    }

    /// Keeps copies of all data packets in stashes of these sizes, by link class.
    pub(crate) fn reliable(self, stash: &[u32], timeout: Option<u64>) -> Case {
        Case {
            stash: stash.to_vec(),
            stash_use: Some(StashUse::Reliability { timeout }),
            ..self.acknowledging()
        }
    }

    pub(crate) fn faulty(self, corrupt: f64, lose: f64, link: f64) -> Case {
        Case {
            faults: Faults {
                seed: self.seed,
                corrupt,
                lose,
                link,
            },
            ..self
        }
    }

    /// Marks above these numbers of flits, and uses windows.
    pub(crate) fn marking(self, marks_above: &[u32], window: Window) -> Case {
        Case {
            marks_above: marks_above.to_vec(),
            marking: true,
            window: Some(window),
            ..self.acknowledging()
        }
    }

    /// Lets congested inputs stash packets.
    pub(crate) fn setting_aside(self, stash: &[u32]) -> Case {
        Case {
            stash: stash.to_vec(),
            stash_use: Some(StashUse::Congestion),
            ..self
        }
    }

    /// Half of the sources send to one NIC only.
    pub(crate) fn hot(self, destination: u32) -> Case {
        Case {
            pattern: Arc::new(HotSpot {
                destination,
                sources: HotSources::Share(0.5),
                from: None,
                until: None,
                outside: Idle::Idle,
                others: Idle::Uniform,
            }),
            ..self
        }
    }

    pub(crate) fn scripted(self, script: &[Scripted]) -> Case {
        Case {
            script: Some(script.to_vec()),
            ..self
        }
    }

    fn source(&self, class: usize, setting: &Setting<'_>) -> Arc<dyn Source> {
        if let Some(script) = &self.script {
            return Arc::new(Script(if class == 0 { script.clone() } else { vec![] }));
        }
        let sizes = &self.flits[class];
        let size: Arc<dyn netloom_traffic::Sizes> = if sizes.len() == 1 {
            Arc::new(Fixed {
                bytes: Bytes(sizes[0] * FLIT),
            })
        } else {
            Arc::new(Mix {
                sizes: sizes.iter().map(|&f| (Bytes(f * FLIT), 1.0)).collect(),
            })
        };
        let law = Law {
            load: self.load / self.flits.len() as f64,
            pattern: self.pattern.clone(),
            arrival: self.arrival.clone(),
            size,
            sources: NicSet::All,
            destinations: NicSet::All,
            from: None,
            until: None,
        };
        let class = Class::new(
            format!("class {class}"),
            Sl(class as u8),
            Workload::Drawn(law),
        );
        let mut notes = Notes::new();
        let source = class
            .build(setting, &mut notes)
            .unwrap_or_else(|| panic!("{notes:?}"));
        let source: Arc<dyn Source> = Arc::from(source);
        match self.messages {
            Some(messages) => Arc::new(until::Until {
                inner: source,
                messages,
            }),
            None => source,
        }
    }

    fn tiled(&self, n_classes: usize, n_vls: u8, largest: u32) -> Tiled {
        let (rows, columns, inputs, outputs) = self.tiles;
        let of = |values: &[u32], class: usize| values[class % values.len()];
        let pool = |more: u32| {
            let min: Box<[u32]> = vec![largest; usize::from(n_vls)].into();
            let capacity = min.iter().sum::<u32>() + more;
            let beyond = self.most.map_or(more, |most| most.min(more));
            let max = vec![largest + beyond; usize::from(n_vls)].into();
            Sizes::Pool { capacity, min, max }
        };
        Tiled {
            period: self.period,
            rows,
            columns,
            inputs,
            outputs,
            row_buffer: self.row_buffer * largest,
            row_space: self.row_space,
            column_buffer: self.column_buffer * largest,
            stages: self.stages,
            retransmission: self.retransmission,
            start: self.start,
            priority: self.priority,
            ports: (0..n_classes)
                .map(|class| PortBuffers {
                    input: pool(of(&self.input, class)),
                    output: pool(of(&self.output, class)),
                    stash: of(&self.stash, class),
                })
                .collect(),
            stash: self.stash_use,
            faults: self.faults,
        }
    }

    /// Returns the flits of the largest packet.
    pub(crate) fn largest(&self) -> u32 {
        let drawn = self.flits.iter().flatten().copied();
        let scripted = self.script.iter().flatten().map(|m| m.flits);
        let data = drawn.chain(scripted).max().unwrap().min(self.mtu);
        (data as u32).max(u32::from(self.acknowledgement.unwrap_or(1)))
    }

    pub(crate) fn plan(&self) -> FabricPlan {
        let topology = Arc::new(self.topology.build(self.seed).expect("a topology"));
        let forwarding = self.routing.compile(&topology, self.seed);
        let forwarding = Arc::new(forwarding.expect("a routing").for_shared_buffers());
        let segmentation = SlSegmentation::from(Segmentation {
            flit: Bytes(FLIT),
            mtu: Some(Bytes(self.mtu * FLIT)),
            header: Bytes(0),
        });
        // Acknowledgements have a separate channel to the first switch.
        let least = if self.acknowledgement.is_some() { 2 } else { 1 };
        let n_vls = self.vls.max(forwarding.lanes()).max(least);
        let largest = self.largest();
        let n_classes = topology.link_classes().len();
        let classes = (0..self.flits.len())
            .map(|class| {
                let sl = Sl(class as u8);
                let setting = Setting {
                    segmentation,
                    n_nics: topology.n_nics(),
                    seed: self.seed,
                    class: class as u8,
                    cycles: &|_: Time| 1 << 40,
                    files: Disk::HERE,
                    groups: &netloom_traffic::NO_GROUPS,
                };
                ClassPlan {
                    name: format!("class {class}"),
                    sl,
                    sls: vec![sl],
                    source: self.source(class, &setting),
                }
            })
            .collect();
        FabricPlan {
            partitions: topology.partitions(self.partitions),
            links: (0..n_classes)
                .map(|class| self.links[class % self.links.len()])
                .collect(),
            segmentation,
            flow_control: FlowControl::Credits,
            endpoints: EndpointPlan {
                buffer: None,
                queues: NicQueues::SendQueues,
                acknowledgement: self.acknowledgement,
                control: self
                    .window
                    .map(|window| Arc::new(window) as Arc<dyn Control>),
                order: ReceiveOrder::Message,
            },
            marks_above: (0..n_classes)
                .map(|class| {
                    self.marking
                        .then(|| self.marks_above[class % self.marks_above.len()])
                })
                .collect(),
            switch: SwitchPlan::Tiled(Box::new(self.tiled(n_classes, n_vls, largest))),
            n_vls,
            channels: Channels::identity(n_vls),
            largest: vec![largest as u16; usize::from(n_vls)],
            switch_policy: Arc::new(RoundRobin {}),
            nic_policy: Arc::new(RoundRobin {}),
            own_policies: BTreeMap::new(),
            connections: [].into(),
            classes,
            count_reordering: false,
            topology,
            forwarding,
        }
    }
}
