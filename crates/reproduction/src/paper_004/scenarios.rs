//! The runs: which fabrics, packets, rates and targets, and for how long.

use std::borrow::Cow;

use crate::{Point, Results, Run, Size, Variation};

/// A fabric of the paper, as a person can run it.
pub(super) struct Fabric {
    /// Its name.
    pub(super) name: &'static str,
    file: &'static str,
    text: &'static str,
}

/// The order of the paper's tables.
pub(super) const FABRICS: [Fabric; 3] = [
    Fabric {
        name: "irregular",
        file: "irregular_256.toml",
        text: include_str!("../../../../experiments/papers/004/irregular_256.toml"),
    },
    Fabric {
        name: "hypercube",
        file: "hypercube_256.toml",
        text: include_str!("../../../../experiments/papers/004/hypercube_256.toml"),
    },
    Fabric {
        name: "mesh",
        file: "mesh_256.toml",
        text: include_str!("../../../../experiments/papers/004/mesh_256.toml"),
    },
];

/// A packet size of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Packet {
    /// 256 bytes, as the files have it.
    Small,
    /// 4096 bytes.
    Large,
}

impl Packet {
    /// Its payload in bytes.
    pub(super) fn bytes(self) -> u32 {
        match self {
            Packet::Small => 256,
            Packet::Large => 4096,
        }
    }

    /// What is set over a file for it: the buffers hold four packets with their headers.
    fn sets(self) -> Vec<String> {
        let buffer = 4 * (self.bytes() + 8);
        vec![
            format!("connections.packet=\"{} B\"", self.bytes()),
            format!("switch.input-buffer=\"{buffer} B\""),
            format!("switch.output-buffer=\"{buffer} B\""),
        ]
    }
}

/// A fabric with a packet size, and the names of its series.
pub(super) struct Setting {
    /// Which of [`FABRICS`].
    pub(super) fabric: usize,
    pub(super) packet: Packet,
    /// Simulated.
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

/// All of them: the columns of Table 2.
pub(super) const SETTINGS: [Setting; 6] = [
    setting!(0, "irregular", Small, "256"),
    setting!(1, "hypercube", Small, "256"),
    setting!(2, "mesh", Small, "256"),
    setting!(0, "irregular", Large, "4096"),
    setting!(1, "hypercube", Large, "4096"),
    setting!(2, "mesh", Large, "4096"),
];

impl Setting {
    /// Those of a packet size, in the order of [`FABRICS`].
    pub(super) fn of(packet: Packet) -> impl Iterator<Item = &'static Setting> {
        SETTINGS
            .iter()
            .filter(move |setting| setting.packet == packet)
    }

    /// The name of its fabric.
    pub(super) fn name(&self) -> &'static str {
        FABRICS[self.fabric].name
    }

    /// The runs with as many connections as fit.
    pub(super) fn at_maximum<'a>(&self, results: &'a Results) -> Option<Point<'a>> {
        let most = f64::from(ONE.most());
        results.series(self.simulated).at(most).cloned()
    }
}

/// A link rate, and the connections tried at it.
pub(super) struct LinkRate {
    sets: &'static [&'static str],
    /// The rows of Tables 2, 3 and 4, the last with more than fit (X004-2).
    pub(super) targets: &'static [u32],
}

impl LinkRate {
    /// More than fit.
    pub(super) fn most(&self) -> u32 {
        self.targets[self.targets.len() - 1]
    }
}

/// 2.5 Gb/s, as the files have it.
pub(super) const ONE: LinkRate = LinkRate {
    sets: &[],
    targets: &[256, 512, 1024, 1536, 2048, 2560, 2816, 3072],
};
/// 10 Gb/s.
pub(super) const FOUR: LinkRate = LinkRate {
    sets: &["link.rate=\"10 Gbps\"", "switch.clock=\"0.8 ns\""],
    targets: &[1500, 3000, 4500, 6000, 7500, 9000, 10_500, 12_000],
};
/// 30 Gb/s.
pub(super) const TWELVE: LinkRate = LinkRate {
    sets: &["link.rate=\"30 Gbps\"", "switch.clock=\"4/15 ns\""],
    targets: &[5000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000],
};

/// The points of S004-3. What 2816 gives is what 3072 gives: more than fit.
const SIMULATED: [u32; 7] = [256, 512, 1024, 1536, 2048, 2560, 3072];

/// How long a run is.
pub(super) struct Length {
    /// Packets discarded.
    warmup: u32,
    /// Every connection of SL2 and SL3 has so many packets with as many connections as fit, and so many
    /// below.
    packets: (u32, u32),
    /// Draws for each connection.
    draws: u32,
    /// Ends the run in any case, in microseconds of packets of 256 bytes.
    at_most_us: u32,
}

/// Which length a size has.
pub(super) fn length(size: Size) -> Length {
    match size {
        Size::Tiny => Length {
            warmup: 500,
            packets: (1, 1),
            draws: 50,
            at_most_us: 200,
        },
        Size::Ci => Length {
            warmup: 10_000,
            packets: (10, 2),
            draws: 10_000,
            at_most_us: 150_000,
        },
        // G004-5. Below the maximum only the delivered load is asked for, whose sources are constant.
        Size::Paper => Length {
            warmup: 10_000,
            packets: (100, 10),
            draws: 10_000,
            at_most_us: 150_000,
        },
    }
}

impl Length {
    /// As a person is told.
    pub(super) fn words(&self) -> String {
        format!(
            "until every connection of SL2 and SL3 has {} packets ({} below the maximum) after a warm-up of {} \
             packets, {} ms at most",
            self.packets.0,
            self.packets.1,
            self.warmup,
            f64::from(self.at_most_us) / 1000.0
        )
    }

    fn sets(&self, packet: Packet, is_maximum: bool) -> Vec<String> {
        let packets = if is_maximum {
            self.packets.0
        } else {
            self.packets.1
        };
        // As many packets take 16 times as long if they are 16 times as large.
        let at_most = u64::from(self.at_most_us) * u64::from(packet.bytes() / 256);
        vec![
            format!("measure.warmup=\"{} packets\"", self.warmup),
            format!("measure.length=\"{at_most} us\""),
            format!("connections.until-packets={packets}"),
        ]
    }
}

/// Nothing is simulated for admission but a moment: an experiment admits its connections as it is read.
const A_MOMENT: [&str; 3] = [
    "measure.warmup=\"0 us\"",
    "measure.length=\"1 us\"",
    "measure.epochs=1",
];

/// The table of every port, for S004-4.
pub(super) const LINKS: &str = "links";

/// Other readings run on so many seeds at most.
const VARIED_SEEDS: u32 = 1;

/// All runs of a size; under another reading those with as many connections as fit.
pub(super) fn runs(size: Size, seeds: u32, variation: Option<&'static Variation>) -> Vec<Run> {
    let mut list = List {
        length: length(size),
        seeds: variation.map_or(seeds, |_| seeds.min(VARIED_SEEDS)),
        variation,
        runs: vec![],
    };
    let is_tiny = size == Size::Tiny;
    for setting in &SETTINGS {
        // S004-2 and the admission of S004-8 and S004-9.
        let admitted: [(&'static str, &LinkRate, &str); 4] = [
            (setting.admitted, &ONE, "paper"),
            (setting.strict, &ONE, "strict-entries"),
            (setting.admitted_4x, &FOUR, "paper"),
            (setting.admitted_12x, &TWELVE, "paper"),
        ];
        let n_admitted = if variation.is_some() { 1 } else { 4 };
        for (series, rate, mode) in &admitted[..n_admitted] {
            let is_short = is_tiny || variation.is_some();
            let targets = rate.targets.iter().copied();
            for target in targets.filter(|&t| !is_short || t == rate.most()) {
                let mut sets = vec![format!("connections.mode=\"{mode}\"")];
                sets.extend(rate.sets.iter().map(|&set| set.to_owned()));
                sets.extend(A_MOMENT.map(str::to_owned));
                list.add(setting, series, target, sets);
            }
        }
        // S004-3, and with as many connections as fit S004-4 to S004-7.
        for target in SIMULATED {
            let is_maximum = target == ONE.most();
            let is_shown = !is_tiny || [256, 512].contains(&target);
            if is_maximum || (variation.is_none() && is_shown) {
                let sets = list.length.sets(setting.packet, is_maximum);
                list.add(setting, setting.simulated, target, sets);
            }
        }
    }
    list.runs
}

/// The runs so far, and what all of them share.
struct List {
    length: Length,
    seeds: u32,
    variation: Option<&'static Variation>,
    runs: Vec<Run>,
}

impl List {
    /// A point with all its seeds.
    fn add(&mut self, setting: &Setting, series: &'static str, target: u32, own: Vec<String>) {
        let mut sets = setting.packet.sets();
        sets.push(format!("connections.target={target}"));
        sets.push(format!("connections.retries={}", self.length.draws));
        sets.extend(own);
        let varied = self
            .variation
            .iter()
            .flat_map(|variation| variation.sets.iter());
        sets.extend(varied.map(|&set| set.to_owned()));
        let fabric = &FABRICS[setting.fabric];
        self.runs
            .extend((1..=u64::from(self.seeds)).map(|seed| Run {
                series,
                load: f64::from(target),
                seed,
                file: fabric.file,
                text: Cow::Borrowed(fabric.text),
                sets: sets.clone(),
                tables: &[LINKS],
            }));
    }
}
