//! Small fabrics for tests: one description, many short cases.
#![allow(dead_code)]

use std::path::Path;
use std::sync::Arc;

use netloom_arbitration::{IbTwoTable, Policy, RoundRobin, VlArbitrationTable};
use netloom_catalog::Notes;
use netloom_fabric::{
    Allocation, ClassPlan, FabricPlan, LinkTiming, Options, Pipeline, QueueScheme, Simulation,
    Sizes, Sl2Vl, SwitchPlan, build,
};
use netloom_packet::Segmentation;
use netloom_routing::{DModK, Deadlock, DimensionOrder, Routing, Shortest, Tie, Trunk};
use netloom_topology::{Blueprint, FatTree, SingleSwitch, Torus};
use netloom_traffic::{
    ArrivalProcess, Bernoulli, Class, Fixed, Law, Mix, NicSet, Pattern, Setting, Slot, Uniform,
    Workload,
};
use netloom_units::{Bytes, Sl, Tick, Time};

/// A fabric and its traffic, in flits and ticks.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) topology: Arc<dyn Blueprint + Send + Sync>,
    pub(crate) routing: Arc<dyn Routing + Send + Sync>,
    /// Timing of every link class, repeated cyclically.
    pub(crate) links: Vec<LinkTiming>,
    pub(crate) period: u64,
    pub(crate) pipeline: Pipeline,
    pub(crate) speedup: (u32, u32),
    pub(crate) queues: QueueScheme,
    pub(crate) allocation: Allocation,
    /// Flits per lane.
    pub(crate) input: u32,
    pub(crate) output: u32,
    /// A pool of `input` (`output`) times the lanes instead of static parts.
    pub(crate) pooled: bool,
    pub(crate) vls: u8,
    pub(crate) policy: Arc<dyn Policy>,
    pub(crate) pattern: Arc<dyn Pattern>,
    pub(crate) arrival: Arc<dyn ArrivalProcess>,
    /// Message sizes in flits, all equally likely.
    pub(crate) flits: Vec<u64>,
    pub(crate) mtu: Option<u64>,
    /// Over all classes; there is one class per lane.
    pub(crate) load: f64,
    pub(crate) seed: u64,
    pub(crate) partitions: usize,
    pub(crate) until: u64,
}

pub(crate) fn pipeline(
    input: u64,
    routing: u64,
    allocation: u64,
    crossbar: u64,
    output: u64,
    credit: u64,
) -> Pipeline {
    Pipeline {
        input,
        routing,
        allocation,
        crossbar,
        output,
        credit,
    }
}

impl Case {
    /// A 4-ary 2-tree with four lanes: change what a test is about.
    pub(crate) fn tree(arity: u32, levels: u32) -> Case {
        Case {
            topology: Arc::new(FatTree { arity, levels }),
            routing: Arc::new(DModK {}),
            links: vec![LinkTiming { flit: 1, delay: 5 }],
            period: 1,
            pipeline: pipeline(0, 3, 0, 2, 0, 0),
            speedup: (1, 1),
            queues: QueueScheme::PerVl,
            allocation: Allocation::Separable,
            input: 128,
            output: 64,
            pooled: false,
            vls: 4,
            policy: Arc::new(RoundRobin {}),
            pattern: Arc::new(Uniform {}),
            arrival: Arc::new(Bernoulli { slot: Slot::Cycle }),
            flits: vec![8],
            mtu: None,
            load: 0.5,
            seed: 1,
            partitions: 1,
            until: 4_000,
        }
    }

    pub(crate) fn torus(sides: &[u16], hosts: u16, trunk: u16, deadlock: Deadlock) -> Case {
        Case {
            topology: Arc::new(Torus {
                sides: sides.to_vec(),
                hosts,
                trunk,
            }),
            routing: Arc::new(DimensionOrder {
                deadlock,
                tie: Tie::Random,
                trunk: Trunk::Flow,
            }),
            ..Case::tree(2, 2)
        }
    }

    pub(crate) fn single(ports: u32) -> Case {
        Case {
            topology: Arc::new(SingleSwitch { ports }),
            routing: Arc::new(Shortest {}),
            ..Case::tree(2, 2)
        }
    }

    pub(crate) fn plan(&self) -> FabricPlan {
        let topology = Arc::new(self.topology.build(self.seed).expect("a topology"));
        let forwarding = Arc::new(
            self.routing
                .compile(&topology, self.seed)
                .expect("a routing"),
        );
        let segmentation = Segmentation {
            flit: Bytes(64),
            mtu: self.mtu.map(|f| Bytes(f * 64)),
            header: Bytes(0),
        };
        let n_vls = self.vls * forwarding.lanes();
        let largest = self
            .flits
            .iter()
            .map(|&f| self.mtu.map_or(f, |m| f.min(m)))
            .max()
            .unwrap();
        let sizes = |per_vl: u32| {
            if self.pooled {
                let lanes = usize::from(n_vls);
                let min = u32::try_from(largest).unwrap();
                let capacity = (per_vl * u32::from(n_vls)).max(min * u32::from(n_vls));
                let max = capacity - min * (u32::from(n_vls) - 1);
                Sizes::Pool {
                    capacity,
                    min: vec![min; lanes].into(),
                    max: vec![max; lanes].into(),
                }
            } else {
                Sizes::Static(vec![per_vl; usize::from(n_vls)].into())
            }
        };
        let mut notes = Notes::new();
        let classes = (0..self.vls)
            .map(|sl| {
                let size: Arc<dyn netloom_traffic::Sizes> = if self.flits.len() == 1 {
                    Arc::new(Fixed {
                        bytes: Bytes(self.flits[0] * 64),
                    })
                } else {
                    Arc::new(Mix {
                        sizes: self.flits.iter().map(|&f| (Bytes(f * 64), 1.0)).collect(),
                    })
                };
                let law = Law {
                    load: self.load / f64::from(self.vls),
                    pattern: self.pattern.clone(),
                    arrival: self.arrival.clone(),
                    size,
                    sources: NicSet::All,
                    destinations: NicSet::All,
                    from: None,
                    until: None,
                };
                let class = Class::new(format!("sl{sl}"), Sl(sl), Workload::Drawn(law));
                let setting = Setting {
                    segmentation,
                    n_nics: topology.n_nics(),
                    seed: self.seed,
                    class: sl,
                    cycles: &|_: Time| 0,
                    directory: Path::new("."),
                };
                let source = class
                    .build(&setting, &mut notes)
                    .unwrap_or_else(|| panic!("{notes:?}"));
                ClassPlan {
                    name: class.name,
                    sl: Sl(sl),
                    sls: vec![Sl(sl)],
                    source: Arc::from(source),
                }
            })
            .collect();
        let n_classes = topology.link_classes().len();
        FabricPlan {
            partitions: topology.partitions(self.partitions),
            links: (0..n_classes)
                .map(|c| self.links[c % self.links.len()])
                .collect(),
            segmentation,
            switch: SwitchPlan {
                period: self.period,
                pipeline: self.pipeline,
                speedup: self.speedup,
                queues: self.queues,
                allocation: self.allocation,
                input_buffer: sizes(self.input),
                output_buffer: sizes(self.output),
            },
            n_vls,
            sl2vl: Sl2Vl::identity(self.vls),
            largest: vec![u16::try_from(largest).unwrap(); usize::from(n_vls)],
            switch_policy: self.policy.clone(),
            nic_policy: self.policy.clone(),
            classes,
            count_reordering: false,
            topology,
            forwarding,
        }
    }

    pub(crate) fn simulate(&self, options: Options) -> Box<dyn Simulation> {
        let mut simulation = build(&self.plan(), options);
        simulation.run_until(Tick(self.until));
        simulation.check_laws();
        simulation
    }
}

/// Two tables over `vls` lanes: lane 0 in the high one, all in the low one.
pub(crate) fn two_tables(vls: u8, limit: u8) -> Arc<dyn Policy> {
    let low: Vec<(u8, u8)> = (0..vls).map(|vl| (vl, 8 + 16 * vl)).collect();
    Arc::new(IbTwoTable {
        high: VlArbitrationTable::from_pairs(&[(0, 16)]).expect("a table"),
        low: VlArbitrationTable::from_pairs(&low).expect("a table"),
        limit,
    })
}
