//! The devices of a fabric that one plan must fit: what their ports have room for.
//!
//! A device is known by what the PortInfo of its ports says, by the name of a profile, or by numbers in the file
//! (`[[plan.device]]`). All of it is true at once, so the smallest number holds.

use netloom_catalog::{
    FromToml, Params, ResolvedLine, Section, ValueShape, choice, nearest, params,
};
use netloom_units::Rate;

choice! {
    /// Whose ports: OpenSM has one set of tables for each of these.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum PortsOf {
        /// Ports of switches with a cable (the keys `qos_swe_` of OpenSM).
        Switches = "switches",
        /// Ports of channel adapters (`qos_ca_`).
        Hosts = "hosts",
        /// Enhanced ports 0, by which switches send packets of their own (`qos_sw0_`).
        SwitchPort0 = "switch-port-0",
        /// Ports of routers (`qos_rtr_`).
        Routers = "routers",
    }
}

impl PortsOf {
    /// All of them.
    pub const ALL: [PortsOf; 4] = [
        PortsOf::Switches,
        PortsOf::Hosts,
        PortsOf::SwitchPort0,
        PortsOf::Routers,
    ];

    /// As files and people call them.
    pub fn name(self) -> String {
        self.write().trim_matches('"').to_owned()
    }
}

/// What a port has room for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Room {
    /// Entries of its low table (VLArbLowCap).
    pub low: u8,
    /// Entries of its high table (VLArbHighCap); 0 where that is not to be used.
    pub high: u8,
    /// Data lanes (VLCap).
    pub vls: u8,
}

impl Room {
    /// Everything that the standard allows.
    pub const LARGEST: Room = Room {
        low: 64,
        high: 64,
        vls: 15,
    };

    /// What fits both.
    pub fn least(self, other: Room) -> Room {
        Room {
            low: self.low.min(other.low),
            high: self.high.min(other.high),
            vls: self.vls.min(other.vls),
        }
    }

    /// What OpenSM can fill of it: into a table that has room for exactly 64 entries it writes 32.
    pub fn fillable(self) -> Room {
        let entries = |cap: u8| if cap == 64 { 32 } else { cap };
        Room {
            low: entries(self.low),
            high: entries(self.high),
            ..self
        }
    }

    /// `16 low and 8 high entries, 4 lanes`.
    pub fn words(self) -> String {
        let high = match self.high {
            0 => "low table only".to_owned(),
            high => format!("{high} high"),
        };
        let s = if self.vls == 1 { "" } else { "s" };
        match self.high {
            0 => format!("{} entries, {high}, {} lane{s}", self.low, self.vls),
            _ => format!("{} low and {high} entries, {} lane{s}", self.low, self.vls),
        }
    }
}

/// A device that is known by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Its name in files.
    pub name: &'static str,
    /// What it has room for, as far as that is published; the rest is as large as the standard allows.
    pub room: Room,
    /// Where that is known from.
    pub about: &'static str,
}

/// The devices that are known by name. What a maker does not publish is not here: PortInfo of the site says it.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "any",
        room: Room::LARGEST,
        about: "Everything that the standard allows: 64 entries a table, 15 lanes.",
    },
    Profile {
        name: "ibsim",
        room: Room {
            low: 8,
            high: 8,
            vls: 8,
        },
        about: "The ports of the simulator ibsim 0.10.",
    },
    Profile {
        name: "ndr-host",
        room: Room {
            low: 8,
            high: 8,
            vls: 4,
        },
        about: "A host port of NDR, as a published listing of ibdiagnet shows it.",
    },
    Profile {
        name: "quantum-2",
        room: Room {
            high: 0,
            ..Room::LARGEST
        },
        about: "Its firmware notes (955641, 1249608) advise to use the low table only, and no weight of 0.",
    },
    Profile {
        name: "switch-ib-2",
        room: Room {
            high: 0,
            ..Room::LARGEST
        },
        about: "Its firmware notes (955641, 1249608) advise to use the low table only, and no weight of 0.",
    },
];

/// Ports of one device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// What reports call it.
    pub name: String,
    /// Whose ports they are.
    pub ports: PortsOf,
    /// What each has room for.
    pub room: Room,
}

/// What is known of the fabric that a plan is for, besides what its file says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Surroundings {
    /// Its devices, where PortInfo of their ports was read.
    pub devices: Vec<Device>,
    /// The rate of its slowest cable, but for the exceptions, and which that is.
    pub slowest: Option<(Rate, String)>,
    /// Outputs of switches on its longest path.
    pub hops: Option<u32>,
    /// What a plan says of it.
    pub cautions: Cautions,
}

/// What limits what a plan is worth in the fabric it is for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cautions {
    /// Cables that are slower than the rate that is planned for: nothing is promised there.
    pub slower: Option<String>,
    /// Why the tables decide nothing, if so.
    pub bottleneck: Option<String>,
}

params! {
    /// What the ports of one kind of device have room for.
    #[derive(Clone, Debug)]
    pub(super) struct DeviceKeys {
        /// Whose ports: "hosts", "switches", "switch-port-0" or "routers".
        ports: PortsOf,
        /// What reports call it; left out, its profile.
        name: Option<String> = None,
        /// A known device: "ibsim", "ndr-host", "quantum-2", "switch-ib-2", or "any" for all that the standard allows.
        profile: Option<String> = None,
        /// Entries of the low table (VLArbLowCap), if there is less room than the profile and PortInfo of the site say.
        low_entries: Option<u8> = None,
        /// Entries of the high table (VLArbHighCap), likewise; 0 where it is not to be used.
        high_entries: Option<u8> = None,
        /// Data lanes (VLCap), likewise: 1, 2, 4, 8 or 15.
        vls: Option<u8> = None,
    }
    check |it, section| {
        let mut outside = |key: &str, message: String, help: &str| {
            let place = section.place_of(key);
            section.notes.error("E0102", place, message).help(help);
        };
        for (key, entries, least) in [("low-entries", it.low_entries, 1), ("high-entries", it.high_entries, 0)] {
            if let Some(n) = entries.filter(|n| !(least..=64).contains(n)) {
                outside(key, format!("a table of {n} entries"), "a table has at most 64");
            }
        }
        if let Some(n) = it.vls.filter(|n| ![1, 2, 4, 8, 15].contains(n)) {
            outside("vls", format!("{n} data lanes"), "a port has 1, 2, 4, 8 or 15");
        }
    }
}

/// Reads `[[plan.device]]`; nothing if one is wrong, which is noted.
pub(super) fn read(section: &mut Section<'_>) -> Option<Vec<Device>> {
    let Some(value) = section.raw("device") else {
        return Some(vec![]);
    };
    let ValueShape::List(items) = &value.shape else {
        let message = format!("expected a list of tables, found {}", value.shape.word());
        section
            .notes
            .error("E0101", value.place, message)
            .help("write [[plan.device]], with two brackets, and below it ports = \"hosts\"");
        return None;
    };
    let mut devices = vec![];
    for item in items {
        let device = Section::open(item, section.notes).and_then(|mut inner| {
            let device = DeviceKeys::read(&mut inner).and_then(|keys| device(keys, &mut inner));
            let line = ResolvedLine::Item("device".into(), inner.finish());
            section.resolved.lines.push(line);
            device
        });
        devices.push(device);
    }
    devices.into_iter().collect()
}

fn device(keys: DeviceKeys, section: &mut Section<'_>) -> Option<Device> {
    let mut room = Room::LARGEST;
    if let Some(name) = &keys.profile {
        let Some(known) = PROFILES.iter().find(|profile| profile.name == name) else {
            let names = PROFILES.iter().map(|profile| profile.name);
            let place = section.place_of("profile");
            let message = format!("there is no profile \"{name}\"");
            let help = match nearest(name, names.clone()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("write one of {}", names.collect::<Vec<_>>().join(", ")),
            };
            section.notes.error("E0104", place, message).help(help);
            return None;
        };
        room = known.room;
    }
    let written = Room {
        low: keys.low_entries.unwrap_or(room.low),
        high: keys.high_entries.unwrap_or(room.high),
        vls: keys.vls.unwrap_or(room.vls),
    };
    Some(Device {
        name: keys
            .name
            .or(keys.profile)
            .unwrap_or_else(|| keys.ports.name()),
        ports: keys.ports,
        room: room.least(written),
    })
}

/// The keys of `[[plan.device]]`.
pub(super) fn keys() -> Vec<netloom_catalog::Param> {
    DeviceKeys::params()
}
