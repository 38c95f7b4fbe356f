//! The devices of a fabric that one plan must fit, and the capacity of their ports.
//!
//! The PortInfo of the ports, the name of a profile, or numbers in the file (`[[plan.device]]`)
//! describe a device. All of them hold at once, so the smallest number applies.

use netloom_catalog::{
    FromToml, Params, ResolvedLine, Section, ValueShape, choice, nearest, params,
};
use netloom_units::Rate;

choice! {
    /// The kind of a port: OpenSM has one set of tables for each.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum PortsOf {
        /// Ports of switches with a cable (`qos_swe_` keys of OpenSM).
        Switches = "switches",
        /// Ports of channel adapters (`qos_ca_` keys).
        Hosts = "hosts",
        /// Enhanced ports 0, which send the packets of the switch itself (`qos_sw0_` keys).
        SwitchPort0 = "switch-port-0",
        /// Ports of routers (`qos_rtr_` keys).
        Routers = "routers",
    }
}

impl PortsOf {
    /// All kinds.
    pub const ALL: [PortsOf; 4] = [
        PortsOf::Switches,
        PortsOf::Hosts,
        PortsOf::SwitchPort0,
        PortsOf::Routers,
    ];

    /// Returns the name in files and reports.
    pub fn name(self) -> String {
        self.write().trim_matches('"').to_owned()
    }
}

/// The capacity of a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Room {
    /// Entries of the low table (VLArbLowCap).
    pub low: u8,
    /// Entries of the high table (VLArbHighCap); 0 if it must not be used.
    pub high: u8,
    /// Data lanes (VLCap).
    pub vls: u8,
}

impl Room {
    /// The maximum of the standard.
    pub const LARGEST: Room = Room {
        low: 64,
        high: 64,
        vls: 15,
    };

    /// Returns the capacity that fits both.
    pub fn least(self, other: Room) -> Room {
        Room {
            low: self.low.min(other.low),
            high: self.high.min(other.high),
            vls: self.vls.min(other.vls),
        }
    }

    /// Returns the part that OpenSM can fill: into a table of exactly 64 entries it writes 32.
    pub fn fillable(self) -> Room {
        let entries = |cap: u8| if cap == 64 { 32 } else { cap };
        Room {
            low: entries(self.low),
            high: entries(self.high),
            ..self
        }
    }

    /// Formats as `16 low and 8 high entries, 4 lanes`.
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

/// A device that is known by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// The name in files.
    pub name: &'static str,
    /// The published capacity; the rest is the maximum of the standard.
    pub room: Room,
    /// The source of the numbers.
    pub about: &'static str,
    /// Why the high table must not be used, if so.
    pub issue: Option<LimitIssue>,
}

/// A device whose limit of the high table is a known issue of its firmware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitIssue {
    /// The name of the device.
    pub device: &'static str,
    /// The vendor and the device number of its switches.
    pub number: (u32, u32),
    /// The versions whose release notes list the issue.
    pub firmware: &'static str,
}

impl LimitIssue {
    /// The devices that are known. The versions are those of the public release notes that list
    /// 955641 ("VL_HIGH_LIMIT is not affecting the VL arbiter as expected") and 1249608 (weights of
    /// 0).
    pub const ALL: [LimitIssue; 2] = [
        LimitIssue {
            device: "Quantum-2",
            number: (0x2c9, 0xd2f2),
            firmware: "31.2010.1310 to 31.2010.5042",
        },
        LimitIssue {
            device: "Switch-IB 2",
            number: (0x2c9, 0xcf08),
            firmware: "15.2010.2300 to 15.2010.5108",
        },
    ];

    /// Returns the issue of a device by its vendor and number.
    pub fn of(vendor: u32, device: u32) -> Option<LimitIssue> {
        let mut all = LimitIssue::ALL.into_iter();
        all.find(|issue| issue.number == (vendor, device))
    }

    /// Returns the sentence about these ports.
    pub fn words(self, ports: PortsOf) -> String {
        let name = ports.name();
        format!(
            "{name}: only the low table, because the limit of the high table does not work as \
             expected on {} (known issues 955641 and 1249608 in the release notes of firmware {}; \
             other versions are not known). If it works on yours, set high-limit = \"works\" in a \
             [[plan.device]] with ports = \"{name}\"",
            self.device, self.firmware
        )
    }
}

choice! {
    /// Whether the limit of the high table works as specified.
    pub enum HighLimit {
        /// The limit works: the high table may be used.
        Works = "works",
        /// The limit does not work: the high table is not used.
        Broken = "broken",
    }
}

/// The devices that are known by name. Unpublished devices are missing; the PortInfo of the site
/// describes them.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "any",
        room: Room::LARGEST,
        about: "The maximum of the standard: 64 entries per table, 15 lanes.",
        issue: None,
    },
    Profile {
        name: "ibsim",
        room: Room {
            low: 8,
            high: 8,
            vls: 8,
        },
        about: "Ports of the simulator ibsim 0.10.",
        issue: None,
    },
    Profile {
        name: "ndr-host",
        room: Room {
            low: 8,
            high: 8,
            vls: 4,
        },
        about: "An NDR host port, from a published ibdiagnet listing.",
        issue: None,
    },
    Profile {
        name: "quantum-2",
        room: Room {
            high: 0,
            ..Room::LARGEST
        },
        about: "Firmware notes 955641 and 1249608 recommend only the low table, no weights of 0.",
        issue: Some(LimitIssue::ALL[0]),
    },
    Profile {
        name: "switch-ib-2",
        room: Room {
            high: 0,
            ..Room::LARGEST
        },
        about: "Firmware notes 955641 and 1249608 recommend only the low table, no weights of 0.",
        issue: Some(LimitIssue::ALL[1]),
    },
];

/// The ports of one kind of device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// The name in reports.
    pub name: String,
    pub ports: PortsOf,
    /// The capacity of each port.
    pub room: Room,
    /// What the file states about the limit of the high table.
    pub high_limit: Option<HighLimit>,
    /// Why the profile of the device disables its high table, if so.
    pub issue: Option<LimitIssue>,
}

/// What is known of the fabric from outside the `[plan]` section.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Surroundings {
    /// Its devices, if the PortInfo of their ports was read.
    pub devices: Vec<Device>,
    /// The rate of the slowest cable, except for cables in [`Cautions::slower`], and the name of
    /// that cable.
    pub slowest: Option<(Rate, String)>,
    /// Switch outputs on its longest path.
    pub hops: Option<u32>,
    /// The limits that a plan reports.
    pub cautions: Cautions,
}

/// What limits the guarantees of a plan in its fabric.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cautions {
    /// Cables that are slower than the planned rate; the plan guarantees nothing there.
    pub slower: Option<String>,
    /// Why the tables have no effect, if so.
    pub bottleneck: Option<String>,
    /// Ports of the site whose limit of the high table is a known issue.
    pub limits: Vec<(PortsOf, LimitIssue)>,
}

params! {
    /// The capacity of the ports of one kind of device.
    #[derive(Clone, Debug)]
    pub(super) struct DeviceKeys {
        /// Kind of the ports: "hosts", "switches", "switch-port-0" or "routers".
        ports: PortsOf,
        /// Name of the device in reports. Default: its profile.
        name: Option<String> = None,
        /// A known device: "ibsim", "ndr-host", "quantum-2", "switch-ib-2", or "any" for the
        /// maximum of the standard.
        profile: Option<String> = None,
        /// Entries of the low table (VLArbLowCap), if fewer than in the profile and in the PortInfo
        /// of the site.
        low_entries: Option<u8> = None,
        /// Entries of the high table (VLArbHighCap), if fewer; 0 disables it.
        high_entries: Option<u8> = None,
        /// Whether the limit of the high table (LimitOfHighPriority) works there as specified:
        /// "works" or "broken". "broken" disables the high table. Default: "broken" for the
        /// profiles "quantum-2" and "switch-ib-2", and for such switches of a site if a class has a
        /// slowdown; otherwise "works".
        high_limit: Option<HighLimit> = None,
        /// Data lanes (VLCap), if fewer: 1, 2, 4, 8 or 15.
        vls: Option<u8> = None,
    }
    check |it, section| {
        let mut outside = |key: &str, message: String, help: &str| {
            let place = section.place_of(key);
            section.notes.error("E0102", place, message).help(help);
        };
        for (key, entries, least) in [("low-entries", it.low_entries, 1), ("high-entries", it.high_entries, 0)] {
            if let Some(n) = entries.filter(|n| !(least..=64).contains(n)) {
                let message = format!("a table cannot have {n} entries");
                outside(key, message, "a table has at most 64");
            }
        }
        if let Some(n) = it.vls.filter(|n| ![1, 2, 4, 8, 15].contains(n)) {
            let message = format!("a port cannot have {n} data lanes");
            outside("vls", message, "use 1, 2, 4, 8 or 15");
        }
    }
}

/// Reads `[[plan.device]]`. Returns `None` if a device is wrong, and notes the errors.
pub(super) fn read(section: &mut Section<'_>) -> Option<Vec<Device>> {
    let Some(value) = section.raw("device") else {
        return Some(vec![]);
    };
    let ValueShape::List(items) = &value.shape else {
        let message = format!("expected a list of tables, found {}", value.shape.word());
        section
            .notes
            .error("E0101", value.place, message)
            .help("use [[plan.device]] (two brackets), with a line like ports = \"hosts\"");
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
    let (mut room, mut issue) = (Room::LARGEST, None);
    if let Some(name) = &keys.profile {
        let Some(known) = PROFILES.iter().find(|profile| profile.name == name) else {
            let names = PROFILES.iter().map(|profile| profile.name);
            let place = section.place_of("profile");
            let message = format!("there is no profile \"{name}\"");
            let help = match nearest(name, names.clone()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("use one of {}", names.collect::<Vec<_>>().join(", ")),
            };
            section.notes.error("E0104", place, message).help(help);
            return None;
        };
        room = known.room;
        issue = known.issue;
    }
    if keys.high_limit == Some(HighLimit::Works) && issue.take().is_some() {
        room.high = Room::LARGEST.high;
    }
    if keys.high_limit == Some(HighLimit::Broken) {
        room.high = 0;
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
        high_limit: keys.high_limit,
        issue,
    })
}

/// Returns the keys of `[[plan.device]]`.
pub(super) fn keys() -> Vec<netloom_catalog::Param> {
    DeviceKeys::params()
}
