//! One plan for a fabric of mixed devices.
//!
//! ```text
//!  devices ─► lanes: the fewest that any port has ─► one map from service levels to lanes, the same everywhere
//!          └► room of switches, of hosts, …      ─► tables for each, with the shares that it can reach
//! ```
//!
//! A service level is on one lane in the whole fabric, so the port with the fewest lanes decides for all. Tables need
//! not be the same: OpenSM has a set of keys for each kind of port, and each set is fitted to the smallest of the
//! devices that get it.

use super::devices::{Device, PortsOf, Room};
use super::request::{HighTable, Request};
use super::{Plan, Refusal, alone};

/// The tables of one kind of port.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Whose ports.
    pub ports: PortsOf,
    /// The devices they are of; none where nothing is known of them.
    pub devices: Vec<Device>,
    /// What all of them have room for, and OpenSM can fill.
    pub room: Room,
    /// What the tables give there.
    pub plan: Plan,
}

impl Fitted {
    /// `hosts (ndr-host: 8 low and 8 high entries, 4 lanes)`.
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

/// The plan for all devices of a request, that of the switches in front.
pub(super) fn plan(request: &Request) -> Result<Plan, Refusal> {
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
        // Every fabric has switches and hosts; the others only where they are known.
        if devices.is_empty() && !matches!(ports, PortsOf::Switches | PortsOf::Hosts) {
            continue;
        }
        let rooms = devices.iter().map(|device| device.room.fillable());
        let room = Room {
            vls,
            ..rooms.fold(written, Room::least)
        };
        let same = fitted.iter().find(|before| before.room == room);
        let plan = match same.map(|same| same.plan.clone()) {
            Some(plan) => plan,
            None => alone(&within(request, room))
                .map_err(|refusal| at(refusal, &words(ports, &devices, room)))?,
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

/// The same needs of ports with so much room.
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

/// The same refusal, told of a device.
fn at(mut refusal: Refusal, device: &str) -> Refusal {
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
            "{} ({}) have {vls} lanes, the fewest: a service level has one lane everywhere, so no port uses more",
            device.ports.name(),
            device.name
        ));
    }
    let has_64 = |device: &&Device| device.room.low == 64 || device.room.high == 64;
    if request.devices.iter().any(|device| has_64(&device)) {
        notes.push(
            "OpenSM writes 32 entries into a table that has room for exactly 64: no more are planned for there"
                .to_owned(),
        );
    }
    notes
}
