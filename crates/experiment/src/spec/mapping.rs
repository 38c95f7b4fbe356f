//! Rows of the tables that map service levels, service channels and lanes in a file.

use netloom_catalog::{FromToml, Notes, Shape, Value, ValueShape};
use netloom_packet::N_SCS;
use netloom_units::Bytes;

use super::link::{LARGEST_MTU, Mtu};

const N_SLS: usize = 16;
/// The channel of management.
pub(crate) const MANAGEMENT_SC: u8 = 15;

/// Lanes by service level (SL2VL), at most 16.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LaneRow(pub(crate) Vec<u8>);

/// Channels by service level (SL2SC), at most 16 levels: a channel, or a list of channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChannelSets(pub(crate) Vec<Vec<u8>>);

/// Lanes by channel (SC2VL), at most 32.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChannelLanes(pub(crate) Vec<u8>);

/// Channels by channel (SC2SC), at most 32.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChannelChanges(pub(crate) Vec<u8>);

/// Service levels by channel (SC2SL), at most 32.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChannelLevels(pub(crate) Vec<u8>);

/// The largest payload of a packet by service level (SL_MTU), at most 16.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LevelMtus(pub(crate) Vec<Mtu>);

/// Reads a row with at most one value for each of `most` keys, the first of which is `first`.
fn row<T: FromToml>(
    value: &Value,
    notes: &mut Notes,
    most: usize,
    values: &str,
    first: &str,
) -> Option<Vec<T>> {
    let row = Vec::<T>::read(value, notes)?;
    if row.len() <= most {
        return Some(row);
    }
    let keys = match first {
        "SC0" => "service channels",
        _ => "service levels",
    };
    let message = format!("expected at most {most} {values}, found {}", row.len());
    let help = format!("use one for each of the {most} {keys}, starting with {first}");
    notes.error("E0402", value.place, message).help(help);
    None
}

impl FromToml for LaneRow {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::Integer(0, 14)))
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        row(value, notes, N_SLS, "lanes", "SL0").map(LaneRow)
    }

    fn write(&self) -> String {
        self.0.write()
    }
}

impl FromToml for ChannelLanes {
    fn shape() -> Shape {
        LaneRow::shape()
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        row(value, notes, N_SCS, "lanes", "SC0").map(ChannelLanes)
    }

    fn write(&self) -> String {
        self.0.write()
    }
}

impl FromToml for ChannelChanges {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::Integer(0, N_SCS as i128 - 1)))
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let channels = row::<u8>(value, notes, N_SCS, "channels", "SC0")?;
        let ValueShape::List(items) = &value.shape else {
            return None;
        };
        let mut is_good = true;
        for (from, (to, item)) in (0..).zip(channels.iter().zip(items)) {
            if from != MANAGEMENT_SC {
                is_good &= exists(*to, item, notes);
            } else if *to != MANAGEMENT_SC {
                let message = format!("SC15 is reserved for management and cannot become SC{to}");
                let help = "set the sixteenth entry to 15";
                notes.error("E0102", item.place, message).help(help);
                is_good = false;
            }
        }
        is_good.then_some(ChannelChanges(channels))
    }

    fn write(&self) -> String {
        self.0.write()
    }
}

impl FromToml for ChannelLevels {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::Integer(0, 15)))
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        row(value, notes, N_SCS, "service levels", "SC0").map(ChannelLevels)
    }

    fn write(&self) -> String {
        self.0.write()
    }
}

/// One channel or several, for one service level.
struct ChannelSet(Vec<u8>);

impl FromToml for ChannelSet {
    fn shape() -> Shape {
        let channel = || Shape::Integer(0, N_SCS as i128 - 1);
        Shape::Either(vec![channel(), Shape::List(Box::new(channel()))])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let items = match &value.shape {
            ValueShape::List(items) => &items[..],
            _ => std::slice::from_ref(value),
        };
        if items.is_empty() {
            notes
                .error(
                    "E0102",
                    value.place,
                    "expected at least one channel, found an empty list",
                )
                .help(
                    "use one channel, as in sl2sc = [0, 1], or several, as in sl2sc = [[0, 8], 1]",
                );
            return None;
        }
        let mut set = Some(vec![]);
        for item in items {
            let read = u8::read(item, notes).filter(|&sc| exists(sc, item, notes));
            match (read, &mut set) {
                (Some(sc), Some(set)) => set.push(sc),
                _ => set = None,
            }
        }
        set.map(ChannelSet)
    }

    fn write(&self) -> String {
        match &self.0[..] {
            [one] => one.write(),
            several => several.to_vec().write(),
        }
    }
}

fn exists(sc: u8, value: &Value, notes: &mut Notes) -> bool {
    let is_known = usize::from(sc) < N_SCS;
    if !is_known {
        notes
            .error("E0102", value.place, format!("there is no SC{sc}"))
            .help("use 0 to 31 except 15, which is reserved for management");
    } else if sc == MANAGEMENT_SC {
        notes
            .error("E0102", value.place, "SC15 is reserved for management")
            .help("use another channel from 0 to 31");
    }
    is_known && sc != MANAGEMENT_SC
}

impl FromToml for ChannelSets {
    fn shape() -> Shape {
        Shape::List(Box::new(ChannelSet::shape()))
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let sets = row::<ChannelSet>(value, notes, N_SLS, "sets of channels", "SL0")?;
        Some(ChannelSets(sets.into_iter().map(|set| set.0).collect()))
    }

    fn write(&self) -> String {
        let sets = self.0.iter().map(|set| ChannelSet(set.clone()).write());
        format!("[{}]", sets.collect::<Vec<_>>().join(", "))
    }
}

impl FromToml for LevelMtus {
    fn shape() -> Shape {
        Shape::List(Box::new(Mtu::shape()))
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let mtus = row::<Mtu>(value, notes, N_SLS, "sizes", "SL0")?;
        let ValueShape::List(items) = &value.shape else {
            return None;
        };
        let mut is_good = true;
        for (mtu, item) in mtus.iter().zip(items) {
            let bytes = mtu.0.map_or(1, |bytes| bytes.0);
            if !(1..=LARGEST_MTU).contains(&bytes) {
                let message = format!("an MTU of {} is out of range", Bytes(bytes));
                let help = format!("use {} to {}", Bytes(1), Bytes(LARGEST_MTU));
                notes.error("E0102", item.place, message).help(help);
                is_good = false;
            }
        }
        is_good.then_some(LevelMtus(mtus))
    }

    fn write(&self) -> String {
        self.0.write()
    }
}
