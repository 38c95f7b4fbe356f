//! Computes one plan for a fabric of mixed devices.
//!
//! ```text
//!  devices ─► lanes: the fewest of any port     ─► one map of service levels to lanes, everywhere
//!          └► capacity of switches, of hosts, … ─► tables for each, with the shares it can reach
//! ```
//!
//! A service level has the same lane in the whole fabric, so the port with the fewest lanes decides
//! for all. The tables may differ: OpenSM has a set of keys for each kind of port. Each set is
//! fitted to the smallest of the devices that get it.

use super::devices::{Device, HighLimit, LimitIssue, PortsOf, Room};
use super::request::{HighTable, Request};
use super::{Plan, PlanError, alone};

/// The tables of one kind of port.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub ports: PortsOf,
    /// The devices with these ports; empty if nothing is known about them.
    pub devices: Vec<Device>,
    /// The capacity that all of them have, and that OpenSM can fill.
    pub room: Room,
    /// The plan for these ports.
    pub plan: Plan,
}

impl Fitted {
    /// Formats as `hosts (ndr-host: 8 low and 8 high entries, 4 lanes)`.
    pub fn words(&self) -> String {
        words(self.ports, &self.devices, self.room)
    }
}

fn words(ports: PortsOf, devices: &[Device], room: Room) -> String {
    let mut names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    names.dedup();
    let name = ports.name();
    match names.as_slice() {
        [] => format!("{name} ({})", room.words()),
        [one] if *one == name => format!("{name} ({})", room.words()),
        _ => format!("{name} ({}: {})", names.join(" and "), room.words()),
    }
}

/// Computes the plan for all devices of a request; that of the switches comes first.
pub(super) fn plan(request: &Request) -> Result<Plan, PlanError> {
    let written = Room {
        low: request.capacity().min(64) as u8,
        high: request.high_capacity().min(64) as u8,
        vls: request.ports.vls.unwrap_or(Room::LARGEST.vls),
    };
    let rooms = request.devices.iter().map(|device| device.room);
    let vls = rooms.fold(written, Room::least).vls;
    let mut fitted: Vec<Fitted> = vec![];
    for ports in PortsOf::ALL {
        let of_kind = |device: &&Device| device.ports == ports;
        let devices: Vec<Device> = request.devices.iter().filter(of_kind).cloned().collect();
        // Every fabric has switches and hosts; other kinds are included only if they are known.
        if devices.is_empty() && !matches!(ports, PortsOf::Switches | PortsOf::Hosts) {
            continue;
        }
        let rooms = devices.iter().map(|device| device.room.fillable());
        let mut room = Room {
            vls,
            ..rooms.fold(written, Room::least)
        };
        if has_slowdowns(request) && limit_issue(request, ports).is_some() {
            room.high = 0;
        }
        let same = fitted.iter().find(|before| before.room == room);
        let plan = match same.map(|same| same.plan.clone()) {
            Some(plan) => plan,
            None => alone(&within(request, room))
                .map_err(|refusal| at(refusal, &words(ports, &devices, room)))
                .map_err(|refusal| with_issue(refusal, request, ports))?,
        };
        fitted.push(Fitted {
            ports,
            devices,
            room,
            plan,
        });
    }
    let mut plan = fitted[0].plan.clone();
    plan.request.devices.clone_from(&request.devices);
    plan.notes.extend(notes(request, vls));
    plan.fitted = fitted;
    Ok(plan)
}

fn has_slowdowns(request: &Request) -> bool {
    let mut classes = request.classes.iter();
    classes.any(|class| class.slowdown.is_some())
}

/// Returns whether a request with slowdowns must not use the high table of some ports of its site.
pub(super) fn avoids_high_table(request: &Request) -> bool {
    let is_broken = |ports: PortsOf| limit_issue(request, ports).is_some();
    has_slowdowns(request) && PortsOf::ALL.into_iter().any(is_broken)
}

/// Returns why the high table of these ports must not be used, unless the file states that its
/// limit works.
fn limit_issue(request: &Request, ports: PortsOf) -> Option<LimitIssue> {
    let of_kind = || {
        request
            .devices
            .iter()
            .filter(|device| device.ports == ports)
    };
    let of_profile = of_kind().find_map(|device| device.issue);
    let of_site = request
        .cautions
        .limits
        .iter()
        .find(|(kind, _)| *kind == ports);
    let works = of_kind().any(|device| device.high_limit == Some(HighLimit::Works));
    of_profile.or_else(|| of_site.filter(|_| !works).map(|(_, issue)| *issue))
}

/// Adds the reason why the high table was not used.
fn with_issue(mut refusal: PlanError, request: &Request, ports: PortsOf) -> PlanError {
    let issue = limit_issue(request, ports).filter(|_| has_slowdowns(request));
    refusal
        .reasons
        .extend(issue.map(|issue| issue.words(ports)));
    refusal
}

/// Returns the same request for ports of this capacity.
fn within(request: &Request, room: Room) -> Request {
    let mut ports = request.ports.clone();
    ports.entries = Some(room.low.into());
    ports.high_entries = Some(room.high.into());
    ports.vls = Some(room.vls);
    if room.high == 0 {
        ports.high_table = HighTable::Never;
    }
    Request {
        ports,
        classes: request.classes.clone(),
        devices: vec![],
        cautions: request.cautions.clone(),
    }
}

/// Returns the same refusal, attributed to a device.
fn at(mut refusal: PlanError, device: &str) -> PlanError {
    for reason in &mut refusal.reasons {
        *reason = format!("at {device}: {reason}");
    }
    refusal.device = Some(device.to_owned());
    refusal
}

fn notes(request: &Request, vls: u8) -> Vec<String> {
    let mut notes = vec![];
    let smallest = request.devices.iter().find(|device| device.room.vls == vls);
    if let Some(device) = smallest.filter(|_| usize::from(vls) < request.classes.len()) {
        notes.push(format!(
            "{} ({}) have the fewest lanes, {vls}. A service level has the same lane everywhere, \
             so no port uses more lanes",
            device.ports.name(),
            device.name
        ));
    }
    if has_slowdowns(request) {
        for ports in PortsOf::ALL {
            notes.extend(limit_issue(request, ports).map(|issue| issue.words(ports)));
        }
    }
    let has_64 = |device: &&Device| device.room.low == 64 || device.room.high == 64;
    if request.devices.iter().any(|device| has_64(&device)) {
        notes.push(
            "OpenSM writes only 32 entries into a table of exactly 64, so the plan uses at most 32 \
             there"
                .to_owned(),
        );
    }
    notes
}
