//! Builds an experiment from its sections in stages, each with the results of the earlier ones.
//!
//! ```text
//!  fabric ─► routing ─► timing ─► classes ─► lanes ─► machine ─► connections ─► Experiment
//! ```
//!
//! A stage that fails gives no result, and the later stages that need it are skipped. So as much as
//! possible is checked before anything is reported.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_catalog::{Document, Notes, Resolved};
use netloom_fabric::FabricPlan;
use netloom_infiniband::Site;
use netloom_results::Control;
use netloom_routing::Forwarding;
use netloom_topology::{Blueprint, Topology};

use super::admitted::{Admission, Admitted, Requests};
use super::classes::{self, Classes};
use super::connection_classes;
use super::connections::{ConnectionsSpec, Surroundings};
use super::diagnostics::Diagnostics;
use super::effort::Effort;
use super::estimate::Estimate;
use super::failures::WithFailures;
use super::lanes::{LaneMap, lanes};
use super::machine::{Around, Machine, machine};
use super::reading::{Places, forget};
use super::reseed::{Reseed, Workloads};
use super::switch::SwitchSpec;
use super::timing::{self, Timing};
use super::{Cost, Request, Sections, connections, fabric, planned, routing, site};
use crate::check;
use crate::experiment::{ClassInfo, ConnectionSet, Experiment, UntilPackets};

/// Plans the experiment, and checks values of several sections together.
pub(crate) fn build(
    (sections, mut resolved): (Sections, Resolved),
    document: &Document,
    request: &Request<'_>,
    notes: &mut Notes,
    facts: &mut Vec<(String, String)>,
    control: &mut dyn FnMut() -> Control,
) -> Option<(Experiment, Cost)> {
    let places = Places {
        root: &document.root,
    };
    let diagnostics = &mut Diagnostics::new(places, request, notes, facts, control);
    let mut stages = Stages::begin(sections, request, &mut resolved, diagnostics)?;
    diagnostics.goes_on()?;
    stages.forwarding = stages.routing(diagnostics);
    diagnostics.goes_on()?;
    stages.timing = stages.timing(&mut resolved, diagnostics);
    diagnostics.work.begins("building the traffic");
    stages.classes = stages.classes(diagnostics);
    diagnostics.goes_on()?;
    stages.requests = stages.requests(diagnostics);
    stages.lanes = stages.lanes(&mut resolved, diagnostics);
    stages.planned_lanes(diagnostics);
    diagnostics.goes_on()?;
    stages.machine = stages.machine(&mut resolved, diagnostics);
    stages.arbiters(diagnostics);
    diagnostics.goes_on()?;
    stages.admitted = stages.admission(diagnostics);
    diagnostics.goes_on()?;
    if let (Some(traffic), Some(classes)) = (&stages.sections.traffic, &stages.classes) {
        check::traffic::loads(traffic, &classes.workloads, diagnostics);
    }
    stages.finish(resolved, diagnostics)
}

/// The sections, and what the stages have made of them so far. `None` is the result of a stage that
/// failed, or that has not begun.
struct Stages<'a> {
    sections: Sections,
    connections: Option<ConnectionsSpec>,
    connection_classes: Option<connection_classes::Classes>,
    plan: Option<netloom_design::plan::Plan>,
    request: &'a Request<'a>,
    seed: u64,
    /// Whether connections provide the tables at switches, and at NICs.
    brings_tables: (bool, bool),
    blueprint: Arc<dyn Blueprint>,
    topology: Arc<Topology>,
    forwarding: Option<Forwarding>,
    timing: Option<Timing>,
    classes: Option<Classes>,
    requests: Option<Requests>,
    lanes: Option<LaneMap>,
    machine: Option<Machine>,
    admitted: Option<(Admission, Admitted)>,
}

impl<'a> Stages<'a> {
    /// Builds the fabric, without which there are no stages.
    fn begin(
        mut sections: Sections,
        request: &'a Request<'a>,
        resolved: &mut Resolved,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<Stages<'a>> {
        let plan = sections.planned.take();
        let plan = plan.and_then(|plan| planned::judged(plan, diagnostics));
        if let Some(classes) = &sections.traffic {
            check::traffic::names(classes, diagnostics);
        }
        let brings_tables = brought_arbiters(sections.connections.is_some(), resolved, diagnostics);
        let (connections, connection_classes) = match &mut sections.connections {
            Some(connections) => connections.take().unzip(),
            None => (None, None),
        };
        let seed = sections.measure.as_ref().map_or(1, |measure| measure.seed);
        let spec = sections.topology.as_ref()?;
        let topology = fabric::build(spec, &sections.failures, seed, diagnostics)?;
        let blueprint: Arc<dyn Blueprint> = match sections.failures.is_empty() {
            true => spec.blueprint.clone(),
            false => Arc::new(WithFailures {
                blueprint: spec.blueprint.clone(),
                failures: sections.failures.clone(),
            }),
        };
        if let Some(link) = &sections.link {
            fabric::carries(link, &topology, diagnostics);
        }
        Some(Stages {
            sections,
            connections,
            connection_classes,
            plan,
            request,
            seed,
            brings_tables,
            blueprint,
            topology,
            forwarding: None,
            timing: None,
            classes: None,
            requests: None,
            lanes: None,
            machine: None,
            admitted: None,
        })
    }

    fn routing(&self, diagnostics: &mut Diagnostics<'_>) -> Option<Forwarding> {
        let radix = self.topology.radix();
        let switch = self.sections.switch.as_ref();
        let centre = switch.and_then(|switch| switch.centre(radix));
        // Admission asks for the routes of all connections.
        let needs_tables =
            self.sections.connections.is_some() || diagnostics.work.effort != Effort::Check;
        let spec = self.sections.routing.as_ref()?;
        routing::compile(
            spec,
            &self.topology,
            centre,
            (self.seed, needs_tables),
            diagnostics,
        )
    }

    fn timing(&self, resolved: &mut Resolved, diagnostics: &mut Diagnostics<'_>) -> Option<Timing> {
        let (link, switch) = (self.sections.link.as_ref()?, self.sections.switch.as_ref()?);
        timing::timing(link, switch, &self.topology, resolved, diagnostics)
    }

    fn classes(&mut self, diagnostics: &mut Diagnostics<'_>) -> Option<Classes> {
        let n_nics = self.topology.n_nics();
        let groups = self.sections.groups.take();
        let groups =
            groups.filter(|groups| check::groups::fit(groups, n_nics, self.seed, diagnostics));
        let (traffic, link) = (
            self.sections.traffic.as_ref()?,
            self.sections.link.as_ref()?,
        );
        let (timing, groups) = (self.timing.as_ref()?, groups?);
        let workloads = Workloads {
            classes: traffic.iter().map(|spec| spec.class.clone()).collect(),
            segmentation: classes::segmentation(link, self.sections.qos.as_ref(), diagnostics),
            timebase: timing.timebase,
            cycle: timing.cycle,
            n_nics,
            groups,
            files: self.request.files.clone(),
        };
        classes::build(traffic, workloads, self.seed, diagnostics)
    }

    /// Reads the requests for connections, and adds their classes to the others.
    fn requests(&mut self, diagnostics: &mut Diagnostics<'_>) -> Option<Requests> {
        let spec = self.connections.as_ref()?;
        let asked = (spec, self.connection_classes.as_deref()?);
        let files = &*self.request.files;
        let (asked, input) = connections::requests(asked, &self.topology, files, diagnostics)?;
        let listed = self.sections.traffic.as_deref().unwrap_or_default();
        let classes = self.classes.as_mut()?;
        classes.add_connections(spec, &asked, input, listed, diagnostics);
        Some(asked)
    }

    fn lanes(&self, resolved: &mut Resolved, diagnostics: &mut Diagnostics<'_>) -> Option<LaneMap> {
        let (qos, classes) = (self.sections.qos.as_ref()?, self.classes.as_ref()?);
        lanes(
            qos,
            classes,
            self.forwarding.as_ref()?,
            &self.topology,
            resolved,
            diagnostics,
        )
    }

    /// Checks that the plan of the file fits the lanes.
    fn planned_lanes(&self, diagnostics: &mut Diagnostics<'_>) {
        if let (Some(plan), Some(lanes)) = (&self.plan, &self.lanes) {
            planned::packets(plan, lanes, diagnostics);
            planned::levels(plan, lanes, diagnostics);
        }
    }

    fn machine(
        &self,
        resolved: &mut Resolved,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<Machine> {
        let sections = &self.sections;
        let (switch, link) = (sections.switch.as_ref()?, sections.link.as_ref()?);
        let nic = sections.nic.as_ref()?;
        let policy = sections.qos.as_ref().and_then(|qos| qos.arbiter.as_deref());
        let around = Around {
            topology: &self.topology,
            forwarding: self.forwarding.as_ref(),
            timing: self.timing.as_ref()?,
            lanes: self.lanes.as_ref()?,
            seed: self.seed,
            // A resolved file has round-robin by default.
            has_nic_arbiter: diagnostics.places.written("qos.nic-arbiter").is_some()
                && diagnostics.places.kind("qos.nic-arbiter") != Some("round-robin"),
            policy: policy.filter(|_| !self.brings_tables.0),
        };
        machine(switch, link, nic, &around, resolved, diagnostics)
    }

    /// Checks that the arbiters can serve the lanes.
    fn arbiters(&self, diagnostics: &mut Diagnostics<'_>) {
        let (Some(qos), Some(lanes)) = (&self.sections.qos, &self.lanes) else {
            return;
        };
        let used_sls = classes::used_levels(self.classes.as_ref());
        check::lanes::arbiters(qos, self.brings_tables.0, lanes, used_sls, diagnostics);
        // Without output buffers, an arbiter chooses among inputs as well.
        let switch = self.sections.switch.as_ref();
        let has_buffers = switch.is_some_and(SwitchSpec::has_output_buffers);
        // A NIC has a queue per level, even if levels share lanes.
        if has_buffers && self.plan.is_none() && used_sls.count_ones() == 1 {
            check::lanes::choice(lanes, diagnostics);
        }
    }

    fn admission(&mut self, diagnostics: &mut Diagnostics<'_>) -> Option<(Admission, Admitted)> {
        let requests = self.requests.take()?;
        let (spec, link) = (self.connections.as_ref()?, self.sections.link.as_ref()?);
        let classes = self.classes.as_ref()?;
        let around = Surroundings {
            topology: &self.topology,
            forwarding: self.forwarding.as_ref()?,
            link,
            lanes: self.lanes.as_ref()?,
            cutting: &classes.workloads.segmentation,
            cycle: self.timing.as_ref()?.cycle,
            first_class: classes.workloads.classes.len(),
            at: self.brings_tables,
            seed: self.seed,
        };
        let measure = self.sections.measure.as_ref();
        let repeat = measure.map_or(1, |measure| measure.repeat);
        check::connections::repeats(spec, self.blueprint.is_random(), repeat, diagnostics);
        let admitted = connections::admit(spec, requests, &around, diagnostics)?;
        let switch = self.sections.switch.as_ref();
        let bottleneck = switch.and_then(|switch| site::bottleneck(switch, Some(link)));
        if let Some(why) = bottleneck.filter(|_| self.brings_tables.0) {
            let place = diagnostics.places.of("switch.speedup");
            let note = diagnostics.notes.warning("W0907", place, why);
            note.help("admitted connections can be late; set switch.speedup = 2");
        }
        Some(admitted)
    }

    /// Puts the experiment together, if no stage failed.
    fn finish(
        self,
        resolved: Resolved,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<(Experiment, Cost)> {
        let (sections, topology, seed) = (self.sections, self.topology, self.seed);
        let (routing, forwarding, timing) = (sections.routing?, self.forwarding?, self.timing?);
        let (classes, lanes, machine) = (self.classes?, self.lanes?, self.machine?);
        let measure = timing::ticks(&sections.measure?, &timing, self.plan.is_some());
        let qos = sections.qos?;
        let (arbiter, nic_arbiter) = (qos.arbiter?, qos.nic_arbiter?);
        let admitted = match sections.connections {
            Some(_) => Some(self.admitted?),
            None => None,
        };
        let segmentation = classes.workloads.segmentation;
        let own_loads = admitted.as_ref().map_or(vec![], |(admission, admitted)| {
            admission.loads(admitted, &segmentation)
        });
        let estimate = Estimate {
            topology: &topology,
            forwarding: &forwarding,
            machine: &machine,
            lanes: &lanes,
            classes: &classes,
            timing: &timing,
            measure: &measure,
        };
        diagnostics.work.begins("estimating the cost of a run");
        let (cost, n_partitions) = estimate.cost(
            admitted.as_ref(),
            &own_loads,
            self.request,
            seed,
            diagnostics,
        )?;
        let (mut infos, plans) = classes.described(topology.n_nics(), seed);
        let mut channels = lanes.channels;
        channels.reseed(seed);
        let mut fabric = FabricPlan {
            partitions: topology.partitions(n_partitions),
            count_reordering: !forwarding.keeps_order() && topology.n_nics() <= 2048,
            segmentation,
            links: timing.links,
            switch: machine.switch,
            flow_control: machine.flow_control,
            endpoints: machine.endpoints,
            marks_above: machine.marks_above,
            n_vls: machine.n_vls,
            channels,
            largest: lanes.largest,
            nic_policy: nic_arbiter.unwrap_or_else(|| arbiter.clone()),
            switch_policy: arbiter,
            own_policies: BTreeMap::new(),
            connections: [].into(),
            classes: plans,
            forwarding: Arc::new(forwarding),
            topology,
        };
        let topology = &fabric.topology;
        let mut inputs = classes.inputs;
        let site = Site::of(topology);
        inputs.extend(site.map_or(vec![], site::inputs));
        if let Some(site) = site
            && diagnostics.places.written("qos.arbiter").is_none()
        {
            fabric.own_policies = site::policies(site, topology);
            check::site::arbiters(&fabric.own_policies, topology, lanes.used, diagnostics);
        }
        let connected = admitted.map(|(admission, admitted)| {
            let until = self.connections.as_ref().and_then(ConnectionsSpec::until);
            let connections = Connected {
                loads: own_loads,
                until,
                at: self.brings_tables,
            };
            connections.add(admission, admitted, &mut fabric, &mut infos)
        });
        let (admission, connections) = connected.unzip();
        let reseed = Reseed {
            is_random_wiring: self.blueprint.is_random(),
            blueprint: self.blueprint,
            routing: routing.routing,
            workloads: classes.workloads,
            admission,
        };
        let experiment = Experiment {
            name: sections.name,
            about: sections.about,
            timebase: timing.timebase,
            fabric,
            classes: infos,
            connections,
            measure,
            inputs,
            resolved,
            plan: self.plan.map(Arc::new),
            reseed: Some(Arc::new(reseed)),
        };
        Some((experiment, cost))
    }
}

/// What else is known of admitted connections.
struct Connected {
    /// The load of each of their classes.
    loads: Vec<f64>,
    until: Option<UntilPackets>,
    /// Whether their tables arbitrate at switches, and at NICs.
    at: (bool, bool),
}

impl Connected {
    /// Adds the classes, flows and tables of the connections to a fabric.
    fn add(
        self,
        admission: Admission,
        admitted: Admitted,
        fabric: &mut FabricPlan,
        infos: &mut Vec<ClassInfo>,
    ) -> (Admission, ConnectionSet) {
        let classes = admission.sls.iter().zip(admitted.sources).zip(self.loads);
        for ((&sl, source), load) in classes {
            let (info, plan) = classes::of_connections(sl, source, load);
            infos.push(info);
            fabric.classes.push(plan);
        }
        let (at_switches, at_nics) = self.at;
        if at_switches {
            fabric.switch_policy = admission.usual_policy();
        }
        if at_nics {
            fabric.nic_policy = admission.usual_policy();
        }
        fabric.own_policies = admitted.policies;
        fabric.connections = admitted.plans.into();
        let set = ConnectionSet {
            connections: admitted.infos.into(),
            until: self.until,
        };
        (admission, set)
    }
}

/// Returns whether connections provide the tables of every output, at switches and at NICs: they do
/// if the file sets no arbiter.
fn brought_arbiters(
    has_connections: bool,
    resolved: &mut Resolved,
    diagnostics: &Diagnostics<'_>,
) -> (bool, bool) {
    let at_switches = has_connections && diagnostics.places.written("qos.arbiter").is_none();
    let at_nics = at_switches && diagnostics.places.written("qos.nic-arbiter").is_none();
    for (key, is_brought) in [("arbiter", at_switches), ("nic-arbiter", at_nics)] {
        if is_brought {
            forget(resolved, &["qos"], key);
        }
    }
    (at_switches, at_nics)
}
