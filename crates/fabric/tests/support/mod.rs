//! Small fabrics for tests: one description, many short cases.
#![allow(dead_code)]

pub(crate) mod architectures;
pub(crate) mod endpoints;
pub(crate) mod tables;
pub(crate) mod until;

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_arbitration::{IbTwoTable, Policy, RoundRobin, VlArbitrationTable};
use netloom_catalog::{Disk, Notes};
use netloom_fabric::{
    Allocation, Architecture, CentralStart, Channels, ClassPlan, Control, CrossbarPlan,
    CrossbarStart, EndpointPlan, FabricPlan, FlowControl, InputPorts, LaneRow, LaneRows,
    LinkTiming, NicQueues, Options, Pipeline, QueueScheme, ReceiveOrder, Row, SAME_CHANNELS,
    Simulation, Sizes, SwitchPlan, Window, build, rows,
};
use netloom_packet::{Segmentation, SlSegmentation, Source};
use netloom_routing::{DModK, Deadlock, DimensionOrder, Paths, Routing, Shortest, Tie, Trunk};
use netloom_topology::{Blueprint, Egress, FatTree, SingleSwitch, Topology, Torus};
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
    pub(crate) start: CrossbarStart,
    pub(crate) input_ports: InputPorts,
    pub(crate) queues: QueueScheme,
    pub(crate) architecture: Architecture,
    pub(crate) flow_control: FlowControl,
    pub(crate) nic_queues: NicQueues,
    /// Flits of the acknowledgement of every data packet; none is sent if `None`.
    pub(crate) acknowledgement: Option<u16>,
    pub(crate) window: Option<Window>,
    /// By link class, repeated cyclically: inputs with more flits mark packets. Empty for never.
    pub(crate) marks_above: Vec<u32>,
    /// The program of the first class, if it does not draw messages.
    pub(crate) program: Option<Arc<dyn Source>>,
    /// Flits of one queue, if credits are per queue or NICs have injection queues.
    pub(crate) queue_flits: u32,
    pub(crate) allocation: Allocation,
    /// Flits per lane.
    pub(crate) input: u32,
    pub(crate) output: u32,
    /// A pool of `input` (`output`) times the lanes instead of static parts.
    pub(crate) pooled: bool,
    pub(crate) vls: u8,
    pub(crate) policy: Arc<dyn Policy>,
    pub(crate) own_policies: BTreeMap<Egress, Arc<dyn Policy>>,
    pub(crate) pattern: Arc<dyn Pattern>,
    pub(crate) arrival: Arc<dyn ArrivalProcess>,
    /// Message sizes in flits, all equally likely.
    pub(crate) flits: Vec<u64>,
    pub(crate) mtu: Option<u64>,
    /// Sizes in flits for single service levels, from SL0 on.
    pub(crate) sl_mtu: Vec<u64>,
    /// By service level its channels, as pairs of channel and lane; empty for one channel and lane
    /// each.
    pub(crate) channels: Vec<Vec<(u8, u8)>>,
    /// Every switch changes the channels of packets, and every pair of ports has separate lanes.
    pub(crate) changes: bool,
    /// Classes of each service level.
    pub(crate) classes_per_level: u8,
    /// Over all classes.
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
    /// A tree with four lanes per link: the base of most tests.
    pub(crate) fn tree(arity: u32, levels: u32) -> Case {
        Case {
            topology: Arc::new(FatTree { arity, levels }),
            routing: Arc::new(DModK {}),
            links: vec![LinkTiming { flit: 1, delay: 5 }],
            period: 1,
            pipeline: pipeline(0, 3, 0, 2, 0, 0),
            speedup: (1, 1),
            start: CrossbarStart::AtOnce,
            input_ports: InputPorts::One,
            queues: QueueScheme::PerVl,
            architecture: Architecture::Cioq,
            flow_control: FlowControl::Credits,
            nic_queues: NicQueues::PerChannel,
            acknowledgement: None,
            window: None,
            marks_above: vec![],
            program: None,
            queue_flits: 32,
            allocation: Allocation::Separable,
            input: 128,
            output: 64,
            pooled: false,
            vls: 4,
            policy: Arc::new(RoundRobin {}),
            own_policies: BTreeMap::new(),
            pattern: Arc::new(Uniform {}),
            arrival: Arc::new(Bernoulli { slot: Slot::Cycle }),
            flits: vec![8],
            mtu: None,
            sl_mtu: vec![],
            channels: vec![],
            changes: false,
            classes_per_level: 1,
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
            routing: Arc::new(Shortest { paths: Paths::All }),
            ..Case::tree(2, 2)
        }
    }

    /// Returns the number of service levels with traffic: one per lane unless `channels` is set.
    pub(crate) fn n_sls(&self) -> u8 {
        match self.channels.len() {
            0 => self.vls,
            n => n as u8,
        }
    }

    fn channel_map(&self, topology: &Topology) -> Channels {
        let mut map = Channels::identity(self.vls);
        if !self.channels.is_empty() {
            map.sl2sc = [0; 16];
        }
        for (sl, own) in self.channels.iter().enumerate() {
            for &(sc, vl) in own {
                map.sl2sc[sl] |= 1 << sc;
                map.sc2vl[usize::from(sc)] = vl;
            }
        }
        if self.changes {
            map.own = Some(Arc::new(self.changing_rows(topology, &map.sc2vl)));
        }
        map.reseed(self.seed);
        map
    }

    /// Channel n becomes n + 8 and then n again. Channels from 8 on have their lanes in the
    /// opposite order, which differs from a mere renaming of lanes: a missed change is detected.
    fn changing_rows(&self, topology: &Topology, usual: &LaneRow) -> LaneRows {
        let onward = SAME_CHANNELS.map(|sc| sc ^ 8);
        let mut rows = LaneRows::new(topology, *usual, onward);
        for switch in topology.switches() {
            let ports = || topology.ports(switch);
            for (input, output) in ports().flat_map(|i| ports().map(move |o| (i, o))) {
                let step = switch.0 + 3 * u32::from(input.0) + 5 * u32::from(output.0);
                let lane = |sc: u8| {
                    let usual = usual[usize::from(sc & !8)];
                    let own = if sc & 8 == 0 {
                        usual
                    } else {
                        self.vls - 1 - usual % self.vls
                    };
                    (u32::from(own) + step) as u8 % self.vls
                };
                rows.set_lanes(switch, input, output, SAME_CHANNELS.map(lane));
            }
        }
        rows
    }

    pub(crate) fn plan(&self) -> FabricPlan {
        let topology = Arc::new(self.topology.build(self.seed).expect("a topology"));
        let forwarding = Arc::new(
            self.routing
                .compile(&topology, self.seed)
                .expect("a routing"),
        );
        let mut segmentation = SlSegmentation::from(Segmentation {
            flit: Bytes(64),
            mtu: self.mtu.map(|f| Bytes(f * 64)),
            header: Bytes(0),
        });
        for (own, &flits) in segmentation.mtu.iter_mut().zip(&self.sl_mtu) {
            *own = Some(Bytes(flits * 64));
        }
        let channels = self.channel_map(&topology);
        let n_vls = self.vls * forwarding.lanes();
        let message = u32::try_from(self.flits.iter().max().unwrap() * 64).unwrap();
        let mut largest = vec![0u16; usize::from(n_vls)];
        for (sc, sl) in channels.of_levels((0..self.n_sls()).map(Sl)) {
            let flits = segmentation.of(sl).cut(message).flits;
            let lanes = largest
                .iter_mut()
                .skip(usize::from(channels.sc2vl[sc.index()]));
            for lane in lanes.step_by(usize::from(self.vls)) {
                *lane = flits.max(*lane);
            }
        }
        let everywhere = largest.iter().copied().max().filter(|_| self.changes);
        let least = everywhere.max(self.acknowledgement).unwrap_or(0);
        for lane in &mut largest {
            *lane = least.max(*lane);
        }
        let sizes = |per_vl: u32| {
            if self.pooled {
                let min: Box<[u32]> = largest.iter().map(|&flits| u32::from(flits)).collect();
                let sum: u32 = min.iter().sum();
                let capacity = (per_vl * u32::from(n_vls)).max(sum);
                let max = min.iter().map(|own| capacity - (sum - own)).collect();
                Sizes::Pool { capacity, min, max }
            } else {
                Sizes::Static(vec![per_vl; usize::from(n_vls)].into())
            }
        };
        let mut notes = Notes::new();
        let n_classes = self.n_sls() * self.classes_per_level;
        let classes = (0..n_classes)
            .map(|class_number| {
                let sl = class_number % self.n_sls();
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
                    load: self.load / f64::from(n_classes),
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
                    groups: &netloom_traffic::NO_GROUPS,
                    seed: self.seed,
                    class: class_number,
                    cycles: &|_: Time| 1 << 40,
                    files: Disk::HERE,
                };
                let source = class
                    .build(&setting, &mut notes)
                    .unwrap_or_else(|| panic!("{notes:?}"));
                ClassPlan {
                    name: class.name,
                    sl: Sl(sl),
                    sls: vec![Sl(sl)],
                    source: match &self.program {
                        Some(program) if class_number == 0 => program.clone(),
                        _ => Arc::from(source),
                    },
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
            flow_control: self.flow_control.clone(),
            endpoints: EndpointPlan {
                buffer: None,
                queues: self.nic_queues,
                acknowledgement: self.acknowledgement,
                control: self
                    .window
                    .map(|window| Arc::new(window) as Arc<dyn Control>),
                order: ReceiveOrder::Message,
            },
            marks_above: self
                .marks_above
                .iter()
                .cycle()
                .take(n_classes)
                .map(|&above| Some(above))
                .collect(),
            switch: SwitchPlan::Crossbar(Box::new(CrossbarPlan {
                architecture: self.architecture.clone(),
                queue_flits: vec![self.queue_flits; usize::from(n_vls)].into(),
                period: self.period,
                pipeline: self.pipeline,
                speedup: self.speedup,
                start: self.start,
                input_ports: self.input_ports,
                queues: self.queues,
                allocation: self.allocation,
                input_buffer: sizes(self.input),
                output_buffer: sizes(self.output),
            })),
            n_vls,
            channels,
            largest,
            switch_policy: self.policy.clone(),
            nic_policy: self.policy.clone(),
            own_policies: self.own_policies.clone(),
            connections: [].into(),
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

/// Limits the workload to `messages` messages of each class at each NIC.
pub(crate) fn ending(plan: &mut FabricPlan, messages: u32) {
    for class in &mut plan.classes {
        class.source = Arc::new(until::Until {
            inner: class.source.clone(),
            messages,
        });
    }
}

/// Runs a finite workload to its end. Everything arrives, in order if all packets of a flow take
/// one path, and all buffers are empty again.
pub(crate) fn drains(case: &Case, messages: u32) {
    let mut plan = case.plan();
    plan.count_reordering = true;
    ending(&mut plan, messages);
    let mut run = build(
        &plan,
        Options {
            threads: 1,
            ..Options::default()
        },
    );
    let mut end = 0;
    while run.next_event().is_some() {
        end += 10_000;
        assert!(end < 50_000_000, "the fabric does not drain");
        run.run_until(Tick(end));
        run.check_laws();
    }
    let mut sums: Vec<Row> = rows(&plan).iter().map(|_| Row::default()).collect();
    run.take_rows(&mut sums);
    let counters = run.counters();
    assert_eq!(run.in_flight(), 0, "every packet arrives");
    assert_eq!(run.waiting_messages(), 0, "every message leaves");
    assert_eq!(
        counters.injected, counters.delivered,
        "a lossless fabric drops nothing"
    );
    for row in &sums {
        assert_eq!(
            row.offered_messages, row.delivered_messages,
            "every message is completed"
        );
        assert_eq!(row.offered_flits, row.injected_flits, "flits are conserved");
        assert_eq!(
            row.injected_flits, row.delivered_flits,
            "flits are conserved"
        );
        if plan.forwarding.keeps_order() {
            assert_eq!(row.reordered, 0, "order is kept");
        }
        assert_eq!(row.message_latency.count(), row.delivered_messages);
        assert_eq!(row.packet_latency.count(), row.delivered_packets);
    }
    assert!(counters.delivered > 0);
    assert!(run.is_idle(), "credits and space are conserved");
}

/// Number of random cases: `usual`, unless PROPTEST_CASES is set (a number in a test would take
/// precedence).
pub(crate) fn cases(usual: u32) -> proptest::test_runner::Config {
    let asked = std::env::var("PROPTEST_CASES").ok();
    proptest::test_runner::Config {
        cases: asked.and_then(|n| n.parse().ok()).unwrap_or(usual),
        failure_persistence: None,
        ..proptest::test_runner::Config::default()
    }
}

impl Case {
    /// Whether lanes may cross independently.
    #[allow(dead_code)] // Not every test file asks.
    pub(crate) fn may_cross_by_lane(&self) -> bool {
        self.architecture != Architecture::InputQueued
            && self.flow_control == FlowControl::Credits
            && self.queues != QueueScheme::OneQueue
    }
}

/// How many packets of an input cross simultaneously.
#[allow(dead_code)] // Not every test file draws it.
pub(crate) fn input_ports(per_lane: bool) -> InputPorts {
    if per_lane {
        InputPorts::PerLane
    } else {
        InputPorts::One
    }
}

/// When a crossbar starts.
#[allow(dead_code)] // Not every test file draws it.
pub(crate) fn central_start(awaits_tail: bool) -> CentralStart {
    match awaits_tail {
        true => CentralStart::Packet,
        false => CentralStart::Header,
    }
}

pub(crate) fn start(is_stored: bool) -> CrossbarStart {
    if is_stored {
        CrossbarStart::Stored
    } else {
        CrossbarStart::AtOnce
    }
}
