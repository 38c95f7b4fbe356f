//! `[link]`: rate, delay and packet sizes of links.

use netloom_catalog::{
    FromToml, Notes, Param, Params, ResolvedLine, Section, Shape, Value, ValueShape, params,
    read_kind,
};
use netloom_packet::Segmentation;
use netloom_topology::Topology;
use netloom_units::{Bytes, Rate, Ratio, Time};

use super::device::DeviceName;
use super::flow_control::{FLOW_CONTROLS, FlowControlSpec};

/// Nanoseconds per metre of cable.
const PER_METRE: u64 = 5;

/// With larger flits, the bytes of a packet of 65,535 flits would exceed 32 bits.
const LARGEST_FLIT: u64 = 16 << 10;
const LARGEST_HEADER: u64 = 64 << 10;
pub(crate) const LARGEST_MTU: u64 = 1 << 30;
const SLOWEST: Rate = Rate(1_000_000);
const FASTEST: Rate = Rate(100_000_000_000_000);
/// The longest delay of a link, in nanoseconds.
const LONGEST_DELAY: u64 = 100_000_000;

/// The links of a fabric as given in the file.
#[derive(Clone, Debug)]
pub(crate) struct LinkSpec {
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) segmentation: Segmentation,
    pub(crate) flow_control: FlowControlSpec,
    /// Values for single classes of links, by name.
    pub(crate) classes: Vec<(String, ClassSpec)>,
}

/// Values for one class of links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassSpec {
    pub(crate) rate: Option<Rate>,
    pub(crate) delay: Option<Time>,
}

impl LinkSpec {
    /// Returns rate and delay of each class of links: from the class in the file, else from the
    /// cables of a real site, else from `[link]`.
    pub(crate) fn of_classes(&self, topology: &Topology) -> Vec<(Rate, Time)> {
        let names = topology.link_classes().iter().zip(0..);
        let of = |(name, class): (&String, u8)| {
            let own = self.classes.iter().find(|(known, _)| known == name);
            let own = own.map(|(_, class)| *class);
            let rate = own.and_then(|class| class.rate);
            (
                rate.or(topology.class_rate(class)).unwrap_or(self.rate),
                own.and_then(|class| class.delay).unwrap_or(self.delay),
            )
        };
        names.map(of).collect()
    }
}

params! {
    /// The links of the fabric.
    #[derive(Clone, Debug)]
    pub struct Link {
        /// A link by name: rate, MTU, headers and flow control that the file does not set.
        pub device: Option<DeviceName> = None,
        /// Data rate of every link, in each direction.
        pub rate: Rate = Rate(100_000_000_000),
        /// Propagation delay of every link. The default is two flit times at 100 Gbps.
        pub delay: Time = Time::from_picos(Ratio::whole(10_240)),
        /// Length of every cable, in place of `delay`: 5 ns per metre.
        pub cable: Option<Length> = None,
        /// The unit of transmission on links, and of buffer space.
        pub flit: Bytes = Bytes(64),
        /// Largest payload of a packet; "message" sends each message as one packet.
        pub mtu: Mtu = Mtu(Some(Bytes(4096))),
        /// Bytes that every packet carries in addition to its payload.
        pub header: Bytes = Bytes(0),
    }
    check |it, section| {
        both_delay_and_cable(it.cable, section);
        in_bounds(section, "flit", it.flit, 1, LARGEST_FLIT);
        in_bounds(section, "header", it.header, 0, LARGEST_HEADER);
        if let Mtu(Some(mtu)) = it.mtu {
            in_bounds(section, "mtu", mtu, 1, LARGEST_MTU);
        }
        sane_delay(section, it.delay);
        sane_rate(section, it.rate);
    }
}

params! {
    /// Values for one class of links.
    #[derive(Clone, Debug)]
    pub struct LinkClass {
        /// Data rate. The default is that of `[link]`.
        pub rate: Option<Rate> = None,
        /// Propagation delay. The default is that of `[link]`.
        pub delay: Option<Time> = None,
        /// Length of the cable, in place of `delay`: 5 ns per metre.
        pub cable: Option<Length> = None,
    }
    check |it, section| {
        both_delay_and_cable(it.cable, section);
        if let Some(delay) = it.delay {
            sane_delay(section, delay);
        }
        if let Some(rate) = it.rate {
            sane_rate(section, rate);
        }
    }
}

fn both_delay_and_cable(cable: Option<Length>, section: &mut Section<'_>) {
    if cable.is_some() && section.raw("delay").is_some() {
        let (delay, cable) = (section.place_of("delay"), section.place_of("cable"));
        section
            .notes
            .error("E0107", delay, "both `delay` and `cable` are set")
            .also(cable, "the other one")
            .help("remove one of them; `cable` sets a delay of 5 ns per metre");
    }
}

fn in_bounds(section: &mut Section<'_>, key: &str, bytes: Bytes, least: u64, most: u64) {
    if !(least..=most).contains(&bytes.0) {
        let place = section.place_of(key);
        section
            .notes
            .error(
                "E0102",
                place,
                format!("`{key}` of {bytes} is out of range"),
            )
            .help(format!("use {} to {}", Bytes(least), Bytes(most)));
    }
}

fn sane_delay(section: &mut Section<'_>, delay: Time) {
    let (shortest, longest) = (
        Time::from_picos(Ratio::whole(1)),
        Time::from_nanos(LONGEST_DELAY),
    );
    if !delay.is_zero() && (delay < shortest || delay > longest) {
        let place = section.place_of("delay");
        section
            .notes
            .error(
                "E0102",
                place,
                format!("a delay of {delay} is out of range"),
            )
            .help(format!("use \"0 ns\", or \"{shortest}\" to \"{longest}\""));
    }
}

fn sane_rate(section: &mut Section<'_>, rate: Rate) {
    if !(SLOWEST..=FASTEST).contains(&rate) {
        let place = section.place_of("rate");
        section
            .notes
            .error("E0102", place, format!("a rate of {rate} is out of range"))
            .help(format!("use {SLOWEST} to {FASTEST}"));
    }
}

/// Reads `[link]` and the classes in it.
pub(crate) fn read(section: &mut Section<'_>) -> Option<LinkSpec> {
    let link = Link::read(section);
    let flow_control = read_kind(
        section,
        "flow-control",
        "flow control",
        FLOW_CONTROLS,
        Some("credits"),
    );
    let classes = read_classes(section);
    let (link, flow_control, classes) = (link?, flow_control?.spec(), classes?);
    if link.cable.is_some() {
        // The cable replaces the default delay.
        let is_delay =
            |line: &ResolvedLine| matches!(line, ResolvedLine::Value { key, .. } if key == "delay");
        section.resolved.lines.retain(|line| !is_delay(line));
    }
    Some(LinkSpec {
        rate: link.rate,
        delay: link.cable.map_or(link.delay, Length::delay),
        segmentation: Segmentation {
            flit: link.flit,
            mtu: link.mtu.0,
            header: link.header,
        },
        flow_control,
        classes,
    })
}

fn read_classes(section: &mut Section<'_>) -> Option<Vec<(String, ClassSpec)>> {
    let Some(value) = section.raw("class") else {
        return Some(vec![]);
    };
    let ValueShape::Table(entries) = &value.shape else {
        section
            .notes
            .error(
                "E0101",
                value.place,
                format!("expected tables, found {}", value.shape.word()),
            )
            .help("use [link.class.host], and its values below it");
        return None;
    };
    let mut classes = vec![];
    let mut resolved = netloom_catalog::Resolved::default();
    let mut is_good = true;
    for (name, _, value) in entries {
        let Some(mut inner) = Section::open(value, section.notes) else {
            is_good = false;
            continue;
        };
        let read = LinkClass::read(&mut inner);
        let lines = inner.finish();
        resolved
            .lines
            .push(ResolvedLine::Table(key_as_toml(name), lines));
        match read {
            Some(class) => {
                let delay = class.delay.or(class.cable.map(Length::delay));
                let rate = class.rate;
                classes.push((name.clone(), ClassSpec { rate, delay }));
            }
            None => is_good = false,
        }
    }
    let line = ResolvedLine::Table("class".into(), resolved);
    section.resolved.lines.push(line);
    is_good.then_some(classes)
}

/// Formats a key as TOML: bare if possible, otherwise in quotes.
fn key_as_toml(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !key.is_empty() && key.chars().all(is_bare) {
        true => key.to_owned(),
        false => key.to_owned().write(),
    }
}

/// Returns the parameters of `[link]`.
pub(crate) fn params() -> Vec<Param> {
    let mut params = Link::params();
    params.push(Param {
        name: "flow-control".to_owned(),
        about: "How a sender knows the free space at the other end.".to_owned(),
        shape: Shape::Kind("flow control"),
        default: Some("\"credits\"".to_owned()),
    });
    params
}

/// The length of a cable in millimetres.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Length {
    millimetres: u64,
}

impl Length {
    /// Returns the propagation delay of a cable of this length.
    fn delay(self) -> Time {
        // 1 ns per metre is 1 ps per millimetre.
        Time::from_picos(Ratio::whole(self.millimetres)) * PER_METRE
    }
}

impl FromToml for Length {
    fn shape() -> Shape {
        Shape::Quantity("length")
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        const HELP: &str = "use a length such as \"5 m\" or \"30 cm\", up to 1000 km";
        let text = value.as_text().unwrap_or_default();
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        let (number, unit) = (&text[..end], text[end..].trim());
        let scale = match unit {
            "m" => Some(1000),
            "cm" => Some(10),
            "km" => Some(1_000_000),
            _ => None,
        };
        let length = exact_decimal(number)
            .zip(scale)
            .map(|(n, scale)| n * Ratio::whole(scale));
        match length {
            Some(length) if length.den() == 1 && length <= Ratio::whole(1_000_000_000) => {
                Some(Length {
                    millimetres: length.round(),
                })
            }
            _ => {
                let what = value.as_text().map_or_else(
                    || {
                        format!(
                            "expected a length with a unit, found {}",
                            value.shape.word()
                        )
                    },
                    |text| format!("expected a length in whole millimetres, found `{text}`"),
                );
                notes.error("E0103", value.place, what).help(HELP);
                None
            }
        }
    }

    fn write(&self) -> String {
        let (metres, rest) = (self.millimetres / 1000, self.millimetres % 1000);
        match rest {
            0 => format!("\"{metres} m\""),
            _ => {
                let digits = format!("{rest:03}");
                format!("\"{metres}.{} m\"", digits.trim_end_matches('0'))
            }
        }
    }
}

/// Parses a short decimal as an exact fraction.
pub(crate) fn exact_decimal(text: &str) -> Option<Ratio> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || whole.len() > 10 || part.len() > 9 {
        return None;
    }
    let digits: u128 = format!("{whole}{part}").parse().ok()?;
    Some(Ratio::new(
        digits,
        10u128.pow(u32::try_from(part.len()).ok()?),
    ))
}

/// The largest payload of a packet; `None` if each message is one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mtu(pub Option<Bytes>);

impl FromToml for Mtu {
    fn shape() -> Shape {
        Shape::Either(vec![Bytes::shape(), Shape::OneOf(vec!["message"])])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        match value.as_text() {
            Some("message") => Some(Mtu(None)),
            _ => Bytes::read(value, notes).map(|bytes| Mtu(Some(bytes))),
        }
    }

    fn write(&self) -> String {
        self.0
            .map_or_else(|| "\"message\"".to_owned(), |bytes| bytes.write())
    }
}
