//! Builds an experiment from its sections in stages, each with the results of the earlier ones.
//!
//! ```text
//!  fabric ─► way ─► timing ─► classes ─► lanes ─► machine ─► measure ─► Experiment
//! ```
//!
//! A stage that fails gives no result, and the later stages that need it are skipped. So as much as
//! possible is checked before anything is reported.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_catalog::{Document, FromToml, Notes, Resolved, nearest};
use netloom_fabric::{ClassPlan, FabricPlan, LARGEST_RADIX, LinkTiming};
use netloom_packet::{Cursor, SlSegmentation, Source};
use netloom_routing::Forwarding;
use netloom_routing::deadlock::Centre;
use netloom_topology::{Blueprint, Structure, Topology, measures};
use netloom_traffic::Class;
use netloom_units::{NicId, Rate, Ratio, Sl, Time, Timebase};

use super::admitted::{Admission, Admitted, CLASS_NAMES, Requests};
use super::connections::{ConnectionsSpec, Surroundings};
use super::failures::{self, Numbered, WithFailures};
use super::lanes::{LaneMap, lanes};
use super::link::LinkSpec;
use super::machine::{Around, Machine, machine};
use super::measure::{MeasureSpec, Warmup};
use super::memory::{Holdings, Memory};
use super::qos::QosSpec;
use super::reading::{Places, forget, resolve_default};
use super::remake::{Remake, Workloads};
use super::routing::RoutingSpec;
use super::switch::{ArchitectureSpec, SwitchSpec};
use super::topology::TopologySpec;
use super::traffic::ClassSpec;
use super::{Cost, Request, Sections, connections, cost, site};
use crate::check;
use crate::experiment::{ClassInfo, ConnectionSet, Experiment, Measure, WarmupRule};

/// The notes and facts of an experiment, and the places of its values.
pub(crate) struct Desk<'a> {
    pub(crate) places: Places<'a>,
    pub(crate) notes: &'a mut Notes,
    pub(crate) facts: &'a mut Vec<(String, String)>,
    pub(crate) is_forced: bool,
    pub(crate) memory: Memory,
}

impl Desk<'_> {
    pub(crate) fn fact(&mut self, word: &str, sentence: String) {
        self.facts.push((word.to_owned(), sentence));
    }
}

/// Times as ticks.
pub(crate) struct Timing {
    pub(crate) timebase: Timebase,
    /// By class of links.
    pub(crate) links: Vec<LinkTiming>,
    /// Names of these classes.
    pub(crate) names: Vec<String>,
    /// Whether links of these classes connect switches, and not only NICs to switches.
    pub(crate) joins_switches: Vec<bool>,
    /// Ticks of a switch cycle.
    pub(crate) period: u64,
    /// Ticks of a NIC cycle.
    pub(crate) cycle: u64,
}

/// Classes ready to run, with their sources.
pub(crate) struct Classes {
    pub(crate) workloads: Workloads,
    sources: Vec<Arc<dyn Source>>,
    /// By class: service levels with the largest message in bytes.
    pub(crate) levels: Vec<BTreeMap<u8, u32>>,
    /// SHA-256 of the messages of every class that lists them.
    inputs: Vec<String>,
    /// Packets of all programs.
    program_packets: u64,
}

/// Plans the experiment, and checks values of several sections together.
pub(crate) fn build(
    sections: Sections,
    mut resolved: Resolved,
    document: &Document,
    request: &Request<'_>,
    notes: &mut Notes,
    facts: &mut Vec<(String, String)>,
) -> Option<(Experiment, Cost)> {
    let places = Places {
        root: &document.root,
    };
    let is_forced = request.force;
    let mut desk = Desk {
        places,
        notes,
        facts,
        is_forced,
        memory: Memory::of(request),
    };
    let desk = &mut desk;
    let Sections {
        name,
        about,
        topology: blueprint,
        failures,
        link,
        switch,
        nic,
        routing,
        qos,
        groups,
        traffic,
        connections,
        planned,
        measure,
    } = sections;
    let planned = planned.and_then(|planned| super::planned::judged(planned, desk));
    if let Some(classes) = &traffic {
        check::traffic::names(classes, desk);
    }
    let has_connections = connections.is_some();
    let (at_switches, at_nics) = brought_arbiters(has_connections, &mut resolved, desk);
    let (connections, connection_classes) = connections.flatten().unzip();
    let blueprint = blueprint?;
    let seed = measure.as_ref().map_or(1, |measure| measure.seed);
    let topology = fabric(&blueprint, &failures, seed, desk)?;
    let blueprint: Arc<dyn Blueprint> = match failures.is_empty() {
        true => blueprint.blueprint,
        false => Arc::new(WithFailures {
            blueprint: blueprint.blueprint,
            failures,
        }),
    };
    if let Some(link) = &link {
        carries(link, &topology, desk);
    }
    let radix = topology.radix();
    let centre = switch.as_ref().and_then(|switch| switch.centre(radix));
    let way = routing
        .as_ref()
        .and_then(|routing| way(routing, &topology, centre, seed, desk));
    let timing = match (&link, &switch) {
        (Some(link), Some(switch)) => timing(link, switch, &topology, &mut resolved, desk),
        _ => None,
    };
    let groups = groups.filter(|groups| check::groups::fit(groups, topology.n_nics(), seed, desk));
    let classes = match (&traffic, &link, &timing, groups) {
        (Some(traffic), Some(link), Some(timing), Some(groups)) => {
            let workloads = Workloads {
                classes: traffic.iter().map(|spec| spec.class.clone()).collect(),
                segmentation: segmentation(link, qos.as_ref(), desk),
                timebase: timing.timebase,
                cycle: timing.cycle,
                n_nics: topology.n_nics(),
                groups,
                directory: request.directory.to_owned(),
            };
            classes(traffic, workloads, seed, desk)
        }
        _ => None,
    };
    let asked = connections.as_ref().zip(connection_classes.as_deref());
    let asked =
        asked.and_then(|asked| connections::requests(asked, &topology, request.directory, desk));
    let (mut classes, mut requests) = (classes, None);
    let n_listed = classes.as_ref().map_or(0, |classes| classes.levels.len());
    if let (Some(classes), Some(spec), Some((asked, input))) = (&mut classes, &connections, asked) {
        let listed = traffic.as_deref().unwrap_or_default();
        classes.add_connections(spec, &asked, input, listed, desk);
        requests = Some(asked);
    }
    let lanes = match (&qos, &classes, &way) {
        (Some(qos), Some(classes), Some(way)) => {
            lanes(qos, classes, way, &topology, &mut resolved, desk)
        }
        _ => None,
    };
    if let (Some(planned), Some(lanes)) = (&planned, &lanes) {
        super::planned::packets(planned, lanes, desk);
        super::planned::levels(planned, lanes, desk);
    }
    let machine = match (&switch, &link, &nic, &timing, &lanes) {
        (Some(switch), Some(link), Some(nic), Some(timing), Some(lanes)) => {
            let policy = qos.as_ref().and_then(|qos| qos.arbiter.as_deref());
            let around = Around {
                topology: &topology,
                way: way.as_ref(),
                timing,
                lanes,
                seed,
                // A resolved file has round-robin by default.
                has_nic_arbiter: desk.places.written("qos.nic-arbiter").is_some()
                    && desk.places.kind("qos.nic-arbiter") != Some("round-robin"),
                policy: policy.filter(|_| !at_switches),
            };
            machine(switch, link, nic, &around, desk)
        }
        _ => None,
    };
    if let (Some(qos), Some(lanes)) = (&qos, &lanes) {
        let used_sls = used_levels(classes.as_ref());
        check::lanes::arbiters(qos, at_switches, lanes, used_sls, desk);
        // Without output buffers, an arbiter chooses among inputs as well.
        let has_buffers = switch.as_ref().is_some_and(SwitchSpec::has_output_buffers);
        // A NIC has a queue per level, even if levels share lanes.
        if has_buffers && planned.is_none() && used_sls.count_ones() == 1 {
            check::lanes::choice(lanes, desk);
        }
    }
    let admitted = match (
        requests,
        &connections,
        &way,
        &link,
        &timing,
        lanes.as_ref().zip(classes.as_ref()),
    ) {
        (
            Some(requests),
            Some(spec),
            Some(way),
            Some(link),
            Some(timing),
            Some((lanes, classes)),
        ) => {
            let around = Surroundings {
                topology: &topology,
                way,
                link,
                lanes,
                cutting: &classes.workloads.segmentation,
                cycle: timing.cycle,
                first_class: n_listed,
                at: (at_switches, at_nics),
                seed,
            };
            let repeat = measure.as_ref().map_or(1, |measure| measure.repeat);
            check::connections::repeats(spec, blueprint.is_random(), repeat, desk);
            let admitted = connections::admit(spec, requests, &around, desk);
            let bottleneck = switch
                .as_ref()
                .and_then(|switch| site::bottleneck(switch, Some(link)));
            if let Some(why) = bottleneck.filter(|_| at_switches && admitted.is_some()) {
                let place = desk.places.of("switch.speedup");
                let note = desk.notes.warning("W0907", place, why);
                note.help("admitted connections can be late; set switch.speedup = 2");
            }
            admitted
        }
        _ => None,
    };
    if let (Some(traffic), Some(classes)) = (&traffic, &classes) {
        check::traffic::loads(traffic, &classes.workloads, desk);
    }
    let measure = measure
        .zip(timing.as_ref())
        .map(|(measure, timing)| ticks(&measure, timing, planned.is_some()));

    let (routing, way, timing, classes, lanes) = (routing?, way?, timing?, classes?, lanes?);
    let (machine, qos, measure) = (machine?, qos?, measure?);
    let (arbiter, nic_arbiter) = (qos.arbiter?, qos.nic_arbiter?);
    let admitted = match has_connections {
        true => Some(admitted?),
        false => None,
    };
    let own_loads: Vec<f64> = admitted
        .iter()
        .flat_map(|(admission, admitted)| {
            admission.loads(admitted, &classes.workloads.segmentation)
        })
        .collect();
    let estimate = Estimate {
        topology: &topology,
        way: &way,
        machine: &machine,
        lanes: &lanes,
        classes: &classes,
        timing: &timing,
        measure: &measure,
    };
    let (cost, n_partitions) = estimate.cost(admitted.as_ref(), &own_loads, request, seed, desk)?;
    let (mut infos, mut plans) = classes.described(topology.n_nics(), seed);
    let mut channels = lanes.channels;
    channels.reseed(seed);
    let mut nic_policy = nic_arbiter.unwrap_or_else(|| arbiter.clone());
    let mut switch_policy = arbiter;
    let (mut admission, mut set) = (None, None);
    let (mut own_policies, mut connection_plans) = (BTreeMap::new(), vec![]);
    if let Some(site) = topology.site()
        && desk.places.written("qos.arbiter").is_none()
    {
        own_policies = super::site::policies(site, &topology);
        check::site::arbiters(&own_policies, &topology, lanes.used, desk);
    }
    if let Some((made_by, admitted)) = admitted {
        for ((&sl, source), load) in made_by.sls.iter().zip(admitted.sources).zip(own_loads) {
            let (info, plan) = of_connections(sl, source, load);
            infos.push(info);
            plans.push(plan);
        }
        if at_switches {
            switch_policy = made_by.usual_policy();
        }
        if at_nics {
            nic_policy = made_by.usual_policy();
        }
        own_policies = admitted.policies;
        connection_plans = admitted.plans;
        set = Some(ConnectionSet {
            connections: admitted.infos.into(),
            until: connections.as_ref().and_then(ConnectionsSpec::until),
        });
        admission = Some(made_by);
    }
    let site_inputs = topology
        .site()
        .map_or(vec![], |site| super::site::inputs(site));
    let fabric = FabricPlan {
        partitions: topology.partitions(n_partitions),
        count_reordering: !way.keeps_order() && topology.n_nics() <= 2048,
        segmentation: classes.workloads.segmentation,
        links: timing.links,
        switch: machine.switch,
        flow_control: machine.flow_control,
        endpoints: machine.endpoints,
        marks_above: machine.marks_above,
        n_vls: machine.n_vls,
        channels,
        largest: lanes.largest,
        nic_policy,
        switch_policy,
        own_policies,
        connections: connection_plans.into(),
        classes: plans,
        forwarding: Arc::new(way),
        topology,
    };
    let remake = Remake {
        is_random_wiring: blueprint.is_random(),
        blueprint,
        routing: routing.routing,
        workloads: classes.workloads,
        admission,
    };
    let experiment = Experiment {
        name,
        about,
        timebase: timing.timebase,
        fabric,
        classes: infos,
        connections: set,
        measure,
        inputs: [classes.inputs, site_inputs].concat(),
        resolved,
        plan: planned.map(Arc::new),
        remake: Some(Arc::new(remake)),
    };
    Some((experiment, cost))
}

/// Returns whether connections provide the tables of every output, at switches and at NICs: they do
/// if the file sets no arbiter.
fn brought_arbiters(
    has_connections: bool,
    resolved: &mut Resolved,
    desk: &Desk<'_>,
) -> (bool, bool) {
    let at_switches = has_connections && desk.places.written("qos.arbiter").is_none();
    let at_nics = at_switches && desk.places.written("qos.nic-arbiter").is_none();
    for (key, is_brought) in [("arbiter", at_switches), ("nic-arbiter", at_nics)] {
        if is_brought {
            forget(resolved, &["qos"], key);
        }
    }
    (at_switches, at_nics)
}

/// Returns how messages are cut into packets, by service level.
fn segmentation(link: &LinkSpec, qos: Option<&QosSpec>, desk: &mut Desk<'_>) -> SlSegmentation {
    let values = qos.and_then(|qos| qos.values.as_ref());
    let own = values.and_then(|values| values.sl_mtu.as_ref());
    let own = own.map_or(&[][..], |mtus| &mtus.0[..]);
    check::transfer_unit::by_level(link.segmentation, own, desk)
}

/// Returns the service levels that carry data, one bit each.
fn used_levels(classes: Option<&Classes>) -> u32 {
    let levels = classes.into_iter().flat_map(Classes::of_data);
    levels.fold(0, |mask, (&sl, _)| mask | 1 << (sl & 31))
}

/// Returns the class of connections of one service level.
fn of_connections(sl: u8, source: Arc<dyn Source>, load: f64) -> (ClassInfo, ClassPlan) {
    let (name, sl) = (CLASS_NAMES[usize::from(sl)].to_owned(), Sl(sl));
    let info = ClassInfo {
        name: name.clone(),
        sl,
        load: Some(load),
    };
    let plan = ClassPlan {
        name,
        sl,
        sls: vec![sl],
        source,
    };
    (info, plan)
}

impl Classes {
    /// Returns the levels of data with their largest messages, by class, including connections.
    pub(crate) fn of_data(&self) -> impl Iterator<Item = (&u8, &u32)> {
        let management = self
            .workloads
            .classes
            .iter()
            .map(|class| class.is_management);
        let management = management.chain(std::iter::repeat(false));
        let levels = self.levels.iter().zip(management);
        levels.filter(|(_, is)| !is).flat_map(|(levels, _)| levels)
    }

    /// Returns the largest message of subnet management, if there is any.
    pub(crate) fn largest_of_management(&self) -> Option<u32> {
        let classes = self.workloads.classes.iter().zip(&self.levels);
        let management = classes.filter(|(class, _)| class.is_management);
        management
            .flat_map(|(_, levels)| levels.values().copied())
            .max()
    }

    /// Appends the requested classes of connections to those of the file.
    fn add_connections(
        &mut self,
        spec: &ConnectionsSpec,
        asked: &Requests,
        input: Option<String>,
        listed: &[ClassSpec],
        desk: &mut Desk<'_>,
    ) {
        check::connections::names(listed, &asked.sls(), desk);
        let payload = u32::try_from(spec.packet.0).unwrap_or(u32::MAX);
        let levels = asked.sls().into_iter();
        self.levels
            .extend(levels.map(|sl| BTreeMap::from([(sl, payload)])));
        self.inputs.extend(input);
        check::traffic::rows(&self.levels, desk);
    }

    /// Returns the classes of the file, for results and for the fabric.
    fn described(&self, n_nics: u32, seed: u64) -> (Vec<ClassInfo>, Vec<ClassPlan>) {
        let drawn = self.workloads.drawn(seed);
        let info = |class: &Class| ClassInfo {
            name: class.name.clone(),
            sl: class.sl,
            load: cost::load_over_all(class, n_nics, &drawn),
        };
        let classes = &self.workloads.classes;
        let mut plans = Vec::with_capacity(classes.len());
        for ((source, class), levels) in self.sources.iter().zip(classes).zip(&self.levels) {
            plans.push(ClassPlan {
                name: class.name.clone(),
                sl: class.sl,
                sls: levels.keys().map(|&sl| Sl(sl)).collect(),
                source: source.clone(),
            });
        }
        (classes.iter().map(info).collect(), plans)
    }
}

/// The input of the cost estimate of a run.
struct Estimate<'a> {
    topology: &'a Topology,
    way: &'a Forwarding,
    machine: &'a Machine,
    lanes: &'a LaneMap,
    classes: &'a Classes,
    timing: &'a Timing,
    measure: &'a Measure,
}

impl Estimate<'_> {
    /// Returns the cost of a run and its number of partitions; `None` if it does not fit into
    /// memory.
    fn cost(
        &self,
        admitted: Option<&(Admission, Admitted)>,
        own_loads: &[f64],
        request: &Request<'_>,
        seed: u64,
        desk: &mut Desk<'_>,
    ) -> Option<(Cost, usize)> {
        let (topology, classes) = (self.topology, self.classes);
        let state = cost::state_bytes(topology, self.machine, self.lanes, classes.levels.len());
        let n_partitions = request
            .partitions
            .unwrap_or_else(|| cost::partitions(state, request.threads));
        let n_partitions = n_partitions
            .max(request.ranks)
            .clamp(1, (topology.n_switches() as usize).min(65_535));
        let drawn = classes.workloads.drawn(seed);
        let mut offered = cost::offered(&classes.workloads, &drawn);
        offered.packets_at_all = classes.program_packets;
        if let Some((admission, admitted)) = admitted {
            offered.n_classes += own_loads.len();
            offered.load += own_loads.iter().sum::<f64>();
            offered.packets += admission.packets_per_cycle(admitted);
        }
        offered.through(self.machine, topology, self.lanes);
        let (timing, measure) = (self.timing, self.measure);
        let holdings = Holdings {
            state,
            waiting: cost::waiting(&classes.workloads, &drawn, timing, measure),
            tables: cost::table_bytes(topology, &classes.levels, measure),
            ports: topology.n_ports_in_all() as u64,
        };
        let cost = cost::fact(
            topology, self.way, &offered, timing, measure, holdings, desk,
        );
        desk.memory_for_run(&holdings)
            .then_some((cost, n_partitions))
    }
}

/// Builds the topology.
pub(super) fn fabric(
    spec: &TopologySpec,
    failures: &[Numbered],
    seed: u64,
    desk: &mut Desk<'_>,
) -> Option<Arc<Topology>> {
    if !desk.memory_for_ports(&*spec.blueprint) {
        return None;
    }
    let place = desk.places.of("topology.kind");
    let topology = match spec.blueprint.build(seed) {
        Ok(topology) => topology,
        Err(problem) => {
            desk.notes.error("E0201", place, problem);
            return None;
        }
    };
    let radix = topology.radix();
    if radix > LARGEST_RADIX {
        desk.notes
            .error("E0202", place, format!("the switches have {radix} ports"))
            .help(format!("use at most {LARGEST_RADIX} ports per switch"));
        return None;
    }
    if topology.n_nics() < 2 {
        desk.notes
            .error(
                "E0203",
                place,
                format!("expected at least two NICs, found {}", topology.n_nics()),
            )
            .help("add hosts: traffic goes from one NIC to another");
        return None;
    }
    let (topology, lost) = failures::apply(failures, topology, seed, desk)?;
    let lost = lost.or_else(|| failures::lost_of_tree(&topology));
    let measures = measures(&topology);
    let structure = match topology.structure() {
        tree @ Structure::Tree(own) if own.is_k_ary_n_tree() && own.levels() > 1 => tree.words(),
        Structure::Plain | Structure::Tree(_) if spec.kind != "pgft" => spec.kind.clone(),
        regular => regular.words(),
    };
    desk.fact(
        "fabric",
        format!(
            "{structure}, {}, {} of up to {}, {}, diameter {}",
            counted(measures.nics, "host", "hosts"),
            counted(measures.switches, "switch", "switches"),
            counted(measures.radix, "port", "ports"),
            counted(measures.cables, "cable", "cables"),
            counted(measures.diameter, "link", "links"),
        ),
    );
    if let Some(lost) = lost {
        desk.fact("failures", lost);
    }
    Some(Arc::new(topology))
}

/// States the capacity of the cables, by level and between halves.
fn carries(link: &LinkSpec, topology: &Topology, desk: &mut Desk<'_>) {
    let rates = link.of_classes(topology).into_iter();
    let rates: Vec<Rate> = rates.map(|(rate, _)| rate).collect();
    let capacity = netloom_topology::capacity(topology, &rates);
    for (word, sentence) in capacity.iter().flat_map(|capacity| capacity.facts()) {
        desk.fact(word, sentence);
    }
}

/// Compiles the routing, and checks whether it can deadlock.
pub(super) fn way(
    spec: &RoutingSpec,
    topology: &Arc<Topology>,
    centre: Option<Centre>,
    seed: u64,
    desk: &mut Desk<'_>,
) -> Option<Forwarding> {
    match spec.routing.compile(topology, seed) {
        Ok(way) => {
            let way = match centre {
                Some(_) => way.for_shared_buffers(),
                None => way,
            };
            check::deadlock::routing(&spec.kind, topology, &way, centre, desk);
            Some(way)
        }
        Err(problem) => {
            let place = desk
                .places
                .written("routing.kind")
                .unwrap_or(desk.places.of("routing"));
            let note = desk.notes.error("E0500", place, problem);
            let fitting = netloom_routing::fitting(topology.structure());
            note.help(format!("use one of: {}", fitting.join(", ")));
            if let Some(failures) = desk.places.written("failure") {
                note.also(failures, "the missing cables");
            }
            if let Some(topology) = desk.places.written("topology.kind") {
                note.also(topology, "the fabric");
            }
            None
        }
    }
}

/// Returns whether the fabric has all classes of links that the file names.
pub(super) fn knows_link_classes(
    link: &LinkSpec,
    topology: &Topology,
    desk: &mut Desk<'_>,
) -> bool {
    let names = topology.link_classes();
    let known = || names.iter().map(String::as_str);
    let mut is_good = true;
    for (name, _) in &link.classes {
        if !known().any(|class| class == name) {
            let place = desk.places.of(&format!("link.class.{name}"));
            let message = format!("this fabric has no links of class `{name}`");
            let note = desk.notes.error("E0301", place, message);
            match nearest(name, known()) {
                Some(near) => note.help(format!("did you mean `{near}`?")),
                None => note.help(format!("use one of: {}", names.join(", "))),
            };
            is_good = false;
        }
    }
    is_good
}

/// Converts links and clocks to ticks.
fn timing(
    link: &LinkSpec,
    switch: &SwitchSpec,
    topology: &Topology,
    resolved: &mut Resolved,
    desk: &mut Desk<'_>,
) -> Option<Timing> {
    let names = topology.link_classes();
    let is_good = knows_link_classes(link, topology, desk);
    let flit = link.segmentation.flit;
    let classes = link.of_classes(topology);
    // The default clock keeps up with the fastest link, if links have their own rates.
    let fastest = classes.iter().map(|(rate, _)| *rate).max();
    let has_own = (0..)
        .take(classes.len())
        .any(|class| topology.class_rate(class).is_some());
    let usual = fastest
        .filter(|_| has_own)
        .unwrap_or(link.rate)
        .time_for(flit);
    let usual = match switch.architecture {
        ArchitectureSpec::Tiled(_) => super::tiled::core_clock(usual),
        _ => usual,
    };
    let clock = switch.clock.unwrap_or(usual);
    resolve_default(resolved, &["switch"], 1, "clock", clock.write());
    if !is_good {
        return None;
    }
    let raw: Vec<(Time, Time)> = classes
        .into_iter()
        .map(|(rate, delay)| (rate.time_for(flit), delay))
        .collect();
    let mut durations: Vec<Time> = raw
        .iter()
        .flat_map(|&(flit, delay)| [flit, delay])
        .collect();
    durations.push(clock);
    let is_easy = are_easy(&durations);
    let exact = |time: Time| if is_easy { time } else { to_femtos(time) };
    let durations: Vec<Time> = durations.into_iter().map(exact).collect();
    let timebase = Timebase::for_durations(&durations);
    let links: Vec<LinkTiming> = raw
        .iter()
        .map(|&(flit, delay)| LinkTiming {
            flit: timebase.ticks(exact(flit)),
            delay: timebase.ticks(exact(delay)),
        })
        .collect();
    let worst = durations
        .iter()
        .map(|&time| timebase.error(time))
        .fold(0.0, f64::max);
    check::time::tick(timebase, worst, desk);
    let (first, port) = topology.attachment(NicId(0));
    let cycle = links[usize::from(topology.link_class(first, port))].flit;
    check::time::nic_cycles(topology, &links, cycle, desk);
    let mut joins_switches = vec![false; names.len()];
    for switch in topology.switches() {
        for (port, _, _) in topology.neighbours(switch) {
            joins_switches[usize::from(topology.link_class(switch, port))] = true;
        }
    }
    Some(Timing {
        timebase,
        links,
        names: names.to_vec(),
        joins_switches,
        period: timebase.ticks(exact(clock)),
        cycle,
    })
}

/// Returns whether the greatest common divisor of durations fits into 128 bits.
fn are_easy(durations: &[Time]) -> bool {
    let mut product: u128 = 1;
    for time in durations.iter().filter(|time| !time.is_zero()) {
        let den = time.picos().den();
        // Equal denominators do not multiply.
        if product.is_multiple_of(den) {
            continue;
        }
        match product.checked_mul(den) {
            Some(next) => product = next,
            None => return false,
        }
    }
    let most = durations
        .iter()
        .map(|time| time.picos().num())
        .max()
        .unwrap_or(0);
    product
        .checked_mul(product)
        .and_then(|square| square.checked_mul(most))
        .is_some()
}

/// Rounds to a whole number of femtoseconds.
fn to_femtos(time: Time) -> Time {
    let (num, den) = (time.picos().num(), time.picos().den());
    let femtos = num / den * 1000 + (num % den * 1000 + den / 2) / den;
    Time::from_picos(Ratio::new(femtos, 1000))
}

/// Rounds a time if its fraction is too long to be divided by any tick.
pub(crate) fn tame(time: Time) -> Time {
    match time.picos().den() <= 1_000_000 {
        true => time,
        false => to_femtos(time),
    }
}

/// Builds the classes for the first seed.
fn classes(
    specs: &[ClassSpec],
    mut workloads: Workloads,
    seed: u64,
    desk: &mut Desk<'_>,
) -> Option<Classes> {
    if !check::traffic::count(specs, desk) {
        return None;
    }
    let holds = check::groups::hold_for_every_seed(specs, &workloads.groups, desk);
    let settled: Vec<_> = (0..specs.len())
        .map(|at| workloads.settle(at, seed, desk.notes))
        .collect();
    let built: Vec<_> = settled
        .iter()
        .enumerate()
        .map(|(at, settled)| {
            workloads.classes[at] = settled.clone()?;
            workloads.build(at, seed, desk.notes)
        })
        .collect();
    let sources: Vec<Arc<dyn Source>> = built.into_iter().collect::<Option<_>>()?;
    let contents = workloads.classes.iter().filter_map(|class| class.content());
    let mut inputs: Vec<String> = contents
        .map(|content| netloom_results::sha256(&content))
        .collect();
    let levels: Vec<BTreeMap<u8, u32>> = workloads
        .classes
        .iter()
        .zip(&sources)
        .enumerate()
        .map(|(at, (class, source))| match workloads.largest(at, seed) {
            Some(largest) => BTreeMap::from([(class.sl.0, largest)]),
            None => {
                let (levels, messages) = listed(&**source, class.sl, workloads.n_nics);
                inputs.push(netloom_results::sha256(&messages));
                levels
            }
        })
        .collect();
    let is_good = check::traffic::levels(specs, &levels, desk)
        & check::programs::one_per_nic(specs, &sources, &workloads, desk);
    let program_packets = check::programs::facts(specs, &sources, &workloads, desk);
    (is_good && holds).then_some(Classes {
        workloads,
        sources,
        levels,
        inputs,
        program_packets,
    })
}

/// Returns the service levels of a list of messages, each with its largest message, and the
/// messages as text.
fn listed(source: &dyn Source, own: Sl, n_nics: u32) -> (BTreeMap<u8, u32>, String) {
    let mut levels = BTreeMap::new();
    let mut messages = String::new();
    for nic in (0..n_nics).map(NicId) {
        let mut cursor = Cursor::default();
        while let Some(message) = source.next(nic, &mut cursor) {
            let sl = message.sl.unwrap_or(own.0);
            let largest = levels.entry(sl).or_insert(0);
            *largest = message.bytes.max(*largest);
            let (cycle, to, bytes) = (message.cycle, message.destination, message.bytes);
            messages.push_str(&format!("{cycle} {nic} {to} {bytes} {sl}\n"));
        }
    }
    if levels.is_empty() {
        levels.insert(own.0, 0);
    }
    (levels, messages)
}

/// Converts the times of the measurement to ticks.
fn ticks(spec: &MeasureSpec, timing: &Timing, is_planned: bool) -> Measure {
    let at = |time: Time| timing.timebase.tick_at(tame(time));
    let length = at(spec.length);
    Measure {
        seed: spec.seed,
        repeat: spec.repeat,
        warmup: match spec.warmup {
            Warmup::Auto => WarmupRule::Auto,
            Warmup::Until(time) => WarmupRule::Until(at(time)),
            Warmup::Packets(n) => WarmupRule::Packets(n),
        },
        length,
        epoch: length.0.div_ceil(u64::from(spec.epochs)).max(1),
        patience: at(spec.patience).0.max(1),
        interval: spec.interval,
        waits: spec.waits.unwrap_or(is_planned),
    }
}

/// Formats a count with its noun.
fn counted(n: impl Into<u64>, one: &str, several: &str) -> String {
    match n.into() {
        1 => format!("1 {one}"),
        n => format!("{} {several}", grouped(n)),
    }
}

/// Formats a number with thousands separators.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
