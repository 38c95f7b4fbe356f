//! The fabrics, packets, rates and targets of claims.

use crate::{Point, Results};

/// The order of the paper's tables.
pub(super) const FABRICS: [&str; 3] = ["irregular", "hypercube", "mesh"];

/// A packet size of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Packet {
    /// 256 bytes, as in the files.
    Small,
    /// 4096 bytes.
    Large,
}

impl Packet {
    /// Returns its payload in bytes.
    pub(super) fn bytes(self) -> u32 {
        match self {
            Packet::Small => 256,
            Packet::Large => 4096,
        }
    }
}

/// A fabric with a packet size, and the names of its series.
pub(super) struct Setting {
    /// Index into [`FABRICS`].
    pub(super) fabric: usize,
    pub(super) packet: Packet,
    /// Simulated runs.
    pub(super) simulated: &'static str,
    /// Admission only, in mode `paper` and in mode `strict-entries`.
    pub(super) admitted: &'static str,
    pub(super) strict: &'static str,
    /// Admission only at 4x and at 12x.
    pub(super) admitted_4x: &'static str,
    pub(super) admitted_12x: &'static str,
}

macro_rules! setting {
    ($fabric:literal, $name:literal, $packet:ident, $bytes:literal) => {
        Setting {
            fabric: $fabric,
            packet: Packet::$packet,
            simulated: concat!("S004-3 ", $name, " ", $bytes, " B"),
            admitted: concat!("S004-2 ", $name, " ", $bytes, " B"),
            strict: concat!("S004-2 strict-entries ", $name, " ", $bytes, " B"),
            admitted_4x: concat!("S004-8 ", $name, " ", $bytes, " B"),
            admitted_12x: concat!("S004-9 ", $name, " ", $bytes, " B"),
        }
    };
}

/// All settings: the columns of Table 2.
pub(super) const SETTINGS: [Setting; 6] = [
    setting!(0, "irregular", Small, "256"),
    setting!(1, "hypercube", Small, "256"),
    setting!(2, "mesh", Small, "256"),
    setting!(0, "irregular", Large, "4096"),
    setting!(1, "hypercube", Large, "4096"),
    setting!(2, "mesh", Large, "4096"),
];

impl Setting {
    /// Returns the settings of a packet size, in the order of [`FABRICS`].
    pub(super) fn of(packet: Packet) -> impl Iterator<Item = &'static Setting> {
        SETTINGS
            .iter()
            .filter(move |setting| setting.packet == packet)
    }

    /// Returns the name of its fabric.
    pub(super) fn name(&self) -> &'static str {
        FABRICS[self.fabric]
    }

    /// Returns the runs at a link rate with the maximum number of connections.
    pub(super) fn at_maximum<'a>(
        &self,
        results: &'a Results,
        rate: &LinkRate,
    ) -> Option<Point<'a>> {
        let (scenario, fabric) = (rate.simulated, self.name());
        let series = format!("{scenario} {fabric} {} B", self.packet.bytes());
        results.series(&series).at(f64::from(rate.most())).cloned()
    }
}

/// The packets of a claim about single packets: packet size and link rate.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub(super) packet: Packet,
    pub(super) rate: &'static LinkRate,
}

/// At the link rate that most claims are about.
impl From<Packet> for Sent {
    fn from(packet: Packet) -> Sent {
        Sent { packet, rate: &ONE }
    }
}

/// A link rate, and the connections tried at it.
pub(super) struct LinkRate {
    /// The rows of Tables 2, 3 and 4; the last exceeds the capacity.
    pub(super) targets: &'static [u32],
    /// Prefix of its simulated series.
    pub(super) simulated: &'static str,
}

impl LinkRate {
    /// Returns the target that exceeds the capacity.
    pub(super) fn most(&self) -> u32 {
        self.targets[self.targets.len() - 1]
    }
}

/// 2.5 Gb/s, as in the files.
pub(super) const ONE: LinkRate = LinkRate {
    targets: &[256, 512, 1024, 1536, 2048, 2560, 2816, 3072],
    simulated: "S004-3",
};
/// 10 Gb/s.
pub(super) const FOUR: LinkRate = LinkRate {
    targets: &[1500, 3000, 4500, 6000, 7500, 9000, 10_500, 12_000],
    simulated: "S004-8 delivered",
};
/// 30 Gb/s.
pub(super) const TWELVE: LinkRate = LinkRate {
    targets: &[5000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000],
    simulated: "S004-9 delivered",
};

/// The table of all ports, for S004-4.
pub(super) const LINKS: &str = "links";
